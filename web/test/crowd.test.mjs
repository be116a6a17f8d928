// The viewer as a static folder (`jounce view --export`), its crowd that the GPU draws from morph weights, links and films.
//
//     JOUNCE=.../bin/jounce ASSETS=.../web_assets node --test web/test/crowd.test.mjs      SHOTS=DIR keeps pictures
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { advance, launch, open, ready, serveFolder } from './browser.mjs';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'jounce-crowd-')), site = path.join(folder, 'a', 'page');
let browser, server, page, problems;

async function keep(name) {
  if (process.env.SHOTS) {
    fs.mkdirSync(process.env.SHOTS, { recursive: true });
    await page.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`) });
  }
}

before(async () => {
  execFileSync(process.env.ASSETS, [folder]);
  fs.mkdirSync(path.join(folder, 'a'));
  const said = execFileSync(process.env.JOUNCE, ['view', path.join(folder, 'pca-modal.jounce'), '--export', site]).toString();
  assert.match(said, /any web server/);
  server = await serveFolder(path.join(folder, 'a')); // below the root of the server, as a page often is
  browser = await launch();
  ({ page, problems } = await open(browser, `${server.address}page/#copies=3&hertz=1.5&gravity=2&mode=sideways&rate=abc`));
});
after(async () => {
  await browser?.close();
  await server?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

test('the folder works from any web server, and a link opens the view that it says', async () => {
  await ready(page);
  const { settings, copies } = await advance(page, 3);
  assert.deepEqual([copies, settings.hertz, settings.gravity, settings.mode, settings.rate], [3, 1.5, 2, 'springs', 0]);
  await page.locator('#copies').evaluate((input) => { input.value = '2'; input.dispatchEvent(new Event('input', { bubbles: true })); });
  assert.match(await page.evaluate(() => window.viewer.link), /page\/#hertz=1\.5&gravity=2&copies=2$/);
  assert.match(page.url(), /copies=2$/);
  assert.deepEqual(problems, []);
});

// Pixels of the picture with only the first copy, or only the one that the GPU makes from weights, both in one place and state.
const shape = (which, mode, start = 0) => page.evaluate(([one, how, from]) => {
  const { viewer } = window, { player, stage } = viewer;
  player.phaseOf = () => 0;
  viewer.stop();
  viewer.settings.mode = how;
  if (player.copies !== 2) {
    player.setCopies(2);
  }
  viewer.build();
  viewer.homes[0].copy(viewer.drawn[0].home);
  player.seek(from);
  for (let n = 0; n < 12; ++n) {
    viewer.frame(1 / 30, false);
  }
  // The first stands by the mean of its vertices, the other by its first joint: side by side would be apart by that.
  const { x, y, z } = viewer.drawn[0].main.mesh.position, [a, b, c] = viewer.crowd.copies.image.data;
  viewer.homes[0].set(viewer.homes[0].x + x - a, viewer.homes[0].y + y - b, viewer.homes[0].z + z - c);
  viewer.drawn[0].main.mesh.visible = one === 'first';
  viewer.crowd.mesh.visible = one !== 'first';
  stage.grid.visible = stage.shadow.visible = false;
  viewer.frame(0);
  const canvas = document.createElement('canvas'), context = canvas.getContext('2d');
  canvas.width = stage.canvas.width;
  canvas.height = stage.canvas.height;
  stage.render();
  context.drawImage(stage.canvas, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height), background = data.slice(0, 3);
  const covered = [];
  for (let i = 0; i < data.length; i += 4) {
    covered.push(Math.abs(data[i] - background[0]) + Math.abs(data[i + 1] - background[1]) + Math.abs(data[i + 2] - background[2]) > 24 ? 1 : 0);
  }
  viewer.drawn[0].main.mesh.visible = viewer.crowd.mesh.visible = stage.grid.visible = stage.shadow.visible = true;
  return { covered, place: viewer.drawn[0].main.mesh.position.toArray(), first: Array.from(viewer.crowd.copies.image.data.slice(0, 6)) };
}, [which, mode, start]);

test('what the GPU makes of weights covers what the runtime\'s positions cover', async () => {
  const shapes = {};
  for (const mode of ['springs', 'skinned']) {
    const first = await shape('first', mode), other = await shape('other', mode);
    await keep(`crowd-${mode}`);
    const count = first.covered.reduce((sum, x) => sum + x, 0), apart = first.covered.filter((x, i) => x !== other.covered[i]).length;
    assert.ok(count > 300, `${count} pixels are covered`);
    assert.ok(apart < 0.08 * count, `${mode}: ${apart} of ${count} pixels differ; ${JSON.stringify([first.place, other.first])}`);
    shapes[mode] = other.covered;
  }
  assert.ok(shapes.springs.some((x, i) => x !== shapes.skinned[i]), 'the flesh is seen');
  assert.deepEqual(problems, []);
});

test('a crowd of hundreds shows fewer targets far away, and the costs of steps and drawing are told apart', async () => {
  await page.evaluate(() => {
    window.viewer.settings.mode = 'springs';
    window.viewer.set('copies', 400);
  });
  const { copies, detail } = await advance(page, 17);
  assert.equal(copies, 400);
  assert.ok(detail > 0 && detail < 0.9, `${detail} of the targets`);
  const stats = await page.locator('#stats').textContent();
  assert.match(stats, /ms step of all.*ms draw.*% of the targets/);
  await keep('crowd');
  const script = await page.evaluate(() => {
    const start = performance.now();
    window.viewer.player.advance(1 / 60);
    return performance.now() - start;
  });
  assert.ok(script > 0);
  await page.evaluate(() => window.viewer.set('copies', 1));
  assert.equal((await advance(page, 2)).copies, 1);
  assert.deepEqual(problems, []);
});

test('a crowd plays the morph targets of the source', async () => {
  const other = path.join(folder, 'b'), before = page;
  execFileSync(process.env.JOUNCE, ['view', path.join(folder, 'face-modal.jounce'), '--export', other]);
  const place = await serveFolder(other);
  ({ page, problems } = await open(browser, `${place.address}#copies=2`));
  try {
    await ready(page);
    const first = await shape('first', 'skinned', 0.6), second = await shape('other', 'skinned', 0.6); // a second of the clip: a whole smile
    await keep('crowd-face');
    const count = first.covered.reduce((sum, x) => sum + x, 0), apart = first.covered.filter((x, i) => x !== second.covered[i]).length;
    assert.ok(count > 300 && apart < 0.04 * count, `${apart} of ${count} pixels differ`);
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
    await place.stop();
    page = before;
  }
});

test('a film of the clip is WebM', async () => {
  const head = await page.evaluate(async () => {
    Object.defineProperty(window.viewer.player, 'duration', { get: () => 0.6 });
    window.viewer.run();
    const blob = await window.viewer.record();
    window.viewer.stop();
    return [blob.size, ...new Uint8Array(await blob.arrayBuffer()).slice(0, 4)];
  });
  assert.ok(head[0] > 1000, `${head[0]} bytes`);
  assert.deepEqual(head.slice(1), [0x1a, 0x45, 0xdf, 0xa3]);
});
