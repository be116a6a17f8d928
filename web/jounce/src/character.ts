import type { Asset } from './asset.js';
import { JounceError, Module, View } from './module.js';
import { Surface } from './surface.js';
import { CharacterWord, teleports } from './words.js';

export interface CharacterOptions {
  /** Target curves: 'exact' lags one step behind, 'causal' does not. Default: the asset's. */
  timing?: 'exact' | 'causal';
}

/** What a jump from the last pose to this one means. */
export type Teleport =
  /** It is motion. */
  | 'none'
  /** The flesh was carried along: its motion goes on, the jump is not felt. */
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
}

export interface StepOptions extends Output {
  teleport?: Teleport;
  /** Take pose.matrices instead of local rotations, translations and scales. */
  matrices?: boolean;
}

const POSITIONS = 1, NORMALS = 2, VELOCITIES = 4;

/** Where the joints are. Write into these arrays, then step. */
export class Pose {
  private readonly views: View<Float32Array<ArrayBuffer>>[];

  constructor(module: Module, words: Uint32Array, joints: number) {
    const lengths = [4 * joints, 3 * joints, 3 * joints, 12 * joints, 7];
    this.views = lengths.map((length, i) => new View(module, Float32Array<ArrayBuffer>, words[i], length));
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
}

/** One character in motion. Any number of them share an asset. */
export class Character {
  readonly pose: Pose;
  readonly surface: Surface;
  private readonly offsetView: View<Float32Array<ArrayBuffer>>;
  private readonly offsetVelocityView: View<Float32Array<ArrayBuffer>>;
  private readonly feltView: View<Float32Array<ArrayBuffer>> | null;
  private readonly weightView: View<Float32Array<ArrayBuffer>>;
  private handle: number;

  /** Use Asset.createCharacter. */
  constructor(private readonly module: Module, readonly asset: Asset, assetHandle: number, options: CharacterOptions) {
    const timing = options.timing === undefined ? -1 : options.timing === 'exact' ? 0 : 1;
    this.handle = module.exports.jnwCreateCharacter(assetHandle, timing);
    if (this.handle === 0) {
      module.fail();
    }
    try {
      this.surface = new Surface(module, assetHandle, asset.fileVertexCount);
    } catch (error) {
      module.exports.jnwDestroyCharacter(this.handle);
      throw error;
    }
    const words = module.words(module.exports.jnwDescribeCharacter(this.handle), CharacterWord.end).slice();
    this.pose = new Pose(module, words, asset.jointCount);
    this.offsetView = new View(module, Float32Array<ArrayBuffer>, words[CharacterWord.offsets], 3 * asset.springCount);
    this.offsetVelocityView = new View(module, Float32Array<ArrayBuffer>, words[CharacterWord.speeds], 3 * asset.springCount);
    this.feltView = words[CharacterWord.felt] !== 0 ? new View(module, Float32Array<ArrayBuffer>, words[CharacterWord.felt], 3 * asset.springCount) : null;
    this.weightView = new View(module, Float32Array<ArrayBuffer>, words[CharacterWord.weights], asset.componentCount + asset.modes.length);
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
    const teleport = teleports.indexOf(options.teleport ?? 'none');
    this.module.exports.jnwStep(this.open(), h, teleport, options.matrices ? 1 : 0, ...this.output(options));
  }

  /** The surface that the skeleton alone gives for the pose. Changes nothing of the motion. */
  skin(options: StepOptions = {}): void {
    this.module.exports.jnwSkin(this.open(), options.matrices ? 1 : 0, ...this.output(options));
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

  /** Frequency and damping ratio of all springs and modes, times what the asset has. Modes tuned by region start over. */
  setTuning(hertzScale: number, ratioScale: number): void {
    this.check(this.module.exports.jnwSetTuning(this.open(), hertzScale, ratioScale));
  }

  /**
   * The same for the modes that live at a joint (-1: all), and how strongly the motion drives them. Times what the asset
   * has, not what was set before. Returns how many modes those are.
   */
  tuneModes(joint: number, hertzScale: number, ratioScale: number, gainScale = 1): number {
    const count = this.module.exports.jnwTuneModes(this.open(), joint, hertzScale, ratioScale, gainScale);
    return count >= 0 ? count : this.module.fail();
  }

  /** How much of the network's displacement is added: 1 all, 0 nothing, which costs nothing. From the next pose on. */
  setNetworkStrength(strength: number): void {
    this.module.exports.jnwSetNetworkStrength(this.open(), strength);
  }

  /** The fraction of the offset that is shown: 1 all, 0 the bare target. */
  setStrength(strength: number): void {
    this.check(this.module.exports.jnwSetStrength(this.open(), strength));
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
    this.module.exports.jnwAddImpulse(this.open(), x, y, z, radius, vx, vy, vz);
  }

  /** Morph weights of the last step or evaluation, those of the network, then those of the modes, as a view. */
  get weights(): Float32Array {
    return this.weightView.array;
  }

  /**
   * The modes as each vertex feels them, tuned as they are now, [springCount] each, as views; null where the asset has
   * none. Stiffness in 1/s² and damping in 1/s are means over the modes, weighed by how far each gives way there; share
   * is the part of the modes at a joint in that. All 0 where no mode moves the vertex.
   */
  readModes(joint = -1): { stiffness: Float32Array; damping: Float32Array; share: Float32Array } | null {
    if (!this.feltView) {
      return null;
    }
    this.module.exports.jnwReadModes(this.open(), joint);
    const felt = this.feltView.array, n = this.asset.springCount;
    return { stiffness: felt.subarray(0, n), damping: felt.subarray(n, 2 * n), share: felt.subarray(2 * n) };
  }

  /**
   * Offsets of the vertices' own springs in metres and their velocities in m/s as they are now, [springCount][3], as views.
   * What modes add is not in them: it is the difference of evaluate and evaluateTarget.
   */
  readState(): { offsets: Float32Array; velocities: Float32Array } {
    this.module.exports.jnwReadState(this.open());
    return { offsets: this.offsetView.array, velocities: this.offsetVelocityView.array };
  }

  /** Springs that met a number that was not finite, and were put back on their target. */
  get resetCount(): number {
    return this.module.exports.jnwResetCount(this.open());
  }

  destroy(): void {
    if (this.handle !== 0) {
      this.surface.destroy();
      this.module.exports.jnwDestroyCharacter(this.handle);
      this.handle = 0;
    }
  }

  private output(options: Output): [surface: number, wants: number] {
    const surface = options.surface ?? this.surface;
    if (surface.handle === 0) {
      throw new JounceError('the surface was destroyed');
    }
    return [
      surface.handle, POSITIONS | (options.normals === false ? 0 : NORMALS) | (options.velocities ? VELOCITIES : 0)];
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
