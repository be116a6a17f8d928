// Keys, and the page that lists them.
import { element } from './controls';

export interface KeyActions {
  toggle(): void;
  hold(): void;
  mode(number: number): void;
  compare(): void;
  heat(): void;
  clip(by: number): void;
  shake(): void;
  restart(): void;
  fit(): void;
  close(): void;
}

const KEYS: [string, string][] = [
  ['Space', 'play or pause'],
  ['P', 'hold the pose'],
  ['1  2  3', 'skinned, network, springs'],
  ['C', 'alone, two or all side by side, overlaid'],
  ['H', 'next heat map'],
  ['[  ]', 'previous, next clip'],
  ['S', 'shake'],
  ['R', 'all sliders to their defaults'],
  ['F', 'look at everything'],
  ['Esc', 'close the curves'],
];
const GESTURES: [string, string][] = [
  ['Drag the body', 'shakes it'],
  ['Click the body', 'curves of the vertex'],
  ['Drag beside it', 'rotates the view'],
  ['Wheel, pinch', 'nearer, farther'],
  ['Right button, two fingers', 'moves the view'],
  ['Double click a slider', 'its default'],
];

export function openHelp(): void {
  const dialog = document.getElementById('help') as HTMLDialogElement;
  if (dialog.childElementCount === 0) {
    const list = (rows: [string, string][], tag: 'kbd' | 'span') =>
      element('dl', {}, ...rows.flatMap(([key, what]) => [element('dt', {}, ...key.split('  ').map((part) => element(tag, {}, part))), element('dd', {}, what)]));
    const close = element('button', { type: 'button', class: 'strong' }, 'Close');
    close.addEventListener('click', () => dialog.close());
    dialog.append(element('h2', { id: 'help-title' }, 'Keys and gestures'), list(KEYS, 'kbd'), list(GESTURES, 'span'), close);
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog) {
        dialog.close();
      }
    });
  }
  dialog.showModal();
}

export function wireKeys(actions: KeyActions): void {
  const table: Record<string, () => void> = {
    ' ': actions.toggle, p: actions.hold, 1: () => actions.mode(0), 2: () => actions.mode(1), 3: () => actions.mode(2), c: actions.compare,
    h: actions.heat, '[': () => actions.clip(-1), ']': () => actions.clip(1), s: actions.shake, r: actions.restart, f: actions.fit,
    escape: actions.close, '?': openHelp,
  };
  addEventListener('keydown', (event) => {
    const on = event.target as HTMLElement;
    const typing = on instanceof HTMLSelectElement || (event.key === ' ' && (on instanceof HTMLButtonElement || (on instanceof HTMLInputElement && on.type !== 'range')));
    const action = table[event.key.toLowerCase()];
    if (!action || typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) {
      return;
    }
    event.preventDefault();
    action();
  });
}
