// Puts player, stage, panel and curves together, and runs them frame by frame.
import { Vector3, type MeshStandardMaterial } from 'three';
import type { Asset } from 'jounce';
import { Curves } from './curves';
import { ErrorTrack } from './errors';
import { drawLegend, HeatMap, isMoving } from './heat';
import { openHelp, wireKeys } from './keys';
import { linkOf, readLink, readPlace, type Place } from './link';
import { MorphCrowd } from './morph_crowd';
import { Panel } from './panel';
import { FEWEST_FRAMES, LONGEST_FILM, recordCanvas, saveFile } from './record';
import { Player, type Actor, type Drawable } from './player';
import { DEFAULTS, heatsOf, labelsOf, MODES, modesOf, type Heat, type Mode, type Settings } from './settings';
import { Hand } from './shake';
import { Simulation, type Motion } from './simulation';
import { Body, Stage } from './stage';
import type { Preview } from './studio/preview';
import { cycleTheme, onTheme } from './theme';
import { Timeline } from './timeline';

const FOLLOW = 0.35; // seconds in which the camera follows a body that walks
const SAMPLE = 61; // every so many vertices are looked at for the place of the body

const TRACK_WORK = 4; // milliseconds of a frame for the errors of the timeline

/** One body of a copy. mode: what it shows; null: what the panel says. */
interface Shown {
  body: Body;
  mode: Mode | null;
}

interface Drawn {
  actor: Actor;
  main: Body; // the one that heat maps are painted on and that stands for the copy
  shown: Shown[]; // from left to right, main among them
  home: Vector3; // where the copy stands
}

export class Viewer {
  readonly settings: Settings = { ...DEFAULTS };
  readonly player: Player;
  readonly stage: Stage;
  readonly hand: Hand;
  readonly curves: Curves;
  readonly track: ErrorTrack;
  readonly timeline: Timeline;
  private readonly simulated: boolean;
  private readonly panel: Panel;
  private readonly heat: HeatMap;
  private drawn: Drawn[] = [];
  private crowd: MorphCrowd | null = null;
  private homes: Vector3[] = []; // of the crowd
  private drawTimes: number[] = []; // milliseconds
  private frameCount = 0; // drawn so far
  private drawCost = 0; // seconds of script for drawing a frame
  private followed: Vector3 | null = null;
  private last = 0;
  private running = false;
  private repaint = true;
  private over: Uint8Array | null = null; // colours instead of the body's own
  private readonly labels: Record<Mode, string>;
  /** Shapes what is shown of the flesh, in the studio. */
  preview: Preview | null = null;
  /** Called with the vertex of the asset that was clicked, instead of its curves. */
  onPick: ((vertex: number) => void) | null = null;
  /** Called before a frame is drawn. */
  onFrame: (() => void) | null = null;
  private readonly find = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

  /** studio: what the panel begins with for an artist, instead of an engineer's sliders. */
  constructor(readonly asset: Asset, motions: readonly Motion[], studio: HTMLElement | null = null) {
    this.labels = labelsOf(studio !== null);
    const simulation = new Simulation(asset, motions), place = readPlace(location.hash);
    this.simulated = simulation.any;
    Object.assign(this.settings, readLink(location.hash, asset, simulation.any));
    if (asset.springCount === 0 || this.settings.mode === 'simulation' || (this.settings.mode === 'target' && asset.network === 'none')) {
      this.settings.mode = asset.springCount === 0 ? 'skinned' : 'springs';
    }
    const heats = heatsOf(asset, simulation.any);
    this.player = new Player(asset, this.settings, simulation);
    this.stage = new Stage(this.find<HTMLCanvasElement>('view'), asset);
    this.heat = new HeatMap(asset);
    this.curves = new Curves(this.find('curves'), asset, this.player, () => { this.stage.marker.visible = false; });
    this.track = new ErrorTrack(asset, this.player);
    this.timeline = new Timeline(this.find('errors'), asset, this.player, this.track, (time) => this.stand(time));
    this.hand = new Hand(this.stage, (face, point) => this.pick(face, point), () => this.hideHint());
    this.panel = new Panel(this.find('panel'), asset, this.settings, simulation.any, {
      changed: (key) => this.changed(key),
      seek: (time) => this.player.playTo(time),
      shake: () => this.shake(),
      restart: () => this.restart(),
      fit: () => this.fit(),
      help: openHelp,
      record: () => void this.record(),
      copyLink: () => void navigator.clipboard?.writeText(this.placeLink),
      theme: cycleTheme,
    }, this.labels, studio);
    this.player.onStep = (_, jumped) => this.curves.record(jumped);
    onTheme(() => {
      this.stage.setTheme();
      this.curves.setTheme();
    });
    wireKeys({
      toggle: () => this.set('playing', !this.settings.playing),
      hold: () => this.set('hold', !this.settings.hold),
      mode: (number) => this.chooseMode(MODES[number]?.value),
      compare: () => this.set('compare', ({ none: 'side', side: 'all', all: 'overlay', overlay: 'none' } as const)[this.settings.compare]),
      heat: () => this.set('heat', heats[(heats.findIndex((heat) => heat.value === this.settings.heat) + 1) % heats.length].value),
      clip: (by) => this.set('clip', (this.settings.clip + by + Math.max(asset.clips.length, 1)) % Math.max(asset.clips.length, 1)),
      shake: () => this.shake(),
      restart: () => this.restart(),
      fit: () => this.fit(),
      close: () => this.curves.close(),
    });
    this.player.setCopies(this.settings.copies);
    this.player.applySettings();
    this.player.seek(0);
    this.track.restart();
    this.build();
    this.fit();
    this.open(place);
    this.stage.onResize = () => this.stage.isMoved || this.fit(); // panels come and go
  }

  // Where a link says to stand.
  private open({ time, view }: Place): void {
    if (time !== undefined) {
      this.stand(Math.min(time, this.player.duration));
    }
    if (view) {
      this.stage.look(view);
      this.followed = this.place(this.player.show(this.player.actors[0], this.settings.mode));
    }
  }

  /** Pauses at a time of the clip, as playing up to it leaves the flesh. */
  stand(time: number): void {
    this.player.playTo(time);
    this.set('playing', false);
  }

  /** The address of the page as it is now, to send to someone. */
  get link(): string {
    return location.href.replace(/#.*/, '') + linkOf(this.settings, this.asset);
  }

  /** The same with the place of the camera and, while it is paused, in the clip. */
  get placeLink(): string {
    const time = this.settings.playing ? {} : { time: this.player.clipTime };
    return location.href.replace(/#.*/, '') + linkOf(this.settings, this.asset, { ...time, view: this.stage.view });
  }

  private set<K extends keyof Settings>(key: K, value: Settings[K]): void {
    this.settings[key] = value;
    this.changed(key);
    this.panel.refresh();
  }

  private chooseMode(mode: Mode | undefined): void {
    const missing = (mode === 'target' && this.asset.network === 'none') || (mode === 'springs' && this.asset.springCount === 0);
    if (mode && !missing) {
      this.set('mode', mode);
    }
  }

  private changed(key: keyof Settings): void {
    this.repaint = true;
    history.replaceState(null, '', linkOf(this.settings, this.asset) || location.pathname);
    if (key === 'clip') {
      this.followed = null;
      this.player.seek(0);
      this.heat.restart();
      this.track.restart();
    } else if (key === 'copies' || key === 'compare') {
      if (key === 'copies') {
        this.player.setCopies(this.settings.copies);
      }
      this.build();
      this.fit();
      this.panel.refresh();
    } else if (key === 'against') {
      this.build();
    } else if (key === 'playing' || key === 'heat' || key === 'region') {
      this.heat.restart();
      this.panel.refresh();
    } else {
      this.player.applySettings();
      if (key === 'network') {
        this.player.retarget();
      }
      this.curves.name();
      if (['hertz', 'ratio', 'strength', 'network', 'inertia', 'gravity', 'regions'].includes(key)) {
        this.track.restart();
      }
    }
  }

  shake(): void {
    this.hand.shake();
  }

  /** Tunes all copies anew. */
  retune(): void {
    this.player.applySettings();
    this.track.restart();
  }

  /** Colours, RGBA bytes of the file vertices, instead of the body's own; null: its own. */
  paintOver(colors: Uint8Array | null): void {
    this.over = colors;
    this.repaint = true;
  }

  /** Draws the parts with these materials. */
  setMaterials(materials: MeshStandardMaterial[]): void {
    this.stage.textured = materials;
    this.repaint = true;
  }

  /** Pauses at a frame of a clip, as playing up to it leaves the flesh. */
  standAt(name: string, frame: number): void {
    const clip = this.asset.findClip(name);
    if (clip >= 0) {
      this.set('clip', clip);
      this.stand(frame / this.asset.clips[clip].rate);
    }
  }

  // What a mode shows, between the limits and under the mask of the studio.
  private shown(actor: Actor, mode: Mode): Drawable {
    const surface = this.player.show(actor, mode);
    return mode === 'springs' && this.preview?.shapes ? this.preview.shape(surface, this.player.targetOf(actor)) : surface;
  }

  private restart(): void {
    const { clip, mode, compare, against, heat, region } = this.settings, copies = this.settings.copies;
    Object.assign(this.settings, DEFAULTS, { clip, mode, compare, against, heat, copies, region, regions: {} });
    this.player.applySettings();
    this.player.retarget();
    this.curves.name();
    this.track.restart();
    this.panel.refresh();
    this.repaint = true;
  }

  // What the bodies of a copy show, from left to right; null: what the panel says.
  private get modes(): (Mode | null)[] {
    const { compare, against } = this.settings;
    return compare === 'none' ? [null] : compare === 'all' ? modesOf(this.asset, this.simulated) : [against, null];
  }

  // How many bodies of a copy stand beside each other.
  private get abreast(): number {
    return this.settings.compare === 'overlay' ? 1 : this.modes.length;
  }

  // Bodies for every copy, in rows, the comparison to the left of each.
  private build(): void {
    this.drawn.forEach(({ shown }) => shown.forEach(({ body }) => body.dispose()));
    const { copies } = this.settings, columns = Math.ceil(Math.sqrt(copies)), rows = Math.ceil(copies / columns);
    const { spacing, depth } = this.layout();
    const homeOf = (i: number) => new Vector3(((i % columns) - (columns - 1) / 2) * spacing, 0, -(Math.floor(i / columns) - (rows - 1) / 2) * depth);
    this.drawn = this.player.actors.map((actor, i) => this.makeDrawn(actor, homeOf(i)));
    this.buildCrowd(homeOf);
    this.stage.setShadows(copies * this.abreast);
    this.followed = null;
    this.repaint = true;
  }

  private makeDrawn(actor: Actor, home: Vector3): Drawn {
    const { solid, ghost, index, base, bodies } = this.stage, { modes } = this, main = modes.includes(null) ? null : modes.includes('springs') ? 'springs' : 'skinned';
    const shown = modes.map((mode): Shown => {
      const material = this.settings.compare === 'overlay' && mode !== main ? ghost : solid;
      const body = new Body(this.asset, mode === null || mode === 'springs' ? actor.character.surface : actor.skinned, index, base, material);
      body.mesh.castShadow = body.mesh.receiveShadow = material === solid;
      body.mesh.renderOrder = mode === main ? 0 : 1;
      bodies.add(body.mesh);
      return { body, mode };
    });
    return { actor, main: shown.find(({ mode }) => mode === main)!.body, shown, home };
  }

  // The copies that are weights alone, drawn in one call.
  private buildCrowd(homeOf: (copy: number) => Vector3): void {
    const others = this.player.others?.characters.length ?? 0, { index, base, size, center, bodies } = this.stage;
    this.homes = Array.from({ length: others }, (_, i) => homeOf(i + this.drawn.length));
    if (others > 0 && !this.crowd) {
      this.crowd = new MorphCrowd(this.asset, index, base, size, center);
      bodies.add(this.crowd.mesh);
    }
    this.crowd?.setCount(others);
  }

  private layout(): { width: number; spacing: number; depth: number } {
    const { size } = this.stage, wide = Math.max(size.x, 0.98 * size.y) * 1.06;
    return { width: wide, spacing: (this.abreast + (this.abreast > 1 ? 0.1 : 0)) * wide, depth: Math.max(1.7 * size.z, 0.8 * size.y) };
  }

  private fit(): void {
    const columns = Math.ceil(Math.sqrt(this.settings.copies)), rows = Math.ceil(this.settings.copies / columns);
    const { width, spacing, depth } = this.layout();
    const across = (columns - 1) * spacing + this.abreast * width;
    this.stage.fit(across, (rows - 1) * depth, this.abreast > 1 ? 0.1 : 0.42);
    this.followed = null;
  }

  private pick(face: [number, number, number], point: Vector3): void {
    const first = this.drawn[0], positions = first.actor.character.positions;
    const distance = (v: number) => point.distanceTo(new Vector3(positions[3 * v], positions[3 * v + 1], positions[3 * v + 2]).add(first.main.mesh.position));
    const vertex = face.reduce((best, v) => (distance(v) < distance(best) ? v : best));
    this.hideHint();
    if (this.onPick) {
      this.onPick(this.asset.weld[vertex]);
      return;
    }
    this.curves.open(vertex);
    this.stage.marker.visible = true;
  }

  // Whoever has found out need not be told.
  private hideHint(): void {
    this.find('hint').style.opacity = '0';
  }

  // Where a body is on the floor.
  private place(surface: Drawable): Vector3 {
    const positions = surface.positions, sum = new Vector3();
    let count = 0;
    for (let v = 0; v < this.asset.fileVertexCount; v += SAMPLE, ++count) {
      sum.x += positions[3 * v];
      sum.z += positions[3 * v + 2];
    }
    return sum.divideScalar(Math.max(count, 1));
  }

  private arrange(entry: Drawn, main: Drawable, seconds: number): void {
    const offset = this.hand.offset, home = entry.home.clone();
    const where = this.place(main).sub(new Vector3(offset.x, 0, offset.z));
    if (this.player.copies > 1) {
      home.sub(where); // a crowd stays in its rows
    } else {
      const goal = this.followed ?? where, share = 1 - Math.exp(-seconds / FOLLOW);
      const next = goal.clone().lerp(where, share);
      const by = this.followed ? next.clone().sub(this.followed) : next.clone().setY(0).sub(this.stage.controls.target).setY(0);
      this.stage.follow(by);
      this.followed = next;
    }
    const { width } = this.layout(), { abreast } = this;
    entry.shown.forEach(({ body }, i) => body.mesh.position.copy(home).setX(home.x + (abreast > 1 ? (i - (abreast - 1) / 2) * width : 0)));
  }

  private paint(entry: Drawn, seconds: number): void {
    const { heat, mode } = this.settings, { textured, solid, ghost } = this.stage;
    for (const { body, mode: own } of entry.shown) {
      const colors = body.colors.array as Uint8Array;
      if (body.mesh.material === ghost) {
        continue;
      }
      const bare = heat === 'none' && this.over === null;
      body.mesh.material = bare && textured ? textured : solid;
      if (heat === 'error' && own !== 'simulation' && this.settings.compare === 'all') {
        this.measureError(entry.actor, own ?? mode, seconds); // each has its own
        this.heat.paint(colors);
      } else if (heat === 'none' || body !== entry.main) {
        colors.set(this.over ?? this.stage.base);
      } else {
        if (isMoving(heat)) {
          this.measureMotion(entry.actor, heat, seconds);
        } else if (entry === this.drawn[0]) {
          this.measureSprings(entry.actor, heat); // all copies have the same
        }
        this.heat.paint(colors);
      }
      body.colors.needsUpdate = true;
    }
  }

  private measureError(actor: Actor, mode: Mode, seconds: number): void {
    const there = this.player.showSimulation(false), { positions } = this.player.show(actor, mode);
    this.heat.measureMotion('error', positions, there ? this.player.simulation.positions : positions, seconds);
  }

  private measureMotion(actor: Actor, heat: Heat, seconds: number): void {
    const { shown, target } = this.player.compare(actor);
    if (heat === 'displacement') {
      this.heat.measureMotion(heat, target.positions, this.player.skin(actor).positions, seconds);
    } else if (heat === 'error') {
      this.measureError(actor, this.settings.mode, seconds);
    } else if (heat === 'speed') {
      this.heat.measureMotion(heat, shown.velocities, target.velocities, seconds);
    } else {
      this.heat.measureMotion(heat, shown.positions, target.positions, seconds);
    }
  }

  private measureSprings({ character }: Actor, heat: Heat): void {
    const { hertz, ratio, region } = this.settings, modes = character.readModes(region);
    if (modes && heat === 'region') {
      this.heat.measureShare(`modes at ${this.asset.joints[region].name}`, modes.share, modes.stiffness);
    } else if (modes && !heat.startsWith('own')) {
      this.heat.measureSprings(heat, { ...modes, hertz: 1, ratio: 1, ofModes: true });
    } else {
      this.heat.measureSprings(heat, { stiffness: this.asset.stiffness, damping: this.asset.damping, hertz, ratio, ofModes: false });
    }
  }

  /** A frame of the screen: moves everything by so many seconds and, unless told not to, draws. */
  frame(seconds: number, draws = true): void {
    const s = this.settings;
    this.onFrame?.();
    this.hand.advance(Math.min(seconds, 0.1));
    this.player.root.splice(0, 3, this.hand.offset.x, this.hand.offset.y, this.hand.offset.z);
    this.player.advance(seconds);
    const start = performance.now();
    for (const entry of this.drawn) {
      if (this.repaint || isMoving(s.heat)) {
        this.paint(entry, seconds); // before what is shown: both write to the copy's surfaces
      }
      const there = this.player.copies === 1 && this.player.simulation.has(s.clip);
      const surfaces = entry.shown.map(({ mode }) => this.shown(entry.actor, mode ?? s.mode));
      entry.shown.forEach(({ body, mode }, i) => { // all are worked out before: the runtime's memory may have moved meanwhile
        body.update(surfaces[i]);
        body.mesh.visible = mode !== 'simulation' || there;
      });
      this.arrange(entry, surfaces[entry.shown.findIndex(({ body }) => body === entry.main)], seconds);
    }
    if (this.crowd && this.player.others) {
      this.crowd.update(this.player.others, this.homes, this.hand.offset, s.mode, this.stage.camera);
    }
    this.repaint = false;
    drawLegend(this.find('legend'), s.heat === 'none' ? null : this.heat.scale);
    if (!draws) {
      this.track.advance(TRACK_WORK);
      return;
    }
    this.placeMarker();
    this.placeNames();
    this.stage.render();
    this.frameCount += 1;
    this.takeDrawTime(performance.now() - start);
    this.track.advance(TRACK_WORK);
    this.curves.draw();
    this.timeline.draw();
    this.panel.showTime(this.player.clipTime, this.player.duration);
    this.showStats();
  }

  // The median over some frames: what other work interrupts does not count.
  private takeDrawTime(milliseconds: number): void {
    this.drawTimes.push(milliseconds);
    if (this.drawTimes.length >= 15) {
      this.drawCost = this.drawTimes.sort((a, b) => a - b)[7] / 1000;
      this.drawTimes = [];
    }
  }

  private placeMarker(): void {
    const first = this.drawn[0], v = 3 * this.curves.vertex;
    if (this.curves.vertex >= 0) {
      const positions = this.player.show(first.actor, this.settings.mode).positions;
      this.stage.marker.position.set(positions[v], positions[v + 1], positions[v + 2]).add(first.main.mesh.position);
    }
  }

  // Names above the bodies of a comparison, or a key for the two that lie over each other.
  private placeNames(): void {
    const names = this.find('names'), { compare, mode, against, copies, clip } = this.settings, { shown } = this.drawn[0];
    const missing = !this.player.simulation.has(clip) || copies > 1;
    const label = (value: Mode) => this.labels[value] + (value === 'simulation' && missing ? ': none here' : '');
    const beside = this.abreast > 1;
    const texts = compare === 'none' || (copies > 1 && beside) ? [] : beside ? shown.map((one) => label(one.mode ?? mode)) : [label(mode), label(against)];
    names.className = compare;
    if (names.dataset.text !== texts.join()) {
      names.dataset.text = texts.join();
      names.replaceChildren(...texts.map((text) => Object.assign(document.createElement('span'), { textContent: text })));
    }
    const { clientWidth, clientHeight } = this.stage.canvas.parentElement!;
    Array.from(names.children).forEach((child, i) => {
      const span = child as HTMLElement;
      if (!beside) {
        span.removeAttribute('style');
        return;
      }
      const at = this.followed!.clone().add(shown[i].body.mesh.position).setY(this.stage.center.y + 0.6 * this.stage.size.y).project(this.stage.camera);
      span.style.left = `${((at.x + 1) / 2) * clientWidth}px`;
      span.style.top = `${Math.max(((1 - at.y) / 2) * clientHeight, 48)}px`;
    });
  }

  private showStats(): void {
    const { cost, copies } = this.player, ms = (seconds: number) => `${(1000 * seconds).toFixed(2)} ms`;
    const number = (value: number) => value.toLocaleString('en');
    const parts = copies === 1
      ? [['step', ms(cost.one)], ['vertices', number(this.asset.vertexCount)]]
      : [['step of all', ms(cost.all)], ['of one', ms(cost.one)], ['vertices', number(this.asset.vertexCount * copies)]];
    parts.push(['draw', ms(this.drawCost)]);
    if (this.crowd && this.player.others) {
      parts.push(['of the targets', `${Math.round(100 * this.crowd.detail)} %`]);
    }
    parts.push(['frames/s', cost.framesPerSecond.toFixed(0)]);
    const text = parts.map((part) => part.join(' ')).join();
    const stats = this.find('stats');
    if (stats.dataset.text !== text) {
      stats.dataset.text = text;
      stats.replaceChildren(...parts.map(([label, value]) => {
        const item = document.createElement('span');
        item.append(Object.assign(document.createElement('b'), { textContent: value }), ` ${label}`);
        return item;
      }));
    }
  }

  /** Runs at the rate of the screen from now on. */
  run(): void {
    const tick = (now: number) => {
      if (!this.running) {
        return;
      }
      const seconds = this.last > 0 ? (now - this.last) / 1000 : 1 / 60;
      this.last = now;
      this.frame(seconds);
      this.stage.pace(seconds);
      requestAnimationFrame(tick);
    };
    this.running = true;
    this.last = 0;
    requestAnimationFrame(tick);
  }

  /** A film of the clip from its start to its end, handed to the browser as a file; resolves with its bytes. */
  async record(): Promise<Blob> {
    const seconds = Math.min(this.player.duration / Math.max(this.settings.timeScale, 0.05), LONGEST_FILM);
    const end = performance.now() + 1000 * seconds, frames = this.frameCount + FEWEST_FRAMES;
    const film = recordCanvas(this.stage.canvas, () => performance.now() >= end && this.frameCount >= frames);
    this.player.seek(0);
    this.set('playing', true);
    const blob = await film;
    saveFile(blob, `${this.asset.name}-${this.player.clip?.name ?? 'still'}.webm`);
    return blob;
  }

  /** Stands still; frames are for the caller to ask for. */
  stop(): void {
    this.running = false;
  }

  /** What the page is doing, for tests and the curious. */
  report() {
    const first = this.player.actors[0], { shown, target } = this.player.compare(first);
    const a = shown.positions, b = target.positions;
    let largest = 0;
    for (let i = 0; i < a.length; i += 3) {
      largest = Math.max(largest, (a[i] - b[i]) ** 2 + (a[i + 1] - b[i + 1]) ** 2 + (a[i + 2] - b[i + 2]) ** 2);
    }
    return {
      settings: { ...this.settings }, time: this.player.time, clock: this.player.clock, copies: this.player.copies, drawCost: this.drawCost, detail: this.crowd?.detail ?? 1,
      largestOffset: Math.sqrt(largest), cost: this.player.cost, samples: this.curves.sampleCount, vertex: this.curves.vertex,
      simulation: this.curves.hasSimulation, hand: this.hand.offset.toArray(), // some, all over the body
      positions: Array.from({ length: 300 }, (_, i) => a[Math.floor((i * a.length) / 300)]),
    };
  }
}
