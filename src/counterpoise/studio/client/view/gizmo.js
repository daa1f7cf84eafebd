// Gizmos on the chosen body: three arrows that move it along an axis, three rings that turn it about one.
import * as THREE from "three";
import { state } from "../store.js";

/** @typedef {"x" | "y" | "z"} Axis as the server counts, z up */
/** @type {Array<[Axis, THREE.Vector3, number]>} */
const AXES = [["x", new THREE.Vector3(1, 0, 0), 0xf0705f], ["y", new THREE.Vector3(0, 0, -1), 0x6fce8b], ["z", new THREE.Vector3(0, 1, 0), 0x5aa2f7]];
const PIXELS = 78; // of an arrow
const REACH = 8; // [px] around an arrow or ring in which it can be taken
const NEAR = 22; // [px] around the joint, where the dot is taken instead
const UP = new THREE.Vector3(0, 1, 0);

/** The direction of an axis in the view. @param {Axis} axis */
export const axisInView = axis => /** @type {THREE.Vector3} */ (AXES.find(one => one[0] === axis)?.[1]);

export class Gizmo {
  /** @param {import("./stage.js").Stage} stage @param {import("./figure.js").FigureView} figure */
  constructor(stage, figure) {
    this.stage = stage;
    this.figure = figure;
    this.group = new THREE.Group();
    this.arrows = new THREE.Group();
    this.rings = new THREE.Group();
    this.hovered = /** @type {Axis | ""} */ ("");
    for (const [axis, way, color] of AXES) {
      const material = new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.9, fog: false });
      const shaft = new THREE.Mesh(new THREE.CylinderGeometry(0.012, 0.012, 0.62, 8).translate(0, 0.5, 0), material), head = new THREE.Mesh(new THREE.ConeGeometry(0.05, 0.19, 16).translate(0, 0.9, 0), material);
      const arrow = new THREE.Group(), ring = new THREE.Mesh(new THREE.TorusGeometry(0.8, 0.012, 6, 64), material);
      arrow.add(shaft, head);
      arrow.quaternion.setFromUnitVectors(UP, way);
      ring.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), way);
      for (const part of [arrow, ring]) part.name = axis;
      for (const part of [shaft, head, ring]) part.renderOrder = 9;
      this.arrows.add(arrow);
      this.rings.add(ring);
    }
    this.group.add(this.arrows, this.rings);
    this.group.visible = false;
    stage.scene.add(this.group);
  }

  /** Puts it on the chosen body, as large as ever on the screen. @param {string | null} body @param {boolean} visible */
  update(body, visible) {
    const index = this.figure.names.indexOf(body ?? "");
    this.group.visible = visible && index >= 0;
    if (!this.group.visible) return;
    this.figure.place(index, this.group.position);
    const camera = this.stage.camera, far = this.group.position.distanceTo(camera.position), height = this.stage.canvas.clientHeight || 600;
    this.group.scale.setScalar((PIXELS / height) * 2 * far * Math.tan(THREE.MathUtils.degToRad(camera.fov / 2)));
    this.arrows.visible = state.tool === "move";
    this.rings.visible = !this.arrows.visible;
    for (const part of [...this.arrows.children, ...this.rings.children]) part.traverse(one => { const mesh = /** @type {any} */ (one); if (mesh.material) mesh.material.opacity = part.name === this.hovered ? 1 : 0.62; });
  }

  /** The axis under the pointer. @param {{clientX: number, clientY: number}} event @returns {Axis | ""} */
  under(event) {
    if (!this.group.visible) return "";
    let best = /** @type {Axis | ""} */ (""), least = REACH;
    const at = this.group.position, size = this.group.scale.x, [cx, cy] = this.stage.spot(at);
    if (Math.hypot(event.clientX - cx, event.clientY - cy) < NEAR) return "";
    for (const [axis, way] of AXES) {
      const side = new THREE.Vector3(way.y, way.z, way.x), other = way.clone().cross(side);
      const places = this.arrows.visible ? [0.35, 0.5, 0.65, 0.8, 0.95].map(u => at.clone().addScaledVector(way, u * size)) : Array.from({ length: 48 }, (_, k) => at.clone().addScaledVector(side, 0.8 * size * Math.cos((k * Math.PI) / 24)).addScaledVector(other, 0.8 * size * Math.sin((k * Math.PI) / 24)));
      for (const place of places) {
        const [x, y] = this.stage.spot(place), away = Math.hypot(x - event.clientX, y - event.clientY);
        if (away < least) { least = away; best = axis; }
      }
    }
    return best;
  }
}
