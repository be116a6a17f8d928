// What the studio's page asks of who makes the character: one interface, whoever stands behind it. Here a server does, `jounce studio`.

export const KEYS = ['softness', 'damping', 'tone', 'limit'] as const;
export type Key = (typeof KEYS)[number];
/** What is set of the regions, as words of the manifest: { belly: { softness: '2' } }. What is not here has its default. */
export type Tuning = Record<string, Partial<Record<Key, string>>>;

export interface Progress {
  stage: string;
  number: number;
  count: number;
  whole: number;
  seconds_left: number;
}

export interface Job {
  number: number;
  verb: string;
  runs: boolean;
  failed: boolean;
  stopped: boolean;
  error: string;
  progress: Progress | null;
}

export interface State {
  folder: string;
  workspace: string;
  /** Whether this page may change something: one page does. */
  writes: boolean;
  /** Whether there is a character to look at. */
  opened: boolean;
  /** Counts up with every character that was made. */
  revision: number;
  /** The manifest says other than what was built. */
  stale: boolean;
  /** Saves that can be taken back, and those that were. */
  undo: number;
  redo: number;
  job: Job | null;
  saved?: Tuning;
  build?: string;
  masked?: boolean;
  error?: string;
}

/** A region of the body, as it is made of. */
export interface Region {
  name: string;
  number: number;
  vertices: number;
  /** Metres that it may move now. */
  limit: number;
  /** The tone of its muscles where nobody sets it. */
  tone: number;
  /** Fractions of stiffness and damping for tones from 0 to 1. */
  stiffness: number[];
  damping: number[];
}

/** The worst frame of a clip. */
export interface Worst {
  name: string;
  frame: number;
  largest: number;
  place: string;
}

/** The modes as they were built; null where they were fitted, or are of another build. */
export interface Modes {
  /** The fraction of the energy of every mode in every region, by its number. */
  energies: number[][];
  /** How much of an acceleration along x, y, z drives each. */
  loads: [number, number, number][];
}

export interface About {
  regions: Region[];
  /** The region of every vertex. */
  vertices: number[];
  modes: Modes | null;
  drag: number;
  by_ratio: boolean;
  /** What the character was built with, in the order of its items. */
  built: { region: string[]; softness: number[]; damping: number[]; tone: number[] };
  mask: number[] | null;
  paintable: boolean;
  worst: Worst[];
}

export interface Author {
  /** The last state that is known. */
  readonly state: State | null;
  look(): Promise<State>;
  about(): Promise<About | null>;
  /** The character's own file with its textures, where it is a .glb. */
  source(): Promise<ArrayBuffer | null>;
  save(tuning: Tuning, build?: string): Promise<State>;
  saveMask(mask: Float32Array | null): Promise<State>;
  undo(): Promise<State>;
  redo(): Promise<State>;
  rebuild(): Promise<State>;
  cancel(): Promise<State>;
  exportTo(format: 'glb' | 'jounce'): Promise<State>;
  drop(file: File): Promise<State>;
  takeOver(): Promise<State>;
}

/** Kept for this page alone, across its reloads. */
export function remember(key: string, value?: string): string | null {
  try {
    if (value !== undefined) {
      sessionStorage.setItem(`jounce-studio-${key}`, value);
    }
    return sessionStorage.getItem(`jounce-studio-${key}`);
  } catch {
    return value ?? null; // storage may be forbidden: then until the next reload
  }
}

export class ServerAuthor implements Author {
  state: State | null = null;
  private readonly token: string;
  private readonly session: string;

  /** Takes the token out of the address, which people copy. */
  constructor() {
    const words = new URLSearchParams(location.search), given = words.get('token');
    this.token = remember('token', given ?? undefined) ?? '';
    this.session = remember('session') ?? remember('session', Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(''))!;
    if (given) {
      history.replaceState(null, '', location.pathname + location.hash);
    }
  }

  private async ask(verb: string, body: BodyInit = '', name = ''): Promise<State> {
    const response = await fetch(`./studio/${verb}/${this.session}${name ? `/${name}` : ''}`, { method: 'POST', headers: { 'X-Jounce-Token': this.token }, body, cache: 'no-store' });
    if (response.status !== 200 && response.status !== 409) {
      throw new Error((await response.text()).trim() || `status ${response.status}`);
    }
    this.state = await response.json() as State;
    if (response.status === 409) {
      throw new Error(this.state.error ?? 'refused');
    }
    return this.state;
  }

  look(): Promise<State> { return this.ask('state'); }
  save(tuning: Tuning, build?: string): Promise<State> { return this.ask('save', JSON.stringify(build === undefined ? { tuning } : { tuning, build })); }
  saveMask(mask: Float32Array<ArrayBuffer> | null): Promise<State> { return this.ask('mask', mask ? mask.buffer : ''); }
  undo(): Promise<State> { return this.ask('undo'); }
  redo(): Promise<State> { return this.ask('redo'); }
  rebuild(): Promise<State> { return this.ask('rebuild'); }
  cancel(): Promise<State> { return this.ask('cancel'); }
  exportTo(format: 'glb' | 'jounce'): Promise<State> { return this.ask('export', JSON.stringify({ format })); }
  drop(file: File): Promise<State> { return this.ask('new', file, file.name.replace(/[^A-Za-z0-9._-]/g, '_')); }
  takeOver(): Promise<State> { return this.ask('take'); }

  async about(): Promise<About | null> {
    const response = await fetch('./studio.json', { cache: 'no-store' });
    return response.ok ? await response.json() as About : null;
  }

  async source(): Promise<ArrayBuffer | null> {
    const response = await fetch('./source.glb', { cache: 'no-store' });
    return response.ok ? await response.arrayBuffer() : null;
  }
}
