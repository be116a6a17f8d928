// Curves of one vertex: target, springs and, where the workspace has it, the simulation; and the offset below.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Asset, Surface } from 'jounce';
import type { Player } from './player';

const WINDOW = 4; // seconds that are shown
const CAPACITY = 2400; // samples; ten seconds at 240 Hz
const LEGEND = 26; // pixels, one line, see style.css
const REDRAW = 66; // milliseconds between two drawings

type Axis = 0 | 1 | 2;
const AXES: { axis: Axis; label: string }[] = [{ axis: 0, label: 'X' }, { axis: 1, label: 'Y' }, { axis: 2, label: 'Z' }];

interface Sample {
  time: number;
  target: [number, number, number];
  springs: [number, number, number];
  simulation: [number, number, number] | null;
  /** The motion jumped here: lines end. */
  jumped: boolean;
}

export class Curves {
  /** The file vertex that is watched; -1: none. */
  vertex = -1;
  private axis: Axis = 1;
  private samples: Sample[] = [];
  private motion: Float32Array | null = null; // [frames][3] of the vertex in the clip at hand
  private motionKey = '';
  private plots: uPlot[] = [];
  private drawn = 0;
  private scratch: Surface;
  private readonly heading = document.createElement('h2');
  private readonly body = document.createElement('div');

  constructor(
    private readonly element: HTMLElement, private readonly asset: Asset, private readonly player: Player, private readonly onClose: () => void) {
    this.scratch = asset.createSurface();
    this.build();
    new ResizeObserver(() => this.layOut()).observe(this.body);
  }

  get sampleCount(): number {
    return this.samples.length;
  }

  get hasSimulation(): boolean {
    return this.motion !== null;
  }

  private build(): void {
    const bar = document.createElement('header'), axes = document.createElement('div'), close = document.createElement('button');
    axes.className = 'segmented small';
    axes.setAttribute('role', 'radiogroup');
    axes.setAttribute('aria-label', 'Axis');
    for (const { axis, label } of AXES) {
      const item = document.createElement('label'), input = document.createElement('input');
      Object.assign(input, { type: 'radio', name: 'axis', value: String(axis), checked: axis === this.axis });
      input.addEventListener('change', () => {
        this.axis = axis;
        this.draw(true);
      });
      item.append(input, Object.assign(document.createElement('span'), { textContent: label }));
      axes.append(item);
    }
    Object.assign(close, { type: 'button', className: 'icon', title: 'Close (Esc)', textContent: '×' });
    close.setAttribute('aria-label', 'Close the curves');
    close.addEventListener('click', () => this.close());
    bar.append(this.heading, axes, close);
    this.body.className = 'plots';
    this.element.replaceChildren(bar, this.body);
  }

  /** Watches a file vertex from now on. */
  open(vertex: number): void {
    this.vertex = vertex;
    this.samples = [];
    this.motionKey = '';
    this.motion = null;
    this.name();
    this.element.hidden = false;
    void this.fetchMotion();
    this.setTheme();
  }

  /** Says which vertex it is, and how it is held. */
  name(): void {
    if (this.vertex < 0) {
      return;
    }
    const { asset } = this, v = asset.weld[this.vertex], parts: string[] = [];
    const tell = (what: string, stiffness: number, damping: number) => {
      const root = Math.sqrt(stiffness);
      parts.push(`${what}${(root / (2 * Math.PI)).toPrecision(2)} Hz, ratio ${root > 0 ? (damping / (2 * root)).toPrecision(2) : '∞'}`);
    };
    const modes = v < asset.springCount ? this.player.actors[0].character.readModes() : null;
    if (modes && modes.stiffness[v] > 0) {
      tell('modes ', modes.stiffness[v], modes.damping[v]);
    }
    if (v < asset.springCount && asset.layer !== 'modal') {
      const { hertz, ratio } = this.player.settings;
      tell(modes ? 'spring ' : '', asset.stiffness[v] * hertz * hertz, asset.damping[v] * hertz * ratio);
    }
    const small = Object.assign(document.createElement('small'), { textContent: parts.join(' · ') || 'rigid' });
    this.heading.replaceChildren(`Vertex ${(asset.order ? asset.order[v] : v).toLocaleString('en')}`, small);
  }

  close(): void {
    if (this.vertex >= 0) {
      this.vertex = -1;
      this.element.hidden = true;
      this.onClose();
    }
  }

  // The vertex in the workspace's simulated clip, if there is one.
  private async fetchMotion(): Promise<void> {
    const { simulation, settings: { clip } } = this.player, vertex = this.asset.weld[this.vertex], key = `${clip}/${vertex}`;
    if (key === this.motionKey) {
      return;
    }
    this.motionKey = key;
    if (this.motion) {
      this.motion = null;
      this.setTheme(); // its lines go
    }
    const motion = simulation.has(clip) ? await simulation.path(clip, vertex) : null;
    if (motion && key === this.motionKey) {
      this.motion = motion;
      this.setTheme();
    }
  }

  private simulated(): [number, number, number] | null {
    const motion = this.motion, clip = this.player.clip;
    if (!motion || !clip || motion.length < 3) {
      return null;
    }
    const last = motion.length / 3 - 1, first = this.player.simulation.motionOf(this.player.settings.clip)?.first ?? 0;
    const at = (this.player.time % this.player.duration) * clip.rate - first;
    if (at < 0 || at > last + 1e-3) {
      return null;
    }
    const from = Math.min(Math.floor(at), Math.max(last - 1, 0)), share = Math.min(at - from, 1), to = Math.min(from + 1, last);
    const value = (k: number) => motion[3 * from + k] + share * (motion[3 * to + k] - motion[3 * from + k]);
    return [value(0), value(1), value(2)];
  }

  /** Takes down where the vertex is, after a step. */
  record(jumped: boolean): void {
    if (this.vertex < 0) {
      return;
    }
    void this.fetchMotion();
    const actor = this.player.actors[0], i = 3 * this.vertex;
    actor.character.evaluateTarget(1, { surface: this.scratch, normals: false });
    const target = this.scratch.positions, springs = actor.character.positions;
    this.samples.push({
      time: this.player.clock,
      target: [target[i], target[i + 1], target[i + 2]],
      springs: [springs[i], springs[i + 1], springs[i + 2]],
      simulation: this.simulated(),
      jumped,
    });
    if (this.samples.length > CAPACITY) {
      this.samples.splice(0, this.samples.length - CAPACITY);
    }
  }

  /** Makes the plots anew, in the colours of the page. */
  setTheme(): void {
    this.plots.forEach((plot) => plot.destroy());
    this.plots = [];
    this.body.replaceChildren();
    if (this.vertex < 0) {
      return;
    }
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const axis = (label: string, size: number): uPlot.Axis => ({
      label, labelSize: size === 50 ? 18 : 0, size, labelFont: '11px system-ui, sans-serif', font: '11px system-ui, sans-serif', stroke: color('--muted'),
      grid: { stroke: color('--line'), width: 1 }, ticks: { stroke: color('--line'), width: 1, size: 4 }, gap: 4,
    });
    const number = (unit: string) => (_: uPlot, value: number | null) => (value === null || value === undefined ? '–' : `${value.toFixed(1)} ${unit}`);
    const options = (series: uPlot.Series[], label: string, fromZero: boolean): uPlot.Options => ({
      width: 300, height: 100, padding: [8, 10, 0, 0], cursor: { drag: { x: false, y: false }, points: { size: 6 } },
      scales: { x: { time: false }, y: { range: (_, low, high) => fromZero ? [0, Math.max(high, 1) * 1.05] : [low - 0.5, high + 0.5] } }, legend: { live: false },
      axes: [{ ...axis('', 26), values: (_, ticks) => ticks.map((tick) => `${tick} s`) }, axis(label, 50)],
      series: [{ label: 'seconds' }, ...series],
    });
    const lines: uPlot.Series[] = [
      { label: 'Target', stroke: color('--muted'), width: 1.5, dash: [5, 4], value: number('cm'), points: { show: false } },
      { label: 'Springs', stroke: color('--accent'), width: 2, value: number('cm'), points: { show: false } },
    ];
    if (this.motion) {
      lines.push({ label: 'Simulation', stroke: color('--second'), width: 1.5, value: number('cm'), points: { show: false } });
    }
    const offset: uPlot.Series[] = [
      { label: 'Offset from the target', stroke: color('--accent'), fill: color('--accent-soft'), width: 1.5, value: number('mm'), points: { show: false } }];
    if (this.motion) {
      offset.push({ label: 'Simulation', stroke: color('--second'), width: 1.5, value: number('mm'), points: { show: false } });
    }
    this.plots = [
      new uPlot(options(lines, 'position, cm', false), [[]] as unknown as uPlot.AlignedData, this.body),
      new uPlot(options(offset, 'offset, mm', true), [[]] as unknown as uPlot.AlignedData, this.body),
    ];
    this.layOut();
    this.draw(true);
  }

  private layOut(): void {
    const width = this.body.clientWidth, beside = width > 620;
    this.body.classList.toggle('beside', beside);
    const share = Math.max(beside ? width / 2 - 6 : width, 120);
    for (const plot of this.plots) {
      const height = Math.max((beside ? this.body.clientHeight : this.body.clientHeight / 2) - LEGEND, 60);
      plot.setSize({ width: share, height });
    }
  }

  /** Draws what was taken down, a few times a second. */
  draw(now = false): void {
    if (this.vertex < 0 || (!now && performance.now() - this.drawn < REDRAW) || this.plots.length === 0) {
      return;
    }
    this.drawn = performance.now();
    const end = this.player.clock, shown = this.samples.filter((sample) => sample.time >= end - WINDOW);
    const times: number[] = [], rows: (number | null)[][] = [[], [], [], [], []];
    const distance = (a: readonly number[], b: readonly number[]) => 1000 * Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    for (const sample of shown) {
      if (sample.jumped) {
        times.push(sample.time - 1e-6);
        rows.forEach((row) => row.push(null));
      }
      times.push(sample.time);
      rows[0].push(100 * sample.target[this.axis]);
      rows[1].push(100 * sample.springs[this.axis]);
      rows[2].push(sample.simulation ? 100 * sample.simulation[this.axis] : null);
      rows[3].push(distance(sample.springs, sample.target));
      rows[4].push(sample.simulation ? distance(sample.simulation, sample.target) : null);
    }
    const extra = this.motion ? 1 : 0;
    const data = [[times, ...rows.slice(0, 2 + extra)], [times, ...rows.slice(3, 4 + extra)]];
    this.plots.forEach((plot, i) => {
      plot.setData(data[i] as uPlot.AlignedData, false);
      plot.setScale('x', { min: Math.max(end - WINDOW, 0), max: Math.max(end, WINDOW) });
    });
  }
}
