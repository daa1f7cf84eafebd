// Mouse maps of the camera: as in Blender, as in Maya, or simple, where an empty place is dragged.
import * as THREE from "three";

/** @type {Record<string, {label: string, words: string}>} */
export const MAPS = {
  simple: { label: "mouse: simple", words: "Drag an empty place or the middle button: orbit; Shift with it, or the right button: pan; wheel: zoom; with Alt all buttons are the camera's" },
  blender: { label: "mouse: Blender", words: "Middle button: orbit; Shift and middle: pan; Ctrl and middle, or the wheel: zoom; Alt and left: orbit" },
  maya: { label: "mouse: Maya", words: "Alt and left: orbit; Alt and middle: pan; Alt and right, or the wheel: zoom" },
};

export class Navigation {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.orbit = stage.orbit;
    const kept = localStorage.getItem("mouse") ?? "";
    this.map = kept in MAPS ? kept : "simple";
    stage.canvas.addEventListener("pointerdown", event => this.prepare(event), { capture: true });
  }

  /** @param {string} name */
  choose(name) {
    this.map = name in MAPS ? name : "simple";
    localStorage.setItem("mouse", this.map);
  }

  /** Says what each button does in the drag that begins. @param {{altKey: boolean, ctrlKey: boolean, metaKey: boolean, shiftKey: boolean}} event */
  prepare(event) {
    const { ROTATE, PAN, DOLLY } = THREE.MOUSE, none = /** @type {any} */ (null), alt = event.altKey, ctrl = event.ctrlKey || event.metaKey;
    if (this.map === "maya") this.orbit.mouseButtons = alt ? { LEFT: ROTATE, MIDDLE: PAN, RIGHT: DOLLY } : { LEFT: none, MIDDLE: none, RIGHT: none };
    else if (this.map === "blender") this.orbit.mouseButtons = { LEFT: alt ? ROTATE : none, MIDDLE: ctrl ? DOLLY : ROTATE, RIGHT: none };
    else this.orbit.mouseButtons = { LEFT: ROTATE, MIDDLE: ROTATE, RIGHT: PAN };
  }
}
