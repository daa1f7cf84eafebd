// Staging: what drives the figure when the scene is played, its pushes, cameras and notes.
import { button, make, panel, toast } from "../dom.js";
import { changed, on, setTime, state } from "../store.js";

const KINDS = ["", "stand", "walk", "locomotion", "jump", "balance", "momentum_balance", "hold", "get_up", "passive"];
/** @type {Record<string, [number, number]>} */
const WAYS = { forward: [1, 0], back: [-1, 0], left: [0, 1], right: [0, -1] };

export class StagingPanel {
  /** @param {import("../editing.js").Edit} edit @param {import("../view/stage.js").Stage} stage */
  constructor(edit, stage) {
    this.edit = edit;
    this.stage = stage;
    this.controller = make("select", { id: "scene_controller", title: "What drives this figure when the scene is played", "aria-label": "Controller of the scene", onchange: () => this.drive() }, ...KINDS.map(value => make("option", { value }, value ? value.replaceAll("_", " ") : "nothing drives it")));
    this.follows = make("label", { className: "check", title: "Stand, balance and hold follow the motion on the timeline" }, make("input", { type: "checkbox", id: "scene_follow", onchange: () => this.drive() }), "follows the motion on the timeline");
    this.way = make("select", { id: "push_way", title: "Direction of the push", "aria-label": "Direction of the push" }, ...Object.keys(WAYS).map(value => make("option", { value }, value)));
    this.force = make("input", { type: "number", id: "push_force", min: 1, max: 2000, step: 10, value: 100, title: "Force of the push [N], for 0.1 s", "aria-label": "Force of the push in newtons" });
    this.pushes = make("div", { className: "list", id: "pushes" });
    this.cameraName = make("input", { type: "text", id: "camera_name", placeholder: "name", title: "Name of the camera", "aria-label": "Name of the camera" });
    this.cameras = make("div", { className: "list", id: "cameras" });
    this.text = make("input", { type: "text", id: "note_text", placeholder: "remark", title: "A remark at the playhead", "aria-label": "Remark" });
    this.notes = make("div", { className: "list", id: "notes" });
    const row = (/** @type {any[]} */ ...parts) => make("div", { className: "row" }, ...parts);
    this.element = make("div", {},
      panel("When it is played", row(this.controller), this.follows, row(this.way, this.force, button("+ push", "Push the chosen body, or the trunk, at the playhead for 0.1 s when the scene is played", () => this.addPush(), { id: "add_push", className: "fix" })), this.pushes),
      panel("Cameras and notes", row(this.cameraName, button("+ camera", "Keep this view as a camera of the scene", () => this.addCamera(), { id: "add_camera", className: "fix" })), this.cameras,
        row(this.text, button("+ note", "Write this remark at the playhead", () => this.addNote(), { id: "add_note", className: "fix" })), this.notes));
    on("scene", () => this.show());
  }

  get follow() { return /** @type {HTMLInputElement} */ (this.follows.firstChild); }

  drive() {
    const kind = this.controller.value, character = state.scene?.owner, can = ["stand", "balance", "momentum_balance", "hold"].includes(kind) && (state.scene?.keys.length || state.scene?.kind === "clip");
    if (!kind) this.edit("RemoveController", { character });
    else this.edit("SetController", { kind, character, ...(can && this.follow.checked ? { follow: state.scene?.motion } : {}) });
  }

  addPush() {
    const bodies = state.scene?.figure.bodies ?? [], body = state.selected ?? bodies.find(one => one.name === "thorax")?.name ?? bodies[0]?.name, [x, y] = WAYS[this.way.value], size = Number(this.force.value);
    if (!(size > 0)) { toast("A push needs a force above 0 N.", true); return; }
    this.edit("AddPush", { body, force: [x * size, y * size, 0], start: Math.round(1000 * state.time) / 1000, character: state.scene?.owner });
  }

  addCamera() {
    const name = this.cameraName.value.trim() || `camera ${(state.scene?.cameras.length ?? 0) + 1}`, round = (/** @type {number[]} */ place) => place.map(v => Math.round(1000 * v) / 1000);
    this.edit("SetCamera", { name, eye: round(this.stage.eye), target: round(this.stage.target), field_of_view: this.stage.camera.fov });
    this.cameraName.value = "";
  }

  addNote() {
    const text = this.text.value.trim();
    if (!text) { this.text.focus(); return; }
    this.edit("AddNote", { text, time: Math.round(1000 * state.time) / 1000, motion: state.scene?.motion });
    this.text.value = "";
  }

  show() {
    const scene = state.scene;
    if (!scene) return;
    this.controller.value = scene.controller;
    const line = (/** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ go, /** @type {() => void} */ remove) => make("div", { className: "row" }, make("button", { type: "button", title, onclick: go }, text.replaceAll("_", " ")), button("×", `Remove ${text}`, remove, { className: "fix" }));
    this.pushes.replaceChildren(...scene.pushes.map(one => line(one.words, `Go to ${one.start.toFixed(2)} s`, () => setTime(one.start), () => this.edit("RemovePush", { push: one.index }))));
    this.cameras.replaceChildren(...scene.cameras.map(one => line(one.name, `Look from ${one.name}`, () => { this.stage.lookFrom(one.eye, one.target); changed("shows"); }, () => this.edit("RemoveCamera", { name: one.name }))));
    this.notes.replaceChildren(...scene.notes.map(one => line(one.text, one.time === null ? one.text : `Go to ${one.time.toFixed(2)} s`, () => { if (one.time !== null) setTime(one.time); }, () => this.edit("RemoveNote", { note: one.index }))));
  }
}
