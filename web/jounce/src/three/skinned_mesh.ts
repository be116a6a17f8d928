// A skinned mesh made from the asset alone, with its morph targets, for characters that have no other file.
import {
  Bone, BufferAttribute, BufferGeometry, Color, Float32BufferAttribute, Matrix4, MeshStandardMaterial, PropertyBinding, Skeleton, SkinnedMesh, Sphere,
  type Material,
} from 'three';
import type { Asset } from '../asset.js';
import { targetName } from '../target_names.js';

export interface SkinnedMeshOptions {
  /** One for each part of the asset, or one for all. Default: the parts' colours. */
  material?: Material | Material[];
  /** How many targets, the first of the network and of the modes. Default: all. */
  components?: number;
  modes?: number;
  /** Whether targets bend normals, too: twice the memory. Default true. */
  normals?: boolean;
}

/** Bones of the asset's joints in their rest pose, roots first in the list. */
export function makeSkeleton(asset: Asset): Skeleton {
  const bones = asset.joints.map(({ name, translation, rotation, scale }) => {
    const bone = new Bone();
    bone.name = PropertyBinding.sanitizeNodeName(name); // as GLTFLoader does
    bone.userData['name'] = name;
    bone.position.set(...translation);
    bone.quaternion.set(...rotation);
    bone.scale.set(...scale);
    return bone;
  });
  asset.joints.forEach(({ parent }, i) => parent >= 0 && bones[parent].add(bones[i]));
  const inverses = asset.joints.map(({ inverseBind: m }) => new Matrix4().set(
    m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11], 0, 0, 0, 1));
  return new Skeleton(bones, inverses);
}

/** Area-weighted normals of the welded surface, [vertexCount][3]. */
function weldedNormals(asset: Asset, positions: Float32Array): Float32Array {
  const { triangles, weld } = asset, normals = new Float32Array(3 * asset.vertexCount);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => 3 * weld[triangles[t + k]]);
    const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
    const wx = positions[c] - positions[a], wy = positions[c + 1] - positions[a + 1], wz = positions[c + 2] - positions[a + 2];
    const x = uy * wz - uz * wy, y = uz * wx - ux * wz, z = ux * wy - uy * wx;
    for (const v of [a, b, c]) {
      normals[v] += x;
      normals[v + 1] += y;
      normals[v + 2] += z;
    }
  }
  for (let v = 0; v < normals.length; v += 3) {
    const length = Math.hypot(normals[v], normals[v + 1], normals[v + 2]) || 1;
    normals[v] /= length;
    normals[v + 1] /= length;
    normals[v + 2] /= length;
  }
  return normals;
}

/** Values of vertices as values of file vertices. */
function spread(asset: Asset, values: Float32Array): Float32Array {
  const { weld } = asset, out = new Float32Array(3 * weld.length);
  weld.forEach((v, i) => out.set(values.subarray(3 * v, 3 * v + 3), 3 * i));
  return out;
}

function addTargets(asset: Asset, geometry: BufferGeometry, rest: Float32Array, normals: Float32Array, options: SkinnedMeshOptions): void {
  const components = options.components ?? asset.componentCount, modes = options.modes ?? asset.modes.length, { weld } = asset;
  const weights = Array.from({ length: asset.weightCount }, (_, w) => w)
    .filter((w) => (w < asset.componentCount ? w < components : w - asset.componentCount < modes));
  geometry.morphTargetsRelative = true;
  geometry.morphAttributes.position = weights.map((weight) => {
    const attribute = new Float32BufferAttribute(asset.morphDeltas(weight), 3);
    attribute.name = targetName(asset, weight);
    return attribute;
  });
  if (options.normals ?? true) {
    const moved = new Float32Array(rest.length);
    geometry.morphAttributes.normal = geometry.morphAttributes.position.map(({ array: deltas }) => {
      weld.forEach((v, i) => { for (let k = 0; k < 3; ++k) { moved[3 * v + k] = rest[3 * v + k] + deltas[3 * i + k]; } });
      return new Float32BufferAttribute(spread(asset, weldedNormals(asset, moved).map((x, i) => x - normals[i])), 3);
    });
  }
}

function materialsOf(asset: Asset): Material | Material[] {
  const clay = [0.58, 0.37, 0.27, 1] as const;
  const materials = (asset.parts.length > 0 ? asset.parts : [{ color: clay, material: '' }]).map(({ color, material }) =>
    Object.assign(new MeshStandardMaterial({ color: new Color(color[0], color[1], color[2]), roughness: 0.65 }), { name: material }));
  return materials.length === 1 ? materials[0] : materials;
}

/**
 * The asset as a skinned mesh with its bones inside, and with the targets of Jounce where it is linear in their weights. three.js skins
 * by four joints a vertex: where the asset has more, the four largest are taken.
 */
export function makeSkinnedMesh(asset: Asset, options: SkinnedMeshOptions = {}): SkinnedMesh {
  const { joints, weights } = asset.influences(4), linear = asset.isLinear && asset.weightCount > 0;
  const rest = new Float32Array(3 * asset.vertexCount), from = asset.rest;
  for (let v = 0; v < asset.vertexCount; ++v) {
    rest.set(from.subarray(4 * v, 4 * v + 3), 3 * v);
  }
  const geometry = new BufferGeometry(), normals = weldedNormals(asset, rest);
  geometry.setIndex(new BufferAttribute(Uint32Array.from(asset.triangles), 1));
  geometry.setAttribute('position', new Float32BufferAttribute(spread(asset, rest), 3));
  geometry.setAttribute('normal', new Float32BufferAttribute(spread(asset, normals), 3));
  geometry.setAttribute('skinIndex', new BufferAttribute(joints, 4));
  geometry.setAttribute('skinWeight', new BufferAttribute(weights, 4));
  if (asset.uvs) {
    geometry.setAttribute('uv', new BufferAttribute(asset.uvs.slice(), 2));
  }
  asset.parts.forEach((part, i) => geometry.addGroup(3 * part.firstTriangle, 3 * part.triangleCount, i));
  if (linear) {
    addTargets(asset, geometry, rest, normals, options);
  }
  const material = options.material ?? materialsOf(asset);
  if (!Array.isArray(material)) {
    geometry.clearGroups();
  }
  const mesh = new SkinnedMesh(geometry, material), skeleton = makeSkeleton(asset);
  mesh.name = asset.name;
  asset.joints.forEach(({ parent }, i) => parent < 0 && mesh.add(skeleton.bones[i]));
  mesh.bind(skeleton, new Matrix4());
  geometry.computeBoundingSphere();
  mesh.boundingSphere = new Sphere(geometry.boundingSphere!.center.clone(), 2 * geometry.boundingSphere!.radius); // arms rise, bodies bend
  return mesh;
}
