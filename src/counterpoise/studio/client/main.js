// The studio's page: connects the view, the panels and the timeline with the server.
import * as THREE from "three";
import { Bar } from "./bar.js";
import { Connection, GHOST, LIVE, POSED, STATUSES } from "./connection.js";
import { byId, make, said, toast } from "./dom.js";
import { takeDrops } from "./dropping.js";
import { editor } from "./editing.js";
import { Keys } from "./keys.js";
import { BodyMenu } from "./panels/body_menu.js";
import { FigurePanel } from "./panels/figure_panel.js";
import { HoldPanel } from "./panels/hold_panel.js";
import { LayersPanel } from "./panels/layers_panel.js";
import { LivePanel } from "./panels/live_panel.js";
import { PhysicsPanel } from "./panels/physics_panel.js";
import { PosePanel } from "./panels/pose_panel.js";
import { ScenePanel } from "./panels/scene_panel.js";
import { StagingPanel } from "./panels/staging_panel.js";
import { Tree } from "./panels/tree.js";
import { WorldPanel } from "./panels/world_panel.js";
import { shortcuts } from "./shortcuts.js";
import { Stats } from "./stats.js";
import { changed, on, select, setTime, state } from "./store.js";
import { Graph } from "./timeline/graph.js";
import { Heat } from "./timeline/heat.js";
import { Timeline } from "./timeline/timeline.js";
import { Track } from "./timeline/track.js";
import { Transport } from "./timeline/transport.js";
import { Tour } from "./tour.js";
import { CastView } from "./view/cast.js";
import { Dragging } from "./view/dragging.js";
import { Extras } from "./view/extras.js";
import { FigureView } from "./view/figure.js";
import { Gizmo } from "./view/gizmo.js";
import { Handles } from "./view/handles.js";
import { LimitGrips } from "./view/limit_grips.js";
import { Limits } from "./view/limits.js";
import { Navigation } from "./view/navigation.js";
import { Overlays } from "./view/overlays.js";
import { PropsView } from "./view/props.js";
import { Recording } from "./view/recording.js";
import { fromView, Stage } from "./view/stage.js";
import { Steering, TRAVELLERS } from "./view/steering.js";
import { Throwing } from "./view/throwing.js";
import { WorldView } from "./view/world.js";

/** @typedef {import("./connection.js").Frame} Frame */
const NUDGE = 0.01; // [m] by which keys move a body
const send = (/** @type {import("./messages.js").Command} */ command) => connection.send(command);
const edit = editor(send);
// -- the parts
const stage = new Stage(byId("canvas")), navigation = new Navigation(stage), figure = new FigureView(stage), handles = new Handles(stage, figure), gizmo = new Gizmo(stage, figure), overlays = new Overlays(stage), world = new WorldView(stage), cast = new CastView(stage), props = new PropsView(stage, edit, send), limits = new Limits(stage, figure), grips = new LimitGrips(stage, limits, handles, edit);
const throwing = new Throwing(stage, figure, cast, props), dragging = new Dragging(stage, figure, cast, props, handles, gizmo, send), recording = new Recording(stage, dragging, send), steering = new Steering(send), track = new Track(), propTrack = new Track(), heat = new Heat(), extras = new Extras(figure, track, overlays), transport = new Transport(send, edit), timeline = new Timeline(edit), graph = new Graph(send);
const tabs = { Pose: new PosePanel(send), Live: new LivePanel(send), Physics: new PhysicsPanel(send, edit), Figure: new FigurePanel(send, edit), Scene: new ScenePanel(send) };
const placeOf = (/** @type {string} */ body) => fromView(figure.place(figure.names.indexOf(body), new THREE.Vector3()));
const menu = new BodyMenu(send, edit, { frame: () => frameView(), look: side => stage.look(side), place: placeOf });
new Tree(byId("left"), (body, event) => menu.open(event, body));
byId("left").append(new LayersPanel(send, edit, figure).element);
tabs.Pose.element.append(new HoldPanel(send, edit).element);
tabs.Scene.element.firstElementChild.after(new StagingPanel(edit, stage).element, new WorldPanel(send, edit, props).element);
on("tab", name => openTab(name));
byId("time").append(transport.element, timeline.canvas, graph.element);
const faces = Object.keys(tabs).map(name => make("button", { type: "button", role: "tab", id: `tab_${name.toLowerCase()}`, title: `${name}: open this tab`, onclick: () => openTab(name) }, name));
byId("right").append(make("div", { className: "tabs", role: "tablist" }, ...faces), ...Object.values(tabs).map(tab => tab.element));

/** @param {string} name */
function openTab(name) {
  faces.forEach(face => face.setAttribute("aria-selected", String(face.textContent === name)));
  for (const [other, tab] of Object.entries(tabs)) tab.element.hidden = other !== name;
}
openTab("Pose");

// -- what the server says
/** @type {Record<string, (event: any) => void>} */
const ears = {
  studio_ready: event => { state.ready = event; changed("ready"); document.body.dataset.ready = "yes"; },
  scene_changed: event => takeScene(event),
  rules_changed: event => { state.rules = event; changed("rules"); stage.touch(); },
  live_changed: event => { const was = state.live?.running; state.live = event; loadFigures(); if (event.running) props.choose(-1); changed("live"); showProps(); world.show(state.scene?.solids ?? [], state.scene?.fields ?? [], event.running ? event.tilt : state.scene?.tilt ?? [0, 0]); if (was && !event.running) { overlays.setForces([], 0, 0); liveEfforts = null; } if (!was && event.running) { stats.live = null; byId("view_note").textContent = "starting … (the first start compiles the controller)"; } if (was && !event.running) byId("view_note").textContent = ""; },
  joint_values: event => changed("joints", event),
  job_changed: event => { changed("job", event); if (event.state !== "running") figure.dropGhost("job"); },
  files_listed: event => changed("files", event),
  trouble: event => { stats.troubles.push(event.message); toast(event.message, true); },
  notice: event => toast(event.message),
};

/** @param {import("./messages.js").SceneChanged} event */
async function takeScene(event) {
  state.scene = event;
  if (state.time > event.duration) state.time = event.duration;
  world.show(event.solids, event.fields, state.live?.running ? state.live.tilt : event.tilt);
  showProps();
  changed("scene");
  if (framed !== event.figure.name) { framed = event.figure.name; unframed = true; }
  await loadFigures();
  if (state.selected && !figure.names.includes(state.selected)) select(null);
  if (await track.load(event.track)) { changed("track"); showTime(); }
  if (await propTrack.load(event.prop_track)) showProps();
  await heat.load(event.efforts);
  if (!state.live?.running) cast.showTime(state.time);
  extras.show();
  stage.touch();
  document.body.dataset.revision = String(event.revision);
}

/** Loads the figures of the scene, with the bodies that they have now: those of a live run may have changed. */
async function loadFigures() {
  const scene = state.scene, bodies = state.live?.running ? state.live.bodies : [];
  if (!scene) return;
  await figure.load({ ...scene.figure, ...bodies[0] });
  await cast.load(scene.cast.map((one, k) => ({ ...one, figure: { ...one.figure, ...bodies[k + 1] } })));
}

/** Props of the live run, or where they begin. */
function showProps() {
  const scene = state.scene, live = state.live?.running;
  props.show((live ? state.live?.props : scene?.prop_track ? scene.track_props : scene?.props) ?? []);
  if (!live && scene?.prop_track) props.showTime(propTrack, state.time);
}

/** @type {Map<number, Frame>} */
const frames = new Map();
let framed = "", unframed = false; // the figure that the camera was set for; whether it still has to be
const connection = new Connection({
  event: event => ears[event.type]?.(event),
  frame: frame => { frames.set(frame.kind + 8 * frame.figure, frame); stats.arrived(frame); stage.touch(); },
  state: open => { const bar = byId("connection"); if (bar) bar.textContent = open ? "" : "connecting …"; document.body.dataset.connected = open ? "yes" : "no"; },
});

// -- pictures
const stats = new Stats(dragging, stage);

/** @type {Float32Array | null} */
let liveEfforts = null; // share of the strength of each body's joint, while live
/** @type {[number, number, number] | null} */
let followed = null; // the centre of mass that the camera went with last

/** Moves the camera along with a walker. @param {[number, number, number]} com */
function follow(com) {
  if (followed) stage.shift(com[0] - followed[0], com[1] - followed[1]);
  followed = com;
}

/** Shows the frames that have come; the newest of each kind. */
function takeFrames() {
  if (!frames.size) return false;
  const ghost = frames.get(GHOST), pose = state.live?.running ? frames.get(LIVE) : frames.get(POSED);
  if (pose && pose.bodies !== figure.names.length) return false; // the figure is still being loaded
  if (state.live?.running) for (const frame of frames.values()) if (frame.figure) cast.take(frame);
  frames.clear();
  if (ghost && ghost.bodies === figure.names.length) figure.ghost("job", ghost.numbers, 0, 3 * ghost.bodies, 0x5aa2f7, 0.35);
  if (!pose || state.playing) return Boolean(ghost);
  figure.set(pose.numbers, 0, 3 * pose.bodies);
  if (unframed) { unframed = false; frameAll(); }
  const n = pose.numbers, at = 7 * pose.bodies;
  if (pose.kind === LIVE && TRAVELLERS.includes(state.live?.controller ?? "")) follow(pose.com);
  else followed = null;
  overlays.setMass(pose.com, n, at + 6 * pose.arrows, pose.corners);
  overlays.setForces(n, at, pose.arrows);
  const after = at + 6 * pose.arrows + 2 * pose.corners;
  if (pose.kind === LIVE) liveEfforts = pose.efforts ? n.subarray(after, after + pose.efforts) : null;
  if (pose.props) props.set(n, after + pose.efforts, pose.props);
  const held = dragging.held;
  overlays.setPull(null);
  if (props.pulled && pose.kind === LIVE && props.meshes[props.pulled.index]) overlays.setPull(props.meshes[props.pulled.index].localToWorld(props.pulled.point.clone()), props.pulled.target);
  if (held && dragging.goal && (pose.status !== 0 || pose.kind === LIVE)) overlays.setPull(held.point.clone().applyMatrix4(held.view.bones[held.index].matrixWorld), dragging.goal);
  const facts = pose.kind === LIVE ? `live ${pose.time.toFixed(2)} s\nground force ${overlays.total.toFixed(0)} N of ${(state.live?.bodies[0] ?? state.scene?.figure)?.weight.toFixed(0)} N` : held ? `${held.body.replaceAll("_", " ")}: ${STATUSES[pose.status].replace("_", " ")}` : "";
  byId("view_note").textContent = facts;
  document.body.dataset.status = STATUSES[pose.status];
  return true;
}

/** Draws the pose at the playhead from the motion that is here already. */
function showTime() {
  if (state.live?.running || dragging.held || !track.frames || track.bodies !== figure.names.length) return;
  track.sample(state.time);
  figure.set(track.pose, 0, 3 * track.bodies);
  cast.showTime(state.time);
  if (state.scene?.prop_track) props.showTime(propTrack, state.time);
  if (state.playing) overlays.setMass(track.com, [], 0, 0);
}

let asked = 0;
on("time", byHand => {
  showTime();
  extras.show();
  if (!byHand || state.playing) return;
  clearTimeout(asked);
  asked = setTimeout(() => send({ type: "look_at", time: state.time }), 30); // the server adds support and angles
});

stage.before.push(() => transport.tick(), takeFrames, () => {
  const efforts = state.live?.running ? liveEfforts : dragging.held ? null : heat.at(state.time);
  handles.efforts = state.shows.heat && efforts?.length === figure.names.length ? efforts : null;
  handles.update(state.selected, state.rules.pins, state.shows.handles);
  gizmo.update(state.selected, state.shows.gizmo && state.shows.handles && !state.playing && !state.live?.running);
  if (!grips.held) limits.update(state.selected, Limits.wanted());
  grips.update();
  overlays.mass.visible = state.shows.mass;
  overlays.forces.visible = overlays.pressure.visible && state.shows.forces;
  return false;
});
on("shows", () => { figure.dress(); cast.dress(); });
for (const name of ["selection", "shows"]) on(name, () => { extras.show(); stage.touch(); });
on("theme", () => stage.theme());
on("selection", body => { byId("status_text").textContent = body ? `${body.replaceAll("_", " ")} is chosen. Drag it; right click for pins; F frames it.` : ""; });
on("frame", () => frameView());
on("walk_to", place => { overlays.goal.position.copy(place).setY(0.005); overlays.goal.visible = true; stage.touch(); });
on("live", () => { if (!state.live?.running) overlays.goal.visible = false; });
on("throw", where => { const way = throwing.way(where, Number(tabs.Live.size.range.value)); if (way) tabs.Live.throwAlong(way); });
on("live", () => { if (!state.live?.running) cast.showTime(state.time); });
on("add_key", () => send({ type: "add_pose_key", time: state.time }));

function frameAll() {
  const { middle, size } = figure.bounds();
  stage.frame(middle.setY(middle.y + 0.04 * size), 1.4 * size);
}

function frameView() {
  const index = figure.names.indexOf(state.selected ?? "");
  if (index >= 0) stage.frame(figure.place(index, new THREE.Vector3()), 0.45 * figure.bounds().size);
  else frameAll();
}

dragging.onmenu = (/** @type {MouseEvent} */ event, /** @type {string | null} */ body) => menu.open(event, body);
on("body_menu", () => { const [clientX, clientY] = state.selected ? stage.spot(figure.place(figure.names.indexOf(state.selected), new THREE.Vector3())) : [innerWidth / 2, innerHeight / 2]; menu.open({ clientX, clientY }, state.selected); });
on("place_wish", take => { if (state.selected) take(placeOf(state.selected).map(value => Math.round(1e4 * value) / 1e4)); });

/** Moves the chosen body by a centimetre in the plane of the picture. @param {number} right @param {number} up */
function nudge(right, up) {
  const index = figure.names.indexOf(state.selected ?? "");
  if (index < 0 || state.live?.running) return;
  const to = figure.place(index, new THREE.Vector3()).addScaledVector(new THREE.Vector3(1, 0, 0).applyQuaternion(stage.camera.quaternion), NUDGE * right);
  to.y += NUDGE * up;
  send({ type: "drag_body", seq: ++dragging.seq, body: figure.names[index], target: fromView(to), time: state.time });
  send({ type: "release_body", keep: true });
}

const tour = new Tour();
const keys = new Keys(shortcuts({ send, edit, tabs, openTab, transport, timeline, stage, nudge, frameView, bar: () => bar, help: () => keys.help() }), event => dragging.key(event) || steering.key(event), () => tour.go(0));
const bar = new Bar(send, () => keys.help(), navigation);
takeDrops();

/** For tests: where things are and what was measured. */
/** @type {any} */ (window).studio = { THREE, said, world, gizmo, grips, recording, navigation, tour, menu, state, stats, send, on, timeline, stage, figure, cast, props, graph, limits, overlays, handles, track, dragging, setTime, select, get lastJoints() { return tabs.Pose.last?.values; }, spotOf: (/** @type {string} */ body) => stage.spot(figure.place(figure.names.indexOf(body), new THREE.Vector3())), placeOf };
