// The viewer in Chromium, on the demo's asset, served by `jounce view`.
//
//     JOUNCE=.../bin/jounce node --test web/test/viewer.test.mjs      SHOTS=DIR keeps pictures
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { frames, launch, open, picture, ready, report, serve } from './browser.mjs';

const web = fileURLToPath(new URL('..', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'jounce-viewer-'));
const jounce = (...words) => execFileSync(process.env.JOUNCE, words, { stdio: ['ignore', 'ignore', 'inherit'] });

let browser, server, page, problems;

async function keep(name, on = page) {
  if (process.env.SHOTS) {
    fs.mkdirSync(process.env.SHOTS, { recursive: true });
    await on.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`) });
  }
}

before(async () => {
  jounce('springs', 'draw', folder);
  [browser, server] = await Promise.all([launch(), serve(path.join(folder, 'figure.jounce'))]);
  ({ page, problems } = await open(browser, server.address));
});

after(async () => {
  await browser?.close();
  await server?.stop();
  fs.rmSync(folder, { recursive: true });
});

/** Moves a slider as a hand does, by its place. */
async function slide(id, place) {
  await page.locator(`#${id}`).evaluate((input, value) => {
    input.value = String(value);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, place);
}

/** Plays a second from the start of the clip in the page, frame by frame, and says what came of it. `heave`: metres that
 *  the whole body goes up and down. */
const play = (options = {}) => page.evaluate(({ heave = 0, screen = 60 }) => {
  const { player, asset } = window.viewer, target = asset.createSurface();
  player.seek(0);
  let steps = 0, worst = 0, sum = 0, shown = 0, low = 0;
  const before = player.onStep, clock = player.clock;
  player.onStep = () => { steps += 1; };
  for (let n = 0; n < screen; ++n) {
    player.root[1] = heave * Math.sin((n / screen) * 6 * Math.PI);
    player.advance(1 / screen);
    const { offsets } = player.actors[0].character.readState();
    for (let i = 0; i < offsets.length; i += 30) {
      const size = Math.hypot(offsets[i], offsets[i + 1], offsets[i + 2]);
      worst = Math.max(worst, size);
      sum += size;
      low += offsets[i + 1];
    }
  }
  const character = player.actors[0].character;
  character.evaluateTarget(1, { surface: target });
  const belly = Array.from(character.positions.slice(9000, 9300));
  character.positions.forEach((x, i) => { shown = Math.max(shown, Math.abs(x - target.positions[i])); });
  target.destroy();
  player.onStep = before;
  player.root[1] = 0;
  return { steps, worst, mean: sum, shown, low, clock: player.clock - clock, belly };
}, options);

const reset = () => page.locator('button', { hasText: 'Reset' }).click();

test('the viewer opens on the demo without an error, and the character moves', async () => {
  await ready(page);
  const first = await report(page);
  await page.waitForFunction((clock) => window.viewer.report().clock > clock + 0.1, first.clock);
  const second = await report(page);
  assert.notDeepEqual(first.positions, second.positions);
  assert.ok(second.largestOffset > 1e-3, `the flesh is off its target by ${second.largestOffset} m`);
  assert.match(await page.title(), /figure/);
  await page.waitForFunction(() => /\d ms step/.test(document.getElementById('stats').textContent.replace(/\s+/g, ' ')));
  assert.deepEqual(problems, []);
  await keep('open');
});

test('modes, comparisons and heat maps change the picture', async () => {
  await page.waitForFunction(() => window.viewer.report().largestOffset > 0.02);
  await page.keyboard.press('Space');
  assert.equal((await report(page)).settings.playing, false);
  const pictures = new Map();
  // The camera comes to rest first: a picture that stands does not change.
  const settled = async () => {
    let last = await picture(page);
    for (let n = 0; n < 40; ++n) {
      const next = await picture(page);
      if (next.equals(last)) {
        return next;
      }
      last = next;
    }
    return assert.fail('the picture does not come to rest');
  };
  const look = async (name) => {
    const bytes = await settled();
    for (const [other, seen] of pictures) {
      assert.ok(!bytes.equals(seen), `${name} looks like ${other}`);
    }
    pictures.set(name, bytes);
    await keep(name);
  };
  await look('springs');
  await page.locator('input[name=mode][value=skinned]').check();
  await look('skinned');
  assert.ok(await page.locator('input[name=mode][value=target]').isDisabled(), 'a file without a network has no such mode');
  await page.keyboard.press('3');
  await page.locator('input[value=overlay]').check();
  await look('overlaid');
  await page.locator('input[value=side]').check();
  await look('side by side');
  assert.deepEqual(await page.locator('#names span').allTextContents(), ['Springs', 'Skinned']);
  await page.locator('input[value=none]').check();
  for (const heat of ['stiffness', 'damping', 'regime', 'offset', 'speed']) {
    await page.selectOption('#heat', heat);
    await look(heat);
    assert.ok(await page.locator('#legend').isVisible());
  }
  await page.selectOption('#heat', 'none');
  await frames(page, 2);
  assert.ok(await page.locator('#legend').isHidden());
  await page.keyboard.press('Space');
});

test('every slider acts', async () => {
  await reset();
  const plain = await play();
  assert.ok(plain.worst > 0.01 && plain.steps === 60 && Math.abs(plain.clock - 1) < 1e-6);
  assert.deepEqual((await play()).belly, plain.belly, 'the same again');

  await slide('hertz', 2); // four times the frequency
  assert.ok((await play()).mean < plain.mean / 4);
  await reset();
  await slide('ratio', 4); // sixteen times the ratio: overdamped
  const damped = await play();
  assert.ok(damped.mean < plain.mean && damped.mean > 0);
  await reset();
  await slide('strength', 0);
  const weak = await play();
  assert.ok(weak.shown < 1e-5 && plain.shown > 1e-2 && Math.abs(weak.worst - plain.worst) < 1e-6);
  await reset();
  await slide('gravity', 20);
  assert.ok((await play()).low < plain.low - 1);
  await reset();
  const heaved = await play({ heave: 0.1 });
  await slide('inertia', 0);
  const inert = await play({ heave: 0.1 });
  assert.ok(inert.mean < heaved.mean / 2, `${inert.mean} with no inertia, ${heaved.mean} with it`);
  await reset();
  await slide('time-scale', 0);
  assert.equal((await play()).clock, 0);
  await slide('time-scale', 2);
  assert.ok(Math.abs((await play()).clock - 2) < 1e-6);
  await reset();
  await slide('copies', 3);
  assert.equal((await report(page)).copies, 3);
  await page.waitForFunction(() => document.getElementById('stats').textContent.includes('of one'));
  await keep('copies');
  await slide('copies', 1);
  assert.equal((await report(page)).copies, 1);
});

test('the motion does not depend on the frame rate', async () => {
  const at = async (hertz) => {
    await slide('rate', Math.log2(hertz));
    return play({ screen: 240 });
  };
  const [slow, fast] = [await at(60), await at(240)];
  assert.ok(slow.steps >= 59 && slow.steps <= 61 && fast.steps >= 238 && fast.steps <= 241, `${slow.steps}, ${fast.steps} steps`);
  assert.equal((await at(5)).steps, 5);
  // Both show the last moment, up to a step; the target is the clip's between its frames.
  const apart = slow.belly.reduce((most, x, i) => Math.max(most, Math.abs(x - fast.belly[i])), 0);
  assert.ok(apart < 0.012, `${apart} m between 60 and 240 Hz`);
  await page.locator('#screen-rate').check();
  assert.equal((await report(page)).settings.rate, 0);
});

test('a shake by hand makes offsets that die out', async () => {
  await reset();
  await page.keyboard.press('p');
  assert.equal((await report(page)).settings.hold, true);
  await page.evaluate(() => window.viewer.player.seek(0));
  await page.keyboard.press('f');
  await frames(page, 3);
  assert.ok((await report(page)).largestOffset < 1e-4, 'it stands still');
  const box = await page.locator('#view').boundingBox(), x = box.x + box.width / 2, y = box.y + box.height * 0.5;
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let n = 0; n < 6; ++n) {
    await page.mouse.move(x + (n % 2 ? 40 : -40), y + 10 * n, { steps: 2 });
    await frames(page, 1);
  }
  const during = await report(page);
  assert.ok(Math.hypot(...during.hand) > 0.02, `the hand is ${during.hand}`);
  assert.ok(during.largestOffset > 0.005, `offset ${during.largestOffset} m`);
  await keep('shake');
  await page.mouse.up();
  assert.equal((await report(page)).vertex, -1, 'a drag is no click');
  await page.waitForFunction(() => window.viewer.report().largestOffset < 5e-4, null, { timeout: 40000 });
  await page.keyboard.press('s');
  await page.waitForFunction(() => window.viewer.report().largestOffset > 2e-3);
  await page.keyboard.press('p');
});

test('a click shows the curves of a vertex', async () => {
  const box = await page.locator('#view').boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.locator('#curves .uplot').first().waitFor();
  assert.ok((await report(page)).vertex >= 0);
  await page.waitForFunction(() => window.viewer.report().samples > 5);
  assert.deepEqual(await page.locator('#curves .u-legend .u-label').allTextContents(), ['Target', 'Springs', 'Offset from the target']);
  await page.locator('input[name=axis][value="0"]').check();
  await keep('curves');
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('#curves').isHidden());
  assert.deepEqual(problems, []);
  await page.close(); // it would go on drawing
});

test('with a workspace the curves show the simulation', async () => {
  jounce('bake', path.join(folder, 'figure.jounce'), '--clip', 'run', '-o', path.join(folder, 'run.npy'));
  jounce('new', path.join(folder, 'ws'), '--figure', '--motion', `run=${path.join(folder, 'run.npy')}`);
  jounce('build', path.join(folder, 'ws'), '--until', 'modes');
  const other = await serve(path.join(folder, 'ws'));
  const view = await open(browser, other.address);
  await ready(view.page);
  await view.page.selectOption('#clip', { label: 'run' });
  const box = await view.page.locator('#view').boundingBox();
  await frames(view.page, 3);
  await view.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await view.page.waitForFunction(() => window.viewer.report().simulation && window.viewer.report().samples > 3);
  assert.ok((await view.page.locator('#curves .u-legend .u-label').allTextContents()).includes('Simulation'));
  // The motion was baked from the same character: in the asset's vertex it runs close to the target.
  const apart = await view.page.evaluate(() => {
    const sample = window.viewer.curves.samples.at(-1);
    return Math.hypot(...sample.simulation.map((x, k) => x - sample.target[k]));
  });
  assert.ok(apart < 0.15, `${apart} m`);
  await keep('simulation', view.page);
  assert.deepEqual(view.problems, []);
  await view.page.close();
  assert.equal(await other.stop(), 0, 'Ctrl-C ends it cleanly');
});

test('at 400 pixels, in the dark and by touch it holds', async () => {
  const { page: phone, problems: trouble } = await open(browser, server.address, { viewport: { width: 400, height: 780 }, colorScheme: 'dark', hasTouch: true, isMobile: true });
  await ready(phone);
  const layout = () => phone.evaluate(() => {
    const boxes = [...document.querySelectorAll('#panel *, #curves *, #stats *')].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect());
    const stage = document.getElementById('stage').getBoundingClientRect();
    return { width: document.documentElement.scrollWidth, right: Math.max(...boxes.map((box) => box.right)), left: Math.min(...boxes.map((box) => box.left)), stage: stage.height };
  });
  const check = ({ width, right, left, stage }) => assert.ok(width <= 400 && right <= 400 && left >= 0 && stage >= 200, JSON.stringify({ width, right, left, stage }));
  check(await layout());
  const dark = await phone.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(dark, 'rgb(23, 25, 28)');
  const box = await phone.locator('#view').boundingBox();
  await phone.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
  await phone.locator('#curves .uplot').first().waitFor();
  await phone.waitForFunction(() => window.viewer.report().samples > 3);
  check(await layout());
  await keep('phone', phone);
  await phone.locator('#copies').scrollIntoViewIfNeeded();
  assert.ok(await phone.locator('#copies').isVisible());
  await phone.locator('button[aria-label=Theme]').click();
  assert.notEqual(await phone.evaluate(() => getComputedStyle(document.body).backgroundColor), dark);
  assert.deepEqual(trouble, []);
  await phone.close();
});

test('a file that cannot be used is told in words', async () => {
  const context = await browser.newContext();
  const broken = await context.newPage();
  await broken.route('**/character.jounce', (route) => route.fulfill({ body: 'not a character' }));
  await broken.goto(server.address);
  await broken.locator('#message').waitFor();
  assert.ok((await broken.locator('#message').textContent()).length > 10);
  await context.close();
});

test('the example puts flesh on a three.js skeleton', async () => {
  const dist = path.join(folder, 'example');
  fs.mkdirSync(dist);
  await build({ entryPoints: [path.join(web, 'example/src/main.ts')], bundle: true, format: 'esm', outfile: path.join(dist, 'main.js'), logLevel: 'error' });
  fs.copyFileSync(path.join(web, 'jounce/dist/jounce.wasm'), path.join(dist, 'jounce.wasm'));
  fs.writeFileSync(path.join(dist, 'index.html'), fs.readFileSync(path.join(web, 'example/index.html'), 'utf8').replace('./src/main.ts', './main.js').replace('<head>', '<head><link rel="icon" href="data:,">'));
  const other = await serve(path.join(folder, 'figure.jounce'), dist);
  const view = await open(browser, other.address, { viewport: { width: 400, height: 300 } });
  await view.page.waitForFunction(() => Number(document.body.dataset.frames) > 4, null, { timeout: 30000 });
  await keep('example', view.page);
  assert.deepEqual(view.problems, []);
  await view.page.close();
  assert.equal(await other.stop(), 0);
});
