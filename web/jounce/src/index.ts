// Jounce in a web page: load a `.jounce` file, make characters of it, step them with a pose, draw what comes out.
import { Asset } from './asset.js';
import { Module, JounceError, type Exports } from './module.js';

export { JounceError } from './module.js';
export { Asset, type Clip, type Joint, type Layer, type Mode, type NetworkKind, type Part } from './asset.js';
export { Character, Pose, type CharacterOptions, type Output, type StepOptions, type Teleport } from './character.js';
export { Surface } from './surface.js';

/** Bytes of jounce.wasm, a compiled module, an address to fetch it from, or a response that brings it. */
export type Source = BufferSource | WebAssembly.Module | string | URL | Response | Promise<Response>;

/** The library, loaded. One is enough for a page. */
export class Runtime {
  readonly version: string;

  constructor(private readonly module: Module) {
    this.version = module.text(module.exports.jnwVersion());
  }

  /** Checks a `.jounce` file and takes it over. Throws a JounceError with the reason if it cannot be used. */
  loadAsset(file: ArrayBuffer | Uint8Array): Asset {
    const bytes = file instanceof Uint8Array ? file : new Uint8Array(file);
    const address = this.module.exports.jnwAllocate(Math.max(bytes.byteLength, 1)) >>> 0;
    if (address === 0) {
      throw new JounceError(`no memory for an asset of ${bytes.byteLength} bytes`);
    }
    new Uint8Array(this.module.buffer).set(bytes, address);
    return new Asset(this.module, address, bytes.byteLength);
  }

  /** Bytes of memory that the library holds. */
  get memoryUsed(): number {
    return this.module.buffer.byteLength;
  }
}

async function instantiate(source: Source): Promise<WebAssembly.Instance> {
  if (source instanceof WebAssembly.Module) {
    return WebAssembly.instantiate(source, {});
  }
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return (await WebAssembly.instantiate(source as BufferSource, {})).instance;
  }
  const response = await (typeof source === 'string' || source instanceof URL ? fetch(source) : source);
  if (!response.ok) {
    throw new JounceError(`${response.url}: cannot be loaded, status ${response.status}`);
  }
  return (await WebAssembly.instantiate(await response.arrayBuffer(), {})).instance;
}

/** Loads the library. Without an argument from jounce.wasm beside this file, as bundlers lay it out. */
export async function loadRuntime(source?: Source): Promise<Runtime> {
  const instance = await instantiate(source ?? new URL('./jounce.wasm', import.meta.url));
  const exports = instance.exports as unknown as Exports;
  exports._initialize();
  return new Runtime(new Module(exports));
}
