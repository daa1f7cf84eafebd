// What is in the scene: its figures, and its loose balls and boxes.
import { button, make, panel } from "../dom.js";
import { on, state } from "../store.js";
import { TerrainPanel } from "./terrain_panel.js";

const FIRST = { ball: { size: 0.24, mass: 1 }, box: { size: [0.4, 0.4, 0.4], mass: 8 } };

export class WorldPanel {
  /** @param {(command: import("../messages.js").Command) => void} send @param {(edit: string, values: Record<string, any>) => void} edit @param {import("../view/props.js").PropsView} props */
  constructor(send, edit, props) {
    this.send = send;
    this.edit = edit;
    this.props = props;
    this.figures = make("div", { className: "list", id: "characters" });
    this.library = make("select", { id: "cast_figure", title: "Figures of the library", "aria-label": "Figure to add" });
    this.list = make("div", { className: "list", id: "props" });
    const number = (/** @type {string} */ id, /** @type {string} */ title, /** @type {number} */ step, /** @type {() => void} */ onchange) => make("input", { type: "number", id, step, min: 0, title, "aria-label": title, onchange });
    this.sizes = ["length", "width", "height"].map((name, i) => number(`prop_size_${i}`, `${name} of the chosen prop [m]`, 0.02, () => this.setSize()));
    this.mass = number("prop_mass", "Mass of the chosen prop [kg]", 0.1, () => this.set({ mass: Number(this.mass.value) }));
    this.bounce = number("prop_bounce", "Share of its speed that the chosen prop keeps when it bounces, 0 to 0.95", 0.05, () => this.set({ bounce: Number(this.bounce.value) }));
    this.height = number("prop_height", "Height of the centre of the chosen prop [m]", 0.05, () => { const place = [...(this.chosen?.place ?? [0, 0, 0])]; place[2] = Number(this.height.value); this.set({ place }); });
    this.numbers = make("div", { className: "body", hidden: true }, make("div", { className: "row" }, make("label", { className: "fix" }, "size [m]"), ...this.sizes), make("div", { className: "row" }, make("label", {}, "mass [kg]"), this.mass), make("div", { className: "row" }, make("label", {}, "bounce, 0 to 0.95"), this.bounce), make("div", { className: "row" }, make("label", {}, "height [m]"), this.height));
    this.element = make("div", {},
      panel("Figures of the scene", this.figures, make("div", { className: "row" }, this.library, button("Add", "Add this figure to the scene, beside the others", () => this.addFigure(), { id: "add_character", className: "fix" })),
        make("div", { className: "note" }, "Click a figure to pose it. Live, all of them are simulated.")),
      panel("Props", make("div", { className: "row" }, button("+ ball", "Add a ball that lies on the ground", () => this.addProp("ball"), { id: "add_ball" }), button("+ box", "Add a box that stands on the ground", () => this.addProp("box"), { id: "add_box" })), this.list, this.numbers,
        make("div", { className: "note" }, "Drag a prop over the ground; Shift snaps to 5 cm. Live, it falls and is pushed.")));
    this.element.append(new TerrainPanel(edit).element);
    for (const name of ["scene", "prop"]) on(name, () => this.show());
    on("ready", () => this.library.replaceChildren(...(state.ready?.figures ?? []).map(value => make("option", { value }, value))));
  }

  get chosen() { return state.scene?.props[this.props.chosen] ?? null; }

  /** @param {Record<string, any>} entries */
  set(entries) { if (this.chosen) this.edit("SetProp", { prop: this.props.chosen, entries }); }
  setSize() {
    const prop = this.chosen;
    if (!prop) return;
    const size = this.sizes.map(input => Number(input.value));
    this.set({ size: prop.shape === "ball" ? size[0] : size });
  }

  /** @param {"ball" | "box"} shape */
  addProp(shape) {
    const { size, mass } = FIRST[shape], high = typeof size === "number" ? size : size[2], count = state.scene?.props.length ?? 0;
    this.edit("AddProp", { shape, size, mass, place: [0.2 + 0.7 * (count % 3), 1 + 0.7 * (Math.floor(count / 3) % 4), 0.5 * high] });
  }

  addFigure() {
    const figure = this.library.value, names = state.scene?.characters ?? [];
    let name = figure, number = 1;
    while (names.includes(name) || name === "main") name = `${figure} ${++number}`;
    const place = [0, -1.1 * names.length];
    this.edit("Together", { label: `add ${name}`, edits: [{ edit: "AddCharacter", name, figure }, { edit: "SetController", kind: "stand", options: { place }, character: name }] });
  }

  show() {
    const scene = state.scene;
    if (!scene) return;
    const words = (/** @type {string} */ name) => (name === "main" ? `main (${scene.source})` : name);
    this.figures.replaceChildren(...scene.characters.map(name => make("div", { className: "row" },
      make("button", { type: "button", className: name === scene.owner ? "on" : "", title: `Pose ${words(name)}`, "aria-pressed": String(name === scene.owner), onclick: () => this.send({ type: "show_character", name }) }, words(name)),
      name === "main" ? null : button("×", `Remove ${name}, with its motions and its controller`, () => this.edit("RemoveCharacter", { name }), { className: "fix" }))));
    this.list.replaceChildren(...scene.props.map((prop, i) => make("div", { className: "row" },
      make("button", { type: "button", className: i === this.props.chosen ? "on" : "", title: `Choose ${prop.shape} ${i + 1}`, onclick: () => this.props.choose(i) }, `${prop.shape} ${i + 1}`, make("small", {}, `${prop.mass} kg`)),
      button("×", `Remove ${prop.shape} ${i + 1}`, () => this.edit("RemoveProp", { prop: i }), { className: "fix" }))));
    const prop = this.chosen;
    this.numbers.hidden = !prop;
    if (!prop) return;
    this.sizes.forEach((input, i) => { input.value = prop.size[i]; input.hidden = prop.shape === "ball" && i > 0; });
    [this.mass.value, this.bounce.value, this.height.value] = [String(prop.mass), String(prop.bounce), String(prop.place[2])];
  }
}
