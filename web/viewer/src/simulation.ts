// The workspace's simulated clip as a surface: frames come as the time needs them, some ahead.
import type { Asset } from 'jounce';
import { openFrames, type Frames, type Motion } from './frames';

export type { Motion };

const AHEAD = 16; // frames

export class Simulation {
  /** x, y, z of the file vertices. */
  readonly positions: Float32Array<ArrayBuffer>;
  readonly normals: Float32Array<ArrayBuffer>;
  private readonly sums: Float32Array; // [vertexCount][3], normals on their way
  private frames: Frames | null = null;
  private clip = -1;

  constructor(private readonly asset: Asset, private readonly motions: readonly Motion[]) {
    this.positions = new Float32Array(3 * asset.fileVertexCount);
    this.normals = new Float32Array(3 * asset.fileVertexCount);
    this.sums = new Float32Array(3 * asset.vertexCount);
  }

  get any(): boolean {
    return this.motions.some((motion) => motion !== null);
  }

  has(clip: number): boolean {
    return !!this.motions[clip];
  }

  motionOf(clip: number): Motion {
    return this.motions[clip] ?? null;
  }

  private open(clip: number): Frames | null {
    const motion = this.motions[clip];
    if (clip !== this.clip) {
      this.frames?.destroy();
      this.frames = motion ? openFrames(this.asset, clip, motion) : null;
      this.clip = clip;
    }
    return this.frames;
  }

  /** A frame of the motion, [vertexCount][3]; null: there is none, or not yet. */
  frame(clip: number, frame: number): Float32Array | null {
    return this.open(clip)?.get(frame) ?? null;
  }

  /** x, y, z of one vertex of the asset in every frame. */
  async path(clip: number, vertex: number): Promise<Float32Array | null> {
    return (await this.open(clip)?.path(vertex)) ?? null;
  }

  /** Stands at a time of a clip, moved by `root`. False where there is no motion, or not yet. */
  show(clip: number, seconds: number, root: readonly number[], normals: boolean): boolean {
    const motion = this.motions[clip], rate = this.asset.clips[clip]?.rate, frames = this.open(clip);
    if (!motion || !rate || !frames) {
      return false;
    }
    const at = Math.min(Math.max(seconds * rate - motion.first, 0), motion.frames - 1), from = Math.floor(at);
    const a = frames.get(from), b = frames.get(Math.min(from + 1, motion.frames - 1));
    if (!motion.file) {
      for (let n = 2; n < Math.min(AHEAD, motion.frames); ++n) {
        frames.get((from + n) % motion.frames); // asks for it
      }
    }
    if (!a || !b) {
      return false;
    }
    this.blend(a, b, at - from, root);
    if (normals) {
      this.makeNormals();
    }
    return true;
  }

  private blend(a: Float32Array, b: Float32Array, share: number, root: readonly number[]): void {
    const { positions, asset: { weld } } = this, [x, y, z] = root;
    for (let i = 0; i < weld.length; ++i) {
      const v = 3 * weld[i];
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
