// A report in Chromium, opened from disk: nothing is asked for, nothing is complained about, every figure is drawn.
//
//     REPORT=.../report.html node --test web/test/report.test.mjs      SHOTS=DIR keeps pictures
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { launch, open } from './browser.mjs';

const address = pathToFileURL(path.resolve(process.env.REPORT)).href;
const FIGURES = ['table-seen', 'table-unseen', 'still-0', 'still-1', 'sequence-0', 'curves-0', 'curves-1', 'robust-trajectories',
  'robust-numbers', 'prior', 'spring-parts', 'map-stiffness', 'map-damping', 'map-regime', 'mode-table', 'mode-shapes', 'network-errors', 'close-armpit', 'close-knee',
  'timings', 'versions', 'manifest'];

let browser, page, problems;

before(async () => {
  browser = await launch();
  ({ page, problems } = await open(browser, address, { deviceScaleFactor: 1, offline: true }));
});

after(() => browser?.close());

async function keep(name) {
  if (process.env.SHOTS) {
    fs.mkdirSync(process.env.SHOTS, { recursive: true });
    await page.screenshot({ path: path.join(process.env.SHOTS, `report-${name}.png`), fullPage: true });
  }
}

test('the report opens from disk without a network, an error or a request', async () => {
  await page.waitForLoadState('networkidle');
  assert.deepEqual(problems, []);
  assert.match(await page.title(), /Jounce report/);
  await keep('light');
});

test('every figure is there and not empty', async () => {
  const found = await page.evaluate((ids) => ids.map((id) => {
    const element = document.getElementById(id);
    const box = element?.getBoundingClientRect();
    return { id, width: box?.width ?? 0, height: box?.height ?? 0, text: element?.textContent.trim().length ?? 0 };
  }), FIGURES);
  for (const figure of found) {
    assert.ok(figure.width > 50 && figure.height > 15 && figure.text > 3, JSON.stringify(figure));
  }
  const anchors = await page.evaluate(() => [...document.querySelectorAll('nav a')].filter((a) => !document.querySelector(a.getAttribute('href'))).length);
  assert.equal(anchors, 0);
});

test('every picture shows more than one colour', async () => {
  const pictures = await page.evaluate(async () => {
    const all = [...document.images];
    await Promise.all(all.map((image) => image.decode()));
    return all.map((image) => {
      const canvas = document.createElement('canvas'), context = canvas.getContext('2d');
      canvas.width = image.naturalWidth;
      canvas.height = image.naturalHeight;
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const colors = new Set();
      for (let i = 0; i < data.length; i += 4) {
        colors.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      }
      return { alt: image.alt, colors: colors.size };
    });
  });
  assert.ok(pictures.length >= 20, `${pictures.length} pictures`);
  for (const picture of pictures) {
    assert.ok(picture.alt.length > 0 && picture.colors > 50, JSON.stringify(picture));
  }
});

test('every chart has lines inside its frame', async () => {
  const charts = await page.evaluate(() => [...document.querySelectorAll('svg')].map((svg) => {
    const frame = svg.querySelector('.f').getBBox();
    const inside = [...svg.querySelectorAll('polyline')].every((line) => {
      const box = line.getBBox();
      return box.x >= frame.x - 1 && box.y >= frame.y - 1 && box.x + box.width <= frame.x + frame.width + 1
        && box.y + box.height <= frame.y + frame.height + 1;
    });
    return { title: svg.getAttribute('aria-label'), lines: svg.querySelectorAll('polyline').length, inside };
  }));
  assert.ok(charts.length >= 12, `${charts.length} charts`);
  for (const chart of charts) {
    assert.ok(chart.lines > 0 && chart.inside, JSON.stringify(chart));
  }
});

test('400 pixels are enough, in the dark as well', async () => {
  await page.setViewportSize({ width: 400, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => { details.open = true; }));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 400, `the page is ${wide} pixels wide`);
  const [ink, paper] = await page.evaluate(() => {
    const style = getComputedStyle(document.body);
    return [style.color, style.backgroundColor].map((color) => color.match(/\d+/g).slice(0, 3).reduce((sum, x) => sum + +x, 0));
  });
  assert.ok(ink > 550 && paper < 120, `ink ${ink}, paper ${paper}`);
  await keep('dark-400');
  assert.deepEqual(problems, []);
});
