// Terrain and props: boxes of the scene.
import * as THREE from "three";
import { toView, turnToView } from "./stage.js";

export class WorldView {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.group = new THREE.Group();
    this.key = "";
    stage.scene.add(this.group);
  }

  /** @param {import("../messages.js").SolidFacts[]} solids @param {[number, number]} tilt roll and pitch of the ground [deg] */
  show(solids, tilt) {
    const key = JSON.stringify([solids, tilt]);
    if (key === this.key) return;
    this.key = key;
    this.group.clear();
    const fill = new THREE.MeshStandardMaterial({ color: 0x7c8796, roughness: 0.9 }), edge = new THREE.LineBasicMaterial({ color: 0x2a2f36, transparent: true, opacity: 0.6 });
    for (const solid of solids) {
      const [x, y, z] = solid.half, box = new THREE.BoxGeometry(2 * x, 2 * z, 2 * y), mesh = new THREE.Mesh(box, fill);
      toView(mesh.position, ...solid.centre);
      turnToView(mesh.quaternion, solid.turn[1], solid.turn[2], solid.turn[3], solid.turn[0]);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.add(new THREE.LineSegments(new THREE.EdgesGeometry(box), edge));
      this.group.add(mesh);
    }
    const roll = THREE.MathUtils.degToRad(tilt[0]), pitch = THREE.MathUtils.degToRad(tilt[1]);
    this.stage.ground.rotation.set(roll, 0, -pitch, "YZX");
    this.stage.touch();
  }
}
