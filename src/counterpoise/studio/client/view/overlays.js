// What is drawn over the figure: centre of mass and its shadow, support area, contact forces, a trail, the pull.
import * as THREE from "three";
import { toView } from "./stage.js";

const NEWTONS_PER_METRE = 450;
const LEAST_FORCE = 1; // [N] smaller forces are not drawn
const GOOD = 0x6fce8b, BAD = 0xf0705f, BLUE = 0x5aa2f7, WARM = 0xf2b24c;
const A = new THREE.Vector3(), B = new THREE.Vector3(), UP = new THREE.Vector3(0, 1, 0);

/** Is a place inside a polygon (x, y pairs)? @param {number} x @param {number} y @param {ArrayLike<number>} n @param {number} at @param {number} count */
export function inside(x, y, n, at, count) {
  let within = false;
  for (let i = 0, j = count - 1; i < count; j = i++) {
    const xi = n[at + 2 * i], yi = n[at + 2 * i + 1], xj = n[at + 2 * j], yj = n[at + 2 * j + 1];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) within = !within;
  }
  return within;
}

export class Overlays {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    const flat = { transparent: true, depthWrite: false, fog: false };
    this.mass = new THREE.Group();
    this.ball = new THREE.Mesh(new THREE.SphereGeometry(0.028, 20, 14), new THREE.MeshBasicMaterial({ ...flat, color: WARM, depthTest: false, opacity: 0.95 }));
    this.drop = new THREE.Line(new THREE.BufferGeometry().setFromPoints([A, B]), new THREE.LineBasicMaterial({ ...flat, color: WARM, opacity: 0.55 }));
    this.spot = new THREE.Mesh(new THREE.RingGeometry(0.018, 0.03, 24).rotateX(-Math.PI / 2), new THREE.MeshBasicMaterial({ ...flat, color: GOOD, depthTest: false }));
    this.area = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({ ...flat, color: GOOD, opacity: 0.22, side: THREE.DoubleSide }));
    this.edge = new THREE.LineLoop(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ ...flat, color: GOOD, opacity: 0.9 }));
    this.pressure = new THREE.Mesh(new THREE.CircleGeometry(0.016, 20).rotateX(-Math.PI / 2), new THREE.MeshBasicMaterial({ ...flat, color: BLUE, depthTest: false }));
    this.mass.add(this.ball, this.drop, this.spot, this.area, this.edge, this.pressure);
    this.ball.renderOrder = 8;
    this.forces = new THREE.Group();
    /** @type {THREE.Mesh[]} */ this.arrows = [];
    this.trail = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ ...flat, color: BLUE, depthTest: false, opacity: 0.9 }));
    this.trailDots = new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial({ ...flat, color: WARM, size: 7, sizeAttenuation: false, depthTest: false }));
    this.pull = new THREE.Line(new THREE.BufferGeometry().setFromPoints([A, B]), new THREE.LineDashedMaterial({ ...flat, color: BAD, dashSize: 0.03, gapSize: 0.02, depthTest: false }));
    this.pull.visible = false;
    this.goal = new THREE.Mesh(new THREE.RingGeometry(0.1, 0.14, 40).rotateX(-Math.PI / 2), new THREE.MeshBasicMaterial({ ...flat, color: BLUE }));
    this.goal.visible = false;
    stage.scene.add(this.goal);
    for (const line of [this.drop, this.edge, this.trail, this.trailDots, this.pull, this.area]) line.frustumCulled = false;
    stage.scene.add(this.mass, this.forces, this.trail, this.trailDots, this.pull);
    this.total = 0; // [N] of all vertical forces drawn
  }

  /** Centre of mass [m, z up] and the corners of the support. @param {[number, number, number]} com @param {ArrayLike<number>} n @param {number} at @param {number} count */
  setMass(com, n, at, count) {
    toView(this.ball.position, ...com);
    toView(this.spot.position, com[0], com[1], 0.004);
    this.drop.geometry.setFromPoints([this.ball.position, this.spot.position]);
    const over = count >= 3 && inside(com[0], com[1], n, at, count);
    /** @type {THREE.MeshBasicMaterial} */ (this.spot.material).color.setHex(over ? GOOD : BAD);
    this.area.visible = this.edge.visible = count >= 3;
    if (count < 3) return;
    const corners = Array.from({ length: count }, (_, i) => toView(new THREE.Vector3(), n[at + 2 * i], n[at + 2 * i + 1], 0.003));
    const faces = [];
    for (let i = 1; i + 1 < count; i++) faces.push(0, i, i + 1);
    this.area.geometry.setFromPoints(corners);
    this.area.geometry.setIndex(faces);
    this.edge.geometry.setFromPoints(corners);
    for (const part of [this.area, this.edge]) /** @type {any} */ (part.material).color.setHex(over ? GOOD : BAD);
  }

  /** Contact forces: place and force, 6 numbers each. @param {ArrayLike<number>} n @param {number} at @param {number} count */
  setForces(n, at, count) {
    let up = 0, x = 0, y = 0, drawn = 0;
    for (const arrow of this.arrows) arrow.visible = false;
    for (let k = 0; k < count; k++) {
      const o = at + 6 * k, size = Math.hypot(n[o + 3], n[o + 4], n[o + 5]);
      up += n[o + 5];
      x += n[o] * n[o + 5];
      y += n[o + 1] * n[o + 5];
      if (size < LEAST_FORCE) continue;
      const arrow = (this.arrows[drawn] ??= this.newArrow());
      drawn += 1;
      arrow.visible = true;
      toView(arrow.position, n[o], n[o + 1], n[o + 2]);
      arrow.quaternion.setFromUnitVectors(UP, toView(A, n[o + 3], n[o + 4], n[o + 5]).divideScalar(size));
      const length = size / NEWTONS_PER_METRE, thick = Math.min(1, 0.35 + length);
      arrow.scale.set(thick, length, thick);
    }
    this.total = up;
    this.pressure.visible = up > LEAST_FORCE;
    if (up > LEAST_FORCE) toView(this.pressure.position, x / up, y / up, 0.006);
  }

  newArrow() {
    const shaft = new THREE.CylinderGeometry(0.008, 0.008, 0.86, 10).translate(0, 0.43, 0), head = new THREE.ConeGeometry(0.02, 0.14, 14).translate(0, 0.93, 0);
    const material = new THREE.MeshBasicMaterial({ color: GOOD, fog: false });
    const arrow = new THREE.Mesh(shaft, material);
    arrow.add(new THREE.Mesh(head, material));
    this.forces.add(arrow);
    return arrow;
  }

  /** A path through places of the view, with dots at some of them. @param {THREE.Vector3[]} places @param {THREE.Vector3[]} dots */
  setTrail(places, dots) {
    this.trail.visible = places.length > 1;
    this.trailDots.visible = dots.length > 0;
    if (places.length > 1) this.trail.geometry = renewed(this.trail.geometry, places);
    if (dots.length) this.trailDots.geometry = renewed(this.trailDots.geometry, dots);
    this.stage.touch();
  }

  /** A line from a body to the pointer, when it cannot follow. @param {THREE.Vector3 | null} from @param {THREE.Vector3} [to] */
  setPull(from, to) {
    this.pull.visible = from !== null;
    if (from && to) { this.pull.geometry.setFromPoints([from, to]); this.pull.computeLineDistances(); }
    this.stage.touch();
  }
}

/** @param {THREE.BufferGeometry} old @param {THREE.Vector3[]} places */
function renewed(old, places) {
  old.dispose();
  return new THREE.BufferGeometry().setFromPoints(places);
}
