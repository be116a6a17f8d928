import { BufferGeometry, DynamicDrawUsage, Float32BufferAttribute, Matrix4, Mesh, type Object3D, type SkinnedMesh } from 'three';
import type { Asset } from '../asset.js';
import type { Character, CharacterOptions, Teleport } from '../character.js';
import { JounceError } from '../module.js';
import { JointSets } from './joints.js';
import { fitFactors, showWeights, slotsOf, withTargets, type Slots } from './morphs.js';
import { Rig, rootOf, skinnedMeshesOf, type Root } from './rig.js';
import { VertexFinder, type VertexMap } from './vertex_map.js';

/** How the flesh is shown. */
export type FleshPath = 'morphs' | 'positions';

export interface FleshOptions extends Omit<CharacterOptions, 'weightsOnly'> {
  /** Default: 'morphs' where the asset is linear in its weights, otherwise 'positions'. */
  path?: FleshPath;
  /** Seconds without an update after which the flesh starts anew: the page was hidden, say. Default 0.5. */
  gap?: number;
  /** Whether targets that are made here, for a file without them, bend normals too: twice the memory. Default true. */
  normals?: boolean;
}

// A mesh that shows positions, beside the skinned mesh that it stands for.
interface Shown {
  skinned: SkinnedMesh;
  wasVisible: boolean;
  mesh: Mesh;
  map: VertexMap;
}

/** A mesh that was given targets here, and what it had before. */
interface Given {
  mesh: SkinnedMesh;
  geometry: BufferGeometry;
  dictionary: Record<string, number> | undefined;
  influences: number[] | undefined;
}

export const GAP = 0.5;

/** What a step of so many seconds means. */
export function meaningOf(seconds: number, gap: number, asked: Teleport): Teleport {
  return seconds > gap ? 'reset' : asked;
}

const fitted = new WeakMap<BufferGeometry, Float32Array>();

/** Factors of a file's targets; of clones, which share the geometry, only once. */
export function fitToFile(asset: Asset, slots: readonly Slots[]): void {
  if (asset.fileVertexCount === 0) {
    return; // made for the file
  }
  const fresh = slots.filter(({ mesh }) => !fitted.has(mesh.geometry));
  if (fresh.length > 0) {
    const finder = new VertexFinder(asset);
    fitFactors(asset, fresh, (mesh) => finder.map(mesh as SkinnedMesh));
    fresh.forEach(({ mesh, factors }) => fitted.set(mesh.geometry, factors));
  }
  slots.forEach((one) => one.factors.set(fitted.get(one.mesh.geometry)!));
}

/** Flesh on a character of a scene. */
export class Flesh {
  readonly path: FleshPath;
  readonly character: Character;
  /** The meshes that are drawn. */
  readonly meshes: readonly Mesh[];
  readonly rig: Rig;
  private readonly slots: Slots[] = [];
  private readonly shown: Shown[] = [];
  private readonly given: Given[] = [];
  private readonly joints: JointSets;
  private readonly gap: number;
  private next: Teleport = 'none';
  private isFirst = true;
  private readonly matrix = new Matrix4();

  /**
   * root: what GLTFLoader gave, or the part of a scene that holds the character's bones and skinned meshes.
   * The asset may be shared by any number of them; it is not destroyed here.
   */
  constructor(readonly asset: Asset, root: Root, options: FleshOptions = {}) {
    const { path, gap, normals, ...rest } = options;
    this.gap = gap ?? GAP;
    this.rig = new Rig(asset, rootOf(root));
    const linear = (asset.isLinear || asset.fileVertexCount === 0) && asset.weightCount > 0; // without a surface: weights for a .glb
    if (path === 'morphs' && !linear) {
      throw new JounceError(`the surface of '${asset.name}' is not linear in morph weights: it is shown by positions`);
    }
    const meshes = skinnedMeshesOf(this.rig.root);
    if (linear && path !== 'positions') {
      this.findMorphs(meshes, normals ?? true);
    }
    this.path = this.slots.length > 0 ? 'morphs' : 'positions';
    if (this.path === 'positions') {
      this.makeMeshes(meshes);
    }
    this.meshes = this.path === 'morphs' ? this.slots.map(({ mesh }) => mesh) : this.shown.map(({ mesh }) => mesh);
    if (this.meshes.length === 0) {
      throw new JounceError(`no mesh of the scene is the surface of '${asset.name}': its vertices are elsewhere`);
    }
    this.character = asset.createCharacter({ ...rest, weightsOnly: this.path === 'morphs' });
    this.joints = new JointSets(this.slots.map(({ mesh }) => mesh as SkinnedMesh));
  }

  // Targets that the file brought; where it has none, the asset's own for the meshes whose vertices are the asset's.
  private findMorphs(meshes: readonly SkinnedMesh[], normals: boolean): void {
    for (const mesh of meshes) {
      const slots = slotsOf(this.asset, mesh);
      if (slots) {
        this.slots.push(slots);
      }
    }
    if (this.slots.length > 0) {
      fitToFile(this.asset, this.slots);
      return;
    }
    const finder = new VertexFinder(this.asset), found = meshes.flatMap((mesh) => {
      const map = finder.map(mesh);
      return map ? [{ mesh, map }] : [];
    });
    if (found.length > 0) {
      const weights = Array.from({ length: this.asset.weightCount }, (_, weight) => weight);
      const targets = { weights, deltas: weights.map((weight) => this.asset.morphDeltas(weight)), normals: normals ? this.asset.morphNormals(weights) : null };
      found.forEach(({ mesh, map }) => this.giveTargets(mesh, withTargets(this.asset, mesh.geometry, map, targets)));
    }
  }

  private giveTargets(mesh: SkinnedMesh, geometry: BufferGeometry): void {
    const own = mesh.morphTargetInfluences?.slice(), dictionary = mesh.morphTargetDictionary;
    this.given.push({ mesh, geometry: mesh.geometry, dictionary, influences: mesh.morphTargetInfluences });
    mesh.geometry = geometry;
    mesh.updateMorphTargets();
    own?.forEach((value, i) => { mesh.morphTargetInfluences![i] = value; });
    Object.entries(dictionary ?? {}).forEach(([name, i]) => { // the mesh's own keep their names
      Object.entries(mesh.morphTargetDictionary!).filter(([, at]) => at === i).forEach(([other]) => { delete mesh.morphTargetDictionary![other]; });
      mesh.morphTargetDictionary![name] = i;
    });
    this.slots.push(slotsOf(this.asset, mesh)!);
  }

  private makeMeshes(meshes: readonly SkinnedMesh[]): void {
    const finder = new VertexFinder(this.asset);
    for (const skinned of meshes) {
      const map = finder.map(skinned);
      if (!map) {
        continue;
      }
      const geometry = new BufferGeometry(), source = skinned.geometry;
      geometry.setIndex(source.getIndex());
      Object.entries(source.attributes).filter(([name]) => !['position', 'normal', 'skinIndex', 'skinWeight', 'joints_1', 'weights_1', 'tangent'].includes(name))
        .forEach(([name, attribute]) => geometry.setAttribute(name, attribute));
      source.groups.forEach((group) => geometry.addGroup(group.start, group.count, group.materialIndex));
      for (const name of ['position', 'normal']) {
        geometry.setAttribute(name, new Float32BufferAttribute(new Float32Array(3 * map.length), 3).setUsage(DynamicDrawUsage));
      }
      const mesh = new Mesh(geometry, skinned.material);
      Object.assign(mesh, { name: skinned.name, castShadow: skinned.castShadow, receiveShadow: skinned.receiveShadow, renderOrder: skinned.renderOrder });
      mesh.layers.mask = skinned.layers.mask;
      mesh.frustumCulled = false;
      mesh.matrixAutoUpdate = false;
      skinned.parent?.add(mesh);
      this.shown.push({ skinned, wasVisible: skinned.visible, mesh, map });
      mesh.visible = skinned.visible;
      skinned.visible = false;
    }
  }

  /** The jump to the next pose is not motion: 'keep' carries the flesh along, 'reset' starts it anew. */
  teleport(how: Exclude<Teleport, 'none'> = 'keep'): void {
    this.next = how;
  }

  /** Once a frame, after the bones were animated. seconds: since the last time; 0 is a pause. */
  update(seconds: number): void {
    this.rig.take(this.character.pose);
    this.takeOwnMorphs();
    const teleport = this.takeTeleport(seconds);
    this.character.step(seconds, { matrices: true, teleport });
    this.show(this.character.weights);
  }

  // Positions show the character's own morphs as the hidden meshes have them; the first mesh that has one decides. On the other path
  // three.js shows them itself.
  private takeOwnMorphs(): void {
    const { targets } = this.character.pose;
    this.asset.targets.forEach(({ name }, i) => {
      const owner = this.shown.find(({ skinned }) => skinned.morphTargetDictionary?.[name] !== undefined)?.skinned;
      if (owner) {
        targets[i] = owner.morphTargetInfluences![owner.morphTargetDictionary![name]];
      }
    });
  }

  /** For FleshCrowd: what the next step means, and that it was taken. */
  takeTeleport(seconds: number): Teleport {
    const teleport = this.isFirst ? 'reset' : meaningOf(seconds, this.gap, this.next);
    this.next = 'none';
    this.isFirst = false;
    return teleport;
  }

  private show(weights: Float32Array): void {
    this.joints.renew();
    this.slots.forEach((slots) => showWeights(slots, weights));
    if (this.shown.length > 0) {
      const { positions, normals } = this.character;
      for (const { mesh, map } of this.shown) {
        gather(mesh.geometry, 'position', positions, map);
        gather(mesh.geometry, 'normal', normals, map);
        this.place(mesh);
      }
    }
  }

  // Positions are in the world, in the character's unit.
  private place(mesh: Mesh): void {
    const parent: Object3D | null = mesh.parent;
    mesh.matrix.makeScale(this.rig.scale, this.rig.scale, this.rig.scale);
    if (parent) {
      mesh.matrix.premultiply(this.matrix.copy(parent.matrixWorld).invert());
    }
    mesh.matrixWorldNeedsUpdate = true;
  }

  /** Leaves the scene as it was before, and frees what was made. */
  dispose(): void {
    this.joints.dispose();
    this.slots.forEach(({ mesh, influences }) => influences.forEach((i) => { mesh.morphTargetInfluences![i] = 0; }));
    for (const { mesh, geometry, dictionary, influences } of this.given.splice(0)) {
      influences?.forEach((_, i) => { influences[i] = mesh.morphTargetInfluences![i]; }); // as the host has set its own since
      mesh.geometry.dispose();
      mesh.geometry = geometry;
      mesh.morphTargetDictionary = dictionary!;
      mesh.morphTargetInfluences = influences!;
    }
    for (const { skinned, wasVisible, mesh } of this.shown.splice(0)) {
      skinned.visible = wasVisible;
      mesh.removeFromParent();
      mesh.geometry.dispose();
    }
    this.slots.length = 0;
    this.character.destroy();
  }
}

function gather(geometry: BufferGeometry, name: 'position' | 'normal', from: Float32Array, map: VertexMap): void {
  const attribute = geometry.getAttribute(name), to = attribute.array as Float32Array;
  for (let i = 0, at = 0; i < map.length; ++i, at += 3) {
    const v = 3 * map[i];
    to[at] = from[v];
    to[at + 1] = from[v + 1];
    to[at + 2] = from[v + 2];
  }
  attribute.needsUpdate = true;
}
