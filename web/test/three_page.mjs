// The page of three.test.mjs: draws characters with flesh and says what it drew.
import { AnimationMixer, Box3, Color, DirectionalLight, HemisphereLight, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from 'three';
import { loadRuntime } from 'jounce';
import { Flesh, makeClip, makeSkinnedMesh } from 'jounce/three';
import { rename, rig } from './scenes.mjs';

const KINDS = {
  mixamo: { prefix: 'mixamorig:' },
  two: { parts: 2 },
  painted: { parts: 2, colors: true, ownMorph: true },
};

window.start = async (text, size) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)), runtime = await loadRuntime();
  const renderer = new WebGLRenderer({ antialias: false, preserveDrawingBuffer: true });
  renderer.setSize(size, size, false);
  document.body.append(renderer.domElement);

  function look(scene, object) {
    const box = new Box3().setFromObject(object), center = box.getCenter(new Vector3()), reach = box.getSize(new Vector3()).length();
    const camera = new PerspectiveCamera(35, 1, 0.01, 50);
    camera.position.copy(center).add(new Vector3(0.5, 0.3, 1).multiplyScalar(1.4 * reach));
    camera.lookAt(center);
    renderer.render(scene, camera);
    const gl = renderer.getContext(), pixels = new Uint8Array(4 * size * size);
    gl.readPixels(0, 0, size, size, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    return pixels;
  }

  /** Draws a kind of character after some frames. how: 'morphs', 'positions' or 'skinned', without flesh. */
  window.show = (kind, how, frames = 10) => {
    const asset = rename(runtime, bytes, KINDS[kind].prefix ?? ''), scene = new Scene(), character = rig(asset, { ...KINDS[kind], prefix: '' });
    const sun = new DirectionalLight(0xffffff, 2.5);
    scene.background = new Color(0xffffff);
    sun.position.set(1, 2, 3);
    scene.add(character, sun, new HemisphereLight(0xffffff, 0x888888, 1));
    const flesh = how === 'skinned' ? null : new Flesh(asset, character, { path: how });
    if (flesh && flesh.path !== how) {
      throw new Error(`shown by ${flesh.path}`);
    }
    const mixer = new AnimationMixer(character);
    mixer.clipAction(makeClip(asset, 0)).play();
    for (let n = 0; n < frames; ++n) {
      mixer.setTime(n / 30);
      flesh?.update(1 / 30);
    }
    const pixels = look(scene, character), image = renderer.domElement.toDataURL();
    let covered = 0, dark = 0, red = 0, green = 0, blue = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      const [r, g, b] = pixels.subarray(i, i + 3);
      if (r + g + b < 740) {
        covered += 1;
        dark += r + g + b < 30 ? 1 : 0;
        red += r > 1.3 * Math.max(g, b) ? 1 : 0;
        green += g > 1.3 * Math.max(r, b) ? 1 : 0;
        blue += b > 1.3 * Math.max(r, g) ? 1 : 0;
      }
    }
    flesh?.dispose();
    asset.destroy();
    return { pixels: Array.from(pixels), image, covered, dark, red, green, blue };
  };

  /** Makes, draws and disposes so many characters; what the renderer then holds. */
  window.cycle = (count) => {
    const asset = runtime.loadAsset(bytes), scene = new Scene(), mesh = makeSkinnedMesh(asset);
    scene.add(mesh);
    for (let n = 0; n < count; ++n) {
      for (const how of ['morphs', 'positions']) {
        const flesh = new Flesh(asset, scene, { path: how });
        flesh.update(1 / 30);
        look(scene, mesh);
        flesh.dispose();
      }
    }
    look(scene, mesh);
    const { geometries, textures } = renderer.info.memory;
    scene.remove(mesh);
    mesh.geometry.dispose();
    mesh.skeleton.dispose();
    asset.destroy();
    return { geometries, textures, memory: runtime.memoryUsed };
  };
};
