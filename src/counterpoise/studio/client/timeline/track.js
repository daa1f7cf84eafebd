// The motion on the timeline, as the server sent it once: scrubbing and playing need no server.
import { address } from "../connection.js";

export class Track {
  constructor() {
    this.address = "";
    this.frames = 0;
    this.bodies = 0;
    this.times = new Float32Array(0);
    this.coms = new Float32Array(0);
    this.places = new Float32Array(0);
    this.turns = new Float32Array(0);
    this.pose = new Float32Array(0); // places, then quaternions, of the last sample
    /** @type {[number, number, number]} */ this.com = [0, 0, 0];
  }

  /** Fetches a motion if it is another than before; true if it is new. @param {string} from */
  async load(from) {
    if (from === this.address) return false;
    this.address = from;
    if (!from) { this.frames = 0; return true; }
    const answer = await fetch(address(from));
    if (!answer.ok || this.address !== from) return false;
    this.read(await answer.arrayBuffer());
    return true;
  }

  /** @param {ArrayBuffer} data */
  read(data) {
    const head = new DataView(data), n = head.getUint32(4, true), b = head.getUint32(8, true), all = new Float32Array(data, 12);
    [this.frames, this.bodies] = [n, b];
    let at = 0;
    const next = (/** @type {number} */ count) => all.subarray(at, (at += count));
    [this.times, this.coms, this.places, this.turns] = [next(n), next(3 * n), next(3 * n * b), next(4 * n * b)];
    this.pose = new Float32Array(7 * b);
  }

  /** The frame at or before a time. @param {number} time */
  index(time) {
    let low = 0, high = this.frames - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + 1e-6) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Fills `pose` and `com` with the motion at a time, between two frames. @param {number} time */
  sample(time) {
    const i = this.index(time), j = Math.min(i + 1, this.frames - 1), b = this.bodies, span = this.times[j] - this.times[i];
    const u = span > 0 ? Math.min(1, Math.max(0, (time - this.times[i]) / span)) : 0;
    for (let k = 0; k < 3 * b; k++) this.pose[k] = this.places[3 * b * i + k] * (1 - u) + this.places[3 * b * j + k] * u;
    for (let k = 0; k < b; k++) {
      const p = 4 * (b * i + k), q = 4 * (b * j + k), t = this.turns, out = 3 * b + 4 * k;
      const same = t[p] * t[q] + t[p + 1] * t[q + 1] + t[p + 2] * t[q + 2] + t[p + 3] * t[q + 3] < 0 ? -1 : 1;
      let size = 0;
      for (let c = 0; c < 4; c++) { const x = t[p + c] * (1 - u) + same * t[q + c] * u; this.pose[out + c] = x; size += x * x; }
      for (let c = 0; c < 4; c++) this.pose[out + c] /= Math.sqrt(size);
    }
    for (let c = 0; c < 3; c++) this.com[c] = this.coms[3 * i + c] * (1 - u) + this.coms[3 * j + c] * u;
  }
}
