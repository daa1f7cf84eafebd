// A range of time, chosen on the ruler with Shift: copied, moved, retimed, emptied, looped, baked.
import { openMenu, toast } from "../dom.js";
import { changed, on, state } from "../store.js";

const LEAST = 1 / 60; // [s]

export class TimeRange {
  /** @param {import("../editing.js").Edit} edit */
  constructor(edit) {
    this.edit = edit;
    this.anchor = 0; // [s] where choosing it began
    on("scene", () => { const end = state.scene?.duration ?? 0; if (state.range && state.range[0] >= end) this.set(null); });
  }

  /** @param {[number, number] | null} range */
  set(range) { state.range = range && range[1] - range[0] >= LEAST ? range : null; changed("range"); }
  /** @param {number} time */
  begin(time) { this.anchor = time; this.set(null); }
  /** @param {number} time */
  extend(time) { this.set([Math.min(this.anchor, time), Math.max(this.anchor, time)]); }

  /** Copies the chosen range, or says how to choose one. @param {boolean} [mirror] */
  copy(mirror = false) {
    if (!state.range) { toast("Choose a range first: hold Shift and drag over the ruler of the timeline.", true); return; }
    this.edit("CopyRange", { start: state.range[0], end: state.range[1], to: state.time, mirror });
  }

  /** @param {{clientX: number, clientY: number}} event */
  menu(event) {
    const range = state.range;
    if (!range) return;
    const [start, end] = range, stretch = (/** @type {number} */ factor) => () => { this.edit("Retime", { factor, start, end }); this.set([start, start + factor * (end - start)]); };
    openMenu(event.clientX, event.clientY, [
      `${start.toFixed(2)} to ${end.toFixed(2)} s`,
      ["Copy to the playhead", () => this.copy(), "Ctrl V"],
      ["Copy mirrored to the playhead", () => this.copy(true)],
      ["Move to the playhead", () => { this.edit("MoveRange", { start, end, by: state.time - start }); this.set([state.time, state.time + end - start]); }],
      ["Twice as slow", stretch(2)],
      ["Twice as fast", stretch(0.5)],
      ["Remove its keys", () => this.edit("RemoveRange", { start, end })],
      ["Feet touch during it", () => this.edit("AddContact", { part: "feet", start, end })],
      null,
      ["Play only this", () => { state.looping = true; changed("play_range"); }],
      ["Choose no range", () => this.set(null), "Esc"],
    ]);
  }

  /** @param {CanvasRenderingContext2D} c @param {(time: number) => number} x @param {number} left @param {number} h @param {(name: string) => string} colour */
  draw(c, x, left, h, colour) {
    if (!state.range) return;
    const a = Math.max(left, x(state.range[0])), b = Math.max(left, x(state.range[1]));
    c.fillStyle = colour("--accent");
    c.globalAlpha = 0.16;
    c.fillRect(a, 0, b - a, h);
    c.globalAlpha = 0.9;
    c.fillRect(a, 0, b - a, 3);
    c.globalAlpha = 1;
  }
}
