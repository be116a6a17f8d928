// The panel beside the picture: all settings, in an artist's units.
import type { Asset } from 'jounce';
import { button, element, section, segmented, select, slider, type Choice, type Slider } from './controls';
import { DEFAULTS, HEATS, MODES, type Compare, type Heat, type Mode, type Settings } from './settings';

export interface PanelActions {
  /** A setting changed. */
  changed(key: keyof Settings): void;
  seek(seconds: number): void;
  shake(): void;
  restart(): void;
  fit(): void;
  help(): void;
  theme(): void;
}

const PLAY = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M4 2.500v11l9.500-5.500z"/></svg>';
const PAUSE = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3.500 2.500h3v11h-3zM9.500 2.500h3v11h-3z"/></svg>';
const THEME = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 1.500a6.500 6.500 0 1 0 0 13z"/><circle cx="8" cy="8" r="6.500" fill="none" stroke="currentColor" stroke-width="1.300"/></svg>';

const times = (value: number) => `${value.toFixed(2)} ×`;
// Factors on a logarithmic slider.
const factor = { fromPlace: (place: number) => 2 ** place, toPlace: (value: number) => Math.log2(value) };

export class Panel {
  private readonly sliders: Partial<Record<keyof Settings, Slider>> = {};
  private readonly mode;
  private readonly compare;
  private readonly against;
  private readonly heat;
  private readonly clip;
  private readonly play: HTMLButtonElement;
  private readonly timeline: HTMLInputElement;
  private readonly clock: HTMLElement;
  private readonly screenRate: HTMLInputElement;
  private readonly hold: HTMLInputElement;

  constructor(root: HTMLElement, private readonly asset: Asset, private readonly settings: Settings, private readonly actions: PanelActions) {
    const set = <K extends keyof Settings>(key: K, value: Settings[K]) => {
      settings[key] = value;
      actions.changed(key);
    };
    const modes = this.modes();
    this.mode = segmented<Mode>('mode', 'What is shown', modes, settings.mode, (value) => set('mode', value));
    this.compare = segmented<Compare>('compare', 'Compare', [
      { value: 'none', label: 'Alone' }, { value: 'side', label: 'Side by side' }, { value: 'overlay', label: 'Overlaid' },
    ], settings.compare, (value) => set('compare', value));
    this.against = select('against', 'with', modes.filter((mode) => !mode.disabled), settings.against, (value) => set('against', value as Mode));
    this.heat = select('heat', 'Heat map', HEATS.filter((heat) => heat.value === 'none' || asset.springCount > 0), settings.heat, (value) => set('heat', value as Heat));
    this.clip = select('clip', 'Clip', asset.clips.map((clip, i) => ({ value: String(i), label: clip.name })), String(settings.clip), (value) => set('clip', Number(value)));
    this.play = button('', 'Play or pause (space)', () => set('playing', !settings.playing), 'icon strong');
    this.timeline = element('input', { type: 'range', min: '0', max: '1', step: '0.001', 'aria-label': 'Time in the clip', id: 'timeline' });
    this.timeline.addEventListener('input', () => actions.seek(Number(this.timeline.value)));
    this.clock = element('span', { class: 'clock' });
    this.screenRate = element('input', { type: 'checkbox', id: 'screen-rate' });
    this.screenRate.checked = true;
    this.screenRate.addEventListener('change', () => this.setRate(this.screenRate.checked ? 0 : 60));
    this.hold = element('input', { type: 'checkbox', id: 'hold' });
    this.hold.addEventListener('change', () => set('hold', this.hold.checked));
    root.append(this.header(), this.motion(set), this.picture(), this.springs(set), this.crowd(set), this.footer());
    this.refresh();
  }

  private modes(): Choice<Mode>[] {
    return MODES.map((mode) => ({
      ...mode,
      disabled: mode.value === 'target' && !this.asset.sections.includes('NETW') ? 'This file has no network: the target is the skinned surface'
        : mode.value === 'springs' && this.asset.springCount === 0 ? 'This file has no springs' : undefined,
    }));
  }

  private header(): HTMLElement {
    const theme = button('', 'Light, dark, or as the system', this.actions.theme, 'icon');
    theme.innerHTML = THEME;
    theme.setAttribute('aria-label', 'Theme');
    return element('header', {}, element('div', {}, element('h1', {}, 'Jounce'), element('p', { class: 'name' }, this.asset.name)), theme,
      button('?', 'Keys and gestures (?)', this.actions.help, 'icon'));
  }

  private motion(set: <K extends keyof Settings>(key: K, value: Settings[K]) => void): HTMLElement {
    const transport = element('div', { class: 'transport' }, this.play, this.timeline, this.clock);
    this.sliders.timeScale = slider({
      id: 'time-scale', label: 'Time scale', min: 0, max: 2, step: 0.01, value: DEFAULTS.timeScale, format: times,
      title: '0 stops time: drag the body while it stands', onInput: (value) => set('timeScale', value),
    });
    this.sliders.rate = slider({
      id: 'rate', label: 'Frame rate', min: Math.log2(5), max: Math.log2(240), step: 0.001, value: 60,
      format: (value) => (this.settings.rate === 0 ? 'screen' : `${Math.round(value)} Hz`), fromPlace: (place) => Math.round(2 ** place),
      toPlace: (value) => Math.log2(value), title: 'Steps a second. The motion does not depend on it', onInput: (value) => this.setRate(value),
    });
    const screen = element('label', { class: 'check' }, this.screenRate, 'Step at the rate of the screen');
    const hold = element('label', { class: 'check', title: 'Time runs, the pose stays (P)' }, this.hold, 'Hold the pose');
    return section('Motion', this.clip.root, transport, hold, this.sliders.timeScale.root, this.sliders.rate.root, screen);
  }

  private setRate(rate: number): void {
    this.settings.rate = rate;
    this.screenRate.checked = rate === 0;
    this.sliders.rate!.set(rate === 0 ? 60 : rate);
    this.actions.changed('rate');
  }

  private picture(): HTMLElement {
    return section('Picture', this.mode.root, this.compare.root, this.against.root, this.heat.root);
  }

  private springs(set: <K extends keyof Settings>(key: K, value: Settings[K]) => void): HTMLElement {
    const s = this.sliders;
    s.hertz = slider({ id: 'hertz', label: 'Frequency', min: -2, max: 2, step: 0.01, value: 1, format: times, ...factor, onInput: (value) => set('hertz', value), title: 'Times the frequency of every spring' });
    s.ratio = slider({ id: 'ratio', label: 'Damping', min: -4, max: 4, step: 0.01, value: 1, format: times, ...factor, onInput: (value) => set('ratio', value), title: 'Times the damping ratio of every spring' });
    s.strength = slider({ id: 'strength', label: 'Strength', min: 0, max: 2, step: 0.01, value: 1, format: times, onInput: (value) => set('strength', value), title: 'The share of the offset that is shown' });
    s.inertia = slider({ id: 'inertia', label: 'Inertia', min: 0, max: 1, step: 0.01, value: 1, format: times, onInput: (value) => set('inertia', value), title: 'How much of the motion of the whole body the flesh feels' });
    s.gravity = slider({ id: 'gravity', label: 'Gravity', min: 0, max: 20, step: 0.1, value: 0, format: (value) => `${value.toFixed(1)} m/s²`, onInput: (value) => set('gravity', value), title: 'A constant pull on the flesh' });
    const row = element('div', { class: 'buttons' }, button('Shake', 'Shake the body (S)', this.actions.shake, 'strong'), button('Reset', 'All sliders to their defaults (R)', this.actions.restart));
    return section('Springs', s.hertz.root, s.ratio.root, s.strength.root, s.inertia.root, s.gravity.root, row);
  }

  private crowd(set: <K extends keyof Settings>(key: K, value: Settings[K]) => void): HTMLElement {
    this.sliders.copies = slider({
      id: 'copies', label: 'Copies', min: 1, max: 100, step: 1, value: 1, format: (value) => String(value), onInput: (value) => set('copies', value),
      title: 'Each has its own place in the clip and is stepped on its own',
    });
    return section('Crowd', this.sliders.copies.root);
  }

  private footer(): HTMLElement {
    return element('footer', {}, button('Fit view', 'Look at everything (F)', this.actions.fit), element('a', { href: './licences.txt', target: '_blank' }, 'Licences'));
  }

  /** Shows the settings as they are. */
  refresh(): void {
    const s = this.settings;
    this.mode.set(s.mode);
    this.compare.set(s.compare);
    this.against.set(s.against);
    this.against.root.hidden = s.compare === 'none';
    this.heat.set(s.heat);
    this.clip.set(String(s.clip));
    this.play.innerHTML = s.playing ? PAUSE : PLAY;
    this.play.setAttribute('aria-label', s.playing ? 'Pause' : 'Play');
    for (const key of ['timeScale', 'hertz', 'ratio', 'strength', 'inertia', 'gravity', 'copies'] as const) {
      this.sliders[key]!.set(s[key]);
    }
    this.hold.checked = s.hold;
    this.screenRate.checked = s.rate === 0;
    this.sliders.rate!.set(s.rate === 0 ? 60 : s.rate);
  }

  showTime(time: number, duration: number): void {
    const at = duration > 0 ? time % duration : 0;
    this.timeline.max = String(duration);
    if (document.activeElement !== this.timeline || this.settings.playing) {
      this.timeline.value = String(at);
    }
    this.timeline.style.setProperty('--share', `${(100 * at) / duration}%`);
    this.clock.textContent = `${at.toFixed(1)} / ${duration.toFixed(1)} s`;
  }
}
