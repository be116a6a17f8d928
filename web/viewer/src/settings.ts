// All that a person can set in the page.
import type { Asset } from 'jounce';

export type Mode = 'skinned' | 'target' | 'springs' | 'simulation';
export type Compare = 'none' | 'side' | 'overlay' | 'all';
export type Heat =
  | 'none' | 'stiffness' | 'damping' | 'regime' | 'region'
  | 'offset' | 'speed' | 'displacement' | 'error';

/** Factors over what the file says of the modes at a joint. */
export interface Region {
  hertz: number;
  ratio: number;
  gain: number;
}

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
  /** Share of what the network adds. */
  network: number;
  inertia: number;
  /** m/s², downwards. */
  gravity: number;
  timeScale: number;
  /** Steps a second; 0: as the screen. */
  rate: number;
  copies: number;
  /** The joint whose modes the region's sliders tune. */
  region: number;
  /** By joint; those that are not here are as the file says. */
  regions: Record<number, Region>;
}

export const MODES: { value: Mode; label: string }[] = [
  { value: 'skinned', label: 'Skinned' },
  { value: 'target', label: 'Network' },
  { value: 'springs', label: 'Springs' },
  { value: 'simulation', label: 'Simulation' },
];

/** What a mode is called, by an engineer or an artist. */
export function labelsOf(artist: boolean): Record<Mode, string> {
  const plain = Object.fromEntries(MODES.map(({ value, label }) => [value, label])) as Record<Mode, string>;
  return artist ? { ...plain, skinned: 'Without flesh', target: 'Pose alone', springs: 'With flesh' } : plain;
}

/** What the page can show of a character. */
export function modesOf(asset: Asset, simulated: boolean): Mode[] {
  const missing: Record<Mode, boolean> = { skinned: false, target: asset.network === 'none', springs: asset.springCount === 0, simulation: !simulated };
  return MODES.map(({ value }) => value).filter((mode) => !missing[mode]);
}

const SPRING_HEATS: { value: Heat; label: string }[] = [
  { value: 'stiffness', label: 'Stiffness' },
  { value: 'damping', label: 'Damping' },
  { value: 'regime', label: 'Over- or underdamped' },
];

/** The heat maps that make sense for an asset. */
export function heatsOf(asset: Asset, simulated: boolean): { value: Heat; label: string }[] {
  const heats: { value: Heat; label: string }[] = [{ value: 'none', label: 'None' }];
  if (asset.layer !== 'none') {
    heats.push(...SPRING_HEATS.map(({ value, label }) => ({ value, label })));
  }
  if (asset.modes.length > 0) {
    heats.push({ value: 'region', label: 'Region of the modes' });
  }
  if (asset.layer !== 'none') {
    heats.push({ value: 'offset', label: 'Size of the offset' }, { value: 'speed', label: 'Speed of the offset' });
  }
  if (asset.network !== 'none') {
    heats.push({ value: 'displacement', label: 'What the network adds' });
  }
  if (simulated) {
    heats.push({ value: 'error', label: 'Distance to the simulation' });
  }
  return heats;
}

export const DEFAULTS: Readonly<Settings> = {
  clip: 0, playing: true, hold: false, mode: 'springs', compare: 'none', against: 'skinned', heat: 'none', hertz: 1, ratio: 1,
  strength: 1, network: 1, inertia: 1, gravity: 0, timeScale: 1, rate: 0, copies: 1, region: -1, regions: {},
};
