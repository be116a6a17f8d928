// What is painted on the body instead of its own colours: the regions, or the mask.
import type { Asset } from 'jounce';
import type { Region } from './author';

const GOLDEN = 0.618034;

/** A colour for a region that differs from those beside it, as bytes of the screen. */
export function colorOf(region: Region): [number, number, number] {
  const hue = 360 * ((region.number * GOLDEN) % 1), level = (n: number) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (0.62 - 0.3 * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [level(0), level(8), level(4)];
}

/** RGBA bytes of the file vertices by their regions. chosen: the one that stands out; '' for none. */
export function regionColors(asset: Asset, regions: readonly Region[], vertices: readonly number[], chosen: string): Uint8Array {
  const colors = new Uint8Array(4 * asset.fileVertexCount).fill(255), table = new Map(regions.map((region) => [region.number, { region, color: colorOf(region) }]));
  asset.weld.forEach((v, i) => {
    const entry = table.get(vertices[v]);
    const strength = !entry ? 0 : chosen === '' || entry.region.name === chosen ? 1 : 0.22;
    colors.set((entry?.color ?? [150, 150, 150]).map((value) => Math.round(190 + strength * (value - 190))), 4 * i);
  });
  return colors;
}

/** The same by the mask: warm is flesh, grey rigid. */
export function maskColors(asset: Asset, mask: Float32Array | null): Uint8Array {
  const colors = new Uint8Array(4 * asset.fileVertexCount).fill(255), soft = [224, 122, 72], rigid = [120, 132, 146];
  asset.weld.forEach((v, i) => {
    const weight = mask ? mask[v] : 1;
    colors.set(soft.map((value, k) => Math.round(rigid[k] + weight * (value - rigid[k]))), 4 * i);
  });
  return colors;
}
