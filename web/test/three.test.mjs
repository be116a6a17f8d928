// `jounce/three`: GLTFLoader's names, several primitives and materials, painted vertices, the character's own morphs, AnimationMixer,
// any frame rate, gaps, teleports, disposal; in node without a picture, and drawn by Chromium.
//
//     ASSETS=.../web_assets REFERENCE=.../web_reference node --test web/test/three.test.mjs
//
// SHOTS=DIR keeps pictures, CHARACTER=FILE.jounce draws another character.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { CHROMIUM, launch } from './browser.mjs';

const web = fileURLToPath(new URL('..', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'jounce-three-'));
const worst = (a, b) => a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

let three, jounce, scenes, runtime, file;
before(async () => {
  execFileSync(process.env.ASSETS, [folder]);
  file = fs.readFileSync(path.join(folder, 'pca-modal.jounce'));
  const entry = `export * as three from 'three'; export * as jounce from 'jounce/three'; export * as scenes from './scenes.mjs';
    export { loadRuntime } from 'jounce';`;
  const outfile = path.join(folder, 'bundle.mjs');
  await build({ stdin: { contents: entry, resolveDir: path.join(web, 'test') }, bundle: true, format: 'esm', outfile, logLevel: 'error' });
  const bundle = await import(pathToFileURL(outfile).href);
  ({ three, jounce, scenes } = bundle);
  runtime = await bundle.loadRuntime();
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));

const load = (name = 'pca-modal') => runtime.loadAsset(fs.readFileSync(path.join(folder, `${name}.jounce`)));

/** Positions of every vertex in the world as three.js itself works them out: morphs, then skin, on the CPU. */
function drawn(mesh) {
  const out = new Float32Array(3 * mesh.geometry.getAttribute('position').count), point = new three.Vector3();
  mesh.updateWorldMatrix(true, false);
  mesh.updateMatrixWorld(true); // as the renderer does: it renews what skins in the world
  for (let i = 0; i < out.length / 3; ++i) {
    mesh.getVertexPosition(i, point).applyMatrix4(mesh.matrixWorld).toArray(out, 3 * i);
  }
  return out;
}

/** Plays the clip with a mixer on a rig, and the asset's own clip beside it. Returns the largest distance in metres. */
function compare(asset, root, { frames = 12, rates = [30], path: how, move, meshes } = {}) {
  const flesh = new jounce.Flesh(asset, root, how ? { path: how } : {}), direct = asset.createCharacter();
  const mixer = new three.AnimationMixer(root);
  mixer.clipAction(jounce.makeClip(asset, 0, meshes)).play();
  let time = 0, apart = 0, moved = 0;
  const target = asset.createSurface();
  for (let n = 0; n < frames; ++n) {
    const h = 1 / rates[n % rates.length];
    time += n > 0 ? h : 0;
    mixer.setTime(time);
    move?.(root, n, direct.pose);
    flesh.update(h);
    root.updateWorldMatrix(true, true);
    flesh.rig.take(direct.pose); // the same matrices: what is compared is the way from there to the screen
    direct.step(h, { matrices: true, teleport: n === 0 ? 'reset' : 'none' });
    for (const mesh of flesh.meshes) {
      const map = scenes.mapOf(mesh), shown = drawn(mesh), { scale } = flesh.rig;
      for (let i = 0; i < shown.length; ++i) {
        apart = Math.max(apart, Math.abs(shown[i] / scale - direct.positions[3 * map[Math.floor(i / 3)] + (i % 3)]));
      }
    }
    direct.evaluateTarget(1, { surface: target });
    moved = Math.max(moved, worst(direct.positions, target.positions));
  }
  assert.ok(moved > 1e-4, `the flesh moves: ${moved} m`);
  target.destroy();
  direct.destroy();
  return { flesh, apart };
}

const LIMIT = 1e-4; // metres

test('a mesh made from the asset is where the runtime puts it, by three.js\' own morphs and skin', () => {
  const asset = load(), mesh = jounce.makeSkinnedMesh(asset), group = new three.Group();
  group.add(mesh);
  scenes.setMap(mesh, Int32Array.from({ length: asset.fileVertexCount }, (_, i) => i));
  const { flesh, apart } = compare(asset, group);
  assert.equal(flesh.path, 'morphs');
  assert.ok(apart < LIMIT, `${apart} m`);
  flesh.dispose();
  asset.destroy();
});

test('a vertex that hangs on five joints is there too, and everything is as before after dispose', () => {
  const asset = load('five-modal'), mesh = jounce.makeSkinnedMesh(asset), group = new three.Group(), { material } = mesh;
  const before = [material.onBeforeCompile, material.customProgramCacheKey(), mesh.applyBoneTransform];
  group.add(mesh);
  scenes.setMap(mesh, Int32Array.from({ length: asset.fileVertexCount }, (_, i) => i));
  assert.ok(asset.influences(4).dropped > 0.001, 'four are not enough');
  const { flesh, apart } = compare(asset, group), other = new jounce.Flesh(asset, group);
  assert.ok(apart < LIMIT, `${apart} m`);
  mesh.material = material.clone();
  flesh.update(1 / 30);
  assert.notEqual(mesh.material.onBeforeCompile, before[0], 'a material that is put on later is changed too');
  flesh.dispose();
  assert.notEqual(material.onBeforeCompile, before[0], 'somebody else still uses it');
  other.dispose();
  assert.deepEqual([material.onBeforeCompile, material.customProgramCacheKey(), mesh.applyBoneTransform, mesh.customDepthMaterial], [...before, undefined]);
  asset.destroy();
});

/** Area-weighted normals of a surface of file vertices, smooth over seams. */
function normalsOf(asset, positions) {
  const sums = new Float64Array(3 * asset.normalCount), [a, b, c] = [new three.Vector3(), new three.Vector3(), new three.Vector3()];
  for (let t = 0; t < asset.triangles.length; t += 3) {
    const corners = asset.triangles.subarray(t, t + 3);
    [a, b, c].forEach((point, k) => point.fromArray(positions, 3 * corners[k]));
    b.sub(a).cross(c.sub(a));
    corners.forEach((i) => b.toArray().forEach((x, k) => { sums[3 * asset.normalGroups[i] + k] += x; }));
  }
  return Array.from({ length: asset.fileVertexCount }, (_, i) => new three.Vector3().fromArray(sums, 3 * asset.normalGroups[i]).normalize());
}

test('targets that are made for a bare model bend its normals with its surface', () => {
  const asset = load(), group = scenes.rig(asset, { ownMorph: true }), flesh = new jounce.Flesh(asset, group), [mesh] = flesh.meshes, { geometry } = mesh;
  const map = scenes.mapOf(mesh), moved = new Float32Array(3 * asset.fileVertexCount), point = new three.Vector3(), { position, normal } = geometry.morphAttributes;
  mesh.morphTargetInfluences.forEach((_, i) => { mesh.morphTargetInfluences[i] = i === 0 ? 0 : 0.8 * Math.sin(2.4 * i); }); // its own is 0
  const sum = (base, targets, i) => {
    const out = new three.Vector3().fromBufferAttribute(base, i);
    targets.forEach((target, k) => out.addScaledVector(point.fromBufferAttribute(target, i), mesh.morphTargetInfluences[k]));
    return out;
  };
  map.forEach((v, i) => sum(geometry.getAttribute('position'), position, i).toArray(moved, 3 * v));
  const truth = normalsOf(asset, moved), rms = (targets) => (180 / Math.PI) * Math.sqrt(map.reduce((all, v, i) =>
    all + sum(geometry.getAttribute('normal'), targets, i).angleTo(truth[v]) ** 2, 0) / map.length);
  assert.equal(normal.length, position.length);
  const bent = rms(normal), flat = rms([]);
  assert.ok(flat > 2 && bent < 0.2 * flat, `${bent} degrees with normals, ${flat} without`);
  flesh.dispose();
  asset.destroy();
});

test('any frame rate, and a character that stands turned, scaled and moving in the world', () => {
  const asset = load(), group = new three.Group();
  group.add(scenes.rig(asset, {}));
  group.scale.setScalar(2.5);
  group.rotation.y = 1;
  const { flesh, apart } = compare(asset, group, { rates: [30, 144, 20, 60], move: (root, n) => root.position.set(0.02 * n, 1, 0.5) });
  assert.ok(apart < LIMIT, `${apart} m`);
  flesh.dispose();
  asset.destroy();
});

for (const how of ['morphs', 'positions']) {
  test(`a rig named as Mixamo's, two materials in two meshes, painted, with morphs of its own: by ${how}`, () => {
    const asset = load(), group = scenes.rig(asset, { prefix: 'mixamorig:', parts: 2, colors: true, ownMorph: true });
    const renamed = scenes.rename(runtime, file, 'mixamorig:'), own = [];
    group.traverse((object) => object.isSkinnedMesh && own.push(object));
    assert.equal(own.length, 2);
    own.forEach((mesh) => { mesh.morphTargetInfluences[0] = 0.25; });
    const before = own.map((mesh) => [mesh.geometry, mesh.material, mesh.visible]);
    assert.ok(renamed.joints.every(({ name }) => name.startsWith('mixamorig:')));
    const flesh = new jounce.Flesh(renamed, group, { path: how });
    assert.equal(flesh.path, how);
    assert.equal(flesh.meshes.length, 2, 'no mesh stays behind');
    flesh.update(1 / 30);
    flesh.meshes.forEach((mesh, i) => {
      assert.ok(mesh.geometry.getAttribute('color'), 'painted');
      assert.equal(mesh.material, before[i][1], 'its own material');
    });
    if (how === 'morphs') {
      own.forEach((mesh) => assert.deepEqual([mesh.morphTargetInfluences[0], mesh.morphTargetDictionary.smile], [0.25, 0], 'its own morphs stay'));
      assert.ok(own[0].morphTargetInfluences.length > 10);
    }
    flesh.dispose();
    own.forEach((mesh, i) => assert.deepEqual([mesh.geometry, mesh.material, mesh.visible], before[i], 'as it was before'));
    assert.equal(own[0].morphTargetInfluences.length, 1);
    renamed.destroy();
    asset.destroy();
  });
}

test('both ways show the same place', () => {
  const asset = load();
  for (const how of ['morphs', 'positions']) {
    const { flesh, apart } = compare(asset, scenes.rig(asset, { parts: 2 }), { path: how });
    assert.ok(apart < LIMIT, `${how}: ${apart} m`);
    flesh.dispose();
  }
  asset.destroy();
});

// The host's morphs, moved by hand, and the same weights in the runtime's pose.
const makeFaces = (n, pose) => (object) => {
  pose.targets.set([0.1 * n, 0.25 - 0.05 * n]);
  if (object.isSkinnedMesh) {
    ['smile', 'frown'].forEach((name, t) => { object.morphTargetInfluences[object.morphTargetDictionary[name]] = pose.targets[t]; });
  }
};

for (const [name, how] of [['face-modal', 'morphs'], ['face-modal', 'positions'], ['face-vertex', 'positions']]) {
  test(`morphs of the character's own stay the host's beside the flesh: ${name} by ${how}`, () => {
    const asset = load(name), root = scenes.rig(asset, { parts: 2 });
    assert.deepEqual(asset.targets.map((target) => [target.name, target.weight]), [['smile', 0], ['frown', 0.25]]);
    const { flesh, apart } = compare(asset, root, { path: how, move: (group, n, pose) => group.traverse(makeFaces(n, pose)) });
    assert.equal(flesh.path, how);
    assert.ok(apart < LIMIT, `${apart} m`);
    flesh.dispose();
    root.traverse((object) => object.isSkinnedMesh && assert.deepEqual(object.morphTargetInfluences.map((w) => Math.round(100 * w)), [110, -30], 'as the host left them'));
    asset.destroy();
  });
}

test('a mesh made from an asset has the morphs of its source, and a clip plays them', () => {
  const asset = load('face-modal'), mesh = jounce.makeSkinnedMesh(asset), group = new three.Group();
  group.add(mesh);
  scenes.setMap(mesh, Int32Array.from({ length: asset.fileVertexCount }, (_, i) => i));
  assert.deepEqual([mesh.morphTargetDictionary.smile, mesh.morphTargetDictionary.frown, mesh.morphTargetInfluences[1]], [0, 1, 0.25]);
  let most = 0;
  const { flesh, apart } = compare(asset, group, { meshes: [mesh.name], move: (root, n, pose) => {
    pose.targets.set(mesh.morphTargetInfluences.slice(0, 2));
    most = Math.max(most, pose.targets[0]);
  } });
  assert.ok(most > 0.2, `the clip moves the smile: ${most}`);
  assert.ok(apart < LIMIT, `${apart} m`);
  flesh.dispose();
  asset.destroy();
});

test('what is not linear in weights is shown by positions', () => {
  const asset = load('cnn-modal'), { flesh, apart } = compare(asset, scenes.rig(asset, {}));
  assert.equal(flesh.path, 'positions');
  assert.ok(apart < 1e-5, `${apart} m`);
  flesh.dispose();
  assert.throws(() => new jounce.Flesh(asset, scenes.rig(asset, {}), { path: 'morphs' }), /not linear/);
  asset.destroy();
});

test('a gap and a teleport are no motion', () => {
  const asset = load(), group = scenes.rig(asset, {}), flesh = new jounce.Flesh(asset, group), modes = () => flesh.character.weights.slice(asset.componentCount);
  const size = () => Math.max(...modes().map(Math.abs));
  for (let n = 0; n < 10; ++n) {
    group.position.y = 0.05 * (n % 2);
    flesh.update(1 / 30);
  }
  assert.ok(size() > 1e-2, 'shaken');
  group.position.set(40, 0, 0);
  flesh.update(5); // the page was hidden
  assert.ok(size() < 1e-6, `after a gap it starts anew: ${size()}`);
  group.position.set(0, 0, 0);
  flesh.teleport();
  flesh.update(1 / 30);
  assert.ok(size() < 1e-3, `a teleport is not felt: ${size()}`);
  group.position.set(1, 0, 0);
  flesh.update(1 / 30);
  assert.ok(size() > 1e-2, 'a jump is');
  flesh.update(0);
  flesh.update(Number.NaN);
  assert.ok(modes().every(Number.isFinite));
  flesh.dispose();
  asset.destroy();
});

test('a crowd of clones has the influences of one by one', () => {
  const asset = load(), first = new three.Group();
  first.add(jounce.makeSkinnedMesh(asset, { normals: false }));
  const groups = [0, 1, 2].map(() => scenes.clone(first)), crowd = new jounce.FleshCrowd(asset, groups);
  const alone = scenes.clone(first), flesh = new jounce.Flesh(asset, alone);
  const meshOf = (group) => { let found; group.traverse((object) => { found ??= object.isSkinnedMesh ? object : undefined; }); return found; };
  assert.equal(meshOf(groups[0]).geometry, meshOf(alone).geometry, 'the geometry is shared');
  for (let n = 0; n < 6; ++n) {
    [...groups, alone].forEach((group) => { meshOf(group).skeleton.bones[1].rotation.z = 0.1 * n; });
    crowd.update(1 / 30);
    flesh.update(1 / 30);
    assert.deepEqual(meshOf(groups[2]).morphTargetInfluences, meshOf(alone).morphTargetInfluences);
  }
  assert.ok(meshOf(alone).morphTargetInfluences.some((w) => Math.abs(w) > 1e-3));
  crowd.dispose();
  flesh.dispose();
  asset.destroy();
});

test('what does not fit is said', () => {
  const asset = load();
  assert.throws(() => new jounce.Flesh(asset, new three.Group()), /no bone/);
  const other = scenes.rig(asset, { shift: 0.3 });
  assert.throws(() => new jounce.Flesh(asset, other), /no mesh of the scene is the surface/);
  assert.throws(() => new jounce.FleshCrowd(asset, [scenes.rig(asset, {})]), /no morph targets/);
  asset.destroy();
});

test('a thousand characters made and disposed leave nothing behind', async () => {
  const asset = load(), group = scenes.rig(asset, {}), count = (object) => { let n = 0; object.traverse(() => { n += 1; }); return n; };
  const cycle = (how) => {
    const flesh = new jounce.Flesh(asset, group, { path: how });
    flesh.update(1 / 30);
    flesh.dispose();
  };
  // Buffers that were collected are freed a little later.
  const collect = async () => {
    for (let n = 0; n < 3; ++n) {
      globalThis.gc?.();
      await new Promise((resolve) => { setTimeout(resolve, 30); });
    }
  };
  ['morphs', 'positions'].forEach(cycle);
  await collect();
  const memory = runtime.memoryUsed, objects = count(group), heap = process.memoryUsage();
  for (let n = 0; n < 500; ++n) {
    cycle('morphs');
    cycle('positions');
  }
  assert.equal(runtime.memoryUsed, memory);
  assert.equal(count(group), objects);
  if (globalThis.gc) {
    await collect();
    const grown = process.memoryUsage();
    assert.ok(grown.heapUsed + grown.arrayBuffers < heap.heapUsed + heap.arrayBuffers + 4e6, `${(grown.heapUsed - heap.heapUsed) / 1e6} MB of the heap, ${(grown.arrayBuffers - heap.arrayBuffers) / 1e6} of buffers`);
  }
  asset.destroy();
});

test('drawn by Chromium: Mixamo\'s names, two materials, painted; both ways alike', { skip: !CHROMIUM && 'no chromium here' }, async () => {
  const outfile = path.join(folder, 'page.js'), browser = await launch(), problems = [];
  await build({ entryPoints: [path.join(web, 'test/three_page.mjs')], bundle: true, format: 'iife', outfile, logLevel: 'error' });
  try {
    const page = await browser.newPage({ viewport: { width: 300, height: 300 } });
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && !/GPU stall|swiftshader|GL Driver/i.test(message.text()) && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.setContent('<body></body>');
    await page.addScriptTag({ path: outfile });
    const drawn = process.env.CHARACTER ? fs.readFileSync(process.env.CHARACTER) : file;
    await page.evaluate(([text, size]) => window.start(text, size), [drawn.toString('base64'), process.env.SHOTS ? 480 : 220]);
    const show = async (kind, how) => {
      const seen = await page.evaluate(([a, b]) => window.show(a, b), [kind, how]);
      if (process.env.SHOTS) {
        fs.mkdirSync(process.env.SHOTS, { recursive: true });
        fs.writeFileSync(path.join(process.env.SHOTS, `three-${kind}-${how}.png`), Buffer.from(seen.image.split(',')[1], 'base64'));
      }
      return seen;
    };
    const apart = (a, b) => a.pixels.filter((value, i) => Math.abs(value - b.pixels[i]) > 24).length / (4 * a.covered);
    for (const kind of ['mixamo', 'two', 'painted']) {
      const morphs = await show(kind, 'morphs'), positions = await show(kind, 'positions'), skinned = await show(kind, 'skinned');
      assert.ok(morphs.covered > 3000, `${kind}: ${morphs.covered} pixels`);
      assert.ok(morphs.dark < 0.02 * morphs.covered && positions.dark < 0.02 * positions.covered, `${kind} is not black: ${morphs.dark}, ${positions.dark}`);
      assert.ok(apart(morphs, positions) < 0.05, `${kind}: ${apart(morphs, positions)} of the pixels differ between the two ways`);
      assert.ok(apart(morphs, skinned) > 2 * apart(morphs, positions), `${kind}: the flesh is seen: ${apart(morphs, skinned)}`);
      if (kind !== 'mixamo') {
        const other = kind === 'two' ? 'blue' : 'green';
        assert.ok(morphs.red > 500 && morphs[other] > 500 && positions.red > 500 && positions[other] > 500, `${kind}: both materials are seen`);
      }
    }
    const first = await page.evaluate(() => window.cycle(1)), later = await page.evaluate(() => window.cycle(6));
    assert.deepEqual(later, first, 'the renderer and the module hold no more after six than after one');
    assert.deepEqual(problems, []);
  } finally {
    await browser.close();
  }
});
