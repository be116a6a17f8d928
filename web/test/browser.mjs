// Debian's Chromium with a page of `jounce view` in it. Nothing is downloaded; a request to another machine is an error.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { chromium } from 'playwright-core';

export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => fs.existsSync(path));

const served = new Set();

/** Ends what a test that failed has left running. */
export function stopAll() {
  served.forEach((child) => child.kill('SIGKILL'));
}

/** Serves a workspace or a file; resolves with its address. verb: view, or studio, whose address has its token. */
export async function serve(what, viewer, verb = 'view') {
  const child = spawn(process.env.JOUNCE, [verb, what, '--port', '0', '--no-open', ...(viewer ? ['--viewer', viewer] : [])]);
  served.add(child);
  child.on('close', () => served.delete(child));
  let said = '';
  const address = await new Promise((resolve, reject) => {
    child.stderr.on('data', (data) => { said += data; });
    child.stdout.on('data', (data) => {
      said += data;
      const found = /http:\/\/127\.0\.0\.1:\d+\/\S*/.exec(said);
      if (found) {
        resolve(found[0]);
      }
    });
    child.on('exit', () => reject(new Error(`jounce ${verb} ended: ${said}`)));
  });
  const stop = () => new Promise((resolve) => {
    child.removeAllListeners('exit');
    child.on('exit', (code, signal) => resolve(code ?? signal));
    child.kill('SIGINT');
  });
  return { address, stop };
}

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml', '.wasm': 'application/wasm' };

/** Any web server: files of a folder, nothing more. */
export async function serveFolder(dir) {
  const server = http.createServer((request, response) => {
    const file = path.join(dir, new URL(request.url, 'http://x').pathname.replace(/\/$/, '/index.html'));
    if (!file.startsWith(dir) || !fs.existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream' }).end(fs.readFileSync(file));
  });
  server.unref(); // a test that failed does not wait for it
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, stop: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }) };
}

export function launch() {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-sandbox', '--disable-dev-shm-usage'],
  });
}

// Software draws every pixel: few of them, unless somebody wants to look.
const scale = process.env.SHOTS ? 1 : 0.4;

/** A page whose errors and strange requests are collected. */
export async function open(browser, address, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1000, height: 600 }, deviceScaleFactor: scale, colorScheme: 'light', ...options });
  const problems = [];
  page.on('console', (message) => {
    // The software renderer of a machine without a screen talks about its own speed.
    if (['error', 'warning'].includes(message.type()) && !/GPU stall|swiftshader|GL Driver Message/i.test(message.text())) {
      problems.push(`console: ${message.text()}`);
    }
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('requestfailed', (request) => problems.push(`failed: ${request.url()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(address.replace(/[?#].*/, '')) && !/^(data|blob):/.test(request.url())) {
      problems.push(`request to ${request.url()}`);
    }
  });
  await page.goto(address);
  return { page, problems };
}

/** Waits until the viewer runs. */
export async function ready(page) {
  await page.waitForFunction(() => window.viewer?.report().clock > 0.05, null, { timeout: 30000 });
}

export const report = (page) => page.evaluate(() => window.viewer.report());

/**
 * Goes on by so many frames of the screen at once: the page's own loop is stopped, so that neither the speed of the machine
 * nor of its drawing matters. Draws the last one and returns what the page reports.
 */
export function advance(page, count, seconds = 1 / 60) {
  return page.evaluate(([frames, h]) => {
    const { viewer } = window;
    viewer.stop();
    for (let n = 1; n < frames; ++n) {
      viewer.frame(h, false);
    }
    viewer.frame(h);
    return viewer.report();
  }, [count, seconds]);
}

/** The picture as it is drawn now, once the camera has come to rest, as text to compare. Nothing moves meanwhile. */
export function picture(page) {
  return page.evaluate(() => {
    const { viewer } = window, scale = viewer.settings.timeScale;
    viewer.stop();
    viewer.settings.timeScale = 0;
    for (let n = 0; n < 8; ++n) {
      viewer.frame(0.5, false);
    }
    viewer.frame(0);
    viewer.settings.timeScale = scale;
    return viewer.stage.canvas.toDataURL();
  });
}
