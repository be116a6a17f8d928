import { AnimationClip, NumberKeyframeTrack, PropertyBinding, QuaternionKeyframeTrack, VectorKeyframeTrack, type KeyframeTrack } from 'three';
import type { Asset } from '../asset.js';

/**
 * A clip of the asset for an AnimationMixer, on bones that are named like its joints. meshes: names of the meshes whose own morph targets
 * it plays, where it moves some; those of Jounce are not among them.
 */
export function makeClip(asset: Asset, index: number, meshes: readonly string[] = []): AnimationClip {
  const clip = asset.clips[index], character = asset.createCharacter({ weightsOnly: asset.weightCount > 0 }), { pose } = character;
  const frames = clip.frameCount + (clip.looping ? 1 : 0);
  const times = Array.from({ length: frames }, (_, n) => n / clip.rate);
  const rotations = asset.joints.map(() => [] as number[]), translations = asset.joints.map(() => [] as number[]);
  const weights = asset.targets.map(() => [] as number[]);
  for (let n = 0; n < frames; ++n) {
    character.sampleClip(index, (n % clip.frameCount) / clip.rate);
    asset.joints.forEach((_, j) => {
      rotations[j].push(...pose.rotations.subarray(4 * j, 4 * j + 4));
      translations[j].push(...pose.translations.subarray(3 * j, 3 * j + 3));
    });
    weights.forEach((list, target) => list.push(pose.targets[target]));
  }
  character.destroy();
  const tracks = asset.joints.flatMap(({ name }, j): KeyframeTrack[] => {
    const node = PropertyBinding.sanitizeNodeName(name);
    return [new QuaternionKeyframeTrack(`${node}.quaternion`, times, rotations[j]), new VectorKeyframeTrack(`${node}.position`, times, translations[j])];
  });
  for (const mesh of meshes) {
    asset.targets.forEach(({ name }, target) => {
      if (weights[target].some((weight) => weight !== asset.targets[target].weight)) {
        tracks.push(new NumberKeyframeTrack(`${PropertyBinding.sanitizeNodeName(mesh)}.morphTargetInfluences[${name}]`, times, weights[target]));
      }
    });
  }
  return new AnimationClip(clip.name, clip.duration, tracks);
}
