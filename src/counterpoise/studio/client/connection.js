// One websocket: commands go out as JSON, events come in as JSON, poses as binary frames. It connects again by itself.
import { byId } from "./dom.js";

const HEAD = 40; // bytes before the numbers of a frame
export const POSED = 1, LIVE = 2, GHOST = 3;
export const STATUSES = ["solved", "unreachable", "infeasible", "out_of_time"];
export const token = new URLSearchParams(location.search).get("token") ?? "";

/**
 * @typedef {{kind: number, status: number, bodies: number, efforts: number, figure: number, props: number, seq: number, revision: number, time: number, cost: number,
 *   com: [number, number, number], numbers: Float32Array, arrows: number, corners: number}} Frame
 * @typedef {{event: (event: import("./messages.js").Event) => void, frame: (frame: Frame) => void, state: (open: boolean) => void}} Ears
 */

/** @param {ArrayBuffer} data @returns {Frame} */
export function readFrame(data) {
  const view = new DataView(data), f = (/** @type {number} */ at) => view.getFloat32(at, true);
  return {
    kind: view.getUint8(0), status: view.getUint8(1), arrows: view.getUint8(2), corners: view.getUint8(3), bodies: view.getUint16(4, true), efforts: view.getUint16(6, true),
    figure: view.getUint16(8, true), props: view.getUint16(10, true), seq: view.getUint32(12, true), revision: view.getUint32(16, true), time: f(20), cost: f(24), com: [f(28), f(32), f(36)], numbers: new Float32Array(data, HEAD),
  };
}

/** The address of a file of the server, with the token. @param {string} path */
export const address = path => `${path}${path.includes("?") ? "&" : "?"}token=${encodeURIComponent(token)}`;

export class Connection {
  /** @param {Ears} ears */
  constructor(ears) {
    this.ears = ears;
    this.open = false;
    this.wait = 250; // [ms] before the next attempt
    /** @type {WebSocket | null} */ this.socket = null;
    this.connect();
  }

  connect() {
    const socket = new WebSocket(`ws://${location.host}/ws?token=${encodeURIComponent(token)}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => { this.open = true; this.wait = 250; this.ears.state(true); };
    socket.onmessage = message => {
      if (typeof message.data === "string") this.ears.event(JSON.parse(message.data));
      else this.ears.frame(readFrame(message.data));
    };
    socket.onclose = () => {
      this.open = false;
      this.ears.state(false);
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, 4000);
    };
    this.socket = socket;
  }

  /** @param {import("./messages.js").Command} command */
  send(command) {
    if (this.open) this.socket?.send(JSON.stringify(command));
    else byId("status_text").textContent = "Not connected: the change was not sent.";
  }
}

/** Downloads a file of the server. @param {string} path @param {string} name */
export async function download(path, name) {
  const answer = await fetch(address(path));
  if (!answer.ok) throw new Error((await answer.text()).trim());
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
