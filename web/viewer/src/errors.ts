// How far the skin, the network and the springs are from the simulation, frame by frame of a clip that is played from its start at its own
// rate. A few milliseconds of it are done in every frame of the screen, as the simulated frames come in.
import type { Asset, Character, Surface } from 'jounce';
import type { Player } from './player';

const AHEAD = 4; // simulated frames that are asked for at once

export type Tracked = 'skinned' | 'target' | 'springs';
export const TRACKED: readonly Tracked[] = ['skinned', 'target', 'springs'];

export class ErrorTrack {
  /** Root mean square over the vertices in metres, of every frame of the clip; NaN: not known (yet). */
  rms: Record<Tracked, Float32Array> = { skinned: new Float32Array(0), target: new Float32Array(0), springs: new Float32Array(0) };
  /** The largest distance of any vertex, with springs. */
  largest = new Float32Array(0);
  private clip = -1;
  private next = 0; // frame
  private stepped = -1; // the frame that the character is in
  private readonly character: Character;
  private readonly scratch: Surface;
  private readonly places: Int32Array; // [vertexCount], a file vertex of each

  constructor(private readonly asset: Asset, private readonly player: Player) {
    this.character = asset.createCharacter({ timing: 'causal' });
    this.scratch = asset.createSurface();
    this.places = new Int32Array(asset.vertexCount);
    asset.weld.forEach((v, i) => { this.places[v] = i; });
  }

  get frameCount(): number {
    return this.largest.length;
  }

  /** Frames that are done: all of them at the end. */
  get done(): number {
    return this.next;
  }

  /** The frame with the largest error with springs; -1: none is known. */
  get worst(): number {
    return this.rms.springs.reduce((best, value, i, all) => (value > (all[best] ?? -1) ? i : best), -1);
  }

  /** The mean over the frames that are known, metres. */
  mean(of: Tracked): number {
    const known = this.rms[of].filter((value) => !Number.isNaN(value));
    return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : Number.NaN;
  }

  /** Begins anew: another clip, or the springs were tuned. */
  restart(): void {
    const { settings: { clip }, simulation } = this.player, motion = simulation.motionOf(clip);
    const frames = motion ? Math.min(this.asset.clips[clip].frameCount, motion.first + motion.frames) : 0;
    const none = () => new Float32Array(frames).fill(Number.NaN);
    this.clip = clip;
    this.next = 0;
    this.stepped = -1;
    this.rms = { skinned: none(), target: none(), springs: none() };
    this.largest = none();
    if (frames > 0) {
      this.player.tune(this.character);
    }
  }

  /** Works for about so many milliseconds; true: something was added. */
  advance(milliseconds: number): boolean {
    const { simulation } = this.player, first = simulation.motionOf(this.clip)?.first ?? 0, end = performance.now() + milliseconds, from = this.next;
    while (this.next < this.frameCount && performance.now() < end) {
      this.stepTo(this.next);
      if (this.next >= first) {
        const frame = this.next - first, truth = simulation.frame(this.clip, frame);
        for (let n = 1; n < AHEAD && frame + n < this.frameCount - first; ++n) {
          simulation.frame(this.clip, frame + n);
        }
        if (!truth) {
          break;
        }
        this.measure(this.next, truth);
      }
      this.next += 1;
    }
    return this.next > from;
  }

  private stepTo(frame: number): void {
    if (this.stepped < frame) {
      const { rate } = this.asset.clips[this.clip];
      this.character.sampleClip(this.clip, frame / rate);
      this.character.step(frame === 0 ? 0 : 1 / rate, { teleport: frame === 0 ? 'reset' : 'none', normals: false });
      this.stepped = frame;
    }
  }

  private measure(frame: number, truth: Float32Array): void {
    const { character, scratch } = this, output = { surface: scratch, normals: false };
    const [springs, largest] = this.distance(character.positions, truth);
    this.rms.springs[frame] = springs;
    this.largest[frame] = largest;
    character.evaluateTarget(1, output);
    this.rms.target[frame] = this.distance(scratch.positions, truth)[0];
    character.skin(output);
    this.rms.skinned[frame] = this.distance(scratch.positions, truth)[0];
  }

  private distance(positions: Float32Array, truth: Float32Array): [rms: number, largest: number] {
    const { places } = this;
    let sum = 0, most = 0;
    for (let v = 0; v < places.length; ++v) {
      const i = 3 * places[v], x = positions[i] - truth[3 * v], y = positions[i + 1] - truth[3 * v + 1], z = positions[i + 2] - truth[3 * v + 2];
      const square = x * x + y * y + z * z;
      sum += square;
      most = Math.max(most, square);
    }
    return [Math.sqrt(sum / places.length), Math.sqrt(most)];
  }
}
