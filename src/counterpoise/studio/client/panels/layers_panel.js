// Layers: the motions of the figure, keys and takes. One is on the timeline; others are seen as ghosts, or laid over it.
import { button, make, panel, toast } from "../dom.js";
import { figure, on, state } from "../store.js";
import { Track } from "../timeline/track.js";

const TINTS = [0xc68bf2, 0x4fd0d0, 0xe58fb1, 0xb5c24a];

export class LayersPanel {
  /** @param {(command: import("../messages.js").Command) => void} send @param {import("../editing.js").Edit} edit @param {import("../view/figure.js").FigureView} view */
  constructor(send, edit, view) {
    this.send = send;
    this.edit = edit;
    this.view = view;
    /** @type {Map<string, Track>} */ this.ghosts = new Map();
    this.list = make("div", { className: "list layers", id: "layers" });
    this.joints = make("select", { id: "layer_joints", title: "Which joints of the layer count", "aria-label": "Joints of the layer" }, ...[["all", "all joints"], ["branch", "chosen body and below"], ["upper", "arms, head, trunk"], ["legs", "legs"]].map(([value, text]) => make("option", { value }, text)));
    this.over = make("select", { id: "layer_over", title: "The layer that is laid over the motion on the timeline", "aria-label": "Layer" });
    this.lay = button("Lay over", "A new take: the motion on the timeline, with these joints of the layer over it; within the chosen range, if there is one", () => this.layOver(), { id: "lay_over", className: "fix" });
    this.rows = make("div", { className: "body" }, make("div", { className: "row" }, this.over), make("div", { className: "row" }, this.joints, this.lay));
    this.element = panel("Layers", this.list, this.rows);
    this.element.id = "layers_panel";
    for (const name of ["scene", "selection"]) on(name, () => this.show());
    on("time", () => this.draw());
    on("track", () => this.draw());
  }

  /** Names of the joints that are meant (none: all), or null with a word where there are none. @param {string} which @returns {string[] | null} */
  static meant(which) {
    const found = LayersPanel.joints(which);
    if (which === "all" || found.length) return found;
    toast(which === "branch" ? "Choose a body first: its joint and all below it are meant." : "This figure has no such joints.", true);
    return null;
  }

  /** @param {string} which @returns {string[]} */
  static joints(which) {
    const facts = figure();
    if (!facts || which === "all") return [];
    const parents = facts.bodies.map(one => one.parent), above = (/** @type {number} */ i) => { const out = [i]; for (let p = parents[i]; p >= 0; p = parents[p]) out.push(p); return out; };
    const chosen = facts.bodies.findIndex(one => one.name === state.selected), feet = facts.bodies.map((one, i) => (one.role === "foot" ? i : -1)).filter(i => i >= 0), legs = new Set(feet.flatMap(above));
    const inside = (/** @type {number} */ i) => (which === "branch" ? above(i).includes(chosen) : (feet.some(foot => above(i).includes(foot)) || legs.has(i)) === (which === "legs"));
    return facts.joints.filter(one => one.kind !== "free" && inside(facts.bodies.findIndex(body => body.name === one.body))).map(one => one.name);
  }

  layOver() {
    const [start, end] = state.range ?? [0, 0], joints = LayersPanel.meant(this.joints.value);
    if (joints) this.send({ type: "lay_motion", over: this.over.value, joints, start, end });
  }

  /** @param {string} name */
  async toggle(name) {
    if (this.ghosts.delete(name)) this.view.dropGhost(`layer ${name}`);
    else {
      const track = new Track();
      this.ghosts.set(name, track);
      await track.load(`/layer?name=${encodeURIComponent(name)}`);
    }
    this.show();
    this.draw();
  }

  draw() {
    [...this.ghosts].forEach(([name, track], i) => {
      if (!track.frames || track.bodies !== this.view.names.length) return;
      track.sample(state.time);
      this.view.ghost(`layer ${name}`, track.pose, 0, 3 * track.bodies, TINTS[i % TINTS.length], 0.3);
    });
  }

  show() {
    const scene = state.scene;
    if (!scene) return;
    const mine = scene.motions.filter(one => one.owner === scene.owner);
    for (const name of [...this.ghosts.keys()]) if (!mine.some(one => one.name === name)) { this.ghosts.delete(name); this.view.dropGhost(`layer ${name}`); }
    this.list.replaceChildren(...mine.map(one => make("div", { className: "row" },
      make("button", { type: "button", className: one.name === scene.motion ? "on" : "", title: `Put ${one.label} on the timeline`, "aria-pressed": String(one.name === scene.motion), onclick: () => this.send({ type: "show_motion", name: one.name }) }, one.name === "main" ? "keys" : one.name, make("small", {}, one.kind === "clip" ? "take" : "keys")),
      one.name === scene.motion || (one.name === "main" && !scene.motions.some(other => other.name !== "main")) ? null : button("◐", `Show ${one.label} as a ghost`, () => this.toggle(one.name), { className: "fix", "aria-pressed": String(this.ghosts.has(one.name)) }),
      one.name === "main" ? null : button("×", `Remove ${one.label} from the scene; its file stays`, () => this.edit("RemoveMotion", { name: one.name }), { className: "fix" }))));
    const others = mine.filter(one => one.name !== scene.motion), before = this.over.value;
    this.over.replaceChildren(...others.map(one => make("option", { value: one.name }, one.label)));
    if (others.some(one => one.name === before)) this.over.value = before;
    this.rows.hidden = !others.length;
  }
}
