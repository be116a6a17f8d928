// Frames of a simulated clip: asked from `jounce view` one by one, or unpacked from the file that `jounce view --export` writes.
// Positions are of the asset's vertices, [vertexCount][3], in metres.
import type { Asset, Character } from 'jounce';

const AT_ONCE = 4; // requests; a browser makes six of them to one server
const KEPT_BYTES = 400e6;
const HEADER = 24; // bytes, see src/author/view/packed_motion.h

/** What the workspace has of a clip's simulation: the frame it begins at, how many there are, and the file they are packed in. */
export type Motion = { first: number; frames: number; file?: string } | null;

export interface Frames {
  /** A frame, or null and it is on its way. */
  get(frame: number): Float32Array | null;
  /** x, y, z of one vertex in every frame. */
  path(vertex: number): Promise<Float32Array | null>;
  destroy(): void;
}

/** Frames that the server reads from the workspace, where vertices have another order. */
class ServedFrames implements Frames {
  private readonly frames = new Map<number, Float32Array>();
  private readonly asked = new Set<number>();
  private readonly limit: number;
  private closed = false;

  constructor(private readonly asset: Asset, private readonly clip: number) {
    this.limit = Math.max(Math.floor(KEPT_BYTES / (12 * asset.vertexCount)), 32);
  }

  get(frame: number): Float32Array | null {
    const found = this.frames.get(frame) ?? null;
    if (!found && !this.asked.has(frame) && this.asked.size < AT_ONCE) {
      void this.fetchFrame(frame);
    }
    return found;
  }

  private async fetchFrame(frame: number): Promise<void> {
    this.asked.add(frame);
    try {
      const response = await fetch(`./frames/${this.clip}/${frame}`);
      if (response.ok && !this.closed) {
        if (this.frames.size > this.limit) {
          this.frames.clear();
        }
        this.frames.set(frame, this.sort(new Float32Array(await response.arrayBuffer())));
      }
    } finally {
      this.asked.delete(frame);
    }
  }

  private sort(from: Float32Array): Float32Array {
    const { order } = this.asset;
    if (!order) {
      return from;
    }
    const to = new Float32Array(from.length);
    for (let v = 0; v < order.length; ++v) {
      to[3 * v] = from[3 * order[v]];
      to[3 * v + 1] = from[3 * order[v] + 1];
      to[3 * v + 2] = from[3 * order[v] + 2];
    }
    return to;
  }

  async path(vertex: number): Promise<Float32Array | null> {
    const response = await fetch(`./motion/${this.clip}/${this.asset.order ? this.asset.order[vertex] : vertex}`);
    return response.ok ? new Float32Array(await response.arrayBuffer()) : null;
  }

  destroy(): void {
    this.closed = true;
  }
}

/** What a packed file holds. */
interface Packed {
  fields: number;
  scales: Float32Array; // [fields], metres
  coefficients: Float32Array; // [frames][fields]
  values: Int16Array; // [fields][vertexCount][3]
}

function unpack(buffer: ArrayBuffer, vertexCount: number): Packed | null {
  if (buffer.byteLength < HEADER) {
    return null;
  }
  const head = new DataView(buffer), magic = String.fromCharCode(...new Uint8Array(buffer, 0, 4));
  const [version, frames, , vertices, fields] = [4, 8, 12, 16, 20].map((at) => head.getUint32(at, true));
  const coefficients = HEADER + 4 * fields, values = coefficients + 4 * frames * fields;
  if (magic !== 'JNPM' || version !== 1 || vertices !== vertexCount || values + 6 * fields * vertices !== buffer.byteLength) {
    return null;
  }
  return {
    fields, scales: new Float32Array(buffer, HEADER, fields), coefficients: new Float32Array(buffer, coefficients, frames * fields),
    values: new Int16Array(buffer, values, fields * 3 * vertices),
  };
}

/** Frames that are worked out: displacements of the rest surface, a sum of a few fields, through the skin of the clip's pose. */
class PackedFrames implements Frames {
  private readonly frames = new Map<number, Float32Array>();
  private readonly limit: number;
  private readonly skinner: Character;
  private readonly joints: Uint16Array;
  private readonly weights: Float32Array;
  private readonly moved: Float32Array;
  private packed: Packed | null = null;
  private readonly loaded: Promise<void>;
  private closed = false;

  constructor(private readonly asset: Asset, private readonly clip: number, private readonly motion: NonNullable<Motion>) {
    this.limit = Math.max(Math.floor(KEPT_BYTES / (12 * asset.vertexCount)), 32);
    this.skinner = asset.createCharacter({ weightsOnly: asset.weightCount > 0 });
    const { joints, weights } = asset.influences(8), { weld } = asset;
    this.joints = new Uint16Array(8 * asset.vertexCount);
    this.weights = new Float32Array(8 * asset.vertexCount);
    weld.forEach((v, i) => {
      this.joints.set(joints.subarray(8 * i, 8 * i + 8), 8 * v);
      this.weights.set(weights.subarray(8 * i, 8 * i + 8), 8 * v);
    });
    this.moved = new Float32Array(3 * asset.vertexCount);
    this.loaded = this.load();
  }

  private async load(): Promise<void> {
    const response = await fetch(`./${this.motion.file}`);
    this.packed = response.ok ? unpack(await response.arrayBuffer(), this.asset.vertexCount) : null;
  }

  private matricesOf(frame: number): Float32Array {
    this.skinner.sampleClip(this.clip, (this.motion.first + frame) / this.asset.clips[this.clip].rate);
    return this.skinner.skinMatrices();
  }

  get(frame: number): Float32Array | null {
    const found = this.frames.get(frame);
    if (found || !this.packed) {
      return found ?? null;
    }
    if (this.frames.size > this.limit) {
      this.frames.clear();
    }
    const made = this.make(this.packed, frame);
    this.frames.set(frame, made);
    return made;
  }

  private make({ fields, scales, coefficients, values }: Packed, frame: number): Float32Array {
    const { moved, asset: { rest, vertexCount } } = this, matrices = this.matricesOf(frame), made = new Float32Array(moved.length);
    for (let v = 0; v < vertexCount; ++v) {
      moved[3 * v] = rest[4 * v];
      moved[3 * v + 1] = rest[4 * v + 1];
      moved[3 * v + 2] = rest[4 * v + 2];
    }
    for (let f = 0; f < fields; ++f) {
      const factor = scales[f] * coefficients[frame * fields + f], from = f * moved.length;
      for (let i = 0; i < moved.length; ++i) {
        moved[i] += factor * values[from + i];
      }
    }
    for (let v = 0; v < vertexCount; ++v) {
      this.skin(matrices, v, moved[3 * v], moved[3 * v + 1], moved[3 * v + 2], made, 3 * v);
    }
    return made;
  }

  private skin(m: Float32Array, vertex: number, x: number, y: number, z: number, out: Float32Array, at: number): void {
    for (let k = 8 * vertex, end = k + 8; k < end && this.weights[k] > 0; ++k) {
      const weight = this.weights[k], j = 12 * this.joints[k];
      out[at] += weight * (m[j] * x + m[j + 1] * y + m[j + 2] * z + m[j + 3]);
      out[at + 1] += weight * (m[j + 4] * x + m[j + 5] * y + m[j + 6] * z + m[j + 7]);
      out[at + 2] += weight * (m[j + 8] * x + m[j + 9] * y + m[j + 10] * z + m[j + 11]);
    }
  }

  async path(vertex: number): Promise<Float32Array | null> {
    await this.loaded;
    if (!this.packed || this.closed) {
      return null;
    }
    const { fields, scales, coefficients, values } = this.packed, { rest, vertexCount } = this.asset, out = new Float32Array(3 * this.motion.frames);
    for (let n = 0; n < this.motion.frames; ++n) {
      const place = [rest[4 * vertex], rest[4 * vertex + 1], rest[4 * vertex + 2]];
      for (let f = 0; f < fields; ++f) {
        const factor = scales[f] * coefficients[n * fields + f], from = 3 * (f * vertexCount + vertex);
        place.forEach((_, k) => { place[k] += factor * values[from + k]; });
      }
      this.skin(this.matricesOf(n), vertex, place[0], place[1], place[2], out, 3 * n);
    }
    return out;
  }

  destroy(): void {
    this.closed = true;
    this.skinner.destroy();
    this.frames.clear();
  }
}

export function openFrames(asset: Asset, clip: number, motion: NonNullable<Motion>): Frames {
  return motion.file ? new PackedFrames(asset, clip, motion) : new ServedFrames(asset, clip);
}
