// The scene: bodies, light, floor, camera.
import {
  AmbientLight, BufferAttribute, BufferGeometry, CanvasTexture, Color, DirectionalLight, DynamicDrawUsage, Fog, Group,
  HemisphereLight, Mesh, MeshBasicMaterial, MeshStandardMaterial, PCFSoftShadowMap, PerspectiveCamera, PlaneGeometry,
  Raycaster, RepeatWrapping, Scene, ShadowMaterial, Sphere, SphereGeometry, SRGBColorSpace, Vector2, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { Asset } from 'jounce';
import type { Drawable } from './player';
import { readScreenColors } from './screen_colors';

const SHADOW_COPIES = 9; // from more on shadows cost more than they show
const CELL = 0.5; // metres of the floor's squares
const SLOW_FRAME = 1 / 22; // seconds; a screen that takes longer gets a simpler picture
const SLOW_FRAMES = 12; // in a row, before it does

/** A drawn surface: the arrays are the runtime's own, without a copy. */
export class Body {
  readonly mesh: Mesh<BufferGeometry, MeshStandardMaterial | MeshStandardMaterial[]>;
  readonly colors: BufferAttribute;
  private readonly position: BufferAttribute;
  private readonly normal: BufferAttribute;

  constructor(asset: Asset, surface: Drawable, index: BufferAttribute, base: Uint8Array, material: MeshStandardMaterial) {
    const geometry = new BufferGeometry();
    this.position = new BufferAttribute(surface.positions, 3).setUsage(DynamicDrawUsage);
    this.normal = new BufferAttribute(surface.normals, 3).setUsage(DynamicDrawUsage);
    this.colors = new BufferAttribute(base.slice(), 4, true).setUsage(DynamicDrawUsage);
    geometry.setIndex(index);
    geometry.setAttribute('position', this.position);
    geometry.setAttribute('normal', this.normal);
    geometry.setAttribute('color', this.colors);
    if (asset.uvs) { // counted from the bottom; a glTF's from the top
      geometry.setAttribute('uv', new BufferAttribute(Float32Array.from(asset.uvs, (value, i) => (i % 2 ? 1 - value : value)), 2));
      asset.parts.forEach((part, i) => geometry.addGroup(3 * part.firstTriangle, 3 * part.triangleCount, i));
    }
    geometry.boundingSphere = new Sphere(new Vector3(), 1e6); // the body moves: never culled, always tried by a ray
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  /** Draws what the surface holds now. Its arrays move when the runtime's memory grows. */
  update(surface: Drawable): void {
    this.position.array = surface.positions;
    this.normal.array = surface.normals;
    this.position.needsUpdate = true;
    this.normal.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.removeFromParent();
    this.mesh.geometry.dispose();
  }
}

export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(32, 1, 0.05, 200);
  readonly renderer: WebGLRenderer;
  readonly controls: OrbitControls;
  readonly bodies = new Group();
  readonly marker: Mesh;
  readonly size: Vector3; // of the character at rest
  readonly center: Vector3;
  readonly solid = new MeshStandardMaterial({ vertexColors: true, roughness: 0.62, metalness: 0 });
  readonly ghost = new MeshStandardMaterial({
    color: 0x3b82d6, roughness: 0.7, transparent: true, opacity: 0.42, depthWrite: false,
  });
  /** Colours of the parts, RGBA bytes of the file vertices, as the screen wants them. */
  readonly base: Uint8Array;
  readonly index: BufferAttribute;
  /** Materials of the parts, where the character's own file brings textures. */
  textured: MeshStandardMaterial[] | null = null;
  /** Whether a hand has moved the camera since everything was fitted into the picture. */
  isMoved = false;
  /** Called when the picture has another size. */
  onResize: (() => void) | null = null;
  private readonly sun = new DirectionalLight(0xffffff, 2.1);
  private readonly sky = new HemisphereLight(0xffffff, 0x8a8078, 1.35);
  private readonly fill = new AmbientLight(0xffffff, 0.25);
  private readonly shadow = new Mesh(new PlaneGeometry(60, 60), new ShadowMaterial({ opacity: 0.22, depthWrite: false }));
  private readonly grid: Mesh<PlaneGeometry, MeshBasicMaterial>;
  private readonly raycaster = new Raycaster();
  private slowFrames = 0;
  private detail = 3; // 3 all; 2 no shadows; 1 one pixel of the page each; 0 fewer
  private wantsShadows = true;

  constructor(readonly canvas: HTMLCanvasElement, asset: Asset) {
    readScreenColors(this.solid);
    this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: 'high-performance' });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    this.index = new BufferAttribute(Uint32Array.from(asset.triangles), 1);
    this.base = baseColors(asset);

    const low = new Vector3(Infinity, Infinity, Infinity), high = new Vector3(-Infinity, -Infinity, -Infinity);
    const rest = asset.rest;
    for (let v = 0; v < asset.vertexCount; ++v) {
      const point = new Vector3(rest[4 * v], rest[4 * v + 1], rest[4 * v + 2]);
      low.min(point);
      high.max(point);
    }
    this.size = high.clone().sub(low);
    this.center = high.clone().add(low).multiplyScalar(0.5);

    const reach = Math.max(this.size.x, this.size.y, this.size.z);
    this.grid = makeGrid(60, CELL, this.renderer.capabilities.getMaxAnisotropy());
    this.grid.position.y = low.y - 0.004 * reach;
    this.shadow.rotation.x = -Math.PI / 2;
    this.shadow.receiveShadow = true;
    this.shadow.position.y = low.y;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    Object.assign(this.sun.shadow.camera, {
      left: -1.5 * reach, right: 1.5 * reach, top: 1.5 * reach, bottom: -1.5 * reach, near: 0.1, far: 10 * reach,
    });
    this.sun.shadow.normalBias = 0.004 * reach;
    this.sun.shadow.bias = -0.0004;
    const markerMaterial = new MeshBasicMaterial({ color: 0xd9480f, depthTest: false, transparent: true });
    this.marker = new Mesh(new SphereGeometry(1, 20, 14), markerMaterial);
    this.marker.renderOrder = 2;
    this.marker.visible = false;
    this.scene.add(this.sun, this.sun.target, this.sky, this.fill, this.grid, this.shadow, this.bodies, this.marker);
    this.controls = new OrbitControls(this.camera, canvas);
    Object.assign(this.controls, { enableDamping: true, dampingFactor: 0.12, minDistance: 0.3, maxDistance: 80, maxPolarAngle: 1.62 });
    this.controls.addEventListener('start', () => { this.isMoved = true; });
    new ResizeObserver(() => {
      this.resize();
      this.onResize?.();
    }).observe(canvas.parentElement!);
    this.resize();
    this.setTheme();
  }

  /** Takes over the colours of the page. */
  setTheme(): void {
    const style = getComputedStyle(document.documentElement);
    const background = new Color(style.getPropertyValue('--stage').trim());
    const reach = Math.max(this.size.x, this.size.y, this.size.z);
    this.scene.background = background;
    this.scene.fog = new Fog(background, 7 * reach, 22 * reach);
    this.grid.material.color.set(style.getPropertyValue('--grid').trim());
    const dark = style.getPropertyValue('--dark').trim() === '1';
    this.sky.intensity = dark ? 1.0 : 1.45;
    this.sun.intensity = dark ? 2.3 : 2.0;
    (this.shadow.material as ShadowMaterial).opacity = dark ? 0.5 : 0.2;
  }

  resize(): void {
    const { clientWidth, clientHeight } = this.canvas.parentElement!;
    const finest = this.detail >= 2 ? Math.min(window.devicePixelRatio, 2) : this.detail === 1 ? 1 : 0.6;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, finest));
    this.renderer.setSize(Math.max(clientWidth, 1), Math.max(clientHeight, 1), false);
    this.camera.aspect = Math.max(clientWidth, 1) / Math.max(clientHeight, 1);
    this.camera.updateProjectionMatrix();
  }

  /** Looks at everything within a width and depth, from the front and a little from above and the side. */
  fit(width: number, depth: number, turn: number): void {
    this.isMoved = false;
    const height = this.size.y * 1.42; // arms may rise
    const half = Math.tan(((this.camera.fov / 2) * Math.PI) / 180);
    const distance = Math.max(height / (2 * half), width / (2 * half * this.camera.aspect)) + depth / 2;
    const target = new Vector3(0, this.center.y + 0.09 * this.size.y, 0);
    const raised = depth > this.size.z * 2 ? 0.5 : 0.1;
    const direction = new Vector3(turn, raised, 1).normalize();
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(direction, distance * 1.04);
    this.controls.update();
  }

  /** The camera's position and what it looks at; and looks as such numbers say. */
  get view(): number[] {
    return [...this.camera.position.toArray(), ...this.controls.target.toArray()];
  }

  look(view: readonly number[]): void {
    this.isMoved = true;
    this.camera.position.fromArray(view, 0);
    this.controls.target.fromArray(view, 3);
    this.controls.update();
  }

  /** Moves camera and light along. */
  follow(by: Vector3): void {
    this.controls.target.add(by);
    this.camera.position.add(by);
  }

  setShadows(copies: number): void {
    this.wantsShadows = copies <= SHADOW_COPIES;
    this.sun.castShadow = this.wantsShadows && this.detail === 3;
  }

  /** Takes note of how long a frame took; a machine that cannot keep up gets a simpler picture. */
  pace(seconds: number): void {
    this.slowFrames = seconds > SLOW_FRAME ? this.slowFrames + 1 : 0;
    if (this.slowFrames >= SLOW_FRAMES && this.detail > 0) {
      this.slowFrames = 0;
      this.detail -= 1;
      this.sun.castShadow = this.wantsShadows && this.detail === 3;
      this.resize();
    }
  }

  /** The point of a body under a place of the canvas, in pixels; null: none. */
  pick(x: number, y: number): { body: Mesh; point: Vector3; face: [number, number, number] } | null {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    this.raycaster.setFromCamera(at, this.camera);
    const hit = this.raycaster.intersectObjects(this.bodies.children, false)[0];
    return hit?.face ? { body: hit.object as Mesh, point: hit.point, face: [hit.face.a, hit.face.b, hit.face.c] } : null;
  }

  /** The place under the pointer on the plane through a point that faces the camera. */
  onPlane(x: number, y: number, through: Vector3): Vector3 {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    this.raycaster.setFromCamera(at, this.camera);
    const normal = this.camera.getWorldDirection(new Vector3()), { origin, direction } = this.raycaster.ray;
    const distance = through.clone().sub(origin).dot(normal) / Math.max(direction.dot(normal), 1e-3);
    return origin.clone().addScaledVector(direction, distance);
  }

  render(): void {
    const target = this.controls.target, reach = Math.max(this.size.x, this.size.y, this.size.z);
    this.controls.update();
    this.sun.target.position.set(target.x, this.center.y, target.z);
    this.sun.position.copy(this.sun.target.position).add(new Vector3(1.6, 3.1, 2.2).multiplyScalar(reach));
    this.shadow.position.set(target.x, this.shadow.position.y, target.z);
    this.grid.position.set(CELL * Math.round(target.x / CELL), this.grid.position.y, CELL * Math.round(target.z / CELL));
    this.marker.scale.setScalar(0.006 * this.camera.position.distanceTo(this.marker.position));
    this.renderer.render(this.scene, this.camera);
  }
}

// A floor of squares: a texture, which stays thin and fades with distance where lines would flicker.
function makeGrid(size: number, cell: number, anisotropy: number): Mesh<PlaneGeometry, MeshBasicMaterial> {
  const pixels = 256, canvas = document.createElement('canvas');
  canvas.width = canvas.height = pixels;
  const context = canvas.getContext('2d')!;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, pixels, 3);
  context.fillRect(0, 0, 3, pixels);
  const map = new CanvasTexture(canvas);
  map.wrapS = map.wrapT = RepeatWrapping;
  map.repeat.set(size / cell, size / cell);
  map.anisotropy = anisotropy;
  const grid = new Mesh(new PlaneGeometry(size, size), new MeshBasicMaterial({ map, transparent: true, depthWrite: false }));
  grid.rotation.x = -Math.PI / 2;
  grid.renderOrder = -1;
  return grid;
}

// The parts' linear colours as bytes of the screen's space.
function baseColors(asset: Asset): Uint8Array {
  const colors = new Uint8Array(4 * asset.fileVertexCount).fill(255);
  const parts = asset.parts.length > 0 ? asset.parts : [{ color: [0.6, 0.42, 0.33, 1], firstTriangle: 0, triangleCount: asset.triangleCount }];
  for (const part of parts) {
    const linear = new Color(part.color[0], part.color[1], part.color[2]);
    // A file without a colour of its own says white or grey: clay then.
    const plain = Math.max(...part.color.slice(0, 3)) - Math.min(...part.color.slice(0, 3)) < 0.02;
    const color = plain ? new Color(0xc9a48e) : linear;
    const bytes = color.clone().convertLinearToSRGB();
    const rgb = [bytes.r, bytes.g, bytes.b].map((value) => Math.round(255 * Math.min(Math.max(value, 0), 1)));
    for (let i = 3 * part.firstTriangle; i < 3 * (part.firstTriangle + part.triangleCount); ++i) {
      colors.set(rgb, 4 * asset.triangles[i]);
    }
  }
  return colors;
}
