// Heat maps: a number for each vertex, a scale, and colours.
import type { Asset, Surface } from 'jounce';
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

/** True if the map changes from frame to frame. */
export function isMoving(heat: Heat): boolean {
  return heat === 'offset' || heat === 'speed';
}

export class HeatMap {
  private readonly values: Float32Array; // [vertexCount]
  private peak = 0; // of what moves: rises at once, sinks slowly
  scale: Scale | null = null;

  constructor(private readonly asset: Asset) {
    this.values = new Float32Array(asset.vertexCount);
  }

  /** The peak of a moving map is forgotten. */
  restart(): void {
    this.peak = 0;
  }

  /** Fills the values. shown, target: the surfaces a moving map compares; hertz, ratio: what the sliders multiply with;
   *  seconds: since the last time. */
  measure(heat: Heat, shown: Surface, target: Surface, hertz: number, ratio: number, seconds: number): void {
    if (isMoving(heat)) {
      this.measureMotion(heat, shown, target, seconds);
    } else if (heat !== 'none') {
      this.measureSprings(heat, hertz, ratio);
    }
  }

  private measureMotion(heat: Heat, shown: Surface, target: Surface, seconds: number): void {
    const a = heat === 'offset' ? shown.positions : shown.velocities, b = heat === 'offset' ? target.positions : target.velocities;
    const factor = heat === 'offset' ? 1000 : 1; // millimetres; metres a second
    const { weld } = this.asset;
    let most = 0;
    for (let i = 0; i < weld.length; ++i) {
      const x = a[3 * i] - b[3 * i], y = a[3 * i + 1] - b[3 * i + 1], z = a[3 * i + 2] - b[3 * i + 2];
      const size = factor * Math.sqrt(x * x + y * y + z * z);
      this.values[weld[i]] = size;
      most = Math.max(most, size);
    }
    this.peak = Math.max(most, this.peak * Math.exp(-seconds / FADE), heat === 'offset' ? 1 : 0.01);
    this.scale = {
      title: heat === 'offset' ? 'Offset from the target' : 'Speed of the offset', unit: heat === 'offset' ? 'mm' : 'm/s',
      low: 0, high: this.peak, logarithmic: false, colors: SEQUENTIAL,
    };
  }

  private measureSprings(heat: Heat, hertz: number, ratio: number): void {
    const { stiffness, damping, springCount } = this.asset;
    let low = Infinity, high = 0;
    for (let v = 0; v < springCount; ++v) {
      // Frequency times a, ratio times b: k_s times a², k_d times a b.
      const frequency = (hertz * Math.sqrt(stiffness[v])) / (2 * Math.PI);
      const kd = damping[v] * hertz * ratio;
      const zeta = stiffness[v] > 0 ? kd / (2 * hertz * Math.sqrt(stiffness[v])) : Infinity;
      const value = heat === 'stiffness' ? frequency : heat === 'damping' ? kd : Math.min(zeta, 100);
      this.values[v] = value;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (heat === 'regime') {
      this.scale = { title: 'Damping ratio: 1 is critical', unit: '', low: 0.1, high: 10, logarithmic: true, colors: DIVERGING };
      return;
    }
    // One value everywhere is the middle of a scale around it.
    const flat = !(high > 1.02 * low);
    this.scale = {
      title: heat === 'stiffness' ? 'Frequency of the springs' : 'Damping of the springs', unit: heat === 'stiffness' ? 'Hz' : '1/s',
      low: flat ? low / 2 : low, high: flat ? Math.max(high * 2, 1e-3) : high, logarithmic: high > 8 * low && low > 0,
      colors: SEQUENTIAL,
    };
  }

  /** Writes colours, RGBA bytes, of the file vertices. */
  paint(colors: Uint8Array): void {
    const scale = this.scale;
    if (!scale) {
      return;
    }
    const { weld, springCount } = this.asset, table = TABLES.get(scale.colors)!;
    const bend = scale.logarithmic ? Math.log : (x: number) => x;
    const low = bend(scale.low), factor = (STEPS - 1) / Math.max(bend(scale.high) - low, 1e-12);
    for (let i = 0; i < weld.length; ++i) {
      const v = weld[i];
      if (v >= springCount) {
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
