// Grips at the sides of a joint's limits: dragged, they change one of them; Shift snaps to 5 degrees.
import * as THREE from "three";
import { address } from "../connection.js";
import { byId } from "../dom.js";
import { figure as facts, state } from "../store.js";

const REACH = 11; // [px] around a grip in which it can be taken
const DEGREES = 180 / Math.PI;
const ray = new THREE.Raycaster();

/** @typedef {{joint: string, grip: import("../messages.js").GripFacts, centre: THREE.Vector3, axis: THREE.Vector3, arm: THREE.Vector3, angle: number}} HeldLimit */

export class LimitGrips {
  /** @param {import("./stage.js").Stage} stage @param {import("./limits.js").Limits} limits @param {import("./handles.js").Handles} handles @param {import("../editing.js").Edit} edit */
  constructor(stage, limits, handles, edit) {
    this.stage = stage;
    this.limits = limits;
    this.handles = handles;
    this.edit = edit;
    /** @type {HeldLimit | null} */ this.held = null;
    this.asking = false; // whether the server is asked how the limits would be
    const material = new THREE.PointsMaterial({ color: 0x6fb8ff, map: handles.maps.dot, size: 13, sizeAttenuation: false, depthTest: false, transparent: true, fog: false });
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

  /** Sides of the limits that are drawn and have a grip. */
  get grips() { return this.limits.drawn?.grips.filter(one => one.place.length) ?? []; }
  /** Where the grips are, in the frame of the limits. */
  get ends() { return this.grips.map(one => this.limits.place(one.place)); }

  /** Shows the grips where the limits are shown. */
  update() {
    const ends = this.limits.group.visible ? this.ends : [];
    this.dots.visible = ends.length > 0;
    if (!this.dots.visible) return;
    this.dots.geometry.dispose();
    this.dots.geometry = new THREE.BufferGeometry().setFromPoints(ends);
  }

  /** The grip under the pointer, or -1. @param {{clientX: number, clientY: number}} event */
  under(event) {
    if (!this.dots.visible || state.live?.running || this.handles.under(event) >= 0) return -1; // dots of joints come first
    return this.ends.findIndex(place => { const [x, y] = this.stage.spot(place.clone().applyMatrix4(this.limits.group.matrix)); return Math.hypot(x - event.clientX, y - event.clientY) < REACH; });
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0 || event.altKey) return;
    const index = this.under(event), joint = facts()?.joints.find(one => one.body === state.selected);
    if (index < 0 || !joint) return;
    event.stopImmediatePropagation();
    this.stage.canvas.setPointerCapture(event.pointerId);
    const grip = this.grips[index], place = this.limits.place(grip.place), axis = this.limits.place(grip.axis).normalize(), centre = axis.clone().multiplyScalar(place.dot(axis));
    this.held = { joint: joint.name, grip, centre, axis, arm: place.sub(centre), angle: grip.angle };
  }

  /** @param {PointerEvent} event */
  move(event) {
    const held = this.held;
    if (!held) { if (!event.buttons && this.under(event) >= 0) { this.stage.canvas.title = "Drag to change this limit of the joint"; } else if (this.stage.canvas.title) this.stage.canvas.title = ""; return; }
    event.stopImmediatePropagation();
    const back = this.limits.group.matrix.clone().invert(), line = this.stage.aim(event, ray).ray.clone().applyMatrix4(back);
    const place = line.intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(held.axis, held.centre), new THREE.Vector3()) ?? line.closestPointToPoint(held.centre, new THREE.Vector3());
    const to = place.sub(held.centre), turned = Math.atan2(held.arm.clone().cross(to).dot(held.axis), held.arm.dot(to)) * DEGREES, step = event.shiftKey ? 5 : 1;
    held.angle = Math.round((held.grip.angle + turned) / step) * step;
    byId("status_text").textContent = `${held.joint.replaceAll("_", " ")}: ${held.grip.side} ${held.angle.toFixed(0)}°`;
    this.ask();
  }

  /** Asks how the limits would be, and draws them. Angles that cannot be are not drawn: the last that can be counts. */
  async ask() {
    if (this.asking || !this.held) return;
    this.asking = true;
    const held = this.held, angle = held.angle, words = new URLSearchParams({ joint: held.joint, side: held.grip.side, angle: String(angle) });
    try {
      const answer = await fetch(address(`/limits?${words}`));
      if (this.held === held && answer.ok) { this.limits.draw(await answer.json()); this.stage.touch(); }
    } catch { /* the server is away: the next move asks again */ }
    this.asking = false;
    if (this.held === held && held.angle !== angle) this.ask();
  }

  /** @param {PointerEvent} event @param {boolean} keep */
  up(event, keep) {
    const held = this.held;
    if (!held) return;
    event.stopImmediatePropagation();
    this.held = null;
    this.limits.key = "";
    if (keep && Math.abs(held.angle - held.grip.angle) > 0.5) this.edit("SetLimitSide", { joint: held.joint, side: held.grip.side, angle: held.angle });
    this.stage.touch();
  }
}
