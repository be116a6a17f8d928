// Soft tissue on characters of Babylon.js: sets the influences of the morph targets that `jounce export W -o hero.glb` wrote, from the
// skeleton as it is animated. All deformation stays on the GPU.
import type { Asset } from './asset.js';
import type { Character, CharacterOptions, Teleport } from './character.js';
import { JounceError } from './module.js';
import { weightOf } from './target_names.js';

type Numbers = ArrayLike<number>;

/** What is used of Babylon.js, so that any version of it will do. */
interface MatrixLike {
  asArray(): Numbers;
}
interface NodeLike {
  parent: unknown;
  computeWorldMatrix(force?: boolean): MatrixLike;
}
interface BoneLike {
  name: string;
  getTransformNode(): NodeLike | null;
  getAbsoluteMatrix(): MatrixLike;
}
interface TargetLike {
  name: string;
  influence: number;
}
/** A mesh of Babylon.js. */
export interface MeshLike {
  morphTargetManager: { numTargets: number; getTarget(index: number): TargetLike } | null;
  skeleton: { name: string; bones: readonly BoneLike[] } | null;
}

export interface FleshOptions extends Omit<CharacterOptions, 'weightsOnly'> {
  /** Seconds without an update after which the flesh starts anew. Default 0.5. */
  gap?: number;
}

/** Flesh on the meshes that a loader brought. */
export class Flesh {
  readonly character: Character;
  private readonly bones: readonly (() => Numbers)[];
  private readonly targets: { target: TargetLike; weight: number }[] = [];
  private readonly gap: number;
  private next: Teleport = 'reset';

  /** meshes: those of the character, all with the same skeleton. */
  constructor(readonly asset: Asset, meshes: readonly MeshLike[], options: FleshOptions = {}) {
    const { gap, ...rest } = options;
    this.gap = gap ?? 0.5;
    for (const mesh of meshes) {
      const manager = mesh.morphTargetManager;
      for (let i = 0; manager && i < manager.numTargets; ++i) {
        const target = manager.getTarget(i), weight = weightOf(asset, target.name);
        if (weight >= 0) {
          this.targets.push({ target, weight });
        }
      }
    }
    if (this.targets.length === 0) {
      throw new JounceError(`no mesh has morph targets of '${asset.name}'`);
    }
    const skeleton = meshes.find((mesh) => mesh.skeleton)?.skeleton;
    if (!skeleton) {
      throw new JounceError('no mesh has a skeleton');
    }
    this.bones = asset.joints.map(({ name }) => boneNamed(skeleton, name));
    this.character = asset.createCharacter({ ...rest, weightsOnly: true });
  }

  /** The jump to the next pose is not motion. */
  teleport(how: Exclude<Teleport, 'none'> = 'keep'): void {
    this.next = how;
  }

  /** Once a frame, after the skeleton was animated. */
  update(seconds: number): void {
    const matrices = this.character.pose.matrices;
    this.bones.forEach((matrixOf, joint) => {
      const m = matrixOf(); // Babylon.js keeps matrices by row and multiplies from the left: transposed to ours
      for (let row = 0; row < 3; ++row) {
        for (let column = 0; column < 4; ++column) {
          matrices[12 * joint + 4 * row + column] = m[4 * column + row];
        }
      }
    });
    this.character.step(seconds, { matrices: true, teleport: seconds > this.gap ? 'reset' : this.next });
    this.next = 'none';
    const { weights } = this.character;
    this.targets.forEach(({ target, weight }) => { target.influence = weights[weight]; });
  }

  dispose(): void {
    this.targets.splice(0).forEach(({ target }) => { target.influence = 0; });
    this.character.destroy();
  }
}

// The node above all others: the loader's, which turns the file's right-handed space into the scene's. The character's space is below it.
function topOf(node: NodeLike): NodeLike {
  return node.parent ? topOf(node.parent as NodeLike) : node;
}

/** a times the inverse of b, both affine, row vectors as Babylon.js has them: what is left of a below b. */
function below(a: Numbers, b: Numbers): number[] {
  const [p, q, r, , s, t, u, , v, w, x] = Array.from(b), det = p * (t * x - u * w) - q * (s * x - u * v) + r * (s * w - t * v);
  const inverse = [t * x - u * w, r * w - q * x, q * u - r * t, u * v - s * x, p * x - r * v, r * s - p * u, s * w - t * v, q * v - p * w, p * t - q * s]
    .map((value) => value / det);
  const out: number[] = [];
  for (let row = 0; row < 4; ++row) {
    const from = [0, 1, 2].map((k) => a[4 * row + k] - (row === 3 ? b[12 + k] : 0));
    for (let column = 0; column < 3; ++column) {
      out.push(from[0] * inverse[column] + from[1] * inverse[3 + column] + from[2] * inverse[6 + column]);
    }
    out.push(row === 3 ? 1 : 0);
  }
  return out;
}

// Bones of a glTF file are driven by nodes; others by their own matrices.
function boneNamed(skeleton: NonNullable<MeshLike['skeleton']>, name: string): () => Numbers {
  const bone = skeleton.bones.find((one) => one.name === name);
  if (!bone) {
    throw new JounceError(`the skeleton '${skeleton.name}' has no bone '${name}'`);
  }
  const node = bone.getTransformNode(), top = node ? topOf(node) : null;
  return node && top
    ? () => below(node.computeWorldMatrix(true).asArray(), top.computeWorldMatrix(true).asArray())
    : () => bone.getAbsoluteMatrix().asArray();
}
