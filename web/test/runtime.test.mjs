// The package in node: the same numbers as the native scalar build, and an API that fails in words.
//
//     JOUNCE=.../bin/jounce REFERENCE=.../web_reference ASSETS=.../web_assets node --test web/test/runtime.test.mjs
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PARITY } from './parity.mjs';
import { FRAMES, play } from './scenario.mjs';

const web = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(web, 'jounce/dist');
const { loadRuntime, wasmBytes, JounceError } = await import(path.join(dist, 'index.js'));
const wasm = fs.readFileSync(path.join(dist, 'jounce.wasm'));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'jounce-web-'));
const LIMIT = 240_000; // bytes of the module

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
  for (const name of ['pca-modal', 'pca-dual', 'cnn-modal', 'face-modal', 'face-vertex']) {
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
  assert.equal(bytes.length, (FRAMES + 1) * 6 * size + 4 * asset.weightCount);
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
    if (inside && n === FRAMES && asset.weightCount > 0) {
      assert.deepEqual(Buffer.from(character.weights.buffer, character.weights.byteOffset, 4 * asset.weightCount), bytes.subarray(at), 'weights');
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

for (const name of ['linear', 'dual', 'exact', 'pca-modal', 'pca-dual', 'cnn-modal']) {
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
  assert.deepEqual([character.tuneMode(0, 2, 0.5), character.tuneMode(9, 1, 1), character.tuneMode(-1, 1, 1)], [true, false, false]);
  assert.throws(() => character.tuneMode(0, Number.NaN, 1), JounceError);
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

/** The same bytes; assert's own comparison of large arrays takes seconds. */
const same = (a, b, what = 'arrays') => assert.ok(Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength)), `${what} differ`);

/** Loads one of the small files, and gives it back afterwards. */
const withAsset = (name, use) => {
  const asset = runtime.loadAsset(fs.readFileSync(files[name]));
  use(asset);
  asset.destroy();
};

/** Plays so many frames of the first clip from a time on. */
const run = (character, count, from = 0, options = {}) => {
  for (let n = 0; n < count; ++n) {
    character.sampleClip(0, from + n / 30);
    character.step(1 / 30, options);
  }
};

for (const name of ['linear', 'pca-modal', 'cnn-modal']) {
  test(`a snapshot brings the motion back, and a damaged one is refused: ${name}`, () => withAsset(name, (asset) => {
    const character = asset.createCharacter(), other = asset.createCharacter();
    run(character, 10);
    const snapshot = character.save();
    run(character, 6, 1);
    const there = character.positions.slice();
    other.restore(snapshot);
    run(other, 6, 1);
    same(other.positions.slice(), there);
    snapshot[snapshot.length >> 1] ^= 1;
    if (asset.weightCount > 0) {
      assert.throws(() => other.restore(snapshot), JounceError);
      run(character, 1, 1.2);
      run(other, 1, 1.2);
      same(other.positions.slice(), character.positions.slice(), 'unchanged by the damaged one');
    }
    assert.throws(() => other.restore(snapshot.subarray(0, 7)), JounceError);
    character.destroy();
    other.destroy();
  }));
}

test('weights with morph targets are the surface, at rest', () => withAsset('pca-modal', (asset) => {
  const character = asset.createCharacter(), light = asset.createCharacter({ weightsOnly: true });
  const { rest, weld } = asset;
  assert.deepEqual([asset.isLinear, asset.weightCount], [true, asset.componentCount + 9]);
  // The root shakes, the joints stay: the surface is the rest surface plus what the weights add.
  for (let n = 0; n < 12; ++n) {
    for (const one of [character, light]) {
      one.pose.root[1] = 0.02 * (n % 3);
      one.step(1 / 30, { rates: true });
    }
    same(light.weights.slice(), character.weights.slice());
  }
  const sum = new Float64Array(3 * asset.fileVertexCount);
  for (let i = 0; i < sum.length; ++i) {
    sum[i] = rest[4 * weld[Math.floor(i / 3)] + (i % 3)] + (i % 3 === 1 ? 0.04 : 0);
  }
  for (let w = 0; w < asset.weightCount; ++w) {
    const weight = character.weights[w], deltas = asset.morphDeltas(w);
    deltas.forEach((delta, i) => { sum[i] += weight * delta; });
    const sparse = asset.sparseMorph(w, 0);
    sparse.vertices.forEach((v, i) => [0, 1, 2].forEach((k) => { deltas[3 * v + k] -= sparse.deltas[3 * i + k]; }));
    assert.ok(deltas.every((x) => x === 0), 'the sparse form has all of it');
  }
  assert.ok(worst(sum, character.positions) < 1e-5, `${worst(sum, character.positions)} m`);
  assert.ok(character.weights.subarray(asset.componentCount).some((w) => Math.abs(w) > 1e-3), 'the modes move');
  assert.ok(character.weightRates.some((rate) => rate !== 0));
  assert.throws(() => light.positions, /weights only/);
  assert.throws(() => asset.morphDeltas(asset.weightCount), /none with number/);
  [character, light].forEach((one) => one.destroy());
}));

test('a crowd has the weights of one by one, with its own time and teleport for each', () => withAsset('pca-modal', (asset) => {
  const crowd = asset.createCrowd(7), alone = asset.createCharacter({ weightsOnly: true }), N = asset.weightCount;
  const seconds = [1 / 30, 1 / 60, 0, 1 / 30, 0.1, 1 / 30, 1 / 30], kinds = ['none', 'none', 'none', 'reset', 'none', 'keep', 'none'];
  const frames = [];
  for (let n = 0; n < 8; ++n) {
    crowd.characters.forEach((one, i) => one.sampleClip(0, i / 5 + n / 30));
    crowd.step(seconds, { teleport: n === 5 ? kinds : 'none' });
    frames.push(crowd.weights.slice());
  }
  crowd.characters.forEach((_, i) => {
    alone.reset();
    const fresh = asset.createCharacter({ weightsOnly: true });
    for (let n = 0; n < 8; ++n) {
      fresh.sampleClip(0, i / 5 + n / 30);
      fresh.step(seconds[i], { teleport: n === 5 ? kinds[i] : 'none' });
      same(frames[n].slice(N * i, N * i + N), fresh.weights.slice(), `character ${i}, frame ${n}`);
    }
    fresh.destroy();
  });
  crowd.destroy();
  alone.destroy();
  assert.throws(() => crowd.step(1 / 30), /destroyed/);
  assert.throws(() => asset.createCrowd(0), /at least one/);
}));

test('level of detail leaves the last weights at 0, and the first as they are', () => withAsset('pca-modal', (asset) => {
  const all = asset.createCharacter({ weightsOnly: true }), few = asset.createCharacter({ weightsOnly: true, components: 3, modes: 4 });
  run(all, 8);
  run(few, 8);
  const C = asset.componentCount;
  same(few.weights.slice(0, 3), all.weights.slice(0, 3));
  assert.ok(few.weights.subarray(3, C).every((w) => w === 0) && few.weights.subarray(C + 4).every((w) => w === 0));
  assert.ok(few.weights.subarray(C, C + 4).every((w) => w !== 0));
  [all, few].forEach((one) => one.destroy());
  assert.throws(() => asset.createCharacter({ detail: 'coarse' }), JounceError, 'the file has no drivers');
  assert.throws(() => asset.createCharacter({ timing: 'sometimes' }), /exact, causal/);
}));

test('a loop repeats exactly', () => withAsset('pca-modal', (asset) => {
  const character = asset.createCharacter({ weightsOnly: true }), frames = 20, seen = [];
  const setPose = (frame) => character.sampleClip(0, ((frame % frames) * 0.5) / frames);
  assert.equal(character.solveLoop(frames, 1 / 40, setPose), 0);
  for (let n = 1; n <= 2 * frames; ++n) {
    setPose(n);
    character.step(1 / 40);
    seen.push(character.weights.slice());
  }
  const apart = seen.slice(0, frames).reduce((most, weights, n) => Math.max(most, worst(weights, seen[n + frames])), 0);
  assert.ok(apart < 1e-4, `${apart}`);
  assert.ok(worst(seen[0], seen[frames >> 1]) > 1e-2);
  assert.throws(() => character.solveLoop(2, 1 / 40, setPose), JounceError);
  character.destroy();
}));

test('strength by joint and by vertex survive a look at the target', () => {
  withAsset('pca-modal', (asset) => {
    const character = asset.createCharacter({ weightsOnly: true });
    run(character, 8);
    character.setStrength(0, 1);
    character.evaluate(1);
    const weights = character.weights.slice(), still = asset.modes.flatMap((mode, k) => (mode.joint === 1 ? [weights[asset.componentCount + k]] : []));
    assert.ok(still.length === 3 && still.every((w) => w === 0));
    character.evaluateTarget(1);
    assert.ok(character.weights.subarray(asset.componentCount).every((w) => w === 0));
    character.evaluate(1);
    same(character.weights.slice(), weights);
    assert.throws(() => character.setStrength(1, 99), /no joint/);
    character.destroy();
  });
  withAsset('linear', (asset) => {
    const character = asset.createCharacter(), target = asset.createSurface(), half = new Float32Array(asset.ownSpringCount).fill(1, asset.ownSpringCount >> 1);
    run(character, 8);
    character.setStrength(1, half);
    character.evaluate(1);
    const shown = character.positions.slice();
    character.evaluateTarget(1, { surface: target });
    character.evaluate(1);
    same(character.positions.slice(), shown);
    const moved = (from, to) => [...asset.weld].reduce((most, v, i) => (v < from || v >= to ? most : Math.max(most, Math.abs(shown[3 * i] - target.positions[3 * i]))), 0);
    assert.ok(moved(0, half.length >> 1) < 1e-6 && moved(half.length >> 1, half.length) > 1e-3);
    character.setMask(new Uint8Array(asset.ownSpringCount));
    run(character, 1, 0.5);
    assert.ok(character.readState().offsets.every((x) => x === 0), 'all rest');
    assert.throws(() => character.setMask(new Uint8Array(3)), /springs of single vertices/);
    character.setMask(null);
    character.setParameters(Float32Array.from(asset.stiffness).fill(100).subarray(0, asset.ownSpringCount), null);
    assert.throws(() => character.setParameters([1], null), /array 1 numbers/);
    character.destroy();
    target.destroy();
  });
});

test('impulses, thresholds, origins and bad poses do what they do natively', () => withAsset('pca-modal', (asset) => {
  const make = () => { const one = asset.createCharacter({ weightsOnly: true }); run(one, 3); return one; };
  const plain = make(), hit = make(), far = make(), jumped = make(), thrown = make();
  hit.addImpulseAt(Math.floor(asset.vertexCount / 2), [0, 0, 40]);
  assert.throws(() => hit.addImpulseAt(asset.vertexCount, [0, 0, 1]), /vertices/);
  jumped.setTeleportThreshold(0.5, 'keep');
  far.pose.origin.set([1e5, 0, -1e5]);
  jumped.pose.root[0] = thrown.pose.root[0] = 5;
  for (const one of [plain, hit, far, jumped, thrown]) {
    run(one, 1, 0.1);
  }
  assert.ok(worst(plain.weights, hit.weights) > 1e-3, 'the impulse is felt');
  const felt = worst(plain.weights, thrown.weights), kept = worst(plain.weights, jumped.weights);
  assert.ok(kept < 0.3 * felt, `the jump is not: ${kept} where it would be ${felt}`);
  plain.pose.rotations[0] = Number.NaN;
  plain.step(1 / 30);
  assert.deepEqual([plain.badPoseCount, plain.resetCount], [1, 0]);
  plain.finish();
  [plain, hit, far, jumped, thrown].forEach((one) => one.destroy());
}));

test('every function of the C API is in the package, or it is said why not', () => withAsset('pca-modal', (asset) => {
  const functions = fs.readFileSync(path.join(web, 'test/c_functions.txt'), 'utf8').trim().split('\n');
  const character = asset.createCharacter(), crowd = asset.createCrowd(1);
  const objects = { Runtime: runtime, Asset: asset, Character: character, Crowd: crowd, Mode: asset.modes[0] };
  assert.ok(functions.length > 70);
  assert.deepEqual(functions.filter((name) => !(name in PARITY)), [], 'new in C');
  assert.deepEqual(Object.keys(PARITY).filter((name) => !functions.includes(name)), [], 'gone from C');
  for (const [name, place] of Object.entries(PARITY)) {
    if (typeof place === 'string') {
      const [object, member] = place.split('.');
      assert.ok(member in objects[object], `${name}: ${place} is not there`);
    } else {
      assert.ok(place.why.length > 5, name);
    }
  }
  crowd.destroy();
  character.destroy();
}));

for (const name of ['face-modal', 'face-vertex']) {
  test(`morph targets of the source are named, played by clips and moved by hand: ${name}`, () => withAsset(name, (asset) => {
    const hero = asset.createCharacter(), plain = asset.createCharacter(), { pose } = hero;
    assert.deepEqual(asset.targets, [{ name: 'smile', weight: 0 }, { name: 'frown', weight: 0.25 }]);
    assert.deepEqual([asset.findTarget('frown'), asset.findTarget('wink')], [1, -1]);
    assert.deepEqual(Array.from(pose.targets), [0, 0.25], 'as at rest');
    assert.throws(() => asset.targetDeltas(2), /2 morph targets of its source, none with number 2/);
    hero.sampleClip(0, 1);
    assert.ok(Math.abs(pose.targets[0] - 1) < 1e-5, `the clip smiles: ${pose.targets[0]}`);
    const wide = 3 * asset.fileVertexCount, smile = asset.targetDeltas(0), frown = asset.targetDeltas(1), source = asset.sourcePositions();
    // In the rest pose the surface is the source's with its targets.
    hero.pose.rotations.set(plain.pose.rotations);
    hero.pose.translations.set(plain.pose.translations);
    pose.targets.set([0.5, -1]);
    hero.reset();
    let apart = 0;
    for (let i = 0; i < wide; ++i) {
      apart = Math.max(apart, Math.abs(hero.positions[i] - source[i] - 0.5 * smile[i] + frown[i]));
    }
    assert.ok(apart < 2e-6, `${apart} m`);
    assert.ok(smile.some((x) => x > 0.03) && frown.some((x) => x > 0.03));
    hero.destroy();
    plain.destroy();
  }));
}

test('Babylon.js: the morphs of the character\'s own are the host\'s', async () => {
  const { Flesh } = await import(path.join(dist, 'babylon.js'));
  await withAsset('face-modal', (asset) => {
    const hero = asset.createCharacter(), bones = asset.joints.map(({ name }, j) => ({
      name, getTransformNode: () => null, getAbsoluteMatrix: () => ({ asArray: () => {
        const m = hero.skinMatrices(), inverse = asset.joints[j].inverseBind; // in the rest pose: the inverse of what binds, a translation
        return [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, m[12 * j + 3] - inverse[3], m[12 * j + 7] - inverse[7], m[12 * j + 11] - inverse[11], 1];
      } }),
    }));
    const names = ['smile', 'frown', ...asset.modes.map((_, k) => `jounce.mode.${String(k).padStart(3, '0')}`)], all = names.map((name) => ({ name, influence: 0.3 }));
    const mesh = { morphTargetManager: { numTargets: all.length, getTarget: (i) => all[i] }, skeleton: { name: 'bones', bones } }, flesh = new Flesh(asset, [mesh]);
    flesh.update(1 / 30);
    all[0].influence = 0.8;
    flesh.update(1 / 30);
    assert.deepEqual(all.slice(0, 2).map(({ influence }) => influence), [0.8, 0.3]);
    assert.ok(all.slice(2).every(({ influence }) => Math.abs(influence) < 1e-3), 'ours are driven');
    flesh.dispose();
    assert.deepEqual(all.slice(0, 3).map(({ influence }) => influence), [0.8, 0.3, 0]);
    hero.destroy();
  });
});

test('normals of morph targets are how normals change, and matrices skin the rest surface', () => withAsset('pca-modal', (asset) => {
  const hero = asset.createCharacter(), weight = asset.componentCount, deltas = asset.morphDeltas(weight), [bent] = asset.morphNormals([weight]), rest = asset.restNormals();
  hero.skin();
  assert.ok(worst(rest, hero.normals) < 1e-4, `rest normals are the runtime's: ${worst(rest, hero.normals)}`);
  assert.ok(bent.some((x) => Math.abs(x) > 1e-3), 'the target bends normals');
  assert.ok(deltas.some((x) => x !== 0));
  hero.sampleClip(0, 0.3);
  hero.skin();
  const m = hero.skinMatrices(), { joints, weights } = asset.influences(8), shown = new Float32Array(3 * asset.fileVertexCount);
  for (let i = 0; i < asset.fileVertexCount; ++i) {
    const r = asset.rest.subarray(4 * asset.weld[i], 4 * asset.weld[i] + 4);
    for (let k = 0; k < 8; ++k) {
      for (let row = 0; row < 3; ++row) {
        const at = 12 * joints[8 * i + k] + 4 * row;
        shown[3 * i + row] += weights[8 * i + k] * (m[at] * r[0] + m[at + 1] * r[1] + m[at + 2] * r[2] + m[at + 3]);
      }
    }
  }
  assert.ok(worst(shown, hero.positions) < 1e-5, `${worst(shown, hero.positions)} m`);
  hero.destroy();
}));
