// What is measured on the page: answers of the server, script and drawing time of a picture. Shown at the bottom.
import { LIVE, POSED } from "./connection.js";
import { byId } from "./dom.js";

/** @typedef {import("./connection.js").Frame} Frame */
const EVERY = 500; // [ms] between two looks
const SEEN = 60; // answers whose median is shown
const KEPT = 2000; // numbers of a kind that are remembered

/** The median of the last numbers, in words. @param {number[]} list */
function median(list) {
  const last = list.slice(-SEEN).sort((a, b) => a - b);
  return last.length ? last[last.length >> 1].toFixed(1) : "–";
}

/** Adds a number; the oldest are forgotten. @param {number[]} list @param {number} value */
function keep(list, value) {
  list.push(value);
  if (list.length > KEPT) list.splice(0, list.length - KEPT / 2);
}

export class Stats {
  /** @param {import("./view/dragging.js").Dragging} dragging @param {import("./view/stage.js").Stage} stage */
  constructor(dragging, stage) {
    this.dragging = dragging;
    this.frames = 0;
    /** @type {string[]} */ this.troubles = [];
    /** @type {number[]} */ this.solve = []; // [ms] of the server
    /** @type {number[]} */ this.answer = []; // [ms] from pointer to pose
    /** @type {number[]} */ this.script = []; // [ms] a picture
    /** @type {Frame | null} */ this.last = null;
    /** @type {Frame | null} */ this.live = null;
    setInterval(() => {
      if (stage.scriptTime) keep(this.script, stage.scriptTime);
      byId("status_facts").textContent = `solve ${median(this.solve)} ms · pointer to pose ${median(this.answer)} ms · script ${stage.scriptTime.toFixed(1)} ms · drawing ${stage.drawTime.toFixed(0)} ms`;
    }, EVERY);
  }

  /** @param {Frame} frame */
  arrived(frame) {
    this.frames += 1;
    if (frame.kind === POSED) this.last = frame;
    if (frame.kind === LIVE && !frame.figure) this.live = frame;
    const at = this.dragging.sent.get(frame.seq);
    if (frame.seq && at !== undefined) { keep(this.answer, performance.now() - at); keep(this.solve, frame.cost); }
  }
}
