// The same without the module inside: for pages that fetch jounce.wasm themselves, 160 kB of JavaScript lighter.
import { loadFrom, type Runtime, type Source } from './runtime.js';

export * from './api.js';

/** Loads the library from jounce.wasm, or jounce-scalar.wasm where hasSimd() says no. */
export function loadRuntime(source: Source): Promise<Runtime> {
  return loadFrom(source);
}
