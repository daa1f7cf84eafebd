// Recording a path: while one drags, the places of the pointer are kept with their times; and paths and goals are drawn.
import * as THREE from "three";
import { toast } from "../dom.js";
import { changed, on, select, state } from "../store.js";
import { toView } from "./stage.js";

const COLOURS = [0x6fce8b, 0xc68bf2, 0x4fd0d0, 0xe58fb1];
const LEAST = 0.02; // [m] a shorter stroke is none

export class Recording {
  /** @param {import("./stage.js").Stage} stage @param {import("./dragging.js").Dragging} dragging @param {(command: import("../messages.js").Command) => void} send */
  constructor(stage, dragging, send) {
    this.stage = stage;
    this.send = send;
    this.group = new THREE.Group();
    stage.scene.add(this.group);
    /** @type {Array<[number, number, number, number]>} */ this.samples = [];
    on("record_path", body => this.start(body));
    on("rules", () => this.draw());
    dragging.onsend = (held, goal, when) => this.take(held, goal, when);
    dragging.onend = held => this.end(held);
  }

  /** @param {string | null} body */
  start(body) {
    state.recording = !state.recording;
    if (body) select(body);
    this.samples = [];
    if (state.recording) toast("Now drag a body along its path, in the time that it shall take.");
    changed("recording");
  }

  /** @param {import("./dragging.js").Held} held @param {[number, number, number]} goal @param {number} when [ms] */
  take(held, goal, when) { if (state.recording && !held.turn) this.samples.push([when / 1000, ...goal]); }

  /** Ends a stroke; true if it was one, and the drag writes no key. @param {import("./dragging.js").Held} held */
  end(held) {
    if (!state.recording) return false;
    const samples = this.samples, [, ...first] = samples[0] ?? [0, 0, 0, 0];
    state.recording = false;
    this.samples = [];
    changed("recording");
    const far = Math.max(0, ...samples.map(([, x, y, z]) => Math.hypot(x - first[0], y - first[1], z - first[2])));
    if (samples.length < 3 || far < LEAST) { toast("That was too short for a path: nothing was recorded.", true); return true; }
    this.send({ type: "add_path", body: held.body, samples, point: held.pointBody });
    toast("Recorded. Record another body too, or press Animate in the tab Pose.");
    return true;
  }

  draw() {
    for (const child of this.group.children) /** @type {any} */ (child).geometry.dispose();
    this.group.clear();
    const flat = { transparent: true, depthTest: false, depthWrite: false, fog: false }, place = (/** @type {[number, number, number]} */ at) => toView(new THREE.Vector3(), ...at);
    state.rules.paths.forEach((path, i) => {
      const color = COLOURS[i % COLOURS.length];
      this.group.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints(path.places.map(place)), new THREE.LineBasicMaterial({ ...flat, color })));
      this.group.add(new THREE.Points(new THREE.BufferGeometry().setFromPoints(path.knots.map(place)), new THREE.PointsMaterial({ ...flat, color, size: 6, sizeAttenuation: false })));
    });
    for (const goal of state.rules.goals) {
      const cross = [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]].map(([x, y, z]) => place(goal.place).add(new THREE.Vector3(x, y, z).multiplyScalar(0.05)));
      this.group.add(new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(cross), new THREE.LineBasicMaterial({ ...flat, color: goal.kind === "aim" ? 0x8fd0ff : 0xf2b24c })));
    }
    this.stage.touch();
  }
}
