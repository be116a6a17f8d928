import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

// The licences of what the bundle holds travel with it.
function licences(packages: string[]): Plugin {
  return {
    name: 'licences',
    generateBundle() {
      const require = createRequire(import.meta.url);
      const texts = packages.map((name) => {
        const entry = require.resolve(name), folder = entry.slice(0, entry.lastIndexOf(join('node_modules', name))) + join('node_modules', name);
        return `${name} ${JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version}\n\n` +
          readFileSync(join(folder, 'LICENSE'), 'utf8').trim();
      });
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: texts.join('\n\n--------\n\n') + '\n' });
    },
  };
}

export default defineConfig({
  base: './',
  build: { target: 'es2022', assetsInlineLimit: 0, chunkSizeWarningLimit: 1500, modulePreload: false },
  plugins: [licences(['three', 'uplot'])],
});
