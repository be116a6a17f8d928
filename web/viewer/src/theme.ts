// Light, dark, or as the system has it; the choice is kept by the browser.
type Theme = 'auto' | 'light' | 'dark';
const KEY = 'jounce-theme';
const listeners: (() => void)[] = [];
const dark = matchMedia('(prefers-color-scheme: dark)');

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'auto';
  } catch {
    return 'auto'; // storage may be forbidden
  }
}

let theme = stored();

function apply(): void {
  document.documentElement.dataset.theme = theme === 'auto' ? (dark.matches ? 'dark' : 'light') : theme;
  listeners.forEach((listener) => listener());
}

/** Calls back when the colours changed. */
export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

export function cycleTheme(): void {
  const shown = document.documentElement.dataset.theme;
  // The first press always changes what is seen.
  theme = shown === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // then only for now
  }
  apply();
}

dark.addEventListener('change', apply);
apply();
