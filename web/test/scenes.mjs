// Characters as GLTFLoader would bring them, made from an asset so that the tests need no other file: names as it makes them, several
// meshes, painted vertices, morphs of the character's own.
import {
  BufferAttribute, BufferGeometry, Float32BufferAttribute, Group, Matrix4, MeshStandardMaterial, PropertyBinding, SkinnedMesh,
} from 'three';
import { clone } from 'three/examples/jsm/utils/SkeletonUtils.js';
import { makeSkeleton } from 'jounce/three';

export { clone };

const maps = new WeakMap();
/** Which file vertex each vertex of a mesh is; of a mesh that stands for another, by its attributes. */
export const setMap = (mesh, map) => maps.set(mesh.geometry.getAttribute('uv') ?? mesh.geometry.index, map);
export const mapOf = (mesh) => maps.get(mesh.geometry.getAttribute('uv') ?? mesh.geometry.index);

/** The same file with other names of joints: 64 bytes at the start of each. */
export function rename(runtime, bytes, prefix) {
  const asset = runtime.loadAsset(bytes), joints = asset.joints.map((joint) => ({ ...joint, name: prefix + joint.name }));
  return new Proxy(asset, { get: (target, key) => {
    const value = key === 'joints' ? joints : Reflect.get(target, key, target);
    return typeof value === 'function' ? value.bind(target) : value;
  } });
}

/** A group with bones and skinned meshes. parts: how many meshes, each with its own vertices and material. */
export function rig(asset, { prefix = '', parts = 1, colors = false, ownMorph = false, shift = 0 } = {}) {
  const group = new Group(), skeleton = makeSkeleton(asset), { joints, weights, dropped } = asset.influences(4), { triangles } = asset, places = asset.sourcePositions();
  const all = asset.influences(8);
  const normals = asset.restNormals();
  asset.joints.forEach(({ parent, name }, i) => {
    const bone = skeleton.bones[i];
    bone.userData.name = prefix + name;
    bone.name = PropertyBinding.sanitizeNodeName(prefix + name);
    if (parent < 0) {
      group.add(bone);
    }
  });
  for (let part = 0; part < parts; ++part) {
    const from = 3 * Math.floor((part * asset.triangleCount) / parts), to = 3 * Math.floor(((part + 1) * asset.triangleCount) / parts);
    const numbers = new Map(), index = [];
    for (let t = from; t < to; ++t) {
      numbers.set(triangles[t], numbers.get(triangles[t]) ?? numbers.size);
      index.push(numbers.get(triangles[t]));
    }
    const map = Int32Array.from(numbers.keys()), geometry = new BufferGeometry();
    const fill = (size, value, type = Float32Array) => type.from({ length: size * map.length }, (_, i) => value(map[Math.floor(i / size)], i % size));
    geometry.setIndex(index);
    geometry.setAttribute('position', new Float32BufferAttribute(fill(3, (v, k) => places[3 * v + k] + shift), 3));
    geometry.setAttribute('skinIndex', new BufferAttribute(fill(4, (v, k) => joints[4 * v + k], Uint16Array), 4));
    geometry.setAttribute('skinWeight', new Float32BufferAttribute(fill(4, (v, k) => weights[4 * v + k]), 4));
    if (dropped > 0) { // as GLTFLoader leaves the second set
      geometry.setAttribute('joints_1', new BufferAttribute(fill(4, (v, k) => all.joints[8 * v + 4 + k], Uint16Array), 4));
      geometry.setAttribute('weights_1', new Float32BufferAttribute(fill(4, (v, k) => all.weights[8 * v + 4 + k]), 4));
    }
    geometry.setAttribute('uv', new Float32BufferAttribute(fill(2, (v, k) => asset.uvs?.[2 * v + k] ?? 0), 2));
    geometry.setAttribute('normal', new Float32BufferAttribute(fill(3, (v, k) => normals[3 * v + k]), 3));
    if (colors) {
      geometry.setAttribute('color', new Float32BufferAttribute(fill(3, (v, k) => (k === part % 3 ? 0.9 : 0.2)), 3));
    }
    if (ownMorph) {
      const smile = new Float32BufferAttribute(fill(3, (v, k) => (k === 1 ? 0.01 : 0)), 3);
      smile.name = 'smile';
      geometry.morphAttributes.position = [smile];
      geometry.morphTargetsRelative = true;
    }
    if (asset.targets.length > 0) { // as a loader brings them
      geometry.morphAttributes.position = asset.targets.map(({ name }, target) => {
        const deltas = asset.targetDeltas(target);
        return Object.assign(new Float32BufferAttribute(fill(3, (v, k) => deltas[3 * v + k]), 3), { name });
      });
      geometry.morphTargetsRelative = true;
    }
    const material = new MeshStandardMaterial({ vertexColors: colors, roughness: 0.7, color: colors ? 0xffffff : [0xb06040, 0x4060b0][part % 2] });
    const mesh = new SkinnedMesh(geometry, material);
    mesh.name = `part_${part}`;
    asset.targets.forEach(({ name, weight }) => { mesh.morphTargetInfluences[mesh.morphTargetDictionary[name]] = weight; });
    mesh.bind(skeleton, new Matrix4());
    setMap(mesh, map);
    group.add(mesh);
  }
  return group;
}
