// Jounce in a web page or in node: load a `.jounce` file, make characters of it, step them with a pose, draw what comes out.
// The WebAssembly module is part of this file, so that no bundler, server or worker has to know of it.
import { scalar, simd } from './embedded.js';
import { inflate } from './inflate.js';
import { hasSimd, loadFrom, type Runtime, type Source } from './runtime.js';

export * from './api.js';

/** The bytes of jounce.wasm, or of jounce-scalar.wasm for machines without SIMD. */
export function wasmBytes(withSimd = hasSimd()): Uint8Array<ArrayBuffer> {
  const { size, text } = withSimd ? simd : scalar;
  return inflate(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)), size);
}

/** Loads the library: the module that this file carries, with SIMD where there is SIMD; or one from elsewhere. */
export function loadRuntime(source?: Source): Promise<Runtime> {
  return loadFrom(source ?? wasmBytes());
}
