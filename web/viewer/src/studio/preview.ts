// What a slider does, at once: the modes as they were built, stiffened and damped anew, and what is shown of the flesh, scaled by how
// differently each place gives way (sag.ts), between its limits and under the mask. A rebuild finds the shapes anew and is exact.
import type { Asset, Character, Surface } from 'jounce';
import type { Drawable } from '../player';
import type { About, Key, Region, Tuning } from './author';
import { Sag } from './sag';

const KNEE = 0.7; // of a limit: up to here an offset is shown as it is, as the runtime does

const numberOf = (tuning: Tuning, region: string, key: Key): number => Number(tuning[region]?.[key] ?? Number.NaN);

/** A value of a table over tones from 0 to 1. */
function at(table: readonly number[], tone: number): number {
  const place = Math.min(Math.max(tone, 0), 1) * (table.length - 1), i = Math.min(Math.floor(place), table.length - 2);
  return table[i] + (place - i) * (table[i + 1] - table[i]);
}

/** Stiffness and damping of a region, over those of its tissue. */
function material(region: Region, softness: number, damping: number, tone: number): { stiffness: number; damping: number } {
  const tense = tone >= 0 ? tone : region.tone;
  return { stiffness: at(region.stiffness, tense) / softness, damping: at(region.damping, tense) * damping };
}

export class Preview {
  /** Whether it shows what is set; false: what was built. */
  on = true;
  /** A weight for each vertex, 1 flesh to 0 rigid, as it is painted; null: none. */
  mask: Float32Array | null = null;
  private readonly builtMask: Float32Array | null;
  private readonly sag: Sag | null;
  private wanted: Tuning = {};
  private stiffness: Float64Array | null = null; // of the modes, over those that were built
  private damped: Float64Array | null = null;
  private scales: Float32Array | null = null; // [fileVertexCount]; null: all 1
  private limits: Float32Array | null = null; // [vertexCount], metres; null: none is narrower than built
  private shaped: { positions: Float32Array<ArrayBuffer>; normals: Float32Array<ArrayBuffer> } | null = null;

  constructor(private readonly asset: Asset, readonly about: About) {
    this.sag = about.modes && asset.modes.length > 0 ? new Sag(asset, about.modes, about.vertices) : null;
    this.builtMask = about.mask ? Float32Array.from(about.mask) : null;
    this.mask = this.builtMask?.slice() ?? null;
  }

  set(wanted: Tuning): void {
    this.wanted = wanted;
    const { regions, vertices } = this.about, narrow = new Map<number, number>();
    for (const region of regions) {
      const metres = /^([\d.e-]+) m$/.exec(wanted[region.name]?.limit ?? '');
      if (metres && Number(metres[1]) < region.limit) {
        narrow.set(region.number, Number(metres[1]));
      }
    }
    this.follow();
    this.limits = narrow.size > 0 ? Float32Array.from(vertices, (region) => narrow.get(region) ?? Infinity) : null;
  }

  /** Stiffness and damping of a region over those it was built with. */
  change(region: Region): { stiffness: number; damping: number } {
    const { built } = this.about, i = built.region.indexOf(region.name), or = (value: number, other: number) => (Number.isFinite(value) ? value : other);
    const was = material(region, i >= 0 ? built.softness[i] : 1, i >= 0 ? built.damping[i] : 1, i >= 0 ? built.tone[i] : -1);
    const is = material(region, or(numberOf(this.wanted, region.name, 'softness'), 1), or(numberOf(this.wanted, region.name, 'damping'), 1), or(numberOf(this.wanted, region.name, 'tone'), -1));
    return { stiffness: is.stiffness / was.stiffness, damping: was.damping > 0 ? is.damping / was.damping : 1 };
  }

  // How stiff and how damped the modes are over those that were built; and how each place gives way.
  private follow(): void {
    const changes = this.about.regions.map((region) => ({ number: region.number, ...this.change(region) }));
    const changed = changes.filter(({ stiffness, damping }) => stiffness !== 1 || damping !== 1);
    const of = (value: (one: (typeof changes)[number]) => number) => new Map(changed.map((one) => [one.number, value(one)]));
    this.stiffness = this.sag?.stiffness(of(({ stiffness }) => stiffness)) ?? null;
    this.damped = this.sag?.stiffness(of(({ stiffness, damping }) => (this.about.by_ratio ? damping : stiffness * damping))) ?? null;
    this.scales = changed.some(({ stiffness }) => stiffness !== 1) ? this.sag?.scales(of(({ stiffness }) => stiffness)) ?? null : null;
  }

  /** Tunes the modes of a character. */
  tune(character: Character): void {
    const { drag, by_ratio } = this.about;
    this.asset.modes.forEach((mode, k) => {
      const damping = 4 * Math.PI * mode.ratio * mode.hertz, hertz = Math.sqrt(this.stiffness?.[k] ?? 1), damped = this.damped?.[k] ?? 1, free = Math.min(drag, damping);
      const now = by_ratio ? damping * damped * hertz : free + (damping - free) * damped;
      character.tuneMode(k, this.on ? hertz : 1, this.on && damping > 0 ? Math.min(now / (damping * hertz), 100) : 1);
    });
  }

  /** Whether the shown surface is other than the runtime's. */
  get shapes(): boolean {
    return this.on && (this.scales !== null || this.limits !== null || this.mask !== null || this.builtMask !== null);
  }

  /** The surface between its limits and under the mask; target: without the motion of the flesh. */
  shape(shown: Drawable, target: Surface): Drawable {
    const { weld } = this.asset, { limits, mask, builtMask, scales } = this, from = shown.positions, to = target.positions;
    this.shaped ??= { positions: new Float32Array(from.length), normals: new Float32Array(from.length) };
    const { positions, normals } = this.shaped;
    positions.set(from);
    normals.set(shown.normals);
    for (let i = 0; i < weld.length; ++i) {
      const v = weld[i], a = 3 * i, x = from[a] - to[a], y = from[a + 1] - to[a + 1], z = from[a + 2] - to[a + 2];
      const way = scales ? scales[i] : 1, size = way * Math.hypot(x, y, z), limit = limits ? limits[v] : Infinity, knee = KNEE * limit, over = size - knee;
      let factor = over > 0 ? (limit - ((limit - knee) * (limit - knee)) / (limit - knee + over)) / size : 1;
      factor *= way * (mask ? mask[v] : 1) / (builtMask ? Math.max(builtMask[v], 1e-3) : 1);
      if (factor !== 1) {
        positions[a] = to[a] + factor * x;
        positions[a + 1] = to[a + 1] + factor * y;
        positions[a + 2] = to[a + 2] + factor * z;
      }
    }
    return this.shaped;
  }
}
