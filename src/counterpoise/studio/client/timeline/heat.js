// How much of their strength the joints of the motion on the timeline use, where it is known: drawn as heat.
import { address } from "../connection.js";

export class Heat {
  constructor() {
    this.address = "";
    this.times = new Float32Array(0);
    this.shares = new Float32Array(0);
    this.bodies = 0;
  }

  /** Fetches efforts if they are others than before. @param {string} from */
  async load(from) {
    if (from === this.address) return;
    this.address = from;
    this.times = new Float32Array(0);
    if (!from) return;
    const answer = await fetch(address(from));
    if (!answer.ok || this.address !== from) return;
    const data = await answer.arrayBuffer(), head = new DataView(data), n = head.getUint32(0, true), all = new Float32Array(data, 8);
    this.bodies = head.getUint32(4, true);
    [this.times, this.shares] = [all.subarray(0, n), all.subarray(n)];
  }

  /** The share of each body's joint at a time, or null where none is known. @param {number} time */
  at(time) {
    const n = this.times.length, b = this.bodies;
    if (!n) return null;
    let i = 0;
    while (i + 1 < n && this.times[i + 1] <= time) i += 1;
    return this.shares.subarray(i * b, (i + 1) * b);
  }
}
