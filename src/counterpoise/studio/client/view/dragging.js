// Dragging: a joint's dot, or any point of the body's surface, follows the pointer in the plane that faces the camera.
import * as THREE from "three";
import { changed, figure as facts, on, select, setTime, state } from "../store.js";
import { axisInView } from "./gizmo.js";
import { fromView, turnFromView } from "./stage.js";
import { GOERS } from "./steering.js";

const PRECISE = 0.2; // share of the pointer's way while Ctrl is held
const TURN = 0.008; // [rad] a pixel
const SNAP = 0.05; // [m] while Shift is held
const ray = new THREE.Raycaster(), plane = new THREE.Plane(), hit = new THREE.Vector3();

/**
 * @typedef {{index: number, view: import("./figure.js").FigureView, figure: number, body: string, point: THREE.Vector3, from: THREE.Vector3, target: THREE.Vector3, lastHit: THREE.Vector3, turn: THREE.Quaternion | null,
 *   x: number, y: number, axis: "" | "x" | "y" | "z", moved: boolean, pointer: number, pointBody: [number, number, number]}} Held
 */

export class Dragging {
  /** @param {import("./stage.js").Stage} stage @param {import("./figure.js").FigureView} figure @param {import("./cast.js").CastView} cast @param {import("./props.js").PropsView} props @param {import("./handles.js").Handles} handles @param {import("./gizmo.js").Gizmo} gizmo @param {(command: import("../messages.js").Command) => void} send */
  constructor(stage, figure, cast, props, handles, gizmo, send) {
    this.stage = stage;
    this.figure = figure;
    this.cast = cast;
    this.props = props;
    this.handles = handles;
    this.gizmo = gizmo;
    this.send = send;
    /** @type {(held: Held, goal: [number, number, number], when: number) => void} */ this.onsend = () => {};
    /** @type {(held: Held) => boolean} true: the drag writes no key */ this.onend = () => false;
    /** @type {((place: [number, number, number]) => void) | null} */ this.pick = null; // gets the place that is clicked next
    on("pick_place", done => { this.pick = done; stage.canvas.style.cursor = "crosshair"; });
    /** @type {Held | null} */ this.held = null;
    this.seq = 0;
    /** @type {Map<number, number>} */ this.sent = new Map(); // seq -> when [ms]
    /** @type {(event: MouseEvent, body: string | null) => void} */ this.onmenu = () => {};
    const canvas = stage.canvas, first = { capture: true };
    canvas.addEventListener("pointerdown", event => this.down(event), first);
    canvas.addEventListener("pointermove", event => this.move(event), first);
    canvas.addEventListener("pointerup", event => this.up(event), first);
    canvas.addEventListener("pointercancel", () => this.cancel());
    canvas.addEventListener("contextmenu", event => event.preventDefault());
    let pressed = [0, 0], empty = [-9, -9];
    canvas.addEventListener("pointerdown", event => { empty = event.button === 0 && !event.altKey && !this.held ? [event.clientX, event.clientY] : [-9, -9]; });
    canvas.addEventListener("pointerup", event => { if (event.button === 0 && Math.hypot(event.clientX - empty[0], event.clientY - empty[1]) < 4) this.clickGround(event); });
    canvas.addEventListener("pointerdown", event => { if (event.button === 2) pressed = [event.clientX, event.clientY]; }, first);
    canvas.addEventListener("pointerup", event => {
      if (event.button === 2 && !event.altKey && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) < 4) this.onmenu(event, this.bodyUnder(event));
    });
  }

  /** @param {{clientX: number, clientY: number}} event @returns {string | null} */
  bodyUnder(event) {
    const dot = this.handles.under(event);
    if (dot >= 0) return this.figure.names[dot];
    const found = this.figure.hit(this.stage.aim(event, ray));
    return found ? this.figure.names[found.index] : null;
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0 || event.altKey || !facts()) return; // Alt leaves all buttons to the camera
    if (this.pick) { event.stopImmediatePropagation(); this.picked(event); return; }
    const axis = this.axisUnder(event), dot = axis ? this.figure.names.indexOf(state.selected ?? "") : this.handles.under(event);
    const mine = dot >= 0 ? { index: dot, place: this.figure.place(dot, new THREE.Vector3()), point: new THREE.Vector3() } : this.figure.hit(this.stage.aim(event, ray));
    const eye = this.stage.camera.position, away = dot >= 0 ? 0 : mine ? mine.place.distanceTo(eye) : Infinity;
    const other = dot >= 0 ? null : this.cast.hit(this.stage.aim(event, ray)), theirs = other && other.distance < away ? other : null;
    if (this.props.down(event, Math.min(away, theirs?.distance ?? Infinity))) { event.stopImmediatePropagation(); this.stage.canvas.focus(); return; }
    if (theirs && !state.live?.running) { event.stopImmediatePropagation(); this.send({ type: "show_character", name: theirs.name }); return; }
    const found = theirs ?? mine, view = theirs ? theirs.view : this.figure;
    if (!found) { select(null); return; }
    event.stopImmediatePropagation();
    this.stage.canvas.focus();
    this.stage.canvas.setPointerCapture(event.pointerId);
    const body = view.names[found.index];
    if (!theirs) select(body);
    if (state.playing) changed("pause");
    plane.setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new THREE.Vector3()), found.place);
    this.stage.aim(event, ray).ray.intersectPlane(plane, hit);
    const turning = state.tool === "turn" && !state.live?.running;
    this.held = {
      index: found.index, view, figure: theirs ? theirs.figure : 0, body, point: turning ? new THREE.Vector3() : found.point, from: turning ? view.place(found.index, new THREE.Vector3()) : found.place.clone(),
      target: turning ? view.place(found.index, new THREE.Vector3()) : found.place.clone(), lastHit: hit.clone(),
      turn: turning ? view.turn(found.index, new THREE.Quaternion()) : null, x: event.clientX, y: event.clientY, axis, moved: false, pointer: event.pointerId, pointBody: turning ? [0, 0, 0] : fromView(found.point),
    };
  }

  /** @param {PointerEvent} event */
  move(event) {
    const held = this.held;
    if (!held) {
      const axis = event.buttons ? "" : this.axisUnder(event), over = event.buttons || axis ? -1 : this.handles.under(event);
      if (axis !== this.gizmo.hovered) { this.gizmo.hovered = axis; this.stage.touch(); }
      if (over !== this.handles.hovered) { this.handles.hovered = over; this.stage.touch(); changed("hover", over >= 0 ? this.figure.names[over] : null); }
      return;
    }
    event.stopImmediatePropagation();
    const share = event.ctrlKey || event.metaKey ? PRECISE : 1;
    if (held.turn && held.axis) {
      held.turn.premultiply(new THREE.Quaternion().setFromAxisAngle(axisInView(held.axis), share * this.swept(held, event)));
      [held.x, held.y] = [event.clientX, event.clientY];
    } else if (held.turn) {
      const camera = this.stage.camera, right = new THREE.Vector3(1, 0, 0).applyQuaternion(camera.quaternion), up = new THREE.Vector3(0, 1, 0).applyQuaternion(camera.quaternion);
      const by = new THREE.Quaternion().setFromAxisAngle(up, TURN * share * (event.clientX - held.x)).multiply(new THREE.Quaternion().setFromAxisAngle(right, TURN * share * (event.clientY - held.y)));
      held.turn.premultiply(by);
      [held.x, held.y] = [event.clientX, event.clientY];
    } else {
      if (!this.stage.aim(event, ray).ray.intersectPlane(plane, hit)) return;
      held.target.addScaledVector(hit.clone().sub(held.lastHit), share);
      held.lastHit.copy(hit);
    }
    held.moved = true;
    this.sendHeld(event.shiftKey, event.timeStamp);
  }

  /** @param {boolean} snap @param {number} when */
  sendHeld(snap, when) {
    const held = this.held;
    if (!held) return;
    const goal = held.target.clone();
    if (held.axis) for (const [axis, part] of /** @type {const} */ ([["x", "x"], ["z", "y"], ["y", "z"]])) if (axis !== held.axis) goal[part] = held.from[part];
    if (snap) goal.divideScalar(SNAP).round().multiplyScalar(SNAP);
    this.seq += 1;
    this.sent.set(this.seq, when);
    if (this.sent.size > 4000) this.sent.clear();
    this.goal = goal;
    this.onsend(held, fromView(goal), when);
    this.send({ type: "drag_body", seq: this.seq, body: held.body, target: fromView(goal), time: state.time, point: fromView(held.point), turn: held.turn ? turnFromView(held.turn) : null, figure: held.figure });
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (!this.held || event.button !== 0) return;
    event.stopImmediatePropagation();
    this.end(true);
  }

  /** Sends a live walker to the place that was clicked. @param {PointerEvent} event */
  clickGround(event) {
    if (!state.live?.running || !GOERS.includes(state.live.controller)) return;
    const place = this.stage.aim(event, ray).ray.intersectPlane(new THREE.Plane(new THREE.Vector3(0, 1, 0), 0), new THREE.Vector3());
    if (!place) return;
    const [x, y] = fromView(place);
    this.send({ type: "walk_to", x, y });
    changed("walk_to", place);
  }

  cancel() { if (this.held) this.end(false); }

  /** @param {boolean} keep */
  end(keep) {
    const held = this.held, moved = held?.moved, recorded = Boolean(keep && moved && held && this.onend(held));
    this.held = null;
    this.goal = undefined;
    changed("released");
    if (moved) this.send({ type: "release_body", keep: keep && !recorded });
    if (!keep || recorded) setTime(state.time);
  }

  /** The axis of the gizmo under the pointer; the dot of another body comes first. @param {{clientX: number, clientY: number}} event */
  axisUnder(event) {
    const dot = this.handles.under(event);
    return state.live?.running || (dot >= 0 && this.figure.names[dot] !== state.selected) ? "" : this.gizmo.under(event);
  }

  /** The angle that the pointer went round a turning body [rad]. @param {Held} held @param {PointerEvent} event */
  swept(held, event) {
    const [cx, cy] = this.stage.spot(held.from), before = Math.atan2(held.y - cy, held.x - cx), now = Math.atan2(event.clientY - cy, event.clientX - cx);
    const towards = axisInView(/** @type {"x" | "y" | "z"} */ (held.axis)).dot(this.stage.camera.position.clone().sub(held.from)) > 0 ? -1 : 1; // screens count down
    return towards * Math.atan2(Math.sin(now - before), Math.cos(now - before));
  }

  /** Ends picking with the place under the pointer: of a body, a prop, the ground, or as far as the camera looks. @param {PointerEvent} event */
  picked(event) {
    const from = this.stage.aim(event, ray), places = [this.figure.hit(from)?.place, this.cast.hit(from)?.place, this.props.hit(from)?.place, from.ray.intersectPlane(new THREE.Plane(new THREE.Vector3(0, 1, 0), 0), new THREE.Vector3())];
    const near = places.filter(Boolean).map(place => /** @type {THREE.Vector3} */ (place)).sort((a, b) => a.distanceTo(from.ray.origin) - b.distanceTo(from.ray.origin))[0];
    const done = this.pick;
    this.stopPicking();
    done?.(fromView(near ?? from.ray.at(4, new THREE.Vector3())));
  }
  stopPicking() { this.pick = null; this.stage.canvas.style.cursor = ""; }

  /** X, Y and Z hold a drag on an axis; Escape gives it up. @param {KeyboardEvent} event @returns {boolean} used */
  key(event) {
    const key = event.key.toLowerCase();
    if (this.pick && key === "escape") { this.stopPicking(); return true; }
    if (!this.held) return false;
    if (key === "escape") this.cancel();
    else if (key === "x" || key === "y" || key === "z") { this.held.axis = this.held.axis === key ? "" : key; this.sendHeld(event.shiftKey, event.timeStamp); }
    else return false;
    return true;
  }
}
