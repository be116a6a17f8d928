// A .glb as three.js plays it, without a GPU: the positions of all vertices at some frames of a clip.
//
//     node three.mjs THREE FILE.glb CLIP RATE FRAME,FRAME,... OUT
//
// OUT: 32-bit floats, [frames][vertices][3], metres, meshes one after another.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [folder, file, clipName, rate, list, out] = process.argv.slice(2);
globalThis.self = globalThis;
const THREE = await import(pathToFileURL(`${folder}/build/three.module.js`).href);
const { GLTFLoader } = await import(pathToFileURL(`${folder}/examples/jsm/loaders/GLTFLoader.js`).href);

const bytes = readFileSync(file);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const gltf = await new GLTFLoader().parseAsync(buffer, '');
const clip = gltf.animations.find((a) => a.name === clipName);
if (!clip) throw new Error(`no clip '${clipName}'`);
const mixer = new THREE.AnimationMixer(gltf.scene);
const action = mixer.clipAction(clip);
action.setLoop(THREE.LoopOnce, 1);
action.clampWhenFinished = true;
action.play();

const meshes = [];
gltf.scene.traverse((o) => o.isSkinnedMesh && meshes.push(o));
const frames = list.split(',').map(Number);
const start = Math.min(...clip.tracks.map((t) => t.times[0]));
const count = meshes.reduce((sum, m) => sum + m.geometry.attributes.position.count, 0);
const positions = new Float32Array(frames.length * count * 3);
const point = new THREE.Vector3();
let at = 0;
for (const frame of frames) {
  action.paused = false;
  action.time = start + frame / Number(rate);
  mixer.update(0);
  gltf.scene.updateMatrixWorld(true);
  for (const mesh of meshes) {
    mesh.skeleton.update();
    for (let i = 0; i < mesh.geometry.attributes.position.count; ++i) {
      mesh.getVertexPosition(i, point).applyMatrix4(mesh.matrixWorld);
      positions.set([point.x, point.y, point.z], at);
      at += 3;
    }
  }
}
writeFileSync(out, positions);
console.log(`three.js r${THREE.REVISION}: ${meshes.length} meshes, ${count} vertices`);
