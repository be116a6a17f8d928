// Heat maps: a number for each vertex, a scale, and colours.
import type { Asset } from 'jounce';
import type { Heat } from './settings';

/** What the legend says. */
export interface Scale {
  title: string;
  unit: string;
  low: number;
  high: number;
  logarithmic: boolean;
  colors: readonly string[];
}

// Dark to bright, even steps of lightness (the well-known viridis); and blue for under-, red for overdamped.
const SEQUENTIAL = ['#440154', '#482878', '#3e4a89', '#31688e', '#26828e', '#1f9e89', '#35b779', '#6dcd59', '#b4de2c', '#fde725'];
const DIVERGING = ['#2c5fa8', '#5b8fcf', '#9dbfe3', '#dfe6ec', '#efb79e', '#d9704f', '#a8322b'];
const RIGID = [150, 150, 150];
const STEPS = 256;
const FADE = 6; // seconds in which the scale of a moving map sinks to a third

function makeTable(colors: readonly string[]): Uint8Array {
  const table = new Uint8Array(3 * STEPS);
  const channel = (color: string, k: number) => parseInt(color.slice(1 + 2 * k, 3 + 2 * k), 16);
  for (let i = 0; i < STEPS; ++i) {
    const at = (i / (STEPS - 1)) * (colors.length - 1), from = Math.min(Math.floor(at), colors.length - 2);
    for (let k = 0; k < 3; ++k) {
      table[3 * i + k] = Math.round(channel(colors[from], k) + (at - from) * (channel(colors[from + 1], k) - channel(colors[from], k)));
    }
  }
  return table;
}

const TABLES = new Map<readonly string[], Uint8Array>([SEQUENTIAL, DIVERGING].map((colors) => [colors, makeTable(colors)]));

/** Maps that change from frame to frame: what they measure, its unit, and what one metre is in it. */
const MOVING: Partial<Record<Heat, { title: string; unit: string; factor: number; least: number }>> = {
  offset: { title: 'Offset from the target', unit: 'mm', factor: 1000, least: 1 },
  speed: { title: 'Speed of the offset', unit: 'm/s', factor: 1, least: 0.01 },
  displacement: { title: 'What the network adds', unit: 'mm', factor: 1000, least: 1 },
  error: { title: 'Distance to the simulation', unit: 'mm', factor: 1000, least: 1 },
};

export function isMoving(heat: Heat): boolean {
  return heat in MOVING;
}

/** Springs as the vertices have them, [springCount]. hertz, ratio: what the sliders multiply with. A stiffness of 0 in
 *  what modes give is a vertex that they do not move. */
export interface Springs {
  stiffness: Float32Array;
  damping: Float32Array;
  hertz: number;
  ratio: number;
  ofModes: boolean;
}

// Of what springs move alone.
function isOffset(heat: Heat): boolean {
  return heat === 'offset' || heat === 'speed';
}

export class HeatMap {
  private readonly values: Float32Array; // [vertexCount]
  private rigid = 0; // vertices from here on are grey
  private peak = 0; // of what moves: rises at once, sinks slowly
  scale: Scale | null = null;

  constructor(private readonly asset: Asset) {
    this.values = new Float32Array(asset.vertexCount);
  }

  /** The peak of a moving map is forgotten. */
  restart(): void {
    this.peak = 0;
  }

  /** Distances of file vertices, x, y, z each, from others; seconds: since the last time. */
  measureMotion(heat: Heat, from: Float32Array, to: Float32Array, seconds: number): void {
    const { title, unit, factor, least } = MOVING[heat]!, { weld } = this.asset;
    let most = 0;
    for (let i = 0; i < weld.length; ++i) {
      const x = from[3 * i] - to[3 * i], y = from[3 * i + 1] - to[3 * i + 1], z = from[3 * i + 2] - to[3 * i + 2];
      const size = factor * Math.sqrt(x * x + y * y + z * z);
      this.values[weld[i]] = size;
      most = Math.max(most, size);
    }
    this.peak = Math.max(most, this.peak * Math.exp(-seconds / FADE), least);
    this.scale = { title, unit, low: 0, high: this.peak, logarithmic: false, colors: SEQUENTIAL };
    this.rigid = isOffset(heat) ? this.asset.springCount : this.asset.vertexCount;
  }

  measureSprings(heat: Heat, { stiffness, damping, hertz, ratio, ofModes }: Springs): void {
    const kind = heat.toLowerCase().replace('own', '');
    let low = Infinity, high = 0;
    for (let v = 0; v < this.asset.springCount; ++v) {
      if (ofModes && !(stiffness[v] > 0)) {
        this.values[v] = NaN;
        continue;
      }
      // Frequency times a, ratio times b: k_s times a², k_d times a b.
      const frequency = (hertz * Math.sqrt(stiffness[v])) / (2 * Math.PI);
      const kd = damping[v] * hertz * ratio;
      const zeta = stiffness[v] > 0 ? kd / (2 * hertz * Math.sqrt(stiffness[v])) : Infinity;
      const value = kind === 'stiffness' ? frequency : kind === 'damping' ? kd : Math.min(zeta, 100);
      this.values[v] = value;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    this.rigid = this.asset.springCount;
    if (kind === 'regime') {
      this.scale = { title: 'Damping ratio: 1 is critical', unit: '', low: 0.1, high: 10, logarithmic: true, colors: DIVERGING };
      return;
    }
    // One value everywhere is the middle of a scale around it.
    const flat = !(high > 1.02 * low), what = ofModes ? 'modes' : 'springs';
    this.scale = {
      title: kind === 'stiffness' ? `Frequency of the ${what}` : `Damping of the ${what}`, unit: kind === 'stiffness' ? 'Hz' : '1/s',
      low: flat ? low / 2 : low, high: flat ? Math.max(high * 2, 1e-3) : high, logarithmic: high > 8 * low && low > 0,
      colors: SEQUENTIAL,
    };
  }

  /** Shares of a region in what moves, 0 to 1. */
  measureShare(title: string, share: Float32Array, stiffness: Float32Array): void {
    for (let v = 0; v < this.asset.springCount; ++v) {
      this.values[v] = stiffness[v] > 0 ? 100 * share[v] : NaN;
    }
    this.rigid = this.asset.springCount;
    this.scale = { title: `Fraction of ${title}`, unit: '%', low: 0, high: 100, logarithmic: false, colors: SEQUENTIAL };
  }

  /** Writes colours, RGBA bytes, of the file vertices. */
  paint(colors: Uint8Array): void {
    const scale = this.scale;
    if (!scale) {
      return;
    }
    const { weld } = this.asset, table = TABLES.get(scale.colors)!;
    const bend = scale.logarithmic ? Math.log : (x: number) => x;
    const low = bend(scale.low), factor = (STEPS - 1) / Math.max(bend(scale.high) - low, 1e-12);
    for (let i = 0; i < weld.length; ++i) {
      const v = weld[i];
      if (v >= this.rigid || Number.isNaN(this.values[v])) {
        colors.set(RIGID, 4 * i);
        continue;
      }
      const at = 3 * Math.min(Math.max(Math.round((bend(this.values[v]) - low) * factor), 0), STEPS - 1);
      colors[4 * i] = table[at];
      colors[4 * i + 1] = table[at + 1];
      colors[4 * i + 2] = table[at + 2];
    }
  }
}

function format(value: number): string {
  return value === 0 ? '0' : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toPrecision(2);
}

/** Shows a scale, or nothing. */
export function drawLegend(element: HTMLElement, scale: Scale | null): void {
  element.hidden = scale === null;
  if (!scale) {
    return;
  }
  const middle = scale.logarithmic ? Math.sqrt(scale.low * scale.high) : (scale.low + scale.high) / 2;
  const text = [scale.title + (scale.unit ? `, ${scale.unit}` : ''), format(scale.low), format(middle), format(scale.high)];
  if (element.dataset.text === text.join()) {
    return;
  }
  element.dataset.text = text.join();
  const title = document.createElement('span'), bar = document.createElement('span'), numbers = document.createElement('span');
  title.className = 'title';
  title.textContent = text[0];
  bar.className = 'bar';
  bar.style.background = `linear-gradient(to right, ${scale.colors.join(', ')})`;
  numbers.className = 'numbers';
  for (const number of text.slice(1)) {
    numbers.append(Object.assign(document.createElement('span'), { textContent: number }));
  }
  element.replaceChildren(title, bar, numbers);
}
