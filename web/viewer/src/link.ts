// The settings as the part of the address behind '#', so that a view can be sent to someone: only what differs from the defaults.
import type { Asset } from 'jounce';
import { DEFAULTS, heatsOf, MODES, type Settings } from './settings';

const NUMBERS = { hertz: [0.25, 4], ratio: [0.0625, 16], strength: [0, 2], network: [0, 2], inertia: [0, 1], gravity: [0, 20], timeScale: [0, 2], rate: [0, 240], copies: [1, 1000] } as const;
const CHOICES = {
  mode: MODES.map(({ value }) => value as string), against: MODES.map(({ value }) => value as string), compare: ['none', 'side', 'overlay', 'all'],
} as const;

/** Where a link stands: seconds in the clip, of a page that is paused, and the camera's position and target. */
export interface Place {
  time?: number;
  view?: number[];
}

export function linkOf(settings: Settings, asset: Asset, place: Place = {}): string {
  const words = new URLSearchParams();
  if (settings.clip !== DEFAULTS.clip && asset.clips[settings.clip]) {
    words.set('clip', asset.clips[settings.clip].name);
  }
  for (const key of [...Object.keys(NUMBERS), ...Object.keys(CHOICES), 'heat'] as (keyof Settings)[]) {
    if (settings[key] !== DEFAULTS[key]) {
      words.set(key, String(settings[key]));
    }
  }
  if (place.time !== undefined) {
    words.set('time', place.time.toFixed(3));
  }
  if (place.view) {
    words.set('view', place.view.map((x) => x.toFixed(2)).join('_'));
  }
  const text = words.toString();
  return text ? `#${text}` : '';
}

/** What an address asks for; words that mean nothing here are left out. */
export function readLink(hash: string, asset: Asset, simulated: boolean): Partial<Settings> {
  const words = new URLSearchParams(hash.replace(/^#/, '')), found: Record<string, unknown> = {};
  const clip = asset.findClip(words.get('clip') ?? '');
  if (clip >= 0) {
    found['clip'] = clip;
  }
  for (const [key, [least, most]] of Object.entries(NUMBERS)) {
    const value = Number(words.get(key) ?? Number.NaN), largest = key === 'copies' && !(asset.isLinear && asset.weightCount > 0) ? 100 : most;
    if (Number.isFinite(value)) {
      found[key] = Math.min(Math.max(key === 'copies' ? Math.round(value) : value, least), largest);
    }
  }
  for (const [key, values] of Object.entries({ ...CHOICES, heat: heatsOf(asset, simulated).map(({ value }) => value as string) })) {
    const value = words.get(key);
    if (value !== null && (values as readonly string[]).includes(value)) {
      found[key] = value;
    }
  }
  return found as Partial<Settings>;
}

/** Where an address says to stand. */
export function readPlace(hash: string): Place {
  const words = new URLSearchParams(hash.replace(/^#/, '')), time = Number(words.get('time') ?? Number.NaN);
  const view = (words.get('view') ?? '').split('_').map(Number), place: Place = {};
  if (Number.isFinite(time) && time >= 0) {
    place.time = time;
  }
  if (view.length === 6 && view.every(Number.isFinite)) {
    place.view = view;
  }
  return place;
}
