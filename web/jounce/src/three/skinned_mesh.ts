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

// The source's own come first, as in a file that `jounce export` writes.
function addTargets(asset: Asset, geometry: BufferGeometry, options: SkinnedMeshOptions): void {
  const components = options.components ?? asset.componentCount, modes = options.modes ?? asset.modes.length;
  const weights = Array.from({ length: asset.weightCount }, (_, w) => w)
    .filter((w) => (w < asset.componentCount ? w < components : w - asset.componentCount < modes));
  const named = (deltas: Float32Array, name: string) => Object.assign(new Float32BufferAttribute(deltas, 3), { name });
  geometry.morphTargetsRelative = true;
  geometry.morphAttributes.position = [
    ...asset.targets.map(({ name }, target) => named(asset.targetDeltas(target), name)),
    ...weights.map((weight) => named(asset.morphDeltas(weight), targetName(asset, weight)))];
  if (options.normals ?? true) {
    geometry.morphAttributes.normal = [...asset.targetNormals(), ...asset.morphNormals(weights)].map((normals) => new Float32BufferAttribute(normals, 3));
  }
}

// Four joints a vertex where three.js looks for them, and the others, if there are any, where GLTFLoader puts them.
function addJoints(asset: Asset, geometry: BufferGeometry): void {
  const { joints, weights, dropped } = asset.influences(4);
  geometry.setAttribute('skinIndex', new BufferAttribute(joints, 4));
  geometry.setAttribute('skinWeight', new BufferAttribute(weights, 4));
  if (dropped > 0) {
    const all = asset.influences(8), count = 4 * asset.fileVertexCount;
    const second = <T extends Uint16Array | Float32Array>(from: T, to: T): T => {
      for (let i = 0; i < count; ++i) {
        to[i] = from[8 * (i >> 2) + 4 + (i & 3)];
      }
      return to;
    };
    geometry.setAttribute('joints_1', new BufferAttribute(second(all.joints, new Uint16Array(count)), 4));
    geometry.setAttribute('weights_1', new BufferAttribute(second(all.weights, new Float32Array(count)), 4));
  }
}

function materialsOf(asset: Asset): Material | Material[] {
  const clay = [0.58, 0.37, 0.27, 1] as const;
  const materials = (asset.parts.length > 0 ? asset.parts : [{ color: clay, material: '' }]).map(({ color, material }) =>
    Object.assign(new MeshStandardMaterial({ color: new Color(color[0], color[1], color[2]), roughness: 0.65 }), { name: material }));
  return materials.length === 1 ? materials[0] : materials;
}

/**
 * The asset as a skinned mesh with its bones inside, and with the targets of Jounce where it is linear in their weights, behind those of
 * its source, which are yours to move. three.js skins by four joints a vertex; `Flesh` and `useAllJoints` take the others into account.
 */
export function makeSkinnedMesh(asset: Asset, options: SkinnedMeshOptions = {}): SkinnedMesh {
  const linear = asset.isLinear && asset.weightCount > 0, positions = asset.sourcePositions();
  const geometry = new BufferGeometry();
  geometry.setIndex(new BufferAttribute(Uint32Array.from(asset.triangles), 1));
  geometry.setAttribute('position', new Float32BufferAttribute(positions, 3));
  geometry.setAttribute('normal', new Float32BufferAttribute(asset.restNormals(), 3));
  addJoints(asset, geometry);
  if (asset.uvs) {
    geometry.setAttribute('uv', new BufferAttribute(asset.uvs.slice(), 2));
  }
  asset.parts.forEach((part, i) => geometry.addGroup(3 * part.firstTriangle, 3 * part.triangleCount, i));
  if (linear) {
    addTargets(asset, geometry, options);
  }
  const material = options.material ?? materialsOf(asset);
  if (!Array.isArray(material)) {
    geometry.clearGroups();
  }
  const mesh = new SkinnedMesh(geometry, material), skeleton = makeSkeleton(asset);
  mesh.name = asset.name;
  asset.targets.forEach(({ name, weight }) => {
    const influence = mesh.morphTargetDictionary?.[name];
    if (influence !== undefined) {
      mesh.morphTargetInfluences![influence] = weight;
    }
  });
  asset.joints.forEach(({ parent }, i) => parent < 0 && mesh.add(skeleton.bones[i]));
  mesh.bind(skeleton, new Matrix4());
  geometry.computeBoundingSphere();
  mesh.boundingSphere = new Sphere(geometry.boundingSphere!.center.clone(), 2 * geometry.boundingSphere!.radius); // arms rise, bodies bend
  return mesh;
}
