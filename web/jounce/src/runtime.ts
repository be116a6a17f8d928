// The library once it is loaded, and how it is loaded from wherever its module lies.
import { Asset } from './asset.js';
import { JounceError, Module, type Exports } from './module.js';

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

// (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt)
const SIMD_PROBE = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];

/** Whether WebAssembly has SIMD here: jounce.wasm needs it, jounce-scalar.wasm does not. */
export function hasSimd(): boolean {
  return WebAssembly.validate(Uint8Array.from(SIMD_PROBE));
}

const MAGIC = 0x6d736100; // "\0asm"

async function bytesOf(source: Source): Promise<BufferSource> {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return source as BufferSource;
  }
  const response = await (typeof source === 'string' || source instanceof URL ? fetch(source) : (source as Response | Promise<Response>));
  if (!response.ok) {
    throw new JounceError(`${response.url}: cannot be loaded, status ${response.status}`);
  }
  const bytes = await response.arrayBuffer();
  if (bytes.byteLength < 8 || new DataView(bytes).getUint32(0, true) !== MAGIC) {
    throw new JounceError(`${response.url}: this is not jounce.wasm, but ${response.headers.get('content-type') ?? 'something else'}`);
  }
  return bytes;
}

/** Loads the library from a module of this package. */
export async function loadFrom(source: Source): Promise<Runtime> {
  const instance = source instanceof WebAssembly.Module
    ? await WebAssembly.instantiate(source, {}) : (await WebAssembly.instantiate(await bytesOf(source), {})).instance;
  const exports = instance.exports as unknown as Exports;
  exports._initialize();
  return new Runtime(new Module(exports));
}
