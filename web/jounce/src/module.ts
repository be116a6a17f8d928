// The WebAssembly module as it is: its functions, its memory, and views into it.

/** Functions that wasm/web_api.c exports. Addresses and handles are numbers. */
export interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  jnwMessage(): number;
  jnwVersion(): number;
  jnwAllocate(size: number): number;
  jnwRelease(address: number): void;
  jnwLoadAsset(bytes: number, size: number): number;
  jnwDestroyAsset(asset: number): void;
  jnwDescribeAsset(asset: number): number;
  jnwDescribeClip(asset: number, index: number): number;
  jnwDescribeSection(asset: number, index: number): number;
  jnwCreateSurface(asset: number): number;
  jnwDestroySurface(surface: number): void;
  jnwDescribeSurface(surface: number): number;
  jnwCreateCharacter(asset: number, def: number): number;
  jnwDestroyCharacter(character: number): void;
  jnwDescribeCharacter(character: number): number;
  jnwSampleClip(character: number, clip: number, seconds: number): void;
  jnwStep(character: number, h: number, teleport: number, matrices: number, surface: number, wants: number): void;
  jnwPlay(character: number, clip: number, h: number, steps: number, surface: number, wants: number): void;
  jnwSkin(character: number, matrices: number, surface: number, wants: number): void;
  jnwSkinMatrices(character: number, matrices: number, globals: number, out: number): void;
  jnwTarget(character: number, matrices: number, surface: number, wants: number): void;
  jnwEvaluate(character: number, fraction: number, surface: number, wants: number): void;
  jnwEvaluateTarget(character: number, fraction: number, surface: number, wants: number): void;
  jnwSettle(character: number, seconds: number, surface: number, wants: number): void;
  jnwFinish(character: number, surface: number, wants: number): void;
  jnwReset(character: number, matrices: number, surface: number, wants: number): void;
  jnwBeginLoop(character: number, frames: number): number;
  jnwTakeLoopPose(character: number, frame: number, matrices: number): void;
  jnwSolveLoop(character: number, h: number): number;
  jnwSnapshotSize(character: number): number;
  jnwSave(character: number, snapshot: number): void;
  jnwRestore(character: number, snapshot: number, size: number): number;
  jnwCreateCrowd(asset: number, count: number): number;
  jnwSampleCrowd(crowd: number, count: number, clip: number): void;
  jnwPoseCrowd(crowd: number, count: number, matrices: number): void;
  jnwDestroyCrowd(crowd: number): void;
  jnwDescribeCrowd(crowd: number): number;
  jnwStepCrowd(crowd: number, count: number, matrices: number): void;
  jnwReadState(character: number): number;
  jnwSetTuning(character: number, hertzScale: number, ratioScale: number, hertzScales: number, ratioScales: number): number;
  jnwSetParameters(character: number, stiffness: number, damping: number): number;
  jnwTuneMode(character: number, mode: number, hertzScale: number, ratioScale: number, gainScale: number): number;
  jnwTuneModes(character: number, joint: number, hertzScale: number, ratioScale: number, gainScale: number): number;
  jnwMorphDeltas(asset: number, weight: number, deltas: number): void;
  jnwSparseMorph(asset: number, weight: number, least: number, vertices: number, deltas: number): number;
  jnwReadModes(character: number, joint: number): number;
  jnwSetLevel(character: number, components: number, modes: number, seconds: number): void;
  jnwSetNetworkStrength(character: number, strength: number): void;
  jnwSetStrength(character: number, joint: number, strength: number, strengths: number): number;
  jnwSetForce(character: number, x: number, y: number, z: number): void;
  jnwSetInertia(character: number, translation: number, rotation: number): void;
  jnwSetCap(character: number, distance: number): void;
  jnwScaleModeCaps(character: number, scale: number): void;
  jnwAddImpulse(
    character: number, x: number, y: number, z: number, radius: number, vx: number, vy: number, vz: number): void;
  jnwAddImpulseAt(character: number, vertex: number, vx: number, vy: number, vz: number): void;
  jnwSetTeleportThreshold(character: number, distance: number, teleport: number): void;
  jnwSetMask(character: number, mask: number): void;
  jnwResetCount(character: number): number;
  jnwBadPoseCount(character: number): number;
}

/** What went wrong, in a sentence a person can act on. */
export class JounceError extends Error {
  override name = 'JounceError';
}

/** Memory of the module. It may grow, and then all older views of it are empty: views are made through View. */
export class Module {
  constructor(readonly exports: Exports) {}

  get buffer(): ArrayBuffer {
    return this.exports.memory.buffer;
  }

  words(address: number, count: number): Uint32Array {
    return new Uint32Array(this.buffer, address, count);
  }

  /** A text that ends with a zero, at most `limit` bytes long. */
  text(address: number, limit = 512): string {
    const bytes = new Uint8Array(this.buffer, address, Math.min(limit, this.buffer.byteLength - address));
    const end = bytes.indexOf(0);
    return new TextDecoder().decode(bytes.subarray(0, end < 0 ? bytes.length : end));
  }

  /** Runs with `size` bytes of the module's memory, and gives them back. */
  borrow<T>(size: number, use: (address: number) => T): T {
    const address = this.exports.jnwAllocate(Math.max(size, 1)) >>> 0;
    if (address === 0) {
      throw new JounceError(`no memory for ${size} bytes`);
    }
    try {
      return use(address);
    } finally {
      this.exports.jnwRelease(address);
    }
  }

  /** Runs with a copy of some arrays in the module's memory, at addresses; 0 for one that is not given. */
  lend<T>(arrays: readonly (ArrayLike<number> | null | undefined)[], use: (addresses: number[]) => T): T {
    const lengths = arrays.map((array) => (array ? 4 * array.length : 0)), size = lengths.reduce((sum, length) => sum + length, 0);
    return this.borrow(size, (address) => {
      let at = address;
      return use(arrays.map((array, i) => {
        if (!array) {
          return 0;
        }
        new Float32Array(this.buffer, at, array.length).set(array);
        at += lengths[i];
        return at - lengths[i];
      }));
    });
  }

  fail(): never {
    throw new JounceError(this.text(this.exports.jnwMessage()));
  }
}

type Numbers = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>;
type Maker<T> = new (buffer: ArrayBuffer, offset: number, length: number) => T;

/** A view that is made anew when the memory has grown since it was last asked for, and only then. */
export class View<T extends Numbers> {
  private current: T;

  constructor(
    private readonly module: Module, private readonly make: Maker<T>, readonly address: number,
    readonly length: number) {
    this.current = new make(module.buffer, address, length);
  }

  get array(): T {
    if (this.current.buffer !== this.module.buffer) {
      this.current = new this.make(this.module.buffer, this.address, this.length);
    }
    return this.current;
  }
}
