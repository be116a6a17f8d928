// What `jounce export W -o hero.glb` writes, in three.js: loaded by GLTFLoader, played with its baked weights and with live ones, on the CPU
// in node and by the GPU's shaders in Chromium, against what `jounce bake` writes. And the three.js example of the README, as it stands.
//
//     JOUNCE=.../bin/jounce node --test web/test/glb.test.mjs     WORKSPACES="DIR DIR" these instead of small ones; SHOTS=DIR keeps pictures
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { CHROMIUM, launch, serveFolder } from './browser.mjs';

const LIMIT = 1e-4; // metres
const FRAMES = 6, RATE = 30;
const web = fileURLToPath(new URL('..', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'jounce-glb-'));
const inFolder = (...names) => path.join(folder, ...names);
const jounce = (...words) => execFileSync(process.env.JOUNCE, words, { stdio: ['ignore', 'pipe', 'inherit'] }).toString();

// Small ones: the figure, and the body where its file is; a lattice of few tetrahedra, and flesh on its modes.
function makeWorkspaces() {
  if (process.env.WORKSPACES) {
    return process.env.WORKSPACES.trim().split(/\s+/);
  }
  const bodies = [process.env.BODY].filter((file) => file && fs.existsSync(file));
  return [['figure', ['--figure']], ...bodies.map((file) => ['body', ['--from', file]])].map(([name, words]) => {
    const workspace = inFolder(name), manifest = path.join(workspace, 'manifest.yaml');
    jounce('new', workspace, ...words);
    fs.writeFileSync(manifest, fs.readFileSync(manifest, 'utf8').replace('method: auto', 'method: lattice').replace('nodes: 0', 'nodes: 1200'));
    jounce('build', workspace, '--until', 'modes');
    return workspace;
  });
}

/** float32 (frames, vertices, 3) of an .npy file. */
function readNpy(file) {
  const bytes = fs.readFileSync(file), head = bytes.readUInt16LE(8), text = bytes.subarray(10, 10 + head).toString('latin1');
  const shape = /'shape': \((\d+), *(\d+), *3,?\)/.exec(text).slice(1).map(Number);
  assert.match(text, /'descr': *'<f4'/);
  return { frames: shape[0], vertices: shape[1], values: new Float32Array(bytes.buffer.slice(bytes.byteOffset + 10 + head)) };
}

/** What a workspace exports, and what `jounce bake` says of some frames of a clip. */
function exportAll(workspace, k, more = []) {
  const dir = inFolder(`site${k}`), glb = path.join(dir, 'hero.glb'), clips = fs.readdirSync(path.join(workspace, 'clips'));
  const clip = clips.find((name) => /run/.test(name)) ?? clips[0];
  fs.mkdirSync(dir, { recursive: true });
  jounce('export', workspace, '-o', glb, '--for', 'three', '--influences', '0', ...more);
  jounce('export', workspace, '-o', path.join(dir, 'hero.jounce'));
  jounce('bake', path.join(dir, 'hero.jounce'), '--clip', clip, '-o', inFolder('bake.npy'));
  const bake = readNpy(inFolder('bake.npy')), last = Math.min(bake.frames, 61) - 1;
  const frames = Array.from({ length: FRAMES }, (_, i) => Math.floor((i * last) / (FRAMES - 1)));
  const truth = frames.map((n) => bake.values.subarray(3 * n * bake.vertices, 3 * (n + 1) * bake.vertices));
  return { name: path.basename(workspace), dir, glb, clip, frames, truth };
}

/**
 * The largest distance of points from those of the bake, metres. Programs split and order vertices in their own way: each point is taken
 * for the vertex that it is nearest to over all frames, among those that are within `reach` in x in the first.
 */
function distance(truth, shown, reach) {
  const count = truth[0].length / 3, order = Int32Array.from({ length: count }, (_, i) => i).sort((a, b) => truth[0][3 * a] - truth[0][3 * b]);
  const keys = Float64Array.from(order, (v) => truth[0][3 * v]), find = (x) => {
    let low = 0, high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      [low, high] = keys[middle] < x ? [middle + 1, high] : [low, middle];
    }
    return low;
  };
  const seen = new Set();
  let worst = 0;
  for (let i = 0; i < shown[0].length; i += 3) {
    let best = Infinity, which = -1;
    for (let k = find(shown[0][i] - reach); k < keys.length && keys[k] <= shown[0][i] + reach; ++k) {
      let most = 0;
      for (let f = 0; f < shown.length && most < best; ++f) {
        const a = shown[f], b = truth[f], v = 3 * order[k];
        most = Math.max(most, Math.hypot(a[i] - b[v], a[i + 1] - b[v + 1], a[i + 2] - b[v + 2]));
      }
      [best, which] = most < best ? [most, order[k]] : [best, which];
    }
    seen.add(which);
    worst = Math.max(worst, best);
  }
  assert.ok(seen.size > 0.5 * count, `${seen.size} of ${count} vertices were found`);
  return worst;
}

let exported, paired, three, loaders, jounceThree, core, browser;
before(async () => {
  const workspaces = makeWorkspaces();
  exported = workspaces.map((workspace, k) => exportAll(workspace, k));
  paired = exportAll(workspaces[0], 'pairs', ['--pairs', '--targets', '0', '--budget', '0']); // targets that are not the asset's own
  globalThis.self = globalThis; // GLTFLoader asks for it
  const entry = `export * as three from 'three'; export * as loaders from 'three/examples/jsm/loaders/GLTFLoader.js';
    export * as jounceThree from 'jounce/three'; export * as core from 'jounce';`;
  const outfile = inFolder('bundle.mjs');
  await build({ stdin: { contents: entry, resolveDir: path.join(web, 'test') }, bundle: true, format: 'esm', outfile, logLevel: 'error' });
  ({ three, loaders, jounceThree, core } = await import(pathToFileURL(outfile).href));
  browser = CHROMIUM ? await launch() : null;
});
after(async () => {
  await browser?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

const bufferOf = (file) => { const { buffer, byteOffset, byteLength } = fs.readFileSync(file); return buffer.slice(byteOffset, byteOffset + byteLength); };

/** Positions by three.js' own morphs and skin on the CPU, at some frames. how: as glb_page.mjs. */
async function playInNode({ glb, dir, clip: name, frames }, how) {
  const gltf = await new loaders.GLTFLoader().parseAsync(bufferOf(glb), ''), meshes = [], point = new three.Vector3();
  gltf.scene.traverse((object) => object.isSkinnedMesh && meshes.push(object));
  const asset = how === 'live' ? (await core.loadRuntime()).loadAsset(new Uint8Array(bufferOf(path.join(dir, 'hero.weights.jounce')))) : null;
  const flesh = asset ? new jounceThree.Flesh(asset, gltf) : null, undo = how === 'baked' ? jounceThree.useAllJoints(gltf) : null;
  const mixer = new three.AnimationMixer(gltf.scene), clip = gltf.animations.find((one) => one.name === name), action = mixer.clipAction(clip);
  action.setLoop(three.LoopOnce, 1);
  action.clampWhenFinished = true;
  action.play();
  const start = Math.min(...clip.tracks.map(({ times }) => times[0])), out = [];
  for (let n = 0; n <= Math.max(...frames); ++n) {
    action.paused = false;
    action.time = start + n / RATE;
    mixer.update(0);
    gltf.scene.updateMatrixWorld(true);
    flesh?.update(1 / RATE);
    if (frames.includes(n)) {
      const parts = [];
      for (const mesh of meshes) {
        mesh.skeleton.update();
        for (let i = 0; i < mesh.geometry.getAttribute('position').count; ++i) {
          parts.push(...mesh.getVertexPosition(i, point).applyMatrix4(mesh.matrixWorld));
        }
      }
      out.push(Float32Array.from(parts));
    }
  }
  flesh?.dispose();
  undo?.();
  return out;
}

const mm = (metres) => `${(1e3 * metres).toFixed(4)} mm`;

test('in node three.js shows the exported file where native has it, baked and live, within 0.1 mm', async (t) => {
  for (const one of [...exported, paired]) {
    const alone = distance(one.truth, await playInNode(one, 'alone'), 0.03);
    for (const how of ['baked', 'live']) {
      const apart = distance(one.truth, await playInNode(one, how), 1e-3);
      t.diagnostic(`${one.name}, ${one.clip}, ${how} weights, three.js on the CPU: ${mm(apart)} from native (four joints alone: ${mm(alone)})`);
      assert.ok(apart <= LIMIT, `${one.name}, ${how}: ${mm(apart)}`);
    }
  }
});

async function openPage(dir) {
  const server = await serveFolder(dir), page = await browser.newPage({ viewport: { width: 320, height: 320 } }), problems = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && !/GPU stall|swiftshader|GL Driver|CONTEXT_LOST|Context Lost/i.test(message.text()) && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  fs.writeFileSync(path.join(dir, 'index.html'), '<!doctype html><html><head><link rel="icon" href="data:,"></head><body></body></html>');
  await page.goto(server.address);
  return { page, problems, close: async () => { await page.close(); await server.stop(); } };
}

/** Angles between normals in degrees: half of them are below the first, 90 % below the second. Normals that are skinned are not those of the
 *  skinned surface: near a bent elbow they differ by tens of degrees, in every engine. */
function angles(a, b) {
  const all = Float64Array.from({ length: a.length / 3 }, (_, i) => {
    const dot = a[3 * i] * b[3 * i] + a[3 * i + 1] * b[3 * i + 1] + a[3 * i + 2] * b[3 * i + 2];
    return (180 / Math.PI) * Math.acos(Math.min(Math.max(dot, -1), 1));
  }).sort();
  return { half: all[all.length >> 1], most: all[Math.floor(0.9 * all.length)] };
}

test('in Chromium the GPU puts every vertex of it there, within 0.1 mm, and its normals with it', { skip: !CHROMIUM && 'no chromium here' }, async (t) => {
  const script = inFolder('page.js');
  await build({ entryPoints: [path.join(web, 'test/glb_page.mjs')], bundle: true, format: 'iife', outfile: script, logLevel: 'error' });
  for (const one of exported) {
    const { page, problems, close } = await openPage(one.dir);
    await page.addScriptTag({ path: script });
    for (const how of ['baked', 'live']) {
      const read = await page.evaluate(async ([clip, way, frames, rate]) => (await window.openGlb('hero.glb', 'hero.weights.jounce', clip, way))(frames, rate),
        [one.clip, how, one.frames, RATE]);
      const floats = (text) => { const { buffer, byteOffset, byteLength } = Buffer.from(text, 'base64'); return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength)); };
      const apart = distance(one.truth, read.map(({ positions }) => floats(positions)), 1e-3);
      const normals = angles(floats(read.at(-1).normals), await normalsOf(one, floats(read.at(-1).positions)));
      t.diagnostic(`${one.name}, ${one.clip}, ${how} weights, three.js on the GPU: ${mm(apart)} from native; normals: half within ${normals.half.toFixed(1)} degrees, 90 % within ${normals.most.toFixed(1)}`);
      assert.ok(apart <= LIMIT, `${one.name}, ${how}: ${mm(apart)}`);
      assert.ok(normals.half < 4 && normals.most < 15, `${one.name}, ${how}: normals ${JSON.stringify(normals)}`);
    }
    assert.deepEqual(problems, []);
    await close();
  }
});

// The runtime's normals at the last of the frames, for the vertices of the file by their positions.
async function normalsOf({ dir, clip, frames }, positions) {
  const asset = (await core.loadRuntime()).loadAsset(new Uint8Array(bufferOf(path.join(dir, 'hero.jounce')))), hero = asset.createCharacter();
  for (let n = 0; n <= frames.at(-1); ++n) {
    hero.sampleClip(asset.findClip(clip), n / RATE);
    hero.step(1 / RATE, { teleport: n === 0 ? 'reset' : 'none' });
  }
  const key = (x, y, z) => `${Math.round(x * 500)},${Math.round(y * 500)},${Math.round(z * 500)}`, cells = new Map(), found = new Float32Array(positions.length);
  for (let v = 0; v < asset.fileVertexCount; ++v) {
    const cell = key(...hero.positions.subarray(3 * v, 3 * v + 3));
    cells.set(cell, [...(cells.get(cell) ?? []), v]);
  }
  for (let i = 0; i < positions.length; i += 3) {
    const [x, y, z] = positions.subarray(i, i + 3);
    let best = Infinity, which = 0;
    for (let n = 0; n < 27; ++n) {
      for (const v of cells.get(key(x + ((n % 3) - 1) / 500, y + ((Math.floor(n / 3) % 3) - 1) / 500, z + (Math.floor(n / 9) - 1) / 500)) ?? []) {
        const away = Math.hypot(hero.positions[3 * v] - x, hero.positions[3 * v + 1] - y, hero.positions[3 * v + 2] - z);
        [best, which] = away < best ? [away, v] : [best, which];
      }
    }
    found.set(hero.normals.subarray(3 * which, 3 * which + 3), i);
  }
  asset.destroy();
  return found;
}

test('the three.js example of the README runs as it stands', { skip: !CHROMIUM && 'no chromium here' }, async () => {
  const code = /## With three\.js[\s\S]*?```js\n([\s\S]*?)```/.exec(fs.readFileSync(path.join(web, 'jounce/README.md'), 'utf8'))[1];
  const script = inFolder('readme.js'), { dir } = exported[0];
  // The only thing added: what it drew can be asked for afterwards.
  await build({ stdin: { contents: `${code}\nObject.assign(window, { drawn: { renderer, scene, camera, flesh } });`, resolveDir: path.join(web, 'test'), loader: 'js' },
    bundle: true, format: 'esm', outfile: script, logLevel: 'error' });
  const { page, problems, close } = await openPage(dir);
  await page.addScriptTag({ path: script, type: 'module' });
  await page.waitForFunction(() => window.drawn?.renderer.info.render.frame > 8, null, { timeout: 60000 });
  const { path: way, influences, covered } = await page.evaluate(() => {
    const { renderer, scene, camera, flesh } = window.drawn, gl = renderer.getContext();
    renderer.render(scene, camera);
    const { width, height } = renderer.domElement, pixels = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    let covered = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      covered += Math.abs(pixels[i] - pixels[0]) + Math.abs(pixels[i + 1] - pixels[1]) + Math.abs(pixels[i + 2] - pixels[2]) > 40 ? 1 : 0;
    }
    return { path: flesh.path, influences: Math.max(...flesh.meshes[0].morphTargetInfluences.map(Math.abs)), covered: covered / (width * height) };
  });
  if (process.env.SHOTS) {
    fs.mkdirSync(process.env.SHOTS, { recursive: true });
    await page.screenshot({ path: path.join(process.env.SHOTS, 'readme-three.png') });
  }
  assert.deepEqual([way, problems], ['morphs', []]);
  assert.ok(influences > 1e-3 && covered > 0.03, `influence ${influences}, ${covered} of the picture`);
  await close();
});
