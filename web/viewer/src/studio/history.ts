// What can be taken back: changes of the sliders and strokes of the brush, which the page keeps, and saves, which the author keeps.

/** Everything that a person sets before it is saved. */
export interface Draft {
  tuning: string; // JSON of a Tuning, so that a draft cannot change behind its back
  build: string;
  mask: Float32Array | null;
}

type Step = { kind: 'draft'; before: Draft; after: Draft } | { kind: 'save' };

const MOST = 200;

export class History {
  private done: Step[] = [];
  private undone: Step[] = [];

  get canUndo(): boolean { return this.done.length > 0; }
  get canRedo(): boolean { return this.undone.length > 0; }

  add(step: Step): void {
    this.done = [...this.done.slice(-MOST + 1), step];
    this.undone = [];
  }

  /** The step that is taken back; null: there is none. */
  undo(): Step | null {
    const step = this.done.pop() ?? null;
    if (step) {
      this.undone.push(step);
    }
    return step;
  }

  redo(): Step | null {
    const step = this.undone.pop() ?? null;
    if (step) {
      this.done.push(step);
    }
    return step;
  }

  /** A step that could not be taken after all. */
  putBack(undoing: boolean): void {
    if (undoing) {
      this.redo();
    } else {
      this.undo();
    }
  }

  /** Without the masks, which would not fit: strokes cannot be taken back after a reload. */
  toJSON(): unknown {
    const plain = (steps: Step[]) => steps.filter((step) => step.kind === 'save' || (step.before.mask === step.after.mask)).map((step) =>
      step.kind === 'save' ? step : { kind: step.kind, before: { ...step.before, mask: null }, after: { ...step.after, mask: null } });
    return { done: plain(this.done), undone: plain(this.undone) };
  }

  /** mask: that all of them have. */
  static from(text: string | null, mask: Float32Array | null): History {
    const history = new History(), give = (step: Step) => { if (step.kind === 'draft') { step.before.mask = step.after.mask = mask; } };
    const { done, undone } = text ? JSON.parse(text) as { done: Step[]; undone: Step[] } : { done: [], undone: [] };
    [done, undone].forEach((steps) => steps.forEach(give));
    history.done = done;
    history.undone = undone;
    return history;
  }
}
