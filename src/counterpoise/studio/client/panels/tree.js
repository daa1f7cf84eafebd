// The figure's tree on the left: choose a body, see what is pinned.
import { make } from "../dom.js";
import { figure, on, select, state } from "../store.js";

const HOLDS = { whole: "pinned", place: "place" };

export class Tree {
  /** @param {HTMLElement} host @param {(body: string, event: MouseEvent) => void} menu */
  constructor(host, menu) {
    this.menu = menu;
    this.list = make("div", { className: "tree", role: "tree", "aria-label": "Bodies" });
    this.title = make("h2", {}, "Figure");
    this.facts = make("div", { className: "note facts_line", id: "figure_facts" });
    host.append(make("section", { className: "panel" }, this.title, this.facts, this.list));
    for (const name of ["scene", "selection", "rules"]) on(name, () => this.show());
  }

  show() {
    const facts = figure();
    if (!facts) return;
    this.title.textContent = facts.name;
    const depth = (/** @type {number} */ i) => { let d = 0; for (let p = facts.bodies[i].parent; p >= 0; p = facts.bodies[p].parent) d += 1; return d; };
    const wanted = facts.bodies.length;
    if (this.list.children.length !== wanted || this.mesh !== facts.mesh) {
      this.mesh = facts.mesh;
      this.list.replaceChildren(...facts.bodies.map((body, i) => {
        const row = make("button", {
          type: "button", role: "treeitem", title: `${body.name}: ${body.mass.toFixed(2)} kg, ${body.length.toFixed(3)} m. Click to choose; right click to pin.`,
          onclick: () => select(body.name), oncontextmenu: (/** @type {MouseEvent} */ e) => { e.preventDefault(); select(body.name); this.menu(body.name, e); },
        }, make("span", { className: "dot" }), body.name.replaceAll("_", " "), make("span", { className: "mark" }));
        row.style.paddingLeft = `${8 + 9 * depth(i)}px`;
        return row;
      }));
    }
    facts.bodies.forEach((body, i) => {
      const row = this.list.children[i];
      row.setAttribute("aria-selected", String(body.name === state.selected));
      row.querySelector(".mark").textContent = HOLDS[/** @type {"whole" | "place"} */ (state.rules.pins[body.name])] ?? "";
    });
    this.facts.textContent = `${facts.height.toFixed(2)} m · ${facts.mass.toFixed(1)} kg · ${facts.joints.length} joints`;
  }
}
