// Which vertex of an asset each vertex of a mesh is: by its place at rest, before morph targets of its own, and among those of one place by its texture coordinates.
// Files are split and ordered in many ways on their way through tools and loaders; places stay.
import { Vector3, type SkinnedMesh } from 'three';
import type { Asset } from '../asset.js';

/** File vertex of the asset for each vertex of a mesh. */
export type VertexMap = Int32Array;

const TOLERANCE = 1e-5; // of the character's size

export class VertexFinder {
  private readonly cells = new Map<string, number[]>();
  private readonly cell: number;
  private readonly places: Float32Array;

  constructor(private readonly asset: Asset) {
    this.places = asset.sourcePositions();
    const size = this.places.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    this.cell = Math.max(4 * TOLERANCE * size, 1e-9);
    for (let i = 0; i < asset.fileVertexCount; ++i) {
      const key = this.key(...this.place(i));
      const there = this.cells.get(key);
      if (there) {
        there.push(i);
      } else {
        this.cells.set(key, [i]);
      }
    }
  }

  private place(vertex: number): [number, number, number] {
    return [this.places[3 * vertex], this.places[3 * vertex + 1], this.places[3 * vertex + 2]];
  }

  private key(x: number, y: number, z: number, dx = 0, dy = 0, dz = 0): string {
    return `${Math.round(x / this.cell) + dx},${Math.round(y / this.cell) + dy},${Math.round(z / this.cell) + dz}`;
  }

  private candidates({ x, y, z }: Vector3): number[] {
    const exact = this.cells.get(this.key(x, y, z));
    if (exact) {
      return exact;
    }
    const near: number[] = [];
    for (let n = 0; n < 27; ++n) { // across the edge of a cell
      near.push(...(this.cells.get(this.key(x, y, z, (n % 3) - 1, (Math.floor(n / 3) % 3) - 1, Math.floor(n / 9) - 1)) ?? []));
    }
    return near;
  }

  /** null: some vertex is none of the asset's. */
  map(mesh: SkinnedMesh): VertexMap | null {
    const positions = mesh.geometry.getAttribute('position'), uvs = mesh.geometry.getAttribute('uv'), point = new Vector3();
    const map = new Int32Array(positions.count), { uvs: ours } = this.asset;
    for (let i = 0; i < map.length; ++i) {
      point.fromBufferAttribute(positions, i).applyMatrix4(mesh.bindMatrix);
      let best = -1, least = Infinity;
      for (const candidate of this.candidates(point)) {
        const [x, y, z] = this.place(candidate), away = Math.hypot(point.x - x, point.y - y, point.z - z);
        const apart = ours && uvs ? Math.hypot(ours[2 * candidate] - uvs.getX(i), ours[2 * candidate + 1] - uvs.getY(i)) : 0;
        if (away <= this.cell && apart + 1e3 * away < least) {
          best = candidate;
          least = apart + 1e3 * away;
        }
      }
      if (best < 0) {
        return null;
      }
      map[i] = best;
    }
    return map;
  }
}
