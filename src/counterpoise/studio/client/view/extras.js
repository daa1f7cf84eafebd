// Extras: ghosts of the keys around the playhead, and the path of the chosen body.
import * as THREE from "three";
import { state } from "../store.js";
import { toView } from "./stage.js";

const BEFORE = 0x5aa2f7, AFTER = 0xf2b24c;

export class Extras {
  /** @param {import("./figure.js").FigureView} figure @param {import("../timeline/track.js").Track} track @param {import("./overlays.js").Overlays} overlays */
  constructor(figure, track, overlays) {
    this.figure = figure;
    this.track = track;
    this.overlays = overlays;
  }

  show() {
    const { figure, track, overlays } = this;
    for (const name of ["before", "after"]) figure.dropGhost(name);
    const keys = state.scene?.keys ?? [], ready = track.frames > 0 && track.bodies === figure.names.length, b = track.bodies;
    if (state.shows.ghosts && ready) {
      const before = keys.filter(key => key.time < state.time - 1e-3).at(-1), after = keys.find(key => key.time > state.time + 1e-3);
      for (const [name, key, tint] of /** @type {const} */ ([["before", before, BEFORE], ["after", after, AFTER]])) if (key) { track.sample(key.time); figure.ghost(name, track.pose, 0, 3 * b, tint, 0.2); }
    }
    const index = figure.names.indexOf(state.selected ?? "");
    const place = (/** @type {number} */ k) => toView(new THREE.Vector3(), track.places[3 * (b * k + index)], track.places[3 * (b * k + index) + 1], track.places[3 * (b * k + index) + 2]);
    const on = state.shows.trail && ready && index >= 0;
    overlays.setTrail(on ? Array.from({ length: track.frames }, (_, k) => place(k)) : [], on ? keys.map(key => place(track.index(key.time))) : []);
  }
}
