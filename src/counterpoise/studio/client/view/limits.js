// Limits: where the bone of the chosen joint may point, as a cone or, of a hinge, as a sector.
import * as THREE from "three";
import { figure as facts, state } from "../store.js";
import { toView } from "./stage.js";

const SHARE = 0.75; // of the bone's length that a cone is long
const SHORTEST = 0.12; // [m]
const COLOUR = 0x8fd0ff;

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
    stage.scene.add(this.group);
  }

  /** Shows the limits of the joint of a body, where it is now. @param {string | null} body @param {boolean} visible */
  update(body, visible) {
    const figure = facts(), joint = visible && body ? figure?.joints.find(one => one.body === body) : undefined;
    const index = figure?.bodies.findIndex(one => one.name === body) ?? -1, parent = figure?.bodies[index]?.parent ?? -1;
    this.group.visible = Boolean(joint?.outline.length) && parent >= 0 && Boolean(this.figure.bones[parent] && this.figure.bones[index]);
    if (!this.group.visible || !joint || !figure) return;
    const key = `${figure.mesh} ${joint.name}`;
    if (key !== this.key) { this.key = key; this.build(joint, Math.max(SHORTEST, SHARE * figure.bodies[index].length)); }
    this.group.matrix.copy(this.figure.bones[parent].matrixWorld).setPosition(new THREE.Vector3().setFromMatrixPosition(this.figure.bones[index].matrixWorld));
    this.group.matrixWorldNeedsUpdate = true;
  }

  /** @param {import("../messages.js").JointFacts} joint @param {number} size [m] */
  build(joint, size) {
    const edge = joint.outline.map(way => toView(new THREE.Vector3(), ...way).multiplyScalar(size)), closed = joint.kind !== "hinge";
    const apex = new THREE.Vector3(), faces = [];
    for (let i = 1; i < edge.length; i++) faces.push(0, i, i + 1);
    if (closed) faces.push(0, edge.length, 1);
    this.fan.geometry.dispose();
    this.fan.geometry = new THREE.BufferGeometry().setFromPoints([apex, ...edge]).setIndex(faces);
    this.edge.geometry.dispose();
    this.edge.geometry = new THREE.BufferGeometry().setFromPoints(closed ? [...edge, edge[0]] : [apex, ...edge, apex]);
  }

  /** Whether limits are shown now: a body is chosen, and nothing plays. */
  static wanted() { return state.shows.limits && !state.playing; }
}
