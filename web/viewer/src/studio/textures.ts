// Materials and textures of the character's own file, for the parts of the same name.
import { MeshStandardMaterial, type Material } from 'three';
import { GLTFLoader } from 'three/examples/jsm/loaders/GLTFLoader.js';
import type { Asset } from 'jounce';

/** A material for every part; null where the file brings no texture. */
export async function loadMaterials(asset: Asset, file: ArrayBuffer): Promise<MeshStandardMaterial[] | null> {
  const { parser } = await new GLTFLoader().parseAsync(file, '');
  const names = ((parser.json as { materials?: { name?: string }[] }).materials ?? []).map(({ name }) => name ?? '');
  const materials = await Promise.all(names.map((_, i) => parser.getDependency('material', i) as Promise<Material>));
  const parts = asset.parts.map((part) => {
    const at = names.length === 1 && asset.parts.length === 1 ? 0 : names.indexOf(part.material), from = materials[at];
    if (!(from instanceof MeshStandardMaterial)) {
      return { made: new MeshStandardMaterial({ color: 0xc9a48e, roughness: 0.62 }), textured: false };
    }
    const made = from.clone();
    made.vertexColors = false;
    return { made, textured: made.map !== null };
  });
  return parts.some(({ textured }) => textured) ? parts.map(({ made }) => made) : null;
}
