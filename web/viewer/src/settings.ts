// All that a person can set in the page.

export type Mode = 'skinned' | 'target' | 'springs';
export type Compare = 'none' | 'side' | 'overlay';
export type Heat = 'none' | 'stiffness' | 'damping' | 'regime' | 'offset' | 'speed';

export interface Settings {
  clip: number;
  playing: boolean;
  /** Time runs, the pose stays: for a shake of a body that stands still. */
  hold: boolean;
  mode: Mode;
  compare: Compare;
  against: Mode;
  heat: Heat;
  /** Times the frequency of every spring. */
  hertz: number;
  /** Times the damping ratio of every spring. */
  ratio: number;
  strength: number;
  inertia: number;
  /** m/s², downwards. */
  gravity: number;
  timeScale: number;
  /** Steps a second; 0: as the screen. */
  rate: number;
  copies: number;
}

export const MODES: { value: Mode; label: string }[] = [
  { value: 'skinned', label: 'Skinned' },
  { value: 'target', label: 'Network' },
  { value: 'springs', label: 'Springs' },
];

export const HEATS: { value: Heat; label: string }[] = [
  { value: 'none', label: 'None' },
  { value: 'stiffness', label: 'Stiffness' },
  { value: 'damping', label: 'Damping' },
  { value: 'regime', label: 'Over- or underdamped' },
  { value: 'offset', label: 'Size of the offset' },
  { value: 'speed', label: 'Speed of the offset' },
];

export const DEFAULTS: Readonly<Settings> = {
  clip: 0, playing: true, hold: false, mode: 'springs', compare: 'none', against: 'skinned', heat: 'none', hertz: 1, ratio: 1,
  strength: 1, inertia: 1, gravity: 0, timeScale: 1, rate: 0, copies: 1,
};
