// Play, step, loop, the time field, and which motion is shown.
import { button, icon, make } from "../dom.js";
import { changed, on, setTime, state } from "../store.js";

const STEP = 1 / 60; // [s]

export class Transport {
  /** @param {(command: import("../messages.js").Command) => void} send @param {(edit: string, values: Record<string, any>) => void} edit */
  constructor(send, edit) {
    this.send = send;
    this.edit = edit;
    this.options = ""; // names of the motions in the list
    this.before = 0; // [ms] of the last picture
    this.play = button(icon("play"), "Play or pause (Space)", () => this.toggle(), { id: "play" });
    this.time = make("input", { type: "number", id: "now", step: 0.01, min: 0, title: "Time of the playhead [s]", "aria-label": "Time of the playhead in seconds", onchange: () => setTime(Number(this.time.value)) });
    this.length = make("input", { type: "number", id: "duration", step: 0.1, min: 0.05, title: "Length of the motion [s]", "aria-label": "Length of the motion in seconds", onchange: () => edit("SetDuration", { duration: Number(this.length.value) }) });
    this.loop = button(icon("loop"), "Loop: begin again at the end", () => { state.looping = !state.looping; this.show(); }, { id: "loop" });
    this.speed = make("select", { title: "Speed of playing", "aria-label": "Speed of playing", onchange: () => { state.speed = Number(this.speed.value); } },
      ...[["1", "1×"], ["0.5", "½×"], ["0.25", "¼×"], ["0.1", "0.1×"]].map(([value, text]) => make("option", { value }, text)));
    this.motions = make("select", { id: "motions", title: "The motion on the timeline: keys, and takes that were baked, optimised, fixed or opened", "aria-label": "Motion on the timeline", onchange: () => send({ type: "show_motion", name: this.motions.value }) });
    this.graph = button(icon("graph"), "Graphs: curves of joints and of measured quantities (G)", () => changed("graph"), { id: "graph_button" });
    this.element = make("div", { id: "transport", role: "toolbar", "aria-label": "Transport" },
      make("span", { className: "group" },
        button(icon("first"), "To the beginning (Home)", () => setTime(0)),
        button(icon("back"), "One frame back (Left)", () => this.step(-1)),
        this.play,
        button(icon("forward"), "One frame ahead (Right)", () => this.step(1)),
        button(icon("last"), "To the end (End)", () => setTime(Infinity))),
      this.loop, this.speed, this.time, make("label", {}, "of", this.length, "s"),
      make("span", { className: "sep" }),
      button(icon("key"), "Set a key here (K): writes the pose at the playhead", () => changed("add_key"), { id: "add_key" }),
      button(icon("trash"), "Remove the key at the playhead (Delete)", () => this.removeKey(), { id: "remove_key" }),
      make("span", { className: "gap" }), make("label", {}, "motion", this.motions), this.graph);
    on("time", () => this.show());
    on("scene", () => this.show());
    on("pause", () => this.pause());
    on("play_range", () => { if (!state.playing) this.toggle(); });
  }

  /** @param {number} by */
  step(by) { this.pause(); setTime((Math.round(state.time / STEP) + by) * STEP); }
  toggle() {
    state.playing = !state.playing;
    const [start, end] = state.range ?? [0, state.scene?.duration ?? 0];
    if (state.playing && (state.time >= end - 1e-6 || state.time < start)) setTime(start, false);
    this.before = performance.now();
    this.show();
  }
  pause() { if (state.playing) { state.playing = false; setTime(state.time); this.show(); } }

  /** The key nearest to the playhead, if it is there. */
  keyHere() { return state.scene?.keys.find(key => Math.abs(key.time - state.time) < STEP / 2) ?? null; }
  removeKey() { const key = this.keyHere(); if (key) this.edit("RemoveKey", { key: key.index }); }

  /** Moves the playhead while it plays; true if it moved. */
  tick() {
    if (!state.playing || state.live?.running) return false;
    const now = performance.now(), [start, end] = state.range ?? [0, state.scene?.duration ?? 0];
    let time = state.time + (state.speed * (now - this.before)) / 1000;
    this.before = now;
    if (time > end && state.looping && end > start) time = start + ((time - start) % (end - start));
    else if (time > end) { this.pause(); time = end; }
    setTime(time, false);
    return true;
  }

  show() {
    const scene = state.scene;
    if (!scene) return;
    this.play.replaceChildren(icon(state.playing ? "pause" : "play"));
    this.play.setAttribute("aria-pressed", String(state.playing));
    this.loop.setAttribute("aria-pressed", String(state.looping));
    if (document.activeElement !== this.time) this.time.value = state.time.toFixed(3);
    if (document.activeElement !== this.length) this.length.value = scene.duration.toFixed(2);
    this.length.disabled = scene.kind !== "keys";
    const options = scene.motions.map(motion => motion.name).join("|");
    if (this.options !== options) { this.options = options; this.motions.replaceChildren(...scene.motions.map(m => make("option", { value: m.name }, m.label))); }
    this.motions.value = scene.motion;
  }
}
