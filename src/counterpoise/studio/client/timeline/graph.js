// Graphs: curves of joints, whose keys are dragged up and down, and of measured quantities, linked to the playhead (uPlot).
import uPlot from "uplot";
import { address } from "../connection.js";
import { make } from "../dom.js";
import { on, setTime, state } from "../store.js";

const COLOURS = ["#5aa2f7", "#f2b24c", "#6fce8b", "#f0705f", "#c68bf2", "#4fd0d0", "#e58fb1", "#b5c24a"];

const REACH = 9; // [px] around the dot of a key in which it can be taken

/** @typedef {{name: string, unit: string, values: Array<number | null>, editable: boolean}} Curve */

export class Graph {
  /** @param {(command: import("../messages.js").Command) => void} send */
  constructor(send) {
    this.send = send;
    /** @type {{times: number[], curves: Curve[]}} */ this.data = { times: [], curves: [] };
    /** @type {{curve: number, key: import("../messages.js").KeyFacts, from: number, value: number} | null} */ this.held = null;
    this.channels = make("div", { className: "channels", role: "group", "aria-label": "Curves" });
    this.search = make("input", { type: "search", id: "curve_search", placeholder: "find a curve …", title: "Find a curve: of a joint, a body, a force", "aria-label": "Find a curve", oninput: () => this.filter() });
    this.plot = make("div", { className: "plot" });
    this.element = make("div", { id: "graph", hidden: true }, make("div", { className: "side" }, this.search, this.channels), this.plot);
    /** @type {string[]} */ this.chosen = ["com height"];
    this.names = "";
    this.track = "";
    /** @type {any} */ this.chart = null;
    on("graph", () => { this.element.hidden = !this.element.hidden; this.track = ""; this.show(); });
    for (const name of ["track", "scene"]) on(name, () => this.show());
    on("theme", () => { this.track = ""; this.show(); });
    on("time", () => this.mark());
    new ResizeObserver(() => this.chart?.setSize(this.size())).observe(this.plot);
  }

  size() { return { width: Math.max(100, this.plot.clientWidth), height: Math.max(60, this.plot.clientHeight) }; }

  async show() {
    const scene = state.scene;
    if (this.element.hidden || !scene?.track) return;
    const wanted = `${scene.track} ${scene.verdict} ${this.chosen.join()}`;
    if (wanted === this.track) return;
    this.track = wanted;
    const answer = await fetch(address(`/curves?names=${encodeURIComponent(this.chosen.join("|"))}`));
    if (!answer.ok || this.track !== wanted) return;
    const data = await answer.json();
    this.list(data.known);
    this.draw(data);
  }

  /** @param {string[]} known */
  list(known) {
    const names = known.join();
    if (names === this.names) return;
    this.names = names;
    this.channels.replaceChildren(...known.map(name => make("label", { title: `Show ${name}` }, make("input", { type: "checkbox", checked: this.chosen.includes(name), "aria-label": name, onchange: (/** @type {any} */ e) => { this.chosen = e.target.checked ? [...this.chosen, name].slice(-COLOURS.length) : this.chosen.filter(one => one !== name); this.show(); } }), make("span", { className: "swatch", "data-curve": name }), name)));
    this.filter();
  }

  /** Shows the curves whose names have all the words, and those that are chosen. */
  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of this.channels.children) {
      const name = row.textContent.toLowerCase();
      row.hidden = !words.every((/** @type {string} */ word) => name.includes(word)) && !row.querySelector("input").checked;
    }
  }

  /** @param {{times: number[], curves: Curve[]}} data */
  draw(data) {
    this.data = data;
    this.chart?.destroy();
    const style = getComputedStyle(document.documentElement), line = style.getPropertyValue("--line"), text = style.getPropertyValue("--dim");
    const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "10px system-ui" };
    for (const swatch of this.channels.querySelectorAll(".swatch")) swatch.style.background = "transparent";
    data.curves.forEach((curve, i) => { const swatch = this.channels.querySelector(`[data-curve="${CSS.escape(curve.name)}"]`); if (swatch) swatch.style.background = COLOURS[i % COLOURS.length]; });
    const units = [...new Set(data.curves.map(curve => curve.unit))];
    this.chart = new uPlot({
      ...this.size(), legend: { show: false }, cursor: { drag: { x: false, y: false } }, scales: { x: { time: false } },
      axes: [{ ...axis, size: 24 }, ...units.map((unit, i) => ({ ...axis, scale: unit, label: unit, labelSize: 14, labelFont: "10px system-ui", size: 44, side: i % 2 ? 1 : 3, grid: { show: i === 0, stroke: line, width: 1 } }))],
      series: [{}, ...data.curves.map((curve, i) => ({ label: curve.name, scale: curve.unit, stroke: COLOURS[i % COLOURS.length], width: 1.6, pxAlign: 0, points: { show: false } }))],
      hooks: { draw: [(/** @type {any} */ u) => this.head(u)] },
    }, [data.times, ...data.curves.map(curve => curve.values)], this.plot);
    const over = this.chart.over;
    over.title = "Drag the dot of a key up or down to change the curve; double click sets a key; drag elsewhere to move the playhead";
    over.addEventListener("dblclick", (/** @type {MouseEvent} */ e) => this.addKey(e));
    over.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => this.down(e));
    over.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => this.move(e));
    over.addEventListener("pointerup", () => this.up(true));
    over.addEventListener("pointercancel", () => this.up(false));
  }

  /** The keys that can be dragged: none of a take. */
  get keys() { return state.scene?.kind === "keys" ? state.scene.keys : []; }

  /** The value of a curve at a key. @param {Curve} curve @param {number} time */
  at(curve, time) {
    const times = this.data.times;
    let best = 0;
    for (let i = 1; i < times.length; i++) if (Math.abs(times[i] - time) < Math.abs(times[best] - time)) best = i;
    return curve.values[best] ?? 0;
  }

  /** The dot under the pointer. @param {{offsetX: number, offsetY: number}} e */
  under(e) {
    let found = null, least = REACH;
    for (const [i, curve] of this.data.curves.entries()) {
      if (!curve.editable) continue;
      for (const key of this.keys) {
        const value = this.at(curve, key.time), away = Math.hypot(this.chart.valToPos(key.time, "x") - e.offsetX, this.chart.valToPos(value, curve.unit) - e.offsetY);
        if (away < least) { least = away; found = { curve: i, key, from: value, value }; }
      }
    }
    return found;
  }

  /** Sets a key where the pointer is, whose dots can then be dragged. @param {MouseEvent} e */
  addKey(e) {
    if (state.scene?.kind !== "keys" || this.under(e)) return;
    const time = Math.round(1000 * Math.max(0, this.chart.posToVal(e.offsetX, "x"))) / 1000;
    setTime(time);
    this.send({ type: "add_pose_key", time });
  }

  /** @param {PointerEvent} e */
  down(e) {
    if (e.button !== 0) return;
    this.held = this.under(e);
    this.chart.over.setPointerCapture(e.pointerId);
    if (this.held) setTime(this.held.key.time, false); // the server shows the pose of the drag, not that of the playhead
    else setTime(this.chart.posToVal(e.offsetX, "x"));
  }

  /** @param {PointerEvent} e */
  move(e) {
    const held = this.held;
    if (!held) {
      this.chart.over.style.cursor = this.under(e) ? "ns-resize" : "default";
      if (e.buttons & 1) setTime(this.chart.posToVal(e.offsetX, "x"));
      return;
    }
    held.value = this.chart.posToVal(e.offsetY, this.data.curves[held.curve].unit);
    this.sendHeld(false);
    this.preview();
  }

  /** @param {boolean} keep */
  up(keep) {
    const held = this.held;
    if (!held) return;
    if (keep && Math.abs(held.value - held.from) > 1e-6) this.sendHeld(true);
    else { this.preview(true); setTime(state.time); }
    this.held = null;
  }

  /** @param {boolean} done */
  sendHeld(done) { if (this.held) this.send({ type: "set_curve", key: this.held.key.index, name: this.data.curves[this.held.curve].name, value: this.held.value, done }); }

  /** Draws the curve as it will be about: moved between the keys beside the one that is dragged. @param {boolean} [back] as it was */
  preview(back = false) {
    const held = this.held;
    if (!held) return;
    const curve = this.data.curves[held.curve], times = this.data.times, near = this.keys.map(key => key.time), t = held.key.time;
    const before = Math.max(times[0] - 1, ...near.filter(one => one < t - 1e-6)), after = Math.min(times[times.length - 1] + 1, ...near.filter(one => one > t + 1e-6));
    const share = (/** @type {number} */ x) => (x <= before || x >= after ? 0 : 0.5 + 0.5 * Math.cos((Math.PI * (x - t)) / (x < t ? t - before : after - t)));
    const lines = this.data.curves.map((one, i) => (i === held.curve && !back ? one.values.map((v, k) => (v ?? 0) + (held.value - held.from) * share(times[k])) : one.values));
    this.chart.setData([times, ...lines], false);
    this.chart.redraw(true, false);
  }

  mark() { if (!this.element.hidden) this.chart?.redraw(false, false); }

  /** The playhead. @param {any} u */
  head(u) {
    const x = Math.round(u.valToPos(state.time, "x", true));
    u.ctx.save();
    u.ctx.strokeStyle = COLOURS[0];
    u.ctx.lineWidth = devicePixelRatio;
    u.ctx.beginPath(); u.ctx.moveTo(x, u.bbox.top); u.ctx.lineTo(x, u.bbox.top + u.bbox.height); u.ctx.stroke();
    this.dots(u);
    u.ctx.restore();
  }

  /** A dot where a curve passes a key. @param {any} u */
  dots(u) {
    for (const [i, curve] of this.data.curves.entries()) {
      if (!curve.editable) continue;
      for (const key of this.keys) {
        const held = this.held?.curve === i && this.held.key.index === key.index;
        u.ctx.beginPath();
        u.ctx.arc(u.valToPos(key.time, "x", true), u.valToPos(held ? this.held?.value : this.at(curve, key.time), curve.unit, true), (held ? 6 : 4.5) * devicePixelRatio, 0, 7);
        u.ctx.fillStyle = COLOURS[i % COLOURS.length];
        u.ctx.strokeStyle = "rgba(10,12,16,.85)";
        u.ctx.fill();
        u.ctx.stroke();
      }
    }
  }
}
