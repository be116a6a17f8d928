// Morph targets of Jounce on meshes: those that a .glb brings, and those that are made here from the asset.
import { BufferGeometry, Float32BufferAttribute, type Mesh } from 'three';
import type { Asset } from '../asset.js';
import { targetName, weightOf } from '../target_names.js';
import type { VertexMap } from './vertex_map.js';

/** Which influence of a mesh shows which weight of the asset. */
export interface Slots {
  mesh: Mesh;
  influences: Int32Array;
  weights: Int32Array;
  /** What a weight of the asset is multiplied with: targets of a file may be enlarged. */
  factors: Float32Array;
}

/** The targets that a mesh has of Jounce; null: none. */
export function slotsOf(asset: Asset, mesh: Mesh): Slots | null {
  const pairs = Object.entries(mesh.morphTargetDictionary ?? {})
    .map(([name, influence]) => [influence, weightOf(asset, name)] as const).filter(([, weight]) => weight >= 0);
  return pairs.length > 0 ? {
    mesh, influences: Int32Array.from(pairs, ([influence]) => influence), weights: Int32Array.from(pairs, ([, weight]) => weight),
    factors: new Float32Array(pairs.length).fill(1),
  } : null;
}

/**
 * Fits the factors of slots whose targets a file brought. `jounce export` enlarges small targets, so that whole numbers hold them; the
 * file for live weights beside it knows that, an asset with a surface does not, but has the targets to compare with.
 */
export function fitFactors(asset: Asset, all: readonly Slots[], mapOf: (mesh: Mesh) => VertexMap | null): void {
  const sums = new Map<number, [along: number, square: number]>(), maps = all.map(({ mesh }) => mapOf(mesh));
  for (let w = 0; w < asset.weightCount && maps.some((map) => map !== null); ++w) {
    const deltas = asset.morphDeltas(w), sum: [number, number] = [0, 0];
    all.forEach(({ mesh, influences, weights }, k) => {
      const map = maps[k], target = mesh.geometry.morphAttributes.position?.[influences[weights.indexOf(w)]];
      for (let i = 0; map && target && i < map.length; ++i) {
        for (let axis = 0, v = 3 * map[i]; axis < 3; ++axis) {
          const delta = deltas[v + axis];
          if (delta !== 0) {
            sum[0] += delta * target.getComponent(i, axis);
            sum[1] += delta * delta;
          }
        }
      }
    });
    sums.set(w, sum);
  }
  for (const { weights, factors } of all) {
    weights.forEach((w, i) => {
      const [along, square] = sums.get(w) ?? [1, 1];
      factors[i] = along > 0 && square > 0 ? square / along : 1;
    });
  }
}

/** Sets the influences of a mesh; others stay as they are. */
export function showWeights({ mesh, influences, weights, factors }: Slots, values: Float32Array, offset = 0): void {
  const shown = mesh.morphTargetInfluences!;
  for (let i = 0; i < influences.length; ++i) {
    shown[influences[i]] = factors[i] * values[offset + weights[i]];
  }
}

/** What is added to a geometry: weights of the asset, and of each the displacements and, where they are wanted, the normals. */
export interface Targets {
  weights: readonly number[];
  deltas: readonly Float32Array[];
  normals: readonly Float32Array[] | null;
}

function gather(from: Float32Array, map: VertexMap, name: string): Float32BufferAttribute {
  const values = new Float32Array(3 * map.length);
  for (let i = 0; i < map.length; ++i) {
    values[3 * i] = from[3 * map[i]];
    values[3 * i + 1] = from[3 * map[i] + 1];
    values[3 * i + 2] = from[3 * map[i] + 2];
  }
  const attribute = new Float32BufferAttribute(values, 3);
  attribute.name = name;
  return attribute;
}

/** A geometry with the targets added behind its own, which stay; everything else is shared with the original. */
export function withTargets(asset: Asset, geometry: BufferGeometry, map: VertexMap, targets: Targets): BufferGeometry {
  const made = new BufferGeometry(), names = targets.weights.map((weight) => targetName(asset, weight));
  made.name = geometry.name;
  made.setIndex(geometry.getIndex());
  Object.entries(geometry.attributes).forEach(([name, attribute]) => made.setAttribute(name, attribute));
  geometry.groups.forEach((group) => made.addGroup(group.start, group.count, group.materialIndex));
  made.boundingSphere = geometry.boundingSphere;
  made.boundingBox = geometry.boundingBox;
  made.morphTargetsRelative = true;
  const own = geometry.morphAttributes, none = () => new Float32BufferAttribute(new Float32Array(3 * map.length), 3);
  const ownPositions = own.position ?? [];
  made.morphAttributes.position = [...ownPositions, ...targets.deltas.map((deltas, i) => gather(deltas, map, names[i]))];
  if (targets.normals || own.normal) {
    made.morphAttributes.normal = [
      ...(own.normal ?? ownPositions.map(none)), ...(targets.normals?.map((normals, i) => gather(normals, map, names[i])) ?? names.map(none))];
  }
  return made;
}
