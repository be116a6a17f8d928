// What softer or stiffer regions make of the modes, without new shapes. The stiffness of a mode follows the regions that its energy lies in
// (src/author/modes/mode_regions.c). That alone would let a stiff place that a mode carries along sag with the soft one: what a rebuild changes
// of the shapes is local. So the picture is scaled, place by place, from the sag by the modes to the sag by the flesh there, under a load along
// each axis.
import type { Asset } from 'jounce';
import type { Modes } from './author';

const LEAST = 0.1, MOST = 10; // of the scale
const STILL = 0.01; // of the largest sag: what gives way less is left as it is
const SMOOTH = 0.04; // metres over which material changes from one region to the next, as in the build

export class Sag {
  private readonly shapes: Float32Array[]; // [modes][fileVertexCount][3], of largest displacement 1
  private readonly built: Float32Array; // squares of the sag, [fileVertexCount]
  private readonly neighbours: { starts: Uint32Array; others: Uint32Array };
  private readonly rounds: number;

  constructor(private readonly asset: Asset, private readonly modes: Modes, private readonly regions: readonly number[]) {
    this.shapes = asset.modes.map((_, k) => {
      const shape = asset.morphDeltas(asset.componentCount + k);
      let largest = 1e-12;
      for (let i = 0; i < shape.length; i += 3) {
        largest = Math.max(largest, Math.hypot(shape[i], shape[i + 1], shape[i + 2]));
      }
      return shape.map((x) => x / largest);
    });
    this.built = this.squares(new Float64Array(asset.modes.length).fill(1));
    const { neighbours, edge } = connect(asset);
    this.neighbours = neighbours;
    this.rounds = Math.min(Math.max(Math.round((SMOOTH / edge) ** 2), 1), 40); // steps of a random walk that goes so far
  }

  /** The stiffness of every mode over that it was built with, from that of the regions by their numbers. */
  stiffness(factors: ReadonlyMap<number, number>): Float64Array {
    return Float64Array.from(this.modes.energies, (row) => row.reduce((sum, part, region) => sum + part * (factors.get(region) ?? 1), 0) || 1);
  }

  /** What the motion of every file vertex is scaled by. */
  scales(factors: ReadonlyMap<number, number>): Float32Array {
    const { built, asset } = this, now = this.squares(this.stiffness(factors)), wanted = this.compliance(factors), little = STILL * STILL * built.reduce((most, x) => Math.max(most, x), 0);
    return Float32Array.from(asset.weld, (v, i) => Math.min(Math.max(wanted[v] * Math.sqrt((built[i] + little) / (now[i] + little)), LEAST), MOST));
  }

  // How much farther the flesh at each vertex gives way, smoothed as the material is.
  private compliance(factors: ReadonlyMap<number, number>): Float32Array {
    const { starts, others } = this.neighbours;
    let logs = Float32Array.from(this.regions, (region) => -Math.log(factors.get(region) ?? 1));
    for (let n = 0; n < this.rounds; ++n) {
      logs = logs.map((own, v) => {
        let sum = own;
        for (let i = starts[v]; i < starts[v + 1]; ++i) {
          sum += logs[others[i]];
        }
        return sum / (starts[v + 1] - starts[v] + 1);
      });
    }
    return logs.map(Math.exp);
  }

  // Of the sag under a load along each axis, with these factors of the modes' stiffness.
  private squares(stiffness: Float64Array): Float32Array {
    const { asset, shapes, modes: { loads } } = this, count = asset.fileVertexCount, found = new Float32Array(count), sum = new Float32Array(3 * count);
    for (let axis = 0; axis < 3; ++axis) {
      sum.fill(0);
      shapes.forEach((shape, k) => {
        const z = loads[k][axis] / (stiffness[k] * (2 * Math.PI * asset.modes[k].hertz) ** 2);
        for (let i = 0; i < sum.length; ++i) {
          sum[i] += z * shape[i];
        }
      });
      for (let i = 0; i < count; ++i) {
        found[i] += sum[3 * i] ** 2 + sum[3 * i + 1] ** 2 + sum[3 * i + 2] ** 2;
      }
    }
    return found;
  }
}

// The vertices beside each, once for every triangle, and the mean length of an edge.
function connect({ triangles, weld, rest, vertexCount }: Asset): { neighbours: { starts: Uint32Array; others: Uint32Array }; edge: number } {
  const starts = new Uint32Array(vertexCount + 1), others = new Uint32Array(triangles.length * 2);
  const pairs = (visit: (from: number, to: number) => void) => {
    for (let t = 0; t < triangles.length; t += 3) {
      for (let c = 0; c < 3; ++c) {
        const from = weld[triangles[t + c]];
        visit(from, weld[triangles[t + ((c + 1) % 3)]]);
        visit(from, weld[triangles[t + ((c + 2) % 3)]]);
      }
    }
  };
  let sum = 0;
  pairs((from, to) => {
    starts[from + 1] += 1;
    sum += Math.hypot(rest[4 * from] - rest[4 * to], rest[4 * from + 1] - rest[4 * to + 1], rest[4 * from + 2] - rest[4 * to + 2]);
  });
  for (let v = 0; v < vertexCount; ++v) {
    starts[v + 1] += starts[v];
  }
  const next = starts.slice();
  pairs((from, to) => { others[next[from]++] = to; });
  return { neighbours: { starts, others }, edge: Math.max(sum / Math.max(others.length, 1), 1e-4) };
}
