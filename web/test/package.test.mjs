// The package as somebody installs it: packed, put into fresh projects of every kind in a temporary folder, built by their own tools
// without configuration, run in node and in Chromium, and compared with the native build byte by byte.
//
//     ASSETS=.../web_assets REFERENCE=.../web_reference node --test web/test/package.test.mjs      ONLY=vite-8 one project
//
// The tools (bundlers, TypeScript, Babylon.js) come from npm's cache or registry; without either, their projects are skipped. They are
// installed once, into a folder above the projects, and stay there for the next run; the package is installed into each project anew.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CHROMIUM, launch, serveFolder } from './browser.mjs';
import { hashBytes } from './scenario.mjs';

const web = fileURLToPath(new URL('..', import.meta.url));
const TOOLS = {
  'vite-8': 'npm:vite@8.3.8', 'vite-7': 'npm:vite@7.3.8', webpack: '5.112.2', 'webpack-cli': '7.3.1', esbuild: '0.25.12', three: '0.187.0',
  typescript: '5.9.3', '@babylonjs/core': '9.31.0',
};
const NO_TOOLS = 'neither npm\'s cache nor its registry has the tools';
const AT_ONCE = 3; // projects
const shelf = path.join(web, '..', 'web-tools'); // outside of the workspaces of this folder
fs.mkdirSync(shelf, { recursive: true });
const folder = fs.mkdtempSync(path.join(shelf, 'try-'));
const run = promisify(execFile);
const npm = { ...process.env, npm_config_update_notifier: 'false', npm_config_loglevel: 'error', NO_COLOR: '1' };
const running = new Set();
let tarball, native, browser, hasTools;

const NPM_OPTIONS = ['--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=1', '--fetch-timeout=30000'];

async function npmInstall(cwd, ...more) {
  try {
    await run('npm', ['install', ...NPM_OPTIONS, ...more], { cwd, env: npm });
    return true;
  } catch (error) {
    if (/ENOTFOUND|EAI_AGAIN|ENOTCACHED|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EIDLETIMEOUT/.test(`${error.stderr}`)) {
      return false;
    }
    throw new Error(`npm install in ${cwd}: ${error.stderr}`);
  }
}

/** The tools of all projects in one folder; false where they cannot be had. */
async function installTools() {
  const about = JSON.stringify({ name: 'web-tools', private: true, devDependencies: TOOLS }), done = path.join(shelf, 'node_modules/.installed');
  if (!fs.existsSync(done) || fs.readFileSync(done, 'utf8') !== about) {
    fs.rmSync(path.join(shelf, 'package-lock.json'), { force: true });
    fs.writeFileSync(path.join(shelf, 'package.json'), about);
    if (!await npmInstall(shelf, '--legacy-peer-deps')) { // each is used alone
      return false;
    }
    fs.writeFileSync(done, about);
  }
  return true;
}

before(async () => {
  const tools = installTools();
  const out = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: path.join(web, 'jounce'), env: npm, stdio: ['ignore', 'pipe', 'ignore'] });
  tarball = path.join(folder, Object.values(JSON.parse(out))[0].filename);
  execFileSync(process.env.ASSETS, [folder]);
  execFileSync(process.env.REFERENCE, [path.join(folder, 'pca-modal.jounce'), path.join(folder, 'native.bin')]);
  native = hashBytes(fs.readFileSync(path.join(folder, 'native.bin')));
  browser = CHROMIUM ? await launch() : null;
  hasTools = await tools;
});

after(async () => {
  await browser?.close();
  running.forEach((child) => child.kill('SIGKILL'));
  fs.rmSync(folder, { recursive: true, force: true });
});

// What every project runs: the steps of scenario.mjs, in the page and in a worker, each giving the hash of all numbers.
const SOURCES = {
  'work.js': `import { loadRuntime } from 'jounce';
    import { hashOf } from './scenario.js';
    export async function work(file) {
      const runtime = await loadRuntime();
      return hashOf(runtime.loadAsset(file));
    }`,
  'main.js': `import { work } from './work.js';
    async function inWorker() {
      const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
      return new Promise((resolve, reject) => {
        worker.onmessage = (event) => resolve(event.data);
        worker.onerror = (event) => reject(new Error(event.message));
      });
    }
    async function run() {
      const file = await (await fetch('./tube.jounce')).arrayBuffer();
      return { page: await work(file), worker: await inWorker() };
    }
    run().then((result) => { window.result = result; }, (error) => { window.result = { error: String(error) }; });`,
  'worker.js': `import { work } from './work.js';
    fetch(new URL('/tube.jounce', self.location.href)).then((response) => response.arrayBuffer()).then(work).then((hash) => postMessage(hash));`,
};
const page = (script) => `<!doctype html><html><head><meta charset="utf-8"><title>-</title><link rel="icon" href="data:,"></head><body>${script}</body></html>`;

/** Makes a project with its files and installs the package into it. */
async function install(name, files) {
  const dir = path.join(folder, name);
  const write = (file, text) => {
    fs.mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    fs.writeFileSync(path.join(dir, file), text);
  };
  write('package.json', JSON.stringify({ name: `try-${name}`, private: true, type: 'module', dependencies: { jounce: `file:${tarball}` } }));
  Object.entries(files).forEach(([file, text]) => write(file, text));
  assert.ok(await npmInstall(dir), 'the package has no dependencies, and needs no registry');
  return dir;
}

const TOOL_FILES = { 'vite-7': 'vite-7/bin/vite.js', 'vite-8': 'vite-8/bin/vite.js' };
const toolPath = (name) => path.join(shelf, 'node_modules', TOOL_FILES[name] ?? `.bin/${name}`);
const tool = (dir, name, ...words) => run(toolPath(name), words, { cwd: dir, env: npm });
const node = async (dir, file) => (await run('node', [file], { cwd: dir })).stdout;
const scenario = () => fs.readFileSync(path.join(web, 'test/scenario.mjs'), 'utf8');
const asset = () => fs.readFileSync(path.join(folder, 'pca-modal.jounce'));

async function serveVite(dir, name) {
  const port = 20000 + ((2 * process.pid + Number(name.slice(-1) === '8')) % 20000);
  const child = spawn(toolPath(name), ['--host', '127.0.0.1', '--port', String(port)], { cwd: dir, env: npm });
  running.add(child);
  let said = '';
  const address = await new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => {
      said += data;
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(said);
      if (found) {
        resolve(found[0]);
      }
    });
    child.stderr.on('data', (data) => { said += data; });
    child.on('exit', () => reject(new Error(`vite ended: ${said}`)));
  });
  return { address, stop: async () => { child.removeAllListeners('exit'); child.kill('SIGTERM'); running.delete(child); } };
}

/** Opens a page and asks for its result: native numbers, and not a word of complaint. */
async function check({ address, stop }, expected = { page: native, worker: native }) {
  const tab = await browser.newPage(), problems = [];
  tab.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  tab.on('pageerror', (error) => problems.push(error.message));
  try {
    await tab.goto(address);
    await tab.waitForFunction(() => window.result, null, { timeout: 60000 }).catch(() => assert.fail(`no result: ${problems.join('; ')}`));
    assert.deepEqual(await tab.evaluate(() => window.result), expected);
    assert.deepEqual(problems, []);
  } finally {
    await tab.close();
    await stop();
  }
}

/** A test of one project, in node or in the browser. */
function project(name, title, needs, work) {
  test(title, { skip: process.env.ONLY && process.env.ONLY !== name }, async (t) => {
    if (needs.browser && !browser) {
      t.skip('no chromium here');
    } else if (needs.tools && !hasTools) {
      t.skip(NO_TOOLS);
    } else if (needs.node && process.versions.node.localeCompare(needs.node, undefined, { numeric: true }) < 0) {
      t.skip(`its tool needs node ${needs.node}, this is ${process.versions.node}`);
    } else {
      await work(t);
    }
  });
}

// It says what it is, and its README leads nowhere else.
function checkAbout(dir) {
  const about = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
  assert.match(fs.readFileSync(path.join(dir, 'LICENSE'), 'utf8'), /MIT License/);
  assert.ok(about.keywords.length > 5 && about.license === 'MIT' && about.sideEffects === false && about.description && about.engines.node);
  assert.doesNotMatch(JSON.stringify(about), /example\.(org|com|net)/, 'no address that is nobody\'s');
  for (const entry of Object.values(about.exports)) {
    for (const file of typeof entry === 'string' ? [entry] : Object.values(entry)) {
      assert.ok(fs.existsSync(path.join(dir, file)), `${file} is in the package`);
    }
  }
  const links = [...fs.readFileSync(path.join(dir, 'README.md'), 'utf8').matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1]);
  assert.deepEqual(links.filter((link) => !/^(https:|#)/.test(link) && !fs.existsSync(path.join(dir, link))), []);
}

// The README's examples for node, and what they print; the one for three.js is run by glb.test.mjs.
async function runExamples(dir) {
  const text = fs.readFileSync(path.join(dir, 'node_modules/jounce/README.md'), 'utf8');
  fs.writeFileSync(path.join(dir, 'hero.jounce'), asset());
  const examples = [...text.matchAll(/```js\n([\s\S]*?)```\n(?:\n```text\n([\s\S]*?)```)?/g)].filter(([, code]) => code.includes('node:fs'));
  assert.ok(examples.length >= 3);
  await Promise.all(examples.map(async ([, code, said], i) => {
    fs.writeFileSync(path.join(dir, `example${i}.js`), code);
    assert.equal(await node(dir, `example${i}.js`), said ?? '', code);
  }));
}

describe('installed into a fresh project', { concurrency: AT_ONCE }, () => {
  project('node', 'node: an ES module imports it, with SIMD and without; it says what it is, and the examples of its README print what that says', {}, async () => {
    const dir = await install('node', {
      'scenario.js': scenario(),
      'main.js': `import { loadRuntime, wasmBytes } from 'jounce';
        import * as inline from 'jounce/inline';
        import * as lean from 'jounce/lean';
        import { readFileSync } from 'node:fs';
        import { createRequire } from 'node:module';
        import { hashOf } from './scenario.js';
        const file = readFileSync('tube.jounce'), require = createRequire(import.meta.url);
        const runtimes = [await loadRuntime(), await loadRuntime(wasmBytes(false)), await inline.loadRuntime(),
          await lean.loadRuntime(readFileSync(require.resolve('jounce/jounce.wasm')))];
        console.log(JSON.stringify(runtimes.map((runtime) => hashOf(runtime.loadAsset(file)))));`,
    });
    fs.writeFileSync(path.join(dir, 'tube.jounce'), asset());
    assert.deepEqual(JSON.parse(await node(dir, 'main.js')), [native, native, native, native]);
    checkAbout(path.join(dir, 'node_modules/jounce'));
    await runExamples(dir);
  });

  project('typescript', 'TypeScript, strict, with the library\'s own types checked', { tools: true }, async () => {
    const dir = await install('typescript', {
      'main.ts': `import { loadRuntime, JounceError, type Asset, type Character } from 'jounce';
        import { loadRuntime as lean } from 'jounce/lean';
        declare const console: { log(text: string): void };
        async function run(file: ArrayBuffer): Promise<Float32Array> {
          const asset: Asset = (await loadRuntime()).loadAsset(file), hero: Character = asset.createCharacter();
          hero.sampleClip(0, 0.1);
          hero.step(1 / 60, { teleport: 'none' });
          // @ts-expect-error: no such way to teleport
          hero.step(1 / 60, { teleport: 'sideways' });
          return hero.positions;
        }
        run(new ArrayBuffer(8)).catch((error: unknown) => console.log(error instanceof JounceError ? 'refused' : String(error)));
        void lean;`,
      'tsconfig.json': JSON.stringify({ compilerOptions: { strict: true, target: 'ES2022', module: 'nodenext', moduleResolution: 'nodenext', lib: ['ES2022', 'DOM'], types: [], skipLibCheck: false, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, isolatedModules: true } }),
    });
    await tool(dir, 'tsc', '-p', '.').catch((error) => assert.fail(`${error.stdout}`));
    assert.equal((await node(dir, 'main.js')).trim(), 'refused');
  });

  project('babylon', 'Babylon.js without a screen: the targets of a mesh get the weights', { tools: true }, async () => {
    const dir = await install('babylon', {
      'main.js': `import { readFileSync } from 'node:fs';
        import { Mesh, MorphTarget, MorphTargetManager, NullEngine, Quaternion, Scene, Skeleton, Bone, TransformNode, Vector3, Matrix } from '@babylonjs/core';
        import { loadRuntime } from 'jounce';
        import { Flesh } from 'jounce/babylon';
        const asset = (await loadRuntime()).loadAsset(readFileSync('tube.jounce')), scene = new Scene(new NullEngine());
        const root = new TransformNode('__root__', scene), mesh = new Mesh('body', scene), skeleton = new Skeleton('rig', 'rig', scene);
        root.scaling = new Vector3(1, 1, -1); // as the glTF loader does
        root.position.x = 3;
        const nodes = asset.joints.map(({ name }) => new TransformNode(name, scene));
        const bones = [];
        asset.joints.forEach(({ name, parent }, j) => {
          nodes[j].parent = parent < 0 ? root : nodes[parent];
          bones.push(new Bone(name, skeleton, parent < 0 ? null : bones[parent], Matrix.Identity()));
          bones[j].linkTransformNode(nodes[j]);
        });
        const names = [...Array.from({ length: asset.componentCount }, (_, i) => 'jounce.pose.' + String(i).padStart(3, '0')),
          ...asset.modes.map((_, i) => 'jounce.mode.' + String(i).padStart(3, '0'))];
        mesh.skeleton = skeleton;
        mesh.morphTargetManager = new MorphTargetManager(scene);
        ['smile', ...names].forEach((name) => mesh.morphTargetManager.addTarget(new MorphTarget(name, name === 'smile' ? 0.25 : 0, scene)));
        const flesh = new Flesh(asset, [mesh]), direct = asset.createCharacter({ weightsOnly: true });
        let apart = 0, most = 0;
        for (let n = 0; n < 12; ++n) {
          direct.sampleClip(0, n / 30);
          const { rotations, translations, scales } = direct.pose;
          nodes.forEach((node, j) => {
            node.rotationQuaternion = Quaternion.FromArray(rotations, 4 * j);
            node.position = Vector3.FromArray(translations, 3 * j);
            node.scaling = Vector3.FromArray(scales, 3 * j);
          });
          flesh.update(1 / 30);
          direct.step(1 / 30, { teleport: n === 0 ? 'reset' : 'none' });
          names.forEach((_, w) => {
            apart = Math.max(apart, Math.abs(mesh.morphTargetManager.getTarget(w + 1).influence - direct.weights[w]));
            most = Math.max(most, Math.abs(direct.weights[asset.componentCount]));
          });
        }
        console.log(JSON.stringify({ alike: apart < 1e-3, moves: most > 1e-3, own: mesh.morphTargetManager.getTarget(0).influence, apart }));`,
    });
    fs.writeFileSync(path.join(dir, 'tube.jounce'), asset());
    const { alike, moves, own, apart } = JSON.parse((await node(dir, 'main.js')).trim().split('\n').at(-1));
    assert.deepEqual([alike, moves, own], [true, true, 0.25], `${apart} apart`);
  });

  project('static', 'a static folder: <script type="module">, no tools at all', { browser: true }, async () => {
    const dir = await install('static', {});
    const site = path.join(dir, 'site');
    fs.cpSync(path.join(dir, 'node_modules/jounce/dist'), path.join(site, 'jounce'), { recursive: true });
    for (const [file, text] of Object.entries({ ...SOURCES, 'scenario.js': scenario() })) {
      fs.writeFileSync(path.join(site, file), text.replace('\'jounce\'', '\'./jounce/index.js\''));
    }
    fs.writeFileSync(path.join(site, 'index.html'), page('<script type="module" src="./main.js"></script>'));
    fs.writeFileSync(path.join(site, 'tube.jounce'), asset());
    await check(await serveFolder(site));
  });

  project('esbuild', 'esbuild: a bundle with three.js, page and worker', { browser: true, tools: true }, async () => {
    const withThree = SOURCES['work.js'].replace('import { hashOf }', 'import { Flesh, makeSkinnedMesh } from \'jounce/three\';\nimport { hashOf }')
      .replace('return hashOf', 'const hero = makeSkinnedMesh(runtime.loadAsset(file));\nnew Flesh(runtime.loadAsset(file), hero).update(1 / 60);\nreturn hashOf');
    const dir = await install('esbuild', { ...SOURCES, 'work.js': withThree, 'scenario.js': scenario(), 'site/index.html': page('<script type="module" src="./main.js"></script>') });
    fs.writeFileSync(path.join(dir, 'site/tube.jounce'), asset());
    await tool(dir, 'esbuild', 'main.js', 'worker.js', '--bundle', '--format=esm', '--outdir=site');
    await check(await serveFolder(path.join(dir, 'site')));
  });

  project('webpack', 'webpack 5: a build, page and worker', { browser: true, tools: true }, async () => {
    const files = Object.fromEntries(Object.entries({ ...SOURCES, 'scenario.js': scenario() }).map(([file, text]) => [`src/${file}`, text]));
    const dir = await install('webpack', { ...files, 'dist/index.html': page('<script defer src="./main.js"></script>') });
    fs.writeFileSync(path.join(dir, 'dist/tube.jounce'), asset());
    await tool(dir, 'webpack', '--mode', 'production', '--entry', './src/main.js');
    await check(await serveFolder(path.join(dir, 'dist')));
  });

  for (const version of ['vite-8', 'vite-7']) {
    project(version, `${version.replace('-', ' ')}: its server and its build, page and worker`, { browser: true, tools: true, node: '20.19.0' }, async () => {
      const dir = await install(version, { ...SOURCES, 'scenario.js': scenario(), 'index.html': page('<script type="module" src="./main.js"></script>') });
      fs.mkdirSync(path.join(dir, 'public'));
      fs.writeFileSync(path.join(dir, 'public/tube.jounce'), asset());
      await check(await serveVite(dir, version));
      await tool(dir, version, 'build');
      await check(await serveFolder(path.join(dir, 'dist')));
    });
  }
});
