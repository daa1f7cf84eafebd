// The bar at the top: the scene's name, undo and redo, what the view shows, theme, help.
import { button, byId, icon, make } from "./dom.js";
import { changed, on, state } from "./store.js";
import { MAPS } from "./view/navigation.js";

export class Bar {
  /** @param {(command: import("./messages.js").Command) => void} send @param {() => void} help @param {import("./view/navigation.js").Navigation} navigation */
  constructor(send, help, navigation) {
    this.mouse = make("select", { id: "mouse_map", title: MAPS[navigation.map].words, "aria-label": "Mouse map of the camera", onchange: () => { navigation.choose(this.mouse.value); this.mouse.title = MAPS[this.mouse.value].words; byId("status_text").textContent = this.mouse.title; } }, ...Object.entries(MAPS).map(([value, { label, words }]) => make("option", { value, title: words }, label)));
    this.mouse.value = navigation.map;
    this.name = make("span", { className: "name", id: "scene_name" });
    this.undo = button(icon("undo"), "Undo (Ctrl Z)", () => send({ type: "undo_edit" }), { id: "undo", className: "icon" });
    this.redo = button(icon("redo"), "Redo (Ctrl Shift Z)", () => send({ type: "redo_edit" }), { id: "redo", className: "icon" });
    this.tools = { move: button(icon("move"), "Move: drag a joint or any point of the body (W)", () => this.tool("move"), { id: "tool_move", className: "icon" }), turn: button(icon("turn"), "Turn: drag to turn a body about its joint (E)", () => this.tool("turn"), { id: "tool_turn", className: "icon" }) };
    /** @type {Record<string, any>} */ this.shows = {};
    const show = (/** @type {string} */ name, /** @type {any} */ picture, /** @type {string} */ title) => (this.shows[name] = button(icon(picture), title, () => this.toggle(name), { id: `show_${name}`, className: "icon" }));
    this.page = make("span", { className: "note", id: "connection" });
    byId("bar").append(
      make("span", { className: "brand" }, make("img", { src: "/client/icon.svg", alt: "" }), "Counterpoise"), make("span", { className: "sep" }), this.name,
      make("span", { className: "sep" }), this.undo, this.redo, make("span", { className: "sep" }),
      make("span", { className: "group" }, this.tools.move, this.tools.turn), make("span", { className: "sep" }),
      show("handles", "key", "Handles on the joints (H)"), show("mass", "mass", "Centre of mass and support area"), show("forces", "force", "Contact forces"), show("heat", "heat", "Heat: dots turn red where joints use their strength; known live, and of takes that were simulated, optimised, fixed or checked"), show("ghosts", "ghost", "Ghosts of the keys around the playhead"), show("trail", "trail", "Path of the chosen body"), show("smooth", "person", "Smooth body, or the shapes that physics sees"), show("limits", "cone", "Limits of the chosen joint: where its bone may point"), show("gizmo", "axes", "Arrows and rings on the chosen body, for one axis at a time"),
      make("span", { className: "gap" }), this.page,
      this.mouse,
      button(icon("frame"), "Frame the chosen body, or the figure (F)", () => changed("frame"), { id: "frame", className: "icon" }),
      button(icon("sun"), "Dark or light", () => this.theme(), { id: "theme", className: "icon" }),
      button(icon("help"), "All keys, and a short tour (?)", help, { id: "help", className: "icon" }));
    state.shows.smooth = localStorage.getItem("smooth") ? localStorage.getItem("smooth") === "yes" : !navigation.stage.software;
    if (localStorage.getItem("theme") === "light") document.documentElement.dataset.theme = "light";
    on("scene", () => this.show());
    on("shows", () => this.show());
    this.show();
  }

  /** @param {"move" | "turn"} tool */
  tool(tool) { state.tool = tool; this.show(); changed("shows"); }
  /** @param {string} name */
  toggle(name) { const shows = /** @type {Record<string, boolean>} */ (state.shows); shows[name] = !shows[name]; if (name === "smooth") localStorage.setItem("smooth", shows[name] ? "yes" : "no"); changed("shows"); }
  theme() {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === "light" ? "dark" : "light";
    localStorage.setItem("theme", root.dataset.theme);
    changed("theme");
  }

  show() {
    const scene = state.scene;
    this.name.textContent = scene ? `${scene.name}${scene.unsaved ? " •" : ""}` : "";
    this.name.title = scene?.file ?? "";
    this.undo.disabled = !scene?.undo;
    this.redo.disabled = !scene?.redo;
    this.undo.title = scene?.undo ? `Undo ${scene.undo} (Ctrl Z)` : "Nothing to undo (Ctrl Z)";
    this.redo.title = scene?.redo ? `Redo ${scene.redo} (Ctrl Shift Z)` : "Nothing to redo (Ctrl Shift Z)";
    for (const [name, face] of Object.entries(this.tools)) face.setAttribute("aria-pressed", String(state.tool === name));
    for (const [name, face] of Object.entries(this.shows)) face.setAttribute("aria-pressed", String(/** @type {Record<string, boolean>} */ (state.shows)[name]));
  }
}
