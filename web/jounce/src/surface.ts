import { JounceError, Module, View } from './module.js';
import { SurfaceWord } from './words.js';

/** Results in the module's memory: positions, normals and velocities of the file vertices. */
export class Surface {
  private readonly views: View<Float32Array<ArrayBuffer>>[];
  /** Address inside the module; 0 once destroyed. */
  handle: number;

  constructor(private readonly module: Module, asset: number, fileVertexCount: number) {
    this.handle = module.exports.jnwCreateSurface(asset);
    if (this.handle === 0) {
      throw new JounceError('no memory for a surface');
    }
    const words = module.words(module.exports.jnwDescribeSurface(this.handle), SurfaceWord.end).slice();
    this.views = Array.from(words, (address) => new View(module, Float32Array<ArrayBuffer>, address, 3 * fileVertexCount));
  }

  /**
   * x, y, z in metres of every file vertex: a view, not a copy. Ask for it each time: memory that grows (another asset,
   * character or surface) leaves older views empty.
   */
  get positions(): Float32Array<ArrayBuffer> { return this.views[SurfaceWord.positions].array; }
  /** Unit vectors. */
  get normals(): Float32Array<ArrayBuffer> { return this.views[SurfaceWord.normals].array; }
  /** Metres a second; only what was stepped or evaluated with `velocities: true` writes them. */
  get velocities(): Float32Array<ArrayBuffer> { return this.views[SurfaceWord.velocities].array; }

  destroy(): void {
    if (this.handle !== 0) {
      this.module.exports.jnwDestroySurface(this.handle);
      this.handle = 0;
    }
  }
}
