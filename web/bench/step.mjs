// What a step costs in WebAssembly, beside the native one on the same core's worth of time, in one run: rounds take turns,
// the smallest time counts.
//
//     JOUNCE=.../bin/jounce node web/bench/step.mjs [FILE.jounce]      default: the built-in figure
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadRuntime } from '../jounce/dist/index.js';
import { CHROMIUM, launch, serve } from '../test/browser.mjs';

const ROUNDS = 12, STEPS = 40, GOAL = 3;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'jounce-bench-'));
const jounce = (...words) => execFileSync(process.env.JOUNCE, words, { stdio: ['ignore', 'pipe', 'inherit'] }).toString();

let file = process.argv[2];
if (!file) {
  file = path.join(folder, 'figure.jounce');
  jounce('export', '--figure', '-o', file);
}

// The fastest step of the first clip with normals, in seconds, as `jounce info` takes it; `uneven`: h changes each time, as
// it does on a real screen.
function timeSteps(character, count, uneven) {
  let best = Infinity;
  for (let n = 0; n < count; ++n) {
    character.sampleClip(0, n / 60);
    const start = performance.now();
    character.step(1 / 60 + (uneven ? 1e-5 * (1 + (n % 7)) : 0));
    best = Math.min(best, performance.now() - start);
  }
  return best / 1000;
}

const wasm = fs.readFileSync(fileURLToPath(new URL('../jounce/dist/jounce.wasm', import.meta.url)));
const asset = (await loadRuntime(wasm)).loadAsset(fs.readFileSync(file));
const character = asset.createCharacter();

let browser, server, page;
if (CHROMIUM) {
  [browser, server] = await Promise.all([launch(), serve(file)]);
  page = await browser.newPage({ viewport: { width: 320, height: 240 }, deviceScaleFactor: 0.25 });
  await page.goto(server.address);
  await page.waitForFunction(() => window.viewer?.report().clock > 0);
  await page.evaluate(() => { window.requestAnimationFrame = () => 0; }); // the viewer stands still
}

const best = { native: Infinity, node: Infinity, uneven: Infinity, page: Infinity };
for (let round = 0; round < ROUNDS; ++round) {
  best.native = Math.min(best.native, JSON.parse(jounce('info', '--json', file)).stepMicroseconds / 1e6);
  best.node = Math.min(best.node, timeSteps(character, STEPS, false));
  best.uneven = Math.min(best.uneven, timeSteps(character, STEPS, true));
  if (page) {
    best.page = Math.min(best.page, await page.evaluate(`(${timeSteps})(window.viewer.player.actors[0].character, ${STEPS}, false)`));
  }
}

const row = (name, seconds) => console.log(`  ${name.padEnd(46)} ${(1e6 * seconds).toFixed(0).padStart(8)} us ${(seconds / best.native).toFixed(2).padStart(7)}x`);
console.log(`step with normals of '${asset.name}', ${asset.vertexCount} vertices, one core; jounce.wasm has ${wasm.length} bytes; goal ${GOAL}x`);
row('native, the widest vectors of this machine', best.native);
row('WebAssembly in node', best.node);
row('the same, h changes every step (native: not)', best.uneven);
if (page) {
  row('WebAssembly in Chromium, in the viewer', best.page);
}
await browser?.close();
await server?.stop();
fs.rmSync(folder, { recursive: true });
