// The part of crowd.mjs that runs in the page.
import { BufferAttribute, Group, PerspectiveCamera, Vector3, type SkinnedMesh } from 'three';
import { loadRuntime } from 'jounce';
import { Flesh, makeSkinnedMesh } from 'jounce/three';
import { MorphCrowd } from '../viewer/src/morph_crowd';

const LOOKS = 200; // steps
const WARM = 3000; // milliseconds

export async function open(bytes: Uint8Array) {
  const asset = (await loadRuntime()).loadAsset(bytes);

  /** The fastest step of one character, weights alone, in seconds. */
  function timeWeights(steps: number): number {
    const character = asset.createCharacter({ weightsOnly: true });
    // Clocks of pages are coarse: many steps between two looks at it. What the poses cost is measured alone and taken off.
    const fastest = (work: (time: number) => void) => {
      let best = Infinity;
      for (let n = 0; n < steps; ++n) {
        const start = performance.now();
        for (let k = 0; k < LOOKS; ++k) {
          work((LOOKS * n + k) / 60);
        }
        best = Math.min(best, performance.now() - start);
      }
      return best / LOOKS;
    };
    const both = fastest((time) => { character.sampleClip(0, time); character.step(1 / 60); });
    const best = both - fastest((time) => character.sampleClip(0, time));
    character.destroy();
    return best / 1000;
  }

  /** The fastest frame of many copies, in seconds of script. */
  function timeFrame(how: 'positions' | 'weights', copies: number, frames: number): number {
    let best = Infinity;
    if (how === 'positions') {
      const characters = Array.from({ length: copies }, () => asset.createCharacter());
      for (let n = 0; n < frames; ++n) {
        const start = performance.now();
        characters.forEach((one, i) => { one.sampleClip(0, (n + i) / 60); one.step(1 / 60); });
        best = Math.min(best, performance.now() - start);
      }
      characters.forEach((one) => one.destroy());
      return best / 1000;
    }
    const crowd = asset.createCrowd(copies), homes = Array.from({ length: copies }, (_, i) => new Vector3(i % 10, 0, -Math.floor(i / 10)));
    const drawn = new MorphCrowd(asset, new BufferAttribute(new Uint32Array(3), 1), new Uint8Array(4 * asset.fileVertexCount), new Vector3(1, 1.7, 1), new Vector3());
    const camera = new PerspectiveCamera(), times = new Float64Array(copies);
    drawn.setCount(copies);
    // A browser compiles the module for speed while it runs: the first seconds are not what a page costs.
    for (let n = 0, end = performance.now() + WARM; n < 4 * frames || performance.now() < end; ++n) {
      const start = performance.now();
      crowd.sampleClip(0, times.map((_, i) => (n + i) / 60));
      crowd.step(1 / 60);
      drawn.update(crowd, homes, new Vector3(), 'springs', camera);
      best = Math.min(best, performance.now() - start);
    }
    crowd.destroy();
    return best / 1000;
  }

  /** The largest distance of three.js' own CPU path from the runtime's positions, metres. */
  function compare(frames: number): number {
    const group = new Group(), mesh: SkinnedMesh = makeSkinnedMesh(asset, { normals: false }), point = new Vector3();
    group.add(mesh);
    const flesh = new Flesh(asset, group), direct = asset.createCharacter();
    let apart = 0;
    for (let n = 0; n < frames; ++n) {
      direct.sampleClip(0, n / 10);
      mesh.skeleton.bones.forEach((bone, j) => {
        bone.quaternion.fromArray(direct.pose.rotations, 4 * j);
        bone.position.fromArray(direct.pose.translations, 3 * j);
        bone.scale.fromArray(direct.pose.scales, 3 * j);
      });
      direct.step(1 / 10, { teleport: n === 0 ? 'reset' : 'none' });
      flesh.update(1 / 10);
      group.updateMatrixWorld(true);
      for (let i = 0; i < asset.fileVertexCount; ++i) {
        mesh.getVertexPosition(i, point);
        apart = Math.max(apart, point.distanceTo(new Vector3().fromArray(direct.positions, 3 * i)));
      }
    }
    flesh.dispose();
    direct.destroy();
    return apart;
  }

  return { timeWeights, timeFrame, compare };
}
