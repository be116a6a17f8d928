// The brush: painting on the body takes weight from the mask or gives it back, around a point of the rest surface, and on its mirror image.
import type { Asset } from 'jounce';
import type { Vector3 } from 'three';
import type { Stage } from '../stage';

export interface BrushSettings {
  /** What is painted: 1 soft, 0 rigid. */
  goal: 0 | 1;
  radius: number; // metres
  mirrored: boolean;
}

export class Brush {
  on = false;
  readonly settings: BrushSettings = { goal: 0, radius: 0.06, mirrored: true };
  private stroke: { id: number } | null = null;

  /** begin, end: of a stroke. The mask is changed between them. */
  constructor(private readonly stage: Stage, private readonly asset: Asset, private readonly mask: () => Float32Array, private readonly begin: () => void, private readonly end: () => void) {
    const canvas = stage.canvas;
    canvas.parentElement!.addEventListener('pointerdown', (event) => this.press(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) {
      canvas.addEventListener(name, (event) => this.release(event));
    }
  }

  private press(event: PointerEvent): void {
    if (!this.on || event.target !== this.stage.canvas || event.button !== 0 || this.stroke) {
      return;
    }
    const hit = this.stage.pick(event.clientX, event.clientY);
    this.stage.controls.enabled = hit === null;
    if (hit) {
      this.stage.canvas.setPointerCapture(event.pointerId);
      this.stroke = { id: event.pointerId };
      this.begin();
      this.paint(hit);
    }
  }

  private move(event: PointerEvent): void {
    const hit = this.stroke?.id === event.pointerId ? this.stage.pick(event.clientX, event.clientY) : null;
    if (hit) {
      this.paint(hit);
    }
  }

  private release(event: PointerEvent): void {
    if (this.stroke?.id === event.pointerId) {
      this.stroke = null;
      this.stage.controls.enabled = true;
      this.end();
    }
  }

  // The corner of the triangle that is nearest to the pointer stands for the place on the rest surface.
  private paint({ body, point, face }: { body: { position: Vector3; geometry: unknown }; point: Vector3; face: [number, number, number] }): void {
    const { rest, weld } = this.asset;
    const positions = (body as unknown as { geometry: { attributes: { position: { array: Float32Array } } } }).geometry.attributes.position.array;
    const distance = (i: number) => Math.hypot(positions[3 * i] + body.position.x - point.x, positions[3 * i + 1] + body.position.y - point.y, positions[3 * i + 2] + body.position.z - point.z);
    const v = 4 * weld[face.reduce((best, i) => (distance(i) < distance(best) ? i : best))];
    this.dab(rest[v], rest[v + 1], rest[v + 2]);
    if (this.settings.mirrored) {
      this.dab(2 * this.stage.center.x - rest[v], rest[v + 1], rest[v + 2]);
    }
  }

  /** A dab around a place of the rest surface, with a smooth edge. */
  dab(x: number, y: number, z: number): void {
    const { rest, vertexCount } = this.asset, { goal, radius } = this.settings, mask = this.mask();
    for (let v = 0; v < vertexCount; ++v) {
      const t = 1 - Math.hypot(rest[4 * v] - x, rest[4 * v + 1] - y, rest[4 * v + 2] - z) / radius;
      if (t > 0) {
        const weight = Math.min(2 * t, 1) ** 2 * (3 - 2 * Math.min(2 * t, 1));
        mask[v] += (goal - mask[v]) * weight;
      }
    }
  }
}
