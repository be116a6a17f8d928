import { JounceError, Module, View } from './module.js';
import { AssetWord, ClipWord, type NetworkKind } from './words.js';
import { Character, type CharacterOptions } from './character.js';
import { Crowd } from './crowd.js';
import { displace, makeNormals, restPositions } from './normals.js';
import { Surface } from './surface.js';

/** A joint of the skeleton. Parents come before their children. */
export interface Joint {
  readonly name: string;
  /** Index; -1 for a root. */
  readonly parent: number;
  /** Rest pose, local to the parent: metres; unit quaternion x, y, z, w. */
  readonly translation: readonly [number, number, number];
  readonly rotation: readonly [number, number, number, number];
  readonly scale: readonly [number, number, number];
  /** Rest surface to joint, 3 rows of 4. */
  readonly inverseBind: Float32Array;
}

/** A run of triangles that share a material. */
export interface Part {
  readonly name: string;
  readonly material: string;
  /** Linear RGBA. */
  readonly color: readonly [number, number, number, number];
  readonly firstTriangle: number;
  readonly triangleCount: number;
}

export interface Clip {
  readonly name: string;
  /** Frames a second. */
  readonly rate: number;
  readonly frameCount: number;
  readonly looping: boolean;
  /** Held back from training. */
  readonly isTest: boolean;
  /** Seconds. */
  readonly duration: number;
}

/** A morph target of the source (shape key, blend shape): a face, say. What moves it is not Jounce's business. */
export interface Target {
  readonly name: string;
  /** At rest: the rest surface has this much of it. */
  readonly weight: number;
}

/** A vibration mode of the flesh: a spring that many vertices share. */
export interface Mode {
  /** Frequency in hertz, and damping ratio: 1 is critical. */
  readonly hertz: number;
  readonly ratio: number;
  /** How strongly the motion drives it; 1 is what the physics says. */
  readonly gain: number;
  /** Fraction of the flesh's mass that moves, 0 to 1. */
  readonly massShare: number;
  /** The joint that most of it lives at, and how many vertices it moves. */
  readonly joint: number;
  readonly vertexCount: number;
}

/** What moves: a spring per vertex, or springs on the flesh's modes. */
export type Layer = 'none' | 'vertex' | 'modal';
export type { NetworkKind };

/**
 * A loaded `.jounce` file. Everything in it is read-only and shared by its characters. "Vertices" are welded, one per
 * point of the surface; "file vertices" are those of the source file, split at UV seams and hard edges, and the ones
 * that are drawn.
 */
export class Asset {
  readonly name: string;
  readonly jointCount: number;
  readonly vertexCount: number;
  readonly fileVertexCount: number;
  readonly triangleCount: number;
  /** Normals that differ: at least one a vertex, more at hard edges. */
  readonly normalCount: number;
  /** Vertices that `addImpulseAt` takes: those of the whole character in a file without a surface, beside a .glb; 0: it cannot be hit. */
  readonly hitVertexCount: number;
  /** Vertices 0 to springCount - 1 move against their targets, the others stay on them. */
  readonly springCount: number;
  readonly joints: readonly Joint[];
  readonly parts: readonly Part[];
  readonly clips: readonly Clip[];
  /** The source's own morph targets; `pose.targets` has their weights. Empty where it has none. */
  readonly targets: readonly Target[];
  /** Morph weights of the network, which come before those of the modes; number 0 is constant. */
  readonly componentCount: number;
  /** Whether skinning with morph targets gives the whole surface: linear blend, and no map of displacements. */
  readonly isLinear: boolean;
  /** Vibration modes, the most important first; empty where the file has none. */
  readonly modes: readonly Mode[];
  readonly layer: Layer;
  /** What adds to the skinned surface. */
  readonly network: NetworkKind;
  /** Morph weights in all: the network's, then the modes'. 0 for springs of single vertices. */
  readonly weightCount: number;
  /** Whether the weights are those of a .glb's targets (`jounce.flesh.NNN`) instead of the asset's own: only in the file beside it. */
  readonly hasTargetWeights: boolean;
  /** Whether characters can be created with detail 'coarse'. */
  readonly hasCoarse: boolean;
  /** Frames a second that the springs were made at. */
  readonly rate: number;
  /** Metres, root-mean-square over poses that the network's training did not see. */
  readonly networkError: number;
  /** Ids of the sections of the file: "NETW" where it has a network, "MODE" where it has modal springs. */
  readonly sections: readonly string[];
  /** True if the file asks for target curves that lag one step behind (`--mode exact`). */
  readonly lags: boolean;
  readonly byteLength: number;

  private readonly views: {
    rest: View<Float32Array<ArrayBuffer>>;
    stiffness: View<Float32Array<ArrayBuffer>>;
    damping: View<Float32Array<ArrayBuffer>>;
    weld: View<Int32Array<ArrayBuffer>>;
    triangles: View<Int32Array<ArrayBuffer>>;
    normalGroups: View<Int32Array<ArrayBuffer>>;
    uvs: View<Float32Array<ArrayBuffer>> | null;
    order: View<Int32Array<ArrayBuffer>> | null;
  };
  private readonly blocks: { starts: View<Uint32Array<ArrayBuffer>>; joints: number; weights: number };
  /** Springs of single vertices, each the vertex of its number; 0 where the motion is on modes. */
  readonly ownSpringCount: number;
  private handle: number;

  /** Use Runtime.loadAsset. `bytes` is the address of a copy of the file, which the asset owns from now on. */
  constructor(private readonly module: Module, private readonly bytes: number, size: number) {
    const { exports } = module;
    this.handle = exports.jnwLoadAsset(bytes, size);
    if (this.handle === 0) {
      exports.jnwRelease(bytes);
      module.fail();
    }
    const words = module.words(exports.jnwDescribeAsset(this.handle), AssetWord.end).slice();
    this.name = module.text(words[AssetWord.name]);
    this.jointCount = words[AssetWord.jointCount];
    this.vertexCount = words[AssetWord.vertexCount];
    this.hitVertexCount = words[AssetWord.hitVertexCount];
    this.fileVertexCount = words[AssetWord.fileVertexCount];
    this.triangleCount = words[AssetWord.triangleCount];
    this.normalCount = words[AssetWord.normalCount];
    this.springCount = words[AssetWord.springCount];
    this.lags = words[AssetWord.timing] === 0;
    this.byteLength = size;
    const floats = (word: AssetWord, length: number) => new View(module, Float32Array<ArrayBuffer>, words[word], length);
    const integers = (word: AssetWord, length: number) => new View(module, Int32Array<ArrayBuffer>, words[word], length);
    this.views = {
      rest: floats(AssetWord.rest, 4 * this.vertexCount),
      stiffness: floats(AssetWord.stiffness, this.vertexCount),
      damping: floats(AssetWord.damping, this.vertexCount),
      weld: integers(AssetWord.weld, this.fileVertexCount),
      triangles: integers(AssetWord.triangles, 3 * this.triangleCount),
      normalGroups: integers(AssetWord.fileNormals, this.fileVertexCount),
      uvs: words[AssetWord.uvs] !== 0 ? floats(AssetWord.uvs, 2 * this.fileVertexCount) : null,
      order: words[AssetWord.order] !== 0 ? integers(AssetWord.order, this.vertexCount) : null,
    };
    this.joints = readJoints(module, words[AssetWord.joints], words[AssetWord.jointSize], this.jointCount);
    this.parts = readParts(module, words[AssetWord.parts], words[AssetWord.partSize], words[AssetWord.partCount]);
    this.targets = readTargets(module, words[AssetWord.targets], words[AssetWord.targetSize], words[AssetWord.targetCount]);
    this.modes = readModes(module, words[AssetWord.modes], words[AssetWord.modeSize], words[AssetWord.modeCount]);
    this.layer = this.modes.length > 0 ? 'modal' : this.springCount === 0 ? 'none' : 'vertex';
    this.componentCount = words[AssetWord.componentCount];
    this.isLinear = words[AssetWord.isLinear] !== 0;
    this.weightCount = words[AssetWord.weightCount];
    this.hasTargetWeights = words[AssetWord.weightMix] !== 0;
    this.hasCoarse = words[AssetWord.driverCount] !== 0;
    this.rate = new Float32Array(module.buffer, words[AssetWord.rate], 1)[0];
    this.blocks = {
      starts: new View(module, Uint32Array<ArrayBuffer>, words[AssetWord.influenceStarts], words[AssetWord.blockCount] + 1),
      joints: words[AssetWord.influenceJoints],
      weights: words[AssetWord.influenceWeights],
    };
    this.ownSpringCount = words[AssetWord.ownSpringCount];
    this.network = module.text(words[AssetWord.network]) as NetworkKind;
    this.networkError = new Float32Array(module.buffer, words[AssetWord.networkError], 1)[0];
    this.clips = Array.from({ length: words[AssetWord.clipCount] }, (_, i) => readClip(module, this.handle, i));
    this.sections = Array.from({ length: words[AssetWord.sectionCount] }, (_, i) =>
      module.text(module.words(exports.jnwDescribeSection(this.handle, i), 1)[0], 5));
  }

  /** Rest positions, [vertexCount] x, y, z, 1. */
  get rest(): Float32Array { return this.views.rest.array; }
  /** The springs' stiffness k_s in 1/s², [vertexCount]. */
  get stiffness(): Float32Array { return this.views.stiffness.array; }
  /** The springs' damping k_d in 1/s, [vertexCount]. */
  get damping(): Float32Array { return this.views.damping.array; }
  /** The vertex of each file vertex. */
  get weld(): Int32Array { return this.views.weld.array; }
  /** File vertices of each triangle, counter-clockwise, [triangleCount][3]. */
  get triangles(): Int32Array { return this.views.triangles.array; }
  /** The normal of each file vertex: those with the same number share it. */
  get normalGroups(): Int32Array { return this.views.normalGroups.array; }
  /** Texture coordinates, [fileVertexCount][2]; null: none. */
  get uvs(): Float32Array | null { return this.views.uvs?.array ?? null; }
  /** The number of each vertex in the source; null: the same. */
  get order(): Int32Array | null { return this.views.order?.array ?? null; }

  /** Index of the clip with a name; -1: none. */
  findClip(name: string): number {
    return this.clips.findIndex((clip) => clip.name === name);
  }

  /** Index of the source's morph target with a name; -1: none. */
  findTarget(name: string): number {
    return this.targets.findIndex((target) => target.name === name);
  }

  /** Displacements of the rest surface that a morph weight of 1 adds, [fileVertexCount][3], for upload to a GPU. */
  morphDeltas(weight: number): Float32Array<ArrayBuffer> {
    this.checkWeight(weight);
    return this.deltasOf(weight);
  }

  /** The same of one of the source's own targets. */
  targetDeltas(target: number): Float32Array<ArrayBuffer> {
    if (!Number.isInteger(target) || target < 0 || target >= this.targets.length) {
      throw new JounceError(`the asset '${this.name}' has ${this.targets.length} morph targets of its source, none with number ${target}`);
    }
    return this.deltasOf(this.weightCount + target);
  }

  private deltasOf(number: number): Float32Array<ArrayBuffer> {
    return this.module.borrow(12 * this.fileVertexCount, (address) => {
      this.module.exports.jnwMorphDeltas(this.open(), number, address);
      return new Float32Array(this.module.buffer, address, 3 * this.fileVertexCount).slice();
    });
  }

  /** The file vertices as the source has them: the rest surface without the weights at rest of its own targets, [fileVertexCount][3]. */
  sourcePositions(): Float32Array<ArrayBuffer> {
    const { rest, weld } = this, positions = new Float32Array(3 * this.fileVertexCount);
    weld.forEach((v, i) => positions.set(rest.subarray(4 * v, 4 * v + 3), 3 * i));
    this.targets.forEach(({ weight }, target) => {
      if (weight !== 0) {
        this.targetDeltas(target).forEach((delta, i) => { positions[i] -= weight * delta; });
      }
    });
    return positions;
  }

  /** The same for the file vertices alone that move by more than `least` metres: their numbers, and x, y, z of each. */
  sparseMorph(weight: number, least = 1e-5): { vertices: Int32Array<ArrayBuffer>; deltas: Float32Array<ArrayBuffer> } {
    this.checkWeight(weight);
    const count = this.module.exports.jnwSparseMorph(this.open(), weight, least, 0, 0);
    return this.module.borrow(16 * count, (address) => {
      this.module.exports.jnwSparseMorph(this.open(), weight, least, address, address + 4 * count);
      const { buffer } = this.module;
      return { vertices: new Int32Array(buffer, address, count).slice(), deltas: new Float32Array(buffer, address + 4 * count, 3 * count).slice() };
    });
  }

  /** Normals of the rest surface, [fileVertexCount][3]. */
  restNormals(): Float32Array<ArrayBuffer> {
    return makeNormals(this, restPositions(this));
  }

  /**
   * What morph weights of 1 add to the normals of the rest surface, [fileVertexCount][3] for each of `weights`, for upload to a GPU. The sum
   * is not of unit length: normalise it after skinning.
   */
  morphNormals(weights: readonly number[]): Float32Array<ArrayBuffer>[] {
    return this.bend(weights.map((weight) => () => this.morphDeltas(weight)));
  }

  /** The same of the source's own targets, all of them. */
  targetNormals(): Float32Array<ArrayBuffer>[] {
    return this.bend(this.targets.map((_, target) => () => this.targetDeltas(target)));
  }

  private bend(deltas: readonly (() => Float32Array)[]): Float32Array<ArrayBuffer>[] {
    const rest = restPositions(this), normals = makeNormals(this, rest), moved = new Float32Array(rest.length);
    return deltas.map((make) => {
      displace(this, rest, make(), moved);
      return makeNormals(this, moved).map((x, i) => x - normals[i]);
    });
  }

  /**
   * What skins the surface: joints and weights of the file vertices, [fileVertexCount][count], the largest first, each vertex's
   * sum 1. `dropped` is the largest weight that `count` has no room for; 0: nothing was left out.
   */
  influences(count = 4): { joints: Uint16Array<ArrayBuffer>; weights: Float32Array<ArrayBuffer>; dropped: number } {
    const n = this.fileVertexCount, joints = new Uint16Array(n * count), weights = new Float32Array(n * count);
    const { weld, blocks: { starts, joints: jointsAt, weights: weightsAt }, module: { buffer } } = this;
    const end = 16 * starts.array[starts.length - 1];
    const allJoints = new Uint16Array(buffer, jointsAt, end), allWeights = new Float32Array(buffer, weightsAt, end);
    let dropped = 0;
    for (let i = 0; i < n; ++i) {
      const block = weld[i] >> 4, width = starts.array[block + 1] - starts.array[block];
      const from = 16 * starts.array[block] + (weld[i] & 15) * width, kept = Math.min(width, count);
      let sum = 0;
      for (let k = 0; k < kept; ++k) {
        joints[i * count + k] = allJoints[from + k];
        weights[i * count + k] = allWeights[from + k];
        sum += allWeights[from + k];
      }
      for (let k = 0; k < kept && kept < width; ++k) {
        weights[i * count + k] /= sum;
      }
      dropped = Math.max(dropped, kept < width ? allWeights[from + kept] : 0);
    }
    return { joints, weights, dropped };
  }

  private checkWeight(weight: number): void {
    if (!Number.isInteger(weight) || weight < 0 || weight >= this.weightCount) {
      throw new JounceError(`the asset '${this.name}' has ${this.weightCount} morph weights, none with number ${weight}`);
    }
  }

  /** Characters of this asset that are stepped at once, weights alone. */
  createCrowd(count: number, options: CharacterOptions = {}): Crowd {
    return new Crowd(this.module, this, this.open(), count, options);
  }

  /** A character that plays this asset, in its rest pose. */
  createCharacter(options: CharacterOptions = {}): Character {
    return new Character(this.module, this, this.open(), options);
  }

  /** Another surface to put results in, besides the one that each character has. */
  createSurface(): Surface {
    return new Surface(this.module, this.open(), this.fileVertexCount);
  }

  /** Frees the file. Its characters must have been destroyed before. */
  destroy(): void {
    if (this.handle !== 0) {
      this.module.exports.jnwDestroyAsset(this.handle);
      this.module.exports.jnwRelease(this.bytes);
      this.handle = 0;
    }
  }

  private open(): number {
    if (this.handle === 0) {
      throw new JounceError(`the asset '${this.name}' was destroyed`);
    }
    return this.handle;
  }
}

const NAME_LENGTH = 64;

// jnAssetJoint: name, parent, translation 3, rotation 4, scale 3, inverseBind 12.
function readJoints(module: Module, address: number, size: number, count: number): Joint[] {
  return Array.from({ length: count }, (_, i) => {
    const at = address + i * size;
    const f = new Float32Array(module.buffer.slice(at + NAME_LENGTH + 4, at + NAME_LENGTH + 4 + 22 * 4));
    return {
      name: module.text(at, NAME_LENGTH),
      parent: new Int32Array(module.buffer, at + NAME_LENGTH, 1)[0],
      translation: [f[0], f[1], f[2]] as const,
      rotation: [f[3], f[4], f[5], f[6]] as const,
      scale: [f[7], f[8], f[9]] as const,
      inverseBind: f.slice(10, 22),
    };
  });
}

// jnAssetPart: name, material, color 4, firstTriangle, triangleCount.
function readParts(module: Module, address: number, size: number, count: number): Part[] {
  return Array.from({ length: count }, (_, i) => {
    const at = address + i * size;
    const color = new Float32Array(module.buffer, at + 2 * NAME_LENGTH, 4);
    const run = new Int32Array(module.buffer, at + 2 * NAME_LENGTH + 16, 2);
    return {
      name: module.text(at, NAME_LENGTH),
      material: module.text(at + NAME_LENGTH, NAME_LENGTH),
      color: [color[0], color[1], color[2], color[3]] as const,
      firstTriangle: run[0],
      triangleCount: run[1],
    };
  });
}

// jnAssetTarget: name, weight.
function readTargets(module: Module, address: number, size: number, count: number): Target[] {
  return Array.from({ length: count }, (_, i) => ({
    name: module.text(address + i * size, NAME_LENGTH), weight: new Float32Array(module.buffer, address + i * size + NAME_LENGTH, 1)[0],
  }));
}

// jnAssetMode: stiffness, damping, gain, largest, massShare, joint, vertexCount.
function readModes(module: Module, address: number, size: number, count: number): Mode[] {
  return Array.from({ length: count }, (_, i) => {
    const f = new Float32Array(module.buffer, address + i * size, 6), [joint, vertexCount] = new Int32Array(module.buffer, address + i * size + 24, 2);
    const frequency = Math.sqrt(f[0]);
    return { hertz: frequency / (2 * Math.PI), ratio: frequency > 0 ? f[1] / (2 * frequency) : Infinity, gain: f[2], massShare: f[5], joint, vertexCount };
  });
}

function readClip(module: Module, asset: number, index: number): Clip {
  const words = module.words(module.exports.jnwDescribeClip(asset, index), ClipWord.end);
  const rate = new Float64Array(module.buffer, words[ClipWord.rate], 1)[0];
  const frameCount = words[ClipWord.frameCount];
  const looping = words[ClipWord.looping] !== 0;
  return {
    name: module.text(words[ClipWord.name], NAME_LENGTH),
    rate,
    frameCount,
    looping,
    isTest: words[ClipWord.isTest] !== 0,
    duration: (looping ? frameCount : frameCount - 1) / rate,
  };
}
