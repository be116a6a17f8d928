// Copies that are drawn by the GPU alone: one draw call, one geometry, and for all of them one texture of morph targets, those of the
// character's source (its face) behind those of Jounce, and one of what
// these add to normals. Each frame a texture with a row for each copy is uploaded: its place, how many targets it shows, its joints'
// matrices and its morph weights.
import {
  BufferAttribute, Color, DataArrayTexture, DataTexture, DataUtils, FloatType, HalfFloatType, InstancedBufferGeometry, Mesh,
  MeshStandardMaterial, NearestFilter, RGBAFormat, Vector3, type Camera,
} from 'three';
import type { Asset, Crowd } from 'jounce';
import { readScreenColors } from './screen_colors';
import type { Mode } from './settings';

const HEAD = 2; // texels before the matrices: place; counts
const FULL_DETAIL = 5; // body heights: copies nearer than this show all their targets
const LEAST = 4; // targets of each kind that the farthest show
const WIDTH = 1024; // texels of a row of targets

const FUNCTIONS = `
  uniform highp sampler2DArray fleshTargets;
  uniform highp sampler2DArray fleshNormals;
  uniform highp sampler2D fleshCopies;
  uniform ivec4 fleshCounts; // components, modes, joints, targets of the source
  attribute vec4 fleshJoints;
  attribute vec4 fleshWeights;
  attribute vec4 fleshMoreJoints;
  attribute vec4 fleshMoreWeights;
  vec3 fleshPosition;
  vec4 fleshTexel(int at) { return texelFetch(fleshCopies, ivec2(at, gl_InstanceID), 0); }
  float fleshWeight(int w) { return fleshTexel(${HEAD} + 3 * fleshCounts.z + w / 4)[w % 4]; }
  void fleshAdd(int from, int count, inout vec3 place, inout vec3 normal) {
    for (int i = 0; i < count; ++i) {
      float weight = fleshWeight(from + i);
      if (weight != 0.0) {
        ivec3 at = ivec3(gl_VertexID % ${WIDTH}, gl_VertexID / ${WIDTH}, from + i);
        place += weight * texelFetch(fleshTargets, at, 0).xyz;
        normal += weight * texelFetch(fleshNormals, at, 0).xyz;
      }
    }
  }
  vec3 fleshMove(vec3 rest, inout vec3 normal) {
    vec4 counts = fleshTexel(1);
    vec3 place = rest, turned = vec3(0.0), moved = vec3(0.0);
    fleshAdd(0, int(counts.x), place, normal);
    fleshAdd(fleshCounts.x, int(counts.y), place, normal);
    fleshAdd(fleshCounts.x + fleshCounts.y, fleshCounts.w, place, normal);
    for (int k = 0; k < 8; ++k) {
      float weight = k < 4 ? fleshWeights[k] : fleshMoreWeights[k - 4];
      if (weight > 0.0) {
        int at = ${HEAD} + 3 * int(k < 4 ? fleshJoints[k] : fleshMoreJoints[k - 4]);
        vec4 x = fleshTexel(at), y = fleshTexel(at + 1), z = fleshTexel(at + 2);
        moved += weight * vec3(dot(x, vec4(place, 1.0)), dot(y, vec4(place, 1.0)), dot(z, vec4(place, 1.0)));
        turned += weight * vec3(dot(x.xyz, normal), dot(y.xyz, normal), dot(z.xyz, normal));
      }
    }
    normal = normalize(turned);
    return moved + fleshTexel(0).xyz;
  }`;

function makeMaterial(uniforms: Record<string, { value: unknown }>): MeshStandardMaterial {
  const material = new MeshStandardMaterial({ vertexColors: true, roughness: 0.62, metalness: 0, color: new Color(0xffffff) });
  readScreenColors(material, (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', `#include <common>\n${FUNCTIONS}`)
      .replace('#include <beginnormal_vertex>', '#include <beginnormal_vertex>\nfleshPosition = fleshMove(position, objectNormal);')
      .replace('#include <begin_vertex>', 'vec3 transformed = fleshPosition;');
  });
  return material;
}

// x, y, z of the file vertices, a layer for each weight. Half floats: 1/2000 of a displacement, and of a normal less than the eye sees.
function makeTargets(asset: Asset, layers: (weight: number) => Float32Array): DataArrayTexture {
  const height = Math.ceil(asset.fileVertexCount / WIDTH), size = 4 * WIDTH * height, count = asset.weightCount + asset.targets.length;
  const data = new Uint16Array(size * count);
  for (let w = 0; w < count; ++w) {
    const values = layers(w), at = w * size;
    for (let i = 0; i < asset.fileVertexCount; ++i) {
      for (let k = 0; k < 3; ++k) {
        const value = values[3 * i + k];
        data[at + 4 * i + k] = value === 0 ? 0 : DataUtils.toHalfFloat(value);
      }
    }
  }
  const texture = new DataArrayTexture(data, WIDTH, height, count);
  Object.assign(texture, { format: RGBAFormat, type: HalfFloatType, minFilter: NearestFilter, magFilter: NearestFilter, needsUpdate: true });
  return texture;
}

export class MorphCrowd {
  readonly mesh: Mesh<InstancedBufferGeometry, MeshStandardMaterial>;
  /** Targets that all copies together showed in the last frame, of those that they have. */
  detail = 1;
  private readonly targets: DataArrayTexture;
  private readonly normals: DataArrayTexture;
  private copies: DataTexture;
  private readonly row: number; // floats of a copy
  private readonly place = new Vector3();

  constructor(private readonly asset: Asset, index: BufferAttribute, base: Uint8Array, private readonly size: Vector3, private readonly center: Vector3) {
    const { joints, weights } = asset.influences(8), geometry = new InstancedBufferGeometry(), { rest, weld } = asset;
    const positions = new Float32Array(3 * asset.fileVertexCount);
    weld.forEach((v, i) => positions.set(rest.subarray(4 * v, 4 * v + 3), 3 * i));
    geometry.setIndex(index);
    geometry.setAttribute('position', new BufferAttribute(positions, 3));
    geometry.setAttribute('normal', new BufferAttribute(asset.restNormals(), 3));
    geometry.setAttribute('color', new BufferAttribute(base, 4, true));
    const half = (from: ArrayLike<number>, k: number) => new BufferAttribute(Float32Array.from({ length: 4 * asset.fileVertexCount }, (_, i) => from[8 * (i >> 2) + k + (i & 3)]), 4);
    geometry.setAttribute('fleshJoints', half(joints, 0));
    geometry.setAttribute('fleshWeights', half(weights, 0));
    geometry.setAttribute('fleshMoreJoints', half(joints, 4));
    geometry.setAttribute('fleshMoreWeights', half(weights, 4));
    geometry.instanceCount = 0;
    this.row = 4 * (HEAD + 3 * asset.jointCount + Math.ceil((asset.weightCount + asset.targets.length) / 4));
    this.targets = makeTargets(asset, (weight) => (weight < asset.weightCount ? asset.morphDeltas(weight) : asset.targetDeltas(weight - asset.weightCount)));
    const normals = [...asset.morphNormals(Array.from({ length: asset.weightCount }, (_, weight) => weight)), ...asset.targetNormals()];
    this.normals = makeTargets(asset, (weight) => normals[weight]);
    this.copies = this.makeCopies(1);
    this.mesh = new Mesh(geometry, makeMaterial({
      fleshTargets: { value: this.targets }, fleshNormals: { value: this.normals }, fleshCopies: this.copiesUniform, fleshCounts: { value: [asset.componentCount, asset.modes.length, asset.jointCount, asset.targets.length] },
    }));
    this.mesh.frustumCulled = false;
    this.mesh.raycast = () => undefined; // the first copy is the one that can be grabbed
  }

  private readonly copiesUniform: { value: unknown } = { value: null };

  private makeCopies(count: number): DataTexture {
    const texture = new DataTexture(new Float32Array(this.row * count), this.row / 4, count, RGBAFormat, FloatType);
    texture.needsUpdate = true;
    this.copiesUniform.value = texture;
    return texture;
  }

  setCount(count: number): void {
    this.mesh.geometry.instanceCount = count;
    if (count > this.copies.image.height) {
      this.copies.dispose();
      this.copies = this.makeCopies(count);
    }
  }

  /** Takes the weights and poses of a crowd. homes: where each copy stands on the floor; shake: what a hand adds to all. */
  update(crowd: Crowd, homes: readonly Vector3[], shake: Vector3, mode: Mode, camera: Camera): void {
    const { componentCount, modes, jointCount, weightCount, targets } = this.asset, matrices = crowd.skinMatrices(), { weights } = crowd;
    const data = this.copies.image.data as Float32Array, floats = 12 * jointCount;
    let shown = 0;
    for (let i = 0; i < homes.length; ++i) {
      // Where the body is now, by its first joint: a crowd stays in its rows.
      const at = i * this.row, m = matrices.subarray(i * floats, (i + 1) * floats), { x, y, z } = this.center;
      const offset = this.place.copy(homes[i]);
      offset.x += shake.x - (m[0] * x + m[1] * y + m[2] * z + m[3]);
      offset.z += shake.z - (m[8] * x + m[9] * y + m[10] * z + m[11]);
      const distance = camera.position.distanceTo(homes[i]);
      const share = Math.min((FULL_DETAIL * this.size.y) / Math.max(distance, 1e-3), 1) ** 2;
      const components = mode === 'skinned' ? 0 : Math.min(Math.max(Math.ceil(share * componentCount), LEAST), componentCount);
      const modal = mode === 'springs' ? Math.min(Math.max(Math.ceil(share * modes.length), LEAST), modes.length) : 0;
      data[at] = offset.x;
      data[at + 1] = offset.y;
      data[at + 2] = offset.z;
      data[at + 4] = components;
      data[at + 5] = modal;
      data.set(m, at + 4 * HEAD);
      data.set(weights.subarray(i * weightCount, (i + 1) * weightCount), at + 4 * HEAD + floats);
      for (let t = 0, own = at + 4 * HEAD + floats + weightCount; t < targets.length; ++t) { // the rest surface has what they weigh at rest
        data[own + t] = crowd.characters[i].pose.targets[t] - targets[t].weight;
      }
      shown += components + modal;
    }
    this.detail = homes.length > 0 ? shown / (homes.length * weightCount) : 1;
    this.copies.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.removeFromParent();
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.targets.dispose();
    this.normals.dispose();
    this.copies.dispose();
  }
}
