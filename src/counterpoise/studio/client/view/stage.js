// The three-dimensional view: renderer, camera, lights, ground and orbit. The server is z up, the view y up.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

const plain = new URLSearchParams(location.search).has("plain"); // no shadows, for machines without a graphics card

/** Puts a place of the server (z up) into a vector of the view (y up). @param {THREE.Vector3} v @param {number} x @param {number} y @param {number} z */
export const toView = (v, x, y, z) => v.set(x, z, -y);
/** @param {THREE.Vector3} v @returns {[number, number, number]} */
export const fromView = v => [v.x, -v.z, v.y];
/** Turns a quaternion of the server into one of the view. @param {THREE.Quaternion} q @param {number} x @param {number} y @param {number} z @param {number} w */
export const turnToView = (q, x, y, z, w) => q.set(x, z, -y, w);
/** @param {THREE.Quaternion} q @returns {[number, number, number, number]} w first */
export const turnFromView = q => [q.w, q.x, -q.z, q.y];

const colour = (/** @type {string} */ name) => new THREE.Color(getComputedStyle(document.documentElement).getPropertyValue(name).trim());

/** A square grid of short pieces: long lines through the camera are not drawn by every machine. @param {number} reach [m] @param {number} step [m] */
function gridLines(reach, step) {
  const places = [];
  for (let a = -reach; a <= reach + 1e-9; a += step) for (let b = -reach; b < reach; b += 1) places.push(a, 0, b, a, 0, b + 1, b, 0, a, b + 1, 0, a);
  return new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
}

export class Stage {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !plain, preserveDrawingBuffer: true });
    const context = this.renderer.getContext(), card = context.getExtension("WEBGL_debug_renderer_info");
    this.software = /swiftshader|llvmpipe|software|basic render/i.test(String(context.getParameter(card ? card.UNMASKED_RENDERER_WEBGL : context.RENDERER))); // no graphics card: drawing is slow
    this.renderer.setPixelRatio(plain ? 1 : Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = !plain;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.05, 120);
    this.camera.position.set(3.0, 1.45, 1.75);
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.target.set(0, 0.92, 0);
    this.orbit.mouseButtons = { LEFT: THREE.MOUSE.ROTATE, MIDDLE: THREE.MOUSE.ROTATE, RIGHT: THREE.MOUSE.PAN };
    this.orbit.minDistance = 0.2;
    this.orbit.maxDistance = 60;
    this.orbit.addEventListener("change", () => this.touch());
    this.lights();
    /** @type {THREE.Group} */ this.ground = new THREE.Group();
    this.scene.add(this.ground);
    this.theme();
    this.dirty = true;
    /** @type {Array<() => boolean>} */ this.before = []; // called before each picture; true: something moved
    this.scriptTime = 0; // [ms] of our own code in the last picture
    this.drawTime = 0; // [ms] of drawing it
    new ResizeObserver(() => this.fit()).observe(/** @type {Element} */ (canvas.parentElement));
    this.fit();
    this.renderer.setAnimationLoop(() => this.draw());
  }

  lights() {
    this.scene.add(new THREE.HemisphereLight(0xe6edf8, 0x4a4640, 1.7));
    const sun = new THREE.DirectionalLight(0xfff4e2, 2.3);
    sun.position.set(2.2, 4.5, 2.4);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    sun.shadow.bias = -0.0004;
    sun.shadow.normalBias = 0.01;
    sun.shadow.radius = 5;
    const box = sun.shadow.camera;
    [box.left, box.right, box.top, box.bottom, box.near, box.far] = [-2.5, 2.5, 2.5, -2.5, 0.5, 14];
    this.sun = sun;
    this.scene.add(sun, sun.target);
  }

  /** Takes the colours of the page's theme. */
  theme() {
    const sky = colour("--sky");
    this.scene.background = sky;
    this.scene.fog = new THREE.Fog(sky, 9, 26);
    this.ground.clear();
    const floor = new THREE.Mesh(new THREE.PlaneGeometry(80, 80).rotateX(-Math.PI / 2), new THREE.MeshStandardMaterial({ color: colour("--ground"), roughness: 1, depthWrite: false }));
    floor.receiveShadow = true;
    floor.renderOrder = -2; // drawn first and without depth, so that lines on it are never hidden by it
    for (const [name, reach, step, opacity] of /** @type {const} */ ([["--grid", 6, 0.25, 0.28], ["--grid-strong", 24, 1, 0.5]])) {
      const grid = new THREE.LineSegments(gridLines(reach, step), new THREE.LineBasicMaterial({ color: colour(name), transparent: true, opacity, depthWrite: false }));
      grid.renderOrder = -1;
      this.ground.add(grid);
    }
    this.floor = floor;
    this.ground.add(floor);
    this.touch();
  }

  fit() {
    const box = /** @type {HTMLElement} */ (this.canvas.parentElement).getBoundingClientRect();
    if (box.width < 2 || box.height < 2) return;
    this.renderer.setSize(box.width, box.height, false);
    this.camera.aspect = box.width / box.height;
    this.camera.updateProjectionMatrix();
    this.touch();
  }

  /** Something changed: the next picture is drawn. */
  touch() { this.dirty = true; }

  draw() {
    const began = performance.now();
    let moved = false;
    for (const step of this.before) moved = step() || moved;
    this.orbit.update();
    if (!moved && !this.dirty) return;
    this.dirty = false;
    this.sun?.target.position.set(this.orbit.target.x, 0, this.orbit.target.z);
    this.sun?.position.set(this.orbit.target.x + 2.2, 4.5, this.orbit.target.z + 2.4);
    const drawn = performance.now();
    this.renderer.render(this.scene, this.camera);
    this.scriptTime = drawn - began;
    this.drawTime = performance.now() - drawn;
  }

  /** Looks at a place from the same side. @param {THREE.Vector3} place @param {number} size [m] */
  frame(place, size) {
    const way = this.camera.position.clone().sub(this.orbit.target).normalize();
    const far = (0.62 * size) / Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2));
    this.orbit.target.copy(place);
    this.camera.position.copy(place).addScaledVector(way, far);
    this.touch();
  }

  /** Where the camera is, as the server counts [m]. */
  get eye() { return fromView(this.camera.position); }
  /** What it looks at. */
  get target() { return fromView(this.orbit.target); }

  /** Looks from one place to another, as the server counts. @param {[number, number, number]} eye @param {[number, number, number]} target */
  lookFrom(eye, target) {
    toView(this.camera.position, ...eye);
    toView(this.orbit.target, ...target);
    this.touch();
  }

  /** Goes nearer (below 1) or farther. @param {number} by */
  zoom(by) {
    const away = this.camera.position.clone().sub(this.orbit.target), far = Math.min(Math.max(away.length() * by, this.orbit.minDistance), this.orbit.maxDistance);
    this.camera.position.copy(this.orbit.target).addScaledVector(away.normalize(), far);
    this.touch();
  }

  /** Moves the camera over the ground [m, as the server counts]. @param {number} x @param {number} y */
  shift(x, y) {
    for (const place of [this.camera.position, this.orbit.target]) place.set(place.x + x, place.y, place.z - y);
  }

  /** Looks along an axis: "front", "side" or "top". @param {string} side */
  look(side) {
    const far = this.camera.position.distanceTo(this.orbit.target), target = this.orbit.target;
    const way = { front: [1, 0, 0], side: [0, 0, 1], top: [0.001, 1, 0] }[side] ?? [1, 0.3, 1];
    this.camera.position.set(way[0], way[1], way[2]).normalize().multiplyScalar(far).add(target);
    this.touch();
  }

  /** The ray through a place of the screen. @param {{clientX: number, clientY: number}} event @param {THREE.Raycaster} ray */
  aim(event, ray) {
    const box = this.canvas.getBoundingClientRect();
    const spot = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    ray.setFromCamera(spot, this.camera);
    return ray;
  }

  /** Where a place of the view is on the screen [px]. @param {THREE.Vector3} place @returns {[number, number]} */
  spot(place) {
    const box = this.canvas.getBoundingClientRect(), v = place.clone().project(this.camera);
    return [box.left + ((v.x + 1) / 2) * box.width, box.top + ((1 - v.y) / 2) * box.height];
  }
}
