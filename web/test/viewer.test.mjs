// The viewer in Chromium, served by `jounce view`: on the built-in figure, on a workspace with motion, on a file with a network
// and modes. But for the first test the page goes on only when it is told to, so that nothing waits for a slow machine.
//
//     JOUNCE=.../bin/jounce ASSETS=.../web_assets node --test web/test/viewer.test.mjs      SHOTS=DIR keeps pictures
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { advance, launch, open, picture, ready, report, serve, serveFolder, stopAll } from './browser.mjs';

const web = fileURLToPath(new URL('..', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'jounce-viewer-'));
const inFolder = (name) => path.join(folder, name);
const jounce = (...words) => execFileSync(process.env.JOUNCE, words, { stdio: ['ignore', 'ignore', 'inherit'] });

let browser, server, page, problems;

async function keep(name, on = page) {
  if (process.env.SHOTS) {
    fs.mkdirSync(process.env.SHOTS, { recursive: true });
    await on.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`) });
  }
}

before(async () => {
  jounce('export', '--figure', '--hertz', '3.4', '--ratio', '0.18', '--joint', 'Head', '16', '--joint', 'LeftArm', '6', '-o', inFolder('figure.jounce'));
  [browser, server] = await Promise.all([launch(), serve(inFolder('figure.jounce'))]);
  ({ page, problems } = await open(browser, server.address));
});

after(async () => {
  await browser?.close();
  stopAll();
  fs.rmSync(folder, { recursive: true });
});

/** Moves a slider as a hand does, by its place. */
async function slide(id, place, on = page) {
  await on.locator(`#${id}`).evaluate((input, value) => {
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

/** Looks at one thing after the other: all must look different. */
function gallery(on) {
  const seen = new Map();
  return async (name) => {
    const image = await picture(on) + await on.locator('#legend').textContent();
    for (const [other, before] of seen) {
      assert.ok(image !== before, `${name} looks like ${other}`);
    }
    seen.set(name, image);
    await keep(name, on);
  };
}

/** Clicks the middle of the body. */
async function clickBody(on) {
  const box = await on.locator('#view').boundingBox();
  await on.mouse.click(box.x + box.width / 2, box.y + box.height * 0.5);
  await on.locator('#curves .uplot').first().waitFor();
}

test('the viewer opens without an error, and the character moves', async () => {
  await ready(page);
  const first = await report(page);
  await page.waitForFunction((clock) => window.viewer.report().clock > clock + 0.1, first.clock);
  assert.notDeepEqual(first.positions, (await report(page)).positions);
  const later = await advance(page, 40);
  assert.ok(later.largestOffset > 1e-3, `the flesh is off its target by ${later.largestOffset} m`);
  assert.match(await page.title(), /figure/);
  await page.waitForFunction(() => { window.viewer.frame(0); return /\d ms step/.test(document.getElementById('stats').textContent); });
  assert.deepEqual(problems, []);
  await keep('open');
});

test('modes, comparisons and heat maps change the picture', async () => {
  const look = gallery(page);
  await page.evaluate(() => window.viewer.player.seek(0));
  assert.ok((await advance(page, 50)).largestOffset > 0.01);
  await page.keyboard.press('Space');
  assert.equal((await advance(page, 1)).settings.playing, false);
  await look('springs');
  await page.locator('input[name=mode][value=skinned]').check();
  await look('skinned');
  assert.ok(await page.locator('input[name=mode][value=target]').isDisabled(), 'a file without a network has no such mode');
  await page.keyboard.press('3');
  await page.locator('input[value=overlay]').check();
  await look('overlaid');
  await page.locator('input[value=side]').check();
  await look('side by side');
  assert.deepEqual(await page.locator('#names span').allTextContents(), ['Skinned', 'Springs']);
  await page.locator('input[value=none]').check();
  for (const heat of ['stiffness', 'damping', 'regime', 'offset', 'speed']) {
    await page.selectOption('#heat', heat);
    await look(heat);
    assert.ok(await page.locator('#legend').isVisible());
  }
  await page.selectOption('#heat', 'none');
  await advance(page, 1);
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
  await advance(page, 3);
  assert.match(await page.locator('#stats').textContent(), /of one/);
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
  assert.ok((await advance(page, 20)).largestOffset < 1e-4, 'it stands still');
  const box = await page.locator('#view').boundingBox(), x = box.x + box.width / 2, y = box.y + box.height * 0.5;
  await page.mouse.move(x, y);
  await page.mouse.down();
  let during;
  for (let n = 0; n < 4; ++n) {
    await page.mouse.move(x + (n % 2 ? 60 : -60), y + 10 * n);
    during = await advance(page, 5);
  }
  assert.ok(Math.hypot(...during.hand) > 0.02, `the hand is ${during.hand}`);
  assert.ok(during.largestOffset > 0.005, `offset ${during.largestOffset} m`);
  await keep('shake');
  await page.mouse.up();
  assert.equal((await report(page)).vertex, -1, 'a drag is no click');
  assert.ok((await advance(page, 12)).largestOffset > 2e-3, 'it goes on when it is let go');
  assert.ok((await advance(page, 240)).largestOffset < 5e-4, 'and dies out');
  await page.keyboard.press('s');
  assert.ok((await advance(page, 20)).largestOffset > 2e-3);
  await page.keyboard.press('p');
});

test('a click shows the curves of a vertex', async () => {
  await clickBody(page);
  const { vertex, samples } = await advance(page, 40);
  assert.ok(vertex >= 0 && samples >= 40);
  assert.deepEqual(await page.locator('#curves .u-legend .u-label').allTextContents(), ['Target', 'Springs', 'Offset from the target']);
  assert.match(await page.locator('#curves h2').textContent(), /Vertex [\d,]+3\.4 Hz, ratio 0\.18/);
  await slide('hertz', 1);
  assert.match(await page.locator('#curves h2').textContent(), /6\.8 Hz/, 'as it is tuned');
  await page.locator('input[name=axis][value="0"]').check();
  await keep('curves');
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('#curves').isHidden());
  assert.deepEqual(problems, []);
  await page.close();
});

test('a network and modes can be looked at and tuned', async () => {
  execFileSync(process.env.ASSETS, [folder]);
  const other = await serve(inFolder('cnn-modal.jounce')), view = await open(browser, other.address), on = view.page;
  await ready(on);
  assert.ok((await advance(on, 40)).largestOffset > 1e-3);
  const look = gallery(on);
  await look('both');
  for (const [key, name] of [['2', 'network'], ['1', 'skinned network']]) {
    await on.keyboard.press(key);
    await look(name);
  }
  await on.keyboard.press('2');
  await slide('network', 0.5, on);
  await look('half a network');
  const apart = () => on.evaluate(() => {
    const { player } = window.viewer, actor = player.actors[0], target = player.show(actor, 'target').positions.slice();
    return player.show(actor, 'skinned').positions.reduce((most, x, i) => Math.max(most, Math.abs(x - target[i])), 0);
  });
  assert.ok(await apart() > 1e-5);
  await slide('network', 0, on);
  await advance(on, 1);
  assert.ok(await apart() < 1e-6, 'without its network the target is the skinned surface');
  await on.locator('button', { hasText: 'Reset' }).click();
  await on.keyboard.press('3');

  const heats = await on.locator('#heat option').evaluateAll((options) => options.map((option) => option.value));
  assert.deepEqual(heats, ['none', 'stiffness', 'damping', 'regime', 'region', 'offset', 'speed', 'displacement']);
  for (const heat of ['stiffness', 'region', 'displacement']) {
    await on.selectOption('#heat', heat);
    await look(heat);
  }
  // The region's sliders act on its modes alone, and a reset takes them back.
  const felt = () => on.evaluate(() => {
    const modes = window.viewer.player.actors[0].character.readModes(1), at = modes.share.findIndex((share) => share > 0.99);
    const far = modes.share.findIndex((share, v) => share < 0.01 && modes.stiffness[v] > 0);
    return [modes.stiffness[at], modes.stiffness[far]];
  });
  const before = await felt();
  assert.match(await on.locator('#region option').first().textContent(), /^b · 2\.0–3\.4 Hz$/);
  await slide('region-hertz', 1, on);
  const after = await felt();
  assert.ok(Math.abs(after[0] / before[0] - 4) < 0.05 && Math.abs(after[1] / before[1] - 1) < 0.05);
  const swing = async () => {
    await on.evaluate(() => window.viewer.player.seek(0));
    return (await advance(on, 40)).positions;
  };
  const free = await swing();
  for (const region of await on.locator('#region option').evaluateAll((options) => options.map((option) => option.value))) {
    await on.selectOption('#region', region);
    await slide('region-gain', 0, on);
  }
  assert.deepEqual(await on.evaluate(() => Object.keys(window.viewer.settings.regions).length), 3);
  const still = await swing(), moved = Math.max(...free.map((x, i) => Math.abs(x - still[i])));
  assert.ok(moved > 1e-4, `modes that nothing drives leave the flesh ${moved} m from where they had it`);
  await on.locator('button', { hasText: 'Reset' }).click();
  assert.deepEqual(await felt(), before);
  await clickBody(on);
  assert.match(await on.locator('#curves h2').textContent(), /modes .* Hz/);
  await keep('modes', on);
  assert.deepEqual(view.problems, []);
  await on.close();
  assert.equal(await other.stop(), 0);
});

test('with a workspace the simulation is in the curves and beside the springs', async () => {
  // The simulation is a bake of the same springs, so that it must run where the springs do.
  jounce('bake', inFolder('figure.jounce'), '--clip', 'run', '-o', inFolder('run.npy'));
  jounce('new', inFolder('ws'), '--figure', '--layer', 'vertex', '--motion', `run=${inFolder('run.npy')}`);
  fs.copyFileSync(inFolder('figure.jounce'), inFolder('ws/character.jounce'));
  const other = await serve(inFolder('ws')), view = await open(browser, other.address), on = view.page;
  await ready(on);
  await on.selectOption('#clip', { label: 'run' });
  await clickBody(on);
  await on.waitForFunction(() => { window.viewer.frame(1 / 60); return window.viewer.report().simulation; });
  assert.ok((await on.locator('#curves .u-legend .u-label').allTextContents()).includes('Simulation'));
  await on.locator('input[value=side]').check();
  await on.selectOption('#against', 'simulation');
  await advance(on, 30, 1 / 30);
  // Frames come as they are asked for.
  await on.waitForFunction(() => { window.viewer.frame(0); return window.viewer.player.showSimulation(true); });
  const apart = await on.evaluate(() => {
    const { player, curves } = window.viewer, springs = player.actors[0].character.positions, { positions } = player.simulation;
    const sample = curves.samples.at(-1);
    return { whole: positions.reduce((most, x, i) => Math.max(most, Math.abs(x - springs[i])), 0), curve: Math.hypot(...sample.simulation.map((x, k) => x - sample.springs[k])) };
  });
  assert.ok(apart.whole < 0.03 && apart.curve < 0.03, JSON.stringify(apart));
  const look = gallery(on);
  await look('springs and simulation');
  assert.deepEqual(await on.locator('#names span').allTextContents(), ['Simulation', 'Springs']);
  await on.selectOption('#heat', 'error');
  await look('distance to the simulation');
  await on.locator('input[value=all]').check();
  await look('all of them');
  assert.deepEqual(await on.locator('#names span').allTextContents(), ['Skinned', 'Springs', 'Simulation']);
  await on.selectOption('#heat', 'none');
  await on.keyboard.press('Escape');
  await checkTimeline(on);
  await keep('all', on);
  await on.selectOption('#clip', { label: 'shadow-boxing' });
  await advance(on, 2);
  assert.deepEqual(await on.locator('#names span').allTextContents(), ['Skinned', 'Springs', 'Simulation: none here']);
  assert.ok(await on.locator('#errors').isHidden(), 'nothing to compare with, no timeline');
  assert.deepEqual(view.problems, []);
  await on.close();
  assert.equal(await other.stop(), 0, 'Ctrl-C ends it cleanly');
});

/** The timeline of a clip whose simulation is a bake of the same springs. */
async function checkTimeline(on) {
  await on.waitForFunction(() => { const { track } = window.viewer; track.advance(200); return track.done === track.frameCount && track.done > 10; });
  await advance(on, 1);
  const { springs, skinned, worst, rows } = await on.evaluate(() => {
    const { track } = window.viewer;
    return { springs: track.mean('springs'), skinned: track.mean('skinned'), worst: track.worst, rows: Array.from(track.rms.skinned) };
  });
  assert.ok(springs < 2e-4 && skinned > 20 * springs, `mean errors ${springs}, ${skinned} m`);
  assert.ok(rows.every(Number.isFinite) && worst >= 0);
  assert.match(await on.locator('#errors .words').textContent(), /^frame \d+: 0\.\d, farthest vertex .* clip: [\d.]+ \/ 0\.\d$/);
  // Press in the middle, then the button, then an arrow key.
  const box = await on.locator('#errors canvas').boundingBox();
  await on.mouse.click(box.x + box.width * 0.7, box.y + box.height * 0.8);
  const stands = () => on.evaluate(() => {
    const { viewer } = window, { player, timeline, asset } = viewer;
    viewer.frame(0);
    const truth = player.simulation.frame(player.settings.clip, timeline.frame), springs = player.actors[0].character.positions;
    let apart = 0;
    asset.weld.forEach((v, i) => { for (let k = 0; k < 3; ++k) { apart = Math.max(apart, Math.abs(springs[3 * i + k] - truth[3 * v + k])); } });
    return { frame: timeline.frame, playing: viewer.settings.playing, apart };
  });
  const middle = await stands();
  assert.ok(middle.frame > 5 && !middle.playing, JSON.stringify(middle));
  assert.ok(middle.apart < 2e-3, `as playing up to it leaves the flesh: ${middle.apart} m from the bake`);
  await on.locator('#errors button').click();
  assert.equal((await stands()).frame, worst);
  await on.locator('#errors canvas').focus();
  await on.keyboard.press('Home');
  await on.keyboard.press('ArrowRight');
  assert.equal((await stands()).frame, 1);
  // A link says where it stands and from where it is looked at.
  assert.match(await on.evaluate(() => window.viewer.placeLink), /#.*clip=run.*compare=all.*time=0\.033&view=(-?[\d.]+_){5}-?[\d.]+$/);
}

test('a page that is sent away has the simulation in it, packed', async () => {
  const site = inFolder('site'), said = execFileSync(process.env.JOUNCE, ['view', inFolder('ws'), '--export', site]).toString();
  const [, megabytes, rms, most] = /simulated motion of 1 clips: ([\d.]+) MB, ([\d.]+) mm rms from the simulation, at most ([\d.]+) mm/.exec(said);
  const file = fs.readdirSync(path.join(site, 'motion'));
  assert.equal(file.length, 1);
  const size = fs.statSync(path.join(site, 'motion', file[0])).size, raw = fs.statSync(inFolder('ws/clips/run/motion.npy')).size;
  assert.ok(Math.abs(size / 1e6 - Number(megabytes)) < 0.06 && size < 0.8 * raw && Number(rms) < 0.2, said);
  const other = await serveFolder(site), view = await open(browser, `${other.address}#clip=run&compare=all&time=0.5&view=0.50_1.20_5.00_0.00_0.90_0.00`), on = view.page;
  await on.waitForFunction(() => window.viewer?.player.showSimulation(true), null, { timeout: 30000 });
  const { frame, playing, camera, positions } = await on.evaluate(() => {
    const { viewer } = window;
    viewer.stop();
    viewer.frame(0);
    return { frame: viewer.timeline.frame, playing: viewer.settings.playing, camera: viewer.stage.view[2], positions: Array.from(viewer.player.simulation.frame(viewer.settings.clip, 15)) };
  });
  assert.deepEqual([frame, playing], [15, false]);
  assert.ok(Math.abs(camera - 5) < 0.5, `the camera is at ${camera}`);
  // The same frame in the file that was packed: numbers of the workspace.
  const bytes = fs.readFileSync(inFolder('ws/clips/run/motion.npy')), head = 10 + bytes.readUInt16LE(8), order = await on.evaluate(() => Array.from(window.viewer.asset.order ?? []));
  const truth = new Float32Array(bytes.buffer.slice(bytes.byteOffset + head)), count = positions.length / 3;
  let apart = 0;
  for (let v = 0; v < count; ++v) {
    const from = 3 * (15 * count + (order[v] ?? v));
    apart = Math.max(apart, Math.hypot(positions[3 * v] - truth[from], positions[3 * v + 1] - truth[from + 1], positions[3 * v + 2] - truth[from + 2]));
  }
  assert.ok(apart < 1e-3 * (Number(most) + 0.06), `${apart} m, and ${most} mm is what was printed`);
  await clickBody(on);
  await on.waitForFunction(() => { window.viewer.frame(1 / 60); return window.viewer.report().simulation; });
  assert.deepEqual(view.problems, []);
  await keep('sent', on);
  await on.close();
  await other.stop();
  // Without a budget there is none.
  assert.doesNotMatch(execFileSync(process.env.JOUNCE, ['view', inFolder('ws'), '--export', inFolder('bare'), '--budget', '0']).toString(), /simulated/);
  assert.ok(!fs.existsSync(inFolder('bare/motion')));
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
  await advance(phone, 2);
  check(await layout());
  const dark = await phone.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(dark, 'rgb(23, 25, 28)');
  const box = await phone.locator('#view').boundingBox();
  await phone.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
  await phone.locator('#curves .uplot').first().waitFor();
  assert.ok((await advance(phone, 30)).samples > 3);
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
  const dist = inFolder('example');
  fs.mkdirSync(dist);
  await build({ entryPoints: [path.join(web, 'example/src/main.ts')], bundle: true, format: 'esm', outfile: path.join(dist, 'main.js'), logLevel: 'error' });
  fs.copyFileSync(path.join(web, 'jounce/dist/jounce.wasm'), path.join(dist, 'jounce.wasm'));
  fs.writeFileSync(path.join(dist, 'index.html'), fs.readFileSync(path.join(web, 'example/index.html'), 'utf8').replace('./src/main.ts', './main.js').replace('<head>', '<head><link rel="icon" href="data:,">'));
  const other = await serve(inFolder('figure.jounce'), dist);
  const view = await open(browser, other.address, { viewport: { width: 400, height: 300 } });
  await view.page.waitForFunction(() => Number(document.body.dataset.frames) > 4, null, { timeout: 30000 });
  await keep('example', view.page);
  assert.deepEqual(view.problems, []);
  await view.page.close();
  assert.equal(await other.stop(), 0);
});
