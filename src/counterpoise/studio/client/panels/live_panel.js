// Live: a controller at real speed, pushes, tilt, slow motion, its tuning table, and baking.
import { button, make, panel, toast } from "../dom.js";
import { changed, on, state } from "../store.js";
import { LayersPanel } from "./layers_panel.js";

/** @typedef {import("../messages.js").Slider} Slider */

/** Whether a slider is a wish: only those may be left open. @param {Slider} one */
const isWish = one => ["locomotion", "jump"].includes(state.live?.controller ?? "") && typeof one.value !== "boolean";

/** What is said of a locomotion that is about to jump. @type {Record<string, string>} */
const WAY = { "is planned": "The jump is planned; until then it goes on, or stands before the edge. A plan is made once, and then kept.", jumps: "It comes to stand, jumps, and goes on.", fell: "It fell. Press Stop, and Live again." };

export class LivePanel {
  /** @param {(command: import("../messages.js").Command) => void} send */
  constructor(send) {
    this.send = send;
    this.controller = make("select", { id: "controller", title: "What moves the figure", "aria-label": "Controller", onchange: () => this.explain() });
    this.meaning = make("div", { className: "note", id: "controller_meaning" });
    this.go = button("Live", "Simulate from the pose at the playhead (L)", () => this.toggle(), { id: "live", className: "go" });
    this.paused = false;
    this.names = ""; // of the sliders that are shown
    this.pause = button("Pause", "Hold the clock", () => { this.paused = !this.paused; this.set(); }, { id: "live_pause" });
    this.speed = this.slider("live_speed", "Speed", "of real time", 0.05, 1, 0.05, 1);
    this.roll = this.slider("roll", "Tilt sideways", "°", -20, 20, 0.5, 0);
    this.pitch = this.slider("pitch", "Tilt ahead", "°", -20, 20, 0.5, 0);
    this.force = this.slider("force", "Push", "N, for 0.1 s", 10, 600, 10, 150, () => {});
    this.act = button("Jump", "Jump as the wishes say (J)", () => this.doAct(), { id: "act", hidden: true });
    this.actRow = make("div", { className: "row", hidden: true }, this.act);
    this.size = this.slider("throw_size", "Size", "m", 0.04, 0.8, 0.02, 0.24, () => {});
    this.weight = this.slider("throw_mass", "Mass", "kg", 0.1, 20, 0.1, 3, () => {});
    this.pace = this.slider("throw_speed", "Speed", "m/s", 1, 25, 0.5, 8, () => {});
    this.shape = make("select", { id: "throw_shape", title: "What is thrown", "aria-label": "What is thrown" }, ...["ball", "box"].map(value => make("option", { value }, value)));
    this.throw = button("Throw", "Throw it at the chosen body, or the trunk; T throws at what the pointer is over (T)", () => changed("throw", "body"), { id: "throw" });
    this.clear = button("Clear", "Take away what was thrown", () => send({ type: "clear_thrown" }), { id: "clear_thrown", className: "fix" });
    this.note = make("div", { className: "note", id: "live_note" });
    const push = (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) => button(text, `Push the chosen body, or the trunk, ${text}`, () => this.push(x, y), { id: `push_${text}` });
    this.bake = button("Bake", "Keep what happened as a new motion on the timeline; nothing is overwritten (B)", () => this.bakeAll(), { id: "bake" });
    this.keys = make("input", { type: "number", id: "bake_keys", min: 0, max: 60, step: 1, value: 0, title: "Keys a second; 0 keeps every frame as a take", "aria-label": "Keys a second" });
    const time = (/** @type {string} */ id, /** @type {string} */ title) => make("input", { type: "number", id, min: 0, step: 0.1, placeholder: id.endsWith("from") ? "0" : "end", title, "aria-label": title });
    this.from = time("bake_from", "First moment of the live run that is baked [s]");
    this.to = time("bake_to", "Last moment of the live run that is baked [s]; empty: its end");
    this.joints = make("select", { id: "bake_joints", title: "Which joints are baked; the others are as on the timeline", "aria-label": "Joints that are baked" }, ...[["all", "all joints"], ["branch", "chosen body and below"], ["upper", "arms, head, trunk"], ["legs", "legs"]].map(([value, words]) => make("option", { value }, words)));
    this.search = make("input", { type: "search", id: "tuning_search", placeholder: "find …", title: "Find a number by its name", "aria-label": "Find a number", oninput: () => this.filter() });
    this.table = make("div", { id: "tuning", className: "body" });
    this.wishes = make("div", { id: "wishes", className: "body" });
    this.wishesPanel = make("section", { className: "panel", hidden: true }, make("h2", {}, "Wishes"), this.wishes);
    this.jumps = make("div", { id: "jump_wishes", className: "body" });
    this.jumpPanel = make("section", { className: "panel", hidden: true }, make("h2", {}, "Jump on the way"), this.jumps);
    this.element = make("div", {},
      panel("Live", make("div", { className: "row" }, this.controller), this.meaning, make("div", { className: "row" }, this.go, this.pause), this.actRow, this.note, this.speed.row), this.wishesPanel, this.jumpPanel,
      panel("Disturb", this.force.row, make("div", { className: "row" }, push("forward", 1, 0), push("back", -1, 0)), make("div", { className: "row" }, push("left", 0, 1), push("right", 0, -1)), this.roll.row, this.pitch.row,
        make("div", { className: "note" }, "Drag any body, ball or box in the view to pull it with a spring.")),
      panel("Throw", make("div", { className: "row" }, this.shape, this.throw, this.clear), this.size.row, this.weight.row, this.pace.row, make("div", { className: "note" }, "T throws at what the pointer is over.")),
      panel("Take", make("div", { className: "row" }, make("label", { title: "Keys a second; 0 keeps every frame as a take" }, "keys per s"), make("span", { className: "fix narrow" }, this.keys), this.bake), make("div", { className: "row" }, make("label", {}, "from, to [s]"), this.from, this.to), make("div", { className: "row" }, this.joints)),
      make("section", { className: "panel" }, make("h2", {}, "Tuning"), make("div", { className: "body" }, this.search), this.table),
    );
    on("live", () => this.show());
    on("ready", () => { this.controller.replaceChildren(...(state.ready?.controllers ?? []).map(one => make("option", { value: one.name, title: one.meaning }, one.name))); this.explain(); });
  }

  /** Says what the chosen controller does. */
  explain() { this.meaning.textContent = state.ready?.controllers.find(one => one.name === this.controller.value)?.meaning ?? ""; }

  /** @param {string} id @param {string} text @param {string} unit @param {number} min @param {number} max @param {number} step @param {number} value @param {() => void} [oninput] */
  slider(id, text, unit, min, max, step, value, oninput = () => this.set()) {
    const title = `${text} [${unit}]`, range = make("input", { type: "range", id, min, max, step, value, title, "aria-label": title, oninput: () => { number.value = range.value; oninput(); } });
    const number = make("input", { type: "number", min, max, step, value, title, "aria-label": title, onchange: () => { range.value = number.value; oninput(); } });
    return { range, number, row: make("div", { className: "slider" }, make("label", {}, text, make("span", { className: "unit" }, unit)), range, number) };
  }

  toggle() { this.send(state.live?.running ? { type: "stop_live" } : { type: "start_live", controller: this.controller.value || "stand", time: state.time }); }
  set() { if (state.live?.running) this.send({ type: "set_live", speed: Number(this.speed.range.value), paused: this.paused, roll: Number(this.roll.range.value), pitch: Number(this.pitch.range.value) }); }

  /** @param {number} x @param {number} y */
  push(x, y) {
    const bodies = state.scene?.figure.bodies ?? [], size = Number(this.force.range.value);
    const heaviest = [...bodies].sort((a, b) => b.mass - a.mass)[0];
    const body = state.selected ?? bodies.find(one => one.name === "thorax")?.name ?? heaviest?.name;
    if (body) this.send({ type: "push_body", body, force: [x * size, y * size, 0] });
  }

  doAct() { if (state.live?.running) this.send({ type: "act_live" }); else toast("Choose jump, perform or locomotion, and press Live first.", true); }

  /** Throws from a place to a target. @param {{place: [number, number, number], target: [number, number, number]}} way */
  throwAlong(way) { this.send({ type: "throw_prop", ...way, shape: this.shape.value, size: Number(this.size.range.value), mass: Number(this.weight.range.value), speed: Number(this.pace.range.value) }); }

  bakeAll() {
    const joints = LayersPanel.meant(this.joints.value);
    if (joints) this.send({ type: "bake_live", keys: Number(this.keys.value), start: Number(this.from.value), end: Number(this.to.value), joints });
  }

  show() {
    const live = state.live;
    if (!live) return;
    this.paused = live.paused;
    this.go.textContent = live.running ? "Stop" : "Live";
    this.go.className = live.running ? "stop" : "go";
    this.controller.disabled = live.running;
    this.pause.disabled = !live.running;
    this.pause.setAttribute("aria-pressed", String(live.paused));
    this.bake.disabled = !live.running && live.recorded <= 0;
    for (const one of [this.speed, this.roll, this.pitch]) one.range.disabled = one.number.disabled = !live.running;
    this.throw.disabled = !live.running;
    this.clear.disabled = !live.running || live.thrown === 0;
    this.actRow.hidden = this.act.hidden = !live.acts;
    this.act.textContent = live.acts === "perform" ? "Perform" : "Jump";
    this.act.title = live.acts === "perform" ? "Perform the motion on the timeline (J)" : "Jump as the wishes say (J)";
    this.act.disabled = ["is planned", "performs", "jumps"].includes(live.stage);
    for (const name of ["forward", "back", "left", "right"]) this.element.querySelector(`#push_${name}`).disabled = !live.running;
    const steered = live.controller === "locomotion" ? "Hold W S to walk, A D to turn, Shift to run, or click on the ground; J jumps." : "Runs as long as a page is open.";
    this.note.textContent = live.running ? live.controller === "locomotion" ? WAY[live.stage] ?? steered : live.acts ? `It ${live.stage}${live.stage === "is planned" ? "; pushes are still taken. A plan is made once, and then kept." : "."}` : steered : live.recorded > 0 ? `${live.recorded.toFixed(1)} s can be baked.` : "Starts from the pose at the playhead.";
    const names = live.sliders.map(one => `${one.table}.${one.name}`).join();
    if (names !== this.names) { this.names = names; this.build(live.sliders); }
    else this.refresh(live.sliders);
  }

  /** @param {Slider[]} sliders */
  build(sliders) {
    const rows = sliders.map(one => {
      const send = (/** @type {number | null} */ value) => this.send({ type: "tune_live", table: one.table, name: one.name, value });
      const title = one.meaning || one.name, words = one.name.replaceAll("_", " ");
      if (typeof one.value === "boolean") return make("label", { className: "check", title, "data-name": one.name }, make("input", { type: "checkbox", checked: one.value, "aria-label": words, onchange: (/** @type {any} */ e) => send(e.target.checked ? 1 : 0) }), words);
      if (one.choices.length) return this.choice(one, title, words);
      if (one.table === "jump" || (one.table === "controller" && isWish(one))) return this.wish(one, title, words, send);
      const step = one.high / 200, range = make("input", { type: "range", min: one.low, max: one.high, step, value: one.value, title, "aria-label": words, oninput: () => { number.value = range.value; }, onchange: () => send(Number(range.value)) });
      const number = make("input", { type: "number", step: "any", value: one.value, title, "aria-label": words, onchange: () => { range.value = number.value; send(Number(number.value)); } });
      return make("div", { className: "slider", title, "data-name": one.name }, make("label", {}, words, make("span", { className: "unit" }, one.unit)), range, number);
    });
    const isJump = (/** @type {HTMLElement} */ row) => row.dataset.table === "jump";
    this.jumps.replaceChildren(...rows.filter(isJump));
    this.jumpPanel.hidden = !this.jumps.children.length;
    this.wishes.replaceChildren(...rows.filter(row => row.classList.contains("wish") && !isJump(row)));
    this.wishesPanel.hidden = !this.wishes.children.length;
    this.table.replaceChildren(...rows.filter(row => !row.classList.contains("wish")));
    this.filter();
  }

  /** A choice such as the gait. @param {Slider} one @param {string} title @param {string} words */
  choice(one, title, words) {
    const list = make("select", { title, "aria-label": words, onchange: () => this.send({ type: "choose_live", table: one.table, name: one.name, value: list.value }) }, ...one.choices.map(text => make("option", { value: text }, text)));
    list.value = String(one.value);
    return make("div", { className: "slider wish", title, "data-name": one.name, "data-table": one.table }, make("label", {}, words), list);
  }

  /** A wish; those of a locomotion may be left open. @param {Slider} one @param {string} title @param {string} words @param {(value: number | null) => void} send */
  wish(one, title, words, send) {
    const open = one.table === "controller" && state.live?.controller === "locomotion", set = (/** @type {string} */ text) => { if (open || text.trim()) send(text.trim() === "" ? null : Number(text)); };
    const range = make("input", { type: "range", min: one.low, max: one.high, step: 0.01, title, "aria-label": words, oninput: () => { number.value = range.value; row.classList.remove("open"); }, onchange: () => set(range.value) });
    const number = make("input", { type: "number", step: "any", placeholder: open ? "usual" : "", title: open ? `${title} (empty: as usual)` : title, "aria-label": words, onchange: () => set(number.value) });
    const row = make("div", { className: "slider wish", title, "data-name": one.name, "data-table": one.table }, make("label", {}, words, make("span", { className: "unit" }, one.unit)), range, number);
    this.put(row, one);
    return row;
  }

  /** Shows the value of a wish. @param {HTMLElement} row @param {Slider} one */
  put(row, one) {
    const [range, number] = row.querySelectorAll("input");
    row.classList.toggle("open", one.value === null);
    number.value = one.value === null ? "" : String(Math.round(1000 * Number(one.value)) / 1000);
    range.value = String(one.value ?? Math.max(0, one.low));
  }

  /** Shows new values of wishes, but not in the row that is being changed. @param {Slider[]} sliders */
  refresh(sliders) {
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll(".wish"))) {
      const one = sliders.find(other => other.table === row.dataset.table && other.name === row.dataset.name);
      if (!one || row.contains(document.activeElement)) continue;
      const list = row.querySelector("select");
      if (list) list.value = String(one.value);
      else this.put(row, one);
    }
  }

  filter() { for (const row of this.table.children) row.hidden = !row.dataset.name.replaceAll("_", " ").includes(this.search.value.trim().toLowerCase()); }
}
