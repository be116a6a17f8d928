// The package in node: the same numbers as the native scalar build, an API that fails in words, the example's skeleton.
//
//     JOUNCE=.../bin/jounce REFERENCE=.../web_reference ASSETS=.../web_assets node --test web/test/runtime.test.mjs
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { FRAMES, play } from './scenario.mjs';

const web = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(web, 'jounce/dist');
const { loadRuntime, wasmBytes, JounceError } = await import(path.join(dist, 'index.js'));
const wasm = fs.readFileSync(path.join(dist, 'jounce.wasm'));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'jounce-web-'));
const LIMIT = 150_000; // bytes of the module

/** The largest difference of two arrays. */
const worst = (a, b) => a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

let runtime;
let files;
before(async () => {
  runtime = await loadRuntime(wasm);
  const workspace = path.join(folder, 'figure');
  execFileSync(process.env.JOUNCE, ['new', workspace, '--figure', '--layer', 'vertex']);
  files = Object.fromEntries([['linear', []], ['dual', ['--skinning', 'dual']], ['exact', ['--mode', 'exact']]]
    .map(([name, options]) => {
      const file = path.join(folder, `${name}.jounce`);
      execFileSync(process.env.JOUNCE, ['export', workspace, ...options, '-o', file]);
      return [name, file];
    }));
  execFileSync(process.env.ASSETS, [folder]);
  for (const name of ['pca-modal', 'cnn-modal']) {
    files[name] = path.join(folder, `${name}.jounce`);
  }
});
after(() => fs.rmSync(folder, { recursive: true }));

function compareWithNative(name, by = runtime) {
  const out = path.join(folder, `${name}.bin`);
  execFileSync(process.env.REFERENCE, [files[name], out]);
  const bytes = fs.readFileSync(out);
  const asset = by.loadAsset(fs.readFileSync(files[name]));
  const size = 12 * asset.fileVertexCount;
  assert.equal(bytes.length, FRAMES * 6 * size);
  let at = 0, moved = 0;
  const target = asset.createSurface();
  for (const { n, inside, character } of play(asset)) {
    for (const what of ['positions', 'normals', 'velocities']) {
      const ours = Buffer.from(character[what].buffer, character[what].byteOffset, size), theirs = bytes.subarray(at, at + size);
      at += size;
      if (!ours.equals(theirs)) {
        const a = character[what], b = new Float32Array(theirs.buffer.slice(theirs.byteOffset, theirs.byteOffset + size));
        const i = a.findIndex((value, k) => !Object.is(value, b[k]));
        assert.fail(`${name}, frame ${n}${inside ? ' inside' : ''}, ${what}[${i}]: ${a[i]} in WebAssembly, ${b[i]} natively`);
      }
    }
    if (inside && n === FRAMES - 1) {
      const shown = character.positions.slice();
      character.evaluateTarget(0.25, { surface: target });
      moved = worst(shown, target.positions);
    }
  }
  assert.ok(moved > 1e-4, `the flesh moved: ${moved} m`);
  target.destroy();
  asset.destroy();
}

for (const name of ['linear', 'dual', 'exact', 'pca-modal', 'cnn-modal']) {
  test(`WebAssembly gives the bytes of the native scalar build: ${name}`, () => compareWithNative(name));
}

for (const name of ['linear', 'pca-modal', 'cnn-modal']) {
  test(`so does the module without SIMD: ${name}`, async () => compareWithNative(name, await loadRuntime(wasmBytes(false))));
}

test('the modules that travel as text are the files beside them', () => {
  assert.ok(wasm.equals(wasmBytes(true)) && fs.readFileSync(path.join(dist, 'jounce-scalar.wasm')).equals(wasmBytes(false)));
});

test('an address that brings something else is refused with a reason', async () => {
  await assert.rejects(loadRuntime(new Response('<html>')), /this is not jounce\.wasm/);
  await assert.rejects(loadRuntime(new Response('', { status: 404 })), /status 404/);
});

test('the module is small and imports nothing', () => {
  assert.ok(wasm.length < LIMIT, `${wasm.length} bytes`);
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(wasm)), []);
});

test('views point into the module and survive the growth of its memory', () => {
  const asset = runtime.loadAsset(fs.readFileSync(files.linear));
  const first = asset.createCharacter();
  first.step(1 / 60);
  const view = first.positions;
  assert.equal(view, first.positions, 'the same view is handed out again');
  const value = view[100];
  const others = Array.from({ length: 12 }, () => asset.createCharacter());
  assert.equal(view.length, 0, 'the memory grew');
  assert.equal(first.positions[100], value);
  for (const character of [first, ...others]) {
    character.destroy();
  }
  asset.destroy();
});

test('memory that is freed is used again', () => {
  const bytes = fs.readFileSync(files.linear);
  const use = () => {
    const asset = runtime.loadAsset(bytes), character = asset.createCharacter();
    character.step(1 / 60);
    character.destroy();
    asset.destroy();
  };
  use();
  const used = runtime.memoryUsed;
  for (let i = 0; i < 20; ++i) {
    use();
  }
  assert.equal(runtime.memoryUsed, used);
});

test('a file that is cut, damaged or empty is refused with a reason', () => {
  const bytes = fs.readFileSync(files.linear);
  for (const bad of [new Uint8Array(0), bytes.subarray(0, 10), bytes.subarray(0, bytes.length - 1)]) {
    assert.throws(() => runtime.loadAsset(bad), (error) => error instanceof JounceError && error.message.length > 10);
  }
  const flipped = Uint8Array.from(bytes);
  flipped[bytes.length >> 1] ^= 4;
  assert.throws(() => runtime.loadAsset(flipped), /checksum/);
  assert.throws(() => runtime.loadAsset(new TextEncoder().encode('not a character at all'.repeat(9))), JounceError);
});

test('what is wrong in a call is said', () => {
  const asset = runtime.loadAsset(fs.readFileSync(files.linear));
  const character = asset.createCharacter();
  assert.throws(() => character.sampleClip(99, 0), /5 clips/);
  assert.throws(() => character.setTuning(-1, 1), JounceError);
  assert.throws(() => character.setStrength(Number.NaN), JounceError);
  character.step(Number.NaN);
  character.pose.rotations.fill(Number.NaN);
  character.step(1 / 60);
  assert.ok(character.positions.every(Number.isFinite), 'a pose of NaN leaves the last good one');
  character.destroy();
  assert.throws(() => character.step(1 / 60), /destroyed/);
  asset.destroy();
  assert.throws(() => asset.createCharacter(), /destroyed/);
});

test('the target is the skinned surface, and strength 0 shows it', () => {
  const asset = runtime.loadAsset(fs.readFileSync(files.linear));
  const character = asset.createCharacter();
  const skinned = asset.createSurface(), target = asset.createSurface();
  for (let n = 0; n < 20; ++n) {
    character.sampleClip(0, n / 30);
    character.step(1 / 30);
  }
  character.skin({ surface: skinned });
  character.evaluateTarget(1, { surface: target });
  assert.ok(worst(skinned.positions, target.positions) < 1e-6);
  assert.ok(worst(character.positions, target.positions) > 1e-3, 'the flesh is not on its target');
  character.setStrength(0);
  character.evaluate(1);
  assert.ok(worst(character.positions, target.positions) < 1e-6);
  character.destroy();
  asset.destroy();
});

test('network and modes are told, tuned and switched off', () => {
  const asset = runtime.loadAsset(fs.readFileSync(files['pca-modal']));
  assert.deepEqual([asset.network, asset.layer, asset.modes.length], ['pca', 'modal', 9]);
  assert.ok(asset.networkError > 0 && asset.networkError < 0.01, `${asset.networkError} m`);
  [...asset.modes].sort((a, b) => a.hertz - b.hertz).forEach((mode, k) => {
    assert.ok(Math.abs(mode.hertz - (2 + 0.7 * k)) < 1e-3 && Math.abs(mode.ratio - 0.15) < 1e-4, `mode ${k}: ${mode.hertz} Hz, ${mode.ratio}`);
    assert.equal(mode.joint, Math.floor(k / 3) + 1);
  });
  const both = runtime.loadAsset(fs.readFileSync(files['cnn-modal'])), plain = runtime.loadAsset(fs.readFileSync(files.linear));
  assert.deepEqual([both.network, both.layer, plain.network, plain.layer, plain.modes.length], ['cnn', 'modal', 'none', 'vertex', 0]);

  const character = asset.createCharacter(), skinned = asset.createSurface(), target = asset.createSurface();
  const swing = () => {
    let most = 0;
    for (let n = 0; n < 40; ++n) {
      character.sampleClip(0, n / 30);
      character.step(1 / 30, { teleport: n === 0 ? 'reset' : 'none' });
      character.evaluateTarget(1, { surface: target });
      most = Math.max(most, worst(character.positions, target.positions));
    }
    return most;
  };
  const free = swing();
  character.skin({ surface: skinned });
  character.target({ surface: target });
  assert.ok(worst(skinned.positions, target.positions) > 1e-3, 'the network adds to the skinned surface');
  character.setNetworkStrength(0);
  character.target({ surface: target });
  assert.equal(worst(skinned.positions, target.positions), 0, 'without its network the target is the skinned surface');
  character.setNetworkStrength(1);

  // One region alone, then all; a gain of 0 is stillness.
  const felt = () => { const { stiffness, damping, share } = character.readModes(1); return { stiffness: stiffness.slice(), damping: damping.slice(), share: share.slice() }; };
  const before = felt();
  assert.equal(character.tuneModes(1, 2, 0.5), 3);
  const after = felt();
  const near = before.share.findIndex((share) => share > 0.99), far = before.share.findIndex((share, v) => share < 0.01 && before.stiffness[v] > 0);
  assert.ok(Math.abs(after.stiffness[near] / before.stiffness[near] - 4) < 0.05, 'twice the frequency is four times the stiffness');
  assert.ok(Math.abs(after.damping[near] / before.damping[near] - 1) < 0.05, 'at half the ratio it has the damping it had');
  assert.ok(Math.abs(after.stiffness[far] / before.stiffness[far] - 1) < 0.05, 'another region is left alone');
  assert.equal(character.tuneModes(-1, 1, 1, 0), 9);
  assert.ok(swing() < 1e-6 && free > 1e-3, `${free} m`);
  assert.throws(() => character.tuneModes(-1, -1, 1), /not negative/);
  assert.throws(() => character.tuneModes(-1, Number.NaN, 1), JounceError);
  assert.equal(plain.createCharacter().readModes(), null);
});

test('errors are the sentences of the native library', () => {
  const bytes = fs.readFileSync(files['pca-modal']);
  for (const at of [8, 12, 16, 24, 40]) {
    const bad = Uint8Array.from(bytes), file = path.join(folder, 'bad.jounce');
    bad[at] ^= 0x5a;
    fs.writeFileSync(file, bad);
    const native = spawnSync(process.env.REFERENCE, [file, path.join(folder, 'bad.bin')]).stderr.toString().trim();
    assert.ok(native.length > 10);
    assert.throws(() => runtime.loadAsset(bad), (error) => error.message === native || assert.fail(`${error.message}, natively ${native}`));
  }
});

test('flesh on a three.js skeleton is where the clip puts it', async () => {
  const entry = `export * from './flesh'; export * from './skeleton'; export { AnimationMixer } from 'three'; export { loadRuntime } from 'jounce';`;
  const outfile = path.join(folder, 'bundle.mjs');
  await build({ stdin: { contents: entry, resolveDir: path.join(web, 'example/src') }, bundle: true, format: 'esm', outfile, logLevel: 'error' });
  const { Flesh, makeClip, makeSkinnedMesh, AnimationMixer, loadRuntime: loadBundled } = await import(pathToFileURL(outfile).href);
  const asset = (await loadBundled(wasm)).loadAsset(fs.readFileSync(files.linear));
  const skinned = makeSkinnedMesh(asset), flesh = new Flesh(asset, skinned), mixer = new AnimationMixer(skinned);
  mixer.clipAction(makeClip(asset, 0)).play();
  skinned.position.set(3, 1, 2); // where the mesh stands does not matter to the flesh in it
  const direct = asset.createCharacter();
  let apart = 0, offset = 0;
  for (let n = 0; n < 30; ++n) {
    mixer.setTime(n / 30);
    flesh.update(1 / 30);
    direct.sampleClip(0, n / 30);
    direct.step(1 / 30);
    apart = Math.max(apart, worst(direct.positions, flesh.character.positions));
    offset = direct.readState().offsets.reduce((most, x) => Math.max(most, Math.abs(x)), offset);
  }
  assert.ok(offset > 0.01, `it moves: ${offset} m`);
  assert.ok(apart < 2e-4, `${apart} m apart`);
  assert.equal(flesh.mesh.geometry.getAttribute('position').array, flesh.character.positions, 'no copy');
  flesh.dispose();
});
