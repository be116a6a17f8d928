// What a slider does, at once: the modes as they were built, weighed anew, and the shown surface between its limits and under the mask.
//
// A mode belongs to no region; `shares` says how much of it lies in each. Flesh that is f times as stiff and d times as damped moves the
// mode's stiffness and damping by the means over its regions, on the same shape. A rebuild finds the shapes anew and is exact.
import type { Asset, Character, Surface } from 'jounce';
import type { Drawable } from '../player';
import type { About, Key, Region, Tuning } from './author';

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
  private wanted: Tuning = {};
  private limits: Float32Array | null = null; // [vertexCount], metres; null: none is narrower than built
  private shaped: { positions: Float32Array<ArrayBuffer>; normals: Float32Array<ArrayBuffer> } | null = null;

  constructor(private readonly asset: Asset, readonly about: About) {
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
    this.limits = narrow.size > 0 ? Float32Array.from(vertices, (region) => narrow.get(region) ?? Infinity) : null;
  }

  /** Stiffness and damping of a region over those it was built with. */
  change(region: Region): { stiffness: number; damping: number } {
    const { built } = this.about, i = built.region.indexOf(region.name), or = (value: number, other: number) => (Number.isFinite(value) ? value : other);
    const was = material(region, i >= 0 ? built.softness[i] : 1, i >= 0 ? built.damping[i] : 1, i >= 0 ? built.tone[i] : -1);
    const is = material(region, or(numberOf(this.wanted, region.name, 'softness'), 1), or(numberOf(this.wanted, region.name, 'damping'), 1), or(numberOf(this.wanted, region.name, 'tone'), -1));
    return { stiffness: is.stiffness / was.stiffness, damping: was.damping > 0 ? is.damping / was.damping : 1 };
  }

  /** Tunes the modes of a character. */
  tune(character: Character): void {
    const { shares, regions, drag, by_ratio } = this.about;
    const changes = regions.map((region) => ({ number: region.number, ...this.change(region) }));
    shares.forEach((row, k) => {
      const mode = this.asset.modes[k], omega = 2 * Math.PI * mode.hertz, damping = 2 * mode.ratio * omega;
      let stiffness = 0, damped = 0;
      for (const one of changes) {
        const share = row[one.number];
        stiffness += share * one.stiffness;
        damped += share * (by_ratio ? one.damping : one.stiffness * one.damping);
      }
      const hertz = this.on ? Math.sqrt(Math.max(stiffness, 1e-6)) : 1, free = Math.min(drag, damping);
      const now = by_ratio ? damping * damped * hertz : free + (damping - free) * damped;
      character.tuneMode(k, hertz, this.on ? Math.min(now / (damping * hertz), 100) : 1);
    });
  }

  /** Whether the shown surface is other than the runtime's. */
  get shapes(): boolean {
    return this.on && (this.limits !== null || this.mask !== null || this.builtMask !== null);
  }

  /** The surface between its limits and under the mask; target: without the motion of the flesh. */
  shape(shown: Drawable, target: Surface): Drawable {
    const { weld } = this.asset, { limits, mask, builtMask } = this, from = shown.positions, to = target.positions;
    this.shaped ??= { positions: new Float32Array(from.length), normals: new Float32Array(from.length) };
    const { positions, normals } = this.shaped;
    positions.set(from);
    normals.set(shown.normals);
    for (let i = 0; i < weld.length; ++i) {
      const v = weld[i], a = 3 * i, x = from[a] - to[a], y = from[a + 1] - to[a + 1], z = from[a + 2] - to[a + 2];
      const size = Math.hypot(x, y, z), limit = limits ? limits[v] : Infinity, knee = KNEE * limit, over = size - knee;
      let factor = over > 0 ? (limit - ((limit - knee) * (limit - knee)) / (limit - knee + over)) / size : 1;
      factor *= (mask ? mask[v] : 1) / (builtMask ? Math.max(builtMask[v], 1e-3) : 1);
      if (factor !== 1) {
        positions[a] = to[a] + factor * x;
        positions[a + 1] = to[a + 1] + factor * y;
        positions[a + 2] = to[a + 2] + factor * z;
      }
    }
    return this.shaped;
  }
}
