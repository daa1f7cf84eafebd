// Posing: what is held, the chosen joint's angles, mirror and reset.
import { button, make, panel } from "../dom.js";
import { figure, on, state } from "../store.js";

const DEGREES = 180 / Math.PI;

export class PosePanel {
  /** @param {(command: import("../messages.js").Command) => void} send */
  constructor(send) {
    this.send = send;
    this.named = ""; // the poses in the list
    this.shown = ""; // the figure and joint whose sliders are shown
    this.name = make("b", {}, "Nothing is chosen");
    this.hold = make("select", { id: "hold", title: "What stays while other bodies are dragged", "aria-label": "Hold", onchange: () => state.selected && send({ type: "pin_body", body: state.selected, hold: this.hold.value }) },
      ...[["none", "free"], ["place", "pinned: its place"], ["whole", "pinned: place and turn"]].map(([value, text]) => make("option", { value }, text)));
    this.balanced = this.check("balanced", "Balanced", "The centre of mass stays over the feet while you drag");
    this.above = this.check("above_ground", "Above the ground", "Hands and feet do not sink into the floor while you drag");
    this.joints = make("div", { id: "joint_sliders" });
    this.poses = make("select", { id: "poses", title: "Poses of the scene and of the library", "aria-label": "Poses" });
    this.poseName = make("input", { type: "text", id: "pose_name", placeholder: "name", title: "Name of the pose", "aria-label": "Name of the pose" });
    this.element = make("div", {},
      panel("Chosen", this.name, make("div", { className: "row" }, make("label", {}, "Hold"), this.hold), this.joints),
      panel("While dragging", this.balanced.row, this.above.row, make("div", { className: "note" }, "Ctrl: fine. Shift: snap to 5 cm. X, Y, Z: one axis. Esc: give up.")),
      panel("Pose", make("div", { className: "row" },
        button("Mirror", "Mirror the pose: left and right change places (M)", () => this.mirror(), { id: "mirror" }),
        button("Neutral", "Back to the neutral pose", () => send({ type: "reset_pose", time: state.time }), { id: "neutral" }))),
      panel("Library of poses", make("div", { className: "row" }, this.poses, button("Take", "Take this pose at the playhead", () => send({ type: "apply_pose", time: state.time, name: this.poses.value }), { id: "apply_pose", className: "fix" })),
        make("div", { className: "row" }, this.poseName, button("Keep", "Keep the pose at the playhead in the scene, under this name", () => this.keep(), { id: "save_pose", className: "fix" }))),
    );
    for (const name of ["scene", "selection", "rules"]) on(name, () => this.show());
    on("joints", (/** @type {import("../messages.js").JointValues} */ event) => this.values(event));
  }

  keep() {
    const name = this.poseName.value.trim();
    if (!name) { this.poseName.focus(); return; }
    this.send({ type: "save_pose_as", time: state.time, name });
    this.poseName.value = "";
  }

  mirror() { this.send({ type: "mirror_pose", time: state.time }); }

  /** @param {string} id @param {string} text @param {string} title */
  check(id, text, title) {
    const box = make("input", { type: "checkbox", id, onchange: () => this.send({ type: "set_rules", balanced: this.balanced.box.checked, above_ground: this.above.box.checked }) });
    return { box, row: make("label", { className: "check", title }, box, text) };
  }

  show() {
    const facts = figure(), body = state.selected, joint = facts?.joints.find(one => one.body === body);
    this.name.textContent = body ? body.replaceAll("_", " ") : "Nothing is chosen";
    this.hold.disabled = !body;
    this.hold.value = (body && state.rules.pins[body]) || "none";
    this.balanced.box.checked = state.rules.balanced;
    this.above.box.checked = state.rules.above_ground;
    const poses = (state.scene?.poses ?? []).join("|");
    if (this.named !== poses) { this.named = poses; this.poses.replaceChildren(...(state.scene?.poses ?? []).map(value => make("option", { value }, value))); }
    const key = `${facts?.mesh} ${joint?.name}`;
    if (this.shown !== key) { this.shown = key; this.build(joint ?? null); }
  }

  /** Sliders of a joint; of a ball, of its rotation vector. @param {import("../messages.js").JointFacts | null} joint */
  build(joint) {
    this.joint = joint;
    /** @type {any[]} */ this.sliders = [];
    if (!joint || joint.kind === "free") { this.joints.replaceChildren(make("div", { className: "note" }, joint ? "the root: move or turn it in the view" : "")); return; }
    const scale = joint.kind === "slide" ? 1 : DEGREES, unit = joint.kind === "slide" ? "m" : "°", count = { universal: 2, ball: 3 }[joint.kind] ?? 1, axes = joint.kind === "ball" ? ["x", "y", "z"] : ["1", "2"];
    const rows = Array.from({ length: count }, (_, i) => {
      const low = (joint.low[i] ?? -Math.PI) * scale, high = (joint.high[i] ?? Math.PI) * scale, title = `${joint.name} ${count > 1 ? axes[i] : ""} from ${low.toFixed(0)} to ${high.toFixed(0)} ${unit}`;
      const range = make("input", { type: "range", min: low, max: high, step: (high - low) / 400, title, "aria-label": title, oninput: () => { number.value = Number(range.value).toFixed(1); this.set(false); }, onchange: () => this.set(true) });
      const number = make("input", { type: "number", step: 1, title, "aria-label": title, onchange: () => { range.value = number.value; this.set(true); } });
      this.sliders?.push({ range, number, scale });
      return make("div", { className: "slider" }, make("label", {}, `${joint.name.replaceAll("_", " ")}${count > 1 ? ` ${axes[i]}` : ""}`, make("span", { className: "unit" }, unit)), range, number);
    });
    this.joints.replaceChildren(...rows);
    if (this.last) this.values(this.last);
  }

  /** @param {boolean} done */
  set(done) {
    if (!this.joint || !this.sliders) return;
    this.send({ type: "set_joint", time: state.time, joint: this.joint.name, values: this.sliders.map(one => Number(one.number.value) / one.scale), done });
  }

  /** @param {import("../messages.js").JointValues} event */
  values(event) {
    this.last = event;
    const values = this.joint ? event.values[this.joint.name] : undefined;
    this.sliders?.forEach((one, i) => {
      if (!values || document.activeElement === one.range || document.activeElement === one.number) return;
      one.range.value = String(values[i] * one.scale);
      one.number.value = (values[i] * one.scale || 0).toFixed(1).replace(/^-0.0$/, "0.0");
    });
  }
}
