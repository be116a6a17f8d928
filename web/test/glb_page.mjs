// The page of glb.test.mjs: a .glb by GLTFLoader, with flesh, and where the GPU puts its vertices. The material's own shader draws every
// vertex as a point into its pixel of a texture of floats, with its position or normal as colour.
import { AnimationMixer, FloatType, LoopOnce, NearestFilter, OrthographicCamera, Scene, WebGLRenderer, WebGLRenderTarget } from 'three';
import { GLTFLoader } from 'three/examples/jsm/loaders/GLTFLoader.js';
import { loadRuntime } from 'jounce';
import { Flesh, useAllJoints } from 'jounce/three';

const WIDTH = 128;

// gl_Position of a point that stands for a vertex, and what it carries.
function readBack(material, wants) {
  const before = material.onBeforeCompile;
  Object.assign(material, { depthTest: false, transparent: false });
  material.onBeforeCompile = (shader, renderer) => {
    before.call(material, shader, renderer);
    shader.uniforms.wants = wants;
    shader.uniforms.rows = wants.rows;
    shader.vertexShader = `varying vec3 carried;\nuniform int wants;\nuniform float rows;\n${shader.vertexShader.replace('#include <project_vertex>', `#include <project_vertex>
      vec2 pixel = vec2(float(gl_VertexID % ${WIDTH}), float(gl_VertexID / ${WIDTH})) + 0.5;
      carried = wants == 0 ? (modelMatrix * vec4(transformed, 1.0)).xyz : normalize(mat3(modelMatrix) * objectNormal);
      gl_Position = vec4(2.0 * pixel / vec2(${WIDTH}.0, rows) - 1.0, 0.0, 1.0);
      gl_PointSize = 1.0;`)}`;
    shader.fragmentShader = `varying vec3 carried;\n${shader.fragmentShader.replace('#include <dithering_fragment>', '#include <dithering_fragment>\ngl_FragColor = vec4(carried, 1.0);')}`;
  };
  material.customProgramCacheKey = () => 'read back';
}

/** Opens a .glb. how: 'alone', three.js by itself; 'baked', with all joints; 'live', Flesh with the file for live weights. */
window.openGlb = async (glb, weights, clipName, how) => {
  const gltf = await new GLTFLoader().loadAsync(glb), scene = new Scene(), meshes = [], wants = { value: 0, rows: { value: 1 } };
  const renderer = new WebGLRenderer({ antialias: false }), camera = new OrthographicCamera();
  gltf.scene.traverse((object) => object.isSkinnedMesh && meshes.push(object));
  for (const mesh of meshes) {
    mesh.material = mesh.material.clone();
    mesh.frustumCulled = false;
    readBack(mesh.material, wants);
  }
  scene.add(gltf.scene);
  const asset = how === 'live' ? (await loadRuntime()).loadAsset(await (await fetch(weights)).arrayBuffer()) : null;
  const flesh = asset ? new Flesh(asset, gltf) : null;
  if (how === 'baked') {
    useAllJoints(gltf);
  }
  const mixer = new AnimationMixer(gltf.scene), clip = gltf.animations.find(({ name }) => name === clipName), action = mixer.clipAction(clip);
  action.setLoop(LoopOnce, 1);
  action.clampWhenFinished = true;
  action.play();
  const start = Math.min(...clip.tracks.map(({ times }) => times[0]));

  function read(kind) {
    const parts = [];
    wants.value = kind;
    for (const mesh of meshes) {
      const count = mesh.geometry.getAttribute('position').count, rows = Math.ceil(count / WIDTH);
      const target = new WebGLRenderTarget(WIDTH, rows, { type: FloatType, minFilter: NearestFilter, magFilter: NearestFilter, depthBuffer: false });
      wants.rows.value = rows;
      meshes.forEach((other) => { other.visible = other === mesh; });
      Object.defineProperty(mesh, 'isMesh', { value: false, configurable: true });
      mesh.isPoints = true;
      renderer.setRenderTarget(target);
      renderer.setClearColor(0, 0);
      renderer.clear();
      renderer.render(scene, camera);
      const pixels = new Float32Array(4 * WIDTH * rows);
      renderer.readRenderTargetPixels(target, 0, 0, WIDTH, rows, pixels);
      target.dispose();
      delete mesh.isMesh;
      delete mesh.isPoints;
      for (let i = 0; i < count; ++i) {
        parts.push(pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2]);
      }
    }
    return Float32Array.from(parts);
  }
  const text = (floats) => {
    const bytes = new Uint8Array(floats.buffer);
    let out = '';
    for (let i = 0; i < bytes.length; i += 32768) {
      out += String.fromCharCode(...bytes.subarray(i, i + 32768));
    }
    return btoa(out);
  };
  /** Plays up to some frames and gives positions and normals there. */
  return async (frames, rate) => {
    const out = [];
    for (let n = 0; n <= Math.max(...frames); ++n) {
      action.paused = false;
      action.time = start + n / rate;
      mixer.update(0);
      scene.updateMatrixWorld(true);
      flesh?.update(1 / rate);
      if (frames.includes(n)) {
        out.push({ positions: text(read(0)), normals: text(read(1)) });
      }
    }
    flesh?.dispose();
    asset?.destroy();
    renderer.dispose();
    renderer.forceContextLoss();
    return out;
  };
};
