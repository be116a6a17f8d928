// The workspace's simulated clip as a surface: frames come from the server as the time needs them, some ahead.
import type { Asset } from 'jounce';

const AHEAD = 16; // frames
const AT_ONCE = 4; // requests; a browser makes six of them to one server
const KEPT_BYTES = 400e6;

/** What the workspace has of a clip's simulation: the frame it begins at and how many there are, or nothing. */
export type Motion = { first: number; frames: number } | null;

export class Simulation {
  /** x, y, z of the file vertices. */
  readonly positions: Float32Array<ArrayBuffer>;
  readonly normals: Float32Array<ArrayBuffer>;
  private readonly sources: Int32Array; // [fileVertexCount], the vertex of the workspace
  private readonly sums: Float32Array; // [vertexCount][3], normals on their way
  private readonly limit: number;
  private frames = new Map<number, Float32Array>();
  private asked = new Set<number>();
  private clip = -1;

  constructor(private readonly asset: Asset, private readonly motions: readonly Motion[]) {
    const { weld, order } = asset;
    this.positions = new Float32Array(3 * asset.fileVertexCount);
    this.normals = new Float32Array(3 * asset.fileVertexCount);
    this.sources = Int32Array.from(weld, (v) => (order ? order[v] : v));
    this.sums = new Float32Array(3 * asset.vertexCount);
    this.limit = Math.max(Math.floor(KEPT_BYTES / (12 * asset.vertexCount)), 2 * AHEAD);
  }

  get any(): boolean {
    return this.motions.some((motion) => motion !== null);
  }

  has(clip: number): boolean {
    return !!this.motions[clip];
  }

  /** Stands at a time of a clip, moved by `root`. False where there is no motion, or not yet. */
  show(clip: number, seconds: number, root: readonly number[], normals: boolean): boolean {
    const motion = this.motions[clip], rate = this.asset.clips[clip]?.rate;
    if (!motion || !rate) {
      return false;
    }
    if (clip !== this.clip) {
      this.clip = clip;
      this.frames.clear();
      this.asked.clear();
    }
    const at = Math.min(Math.max(seconds * rate - motion.first, 0), motion.frames - 1), from = Math.floor(at);
    this.fetchAhead(from, motion.frames);
    const a = this.frames.get(from), b = this.frames.get(Math.min(from + 1, motion.frames - 1));
    if (!a || !b) {
      return false;
    }
    this.blend(a, b, at - from, root);
    if (normals) {
      this.makeNormals();
    }
    return true;
  }

  private fetchAhead(from: number, count: number): void {
    if (this.frames.size > this.limit) {
      this.frames.clear();
    }
    for (let n = 0; n < Math.min(AHEAD, count) && this.asked.size < AT_ONCE; ++n) {
      const frame = (from + n) % count;
      if (!this.frames.has(frame) && !this.asked.has(frame)) {
        void this.fetchFrame(this.clip, frame);
      }
    }
  }

  private async fetchFrame(clip: number, frame: number): Promise<void> {
    this.asked.add(frame);
    try {
      const response = await fetch(`./frames/${clip}/${frame}`);
      if (response.ok && clip === this.clip) {
        this.frames.set(frame, new Float32Array(await response.arrayBuffer()));
      }
    } finally {
      if (clip === this.clip) {
        this.asked.delete(frame);
      }
    }
  }

  private blend(a: Float32Array, b: Float32Array, share: number, root: readonly number[]): void {
    const { sources, positions } = this, [x, y, z] = root;
    for (let i = 0; i < sources.length; ++i) {
      const v = 3 * sources[i];
      positions[3 * i] = a[v] + share * (b[v] - a[v]) + x;
      positions[3 * i + 1] = a[v + 1] + share * (b[v + 1] - a[v + 1]) + y;
      positions[3 * i + 2] = a[v + 2] + share * (b[v + 2] - a[v + 2]) + z;
    }
  }

  // Smooth over the seams of the file; the length of a cross product weighs by area.
  private makeNormals(): void {
    const { triangles, weld } = this.asset, { positions: p, sums, normals } = this;
    sums.fill(0);
    for (let t = 0; t < triangles.length; t += 3) {
      const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
      const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
      const wx = p[c] - p[a], wy = p[c + 1] - p[a + 1], wz = p[c + 2] - p[a + 2];
      const x = uy * wz - uz * wy, y = uz * wx - ux * wz, z = ux * wy - uy * wx;
      for (let k = 0; k < 3; ++k) {
        const v = 3 * weld[triangles[t + k]];
        sums[v] += x;
        sums[v + 1] += y;
        sums[v + 2] += z;
      }
    }
    for (let i = 0; i < weld.length; ++i) {
      const v = 3 * weld[i], length = Math.sqrt(sums[v] ** 2 + sums[v + 1] ** 2 + sums[v + 2] ** 2) || 1;
      normals[3 * i] = sums[v] / length;
      normals[3 * i + 1] = sums[v + 1] / length;
      normals[3 * i + 2] = sums[v + 2] / length;
    }
  }
}
