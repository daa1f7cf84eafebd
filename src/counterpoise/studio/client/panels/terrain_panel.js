// The ground: pieces of terrain in front of the figure, and how rough they are to slide on.
import { button, make, panel } from "../dom.js";
import { on, state } from "../store.js";

/** @type {Array<[string, string, (x: number) => Record<string, any>]>} kind of piece, words, and its first entries at a distance ahead */
const PIECES = [
  ["box", "a box to step on", x => ({ center: [x, 0], size: [0.8, 1.2], height: 0.2 })],
  ["ramp", "a ramp", x => ({ start: [x, 0], length: 1.5, height: 0.2, landing: 1 })],
  ["stairs", "stairs", x => ({ start: [x, 0], steps: 4 })],
  ["gap", "a gap in the ground", x => ({ center: [x, 0], size: [0.4, 3] })],
  ["rough_ground", "rough ground", x => ({ center: [x, 0], size: [3, 3], roughness: 0.04, seed: 1 })],
];

export class TerrainPanel {
  /** @param {import("../editing.js").Edit} edit */
  constructor(edit) {
    this.edit = edit;
    this.kind = make("select", { id: "terrain_kind", title: "A piece of terrain", "aria-label": "Piece of terrain" }, ...PIECES.map(([value, text]) => make("option", { value }, text)));
    this.list = make("div", { className: "list", id: "terrain" });
    this.friction = make("input", { type: "number", id: "friction", min: 0.05, max: 2, step: 0.05, title: "Friction of the ground", "aria-label": "Friction of the ground", onchange: () => edit("SetWorld", { entries: { friction: Number(this.friction.value) } }) });
    this.element = panel("Ground", make("div", { className: "row" }, make("label", {}, "friction"), this.friction), make("div", { className: "row" }, this.kind, button("Add", "Add this piece, ahead of the figure", () => this.add(), { id: "add_terrain", className: "fix" })), this.list);
    on("scene", () => this.show());
  }

  add() {
    const piece = PIECES.find(one => one[0] === this.kind.value), far = 1.4 + 1.8 * (state.scene?.terrain.length ?? 0);
    if (piece) this.edit("AddTerrain", { kind: piece[0], entries: piece[2](far) });
  }

  show() {
    const scene = state.scene;
    if (!scene) return;
    if (document.activeElement !== this.friction) this.friction.value = String(scene.friction);
    this.list.replaceChildren(...scene.terrain.map(one => make("button", { type: "button", title: `Click to remove: ${one.words}`, onclick: () => this.edit("RemoveTerrain", { kind: one.kind, piece: one.index }) }, one.words, make("small", {}, "remove"))));
  }
}
