// The timeline: a ruler, keys as diamonds, contacts as bars, wishes and violations as marks. Drawn on one canvas.
import { byId, make, openMenu } from "../dom.js";
import { changed, on, setTime, state } from "../store.js";
import { TimeRange } from "./range.js";

const LEFT = 112, RIGHT = 16, RULER = 22, ROW = 19, LEAST_ROW = 9; // [px]
const GRAB = 7; // [px] around a key or the end of a bar
const FRAME = 1 / 60; // [s] times snap to this

/** @typedef {{kind: "key", index: number, time: number} | {kind: "start" | "end" | "bar", index: number, time: number, start: number, end: number} | {kind: "head"} | {kind: "range"}} Grip */

export class Timeline {
  /** @param {(edit: string, values: Record<string, any>) => void} edit */
  constructor(edit) {
    this.edit = edit;
    this.range = new TimeRange(edit);
    this.canvas = make("canvas", { id: "timeline", tabIndex: 0, "aria-label": "Timeline: arrows step, Up and Down go from key to key, Alt with arrows moves the key, Delete removes it, K adds one" });
    this.from = 0;
    this.to = 2;
    this.key = -1; // the chosen key
    /** @type {Grip | null} */ this.grip = null;
    /** @type {Array<{x: number, y: number, words: string, time: number}>} */ this.marks = [];
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => this.down(e));
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => this.move(e));
    canvas.addEventListener("pointerup", () => this.up());
    canvas.addEventListener("dblclick", (/** @type {MouseEvent} */ e) => { if (e.offsetX > LEFT && !this.at(e)) { setTime(this.snap(this.time(e.offsetX))); changed("add_key"); } });
    canvas.addEventListener("contextmenu", (/** @type {MouseEvent} */ e) => { e.preventDefault(); this.menu(e); });
    canvas.addEventListener("wheel", (/** @type {WheelEvent} */ e) => { e.preventDefault(); this.zoom(e); }, { passive: false });
    for (const name of ["scene", "time", "selection", "report", "theme", "range"]) on(name, () => this.draw());
    on("scene", () => { if (this.scene && this.to < this.scene.duration * 1.02) this.fit(); });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  get scene() { return state.scene; }
  fit() { this.from = 0; this.to = Math.max(1, (this.scene?.duration ?? 1) * 1.06); this.draw(); }
  /** @param {number} time */ x(time) { return LEFT + ((time - this.from) / (this.to - this.from)) * (this.canvas.clientWidth - LEFT - RIGHT); }
  /** @param {number} x */ time(x) { return this.from + ((x - LEFT) / (this.canvas.clientWidth - LEFT - RIGHT)) * (this.to - this.from); }
  /** @param {number} time */ snap(time) { return Math.max(0, Math.round(time / FRAME) * FRAME); }

  /** @param {WheelEvent} event */
  zoom(event) {
    const at = this.time(event.offsetX), by = event.shiftKey ? 1 : Math.exp(0.0015 * event.deltaY), move = event.shiftKey ? (0.001 * event.deltaY * (this.to - this.from)) : 0;
    const length = Math.min(Math.max((this.to - this.from) * by, 0.2), 600);
    this.from = Math.max(-0.05, at - ((at - this.from) * length) / (this.to - this.from) + move);
    this.to = this.from + length;
    this.draw();
  }

  /** What is under the pointer. @param {{offsetX: number, offsetY: number}} event @returns {Grip | null} */
  at(event) {
    const y = event.offsetY - RULER, row = Math.floor(y / this.row), scene = this.scene;
    if (!scene || y < 0) return null;
    if (row === 0) {
      const found = scene.keys.map(key => ({ key, far: Math.abs(this.x(key.time) - event.offsetX) })).filter(one => one.far < GRAB).sort((a, b) => a.far - b.far)[0];
      return found ? { kind: "key", index: found.key.index, time: found.key.time } : null;
    }
    for (const contact of scene.contacts) {
      if (this.lane(contact) !== row - 1) continue;
      const start = this.x(contact.start), end = this.x(contact.end), bar = { index: contact.index, time: this.time(event.offsetX), start: contact.start, end: contact.end };
      if (Math.abs(event.offsetX - start) < GRAB) return { kind: "start", ...bar };
      if (Math.abs(event.offsetX - end) < GRAB) return { kind: "end", ...bar };
      if (event.offsetX > start && event.offsetX < end) return { kind: "bar", ...bar };
    }
    return null;
  }

  /** The row of a contact: one for each set of parts. @param {import("../messages.js").ContactFacts} contact */
  lane(contact) { return this.lanes().indexOf(this.label(contact)); }
  lanes() { return [...new Set((this.scene?.contacts ?? []).map(one => this.label(one)))]; }
  /** The height of a row: keys, a lane for each part that touches, marks; lower ones where there are many. */
  get row() { return Math.max(LEAST_ROW, Math.min(ROW, ((this.canvas.clientHeight || 112) - RULER) / (this.lanes().length + 2))); }
  /** @param {import("../messages.js").ContactFacts} contact */
  label(contact) {
    for (const [word, all] of [["foot", "feet"], ["hand", "hands"]]) if (contact.parts.length > 1 && contact.parts.every(part => part.includes(word))) return all;
    return contact.parts.join(", ").replaceAll("_", " ");
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const mark = this.marks.find(one => Math.abs(one.x - event.offsetX) < GRAB && Math.abs(one.y - event.offsetY) < GRAB + 3);
    const found = this.at(event);
    if (event.shiftKey && event.offsetX > LEFT - GRAB) { this.range.begin(this.snap(this.time(event.offsetX))); this.grip = { kind: "range" }; return; }
    this.key = found?.kind === "key" ? found.index : -1;
    if (found?.kind === "key") setTime(found.time);
    else if (mark) { setTime(mark.time); byId("status_text").textContent = mark.words; return; }
    else if (!found) setTime(this.snap(this.time(event.offsetX)));
    this.grip = found ?? { kind: "head" };
    this.draw();
  }

  /** @param {PointerEvent} event */
  move(event) {
    const grip = this.grip;
    if (!grip) {
      const found = this.at(event), mark = this.marks.find(one => Math.abs(one.x - event.offsetX) < GRAB && Math.abs(one.y - event.offsetY) < GRAB + 3);
      this.canvas.style.cursor = found ? (found.kind === "key" || found.kind === "bar" ? "grab" : "ew-resize") : mark ? "pointer" : "default";
      this.canvas.title = mark?.words ?? (found ? "Drag in time; right click for more" : event.offsetY < RULER ? "Drag to scrub; with Shift, choose a range" : "");
      return;
    }
    const time = this.snap(this.time(event.offsetX));
    if (grip.kind === "head") setTime(time);
    else if (grip.kind === "range") this.range.extend(time);
    else if (grip.kind === "bar") { const by = this.snap(this.time(event.offsetX) - grip.time + grip.start) - grip.start; this.moved = [grip.start + by, grip.end + by]; }
    else this.moved = grip.kind === "start" ? [Math.min(time, grip.end - FRAME), grip.end] : grip.kind === "end" ? [grip.start, Math.max(time, grip.start + FRAME)] : [time, time];
    this.draw();
  }

  up() {
    const grip = this.grip, moved = this.moved;
    this.grip = null;
    this.moved = undefined;
    if (grip && moved && grip.kind === "key" && Math.abs(moved[0] - grip.time) > 1e-6) this.edit("MoveKey", { key: grip.index, time: moved[0] });
    else if (grip && moved && grip.kind !== "key" && grip.kind !== "head" && grip.kind !== "range") this.edit("MoveContact", { contact: grip.index, start: moved[0], end: moved[1] });
    this.draw();
  }

  /** @param {MouseEvent} event */
  menu(event) {
    const found = this.at(event), time = this.snap(this.time(event.offsetX));
    if (!found && state.range && time >= state.range[0] && time <= state.range[1]) this.range.menu(event);
    else if (found?.kind === "key") {
      const key = this.scene?.keys.find(one => one.index === found.index);
      openMenu(event.clientX, event.clientY, [
        `Key at ${found.time.toFixed(3)} s`,
        ["Copy to the playhead", () => this.edit("CopyKey", { key: found.index, time: state.time }), "Ctrl D"],
        ["Copy mirrored to the playhead", () => this.edit("CopyKey", { key: found.index, time: state.time, mirror: true })],
        [key?.soft ? "Make exact" : "Make soft", () => this.edit("SetKey", { key: found.index, entries: { soft: key?.soft ? null : 10 } })],
        [key?.rest ? "Let it move through" : "Be at rest here", () => this.edit("SetKey", { key: found.index, entries: { rest: key?.rest ? null : true } })],
        null,
        ["Remove", () => this.edit("RemoveKey", { key: found.index }), "Del"],
      ]);
    } else if (found && found.kind !== "head" && found.kind !== "range") {
      openMenu(event.clientX, event.clientY, [`Contact ${found.start.toFixed(2)} to ${found.end.toFixed(2)} s`, ["Remove", () => this.edit("RemoveContact", { contact: found.index })]]);
    } else {
      openMenu(event.clientX, event.clientY, [
        `At ${time.toFixed(3)} s`,
        ["Add a key here", () => { setTime(time); changed("add_key"); }, "K"],
        ["Choose a range: hold Shift and drag", null],
        ["Feet touch from here on", () => this.edit("AddContact", { part: "feet", start: time, end: this.scene?.duration ?? time + 0.5 })],
        ["Twice as slow from here on", () => this.edit("Retime", { factor: 2, start: time })],
        ["Twice as fast from here on", () => this.edit("Retime", { factor: 0.5, start: time })],
        ["End here", () => this.edit("SetDuration", { duration: time })],
        ["Show all", () => this.fit(), "Home"],
      ]);
    }
  }

  draw() {
    const canvas = this.canvas, w = canvas.clientWidth, h = canvas.clientHeight, ratio = Math.min(devicePixelRatio, 2), scene = this.scene;
    if (!w || !h || !scene) return;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio); }
    const c = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), colour = (/** @type {string} */ name) => style.getPropertyValue(name);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = colour("--sunken");
    c.fillRect(0, 0, w, h);
    c.fillStyle = colour("--panel");
    c.fillRect(LEFT, RULER, Math.max(0, this.x(scene.duration) - LEFT), h);
    c.font = "10.5px system-ui, sans-serif";
    c.textBaseline = "middle";
    this.ruler(c, w, h, colour);
    this.range.draw(c, time => this.x(time), LEFT, h, colour);
    this.rows(c, h, colour);
    const head = this.x(state.time);
    c.fillStyle = c.strokeStyle = colour("--accent");
    c.lineWidth = 1.5;
    c.beginPath(); c.moveTo(head, 4); c.lineTo(head, h); c.stroke();
    c.beginPath(); c.moveTo(head - 5, 2); c.lineTo(head + 5, 2); c.lineTo(head + 5, 9); c.lineTo(head, 15); c.lineTo(head - 5, 9); c.fill();
  }

  /** @param {CanvasRenderingContext2D} c @param {number} w @param {number} h @param {(name: string) => string} colour */
  ruler(c, w, h, colour) {
    const step = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60].find(s => (s / (this.to - this.from)) * (w - LEFT) > 56) ?? 120;
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      if (x < LEFT - 1) continue;
      c.strokeStyle = colour("--line");
      c.lineWidth = 1;
      c.beginPath(); c.moveTo(x, RULER); c.lineTo(x, h); c.stroke();
      c.fillStyle = colour("--dim");
      c.fillText(`${Math.abs(t) < 1e-9 ? 0 : +t.toFixed(2)} s`, x + 7, RULER / 2); // beside the head of the playhead
    }
  }

  /** @param {CanvasRenderingContext2D} c @param {number} h @param {(name: string) => string} colour */
  rows(c, h, colour) {
    const scene = this.scene, label = (/** @type {string} */ text, /** @type {number} */ y) => { c.fillStyle = colour("--dim"); c.fillText(text.length > 18 ? `${text.slice(0, 17)}…` : text, 8, y); };
    if (!scene) return;
    const height = this.row, size = Math.min(6, 0.4 * height), middle = (/** @type {number} */ row) => RULER + height * (row + 0.5);
    label("keys", middle(0));
    for (const key of scene.keys) {
      const held = this.grip?.kind === "key" && this.grip.index === key.index && this.moved, x = this.x(held && this.moved ? this.moved[0] : key.time), y = middle(0);
      if (x < LEFT - 6) continue;
      c.beginPath(); c.moveTo(x, y - size); c.lineTo(x + size, y); c.lineTo(x, y + size); c.lineTo(x - size, y); c.closePath();
      c.fillStyle = key.index === this.key ? colour("--text") : colour("--warm");
      c.strokeStyle = colour("--warm");
      c.lineWidth = 1.6;
      if (key.soft) c.stroke(); else c.fill();
      if (key.rest) { c.fillStyle = colour("--sunken"); c.fillRect(x - 1.5, y - 1.5, 3, 3); }
    }
    const lanes = this.lanes();
    lanes.forEach((name, i) => label(name, middle(i + 1)));
    for (const contact of scene.contacts) {
      const lane = this.lane(contact), held = this.grip && this.grip.kind !== "key" && this.grip.kind !== "head" && this.grip.kind !== "range" && this.grip.index === contact.index && this.moved;
      const [start, end] = held && this.moved ? this.moved : [contact.start, contact.end], x = Math.max(LEFT, this.x(start));
      c.fillStyle = colour("--good");
      c.globalAlpha = 0.75;
      c.beginPath(); c.roundRect(x, middle(lane + 1) - size, Math.max(2, this.x(end) - x), 2 * size, 3); c.fill();
      c.globalAlpha = 1;
    }
    this.drawMarks(c, middle(Math.max(1, lanes.length) + (lanes.length ? 1 : 0)), label, colour);
  }

  /** @param {CanvasRenderingContext2D} c @param {number} y @param {(text: string, y: number) => void} label @param {(name: string) => string} colour */
  drawMarks(c, y, label, colour) {
    const scene = this.scene;
    this.marks = [];
    if (!scene) return;
    const points = [...scene.wishes.map(one => ({ ...one, tint: "--accent" })), ...scene.pushes.map(one => ({ words: `push ${one.words}`, time: one.start, tint: "--warm" })), ...scene.notes.map(one => ({ words: one.text, time: one.time, tint: "--text" }))];
    if (points.length || scene.violations.length) label("marks", y);
    for (const wish of points) {
      if (wish.time === null) continue;
      this.marks.push({ x: this.x(wish.time), y, words: wish.words, time: wish.time });
      c.fillStyle = colour(wish.tint);
      c.beginPath(); c.arc(this.x(wish.time), y, 4.5, 0, 7); c.fill();
    }
    for (const bad of scene.violations) {
      const x = this.x(bad.time), end = this.x(bad.end);
      this.marks.push({ x, y, words: bad.words, time: bad.time });
      c.fillStyle = bad.grave ? colour("--bad") : colour("--warm");
      c.globalAlpha = 0.35;
      c.fillRect(Math.max(LEFT, this.x(bad.start)), y - 6, Math.max(2, end - Math.max(LEFT, this.x(bad.start))), 12);
      c.globalAlpha = 1;
      c.beginPath(); c.moveTo(x, y - 6); c.lineTo(x + 5, y + 5); c.lineTo(x - 5, y + 5); c.fill();
    }
  }
}
