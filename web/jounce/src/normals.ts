// Normals of the rest surface, and how a morph target bends them: area-weighted, shared where the file's are shared, apart at hard
// edges, as the runtime makes them.
import type { Asset } from './asset.js';

/** Welded positions with three numbers each, [vertexCount][3]. */
export function restPositions(asset: Asset): Float32Array<ArrayBuffer> {
  const positions = new Float32Array(3 * asset.vertexCount), { rest } = asset;
  for (let v = 0; v < asset.vertexCount; ++v) {
    positions[3 * v] = rest[4 * v];
    positions[3 * v + 1] = rest[4 * v + 1];
    positions[3 * v + 2] = rest[4 * v + 2];
  }
  return positions;
}

/** Unit normals of a surface, [fileVertexCount][3]. positions: [vertexCount][3]. */
export function makeNormals(asset: Asset, positions: Float32Array): Float32Array<ArrayBuffer> {
  const { triangles, weld, normalGroups: groups } = asset, sums = new Float64Array(3 * asset.normalCount);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * weld[triangles[t]], b = 3 * weld[triangles[t + 1]], c = 3 * weld[triangles[t + 2]];
    const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
    const wx = positions[c] - positions[a], wy = positions[c + 1] - positions[a + 1], wz = positions[c + 2] - positions[a + 2];
    const x = uy * wz - uz * wy, y = uz * wx - ux * wz, z = ux * wy - uy * wx;
    for (let k = 0; k < 3; ++k) {
      const group = 3 * groups[triangles[t + k]];
      sums[group] += x;
      sums[group + 1] += y;
      sums[group + 2] += z;
    }
  }
  const normals = new Float32Array(3 * asset.fileVertexCount);
  for (let i = 0; i < groups.length; ++i) {
    const x = sums[3 * groups[i]], y = sums[3 * groups[i] + 1], z = sums[3 * groups[i] + 2], length = Math.sqrt(x * x + y * y + z * z) || 1;
    normals[3 * i] = x / length;
    normals[3 * i + 1] = y / length;
    normals[3 * i + 2] = z / length;
  }
  return normals;
}

/** Positions of the vertices with displacements of file vertices added. */
export function displace(asset: Asset, positions: Float32Array, deltas: Float32Array, out: Float32Array): void {
  const { weld } = asset;
  for (let i = 0; i < weld.length; ++i) {
    const v = 3 * weld[i];
    out[v] = positions[v] + deltas[3 * i];
    out[v + 1] = positions[v + 1] + deltas[3 * i + 1];
    out[v + 2] = positions[v + 2] + deltas[3 * i + 2];
  }
}
