import type { Asset } from './asset.js';
import { JounceError, Module, View } from './module.js';
import { Surface } from './surface.js';
import { CharacterWord, curves, details, starts, teleports, timings } from './words.js';

/** How the target moves between two poses. */
export type Curve = 'step' | 'linear' | 'cubic';
/** How the flesh starts: with the target's velocity, or without velocity in space. */
export type Start = (typeof starts)[number];
/** Every vertex that has a spring, or the asset's drivers alone. */
export type Detail = (typeof details)[number];

export interface CharacterOptions {
  /** Target curves: 'exact' lags one step behind, 'causal' does not. Default: the asset's. */
  timing?: (typeof timings)[number];
  /** Default: the asset's. */
  curve?: Curve;
  /** Default: the asset's. */
  start?: Start;
  /** Default 'full'; 'coarse' needs an asset with drivers (`jounce export --lod`). */
  detail?: Detail;
  /** Level of detail: how many weights of the network and of the modes, the first ones; 0 or nothing: all. */
  components?: number;
  modes?: number;
  /** No memory for a surface: weights alone can be asked for. Default false, but for an asset without a surface. */
  weightsOnly?: boolean;
}

/** What a jump from the last pose to this one means. */
export type Teleport =
  /** It is motion. */
  | 'none'
  /** The flesh is carried along: its motion continues, and the jump is not felt. */
  | 'keep'
  /** The flesh starts anew, on its target. */
  | 'reset';

/** What is worked out and where it goes. */
export interface Output {
  /** Default: the character's own surface. */
  surface?: Surface;
  /** Default true. */
  normals?: boolean;
  /** Default false. */
  velocities?: boolean;
  /** False: weights alone, no vertex is touched. Default true, unless the character is made for weights only. */
  positions?: boolean;
  /** How fast the weights change, in 1/s: fills weightRates. Default false. */
  rates?: boolean;
}

export interface StepOptions extends Output {
  teleport?: Teleport;
  /** Take pose.matrices instead of local rotations, translations and scales. */
  matrices?: boolean;
}

const POSITIONS = 1, NORMALS = 2, VELOCITIES = 4, RATES = 8;

export function teleportNumber(teleport: Teleport): number {
  const number = teleports.indexOf(teleport);
  if (number < 0) {
    throw new JounceError(`a teleport is one of ${teleports.join(', ')}, not ${String(teleport)}`);
  }
  return number;
}

/** Where the joints are. Write into these arrays, then step. */
export class Pose {
  private readonly views: View<Float32Array<ArrayBuffer>>[];
  private readonly originView: View<Float64Array<ArrayBuffer>>;
  private readonly targetView: View<Float32Array<ArrayBuffer>>;

  constructor(module: Module, words: Uint32Array, joints: number, targets: number) {
    const lengths = [4 * joints, 3 * joints, 3 * joints, 12 * joints, 7];
    this.views = lengths.map((length, i) => new View(module, Float32Array<ArrayBuffer>, words[i], length));
    this.originView = new View(module, Float64Array<ArrayBuffer>, words[CharacterWord.origin], 3);
    this.targetView = new View(module, Float32Array<ArrayBuffer>, words[CharacterWord.targets], targets);
  }

  /** Unit quaternions x, y, z, w, local to the parent, [jointCount][4]. */
  get rotations(): Float32Array { return this.views[CharacterWord.rotations].array; }
  /** Metres, local, [jointCount][3]. */
  get translations(): Float32Array { return this.views[CharacterWord.translations].array; }
  /** Local, [jointCount][3]. */
  get scales(): Float32Array { return this.views[CharacterWord.scales].array; }
  /** Joint to character, 3 rows of 4, [jointCount][12]: for a step with `matrices: true`. */
  get matrices(): Float32Array { return this.views[CharacterWord.matrices].array; }
  /** Where the character stands in the world: position x, y, z, then the unit quaternion x, y, z, w. */
  get root(): Float32Array { return this.views[CharacterWord.root].array; }
  /** Where the coordinates of this pose begin in a larger world, metres, in double. */
  get origin(): Float64Array { return this.originView.array; }
  /** Weights of the source's own morph targets, [asset.targets.length]: at first those at rest; sampleClip writes the clip's. */
  get targets(): Float32Array { return this.targetView.array; }
}

/** One character in motion. Any number of them share an asset. */
export class Character {
  readonly pose: Pose;
  readonly weightsOnly: boolean;
  private readonly weightView: View<Float32Array<ArrayBuffer>>;
  private readonly rateView: View<Float32Array<ArrayBuffer>>;
  private ownSurface: Surface | null = null;
  private handle: number;

  /** Use Asset.createCharacter. */
  constructor(private readonly module: Module, readonly asset: Asset, private readonly assetHandle: number, options: CharacterOptions) {
    this.weightsOnly = options.weightsOnly ?? asset.fileVertexCount === 0;
    const one = (names: readonly string[], name: string | undefined) => {
      if (name !== undefined && !names.includes(name)) {
        throw new JounceError(`one of ${names.join(', ')} is wanted, not ${name}`);
      }
      return name === undefined ? -1 : names.indexOf(name);
    };
    const def = [
      one(timings, options.timing), one(curves, options.curve), one(starts, options.start), one(details, options.detail),
      options.components ?? 0, options.modes ?? 0, this.weightsOnly ? 1 : 0];
    this.handle = module.borrow(4 * def.length, (address) => {
      new Int32Array(module.buffer, address, def.length).set(def);
      return module.exports.jnwCreateCharacter(assetHandle, address);
    });
    if (this.handle === 0) {
      module.fail();
    }
    const words = module.words(module.exports.jnwDescribeCharacter(this.handle), CharacterWord.end).slice();
    this.pose = new Pose(module, words, asset.jointCount, asset.targets.length);
    this.weightView = new View(module, Float32Array<ArrayBuffer>, words[CharacterWord.weights], asset.weightCount);
    this.rateView = new View(module, Float32Array<ArrayBuffer>, words[CharacterWord.weightRates], asset.weightCount);
  }

  /** The character's own surface, made when it is first needed. */
  get surface(): Surface {
    if (this.weightsOnly) {
      throw new JounceError('this character was made for weights only: it has no surface');
    }
    this.open();
    this.ownSurface ??= new Surface(this.module, this.assetHandle, this.asset.fileVertexCount);
    return this.ownSurface;
  }

  /** Positions, normals and velocities of the character's own surface; see Surface. */
  get positions(): Float32Array<ArrayBuffer> { return this.surface.positions; }
  get normals(): Float32Array<ArrayBuffer> { return this.surface.normals; }
  get velocities(): Float32Array<ArrayBuffer> { return this.surface.velocities; }

  /** Writes the pose of a clip at a time into `pose`. A looping clip wraps, another stays on its ends. */
  sampleClip(clip: number, seconds: number): void {
    if (!Number.isInteger(clip) || clip < 0 || clip >= this.asset.clips.length) {
      throw new JounceError(`the asset '${this.asset.name}' has ${this.asset.clips.length} clips, none with number ${clip}`);
    }
    this.module.exports.jnwSampleClip(this.open(), clip, seconds);
  }

  /** Takes the pose and advances by `h` seconds, however many; 0 is a pause. */
  step(h: number, options: StepOptions = {}): void {
    this.module.exports.jnwStep(this.open(), h, teleportNumber(options.teleport ?? 'none'), options.matrices ? 1 : 0, ...this.output(options));
  }

  /** Stands on the pose, as a character does that was just made. */
  reset(options: StepOptions = {}): void {
    this.module.exports.jnwReset(this.open(), options.matrices ? 1 : 0, ...this.output(options));
  }

  /** The surface that the skeleton alone gives for the pose. Changes nothing of the motion. */
  skin(options: StepOptions = {}): void {
    this.module.exports.jnwSkin(this.open(), options.matrices ? 1 : 0, ...this.output(options));
  }

  /** The matrices that skin the rest surface in the pose at hand, 3 rows of 4, [jointCount][12]: for a renderer of your own. */
  skinMatrices(options: { matrices?: boolean } = {}): Float32Array<ArrayBuffer> {
    const count = 12 * this.asset.jointCount;
    return this.module.borrow(12 * count, (address) => {
      this.module.exports.jnwSkinMatrices(this.open(), options.matrices ? 1 : 0, address, address + 8 * count);
      return new Float32Array(this.module.buffer, address + 8 * count, count).slice();
    });
  }

  /** The surface that the pose alone gives, skeleton and network: what the springs hang on. Changes nothing of the motion. */
  target(options: StepOptions = {}): void {
    this.module.exports.jnwTarget(this.open(), options.matrices ? 1 : 0, ...this.output(options));
  }

  /** The motion inside the last step, fraction 0 its start, 1 its end. Changes nothing. */
  evaluate(fraction: number, options: Output = {}): void {
    this.module.exports.jnwEvaluate(this.open(), fraction, ...this.output(options));
  }

  /** The same for the target: what the pose alone explains, without the motion of the flesh. */
  evaluateTarget(fraction: number, options: Output = {}): void {
    this.module.exports.jnwEvaluateTarget(this.open(), fraction, ...this.output(options));
  }

  /** The exact state after `seconds` in the last pose, in one step. */
  settle(seconds: number, options: Output = {}): void {
    this.module.exports.jnwSettle(this.open(), seconds, ...this.output(options));
  }

  /** With exact timing: advances to the newest pose. Otherwise gives the output again. */
  finish(options: Output = {}): void {
    this.module.exports.jnwFinish(this.open(), ...this.output(options));
  }

  /**
   * Puts the flesh into the motion that repeats exactly with a loop of poses: `setPose` writes pose `frame` into `pose`, and
   * pose `frameCount` would be pose 0 again. The next step takes pose 1 (pose 2 with exact timing). Returns how many springs
   * have no such motion: 0 but for springs without damping.
   */
  solveLoop(frameCount: number, h: number, setPose: (frame: number) => void, options: { matrices?: boolean } = {}): number {
    if (this.module.exports.jnwBeginLoop(this.open(), frameCount) !== 0) {
      this.module.fail();
    }
    for (let frame = 0; frame < frameCount; ++frame) {
      setPose(frame);
      this.module.exports.jnwTakeLoopPose(this.open(), frame, options.matrices ? 1 : 0);
    }
    const unsolved = this.module.exports.jnwSolveLoop(this.open(), h);
    return unsolved >= 0 ? unsolved : this.module.fail();
  }

  /** The state of the motion as bytes, for rollback and scrubbing; settings are not part of it. */
  save(): Uint8Array<ArrayBuffer> {
    const size = this.module.exports.jnwSnapshotSize(this.open());
    return this.module.borrow(size, (address) => {
      this.module.exports.jnwSave(this.open(), address);
      return new Uint8Array(this.module.buffer, address, size).slice();
    });
  }

  /** Takes up a saved state. Throws if it is of another asset or was altered; nothing has changed then. */
  restore(snapshot: Uint8Array): void {
    this.module.borrow(snapshot.length, (address) => {
      new Uint8Array(this.module.buffer, address, snapshot.length).set(snapshot);
      this.check(this.module.exports.jnwRestore(this.open(), address, snapshot.length));
    });
  }

  /**
   * Frequency and damping ratio of all springs and modes, times what the asset has. Modes tuned by region start over. Arrays
   * [ownSpringCount] multiply the numbers for springs of single vertices.
   */
  setTuning(hertzScale: number, ratioScale: number, hertzScales?: ArrayLike<number>, ratioScales?: ArrayLike<number>): void {
    this.checkLengths(hertzScales, ratioScales);
    this.module.lend([hertzScales, ratioScales], ([hertz, ratios]) =>
      this.check(this.module.exports.jnwSetTuning(this.open(), hertzScale, ratioScale, hertz, ratios)));
  }

  /** Stiffness in 1/s² and damping in 1/s of springs of single vertices, [ownSpringCount]; null keeps what is there. */
  setParameters(stiffness: ArrayLike<number> | null, damping: ArrayLike<number> | null): void {
    this.checkLengths(stiffness, damping);
    this.module.lend([stiffness, damping], ([ks, kd]) => this.check(this.module.exports.jnwSetParameters(this.open(), ks, kd)));
  }

  /**
   * The same for the modes that live at a joint (-1: all), and how strongly the motion drives them. Times what the asset
   * has, not what was set before. Returns how many modes those are.
   */
  tuneModes(joint: number, hertzScale: number, ratioScale: number, gainScale = 1): number {
    const count = this.module.exports.jnwTuneModes(this.open(), joint, hertzScale, ratioScale, gainScale);
    return count >= 0 ? count : this.module.fail();
  }

  /** The same for one mode, a number of `asset.modes`. False: there is no such mode. */
  tuneMode(mode: number, hertzScale: number, ratioScale: number, gainScale = 1): boolean {
    const count = this.module.exports.jnwTuneMode(this.open(), mode, hertzScale, ratioScale, gainScale);
    return count >= 0 ? count > 0 : this.module.fail();
  }

  /**
   * Changes the level of detail while the character plays: the first components and modes of each, 0: all that it was made
   * with. What goes is faded out over so many seconds of steps and costs nothing from then on; what comes is faded in.
   */
  setLevel(components: number, modes: number, seconds = 0.5): void {
    this.module.exports.jnwSetLevel(this.open(), components, modes, seconds);
  }

  /** How much of the network's displacement is added: 1 all, 0 nothing, which costs nothing. From the next pose on. */
  setNetworkStrength(strength: number): void {
    this.module.exports.jnwSetNetworkStrength(this.open(), strength);
  }

  /**
   * The fraction of the motion that is shown: 1 all, 0 the bare target. Of everything, of the modes that live at a joint, or,
   * with an array [ownSpringCount], of each vertex with a spring of its own.
   */
  setStrength(strength: number, of: number | ArrayLike<number> = -1): void {
    const strengths = typeof of === 'number' ? null : of;
    this.checkLengths(strengths);
    this.module.lend([strengths], ([address]) =>
      this.check(this.module.exports.jnwSetStrength(this.open(), typeof of === 'number' ? of : -1, strength, address)));
  }

  /** A step in which the first joint moves more than this, in metres, counts as a teleport; 0: never. */
  setTeleportThreshold(distance: number, teleport: Teleport): void {
    this.module.exports.jnwSetTeleportThreshold(this.open(), distance, teleportNumber(teleport));
  }

  /** Springs of single vertices that move, [ownSpringCount], 0: rests on its target. Null: all. In blocks of 16. */
  setMask(mask: Uint8Array | null): void {
    this.checkLengths(mask);
    this.module.borrow(mask?.length ?? 0, (address) => {
      new Uint8Array(this.module.buffer).set(mask ?? [], address);
      this.module.exports.jnwSetMask(this.open(), mask ? address : 0);
    });
  }

  /** A constant acceleration of the flesh, m/s²: gravity, wind. */
  setForce(x: number, y: number, z: number): void {
    this.module.exports.jnwSetForce(this.open(), x, y, z);
  }

  /** How much of the root's motion the flesh feels: 1 physical, 0 nothing. */
  setInertia(translation: number, rotation = translation): void {
    this.module.exports.jnwSetInertia(this.open(), translation, rotation);
  }

  /** The largest offset that is shown, metres; 0: no limit. */
  setCap(distance: number): void {
    this.module.exports.jnwSetCap(this.open(), distance);
  }

  /** The limits that the file sets to its modes, from the thickness of the flesh, times this; 0: none. 1 at first. */
  scaleModeCaps(scale: number): void {
    this.module.exports.jnwScaleModeCaps(this.open(), scale);
  }

  /** Adds a velocity, m/s, to the flesh within `radius` of `center`, with a smooth fall-off. Felt by the next step. */
  addImpulse(center: readonly number[], radius: number, velocity: readonly number[]): void {
    const [x, y, z] = center, [vx, vy, vz] = velocity;
    if (this.asset.hitVertexCount === 0) {
      throw new JounceError(`the asset '${this.asset.name}' does not know its surface; write it again with jounce export`);
    }
    this.module.exports.jnwAddImpulse(this.open(), x, y, z, radius, vx, vy, vz);
  }

  /** The same at one vertex: of the asset's vertices, not the file's; of the whole character where the file has no surface. */
  addImpulseAt(vertex: number, velocity: readonly number[]): void {
    if (!Number.isInteger(vertex) || vertex < 0 || vertex >= this.asset.hitVertexCount) {
      throw new JounceError(`the asset '${this.asset.name}' has ${this.asset.hitVertexCount} vertices, none with number ${vertex}`);
    }
    const [x, y, z] = velocity;
    this.module.exports.jnwAddImpulseAt(this.open(), vertex, x, y, z);
  }

  /** Morph weights of the last step or evaluation, those of the network, then those of the modes, as a view. */
  get weights(): Float32Array {
    return this.weightView.array;
  }

  /** How fast they change, 1/s: filled by what was stepped or evaluated with `rates: true`. */
  get weightRates(): Float32Array {
    return this.rateView.array;
  }

  /** Poses that held a number that was not finite. */
  get badPoseCount(): number {
    return this.module.exports.jnwBadPoseCount(this.open());
  }

  /** Address inside the module, for Crowd. */
  get address(): number {
    return this.open();
  }

  /**
   * The modes as each vertex feels them, tuned as they are now, [springCount] each, as views; null where the asset has
   * none. Stiffness in 1/s² and damping in 1/s are means over the modes, weighed by how far each gives way there; share
   * is the part of the modes at a joint in that. All 0 where no mode moves the vertex.
   */
  readModes(joint = -1): { stiffness: Float32Array; damping: Float32Array; share: Float32Array } | null {
    const address = this.asset.modes.length > 0 ? this.module.exports.jnwReadModes(this.open(), joint) >>> 0 : 0, n = this.asset.springCount;
    if (address === 0) {
      return null;
    }
    const felt = new Float32Array(this.module.buffer, address, 3 * n);
    return { stiffness: felt.subarray(0, n), damping: felt.subarray(n, 2 * n), share: felt.subarray(2 * n) };
  }

  /**
   * Offsets of the vertices' own springs in metres and their velocities in m/s as they are now, [springCount][3], as views.
   * What modes add is not in them: it is the difference of evaluate and evaluateTarget.
   */
  readState(): { offsets: Float32Array; velocities: Float32Array } {
    const address = this.module.exports.jnwReadState(this.open()) >>> 0, n = 3 * this.asset.springCount;
    if (address === 0) {
      throw new JounceError('no memory for the state of the springs');
    }
    return { offsets: new Float32Array(this.module.buffer, address, n), velocities: new Float32Array(this.module.buffer, address + 4 * n, n) };
  }

  /** Springs that met a number that was not finite, and were put back on their target. */
  get resetCount(): number {
    return this.module.exports.jnwResetCount(this.open());
  }

  destroy(): void {
    if (this.handle !== 0) {
      this.ownSurface?.destroy();
      this.module.exports.jnwDestroyCharacter(this.handle);
      this.handle = 0;
    }
  }

  private output(options: Output): [surface: number, wants: number] {
    const rates = options.rates ? RATES : 0;
    if (!(options.positions ?? !this.weightsOnly)) {
      return [0, rates];
    }
    const surface = options.surface ?? this.surface;
    if (surface.handle === 0) {
      throw new JounceError('the surface was destroyed');
    }
    return [
      surface.handle, POSITIONS | (options.normals === false ? 0 : NORMALS) | (options.velocities ? VELOCITIES : 0) | rates];
  }

  private checkLengths(...arrays: (ArrayLike<number> | null | undefined)[]): void {
    const wrong = arrays.find((array) => array && array.length !== this.asset.ownSpringCount);
    if (wrong) {
      throw new JounceError(`the asset '${this.asset.name}' has ${this.asset.ownSpringCount} springs of single vertices, the array ${wrong.length} numbers`);
    }
  }

  private check(result: number): void {
    if (result !== 0) {
      this.module.fail();
    }
  }

  private open(): number {
    if (this.handle === 0) {
      throw new JounceError('the character was destroyed');
    }
    return this.handle;
  }
}
