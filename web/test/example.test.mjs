// The example's skeleton gives the pose that the asset's own joints give.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const web = fileURLToPath(new URL('..', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'jounce-example-'));

test('flesh on a three.js skeleton is where the clip puts it', async (t) => {
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const entry = `export * from './flesh'; export * from './skeleton'; export { AnimationMixer } from 'three'; export { loadRuntime } from 'jounce';`;
  const outfile = path.join(folder, 'bundle.mjs');
  await build({ stdin: { contents: entry, resolveDir: path.join(web, 'example/src') }, bundle: true, format: 'esm', outfile, logLevel: 'error' });
  const { Flesh, makeClip, makeSkinnedMesh, AnimationMixer, loadRuntime } = await import(pathToFileURL(outfile).href);
  const file = path.join(folder, 'figure.jounce');
  execFileSync(process.env.JOUNCE, ['export', '--figure', '-o', file]);
  const runtime = await loadRuntime(fs.readFileSync(path.join(web, 'jounce/dist/jounce.wasm')));
  const asset = runtime.loadAsset(fs.readFileSync(file));
  const skinned = makeSkinnedMesh(asset), flesh = new Flesh(asset, skinned), mixer = new AnimationMixer(skinned);
  mixer.clipAction(makeClip(asset, 0)).play();
  skinned.position.set(3, 1, 2); // where the mesh stands does not matter to the flesh in it
  const direct = asset.createCharacter();
  let worst = 0, offset = 0;
  for (let n = 0; n < 30; ++n) {
    mixer.setTime(n / 30);
    flesh.update(1 / 30);
    direct.sampleClip(0, n / 30);
    direct.step(1 / 30);
    worst = direct.positions.reduce((most, x, i) => Math.max(most, Math.abs(x - flesh.character.positions[i])), worst);
    offset = direct.readState().offsets.reduce((most, x) => Math.max(most, Math.abs(x)), offset);
  }
  assert.ok(offset > 0.01, `it moves: ${offset} m`);
  assert.ok(worst < 2e-4, `${worst} m apart`);
  assert.equal(flesh.mesh.geometry.getAttribute('position').array, flesh.character.positions, 'no copy');
  flesh.dispose();
});
