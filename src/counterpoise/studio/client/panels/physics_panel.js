// Physics: optimise, check and fix as jobs with progress and a stop; violations by name and time.
import { button, make, panel, toast } from "../dom.js";
import { changed, on, setTime, state } from "../store.js";

export class PhysicsPanel {
  /** @param {(command: import("../messages.js").Command) => void} send @param {(edit: string, values: Record<string, any>) => void} edit */
  constructor(send, edit) {
    this.send = send;
    this.edit = edit;
    const start = (/** @type {"optimize" | "check" | "fix" | "play"} */ kind) => () => send({ type: "start_job", kind });
    this.optimize = button("Optimise", "Make the motion of the keys physically right, with the least effort (O)", start("optimize"), { id: "optimize" });
    this.check = button("Check", "Judge the motion on the timeline: forces, friction, feet, strength (C)", start("check"), { id: "check" });
    this.fix = button("Fix", "Change the motion on the timeline as little as possible so that it is valid (X)", start("fix"), { id: "fix" });
    this.play = button("Play the scene", "Make its motions and simulate its controllers and pushes, as counterpoise play does", start("play"), { id: "play_scene" });
    this.stop = button("Stop", "Stop, and keep the best so far", () => this.job && send({ type: "stop_job", job: this.job.job }), { id: "stop_job", className: "stop" });
    this.bar = make("i");
    this.words = make("div", { className: "note", id: "job_words" });
    this.progress = make("div", { id: "job", hidden: true }, make("div", { className: "row" }, this.words, this.stop), make("div", { className: "bar", role: "progressbar", "aria-label": "Progress of the job" }, this.bar));
    this.verdict = make("div", { className: "note", id: "verdict" });
    this.list = make("div", { className: "list", id: "violations" });
    this.result = make("div", { className: "note", id: "job_result" });
    this.part = make("select", { id: "contact_part", title: "The part of the body that touches", "aria-label": "Part that touches" });
    this.contacts = make("div", { className: "row" }, this.part,
      button("+ contact", "This part touches the ground from the playhead on, or during the chosen range", () => this.addContact(), { id: "add_contact", className: "fix" }));
    this.wishes = make("div", { className: "list", id: "wish_list" });
    this.partNames = ""; // in the list
    this.apex = make("input", { type: "number", id: "apex_height", value: 1.3, step: 0.05, min: 0.1, title: "Height of the centre of mass [m]", "aria-label": "Height of the centre of mass in metres" });
    this.element = make("div", {},
      panel("Physics", make("div", { className: "row" }, this.optimize, this.check, this.fix), make("div", { className: "row" }, this.play), this.progress, this.result),
      panel("What the motion must do", this.contacts, make("div", { className: "row" }, make("label", { title: "Height of the centre of mass at the top of the flight [m]" }, "apex [m]"), this.apex, button("+ apex", "The centre of mass passes this height at the playhead", () => this.addApex(), { id: "add_apex", className: "fix" })),
        make("div", { className: "row" }, button("+ place", "The chosen body is, at the playhead, where it is now", () => this.addPlace(), { id: "add_place" }), button("+ least effort", "Joints work as little as possible", () => this.edit("AddWish", { kind: "effort", entries: {} }), { id: "add_effort" })), this.wishes),
      panel("Violations", this.verdict, this.list));
    on("job", (/** @type {import("../messages.js").JobChanged} */ event) => this.show(event));
    on("scene", () => this.marks());
  }

  addContact() { const [start, end] = state.range ?? [state.time, state.scene?.duration ?? state.time + 0.5]; this.edit("AddContact", { part: this.part.value || "feet", start, end }); }
  addPlace() {
    if (!state.selected) { toast("Choose a body first: the wish is about it.", true); return; }
    changed("place_wish", (/** @type {number[]} */ [x, y, z]) => this.edit("AddWish", { kind: "place", entries: { body: state.selected, time: state.time, x, y, z } }));
  }
  addApex() { this.edit("AddWish", { kind: "apex", entries: { time: state.time, height: Number(this.apex.value) } }); }

  /** @param {import("../messages.js").JobChanged} event */
  show(event) {
    this.job = event.state === "running" ? event : null;
    this.progress.hidden = !this.job;
    for (const one of [this.optimize, this.check, this.fix, this.play]) one.disabled = Boolean(this.job);
    this.bar.style.width = `${(100 * event.share).toFixed(1)}%`;
    this.words.textContent = `${event.stage}${event.message ? `: ${event.message}` : ""}`;
    if (event.state !== "running") {
      this.result.textContent = event.message === state.scene?.verdict ? "" : event.message; // it stands below
      this.result.className = event.state === "failed" ? "note bad" : "note";
      this.marks();
    }
  }

  marks() {
    const scene = state.scene;
    if (!scene) return;
    this.verdict.textContent = scene.verdict || "Check the motion to see what is wrong with it.";
    if (this.result.textContent === scene.verdict) this.result.textContent = "";
    this.verdict.className = scene.verdict ? (scene.violations.some(one => one.grave) ? "note bad" : "note good") : "note";
    this.list.replaceChildren(...scene.violations.map(one => make("button", { type: "button", className: one.grave ? "bad" : "warm", title: `Go to ${one.time.toFixed(2)} s`, onclick: () => setTime(one.time) }, one.words, make("small", {}, `${one.time.toFixed(2)} s`))));
    this.wishes.replaceChildren(...scene.wishes.map(one => make("button", { type: "button", title: `Click to remove: ${one.words}`, onclick: () => this.edit("RemoveWish", { wish: one.index }) }, one.words.replaceAll("_", " "), make("small", {}, "remove"))));
    const bodies = scene.figure.bodies, parts = [...(bodies.some(one => one.role === "foot") ? ["feet"] : []), ...(bodies.some(one => one.role === "hand") ? ["hands"] : []), ...bodies.filter(one => one.role === "foot" || one.role === "hand").map(one => one.name)], names = parts.join();
    if (names !== this.partNames) { this.partNames = names; this.part.replaceChildren(...parts.map(value => make("option", { value }, value.replaceAll("_", " ")))); }
    this.fix.disabled = this.check.disabled = Boolean(this.job) || !scene.track;
    this.play.disabled = Boolean(this.job) || !scene.has_controllers;
    this.optimize.disabled = Boolean(this.job) || scene.kind !== "keys" || scene.keys.length < 2;
    this.optimize.title = scene.kind !== "keys" ? "Only keys are optimised: choose the layer keys; a take is fixed" : scene.keys.length < 2 ? "Needs two keys: drag the figure at another time" : "Make the motion of the keys physically right, with the least effort (O)";
    this.play.title = scene.has_controllers ? "Make its motions and simulate its controllers and pushes, as counterpoise play does" : "Nothing drives a figure yet: choose what does in the tab Scene";
  }
}
