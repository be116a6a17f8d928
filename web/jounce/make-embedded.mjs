// The compiled modules as text, for pages that cannot or need not fetch them: make-embedded.mjs SIMD.wasm SCALAR.wasm > embedded.ts
// Deflated and in base64: smaller than the modules themselves, and no second request.
import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';

const [simd, scalar] = process.argv.slice(2).map((file) => readFileSync(file));
console.log('// Made by make-embedded.mjs from jounce.wasm and jounce-scalar.wasm: length, and deflated bytes in base64.');
for (const [name, bytes] of Object.entries({ simd, scalar })) {
  const text = deflateRawSync(bytes, { level: 9 }).toString('base64');
  console.log(`export const ${name}: { readonly size: number; readonly text: string } = { size: ${bytes.length}, text: '${text}' };`);
}
