// Props: loose balls and boxes of the scene, and those that were thrown. At rest they are dragged over the ground; live they are pulled.
import * as THREE from "three";
import { changed, state } from "../store.js";
import { fromView, toView, turnToView } from "./stage.js";

const COLOURS = { ball: 0xd96542, box: 0xbc986b }, CHOSEN = 0x1d3450;
const SNAP = 0.05; // [m] while Shift is held
const ray = new THREE.Raycaster(), plane = new THREE.Plane(), hit = new THREE.Vector3();

export class PropsView {
  /** @param {import("./stage.js").Stage} stage @param {(edit: string, values: Record<string, any>) => void} edit @param {(command: import("../messages.js").Command) => void} send */
  constructor(stage, edit, send) {
    this.stage = stage;
    this.edit = edit;
    this.send = send;
    /** @type {{index: number, point: THREE.Vector3, target: THREE.Vector3} | null} */ this.pulled = null; // in a live run; the point is in its own frame
    this.group = new THREE.Group();
    this.key = "";
    this.chosen = -1;
    /** @type {THREE.Mesh[]} */ this.meshes = [];
    /** @type {{index: number, off: THREE.Vector3, moved: boolean} | null} */ this.held = null;
    stage.scene.add(this.group);
    const first = { capture: true };
    stage.canvas.addEventListener("pointermove", event => this.move(event), first);
    stage.canvas.addEventListener("pointerup", event => this.up(event), first);
    stage.canvas.addEventListener("pointercancel", () => this.letGo());
  }

  /** Shows props where they are. @param {import("../messages.js").PropFacts[]} props */
  show(props) {
    const key = JSON.stringify(props.map(one => [one.shape, one.size]));
    if (key !== this.key) { this.key = key; this.build(props); }
    props.forEach((one, i) => { this.meshes[i].visible = true; toView(this.meshes[i].position, ...one.place); turnToView(this.meshes[i].quaternion, one.turn[1], one.turn[2], one.turn[3], one.turn[0]); });
    if (this.chosen >= props.length) this.choose(-1);
    this.stage.touch();
  }

  /** @param {import("../messages.js").PropFacts[]} props */
  build(props) {
    for (const mesh of this.meshes) mesh.geometry.dispose();
    this.group.clear();
    this.meshes = props.map(one => {
      const [x, y, z] = one.size, ball = one.shape === "ball";
      const shape = ball ? new THREE.SphereGeometry(0.5 * x, 32, 20) : new THREE.BoxGeometry(x, z, y);
      const mesh = new THREE.Mesh(shape, new THREE.MeshStandardMaterial({ color: COLOURS[ball ? "ball" : "box"], roughness: ball ? 0.45 : 0.8 }));
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.add(new THREE.LineSegments(ball ? stripes(0.5 * x) : new THREE.EdgesGeometry(shape), new THREE.LineBasicMaterial({ color: 0x2a2f36, transparent: true, opacity: 0.55 })));
      this.group.add(mesh);
      return mesh;
    });
    this.light();
  }

  /** Poses of a frame: place and quaternion x y z w, 7 numbers each. @param {ArrayLike<number>} n @param {number} at @param {number} count */
  set(n, at, count) {
    for (let i = 0; i < Math.min(count, this.meshes.length); i++) this.put(i, n, at + 7 * i, at + 7 * i + 3);
    this.stage.touch();
  }

  /** Puts a prop where it is; numbers that are none hide it. @param {number} i @param {ArrayLike<number>} n @param {number} place @param {number} turn */
  put(i, n, place, turn) {
    const mesh = this.meshes[i];
    mesh.visible = !Number.isNaN(n[place]);
    toView(mesh.position, n[place], n[place + 1], n[place + 2]);
    turnToView(mesh.quaternion, n[turn], n[turn + 1], n[turn + 2], n[turn + 3]);
  }

  /** Shows props where they were at a time of a take. @param {import("../timeline/track.js").Track} track @param {number} time */
  showTime(track, time) {
    if (!track.frames || track.bodies !== this.meshes.length) return;
    track.sample(time);
    for (let i = 0; i < track.bodies; i++) this.put(i, track.pose, 3 * i, 3 * track.bodies + 4 * i);
    this.stage.touch();
  }

  /** The prop under a ray, and how far it is. @param {THREE.Raycaster} from @returns {{index: number, place: THREE.Vector3, distance: number} | null} */
  hit(from) {
    const found = from.intersectObjects(this.meshes, false)[0];
    return found ? { index: this.meshes.indexOf(/** @type {THREE.Mesh} */ (found.object)), place: found.point, distance: found.distance } : null;
  }

  /** @param {number} index */
  choose(index) {
    if (index === this.chosen) return;
    this.chosen = index;
    this.light();
    changed("prop");
  }

  light() {
    this.meshes.forEach((mesh, i) => /** @type {THREE.MeshStandardMaterial} */ (mesh.material).emissive.setHex(i === this.chosen ? CHOSEN : 0));
    this.stage.touch();
  }

  /** Takes the pointer where a prop is under it. @param {PointerEvent} event @param {number} nearer than this it must be @returns {boolean} */
  down(event, nearer) {
    const live = state.live?.running, found = !live && state.scene?.prop_track ? null : this.hit(this.stage.aim(event, ray));
    if (!found || found.distance > nearer) { this.choose(-1); return false; }
    if (live) {
      plane.setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new THREE.Vector3()), found.place);
      this.pulled = { index: found.index, point: this.meshes[found.index].worldToLocal(found.place.clone()), target: found.place.clone() };
      this.stage.canvas.setPointerCapture(event.pointerId);
      this.pull();
      return true;
    }
    changed("tab", "Scene");
    this.choose(found.index);
    const mesh = this.meshes[found.index];
    const upright = Math.abs(ray.ray.direction.y) > 0.15;
    plane.setFromNormalAndCoplanarPoint(upright ? new THREE.Vector3(0, 1, 0) : this.stage.camera.getWorldDirection(new THREE.Vector3()), found.place);
    this.held = { index: found.index, off: mesh.position.clone().sub(found.place), moved: false };
    this.stage.canvas.setPointerCapture(event.pointerId);
    return true;
  }

  /** Says where the pulled prop is pulled to. */
  pull() { if (this.pulled) this.send({ type: "pull_prop", prop: this.pulled.index, target: fromView(this.pulled.target), point: fromView(this.pulled.point) }); }
  letGo() {
    if (this.pulled) this.send({ type: "release_body", keep: false });
    this.pulled = null;
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (this.pulled && this.stage.aim(event, ray).ray.intersectPlane(plane, this.pulled.target)) { event.stopImmediatePropagation(); this.pull(); return; }
    const held = this.held;
    if (!held || !this.stage.aim(event, ray).ray.intersectPlane(plane, hit)) return;
    event.stopImmediatePropagation();
    const place = hit.clone().add(held.off), lowest = 0.5 * (state.scene?.props[held.index]?.size[2] ?? 0);
    if (event.shiftKey) place.divideScalar(SNAP).round().multiplyScalar(SNAP);
    place.y = Math.max(place.y, lowest);
    this.meshes[held.index].position.copy(place);
    held.moved = true;
    this.stage.touch();
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (this.pulled && event.button === 0) { event.stopImmediatePropagation(); this.letGo(); return; }
    const held = this.held;
    if (!held || event.button !== 0) return;
    event.stopImmediatePropagation();
    this.held = null;
    if (held.moved) this.edit("SetProp", { prop: held.index, entries: { place: fromView(this.meshes[held.index].position).map(value => Math.round(1000 * value) / 1000) } });
  }
}

/** Three circles on a ball, by which one sees it roll. @param {number} radius */
function stripes(radius) {
  const places = [], r = 1.003 * radius, count = 40;
  for (let k = 0; k < count; k++) {
    const [a, b] = [(2 * Math.PI * k) / count, (2 * Math.PI * (k + 1)) / count], [ca, sa, cb, sb] = [r * Math.cos(a), r * Math.sin(a), r * Math.cos(b), r * Math.sin(b)];
    places.push(ca, sa, 0, cb, sb, 0, ca, 0, sa, cb, 0, sb, 0, ca, sa, 0, cb, sb);
  }
  return new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
}
