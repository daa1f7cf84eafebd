// Handles: a dot on every joint, drawn over the figure. Pinned bodies have a square, the chosen one is larger.
import * as THREE from "three";

const REACH = 13; // [px] around a dot in which it can be taken
const COLOURS = { free: "#f2b24c", pinned: "#f0705f", place: "#c68bf2", chosen: "#ffffff", hover: "#8fd0ff" };
const CALM = new THREE.Color("#6fce8b"), HOT = new THREE.Color("#ff4530"); // effort of a joint, from none to all its strength
const V = new THREE.Vector3();

/** A picture of a dot or a square. @param {boolean} square */
function picture(square) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  c.fillStyle = "#fff";
  c.strokeStyle = "rgba(10,12,16,.85)";
  c.lineWidth = 7;
  c.beginPath();
  if (square) c.rect(12, 12, 40, 40);
  else c.arc(32, 32, 20, 0, 7);
  c.fill();
  c.stroke();
  return new THREE.CanvasTexture(canvas);
}

export class Handles {
  /** @param {import("./stage.js").Stage} stage @param {import("./figure.js").FigureView} figure */
  constructor(stage, figure) {
    this.stage = stage;
    this.figure = figure;
    this.group = new THREE.Group();
    this.maps = { dot: picture(false), square: picture(true) };
    /** @type {THREE.Sprite[]} */ this.dots = [];
    this.hovered = -1;
    /** @type {Float32Array | null} */ this.efforts = null; // share of the strength of each body's joint; null: not shown
    stage.scene.add(this.group);
  }

  /** Makes a dot for each body. @param {number} count */
  build(count) {
    this.group.clear();
    this.dots = Array.from({ length: count }, () => {
      const dot = new THREE.Sprite(new THREE.SpriteMaterial({ map: this.maps.dot, depthTest: false, sizeAttenuation: false, transparent: true, fog: false }));
      dot.renderOrder = 10;
      this.group.add(dot);
      return dot;
    });
  }

  /** Puts the dots where the joints are. @param {string | null} chosen @param {Record<string, string>} pins @param {boolean} visible */
  update(chosen, pins, visible) {
    if (this.dots.length !== this.figure.names.length) this.build(this.figure.names.length);
    this.group.visible = visible;
    const height = this.stage.canvas.clientHeight || 600;
    this.dots.forEach((dot, i) => {
      const name = this.figure.names[i], hold = pins[name], material = /** @type {THREE.SpriteMaterial} */ (dot.material);
      this.figure.place(i, dot.position);
      material.map = hold ? this.maps.square : this.maps.dot;
      material.color.set(name === chosen ? COLOURS.chosen : i === this.hovered ? COLOURS.hover : hold === "whole" ? COLOURS.pinned : hold ? COLOURS.place : COLOURS.free);
      if (this.efforts && name !== chosen && i !== this.hovered) material.color.copy(CALM).lerp(HOT, Math.min(1, this.efforts[i]));
      material.opacity = name === chosen || i === this.hovered ? 1 : 0.82;
      const pixels = name === chosen ? 17 : i === this.hovered ? 16 : 12;
      dot.scale.setScalar((pixels / height) * 2 * Math.tan(THREE.MathUtils.degToRad(this.stage.camera.fov / 2)));
    });
  }

  /** The dot nearest to the pointer, or -1. @param {{clientX: number, clientY: number}} event */
  under(event) {
    if (!this.group.visible) return -1;
    let best = -1, least = REACH, nearest = Infinity;
    this.dots.forEach((dot, i) => {
      const [x, y] = this.stage.spot(dot.position), far = Math.hypot(x - event.clientX, y - event.clientY);
      const depth = V.copy(dot.position).distanceTo(this.stage.camera.position);
      if (far < least - 2 || (far < least && depth < nearest)) { best = i; least = far; nearest = depth; }
    });
    return best;
  }
}
