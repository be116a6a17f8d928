// The studio: what an artist changes of a character, beside the picture. Sliders act at once; Save writes the manifest, Rebuild makes the
// character anew from it.
import type { Viewer } from '../viewer';
import { button, element, select, slider, type Select, type Slider } from '../controls';
import { KEYS, remember, type About, type Author, type Key, type Region, type State, type Tuning } from './author';
import { Brush } from './brush';
import { colorOf, maskColors, regionColors } from './colors';
import { History, type Draft } from './history';
import { Preview } from './preview';

const LOOK = 1000; // milliseconds between two looks at what the author does
const FIRST = ['belly', 'breast', 'buttock', 'thigh', 'upper_arm', 'calf', 'chest', 'back', 'hip'];
const WORDS: Record<Key, { label: string; title: string }> = {
  softness: { label: 'Softness', title: 'Times as soft as its tissue: 2 sags twice as far' },
  damping: { label: 'Damping', title: 'Times the damping of its tissue: more stops sooner' },
  tone: { label: 'Tone', title: 'Tension of the muscles: 0 relaxed, 1 tense' },
  limit: { label: 'Limit', title: 'How far the region may move' },
};
const PRESETS = [
  { value: '', label: 'Choose a preset' }, { value: 'plain', label: 'As its shape says' }, { value: 'lean', label: 'Athlete' }, { value: 'average', label: 'Average' },
  { value: 'heavy', label: 'Heavy' }, { value: 'toon', label: 'Toon' }, { value: 'own', label: 'Mine' },
];
const TOON = { softness: '2.5', damping: '0.5' }, SOFT = ['belly', 'breast', 'buttock', 'thigh'];
const OWN = 'jounce-studio-preset';

const icon = (path: string) => `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${path}" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
const UNDO = icon('M3 6.500h7a3.500 3.500 0 0 1 0 7H6M6 3 2.500 6.500 6 10'), REDO = icon('M13 6.500H6a3.500 3.500 0 0 0 0 7h4M10 3l3.500 3.500L10 10');
const COPY = icon('M6 6h7.500v7.500H6zM10 6V2.500H2.500V10H6');

const nameOf = (region: string) => region.charAt(0).toUpperCase() + region.slice(1).replace('_', ' ');
const round = (value: number) => Number(value.toPrecision(3));
const quote = (word: string) => (/^[A-Za-z0-9_./=-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`);
const wordsOf = (reason: unknown) => (reason instanceof Error ? reason.message : String(reason));

interface Card {
  region: Region;
  root: HTMLDetailsElement;
  summary: HTMLElement;
  sliders: Record<Key, Slider>;
}

export class Studio {
  readonly preview: Preview;
  readonly brush: Brush;
  readonly root = element('section', { id: 'studio', 'aria-label': 'Studio' });
  private tuning: Tuning = {};
  private build = 'auto';
  private saved: Tuning;
  private savedBuild: string;
  private history: History;
  private before: Draft | null = null; // at the start of a gesture
  private maskChanged = false;
  private state: State;
  private cards: Card[] = [];
  private chosen = '';
  private colours: 'own' | 'regions' | 'mask' = 'own';
  private busy = false;
  private readonly revision: number;
  private readonly status = element('p', { class: 'status', role: 'status', id: 'studio-status' });
  private readonly bar = element('progress', { max: '1', value: '0', hidden: '', 'aria-label': 'Progress of the rebuild' });
  private readonly buttons: Record<string, HTMLButtonElement>;
  private readonly bodyShape: Select;
  private readonly preset: Select;
  private readonly worst = element('div', { class: 'worst' });
  private readonly showsRegions = element('input', { type: 'checkbox', id: 'show-regions' });
  private readonly showsBuilt = element('input', { type: 'checkbox', id: 'show-built' });
  private readonly paints = element('input', { type: 'checkbox', id: 'paint' });

  constructor(private readonly viewer: Viewer, private readonly author: Author, private readonly about: About, state: State) {
    const { asset } = viewer;
    this.state = state;
    this.revision = state.revision;
    this.saved = state.saved ?? {};
    this.savedBuild = state.build ?? 'auto';
    this.preview = new Preview(asset, about);
    this.history = new History();
    this.brush = new Brush(viewer.stage, asset, () => (this.preview.mask ??= new Float32Array(asset.vertexCount).fill(1)), () => this.beginStroke(), () => this.endStroke());
    this.buttons = this.makeButtons();
    this.bodyShape = select('body-build', 'Body', [
      { value: 'auto', label: 'As its shape says' }, { value: 'lean', label: 'Athletic' }, { value: 'average', label: 'Average' }, { value: 'heavy', label: 'Heavy' },
    ], 'auto', (value) => this.gesture(() => { this.build = value; }));
    this.preset = select('preset', 'Preset', PRESETS, '', (value) => this.takePreset(value));
    document.getElementById('hint')!.textContent = 'Drag the body to shake it. Click it to find its region. Drag beside it to look around.';
    this.fill();
    this.takeUp();
    viewer.preview = this.preview;
    viewer.player.refine = (character) => this.preview.tune(character);
    viewer.onPick = (vertex) => this.pick(vertex);
    addEventListener('keydown', (event) => this.press(event));
    this.apply();
    this.poll();
  }

  // What was set before the page was loaded again, of the same workspace; else what is saved.
  private takeUp(): void {
    const kept = remember('draft'), draft = kept ? JSON.parse(kept) as { workspace: string; tuning: Tuning; build: string } : null;
    const own = draft?.workspace === this.state.workspace ? draft : null;
    this.tuning = own?.tuning ?? structuredClone(this.saved);
    this.build = own?.build ?? this.savedBuild;
    this.history = History.from(own ? remember('history') : null, this.preview.mask);
  }

  private makeButtons(): Record<string, HTMLButtonElement> {
    const copy = (what: string, text: () => string) => {
      const made = button('', `Copy the command that does the same: ${what}`, () => void this.copy(text()), 'icon small');
      made.innerHTML = COPY;
      made.setAttribute('aria-label', `Copy the command: ${what}`);
      return made;
    };
    const made = {
      undo: button('', 'Take the last change back (Ctrl Z)', () => void this.undo(), 'icon'),
      redo: button('', 'Do it again (Ctrl Shift Z)', () => void this.redo(), 'icon'),
      save: button('Save', 'Write the manifest (Ctrl S)', () => void this.save(), 'strong'),
      rebuild: button('Rebuild', 'Save, and make the character anew: what is approximate becomes exact', () => void this.rebuild(), 'strong'),
      cancel: button('Cancel', 'Stop the rebuild; what is done is kept', () => void this.run(() => this.author.cancel())),
      take: button('Take over', 'Change the character here; the other page only shows it', () => void this.run(() => this.author.takeOver())),
      glb: button('Export .glb', 'For engines and viewers', () => void this.run(() => this.author.exportTo('glb'))),
      jounce: button('Export .jounce', 'For the runtime', () => void this.run(() => this.author.exportTo('jounce'))),
      clear: button('Clear', 'All of the body is soft again', () => this.clearMask()),
      own: button('Keep as mine', 'Keep these settings as the preset “Mine”', () => this.keepPreset()),
      copySave: copy('jounce tune', () => this.tuneCommand()),
      copyBuild: copy('jounce build', () => `jounce build ${quote(this.state.workspace)} --until modes`),
      copyExport: copy('jounce export', () => `jounce export ${quote(this.state.workspace)} -o ${quote(`${this.state.workspace.split('/').pop()!}.glb`)}`),
    };
    made.undo.innerHTML = UNDO;
    made.redo.innerHTML = REDO;
    made.undo.setAttribute('aria-label', 'Undo');
    made.redo.setAttribute('aria-label', 'Redo');
    Object.entries(made).forEach(([name, one]) => { one.id = `studio-${name}`; });
    return made;
  }

  private fill(): void {
    const b = this.buttons, first = this.about.regions.filter(({ name }) => FIRST.includes(name)).sort((x, y) => FIRST.indexOf(x.name) - FIRST.indexOf(y.name));
    const rest = this.about.regions.filter(({ name }) => !FIRST.includes(name));
    const check = (input: HTMLInputElement, label: string, change: () => void, title = '') => {
      input.addEventListener('change', change);
      return element('label', { class: 'check', title }, input, label);
    };
    this.cards = [...first, ...rest].map((region) => this.makeCard(region));
    const radius = slider({ id: 'brush-radius', label: 'Radius', min: 1, max: 25, step: 0.5, value: 6, format: (value) => `${value} cm`, onInput: (value) => { this.brush.settings.radius = value / 100; } });
    const mirrored = element('input', { type: 'checkbox', id: 'mirrored', checked: '' });
    const goal = select('brush-goal', 'Brush', [{ value: '0', label: 'Rigid' }, { value: '1', label: 'Soft' }], '0', (value) => { this.brush.settings.goal = value === '1' ? 1 : 0; });
    const painting = element('div', { class: 'painting', hidden: '' }, goal.root, radius.root, check(mirrored, 'On both sides', () => { this.brush.settings.mirrored = mirrored.checked; }), b.clear);
    const more = element('details', { class: 'more' }, element('summary', {}, `Other regions (${rest.length})`), ...this.cards.slice(first.length).map(({ root }) => root));
    this.root.append(
      element('div', { class: 'bar' }, b.undo, b.redo, b.save, b.copySave, b.rebuild, b.copyBuild), this.status, this.bar, element('div', { class: 'row' }, b.cancel, b.take),
      element('h2', {}, 'Body'), this.preset.root, this.bodyShape.root, b.own,
      element('h2', {}, 'Regions'),
      check(this.showsRegions, 'Colour the regions', () => this.setColours(this.showsRegions.checked ? 'regions' : 'own')),
      check(this.showsBuilt, 'Show it as it was built', () => { this.preview.on = !this.showsBuilt.checked; this.viewer.retune(); }, 'To compare: A is what was built, B what is set'),
      ...this.cards.slice(0, first.length).map(({ root }) => root), ...(rest.length > 0 ? [more] : []),
      element('h2', {}, 'Mask'),
      ...(this.about.paintable ? [check(this.paints, 'Paint what is soft and what is rigid', () => {
        this.brush.on = this.viewer.hand.off = this.paints.checked;
        painting.hidden = !this.paints.checked;
        this.setColours(this.paints.checked ? 'mask' : 'own');
      }), painting] : [element('p', { class: 'note' }, 'A character with clothes of another file cannot be painted here.')]),
      ...(this.about.worst.length > 0 ? [element('h2', {}, 'Worst frames'), this.worst] : []),
      element('h2', {}, 'Export'), element('div', { class: 'row' }, b.glb, b.jounce, b.copyExport));
    this.worst.append(...this.about.worst.map((one) => button(`${one.name}: ${one.largest.toFixed(0)} mm at ${one.place}`, `Frame ${one.frame}`, () => this.viewer.standAt(one.name, one.frame))));
  }

  private makeCard(region: Region): Card {
    const limit = round(1000 * region.limit), name = region.name, factor = { fromPlace: (place: number) => round(2 ** place), toPlace: (value: number) => Math.log2(value) };
    const times = (value: number) => `${value} ×`;
    const edit = (key: Key, value: number, text: string, plain: boolean) => this.edit(name, key, plain ? '' : text, value);
    const make = (key: Key, options: { min: number; max: number; step: number; value: number; format: (value: number) => string }, text: (value: number) => string, logarithmic = false) => {
      const made = slider({ id: `${name}-${key}`, ...WORDS[key], ...options, ...(logarithmic ? factor : {}), onInput: (value) => edit(key, value, text(value), value === options.value) });
      made.root.addEventListener('change', () => this.endGesture());
      made.root.addEventListener('dblclick', () => this.endGesture());
      return made;
    };
    const sliders = {
      softness: make('softness', { min: -2, max: 3, step: 0.01, value: 1, format: times }, String, true),
      damping: make('damping', { min: -2, max: 2, step: 0.01, value: 1, format: times }, String, true),
      tone: make('tone', { min: 0, max: 1, step: 0.05, value: region.tone, format: (value) => value.toFixed(2) }, (value) => String(round(value))),
      limit: make('limit', { min: 1, max: Math.max(Math.ceil(1.5 * limit), 5), step: 0.5, value: limit, format: (value) => `${value} mm${value === limit ? ', as built' : ''}` }, (value) => `${round(value / 1000)} m`),
    };
    const summary = element('span', { class: 'said' }), chip = element('i', { 'aria-hidden': 'true', style: `background: rgb(${colorOf(region).join()})` });
    const root = element('details', { class: 'card', id: `card-${name}` }, element('summary', {}, chip, element('b', {}, nameOf(name)), summary), ...KEYS.map((key) => sliders[key].root));
    root.addEventListener('toggle', () => {
      if (root.open) {
        this.choose(name);
      }
    });
    return { region, root, summary, sliders };
  }

  // What is set now, all of it.
  private get draft(): Draft {
    return { tuning: JSON.stringify(this.tuning), build: this.build, mask: this.preview.mask };
  }

  private set draft({ tuning, build, mask }: Draft) {
    this.tuning = JSON.parse(tuning) as Tuning;
    this.build = build;
    this.maskChanged ||= mask !== this.preview.mask;
    this.preview.mask = mask;
    this.apply();
  }

  private edit(region: string, key: Key, text: string, _value: number): void {
    this.before ??= this.draft;
    const next = { ...this.tuning[region], [key]: text };
    if (text === '') {
      delete next[key];
    }
    this.tuning = { ...this.tuning, [region]: next };
    if (Object.keys(next).length === 0) {
      delete this.tuning[region];
    }
    this.preview.set(this.tuning);
    this.viewer.retune();
    this.refresh();
  }

  private endGesture(): void {
    if (this.before && this.before.tuning + this.before.build !== this.draft.tuning + this.draft.build) {
      this.history.add({ kind: 'draft', before: this.before, after: this.draft });
    }
    this.before = null;
    this.apply();
  }

  // A change that is one step.
  private gesture(change: () => void): void {
    this.before = this.draft;
    change();
    this.endGesture();
  }

  private beginStroke(): void {
    this.before = { ...this.draft, mask: this.preview.mask };
    this.preview.mask = this.preview.mask?.slice() ?? new Float32Array(this.viewer.asset.vertexCount).fill(1);
  }

  private endStroke(): void {
    this.history.add({ kind: 'draft', before: this.before!, after: this.draft });
    this.before = null;
    this.maskChanged = true;
    this.apply();
  }

  private clearMask(): void {
    this.beginStroke();
    this.preview.mask = null;
    this.endStroke();
  }

  private takePreset(value: string): void {
    this.preset.set('');
    this.gesture(() => {
      const own = value === 'own' ? localStorage.getItem(OWN) : null;
      const there = this.about.regions.filter(({ name }) => SOFT.includes(name)).map(({ name }) => [name, { ...TOON }] as const);
      if (own) {
        ({ tuning: this.tuning, build: this.build } = JSON.parse(own) as { tuning: Tuning; build: string });
      } else if (value === 'toon') {
        this.tuning = Object.fromEntries(there);
      } else if (value !== '' && value !== 'own') {
        this.tuning = {};
        this.build = value === 'plain' ? 'auto' : value;
      }
    });
  }

  private keepPreset(): void {
    localStorage.setItem(OWN, JSON.stringify({ tuning: this.tuning, build: this.build }));
    this.say('Kept as “Mine”.');
  }

  /** What differs from the manifest, "" where a key is to go. */
  get changes(): Tuning {
    const found: Tuning = {};
    for (const region of new Set([...Object.keys(this.tuning), ...Object.keys(this.saved)])) {
      for (const key of KEYS) {
        const wanted = this.tuning[region]?.[key] ?? '', there = this.saved[region]?.[key] ?? '';
        if (wanted !== there) {
          (found[region] ??= {})[key] = wanted;
        }
      }
    }
    return found;
  }

  get isChanged(): boolean {
    return Object.keys(this.changes).length > 0 || this.build !== this.savedBuild || this.maskChanged;
  }

  private tuneCommand(): string {
    const { changes } = this, from = Object.keys(changes).length > 0 ? changes : this.tuning;
    const words = Object.entries(from).flatMap(([region, keys]) => Object.entries(keys).map(([key, text]) => `${region}.${key}=${text}`));
    return ['jounce', 'tune', this.state.workspace, ...[...words, ...(this.build !== this.savedBuild ? [`build=${this.build}`] : [])].flatMap((word) => ['--set', word])].map(quote).join(' ');
  }

  private async copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.say(`Copied: ${text}`);
    } catch {
      this.say(text); // a browser may forbid it: then to be selected
    }
  }

  // The mask in the order of the workspace's vertices.
  private get maskToSave(): Float32Array | null {
    const { order } = this.viewer.asset, { mask } = this.preview;
    if (!mask || !order) {
      return mask?.slice() ?? null;
    }
    const sorted = new Float32Array(mask.length);
    order.forEach((to, v) => { sorted[to] = mask[v]; });
    return sorted;
  }

  async save(): Promise<boolean> {
    if (!this.isChanged) {
      return true;
    }
    const { changes, build, savedBuild } = this;
    return this.run(async () => {
      let state = this.state;
      if (Object.keys(changes).length > 0 || build !== savedBuild) {
        state = await this.author.save(changes, build !== savedBuild ? build : undefined);
        this.history.add({ kind: 'save' });
      }
      if (this.maskChanged) {
        state = await this.author.saveMask(this.maskToSave);
        this.maskChanged = false;
        this.history.add({ kind: 'save' });
      }
      return state;
    });
  }

  async rebuild(): Promise<void> {
    if (await this.save()) {
      await this.run(() => this.author.rebuild());
    }
  }

  async undo(): Promise<void> {
    await this.travel(true);
  }

  async redo(): Promise<void> {
    await this.travel(false);
  }

  private async travel(back: boolean): Promise<void> {
    const step = back ? this.history.undo() : this.history.redo();
    if (step?.kind === 'draft') {
      this.draft = back ? step.before : step.after;
    } else if (step && !await this.run(() => (back ? this.author.undo() : this.author.redo()))) {
      this.history.putBack(back);
    }
    this.refresh();
  }

  // Asks the author for something; false: it was refused, and the page says why.
  private async run(work: () => Promise<State>): Promise<boolean> {
    if (this.busy) {
      return false;
    }
    this.busy = true;
    try {
      this.note = '';
      this.take(await work());
      return true;
    } catch (reason) {
      this.say(wordsOf(reason));
      return false;
    } finally {
      this.busy = false;
      this.refresh();
    }
  }

  private note = '';

  private say(text: string): void {
    this.note = text;
    this.refresh();
  }

  private take(state: State): void {
    this.state = state;
    this.saved = state.saved ?? this.saved;
    this.savedBuild = state.build ?? this.savedBuild;
    if (state.revision !== this.revision && state.opened) {
      this.keep();
      history.replaceState(null, '', this.viewer.placeLink);
      location.reload();
    }
  }

  private poll(): void {
    setTimeout(async () => {
      if (!this.busy) {
        try {
          this.take(await this.author.look());
          if (this.note.startsWith('The studio has stopped')) {
            this.note = '';
          }
        } catch (reason) {
          this.note = /token|page/.test(wordsOf(reason)) ? wordsOf(reason) : `The studio has stopped. Start it again: jounce studio ${this.state.workspace}`;
        }
        this.refresh();
      }
      this.poll();
    }, LOOK);
  }

  private press(event: KeyboardEvent): void {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || !['z', 'y', 's'].includes(key)) {
      return;
    }
    event.preventDefault();
    void (key === 's' ? this.save() : key === 'y' || event.shiftKey ? this.redo() : this.undo());
  }

  // A click on the body opens the card of its region.
  private pick(vertex: number): void {
    const card = this.cards.find(({ region }) => region.number === this.about.vertices[vertex]);
    if (card) {
      (card.root.parentElement!.closest('details') ?? card.root).open = true;
      card.root.open = true;
      card.root.scrollIntoView({ block: 'nearest' });
      this.choose(card.region.name);
    }
  }

  private choose(region: string): void {
    this.chosen = region;
    this.recolour();
  }

  private setColours(colours: 'own' | 'regions' | 'mask'): void {
    this.colours = colours;
    this.showsRegions.checked = colours === 'regions';
    if (colours !== 'mask' && this.paints.checked) {
      this.paints.checked = false;
      this.paints.dispatchEvent(new Event('change'));
    }
    this.recolour();
  }

  private recolour(): void {
    const { asset } = this.viewer;
    this.viewer.paintOver(this.colours === 'regions' ? regionColors(asset, this.about.regions, this.about.vertices, this.chosen)
      : this.colours === 'mask' ? maskColors(asset, this.preview.mask) : null);
  }

  /** Colours of a stroke as it is drawn. */
  followBrush(): void {
    if (this.before && this.colours === 'mask') {
      this.recolour();
    }
  }

  private keep(): void {
    remember('draft', JSON.stringify({ workspace: this.state.workspace, tuning: this.tuning, build: this.build }));
    remember('history', JSON.stringify(this.history));
  }

  private apply(): void {
    this.preview.set(this.tuning);
    this.viewer.retune();
    this.recolour();
    this.keep();
    this.refresh();
  }

  // What the manifest does not say yet, the job, and what can be done now.
  private refresh(): void {
    const { state, buttons: b, isChanged } = this, runs = state.job?.runs ?? false, building = runs && state.job!.verb === 'build';
    for (const { region, sliders, summary } of this.cards) {
      const own = this.tuning[region.name] ?? {}, limit = /^([\d.e-]+) m$/.exec(own.limit ?? '');
      sliders.softness.set(Number(own.softness ?? 1));
      sliders.damping.set(Number(own.damping ?? 1));
      sliders.tone.set(Number(own.tone ?? region.tone));
      sliders.limit.set(limit ? round(1000 * Number(limit[1])) : round(1000 * region.limit));
      const said = KEYS.filter((key) => own[key] !== undefined).map((key) => `${WORDS[key].label.toLowerCase()} ${own[key]!}`).join(', ');
      if (summary.textContent !== said) {
        summary.textContent = said;
      }
    }
    this.bodyShape.set(this.build);
    b.undo.disabled = !this.history.canUndo || !state.writes;
    b.redo.disabled = !this.history.canRedo || !state.writes;
    b.save.disabled = !isChanged || !state.writes || runs;
    b.rebuild.disabled = runs || !state.writes;
    b.glb.disabled = b.jounce.disabled = runs || !state.writes;
    b.cancel.hidden = !runs;
    b.take.hidden = state.writes;
    this.bar.hidden = !building;
    this.bar.value = state.job?.progress?.whole ?? 0;
    const text = this.statusText(isChanged);
    if (this.status.textContent !== text) {
      this.status.textContent = text;
    }
  }

  private statusText(isChanged: boolean): string {
    const { job, writes, stale } = this.state, approximate = 'What you see is close; Rebuild makes it exact.';
    if (!writes) {
      return 'This character is open in another page, which may change it. This one shows it.';
    }
    if (this.note) {
      return this.note;
    }
    if (job?.runs) {
      const p = job.progress;
      return job.verb === 'export' ? 'Exporting …' : p ? `Rebuilding: ${p.stage}, ${Math.round(100 * p.whole)} %, ${Math.max(Math.round(p.seconds_left), 1)} s left` : 'Rebuilding …';
    }
    if (job?.failed) {
      return job.error;
    }
    if (isChanged) {
      return `Not saved yet. ${approximate}`;
    }
    if (job?.verb === 'export' && !job.stopped) {
      return `Exported to ${this.state.workspace}/exports.`;
    }
    return stale ? `Saved. ${approximate}` : 'Saved and built.';
  }
}
