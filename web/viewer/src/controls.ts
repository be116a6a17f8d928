// The panel's parts: sections, sliders, choices, buttons. Native inputs, so that keyboard and screen readers work.

type Child = Node | string;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export function section(title: string, ...children: Child[]): HTMLElement {
  return element('section', {}, element('h2', {}, title), ...children);
}

export interface SliderOptions {
  id: string;
  label: string;
  min: number;
  max: number;
  step: number;
  value: number;
  /** What the number beside the slider says. */
  format: (value: number) => string;
  /** From the slider's place to the value and back; default: the same. */
  fromPlace?: (place: number) => number;
  toPlace?: (value: number) => number;
  title?: string;
  onInput: (value: number) => void;
}

export interface Slider {
  root: HTMLElement;
  set(value: number): void;
}

/** A slider with its name and its value. A double click brings the default back. */
export function slider(options: SliderOptions): Slider {
  const to = options.toPlace ?? ((x) => x), from = options.fromPlace ?? ((x) => x);
  const output = element('output', { for: options.id });
  const input = element('input', {
    id: options.id, type: 'range', min: String(options.min), max: String(options.max), step: String(options.step),
  });
  const show = (value: number) => {
    output.textContent = options.format(value);
    input.setAttribute('aria-valuetext', options.format(value));
    const share = (Number(input.value) - options.min) / (options.max - options.min);
    input.style.setProperty('--share', `${100 * share}%`);
  };
  const set = (value: number) => {
    input.value = String(to(value));
    show(value);
  };
  const change = (value: number) => {
    show(value);
    options.onInput(value);
  };
  set(options.value);
  input.addEventListener('input', () => change(from(Number(input.value))));
  input.addEventListener('dblclick', () => {
    set(options.value);
    options.onInput(options.value);
  });
  const root = element('div', { class: 'slider' }, element('label', { for: options.id }, options.label), output, input);
  if (options.title) {
    root.title = options.title;
  }
  return { root, set };
}

export interface Choice<T extends string> {
  value: T;
  label: string;
  disabled?: string; // why
}

export interface Segmented<T extends string> {
  root: HTMLElement;
  set(value: T): void;
}

/** A row of which one is chosen. */
export function segmented<T extends string>(
  name: string, label: string, choices: readonly Choice<T>[], value: T, onChange: (value: T) => void): Segmented<T> {
  const inputs = new Map<T, HTMLInputElement>();
  const root = element('div', { class: 'segmented', role: 'radiogroup', 'aria-label': label });
  for (const choice of choices) {
    const input = element('input', { type: 'radio', name, value: choice.value });
    input.checked = choice.value === value;
    input.disabled = choice.disabled !== undefined;
    input.addEventListener('change', () => onChange(choice.value));
    inputs.set(choice.value, input);
    root.append(element('label', choice.disabled ? { title: choice.disabled } : {}, input, element('span', {}, choice.label)));
  }
  return { root, set: (next) => { inputs.get(next)!.checked = true; } };
}

export interface Select {
  root: HTMLElement;
  set(value: string): void;
}

export function select(
  id: string, label: string, choices: readonly Choice<string>[], value: string, onChange: (value: string) => void): Select {
  const input = element('select', { id }, ...choices.map((choice) => element('option', { value: choice.value }, choice.label)));
  input.value = value;
  input.addEventListener('change', () => onChange(input.value));
  return {
    root: element('div', { class: 'field' }, element('label', { for: id }, label), input),
    set: (next) => { input.value = next; },
  };
}

export function button(label: string, title: string, onClick: () => void, className = ''): HTMLButtonElement {
  const made = element('button', { type: 'button', title, class: className }, label);
  made.addEventListener('click', onClick);
  return made;
}
