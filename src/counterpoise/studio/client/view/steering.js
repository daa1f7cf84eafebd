// Steering: W A S D or arrows, held, walk and turn a live locomotion; Shift runs.
import { state } from "../store.js";

/** Controllers that go where the ground is clicked. */
export const GOERS = ["walk", "locomotion"];
/** Controllers whose figures the camera follows. */
export const TRAVELLERS = [...GOERS, "jump", "perform"];
/** @type {Record<string, [number, number]>} key -> ahead, to the left */
const WAYS = { w: [1, 0], arrowup: [1, 0], s: [-1, 0], arrowdown: [-1, 0], a: [0, 1], arrowleft: [0, 1], d: [0, -1], arrowright: [0, -1] };

export class Steering {
  /** @param {(command: import("../messages.js").Command) => void} send */
  constructor(send) {
    this.send = send;
    /** @type {Set<string>} */ this.held = new Set();
    this.run = false;
    this.sent = "";
    addEventListener("keyup", event => { this.held.delete(event.key.toLowerCase()); this.tell(event.shiftKey); });
    addEventListener("blur", () => { this.held.clear(); this.tell(false); });
  }

  /** @param {KeyboardEvent} event @returns {boolean} used */
  key(event) {
    const typing = /** @type {HTMLElement} */ (event.target).matches?.("input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]");
    if (!this.steers() || typing || event.ctrlKey || event.metaKey || event.altKey) return false;
    const key = event.key.toLowerCase();
    if (!(key in WAYS) && key !== "shift") return false;
    if (key !== "shift") this.held.add(key);
    this.tell(event.shiftKey || key === "shift");
    return true;
  }

  steers() { return Boolean(state.live?.running) && state.live?.controller === "locomotion"; }

  /** Sends what the keys ask for, where it has changed. @param {boolean} run */
  tell(run) {
    let forward = 0, turn = 0;
    for (const key of this.held) { forward += WAYS[key]?.[0] ?? 0; turn += WAYS[key]?.[1] ?? 0; }
    const told = { forward: Math.sign(forward), turn: Math.sign(turn), run: run && this.held.size > 0 }, text = JSON.stringify(told);
    if (text === this.sent || (!this.sent && !this.held.size)) return;
    this.sent = this.held.size ? text : "";
    if (this.steers()) this.send({ type: "steer_live", ...told });
  }
}
