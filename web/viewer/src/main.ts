import './style.css';
import './theme';
import { loadRuntime } from 'jounce';
import { element } from './controls';
import type { Motion } from './simulation';
import { ServerAuthor, type Author } from './studio/author';
import { Studio } from './studio/studio';
import { loadMaterials } from './studio/textures';
import { Welcome } from './studio/welcome';
import { Viewer } from './viewer';

interface Description {
  name: string;
  motions: Motion[];
  /** Whether `jounce studio` serves the page, and has a character. */
  studio?: boolean;
  opened?: boolean;
  /** Whether it has regions with sliders, and a file with textures. */
  regions?: boolean;
  textures?: boolean;
}

function fail(reason: unknown): void {
  const message = document.getElementById('message')!;
  message.textContent = reason instanceof Error ? reason.message : String(reason);
  message.hidden = false;
  document.getElementById('hint')!.hidden = true;
}

async function load(path: string): Promise<Response> {
  const response = await fetch(path, { cache: 'no-store' });
  if (!response.ok) {
    throw new Error(`${path}: cannot be loaded, status ${response.status}`);
  }
  return response;
}

// The studio around a viewer: sliders, the mask, textures. An engineer's character without a body has none.
async function openStudio(author: Author, { regions, textures }: Description, make: (panel: HTMLElement | null) => Viewer): Promise<Viewer> {
  const [state, about, source] = await Promise.all([author.look(), regions ? author.about() : null, textures ? author.source() : null]);
  if (!about) {
    const viewer = make(null);
    document.getElementById('hint')!.textContent = 'This character has no flesh with regions: springs of single vertices are set in manifest.yaml.';
    return viewer;
  }
  const place = element('div', {}), viewer = make(place), studio = new Studio(viewer, author, about, state);
  place.replaceWith(studio.root);
  viewer.onFrame = () => studio.followBrush();
  (window as unknown as { studio: Studio }).studio = studio;
  if (source) {
    loadMaterials(viewer.asset, source).then((materials) => materials && viewer.setMaterials(materials), () => undefined); // then without
  }
  return viewer;
}

async function start(): Promise<void> {
  const description = await load('./view.json').then((response) => response.json() as Promise<Description>);
  const author = description.studio ? new ServerAuthor() : null;
  if (author && !description.opened) {
    document.title = 'Jounce studio';
    (window as unknown as { welcome: Welcome }).welcome = new Welcome(author);
    return;
  }
  const [runtime, file] = await Promise.all([loadRuntime(), load('./character.jounce').then((response) => response.arrayBuffer())]);
  const make = (panel: HTMLElement | null) => new Viewer(runtime.loadAsset(file), description.motions, panel);
  const viewer = author ? await openStudio(author, description, make) : make(null);
  document.title = `${description.name} · Jounce${author ? ' studio' : ''}`;
  (window as unknown as { viewer: Viewer }).viewer = viewer;
  viewer.run();
}

start().catch(fail);
