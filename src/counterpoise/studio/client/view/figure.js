// A figure: the server's own GLB, whose bones are set in the world from each pose; its smooth body; and ghosts of it.
import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { clone } from "three/addons/utils/SkeletonUtils.js";
import { address } from "../connection.js";
import { state } from "../store.js";
import { toView, turnToView } from "./stage.js";

const P = new THREE.Vector3(), Q = new THREE.Quaternion(), ONE = new THREE.Vector3(1, 1, 1);

/** Finds the bones of a model by the bodies' names, and takes them out of three's own updates. @param {THREE.Object3D} root @param {string[]} names */
function bonesOf(root, names) {
  /** @type {Record<string, THREE.Object3D>} */
  const found = {};
  root.updateMatrixWorld(true);
  root.traverse(object => {
    if (/** @type {any} */ (object).isBone) {
      found[object.name] = object;
      object.matrixAutoUpdate = false;
      object.matrixWorldAutoUpdate = false;
    }
    if (/** @type {any} */ (object).isMesh) object.frustumCulled = false;
  });
  return names.map(name => found[THREE.PropertyBinding.sanitizeNodeName(name)]);
}

/** Sets bones from places (3 numbers a body) and quaternions x y z w (4 numbers). @param {THREE.Object3D[]} bones @param {ArrayLike<number>} n @param {number} places @param {number} turns */
function setBones(bones, n, places, turns) {
  for (let i = 0; i < bones.length; i++) {
    const p = places + 3 * i, t = turns + 4 * i;
    toView(P, n[p], n[p + 1], n[p + 2]);
    turnToView(Q, n[t], n[t + 1], n[t + 2], n[t + 3]);
    bones[i]?.matrixWorld.compose(P, Q, ONE);
  }
}

export class FigureView {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.mesh = "";
    /** @type {string[]} */ this.names = [];
    /** @type {THREE.Object3D[]} */ this.bones = [];
    /** @type {THREE.Object3D | null} */ this.root = null; // the shapes: always there, for the pointer to hit
    /** @type {THREE.Object3D | null} */ this.skin = null; // the smooth body, once it has come
    this.skinAddress = "";
    /** @type {Map<string, {root: THREE.Object3D, bones: THREE.Object3D[]}>} */ this.ghosts = new Map();
    /** @type {{n: Float32Array, places: number, turns: number} | null} */ this.pose = null;
  }

  /** Loads a figure if it is another than before. @param {import("../messages.js").FigureFacts} facts */
  async load(facts) {
    if (facts.mesh === this.mesh) return;
    this.mesh = facts.mesh;
    const gltf = await new GLTFLoader().loadAsync(address(facts.mesh));
    if (facts.mesh !== this.mesh) return; // another one was asked for meanwhile
    this.clear();
    this.root = gltf.scene;
    this.names = facts.bodies.map(body => body.name);
    this.bones = bonesOf(this.root, this.names);
    this.skinAddress = facts.smooth;
    this.put(this.root);
    if (this.pose && this.pose.n.length >= 7 * this.names.length) this.set(this.pose.n, this.pose.places, this.pose.turns);
    this.dress().catch(error => console.warn(`The smooth body did not come: ${error}`));
    this.stage.touch();
  }

  /** Shows the smooth body where it is wanted, or else the shapes. It is fetched when it is wanted first. */
  async dress() {
    const wanted = state.shows.smooth && Boolean(this.skinAddress), from = this.skinAddress;
    if (wanted && !this.skin) {
      const gltf = await new GLTFLoader().loadAsync(address(from));
      if (from !== this.skinAddress || this.skin) return; // another figure was loaded meanwhile
      this.skin = gltf.scene;
      bonesOf(this.skin, this.names).forEach((bone, i) => { if (bone && this.bones[i]) bone.matrixWorld = this.bones[i].matrixWorld; }); // one pose for both
      this.put(this.skin);
    }
    if (!this.root) return;
    const smooth = Boolean(this.skin) && state.shows.smooth;
    if (this.root.visible === smooth) this.dropGhosts(); // they are copies of what was shown
    this.root.visible = !smooth;
    if (this.skin) this.skin.visible = smooth;
    this.stage.touch();
  }

  /** @param {THREE.Object3D} model */
  put(model) {
    model.traverse(object => { if (/** @type {any} */ (object).isMesh) { object.castShadow = true; object.receiveShadow = true; } });
    this.stage.scene.add(model);
  }

  dropGhosts() { for (const name of [...this.ghosts.keys()]) this.dropGhost(name); }

  clear() {
    this.dropGhosts();
    for (const model of [this.root, this.skin]) if (model) { this.stage.scene.remove(model); model.traverse(object => /** @type {any} */ (object).geometry?.dispose()); }
    [this.root, this.skin, this.skinAddress] = [null, null, ""];
  }

  /** Takes the figure out of the view. */
  remove() {
    this.clear();
    [this.mesh, this.names, this.bones] = ["", [], []];
    this.stage.touch();
  }

  /** Shows a pose. @param {Float32Array} n @param {number} places @param {number} turns */
  set(n, places, turns) {
    this.pose = { n, places, turns };
    setBones(this.bones, n, places, turns);
    this.stage.touch();
  }

  /** The middle of the figure and its largest extent [m], from its joints. */
  bounds() {
    const box = new THREE.Box3();
    for (const bone of this.bones) if (bone) box.expandByPoint(P.setFromMatrixPosition(bone.matrixWorld));
    const size = box.getSize(new THREE.Vector3());
    return { middle: box.getCenter(new THREE.Vector3()), size: Math.max(size.x, size.y, size.z, 0.2) };
  }

  /** Where a body is, in the view. @param {number} index @param {THREE.Vector3} out */
  place(index, out) { return this.bones[index] ? out.setFromMatrixPosition(this.bones[index].matrixWorld) : out.set(0, 0, 0); }

  /** How a body is turned, in the view. @param {number} index @param {THREE.Quaternion} out */
  turn(index, out) { return this.bones[index] ? out.setFromRotationMatrix(this.bones[index].matrixWorld) : out.identity(); }

  /** The body and the point of it under a ray. @param {THREE.Raycaster} ray @returns {{index: number, place: THREE.Vector3, point: THREE.Vector3} | null} */
  hit(ray) {
    if (!this.root) return null;
    this.root.traverse(object => { const mesh = /** @type {any} */ (object); if (mesh.isSkinnedMesh) mesh.boundingSphere = mesh.boundingBox = null; });
    const found = ray.intersectObject(this.root, true).find(one => one.face);
    if (!found?.face) return null;
    const mesh = /** @type {THREE.SkinnedMesh} */ (found.object);
    const bone = mesh.skeleton.bones[mesh.geometry.getAttribute("skinIndex").getX(found.face.a)];
    const index = this.bones.indexOf(bone);
    if (index < 0) return null;
    return { index, place: found.point.clone(), point: found.point.clone().applyMatrix4(bone.matrixWorld.clone().invert()) };
  }

  /** Shows a see-through copy in another pose. @param {string} name @param {ArrayLike<number>} n @param {number} places @param {number} turns @param {number} tint @param {number} opacity */
  ghost(name, n, places, turns, tint, opacity) {
    if (!this.root) return;
    let one = this.ghosts.get(name);
    if (!one) {
      const root = clone(this.skin?.visible ? this.skin : this.root);
      root.visible = true;
      const material = new THREE.MeshBasicMaterial({ color: tint, transparent: true, opacity, depthWrite: false });
      root.traverse(object => { const mesh = /** @type {any} */ (object); if (mesh.isMesh) { mesh.material = material; mesh.castShadow = mesh.receiveShadow = false; } });
      one = { root, bones: bonesOf(root, this.names) };
      this.ghosts.set(name, one);
      this.stage.scene.add(root);
    }
    setBones(one.bones, n, places, turns);
    this.stage.touch();
  }

  /** @param {string} name */
  dropGhost(name) {
    const one = this.ghosts.get(name);
    if (!one) return;
    this.stage.scene.remove(one.root);
    this.ghosts.delete(name);
    this.stage.touch();
  }
}
