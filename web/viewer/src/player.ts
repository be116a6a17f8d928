// Time: which pose each copy is in, when it is stepped, and what of it is shown.
//
// Steps come at the screen's rate, or at a fixed rate of their own; then what is drawn lies inside the last step, by the
// runtime's closed form, so that five steps a second still move smoothly. Every copy has its own place in the clip.
import type { Asset, Character, Crowd, Output, Surface, Teleport } from 'jounce';
import type { Simulation } from './simulation';
import type { Mode, Settings } from './settings';

/** One copy. The springs' surface is the character's own. */
export interface Actor {
  character: Character;
  skinned: Surface;
  target: Surface;
  /** Seconds ahead of the first copy. */
  phase: number;
}

/** What can be drawn: positions and normals of the file vertices. */
export type Drawable = Pick<Surface, 'positions' | 'normals'>;

/** Seconds that a step of all copies took, and a step of one: the median of the last half second, which is the step's own
 *  cost also where other work interrupts some of them. */
export interface Cost {
  all: number;
  one: number;
  framesPerSecond: number;
}

const LONGEST_FRAME = 0.1; // seconds; after a pause of the page the motion goes on, it does not catch up
const MOST_STEPS = 24; // a frame; 240 Hz on a screen of 10
const RUN_UP = 3; // seconds after which flesh has forgotten how it started
const COST_WINDOW = 500; // milliseconds

export class Player {
  readonly actors: Actor[] = [];
  /** All copies but the first where the asset is linear in its weights: stepped at once, weights alone. */
  others: Crowd | null = null;
  /** Seconds since the start of the clip, of the first copy. */
  time = 0;
  /** Seconds that the motion has run, for the curves. */
  clock = 0;
  /** Displacement of the character, metres. */
  readonly root: [number, number, number] = [0, 0, 0];
  cost: Cost = { all: 0, one: 0, framesPerSecond: 0 };
  /** Called after each step of the first copy; `jumped`: the clip began anew. */
  onStep: ((h: number, jumped: boolean) => void) | null = null;

  /** Tunes a character further, after the sliders. */
  refine: ((character: Character) => void) | null = null;

  private waiting = 0; // seconds of the screen's time not yet stepped, at a fixed rate
  private fraction = 1; // of the last step that is shown
  private started = false;
  private times: number[] = []; // milliseconds of the steps since then
  private counted = { frames: 0, since: performance.now() };

  constructor(readonly asset: Asset, readonly settings: Settings, readonly simulation: Simulation) {
    this.setCopies(1);
  }

  get clip() {
    return this.asset.clips[this.settings.clip];
  }

  get duration(): number {
    return Math.max(this.clip?.duration ?? 0, 1e-3);
  }

  /** Seconds in the clip, 0 to its duration: a looping clip wraps. */
  get clipTime(): number {
    return this.time > this.duration ? this.time % this.duration : this.time;
  }

  /** Whether all copies but the first are morph weights alone. */
  get isLight(): boolean {
    return this.asset.isLinear && this.asset.weightCount > 0;
  }

  get copies(): number {
    return this.actors.length + (this.others?.characters.length ?? 0);
  }

  setCopies(copies: number): void {
    const count = this.isLight ? Math.min(copies, 1) : copies, others = copies - count;
    if (others !== (this.others?.characters.length ?? 0)) {
      this.others?.destroy();
      this.others = others > 0 ? this.asset.createCrowd(others, { timing: 'causal' }) : null;
      this.others?.characters.forEach((character) => this.tune(character));
      if (this.started) {
        this.stepOthers(0, 'reset');
      }
    }
    while (this.actors.length > count) {
      const actor = this.actors.pop()!;
      actor.skinned.destroy();
      actor.target.destroy();
      actor.character.destroy();
    }
    while (this.actors.length < count) {
      const phase = this.phaseOf(this.actors.length);
      this.actors.push({
        character: this.asset.createCharacter({ timing: 'causal' }),
        skinned: this.asset.createSurface(),
        target: this.asset.createSurface(),
        phase,
      });
      this.tune(this.actors[this.actors.length - 1].character);
      if (this.started) {
        this.stepActor(this.actors[this.actors.length - 1], 0, 'reset');
      }
    }
  }

  /** Hands the sliders to the springs. */
  applySettings(): void {
    this.actors.forEach(({ character }) => this.tune(character));
    this.others?.characters.forEach((character) => this.tune(character));
  }

  /** Hands the sliders to one character. */
  tune(character: Character): void {
    const s = this.settings;
    character.setTuning(s.hertz, s.ratio);
    for (const [joint, region] of Object.entries(s.regions)) {
      character.tuneModes(Number(joint), s.hertz * region.hertz, s.ratio * region.ratio, region.gain);
    }
    character.setNetworkStrength(s.network);
    character.setStrength(s.strength);
    character.setInertia(s.inertia);
    character.setForce(0, -s.gravity, 0);
    this.refine?.(character);
  }

  /** Stands at a time of the clip, everything at rest there. */
  seek(time: number): void {
    this.time = time;
    this.waiting = 0;
    this.fraction = 1;
    this.started = true;
    this.actors.forEach((actor) => this.stepActor(actor, 0, 'reset'));
    this.stepOthers(0, 'reset');
    this.onStep?.(0, true);
  }

  /**
   * Stands at a time of the clip as the flesh is when the clip is played up to it, at the clip's own rate. Springs of single vertices, which
   * cost more, are played for the last seconds alone. Copies other than the first are at rest.
   */
  playTo(time: number): void {
    const { clip } = this, first = this.actors[0];
    if (!clip || !first) {
      this.seek(time);
      return;
    }
    const goal = Math.round(time * clip.rate * 1e6) / 1e6, from = this.isLight ? 0 : Math.max(Math.floor(goal - RUN_UP * clip.rate), 0);
    const output = this.isLight ? { positions: false } : { normals: false };
    this.seek(from / clip.rate);
    for (let frame = from + 1; frame < goal; ++frame) {
      this.time = frame / clip.rate;
      this.stepActor(first, 1 / clip.rate, 'none', output);
    }
    const last = Math.max(Math.ceil(goal) - 1, from);
    this.time = goal / clip.rate;
    this.stepActor(first, (goal - last) / clip.rate, 'none');
    this.actors.slice(1).forEach((actor) => this.stepActor(actor, 0, 'reset'));
    this.stepOthers(0, 'reset');
    this.onStep?.(0, true);
  }

  /** The pose as it is taken anew: what changes the target shows at once, also in a pause. The flesh is carried along. */
  retarget(): void {
    this.actors.forEach((actor) => this.stepActor(actor, 0, 'keep'));
    this.stepOthers(0, 'keep');
  }

  /** Goes on by a frame of the screen. */
  advance(seconds: number): void {
    if (!this.started) {
      this.seek(0);
    }
    const s = this.settings;
    const frame = Math.min(seconds, LONGEST_FRAME);
    const scale = s.playing ? s.timeScale : 0;
    if (s.rate === 0) {
      this.stepAll(frame * scale);
      this.fraction = 1;
    } else if (scale > 0) {
      this.waiting += frame;
      for (let n = 0; this.waiting * s.rate >= 1 && n < MOST_STEPS; ++n) {
        this.stepAll(scale / s.rate);
        this.waiting -= 1 / s.rate;
      }
      this.waiting = Math.min(this.waiting, 1 / s.rate);
      this.fraction = this.waiting * s.rate;
    } else {
      this.stepAll(0);
    }
    this.countFrame();
  }

  private stepAll(h: number): void {
    const start = performance.now();
    const before = this.time;
    this.time += this.settings.hold ? 0 : h;
    if (!this.clip?.looping && this.time > this.duration) {
      this.time %= this.duration;
    }
    for (const actor of this.actors) {
      // A clip that does not loop begins anew: the body is carried there, the flesh goes on.
      const jumps = !this.clip?.looping && this.place(actor, this.time) < this.place(actor, before) && h > 0;
      this.stepActor(actor, h, jumps ? 'keep' : 'none');
    }
    this.stepOthers(h, 'none', before);
    this.times.push(performance.now() - start);
    this.clock += h;
    if (h > 0) {
      this.onStep?.(h, this.time < before);
    }
  }

  private place({ phase }: { phase: number }, time: number): number {
    const at = time + phase * this.duration;
    return this.clip?.looping || at <= this.duration ? at : at % this.duration;
  }

  // Golden-ratio phases: any number of copies is spread evenly.
  private phaseOf(copy: number): number {
    return (copy * 0.618034) % 1;
  }

  private stepOthers(h: number, teleport: Teleport, before = this.time): void {
    if (!this.others) {
      return;
    }
    const { characters } = this.others, times = new Float64Array(characters.length), kinds: Teleport[] = [];
    for (let i = 0; i < characters.length; ++i) {
      const at = { phase: this.phaseOf(i + this.actors.length) }, time = this.place(at, this.time);
      times[i] = time;
      kinds.push(teleport === 'none' && !this.clip?.looping && h > 0 && time < this.place(at, before) ? 'keep' : teleport);
      characters[i].pose.root.set(this.root);
    }
    if (this.clip) {
      this.others.sampleClip(this.settings.clip, times);
    }
    this.others.step(h, { teleport: kinds });
  }

  private stepActor(actor: Actor, h: number, teleport: Teleport, output: Output = {}): void {
    const { character } = actor;
    if (this.clip) {
      character.sampleClip(this.settings.clip, this.place(actor, this.time));
    }
    character.pose.root.set(this.root);
    character.step(h, { teleport, ...output });
  }

  private countFrame(): void {
    const now = performance.now(), passed = now - this.counted.since;
    this.counted.frames += 1;
    if (passed >= COST_WINDOW) {
      const all = (this.times.sort((a, b) => a - b)[this.times.length >> 1] ?? 0) / 1000;
      this.cost = { all, one: all / this.copies, framesPerSecond: (1000 * this.counted.frames) / passed };
      this.times = [];
      this.counted = { frames: 0, since: now };
    }
  }

  /** Works out, with velocities, the springs and their target at the moment that is shown. */
  compare(actor: Actor): { shown: Surface; target: Surface } {
    actor.character.evaluate(this.fraction, { velocities: true });
    actor.character.evaluateTarget(this.fraction, { surface: actor.target, normals: false, velocities: true });
    return { shown: actor.character.surface, target: actor.target };
  }

  // Seconds of the clip that the moment that is shown lies before the end of the last step.
  private get back(): number {
    const s = this.settings;
    return this.fraction < 1 && s.rate > 0 && !s.hold ? ((1 - this.fraction) * s.timeScale) / s.rate : 0;
  }

  /** Puts the simulation to the moment that is shown of the first copy; false where there is none. */
  showSimulation(normals: boolean): boolean {
    const time = Math.max(this.clipTime - this.back, 0);
    return this.actors.length === 1 && this.simulation.show(this.settings.clip, time, this.root, normals);
  }

  /** Works out what a mode shows of a copy now, and where it is. */
  show(actor: Actor, mode: Mode): Drawable {
    if (mode === 'simulation') {
      this.showSimulation(true);
      return this.simulation;
    }
    if (mode === 'springs') {
      if (this.fraction < 1) {
        actor.character.evaluate(this.fraction);
      }
      return actor.character.surface;
    }
    if (mode === 'target') {
      actor.character.evaluateTarget(this.fraction, { surface: actor.target });
      return actor.target;
    }
    return this.skin(actor);
  }

  /** The target of a copy at the moment that is shown. */
  targetOf(actor: Actor): Surface {
    actor.character.evaluateTarget(this.fraction, { surface: actor.target, normals: false });
    return actor.target;
  }

  /** The skinned surface at the moment that is shown, which may lie before the end of the step. */
  skin(actor: Actor): Surface {
    if (this.back > 0 && this.clip) {
      actor.character.sampleClip(this.settings.clip, Math.max(this.place(actor, this.time) - this.back, 0));
    }
    actor.character.skin({ surface: actor.skinned });
    return actor.skinned;
  }

  destroy(): void {
    this.setCopies(0);
  }
}
