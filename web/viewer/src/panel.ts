// The panel beside the picture: all settings, in an artist's units.
import type { Asset } from 'jounce';
import { button, element, section, segmented, select, slider, type Choice, type Select, type Slider } from './controls';
import { DEFAULTS, heatsOf, MODES, type Compare, type Heat, type Mode, type Region, type Settings } from './settings';

export interface PanelActions {
  /** A setting changed. */
  changed(key: keyof Settings): void;
  seek(seconds: number): void;
  shake(): void;
  restart(): void;
  fit(): void;
  help(): void;
  record(): void;
  copyLink(): void;
  theme(): void;
}

const PLAY = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M4 2.500v11l9.500-5.500z"/></svg>';
const PAUSE = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3.500 2.500h3v11h-3zM9.500 2.500h3v11h-3z"/></svg>';
const THEME = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 1.500a6.500 6.500 0 1 0 0 13z"/><circle cx="8" cy="8" r="6.500" fill="none" stroke="currentColor" stroke-width="1.300"/></svg>';

type Set = <K extends keyof Settings>(key: K, value: Settings[K]) => void;
const PLAIN: Readonly<Region> = { hertz: 1, ratio: 1, gain: 1 };

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
  private readonly regionSliders: Partial<Record<keyof Region, Slider>> = {};
  private region: Select | null = null;

  /** simulated: the workspace has the simulation of some clip. */
  constructor(
    root: HTMLElement, private readonly asset: Asset, private readonly settings: Settings, private readonly simulated: boolean,
    private readonly actions: PanelActions, private readonly labels: Record<Mode, string>, studio: HTMLElement | null) {
    const set: Set = (key, value) => {
      settings[key] = value;
      actions.changed(key);
    };
    const modes = this.modes();
    this.mode = segmented<Mode>('mode', 'What is shown', modes.filter((mode) => mode.value !== 'simulation'), settings.mode, (value) => set('mode', value));
    this.compare = segmented<Compare>('compare', 'Compare', [
      { value: 'none', label: 'Alone' }, { value: 'side', label: 'Two' }, { value: 'all', label: 'All' }, { value: 'overlay', label: 'Overlaid' },
    ], settings.compare, (value) => set('compare', value));
    this.against = select('against', 'with', modes.filter((mode) => !mode.disabled), settings.against, (value) => set('against', value as Mode));
    this.heat = select('heat', 'Heat map', heatsOf(asset, simulated), settings.heat, (value) => set('heat', value as Heat));
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
    const engineer = studio ? [] : [...this.network(set), this.springs(set), ...this.regions(set), this.crowd(set)];
    root.append(this.header(), ...(studio ? [studio] : []), this.motion(set), this.picture(), ...engineer, this.footer());
    if (studio) {
      this.play.parentElement!.after(element('div', { class: 'buttons' }, button('Shake', 'Shake the body (S)', actions.shake), button('Fit view', 'Look at everything (F)', actions.fit)));
    }
    this.refresh();
  }

  private modes(): Choice<Mode>[] {
    return MODES.map((mode) => ({
      ...mode,
      label: this.labels[mode.value],
      disabled: mode.value === 'target' && this.asset.network === 'none' ? 'This file has no network: the target is the skinned surface'
        : mode.value === 'springs' && this.asset.springCount === 0 ? 'This file has no springs'
          : mode.value === 'simulation' && !this.simulated ? 'There is no simulation' : undefined,
    }));
  }

  private header(): HTMLElement {
    const theme = button('', 'Light, dark, or as the system', this.actions.theme, 'icon');
    theme.innerHTML = THEME;
    theme.setAttribute('aria-label', 'Theme');
    return element('header', {}, element('div', {}, element('h1', {}, 'Jounce'), element('p', { class: 'name' }, this.asset.name)), theme,
      button('?', 'Keys and gestures (?)', this.actions.help, 'icon'));
  }

  private motion(set: Set): HTMLElement {
    const transport = element('div', { class: 'transport' }, this.play, this.timeline, this.clock);
    this.sliders.timeScale = slider({
      id: 'time-scale', label: 'Time scale', min: 0, max: 2, step: 0.01, value: DEFAULTS.timeScale, format: times,
      title: '0 stops time: drag the body while it stands', onInput: (value) => set('timeScale', value),
    });
    this.sliders.rate = slider({
      id: 'rate', label: 'Frame rate', min: Math.log2(5), max: Math.log2(240), step: 0.001, value: 60,
      format: (value) => (this.settings.rate === 0 ? 'screen' : `${Math.round(value)} Hz`), fromPlace: (place) => Math.round(2 ** place),
      toPlace: (value) => Math.log2(value), title: 'Steps per second. The motion does not depend on it', onInput: (value) => this.setRate(value),
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

  private network(set: Set): HTMLElement[] {
    const { network, networkError } = this.asset;
    if (network === 'none') {
      return [];
    }
    this.sliders.network = slider({
      id: 'network', label: 'Strength', min: 0, max: 2, step: 0.01, value: DEFAULTS.network, format: times, onInput: (value) => set('network', value),
      title: 'Fraction of the correction by the network that is applied; 0 switches it off',
    });
    const error = networkError > 0 ? `, ${(1000 * networkError).toPrecision(2)} mm rms on poses held out` : '';
    return [section('Network', this.sliders.network.root, element('p', { class: 'note' }, network.toUpperCase() + error))];
  }

  private springs(set: Set): HTMLElement {
    const s = this.sliders;
    s.hertz = slider({ id: 'hertz', label: 'Frequency', min: -2, max: 2, step: 0.01, value: 1, format: times, ...factor, onInput: (value) => set('hertz', value), title: 'Times the frequency of every spring' });
    s.ratio = slider({ id: 'ratio', label: 'Damping', min: -4, max: 4, step: 0.01, value: 1, format: times, ...factor, onInput: (value) => set('ratio', value), title: 'Times the damping ratio of every spring' });
    s.strength = slider({ id: 'strength', label: 'Strength', min: 0, max: 2, step: 0.01, value: 1, format: times, onInput: (value) => set('strength', value), title: 'Fraction of the offset that is shown' });
    s.inertia = slider({ id: 'inertia', label: 'Inertia', min: 0, max: 1, step: 0.01, value: 1, format: times, onInput: (value) => set('inertia', value), title: 'Fraction of the motion of the whole body that the flesh feels' });
    s.gravity = slider({ id: 'gravity', label: 'Gravity', min: 0, max: 20, step: 0.1, value: 0, format: (value) => `${value.toFixed(1)} m/s²`, onInput: (value) => set('gravity', value), title: 'A constant acceleration of the flesh' });
    const row = element('div', { class: 'buttons' }, button('Shake', 'Shake the body (S)', this.actions.shake, 'strong'), button('Reset', 'All sliders to their defaults (R)', this.actions.restart));
    const modes = this.asset.modes.length;
    const title = modes === 0 ? 'Springs' : `Springs on ${modes} modes`;
    return section(title, s.hertz.root, s.ratio.root, s.strength.root, s.inertia.root, s.gravity.root, row);
  }

  // Modes live at joints: each has its own factors, over those of all springs.
  private regions(set: Set): HTMLElement[] {
    const { modes, joints } = this.asset;
    if (modes.length === 0) {
      return [];
    }
    const found = [...new Set(modes.map((mode) => mode.joint))].sort((a, b) => a - b);
    this.settings.region = found[0];
    this.region = select('region', 'Region', found.map((joint) => {
      const hertz = modes.filter((mode) => mode.joint === joint).map((mode) => mode.hertz);
      const range = [Math.min(...hertz), Math.max(...hertz)].map((value) => value.toPrecision(2));
      return { value: String(joint), label: `${joints[joint].name} · ${range[0] === range[1] ? range[0] : range.join('–')} Hz` };
    }), String(found[0]), (value) => set('region', Number(value)));
    const make = (key: keyof Region, label: string, title: string, logarithmic: boolean) => slider({
      id: `region-${key}`, label, min: logarithmic ? -2 : 0, max: logarithmic ? 2 : 3, step: 0.01, value: 1, format: times, ...(logarithmic ? factor : {}), title,
      onInput: (value) => {
        const { region, regions } = this.settings;
        set('regions', { ...regions, [region]: { ...PLAIN, ...regions[region], [key]: value } });
      },
    });
    const s = this.regionSliders;
    s.hertz = make('hertz', 'Frequency', 'Times the frequency of the modes of this region', true);
    s.ratio = make('ratio', 'Damping', 'Times their damping ratio', true);
    s.gain = make('gain', 'Drive', 'How strongly the motion drives them', false);
    const where = button('Show where', 'The heat map of this region', () => set('heat', this.settings.heat === 'region' ? 'none' : 'region'));
    return [section('One region', this.region.root, s.hertz.root, s.ratio.root, s.gain.root, where)];
  }

  private crowd(set: Set): HTMLElement {
    this.sliders.copies = slider({
      id: 'copies', label: 'Copies', min: 1, max: this.asset.isLinear && this.asset.weightCount > 0 ? 1000 : 100, step: 1, value: 1, format: (value) => String(value), onInput: (value) => set('copies', value),
      title: 'Each has its own place in the clip and is stepped on its own',
    });
    return section('Crowd', this.sliders.copies.root);
  }

  private footer(): HTMLElement {
    return element('footer', {}, button('Fit view', 'Look at everything (F)', this.actions.fit),
      button('Record', 'A film of the clip, as WebM', this.actions.record), button('Copy link', 'An address that opens the page as it is now', this.actions.copyLink), element('a', { href: './licences.txt', target: '_blank' }, 'Licences'));
  }

  /** Shows the settings as they are. */
  refresh(): void {
    const s = this.settings;
    this.mode.set(s.mode);
    this.compare.set(s.compare);
    this.against.set(s.against);
    this.against.root.hidden = s.compare === 'none' || s.compare === 'all';
    this.heat.set(s.heat);
    this.clip.set(String(s.clip));
    this.play.innerHTML = s.playing ? PAUSE : PLAY;
    this.play.setAttribute('aria-label', s.playing ? 'Pause' : 'Play');
    for (const key of ['timeScale', 'hertz', 'ratio', 'strength', 'network', 'inertia', 'gravity', 'copies'] as const) {
      this.sliders[key]?.set(s[key]);
    }
    this.region?.set(String(s.region));
    const region = s.regions[s.region] ?? PLAIN;
    for (const key of ['hertz', 'ratio', 'gain'] as const) {
      this.regionSliders[key]?.set(region[key]);
    }
    this.hold.checked = s.hold;
    this.screenRate.checked = s.rate === 0;
    this.sliders.rate!.set(s.rate === 0 ? 60 : s.rate);
  }

  /** at: seconds in the clip. */
  showTime(at: number, duration: number): void {
    this.timeline.max = String(duration);
    if (document.activeElement !== this.timeline || this.settings.playing) {
      this.timeline.value = String(at);
    }
    this.timeline.style.setProperty('--share', `${(100 * at) / duration}%`);
    this.clock.textContent = `${at.toFixed(1)} / ${duration.toFixed(1)} s`;
  }
}
