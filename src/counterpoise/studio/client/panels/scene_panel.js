// The scene: save, open, export, and the Python of what was done.
import { download } from "../connection.js";
import { button, make, panel, toast } from "../dom.js";
import { on, state } from "../store.js";

const EXPORTS = [["bvh", "BVH", "Motion for other programs"], ["glb", "GLB", "Skinned figure with its motion, for Blender and game engines"], ["usda", "USD", "Skinned figure with its motion"], ["png", "PNG", "A filmstrip of the motion"], ["mp4", "MP4", "A film of the motion"], ["xml", "MJCF", "The figure alone"]];

export class ScenePanel {
  /** @param {(command: import("../messages.js").Command) => void} send */
  constructor(send) {
    this.send = send;
    this.file = make("input", { type: "text", id: "file_name", placeholder: "scene.toml", title: "Name of the file, in the folder of the studio", "aria-label": "Name of the file" });
    this.saved = make("div", { className: "note", id: "saved" });
    this.files = make("div", { className: "list", id: "files" });
    this.starter = make("select", { id: "starter", title: "Examples", "aria-label": "Examples" });
    this.script = make("pre", { className: "script", id: "script", tabIndex: 0, "aria-label": "Python of what was done" });
    this.element = make("div", {},
      panel("Scene", make("div", { className: "row" }, this.file, button("Save", "Save the scene (Ctrl S)", () => this.save(), { id: "save", className: "fix" })), this.saved,
        make("div", { className: "row" }, button("New", "Begin an empty scene with this figure; the one that is open is kept in its file", () => send({ type: "new_scene", figure: state.scene?.source ?? "human" }), { id: "new" }), button("Files", "Look again into the folder", () => send({ type: "list_files" }), { id: "list_files" })), this.files, make("div", { className: "row" }, this.starter, button("Open", "Open this example as a new scene", () => send({ type: "open_starter", name: this.starter.value }), { id: "open_starter", className: "fix" }))),
      panel("Export", make("div", { className: "row", id: "exports" }, ...EXPORTS.slice(0, 3).map(one => this.exporter(one))), make("div", { className: "row" }, ...EXPORTS.slice(3).map(one => this.exporter(one)))),
      panel("Script", make("div", { className: "note" }, "The same in Python:"), this.script,
        make("div", { className: "row" }, button("Copy", "Copy the script", () => navigator.clipboard?.writeText(this.script.textContent ?? "").then(() => toast("Copied."), () => toast("The browser does not allow it: select the text and copy it.", true)), { id: "copy_script" }))),
    );
    on("scene", () => this.show());
    on("ready", () => this.starter.replaceChildren(...(state.ready?.starters ?? []).map(value => make("option", { value }, `example: ${value}`))));
    on("files", (/** @type {import("../messages.js").FilesListed} */ event) => this.files.replaceChildren(...event.names.map(name => make("button", { type: "button", title: `Open ${name}`, onclick: () => send({ type: "open_file", name }) }, name))));
  }

  /** @param {string[]} one */
  exporter([format, text, title]) {
    return button(text, `${title} (.${format})`, async (/** @type {any} */ event) => {
      const face = event.currentTarget;
      face.disabled = true;
      try { await download(`/export/${format}`, `${state.scene?.name || "scene"}.${format}`); toast(`Exported ${text}.`); }
      catch (error) { toast(String(/** @type {Error} */ (error).message), true); }
      face.disabled = false;
    }, { id: `export_${format}` });
  }

  save() { this.send({ type: "save_scene", name: this.file.value.trim() || state.scene?.file || "scene.toml" }); }

  show() {
    const scene = state.scene;
    if (!scene) return;
    if (document.activeElement !== this.file) this.file.value = scene.file || "scene.toml";
    this.saved.textContent = scene.unsaved ? "Changes are kept safe; they are not in the file yet." : scene.file ? "All changes are in the file." : "Not saved yet.";
    const text = scene.script;
    if (this.script.textContent !== text) { this.script.textContent = text; this.script.scrollTop = this.script.scrollHeight; }
  }
}
