// What is held and tried while one drags: constraints of the scene with their library, goals, and recorded paths.
import { button, make, panel } from "../dom.js";
import { changed, on, state } from "../store.js";

export class HoldPanel {
  /** @param {(command: import("../messages.js").Command) => void} send @param {import("../editing.js").Edit} edit */
  constructor(send, edit) {
    this.send = send;
    this.edit = edit;
    this.list = make("div", { className: "list", id: "constraints" });
    this.sets = make("select", { id: "constraint_sets", title: "Sets of constraints that fit this figure", "aria-label": "Sets of constraints" });
    this.name = make("input", { type: "text", id: "set_name", placeholder: "name", title: "Name of the set", "aria-label": "Name of the set" });
    this.paths = make("div", { className: "list", id: "paths" });
    this.record = button("Record a path", "The next drag is recorded as a path: with what you drag, in the time you take", () => changed("record_path", state.selected), { id: "record_path" });
    this.animate = button("Animate", "All bodies with a path follow it at once; pins and constraints hold. A new take", () => send({ type: "start_job", kind: "animate" }), { id: "animate" });
    this.named = "";
    this.element = make("div", {},
      panel("Constraints", this.list, make("div", { className: "row" }, this.sets, button("Take", "Add this set of constraints to the figure", () => send({ type: "take_constraints", name: this.sets.value }), { id: "take_set", className: "fix" })),
        make("div", { className: "row" }, this.name, button("Keep", "Keep the figure's constraints as a set, under this name", () => this.keep(), { id: "keep_set", className: "fix" })),
        make("div", { className: "note" }, "Right click a body to lock, fix, couple or aim it.")),
      panel("Paths", make("div", { className: "row" }, this.record, this.animate), this.paths));
    for (const name of ["scene", "rules", "recording"]) on(name, () => this.show());
  }

  keep() {
    const name = this.name.value.trim();
    if (!name) { this.name.focus(); return; }
    this.send({ type: "keep_constraints", name });
    this.name.value = "";
  }

  show() {
    const scene = state.scene, words = (/** @type {string} */ text) => text.replaceAll("_", " ");
    if (!scene) return;
    const row = (/** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ remove) => make("button", { type: "button", title, onclick: remove }, words(text), make("small", {}, "remove"));
    this.list.replaceChildren(
      ...scene.constraints.map(one => row(one.words, `Click to remove: ${one.words}`, () => this.edit("RemoveConstraint", { constraint: one.index }))),
      ...state.rules.goals.map(one => row(`${one.body} ${one.kind === "aim" ? "looks at a place" : "tries to stay"}`, "Click to remove this goal", () => this.send({ type: "set_goal", body: one.body, kind: "none" }))));
    this.paths.replaceChildren(...state.rules.paths.map(one => row(`${one.body}: ${one.duration.toFixed(1)} s`, "Click to remove this path", () => this.send({ type: "remove_path", body: one.body }))));
    this.animate.disabled = !state.rules.paths.length;
    this.record.setAttribute("aria-pressed", String(state.recording));
    const named = scene.constraint_sets.join("|");
    if (named !== this.named) { this.named = named; this.sets.replaceChildren(...scene.constraint_sets.map(value => make("option", { value }, value))); }
  }
}
