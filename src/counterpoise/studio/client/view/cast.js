// The cast: the other figures of the scene. They follow their own motions, or their own frames of a live run.
import { Track } from "../timeline/track.js";
import { FigureView } from "./figure.js";

/** @typedef {{name: string, view: FigureView, track: Track}} Member */

export class CastView {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    /** @type {Member[]} */ this.members = []; // member k is figure k + 1 of a live run
  }

  /** Loads figures and motions that are new. @param {import("../messages.js").CastFacts[]} cast */
  async load(cast) {
    const before = this.members;
    this.members = cast.map(facts => before.find(one => one.name === facts.name) ?? { name: facts.name, view: new FigureView(this.stage), track: new Track() });
    for (const one of before) if (!this.members.includes(one)) one.view.remove();
    await Promise.all(cast.map(async (facts, k) => { const one = this.members[k]; await one.view.load(facts.figure); await one.track.load(facts.track); }));
  }

  /** Shows smooth bodies or shapes, as is wanted now. */
  dress() { for (const { view } of this.members) view.dress(); }

  /** Shows every motion at a time. @param {number} time */
  showTime(time) {
    for (const { view, track } of this.members) if (track.frames && track.bodies === view.names.length) { track.sample(time); view.set(track.pose, 0, 3 * track.bodies); }
  }

  /** Shows a frame of a live run. @param {import("../connection.js").Frame} frame */
  take(frame) {
    const view = this.members[frame.figure - 1]?.view;
    if (view && frame.bodies === view.names.length) view.set(frame.numbers, 0, 3 * frame.bodies);
  }

  /** The nearest body under a ray. @param {import("three").Raycaster} ray */
  hit(ray) {
    let best = null;
    for (const [k, { name, view }] of this.members.entries()) {
      const found = view.hit(ray);
      if (!found) continue;
      const distance = found.place.distanceTo(ray.ray.origin);
      if (!best || distance < best.distance) best = { ...found, name, view, figure: k + 1, distance };
    }
    return best;
  }
}
