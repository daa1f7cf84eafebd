// Graphs: curves of joints and of measured quantities over time, linked to the playhead (uPlot).
import uPlot from "uplot";
import { address } from "../connection.js";
import { make } from "../dom.js";
import { on, setTime, state } from "../store.js";

const COLOURS = ["#5aa2f7", "#f2b24c", "#6fce8b", "#f0705f", "#c68bf2", "#4fd0d0", "#e58fb1", "#b5c24a"];

export class Graph {
  constructor() {
    this.channels = make("div", { className: "channels", role: "group", "aria-label": "Curves" });
    this.plot = make("div", { className: "plot" });
    this.element = make("div", { id: "graph", hidden: true }, this.channels, this.plot);
    /** @type {string[]} */ this.chosen = ["com height"];
    this.names = "";
    this.track = "";
    /** @type {any} */ this.chart = null;
    on("graph", () => { this.element.hidden = !this.element.hidden; this.track = ""; this.show(); });
    on("track", () => this.show());
    on("theme", () => { this.track = ""; this.show(); });
    on("time", () => this.mark());
    new ResizeObserver(() => this.chart?.setSize(this.size())).observe(this.plot);
  }

  size() { return { width: Math.max(100, this.plot.clientWidth), height: Math.max(60, this.plot.clientHeight) }; }

  async show() {
    const scene = state.scene;
    if (this.element.hidden || !scene?.track) return;
    const wanted = `${scene.track} ${this.chosen.join()}`;
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
  }

  /** @param {{times: number[], curves: Array<{name: string, unit: string, values: number[]}>}} data */
  draw(data) {
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
    this.chart.over.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => setTime(this.chart.posToVal(e.offsetX, "x")));
    this.chart.over.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => { if (e.buttons & 1) setTime(this.chart.posToVal(e.offsetX, "x")); });
  }

  mark() { if (!this.element.hidden) this.chart?.redraw(false, false); }

  /** The playhead. @param {any} u */
  head(u) {
    const x = Math.round(u.valToPos(state.time, "x", true));
    u.ctx.save();
    u.ctx.strokeStyle = COLOURS[0];
    u.ctx.lineWidth = devicePixelRatio;
    u.ctx.beginPath(); u.ctx.moveTo(x, u.bbox.top); u.ctx.lineTo(x, u.bbox.top + u.bbox.height); u.ctx.stroke();
    u.ctx.restore();
  }
}
