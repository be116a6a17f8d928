// The bones of an asset's joints in a three.js scene, and the pose that they have.
import { Matrix4, Object3D, PropertyBinding, Quaternion, Vector3, type SkinnedMesh } from 'three';
import type { Asset } from '../asset.js';
import type { Pose } from '../character.js';
import { JounceError } from '../module.js';

/** What GLTFLoader gives, or a part of a scene. */
export type Root = Object3D | { scene: Object3D };

export const rootOf = (root: Root): Object3D => ('isObject3D' in root ? root : root.scene);

export function skinnedMeshesOf(root: Object3D): SkinnedMesh[] {
  const meshes: SkinnedMesh[] = [];
  root.traverse((object) => {
    if ((object as SkinnedMesh).isSkinnedMesh) {
      meshes.push(object as SkinnedMesh);
    }
  });
  return meshes;
}

// GLTFLoader keeps the name of the file in userData and gives the object one that animation tracks can use: without spaces,
// colons, dots and brackets, and another one where two would be the same.
function findBones(asset: Asset, root: Object3D): Object3D[] {
  const byFile = new Map<string, Object3D>(), byName = new Map<string, Object3D>();
  const note = (object: Object3D) => {
    const file: unknown = object.userData['name'];
    if (typeof file === 'string' && !byFile.has(file)) {
      byFile.set(file, object);
    }
    if (object.name !== '' && !byName.has(object.name)) {
      byName.set(object.name, object);
    }
  };
  skinnedMeshesOf(root).forEach((mesh) => mesh.skeleton.bones.forEach(note)); // bones first: a mesh may be called like one
  root.traverse(note);
  const missing: string[] = [];
  const bones = asset.joints.map(({ name }) => {
    const bone = byFile.get(name) ?? byName.get(name) ?? byName.get(PropertyBinding.sanitizeNodeName(name));
    if (!bone) {
      missing.push(name);
    }
    return bone!;
  });
  if (missing.length > 0) {
    const there = [...byName.keys()].slice(0, 6).join(', ');
    throw new JounceError(`the scene has no bone '${missing[0]}'${missing.length > 1 ? ` and ${missing.length - 1} more` : ''} of '${asset.name}'; it has ${there || 'no names'}`);
  }
  return bones;
}

/** Reads the pose of a character. Its space is that of `root`: where that stands and moves in the world is felt by the flesh. */
export class Rig {
  readonly bones: readonly Object3D[];
  /** World units to one unit of the character. */
  scale = 1;
  private readonly toRoot = new Matrix4();
  private readonly matrix = new Matrix4();
  private readonly position = new Vector3();
  private readonly rotation = new Quaternion();
  private readonly scales = new Vector3();

  constructor(asset: Asset, readonly root: Object3D) {
    this.bones = findBones(asset, root);
  }

  take(pose: Pose): void {
    const { root, toRoot, matrix, position, rotation, scales } = this;
    root.updateWorldMatrix(true, true);
    toRoot.copy(root.matrixWorld).invert();
    root.matrixWorld.decompose(position, rotation, scales);
    this.scale = Math.cbrt(Math.abs(scales.x * scales.y * scales.z)) || 1;
    pose.root.set([
      position.x / this.scale, position.y / this.scale, position.z / this.scale, rotation.x, rotation.y, rotation.z, rotation.w]);
    // three.js keeps matrices by column, Jounce takes three rows of four.
    const out = pose.matrices;
    for (let joint = 0; joint < this.bones.length; ++joint) {
      const e = matrix.multiplyMatrices(toRoot, this.bones[joint].matrixWorld).elements;
      for (let row = 0, at = 12 * joint; row < 3; ++row, at += 4) {
        out[at] = e[row];
        out[at + 1] = e[4 + row];
        out[at + 2] = e[8 + row];
        out[at + 3] = e[12 + row];
      }
    }
  }
}
