// Terrain: boxes and height fields of the scene.
import * as THREE from "three";
import { address } from "../connection.js";
import { toView, turnToView } from "./stage.js";

const GROUND = 10; // [m] half of the size above which a box is the ground itself

export class WorldView {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.group = new THREE.Group();
    this.key = "";
    stage.scene.add(this.group);
  }

  /** Fetches the heights of a field and draws it. @param {import("../messages.js").FieldFacts} field @param {THREE.Material} fill */
  async field(field, fill) {
    const key = this.key, answer = await fetch(address(field.heights));
    if (!answer.ok || this.key !== key) return;
    const heights = new Float32Array(await answer.arrayBuffer()), { rows, columns, centre, size } = field, faces = [], places = new Float32Array(3 * rows * columns);
    for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) {
      const at = r * columns + c;
      places.set([centre[0] + (c / (columns - 1) - 0.5) * size[0], heights[at], -(centre[1] + (r / (rows - 1) - 0.5) * size[1])], 3 * at);
      if (r && c) faces.push(at, at - columns - 1, at - 1, at, at - columns, at - columns - 1);
    }
    const low = Math.min(...heights), range = Math.max(1e-6, Math.max(...heights) - low), tints = Float32Array.from({ length: 3 * heights.length }, (_, k) => 0.45 + (0.55 * (heights[Math.floor(k / 3)] - low)) / range);
    const shape = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(places, 3)).setAttribute("color", new THREE.BufferAttribute(tints, 3)).setIndex(faces);
    shape.computeVertexNormals();
    const mesh = new THREE.Mesh(shape, fill);
    mesh.receiveShadow = true;
    this.group.add(mesh);
    this.stage.touch();
  }

  /** @param {import("../messages.js").SolidFacts[]} solids @param {import("../messages.js").FieldFacts[]} fields @param {[number, number]} tilt roll and pitch of the ground [deg] */
  show(solids, fields, tilt) {
    const key = JSON.stringify([solids, fields, tilt]);
    if (key === this.key) return;
    this.key = key;
    this.group.clear();
    const fill = new THREE.MeshStandardMaterial({ color: 0x7c8796, roughness: 0.9 }), edge = new THREE.LineBasicMaterial({ color: 0x2a2f36, transparent: true, opacity: 0.6 });
    const plain = new THREE.MeshStandardMaterial({ color: getComputedStyle(document.documentElement).getPropertyValue("--ground").trim(), roughness: 1 }); // of the ground around a gap
    for (const solid of solids) {
      const [x, y, z] = solid.half, box = new THREE.BoxGeometry(2 * x, 2 * z, 2 * y), mesh = new THREE.Mesh(box, Math.max(x, y) > GROUND ? plain : fill);
      toView(mesh.position, ...solid.centre);
      turnToView(mesh.quaternion, solid.turn[1], solid.turn[2], solid.turn[3], solid.turn[0]);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.add(new THREE.LineSegments(new THREE.EdgesGeometry(box), edge));
      this.group.add(mesh);
    }
    const ground = new THREE.MeshStandardMaterial({ color: 0x8d98a6, roughness: 0.95, side: THREE.DoubleSide, vertexColors: true });
    for (const field of fields) this.field(field, ground);
    const roll = THREE.MathUtils.degToRad(tilt[0]), pitch = THREE.MathUtils.degToRad(tilt[1]);
    this.stage.ground.rotation.set(roll, 0, -pitch, "YZX");
    this.stage.touch();
  }
}
