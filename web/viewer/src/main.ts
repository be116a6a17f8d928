import './style.css';
import './theme';
import { loadRuntime } from 'jounce';
import type { Motion } from './simulation';
import { Viewer } from './viewer';

interface Description {
  name: string;
  motions: Motion[];
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

async function start(): Promise<void> {
  const [runtime, file, description] = await Promise.all([
    loadRuntime(),
    load('./character.jounce').then((response) => response.arrayBuffer()),
    load('./view.json').then((response) => response.json() as Promise<Description>),
  ]);
  const viewer = new Viewer(runtime.loadAsset(file), description.motions);
  document.title = `${description.name} · Jounce`;
  (window as unknown as { viewer: Viewer }).viewer = viewer;
  viewer.run();
}

start().catch(fail);
