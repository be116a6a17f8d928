import type { Asset } from './asset.js';
import { teleportNumber, type Character, type CharacterOptions, type Teleport } from './character.js';
import { JounceError, Module, View } from './module.js';
import { CrowdWord } from './words.js';

/**
 * Characters of one asset that are stepped at once: the network's layers and the modes' products for all of them together. The
 * weights are those of one by one, byte for byte, and lie side by side, ready to be uploaded in one piece.
 */
export class Crowd {
  /** Write their poses, tune them, give them impulses; the crowd steps them. */
  readonly characters: readonly Character[];
  private readonly members: View<Uint32Array<ArrayBuffer>>;
  private readonly secondsView: View<Float32Array<ArrayBuffer>>;
  private readonly teleports: View<Uint32Array<ArrayBuffer>>;
  private readonly weightView: View<Float32Array<ArrayBuffer>>;
  private readonly times: View<Float64Array<ArrayBuffer>>;
  private readonly matrixView: View<Float32Array<ArrayBuffer>>;
  private handle: number;

  /** Use Asset.createCrowd. */
  constructor(private readonly module: Module, readonly asset: Asset, assetHandle: number, count: number, options: CharacterOptions) {
    if (!Number.isInteger(count) || count < 1 || asset.weightCount === 0) {
      throw new JounceError(asset.weightCount === 0
        ? `the asset '${asset.name}' has no morph weights: step its characters one by one` : `a crowd has at least one character, not ${count}`);
    }
    const characters: Character[] = [];
    this.handle = module.exports.jnwCreateCrowd(assetHandle, count);
    try {
      if (this.handle === 0) {
        throw new JounceError(`no memory for a crowd of ${count}`);
      }
      for (let i = 0; i < count; ++i) {
        characters.push(asset.createCharacter({ weightsOnly: true, ...options }));
      }
    } catch (error) {
      characters.forEach((character) => character.destroy());
      module.exports.jnwDestroyCrowd(this.handle);
      throw error;
    }
    const words = module.words(module.exports.jnwDescribeCrowd(this.handle), CrowdWord.end).slice();
    this.characters = characters;
    this.members = new View(module, Uint32Array<ArrayBuffer>, words[CrowdWord.members], count);
    this.secondsView = new View(module, Float32Array<ArrayBuffer>, words[CrowdWord.seconds], count);
    this.teleports = new View(module, Uint32Array<ArrayBuffer>, words[CrowdWord.teleports], count);
    this.weightView = new View(module, Float32Array<ArrayBuffer>, words[CrowdWord.weights], count * asset.weightCount);
    this.times = new View(module, Float64Array<ArrayBuffer>, words[CrowdWord.times], count);
    this.matrixView = new View(module, Float32Array<ArrayBuffer>, words[CrowdWord.matrices], 12 * asset.jointCount * count);
    this.members.array.set(characters.map((character) => character.address));
  }

  /** Morph weights after the last step, [characters][weightCount]: a view. Ask for it each time. */
  get weights(): Float32Array<ArrayBuffer> { return this.weightView.array; }

  /** Writes the pose of a clip into each, or into the first `count`, at its own time in seconds. */
  sampleClip(clip: number, seconds: ArrayLike<number>, count = this.characters.length): void {
    if (!Number.isInteger(clip) || clip < 0 || clip >= this.asset.clips.length || seconds.length < count) {
      throw new JounceError(`the asset '${this.asset.name}' has ${this.asset.clips.length} clips, none with number ${clip}; a time is wanted for each of ${count}`);
    }
    this.times.array.set(Array.prototype.slice.call(seconds, 0, count));
    this.module.exports.jnwSampleCrowd(this.open(), count, clip);
  }

  /** The matrices that skin the rest surface in the poses at hand, 3 rows of 4, [characters][jointCount][12]: a view. */
  skinMatrices(options: { matrices?: boolean; count?: number } = {}): Float32Array<ArrayBuffer> {
    this.module.exports.jnwPoseCrowd(this.open(), options.count ?? this.characters.length, options.matrices ? 1 : 0);
    return this.matrixView.array;
  }

  /**
   * Steps them all, or the first `count`, by `h` seconds, or by as many as an array says of each.
   * teleport: of all, or of each.
   */
  step(h: number | ArrayLike<number>, options: { teleport?: Teleport | readonly Teleport[]; matrices?: boolean; count?: number } = {}): void {
    const handle = this.open();
    const count = Math.min(options.count ?? this.characters.length, this.characters.length), { teleport = 'none' } = options;
    if (typeof h === 'number') {
      this.secondsView.array.fill(h);
    } else {
      this.secondsView.array.set(Array.prototype.slice.call(h, 0, count));
    }
    const kinds = this.teleports.array;
    for (let i = 0; i < count; ++i) {
      kinds[i] = teleportNumber(typeof teleport === 'string' ? teleport : teleport[i]);
    }
    this.module.exports.jnwStepCrowd(handle, count, options.matrices ? 1 : 0);
  }

  private open(): number {
    if (this.handle === 0) {
      throw new JounceError('the crowd was destroyed');
    }
    return this.handle;
  }

  destroy(): void {
    if (this.handle !== 0) {
      this.characters.forEach((character) => character.destroy());
      this.module.exports.jnwDestroyCrowd(this.handle);
      this.handle = 0;
    }
  }
}
