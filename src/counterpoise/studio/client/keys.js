// All keys in one table: what they do, and the help that lists them.
import { button, make } from "./dom.js";

/** @typedef {import("./shortcuts.js").Shortcut} Shortcut */

const TOUR = [
  ["Pose", "Drag a dot, or any place on the body. Feet are pinned: right click a body to pin or free it. Each drag writes a key at the playhead."],
  ["Key", "Move the playhead, drag again: a second key. Space plays. Drag the diamonds to retime, right click them for more. G opens graphs: drag the dots of the keys up and down."],
  ["Make it physical", "Open the example jump in the tab Scene, or add contacts where feet touch, press Optimise in the Physics tab and watch the ghost. Check marks what is wrong, by name and time."],
  ["Live", "Press L: the figure stands by itself. Pull it with the mouse, push it, tilt the ground, turn its tuning. Choose locomotion and hold W A S D or arrows (Shift runs), or click on the ground. T throws a ball at what the pointer is over; with jump or perform, J acts. Bake keeps what happened as a motion."],
  ["Take it away", "Save the scene, export BVH or GLB for Blender, or copy the script: the same edits in Python."],
];

export class Keys {
  /** @param {Record<string, Shortcut[]>} groups @param {(event: KeyboardEvent) => boolean} first asked before all others @param {() => void} tour */
  constructor(groups, first, tour) {
    this.groups = groups;
    /** @type {Map<string, () => void>} */ this.table = new Map();
    for (const list of Object.values(groups)) for (const one of list) for (const combination of one.keys.split(" or ")) this.table.set(combination.toLowerCase(), one.run);
    this.dialog = make("dialog", { id: "help_dialog", "aria-label": "Keys and a short tour" },
      make("div", { className: "row" }, make("h2", {}, "In short"), button("Start the tour", "A guided start in eight steps, about five minutes", () => { this.dialog.close(); tour(); }, { id: "start_tour", className: "fix go" }), button("Close", "Close (Esc)", () => this.dialog.close(), { id: "close_help", className: "fix" })), ...TOUR.map(([title, words]) => make("div", {}, make("h3", {}, title), words)),
      make("h2", { className: "second" }, "Keys"), make("div", { className: "keys" }, ...Object.entries(groups).flatMap(([title, list]) => [make("h3", {}, title), ...list.map(one => make("div", {}, one.words, make("span", {}, ...one.keys.split(" or ").flatMap((key, i) => [i ? " " : "", make("kbd", {}, key)]))))])));
    document.body.append(this.dialog);
    addEventListener("keydown", event => {
      if (first(event)) { event.preventDefault(); return; }
      const target = /** @type {HTMLElement} */ (event.target), typing = target.matches?.("input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]");
      const name = Keys.nameOf(event);
      if (Keys.own(target, name)) return;
      if (this.dialog.open || (typing && !name.startsWith("ctrl "))) return;
      if (name === "space" && target.matches?.("button")) target.blur();
      const run = this.table.get(name);
      if (!run) return;
      event.preventDefault();
      run();
    });
  }

  /** "ctrl shift z", "space", "?" ... @param {KeyboardEvent} event */
  static nameOf(event) {
    const key = event.key === " " ? "space" : event.key === "ContextMenu" ? "menu" : event.key.replace("Arrow", "").toLowerCase();
    const shift = event.shiftKey && (key.length > 1 || /[a-z]/.test(key)) ? "shift " : "";
    return `${event.ctrlKey || event.metaKey ? "ctrl " : ""}${event.altKey ? "alt " : ""}${shift}${key}`;
  }

  /** Whether a key belongs to what has the focus: arrows to a slider, Space to a box, or to a button that was reached by keyboard. @param {HTMLElement} target @param {string} name */
  static own(target, name) {
    if (!target.matches) return false;
    if (target.matches("input[type=range]")) return /^(left|right|up|down|home|end|pageup|pagedown)$/.test(name);
    return name === "space" && target.matches("input[type=checkbox], button:focus-visible");
  }

  help() { if (this.dialog.open) this.dialog.close(); else this.dialog.showModal(); }
}
