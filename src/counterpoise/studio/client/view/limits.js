// Limits: where the bone of the chosen joint may point, as a dome or, of a hinge, as a sector.
import * as THREE from "three";
import { figure as facts, state } from "../store.js";
import { toView } from "./stage.js";

const SHARE = 0.9; // of the bone's length, at which its limits are drawn
const HINGE_SHARE = 0.62; // of a hinge: the ends of its sector, which are dragged, keep away from the next joint
const RINGS = 8; // of the dome that a bone may reach
const SHORTEST = 0.12; // [m]
const COLOUR = 0x6fb8ff;

/** The place on the arc from one place to another, both equally far from the joint. @param {THREE.Vector3} a @param {THREE.Vector3} b @param {number} u */
function between(a, b, u) {
  const turn = new THREE.Quaternion().setFromUnitVectors(a.clone().normalize(), b.clone().normalize());
  return a.clone().applyQuaternion(new THREE.Quaternion().slerp(turn, u));
}

export class Limits {
  /** @param {import("./stage.js").Stage} stage @param {import("./figure.js").FigureView} figure */
  constructor(stage, figure) {
    this.figure = figure;
    const flat = { color: COLOUR, transparent: true, depthWrite: false, fog: false };
    this.fan = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({ ...flat, opacity: 0.16, side: THREE.DoubleSide }));
    this.edge = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ ...flat, opacity: 0.85 }));
    this.group = new THREE.Group();
    this.group.matrixAutoUpdate = false;
    this.group.add(this.fan, this.edge);
    for (const part of [this.fan, this.edge]) part.frustumCulled = false;
    this.key = "";
    this.size = SHORTEST; // [m] from the joint to the edge that is drawn
    /** @type {import("../messages.js").LimitFacts | null} */ this.drawn = null; // what is drawn now
    stage.scene.add(this.group);
  }

  /** Shows the limits of the joint of a body, where it is now. @param {string | null} body @param {boolean} visible */
  update(body, visible) {
    const figure = facts(), joint = visible && body ? figure?.joints.find(one => one.body === body) : undefined;
    const index = figure?.bodies.findIndex(one => one.name === body) ?? -1, parent = figure?.bodies[index]?.parent ?? -1;
    this.group.visible = Boolean(joint?.limits.outline.length) && parent >= 0 && Boolean(this.figure.bones[parent] && this.figure.bones[index]);
    if (!this.group.visible || !joint || !figure) return;
    const key = `${figure.mesh} ${joint.name}`;
    if (key !== this.key) { this.key = key; this.size = Math.max(SHORTEST, (joint.kind === "hinge" ? HINGE_SHARE : SHARE) * figure.bodies[index].length); this.draw(joint.limits); }
    this.group.matrix.copy(this.figure.bones[parent].matrixWorld).setPosition(new THREE.Vector3().setFromMatrixPosition(this.figure.bones[index].matrixWorld));
    this.group.matrixWorldNeedsUpdate = true;
  }

  /** A direction in the parent's frame, as a place of the group. @param {number[]} way */
  place(way) { return toView(new THREE.Vector3(), way[0], way[1], way[2]).multiplyScalar(this.size); }

  /** Draws limits: those of the joint, or others that it might have. @param {import("../messages.js").LimitFacts} limits */
  draw(limits) {
    this.drawn = limits;
    const closed = limits.middle.length > 0, edge = limits.outline.map(way => this.place(way));
    const apex = new THREE.Vector3(), places = closed ? [this.place(limits.middle)] : [apex, ...edge], faces = [];
    if (!closed) for (let i = 1; i < edge.length; i++) faces.push(0, i, i + 1);
    for (let ring = 1; closed && ring <= RINGS; ring++) {
      const first = 1 + (ring - 1) * edge.length, inner = first - edge.length;
      for (const [i, end] of edge.entries()) {
        places.push(between(places[0], end, ring / RINGS));
        const next = (i + 1) % edge.length;
        if (ring === 1) faces.push(0, first + i, first + next);
        else faces.push(inner + i, first + i, first + next, inner + i, first + next, inner + next);
      }
    }
    this.fan.geometry.dispose();
    this.fan.geometry = new THREE.BufferGeometry().setFromPoints(places).setIndex(faces);
    this.edge.geometry.dispose();
    this.edge.geometry = new THREE.BufferGeometry().setFromPoints(closed ? [...edge, edge[0]] : [apex, ...edge, apex]);
  }

  /** Whether limits are shown now: a body is chosen, and nothing plays. */
  static wanted() { return state.shows.limits && !state.playing; }
}
