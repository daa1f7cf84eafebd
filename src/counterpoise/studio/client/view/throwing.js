// Throwing: a ball or a box flies from beside the camera to what the pointer is over.
import * as THREE from "three";
import { toast } from "../dom.js";
import { state } from "../store.js";
import { fromView } from "./stage.js";

const FARTHEST = 3; // [m] before its target, at which a throw begins
const BELOW_EYE = 0.12; // [m] so that it is seen when it begins near the camera
const SIGHT = 30; // [m] up to which a target may be away
const ray = new THREE.Raycaster();

export class Throwing {
  /** @param {import("./stage.js").Stage} stage @param {import("./figure.js").FigureView} figure @param {import("./cast.js").CastView} cast @param {import("./props.js").PropsView} props */
  constructor(stage, figure, cast, props) {
    this.stage = stage;
    this.figure = figure;
    this.cast = cast;
    this.props = props;
    this.pointer = { clientX: 0, clientY: 0 };
    stage.canvas.addEventListener("pointermove", event => { this.pointer = { clientX: event.clientX, clientY: event.clientY }; }, { capture: true });
  }

  /** Where a throw begins and ends, as the server counts; null: nothing can be hit. @param {"body" | "pointer"} at the chosen body (or the trunk), or what is under the pointer @param {number} size [m] */
  way(at, size) {
    if (!state.live?.running) { toast("Only a live figure can be thrown at: press Live first (L).", true); return null; }
    const bodies = state.scene?.figure.bodies ?? [], body = state.selected ?? bodies.find(one => one.name === "thorax")?.name ?? bodies[0]?.name;
    const target = at === "body" ? this.figure.place(this.figure.names.indexOf(body), new THREE.Vector3()) : this.seen(this.stage.aim(this.pointer, ray));
    return target ? this.to(target, size) : null;
  }

  /** The place that a ray meets first: a figure, a prop, the ground. @param {THREE.Raycaster} from @returns {THREE.Vector3 | null} */
  seen(from) {
    const ground = from.ray.intersectPlane(new THREE.Plane(new THREE.Vector3(0, 1, 0), 0), new THREE.Vector3()), eye = from.ray.origin;
    const found = [this.figure.hit(from)?.place, this.cast.hit(from)?.place, this.props.hit(from)?.place, ground];
    const near = found.filter(place => place && place.distanceTo(eye) < SIGHT).map(place => /** @type {THREE.Vector3} */ (place));
    return near.sort((a, b) => a.distanceTo(eye) - b.distanceTo(eye))[0] ?? null;
  }

  /** @param {THREE.Vector3} target @param {number} size [m] @returns {{place: [number, number, number], target: [number, number, number]}} */
  to(target, size) {
    const way = this.stage.camera.position.clone().sub(target), far = Math.min(way.length() - 0.3, FARTHEST);
    const place = target.clone().addScaledVector(way.normalize(), Math.max(far, size));
    place.y = Math.max(place.y - BELOW_EYE, 0.5 * size + 0.01);
    return { place: fromView(place), target: fromView(target) };
  }
}
