// A three.js skeleton and an AnimationClip as a loader would bring them, made from the asset so that the example needs no
// other file. With a model of your own, GLTFLoader gives you both.
import {
  AnimationClip, Bone, BufferAttribute, BufferGeometry, MeshStandardMaterial, QuaternionKeyframeTrack, Skeleton, SkinnedMesh,
  VectorKeyframeTrack, type KeyframeTrack,
} from 'three';
import type { Asset } from 'jounce';

export function makeSkinnedMesh(asset: Asset): SkinnedMesh {
  const bones = asset.joints.map((joint) => {
    const bone = new Bone();
    bone.name = joint.name;
    bone.position.set(...joint.translation);
    bone.quaternion.set(...joint.rotation);
    bone.scale.set(...joint.scale);
    return bone;
  });
  const mesh = new SkinnedMesh(new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(3), 3)), new MeshStandardMaterial());
  asset.joints.forEach((joint, i) => (joint.parent < 0 ? mesh : bones[joint.parent]).add(bones[i]));
  mesh.bind(new Skeleton(bones));
  mesh.visible = false; // its bones are what is wanted
  return mesh;
}

export function makeClip(asset: Asset, index: number): AnimationClip {
  const clip = asset.clips[index], character = asset.createCharacter();
  const times = Array.from({ length: clip.frameCount }, (_, n) => n / clip.rate);
  const rotations = asset.joints.map(() => [] as number[]), translations = asset.joints.map(() => [] as number[]);
  for (const time of times) {
    character.sampleClip(index, time);
    asset.joints.forEach((_, j) => {
      rotations[j].push(...character.pose.rotations.subarray(4 * j, 4 * j + 4));
      translations[j].push(...character.pose.translations.subarray(3 * j, 3 * j + 3));
    });
  }
  character.destroy();
  const tracks = asset.joints.flatMap((joint, j): KeyframeTrack[] => [
    new QuaternionKeyframeTrack(`${joint.name}.quaternion`, times, rotations[j]),
    new VectorKeyframeTrack(`${joint.name}.position`, times, translations[j]),
  ]);
  return new AnimationClip(clip.name, clip.duration, tracks);
}
