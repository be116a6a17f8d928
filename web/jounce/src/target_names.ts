// Names of the morph targets that the command line writes: "jounce.pose.NNN" of the network, "jounce.mode.NNN" of the modes, and
// "jounce.flesh.NNN" where a file has other targets than the asset: then the file for live weights beside it has their weights.
import type { Asset } from './asset.js';

const NAME = /^jounce\.(pose|mode|flesh)\.(\d+)$/;

/** The weight of the asset that a morph target shows by its name; -1: it is the character's own, or of another asset. */
export function weightOf(asset: Asset, name: string): number {
  const found = NAME.exec(name);
  if (!found || (found[1] === 'flesh') !== asset.hasTargetWeights) {
    return -1;
  }
  const number = Number(found[2]), ofPose = found[1] === 'pose';
  if (found[1] === 'flesh') {
    return number < asset.weightCount ? number : -1;
  }
  const count = ofPose ? asset.componentCount : asset.modes.length;
  return number < count ? number + (ofPose ? 0 : asset.componentCount) : -1;
}

export function targetName(asset: Asset, weight: number): string {
  const ofPose = weight < asset.componentCount;
  return `jounce.${ofPose ? 'pose' : 'mode'}.${String(ofPose ? weight : weight - asset.componentCount).padStart(3, '0')}`;
}
