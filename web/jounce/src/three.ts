// Soft tissue on characters of three.js. `Flesh` takes the bones as an AnimationMixer, a physics engine or your own code left them,
// steps Jounce, and shows the result on the character's own meshes:
//
//   morphs     the character's meshes have the morph targets of Jounce (`jounce export W -o hero.glb`), or are given them here:
//              only the weights go to the GPU, a few hundred numbers a frame
//   positions  otherwise (springs of single vertices, a cnn network, dual quaternions): positions and normals are worked out in
//              WebAssembly and shown by meshes with the materials and attributes of the character's own
export { Flesh, type FleshOptions, type FleshPath } from './three/flesh.js';
export { FleshCrowd } from './three/crowd.js';
export { useAllJoints } from './three/joints.js';
export { makeSkeleton, makeSkinnedMesh, type SkinnedMeshOptions } from './three/skinned_mesh.js';
export { makeClip } from './three/clip.js';
