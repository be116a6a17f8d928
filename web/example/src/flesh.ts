// Flesh for a three.js skeleton: takes the bones as an AnimationMixer, a physics engine or your own code left them, steps
// Jounce, and draws the result from the runtime's own memory.
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Matrix4, Mesh, type Material, type SkinnedMesh } from 'three';
import type { Asset, Character } from 'jounce';

export class Flesh {
  /** Draw this instead of the skinned mesh. Its parent should be that of the skinned mesh. */
  readonly mesh: Mesh;
  readonly character: Character;
  private readonly boneOfJoint: number[];
  private readonly toMesh = new Matrix4();
  private readonly matrix = new Matrix4();

  constructor(asset: Asset, private readonly skinned: SkinnedMesh, material: Material | Material[] = skinned.material) {
    const names = skinned.skeleton.bones.map((bone) => bone.name);
    this.boneOfJoint = asset.joints.map((joint) => {
      const bone = names.indexOf(joint.name);
      if (bone < 0) {
        throw new Error(`the skeleton has no bone '${joint.name}'`);
      }
      return bone;
    });
    this.character = asset.createCharacter();
    const geometry = new BufferGeometry();
    geometry.setIndex(new BufferAttribute(Uint32Array.from(asset.triangles), 1));
    geometry.setAttribute('position', new BufferAttribute(this.character.positions, 3).setUsage(DynamicDrawUsage));
    geometry.setAttribute('normal', new BufferAttribute(this.character.normals, 3).setUsage(DynamicDrawUsage));
    if (asset.uvs) {
      geometry.setAttribute('uv', new BufferAttribute(asset.uvs.slice(), 2));
    }
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  /** Once a frame, after the bones were animated: `seconds` since the last time. */
  update(seconds: number): void {
    this.takePose();
    this.character.step(seconds, { matrices: true });
    for (const [name, array] of [['position', this.character.positions], ['normal', this.character.normals]] as const) {
      const attribute = this.mesh.geometry.getAttribute(name) as BufferAttribute;
      attribute.array = array; // the view is another one when the runtime's memory has grown
      attribute.needsUpdate = true;
    }
  }

  // Joints to mesh: three.js keeps matrices by column, Jounce takes three rows of four.
  private takePose(): void {
    this.skinned.updateWorldMatrix(true, true);
    this.toMesh.copy(this.skinned.matrixWorld).invert();
    const matrices = this.character.pose.matrices, bones = this.skinned.skeleton.bones;
    this.boneOfJoint.forEach((bone, joint) => {
      const e = this.matrix.multiplyMatrices(this.toMesh, bones[bone].matrixWorld).elements;
      for (let row = 0; row < 3; ++row) {
        for (let column = 0; column < 4; ++column) {
          matrices[12 * joint + 4 * row + column] = e[4 * column + row];
        }
      }
    });
  }

  dispose(): void {
    this.mesh.removeFromParent();
    this.mesh.geometry.dispose();
    this.character.destroy();
  }
}
