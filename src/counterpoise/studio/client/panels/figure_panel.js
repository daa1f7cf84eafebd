// The figure editor, after Bawa: add, remove, length, mass, limits, mirror, root, couplings.
import { button, make, panel } from "../dom.js";
import { figure, on, state } from "../store.js";

const DEGREES = 180 / Math.PI;

export class FigurePanel {
  /** @param {(command: import("../messages.js").Command) => void} send @param {import("../editing.js").Edit} edit */
  constructor(send, edit) {
    this.send = send;
    this.edit = edit;
    this.figureName = make("input", { type: "text", id: "figure_name", placeholder: "name", title: "Name of the figure", "aria-label": "Name of the figure" });
    this.library = make("select", { id: "library", title: "Figures of the library", "aria-label": "Figures of the library" });
    this.name = make("b", {}, "Choose a body");
    this.length = this.number("length", "Length [m]", 0.01, () => edit("SetLength", { segment: state.selected, length: Number(this.length.value) }));
    this.mass = this.number("mass", "Mass [kg]", 0.1, () => edit("SetMass", { segment: state.selected, mass: Number(this.mass.value) }));
    this.low = this.number("limit_low", "Lower limit [°]", 1, () => this.setLimits());
    this.high = this.number("limit_high", "Upper limit [°]", 1, () => this.setLimits());
    this.newName = make("input", { type: "text", id: "segment_name", placeholder: "name", title: "Name of the new segment", "aria-label": "Name of the new segment" });
    this.newLength = make("input", { type: "number", id: "segment_length", value: 0.3, min: 0.001, step: 0.01, title: "Length of the new segment [m]", "aria-label": "Length of the new segment in metres" });
    this.newAngle = make("input", { type: "number", id: "segment_angle", value: 0, step: 5, title: "Angle from the parent's line [°]", "aria-label": "Angle of the new segment in degrees" });
    this.newJoint = make("select", { id: "segment_joint", title: "Joint of the new segment", "aria-label": "Joint of the new segment" }, ...["hinge", "ball", "universal", "slide", "fixed"].map(value => make("option", { value }, value)));
    this.coupled = make("select", { id: "couple_with", title: "The other joint", "aria-label": "The other joint" });
    this.ratio = make("input", { type: "number", id: "couple_ratio", value: 1, step: 0.1, title: "This joint's angle = ratio × the other's", "aria-label": "Ratio" });
    this.sides = make("div", { id: "limit_sides" });
    this.range = make("div", { className: "row" }, make("label", {}, "limits [°]"), this.low, this.high);
    this.couplings = make("div", { className: "list", id: "couplings" });
    const row = (/** @type {any[]} */ ...parts) => make("div", { className: "row" }, ...parts);
    this.element = make("div", {},
      panel("Figure", row(this.library, button("Take", "Take this figure for the scene; keys keep the joints it shares", () => edit("SetFigure", { figure: this.library.value }), { id: "take_figure", className: "fix" })),
        row(this.figureName, button("Keep", "Keep this figure as a file of the folder, to be taken again from the list of files", () => this.keep(), { id: "keep_figure", className: "fix" })),
        make("div", { className: "note" }, "Limits are dragged in the view: choose a body, drag a dot on the edge of where its bone may point.")),
      panel("Chosen segment", this.name, row(make("label", { for: "length" }, "length [m]"), this.length), row(make("label", { for: "mass" }, "mass [kg]"), this.mass),
        this.range, this.sides,
        row(this.button("Mirror limb", "Build the limb's mirror image on the other side, in place of what is there", "mirror_limb", () => edit("MirrorLimb", { limb: state.selected, replace: true }))),
        row(this.button("Make root", "The figure hangs from this segment", "make_root", () => edit("SetRoot", { segment: state.selected })),
          this.button("Remove", "Remove this segment; its children go to its parent", "remove_segment", () => edit("RemoveSegment", { segment: state.selected })))),
      panel("New segment", row(this.newName), row(make("label", { title: "Length [m] and angle [°] of the new segment" }, "length, °"), this.newLength, this.newAngle), row(this.newJoint, this.button("Add", "Add a segment at the end of the chosen one", "add_segment", () => this.add()))),
      panel("Coupling", row(this.coupled, this.ratio), row(this.button("Couple", "This joint follows the other one while you pose", "couple", () => this.couple())), this.couplings),
    );
    for (const name of ["scene", "selection"]) on(name, () => this.show());
    on("ready", () => this.library.replaceChildren(...(state.ready?.figures ?? []).map(value => make("option", { value }, value))));
  }

  /** @param {string} id @param {string} title @param {number} step @param {() => void} onchange */
  number(id, title, step, onchange) { return make("input", { type: "number", id, step, title, "aria-label": title, onchange }); }
  /** @param {string} text @param {string} title @param {string} id @param {() => void} onclick */
  button(text, title, id, onclick) { return button(text, title, onclick, { id, className: "needs_body" }); }

  keep() {
    const name = this.figureName.value.trim();
    if (!name) { this.figureName.focus(); return; }
    this.send({ type: "keep_figure", name });
    this.figureName.value = "";
  }

  /** A number for each side of the limits of a ball or universal joint. */
  showSides() {
    const joint = this.joint, grips = joint && joint.kind !== "hinge" ? joint.limits.grips : [];
    this.range.hidden = grips.length > 0;
    if (this.sides.contains(document.activeElement)) return;
    this.sides.replaceChildren(...grips.map(({ side, angle }) => {
      const title = `${side} of ${joint?.name.replaceAll("_", " ")} [°]`, id = `limit_${side.replaceAll(" ", "_")}`;
      const input = this.number(id, title, 1, () => this.edit("SetLimitSide", { joint: joint?.name, side, angle: Number(input.value) }));
      input.value = angle.toFixed(1);
      return make("div", { className: "row" }, make("label", { for: id }, side), input);
    }));
  }

  get joint() { return figure()?.joints.find(one => one.body === state.selected) ?? null; }
  setLimits() { if (this.joint) this.edit("SetLimit", { joint: this.joint.name, limits: [Number(this.low.value), Number(this.high.value)] }); }
  add() {
    const options = { angle: Number(this.newAngle.value), joint: this.newJoint.value };
    this.edit("AddSegment", { name: this.newName.value.trim() || `segment_${figure()?.bodies.length}`, parent: state.selected, length: Number(this.newLength.value), options });
    this.newName.value = "";
  }
  couple() { if (this.joint) this.edit("AddConstraint", { kind: "couple", entries: { coefficients: { [this.joint.name]: 1, [this.coupled.value]: -Number(this.ratio.value) }, equals: 0 } }); }

  show() {
    const facts = figure(), body = facts?.bodies.find(one => one.name === state.selected), joint = this.joint, one = joint?.kind === "hinge" || joint?.kind === "slide";
    this.name.textContent = body ? `${body.name.replaceAll("_", " ")}${joint ? ` (${joint.kind} joint)` : ""}` : "Choose a body in the view or in the tree";
    for (const input of [this.length, this.mass]) input.disabled = !body;
    if (body && document.activeElement !== this.length) this.length.value = body.length.toFixed(3);
    if (body && document.activeElement !== this.mass) this.mass.value = body.mass.toFixed(3);
    const scale = joint?.kind === "slide" ? 1 : DEGREES;
    for (const [input, values] of /** @type {const} */ ([[this.low, joint?.low], [this.high, joint?.high]])) { input.disabled = !one; input.value = one && values?.length ? (values[0] * scale).toFixed(1) : ""; }
    this.showSides();
    for (const element of this.element.querySelectorAll(".needs_body")) element.disabled = !body;
    const hinges = facts?.joints.filter(other => other.name !== joint?.name && other.kind === "hinge") ?? [];
    this.coupled.replaceChildren(...hinges.map(other => make("option", { value: other.name }, other.name.replaceAll("_", " "))));
    this.element.querySelector("#couple").disabled = joint?.kind !== "hinge" || !hinges.length;
    this.couplings.replaceChildren(...(state.scene?.constraints ?? []).filter(one => one.kind === "couple").map(each => make("button", { type: "button", title: "Click to remove this coupling", onclick: () => this.edit("RemoveConstraint", { constraint: each.index }) }, each.words, make("small", {}, "remove"))));
  }
}
