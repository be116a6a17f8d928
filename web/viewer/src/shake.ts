// The hand: dragging the body moves its root, letting go brings it home, a click picks a vertex.
import { Vector3 } from 'three';
import type { Stage } from './stage';

const CLICK_PIXELS = 5; // a press that moves less is a click
const FOLLOW = 0.025; // seconds in which the body follows the hand, against the steps of a mouse
const HOME = 0.09; // seconds in which it goes home
const REACH = 1.5; // metres it can be dragged
const SHAKE = { seconds: 0.9, hertz: 3.2, metres: 0.07 };

export class Hand {
  /** Where the body is dragged to, metres from home. */
  readonly offset = new Vector3();
  private readonly goal = new Vector3();
  private grabbed: { start: Vector3; id: number; x: number; y: number; moved: boolean; face: [number, number, number] } | null = null;
  private shaking = -1;
  /** Whether presses on the body are for somebody else. */
  off = false;

  constructor(private readonly stage: Stage, private readonly onPick: (face: [number, number, number], point: Vector3) => void, private readonly onDrag: () => void) {
    const canvas = stage.canvas;
    // Before the camera's own listener: a press on the body is not one on the view.
    canvas.parentElement!.addEventListener('pointerdown', (event) => this.press(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) {
      canvas.addEventListener(name, (event) => this.release(event, name === 'pointerup'));
    }
  }

  get isDragging(): boolean {
    return this.grabbed !== null;
  }

  private press(event: PointerEvent): void {
    if (event.target !== this.stage.canvas || this.off) {
      return;
    }
    if (event.button !== 0 || this.grabbed) {
      // A second finger: both turn and zoom the view.
      this.grabbed = null;
      this.stage.controls.enabled = true;
      return;
    }
    const hit = this.stage.pick(event.clientX, event.clientY);
    this.stage.controls.enabled = hit === null;
    if (hit) {
      this.stage.canvas.setPointerCapture(event.pointerId);
      this.stage.canvas.classList.add('dragging');
      this.grabbed = { start: hit.point.clone().sub(this.offset), id: event.pointerId, x: event.clientX, y: event.clientY, moved: false, face: hit.face };
    }
  }

  private move(event: PointerEvent): void {
    const grabbed = this.grabbed;
    if (!grabbed || event.pointerId !== grabbed.id) {
      return;
    }
    grabbed.moved ||= Math.hypot(event.clientX - grabbed.x, event.clientY - grabbed.y) > CLICK_PIXELS;
    if (grabbed.moved) {
      this.onDrag();
      this.goal.copy(this.stage.onPlane(event.clientX, event.clientY, grabbed.start)).sub(grabbed.start);
      this.goal.clampLength(0, REACH);
    }
  }

  private release(event: PointerEvent, ended: boolean): void {
    const grabbed = this.grabbed;
    if (!grabbed || event.pointerId !== grabbed.id) {
      return;
    }
    this.grabbed = null;
    this.goal.set(0, 0, 0);
    this.stage.controls.enabled = true;
    this.stage.canvas.classList.remove('dragging');
    if (ended && !grabbed.moved) {
      this.onPick(grabbed.face, grabbed.start);
    }
  }

  /** A shake without a hand. */
  shake(): void {
    this.shaking = 0;
  }

  /** Moves the body towards the hand. */
  advance(seconds: number): void {
    if (this.shaking >= 0 && !this.grabbed) {
      this.shaking += seconds;
      const fade = Math.max(1 - this.shaking / SHAKE.seconds, 0), phase = 2 * Math.PI * SHAKE.hertz * this.shaking;
      this.goal.set(0.5 * Math.sin(0.7 * phase), Math.sin(phase), 0).multiplyScalar(SHAKE.metres * Math.sqrt(fade));
      if (fade === 0) {
        this.shaking = -1;
        this.goal.set(0, 0, 0);
      }
    }
    const time = this.grabbed || this.shaking >= 0 ? FOLLOW : HOME;
    this.offset.lerp(this.goal, 1 - Math.exp(-seconds / time));
    if (this.offset.lengthSq() < 1e-12) {
      this.offset.set(0, 0, 0);
    }
  }
}
