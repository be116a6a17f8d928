import type { SkinnedMesh } from 'three';
import type { Asset } from '../asset.js';
import type { CharacterOptions, Teleport } from '../character.js';
import type { Crowd } from '../crowd.js';
import { JounceError } from '../module.js';
import { fitToFile, GAP, meaningOf } from './flesh.js';
import { JointSets } from './joints.js';
import { showWeights, slotsOf, type Slots } from './morphs.js';
import { Rig, rootOf, skinnedMeshesOf, type Root } from './rig.js';

/**
 * Many characters of one asset, stepped at once. Their meshes have the morph targets already: clones (SkeletonUtils.clone) of a scene
 * that came with them, or of makeSkinnedMesh. Geometry and targets are shared by all.
 */
export class FleshCrowd {
  readonly crowd: Crowd;
  private readonly members: { rig: Rig; slots: Slots[] }[];
  private readonly joints: JointSets;
  private next: Teleport[];

  constructor(readonly asset: Asset, roots: readonly Root[], private readonly options: CharacterOptions & { gap?: number } = {}) {
    this.members = roots.map((root) => {
      const rig = new Rig(asset, rootOf(root));
      const slots = skinnedMeshesOf(rig.root).flatMap((mesh) => slotsOf(asset, mesh) ?? []);
      if (slots.length === 0) {
        throw new JounceError(`a member of the crowd has no morph targets of '${asset.name}'`);
      }
      fitToFile(asset, slots);
      return { rig, slots };
    });
    this.joints = new JointSets(this.members.flatMap(({ slots }) => slots.map(({ mesh }) => mesh as SkinnedMesh)));
    this.next = roots.map(() => 'reset');
    const { gap: _, ...rest } = options;
    this.crowd = asset.createCrowd(roots.length, rest);
  }

  /** The jump of one character to its next pose is not motion. */
  teleport(index: number, how: Exclude<Teleport, 'none'> = 'keep'): void {
    this.next[index] = how;
  }

  /** Once a frame, after the bones were animated. */
  update(seconds: number): void {
    const { characters } = this.crowd, gap = this.options.gap ?? GAP;
    this.members.forEach(({ rig }, i) => rig.take(characters[i].pose));
    this.crowd.step(seconds, { matrices: true, teleport: this.next.map((how) => meaningOf(seconds, gap, how)) });
    const weights = this.crowd.weights, count = this.asset.weightCount;
    this.members.forEach(({ slots }, i) => slots.forEach((one) => showWeights(one, weights, i * count)));
    this.next.fill('none');
    this.joints.renew();
  }

  dispose(): void {
    this.joints.dispose();
    this.members.forEach(({ slots }) => slots.forEach(({ mesh, influences }) => influences.forEach((i) => { mesh.morphTargetInfluences![i] = 0; })));
    this.crowd.destroy();
  }
}
