// Grips at the two ends of a hinge's limits: dragged, they change the limits; Shift snaps to 5 degrees.
import * as THREE from "three";
import { byId } from "../dom.js";
import { figure as facts, state } from "../store.js";

const REACH = 11; // [px] around a grip in which it can be taken
const DEGREES = 180 / Math.PI;
const LEAST = 1; // [deg] between the two limits
const MOST = 179; // [deg] to each side of the zero pose
const ray = new THREE.Raycaster();

/** @typedef {{joint: import("../messages.js").JointFacts, end: 0 | 1, centre: THREE.Vector3, axis: THREE.Vector3, arm: THREE.Vector3, low: number, high: number, value: number}} HeldLimit */

export class LimitGrips {
  /** @param {import("./stage.js").Stage} stage @param {import("./limits.js").Limits} limits @param {import("./handles.js").Handles} handles @param {import("../editing.js").Edit} edit */
  constructor(stage, limits, handles, edit) {
    this.stage = stage;
    this.limits = limits;
    this.handles = handles;
    this.edit = edit;
    /** @type {HeldLimit | null} */ this.held = null;
    const material = new THREE.PointsMaterial({ color: 0x8fd0ff, size: 11, sizeAttenuation: false, depthTest: false, transparent: true, fog: false });
    this.dots = new THREE.Points(new THREE.BufferGeometry(), material);
    this.dots.frustumCulled = false;
    this.dots.renderOrder = 9;
    limits.group.add(this.dots);
    const first = { capture: true };
    stage.canvas.addEventListener("pointerdown", event => this.down(event), first);
    stage.canvas.addEventListener("pointermove", event => this.move(event), first);
    stage.canvas.addEventListener("pointerup", event => this.up(event, true), first);
    stage.canvas.addEventListener("pointercancel", event => this.up(event, false), first);
  }

  /** The ends of the arc of a hinge, in the frame of the limits. */
  get ends() { const arc = this.limits.arc; return arc.length > 2 ? [arc[0], arc[arc.length - 1]] : []; }

  /** Shows the grips where the limits are shown. */
  update() {
    const ends = this.limits.group.visible ? this.ends : [];
    this.dots.visible = ends.length === 2;
    if (this.dots.visible) this.dots.geometry.setFromPoints(ends);
  }

  /** The grip under the pointer, or -1. @param {{clientX: number, clientY: number}} event */
  under(event) {
    if (!this.dots.visible || state.live?.running || this.handles.under(event) >= 0) return -1; // dots of joints come first
    return this.ends.findIndex(place => { const [x, y] = this.stage.spot(place.clone().applyMatrix4(this.limits.group.matrix)); return Math.hypot(x - event.clientX, y - event.clientY) < REACH; });
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0 || event.altKey) return;
    const end = this.under(event), joint = facts()?.joints.find(one => one.body === state.selected), arc = this.limits.arc;
    if (end < 0 || joint?.kind !== "hinge" || !joint.low.length) return;
    event.stopImmediatePropagation();
    this.stage.canvas.setPointerCapture(event.pointerId);
    const middle = arc[arc.length >> 1], axis = middle.clone().sub(arc[0]).cross(arc[arc.length - 1].clone().sub(middle)).normalize(), centre = axis.clone().multiplyScalar(arc[0].dot(axis));
    const low = joint.low[0] * DEGREES, high = joint.high[0] * DEGREES;
    this.held = { joint, end: end ? 1 : 0, centre, axis, arm: this.ends[end].clone().sub(centre), low, high, value: end ? high : low };
  }

  /** @param {PointerEvent} event */
  move(event) {
    const held = this.held;
    if (!held) { if (!event.buttons && this.under(event) >= 0) { this.stage.canvas.title = "Drag to change this limit of the joint"; } else if (this.stage.canvas.title) this.stage.canvas.title = ""; return; }
    event.stopImmediatePropagation();
    const back = this.limits.group.matrix.clone().invert(), line = this.stage.aim(event, ray).ray.clone().applyMatrix4(back);
    const place = line.intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(held.axis, held.centre), new THREE.Vector3());
    if (!place) return;
    const to = place.sub(held.centre), angle = Math.atan2(held.arm.clone().cross(to).dot(held.axis), held.arm.dot(to)) * DEGREES, step = event.shiftKey ? 5 : 1;
    const wanted = Math.round(((held.end ? held.high : held.low) + angle) / step) * step;
    held.value = held.end ? Math.min(MOST, Math.max(wanted, held.low + LEAST)) : Math.max(-MOST, Math.min(wanted, held.high - LEAST));
    this.limits.preview(held.joint, held.axis, held.end ? 0 : held.value - held.low, held.end ? held.value - held.high : 0);
    byId("status_text").textContent = `${held.joint.name.replaceAll("_", " ")}: ${held.end ? "upper" : "lower"} limit ${held.value.toFixed(0)}°`;
    this.stage.touch();
  }

  /** @param {PointerEvent} event @param {boolean} keep */
  up(event, keep) {
    const held = this.held;
    if (!held) return;
    event.stopImmediatePropagation();
    this.held = null;
    this.limits.key = "";
    const before = held.end ? held.high : held.low;
    if (keep && Math.abs(held.value - before) > 0.5) this.edit("SetLimit", { joint: held.joint.name, limits: held.end ? [held.low, held.value] : [held.value, held.high] });
    this.stage.touch();
  }
}
