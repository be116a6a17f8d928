// Morph weights in a page: what a step of them costs beside the native one, what a frame of a hundred copies costs in script with
// positions and with weights, and how far three.js' own morphs and skin are from the runtime's positions.
//
//     JOUNCE=.../bin/jounce node web/bench/crowd.mjs FILE.jounce [COPIES]      a file whose layer is `modal`
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { CHROMIUM, launch } from '../test/browser.mjs';

const ROUNDS = 6, GOAL = 3;
const [file, copies = '100'] = process.argv.slice(2);
const web = fileURLToPath(new URL('..', import.meta.url)), folder = fs.mkdtempSync(path.join(os.tmpdir(), 'jounce-bench-'));
const bundle = path.join(folder, 'crowd.mjs');
await build({ entryPoints: [path.join(web, 'bench/crowd_page.ts')], bundle: true, format: 'esm', outfile: bundle, logLevel: 'error' });
const bytes = fs.readFileSync(file);
const native = () => JSON.parse(execFileSync(process.env.JOUNCE, ['info', '--json', file]).toString());

const here = await (await import(pathToFileURL(bundle).href)).open(bytes);
let page = null, browser = null;
if (CHROMIUM) {
  browser = await launch();
  page = await browser.newPage();
  await page.setContent('<body></body>');
  await page.addScriptTag({ content: fs.readFileSync(bundle, 'utf8').replace(/export \{\s*open\s*\};?/, 'window.openBench = open;'), type: 'module' });
  await page.waitForFunction(() => window.openBench);
  await page.evaluate(async (text) => { window.bench = await window.openBench(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))); }, bytes.toString('base64'));
}

const best = { native: Infinity, node: Infinity, page: Infinity }, frames = { positions: Infinity, weights: Infinity };
for (let round = 0; round < ROUNDS; ++round) {
  best.native = Math.min(best.native, native().weightsMicroseconds);
  best.node = Math.min(best.node, 1e6 * here.timeWeights(12));
  if (page) {
    best.page = Math.min(best.page, 1e6 * await page.evaluate(() => window.bench.timeWeights(12)));
  }
}
for (const how of ['positions', 'weights']) {
  frames[how] = 1e3 * (page ? await page.evaluate(([a, b]) => window.bench.timeFrame(a, b, 12), [how, Number(copies)]) : here.timeFrame(how, Number(copies), 12));
}
const apart = here.compare(6);

const about = native(), where = page ? 'Chromium' : 'node';
console.log(`'${about.name}', ${about.vertices} vertices, ${about.componentCount} + ${about.modeCount} weights; one core, the smallest of ${ROUNDS} rounds`);
const row = (what, value, unit, ratio) => console.log(`  ${what.padEnd(58)} ${value.toPrecision(3).padStart(8)} ${unit}${ratio ? `  ${ratio}` : ''}`);
row('step, weights alone, native', best.native, 'us');
row('  WebAssembly in node', best.node, 'us', `${(best.node / best.native).toFixed(2)} times native, goal ${GOAL}`);
if (page) {
  row('  WebAssembly in Chromium', best.page, 'us', `${(best.page / best.native).toFixed(2)} times native, goal ${GOAL}`);
}
row(`${copies} copies, script of a frame in ${where}, positions and normals`, frames.positions, 'ms');
row('  weights, matrices and the texture that is uploaded', frames.weights, 'ms', `${(frames.positions / frames.weights).toFixed(0)} times less`);
row('three.js\' own morphs and skin, farthest from the runtime', 1e3 * apart, 'mm', 'goal 0.1');
await browser?.close();
fs.rmSync(folder, { recursive: true });
