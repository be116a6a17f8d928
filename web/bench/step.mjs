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
  await page.evaluate(() => window.viewer.stop());
}

// Steps of one length, and of changing length.
const best = { native: [Infinity, Infinity], node: [Infinity, Infinity], page: [Infinity, Infinity] };
const take = (who, times) => times.forEach((time, i) => { best[who][i] = Math.min(best[who][i], time); });
for (let round = 0; round < ROUNDS; ++round) {
  const { stepMicroseconds, unevenStepMicroseconds } = JSON.parse(jounce('info', '--json', file));
  take('native', [stepMicroseconds / 1e6, unevenStepMicroseconds / 1e6]);
  take('node', [false, true].map((uneven) => timeSteps(character, STEPS, uneven)));
  if (page) {
    take('page', await page.evaluate(`[false, true].map((uneven) => (${timeSteps})(window.viewer.player.actors[0].character, ${STEPS}, uneven))`));
  }
}

const row = (name, who) => {
  const cells = best[who].map((seconds, i) => `${(1e6 * seconds).toFixed(0).padStart(6)} us ${(seconds / best.native[i]).toFixed(2).padStart(5)}x`);
  console.log(`  ${name.padEnd(44)} ${cells.join('   ')}`);
};
const network = asset.network === 'none' ? 'no network' : `network ${asset.network}`;
console.log(`step with normals of '${asset.name}', ${asset.vertexCount} vertices, layer ${asset.layer}, ${asset.modes.length} modes, ${network}`);
console.log(`one core; jounce.wasm has ${wasm.length} bytes; goal ${GOAL}x; steps of one length, then of changing length`);
row('native, the widest vectors of this machine', 'native');
row('WebAssembly in node', 'node');
if (page) {
  row('WebAssembly in Chromium, in the viewer', 'page');
}
await browser?.close();
await server?.stop();
fs.rmSync(folder, { recursive: true });
