// A skeleton moved by three.js's own AnimationMixer, with flesh by Jounce on it.
import { AnimationMixer, Clock, Color, DirectionalLight, Group, HemisphereLight, MeshStandardMaterial, PerspectiveCamera, Scene, WebGLRenderer } from 'three';
import { loadRuntime } from 'jounce';
import { Flesh, makeClip, makeSkinnedMesh } from 'jounce/three';

const runtime = await loadRuntime();
const asset = runtime.loadAsset(await (await fetch('./character.jounce')).arrayBuffer());

// With a model of your own: const { scene: hero, animations } = await new GLTFLoader().loadAsync('hero.glb').
const hero = new Group(), mixer = new AnimationMixer(hero);
hero.add(makeSkinnedMesh(asset, { material: new MeshStandardMaterial({ color: 0xc9a48e, roughness: 0.7 }) }));
mixer.clipAction(makeClip(asset, 0)).play();

const flesh = new Flesh(asset, hero);
const scene = new Scene(), sun = new DirectionalLight(0xffffff, 2);
sun.position.set(2, 4, 3);
scene.background = new Color(0xeceae6);
scene.add(hero, sun, new HemisphereLight(0xffffff, 0x888078, 1.4));

const canvas = document.getElementById('view') as HTMLCanvasElement;
const renderer = new WebGLRenderer({ canvas, antialias: true });
const camera = new PerspectiveCamera(32, 1, 0.1, 50), clock = new Clock();
camera.position.set(1.6, 1.5, 4.2);
camera.lookAt(0, 0.95, 0);

renderer.setAnimationLoop(() => {
  const seconds = Math.min(clock.getDelta(), 0.1);
  renderer.setSize(innerWidth, innerHeight, false);
  camera.aspect = innerWidth / innerHeight;
  camera.updateProjectionMatrix();
  mixer.update(seconds);
  flesh.update(seconds);
  renderer.render(scene, camera);
  document.body.dataset.frames = String(Number(document.body.dataset.frames ?? 0) + 1);
});
