// The timeline under the picture: the error against the simulation of every frame of the clip. Press or drag to stand at a frame as playing
// up to it leaves the flesh; the worst frame is marked.
import type { Asset } from 'jounce';
import { button, element } from './controls';
import { TRACKED, type ErrorTrack, type Tracked } from './errors';
import type { Player } from './player';

const SNAP = 9; // pixels around the worst frame that mean it
const PAD = { left: 44, right: 14, top: 16, bottom: 6 };
const LABELS: Record<Tracked, string> = { skinned: 'Skinned', target: 'Network', springs: 'Springs' };
const COLORS: Record<Tracked, string> = { skinned: '--muted', target: '--second', springs: '--accent' };

export class Timeline {
  private readonly canvas = element('canvas', { tabindex: '0', role: 'slider', 'aria-label': 'Frame of the clip', 'aria-valuemin': '0' });
  private readonly words = element('p', { class: 'words' });
  private readonly toWorst = button('Worst frame', 'Stand at the frame that is farthest from the simulation', () => this.jump(this.track.worst));
  private readonly shown: readonly Tracked[];
  private drawn = '';

  constructor(
    private readonly root: HTMLElement, asset: Asset, private readonly player: Player, private readonly track: ErrorTrack,
    private readonly seek: (seconds: number) => void) {
    this.shown = TRACKED.filter((kind) => (kind !== 'target' || asset.network !== 'none') && (kind !== 'springs' || asset.springCount > 0));
    const legend = element('span', { class: 'legend' }, ...this.shown.map((kind) => element('span', { class: kind }, LABELS[kind])));
    root.replaceChildren(element('header', {}, element('h2', { title: 'Root mean square over the vertices of the distance to the simulation' }, 'Error, mm rms'), legend, this.words, this.toWorst), this.canvas);
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.press(event);
    });
    this.canvas.addEventListener('pointermove', (event) => event.buttons & 1 && this.press(event));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.draw(true)).observe(this.canvas);
  }

  /** The frame of the clip that is shown. */
  get frame(): number {
    const { clip, clipTime } = this.player;
    return clip ? Math.min(Math.round(clipTime * clip.rate), this.track.frameCount - 1) : 0;
  }

  /** Stands at a frame. */
  jump(frame: number): void {
    if (this.player.clip && frame >= 0) {
      this.seek(Math.min(frame, this.track.frameCount - 1) / this.player.clip.rate);
    }
  }

  private xOf(frame: number): number {
    return PAD.left + (frame / Math.max(this.track.frameCount - 1, 1)) * (this.canvas.clientWidth - PAD.left - PAD.right);
  }

  private press(event: PointerEvent): void {
    const x = event.clientX - this.canvas.getBoundingClientRect().left, { worst, frameCount } = this.track;
    const share = (x - PAD.left) / Math.max(this.canvas.clientWidth - PAD.left - PAD.right, 1);
    const near = worst >= 0 && Math.abs(x - this.xOf(worst)) < SNAP && event.type === 'pointerdown';
    this.jump(near ? worst : Math.round(Math.min(Math.max(share, 0), 1) * (frameCount - 1)));
  }

  private key(event: KeyboardEvent): void {
    const by: Record<string, number> = { ArrowLeft: this.frame - 1, ArrowRight: this.frame + 1, Home: 0, End: this.track.frameCount - 1 };
    if (event.key in by) {
      event.preventDefault();
      this.jump(Math.max(by[event.key], 0));
    }
  }

  /** Draws what is known. */
  draw(now = false): void {
    const { track, frame } = this, visible = track.frameCount > 1;
    const key = `${track.done} ${frame} ${track.frameCount} ${this.canvas.clientWidth} ${document.documentElement.dataset.theme}`;
    this.root.hidden = !visible;
    if (!visible || (key === this.drawn && !now)) {
      return;
    }
    this.drawn = key;
    this.say(frame);
    this.paint(frame);
  }

  private say(frame: number): void {
    const { track } = this, mm = (metres: number) => (Number.isNaN(metres) ? '–' : (1000 * metres).toFixed(1)), last = this.shown.at(-1)!;
    this.words.textContent = track.done < track.frameCount ? `frame ${track.done} of ${track.frameCount} compared`
      : `frame ${frame}: ${mm(track.rms[last][frame])}, farthest vertex ${mm(track.largest[frame])} · clip: ${this.shown.map((kind) => mm(track.mean(kind))).join(' / ')}`;
    this.toWorst.disabled = track.worst < 0;
    this.canvas.setAttribute('aria-valuemax', String(track.frameCount - 1));
    this.canvas.setAttribute('aria-valuenow', String(frame));
    this.canvas.setAttribute('aria-valuetext', `frame ${frame}, ${mm(track.rms[last][frame])} mm`);
  }

  private paint(frame: number): void {
    const { canvas, track } = this, context = canvas.getContext('2d')!, ratio = Math.min(devicePixelRatio, 2), { clientWidth: width, clientHeight: height } = canvas;
    const style = getComputedStyle(document.documentElement), color = (name: string) => style.getPropertyValue(name).trim();
    canvas.width = Math.max(Math.round(width * ratio), 1);
    canvas.height = Math.max(Math.round(height * ratio), 1);
    context.scale(ratio, ratio);
    const most = this.shown.reduce((high, kind) => track.rms[kind].reduce((a, b) => (b > a ? b : a), high), 1e-3);
    const bottom = height - PAD.bottom, y = (value: number) => bottom - (value / most) * (bottom - PAD.top);
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = color('--muted');
    context.strokeStyle = color('--line');
    context.textAlign = 'right';
    for (const value of [0, most]) {
      context.fillText((1000 * value).toFixed(value > 0 ? 1 : 0), PAD.left - 6, y(value) + 4);
      context.strokeRect(PAD.left, y(value), width - PAD.left - PAD.right, 0);
    }
    for (const kind of this.shown) {
      this.line(context, track.rms[kind], y, color(COLORS[kind]));
    }
    this.mark(context, y, color('--accent'), color('--text'));
    context.fillStyle = color('--text');
    context.fillRect(this.xOf(frame) - 0.75, PAD.top - 8, 1.5, bottom - PAD.top + 8);
  }

  private line(context: CanvasRenderingContext2D, values: Float32Array, y: (value: number) => number, color: string): void {
    context.beginPath();
    values.forEach((value, i) => {
      if (!Number.isNaN(value)) {
        context.lineTo(this.xOf(i), y(value));
      }
    });
    context.lineWidth = 1.5;
    context.strokeStyle = color;
    context.stroke();
  }

  private mark(context: CanvasRenderingContext2D, y: (value: number) => number, color: string, text: string): void {
    const { worst, rms: { springs } } = this.track;
    if (worst < 0) {
      return;
    }
    const x = this.xOf(worst), top = y(springs[worst]);
    context.fillStyle = color;
    context.beginPath();
    context.arc(x, top, 4, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = text;
    context.textAlign = x > this.canvas.clientWidth / 2 ? 'right' : 'left';
    context.fillText(`worst: ${(1000 * springs[worst]).toFixed(1)}`, x + (x > this.canvas.clientWidth / 2 ? -8 : 8), Math.max(top - 5, 11));
  }
}
