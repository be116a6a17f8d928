// Skinning by eight joints a vertex. three.js skins by four, `skinIndex` and `skinWeight`. GLTFLoader keeps the second set of a file
// (JOINTS_1, WEIGHTS_1) as the attributes `joints_1` and `weights_1`, which nothing reads, and scales the first four weights so that they
// add up to 1. Here the second set counts: in the vertex shaders of the meshes' materials, and in what three.js works out on the CPU
// (rays, bounds, getVertexPosition).
//
// With m = Σ weights_1 the skin matrix is (1 - m) Σ skinWeight_k B_k + Σ weights_1_k C_k. Because Σ skinWeight_k = 1, it is enough to put
// (1 - m) B_k + Σ weights_1_k C_k in the place of each of the four B_k: all that three.js makes of them follows.
//
// WebGLRenderer only: WebGPURenderer has no onBeforeCompile.
import {
  Matrix4, MeshDepthMaterial, MeshDistanceMaterial, RGBADepthPacking, SkinnedMesh, Vector3, Vector4, type BufferAttribute, type Material,
  type Object3D,
} from 'three';
import { rootOf, skinnedMeshesOf } from './rig.js';

const ANCHOR = '#include <skinbase_vertex>';
// An attribute that a mesh does not have reads as 0, 0, 0, 1: a mesh without a second set may share the material.
const SHADER = `${ANCHOR}
#ifdef USE_SKINNING
  float jounceMore = dot(weights_1, vec4(1.0));
  if (jounceMore > 0.0 && jounceMore < 0.999) {
    mat4 jounceSum = weights_1.x * getBoneMatrix(joints_1.x) + weights_1.y * getBoneMatrix(joints_1.y)
      + weights_1.z * getBoneMatrix(joints_1.z) + weights_1.w * getBoneMatrix(joints_1.w);
    boneMatX = (1.0 - jounceMore) * boneMatX + jounceSum;
    boneMatY = (1.0 - jounceMore) * boneMatY + jounceSum;
    boneMatZ = (1.0 - jounceMore) * boneMatZ + jounceSum;
    boneMatW = (1.0 - jounceMore) * boneMatW + jounceSum;
  }
#endif`;
const ATTRIBUTES = '#ifdef USE_SKINNING\nattribute vec4 joints_1;\nattribute vec4 weights_1;\n#endif\n';

/** A material that was changed: by how many, and how to take it back. */
interface Changed {
  users: number;
  undo(): void;
}
const changed = new WeakMap<Material, Changed>();

function change(material: Material): Changed {
  const before = material.onBeforeCompile, beforeKey = material.customProgramCacheKey;
  const ownKey = Object.hasOwn(material, 'customProgramCacheKey');
  material.onBeforeCompile = function compile(this: Material, shader, renderer) {
    before.call(this, shader, renderer);
    shader.vertexShader = ATTRIBUTES + shader.vertexShader.replace(ANCHOR, SHADER);
  };
  // The key that three.js makes itself is the text of onBeforeCompile: of the one that was there before.
  material.customProgramCacheKey = () => `jounce.joints ${ownKey ? beforeKey.call(material) : before.toString()}`;
  material.needsUpdate = true;
  return {
    users: 0,
    undo: () => {
      material.onBeforeCompile = before;
      if (ownKey) {
        material.customProgramCacheKey = beforeKey;
      } else {
        delete (material as Partial<Material>).customProgramCacheKey;
      }
      material.needsUpdate = true;
    },
  };
}

function use(material: Material): void {
  const entry = changed.get(material) ?? change(material);
  entry.users += 1;
  changed.set(material, entry);
}

function release(material: Material): void {
  const entry = changed.get(material);
  if (entry && (entry.users -= 1) === 0) {
    entry.undo();
    changed.delete(material);
  }
}

const materialsOf = (mesh: SkinnedMesh): Material[] => (Array.isArray(mesh.material) ? mesh.material : [mesh.material]);

const base = new Vector3(), part = new Vector3(), place = new Vector3(), four = new Vector4(), weights = new Vector4(), bone = new Matrix4();

// What three.js does on the CPU, with the second set.
function applyAllBones(this: SkinnedMesh, index: number, vector: Vector3): Vector3 {
  const { skeleton, geometry } = this;
  weights.fromBufferAttribute(geometry.getAttribute('weights_1') as BufferAttribute, index);
  const more = weights.x + weights.y + weights.z + weights.w;
  base.copy(vector).applyMatrix4(this.bindMatrix);
  SkinnedMesh.prototype.applyBoneTransform.call(this, index, vector);
  if (!(more > 0 && more < 0.999)) {
    return vector;
  }
  four.fromBufferAttribute(geometry.getAttribute('joints_1') as BufferAttribute, index);
  place.set(0, 0, 0);
  for (let k = 0; k < 4; ++k) {
    const weight = weights.getComponent(k), joint = four.getComponent(k);
    if (weight !== 0) {
      bone.multiplyMatrices(skeleton.bones[joint].matrixWorld, skeleton.boneInverses[joint]);
      place.addScaledVector(part.copy(base).applyMatrix4(bone), weight);
    }
  }
  place.divideScalar(more).applyMatrix4(this.bindMatrixInverse);
  return vector.multiplyScalar(1 - more).addScaledVector(place, more);
}

// Shadows are drawn with materials of the renderer's own unless a mesh has others.
let shadowMaterials: { depth: MeshDepthMaterial; distance: MeshDistanceMaterial } | null = null;

function shadowsOf(mesh: SkinnedMesh): void {
  const cut = materialsOf(mesh).some((material) => material.alphaTest > 0 || material.alphaToCoverage);
  if (cut || mesh.customDepthMaterial || mesh.customDistanceMaterial) {
    return; // those are made for each material
  }
  if (!shadowMaterials) {
    shadowMaterials = { depth: new MeshDepthMaterial({ depthPacking: RGBADepthPacking }), distance: new MeshDistanceMaterial() };
    use(shadowMaterials.depth);
    use(shadowMaterials.distance);
  }
  mesh.customDepthMaterial = shadowMaterials.depth;
  mesh.customDistanceMaterial = shadowMaterials.distance;
}

/** The second sets of some meshes. */
export class JointSets {
  private readonly entries: { mesh: SkinnedMesh; material: Material | Material[]; used: Material[] }[] = [];

  constructor(meshes: readonly SkinnedMesh[]) {
    for (const mesh of meshes) {
      if (mesh.geometry.getAttribute('joints_1') && mesh.geometry.getAttribute('weights_1')) {
        const used = materialsOf(mesh).slice();
        used.forEach(use);
        mesh.applyBoneTransform = applyAllBones as SkinnedMesh['applyBoneTransform'];
        shadowsOf(mesh);
        this.entries.push({ mesh, material: mesh.material, used });
      }
    }
  }

  /** Takes note of materials that were put on the meshes meanwhile. */
  renew(): void {
    for (const entry of this.entries) {
      if (entry.mesh.material !== entry.material) {
        entry.used.forEach(release);
        entry.material = entry.mesh.material;
        entry.used = materialsOf(entry.mesh).slice();
        entry.used.forEach(use);
      }
    }
  }

  dispose(): void {
    for (const { mesh, used } of this.entries.splice(0)) {
      used.forEach(release);
      delete (mesh as Partial<SkinnedMesh>).applyBoneTransform;
      if (mesh.customDepthMaterial === shadowMaterials?.depth) {
        delete mesh.customDepthMaterial;
        delete mesh.customDistanceMaterial;
      }
    }
  }
}

/**
 * Skins what GLTFLoader gave, or a part of a scene, by all joints of each vertex, up to eight; three.js alone reads four. `Flesh` and
 * `FleshCrowd` do it themselves: call this for a `.glb` that plays its baked animation without them. Returns what takes it back.
 */
export function useAllJoints(root: Object3D | { scene: Object3D }): () => void {
  const sets = new JointSets(skinnedMeshesOf(rootOf(root)));
  return () => sets.dispose();
}
