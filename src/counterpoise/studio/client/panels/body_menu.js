// The menu of a body: what holds it, what it tries, its path; and that of the empty view.
import { openMenu, toast } from "../dom.js";
import { changed, figure, select, state } from "../store.js";

export class BodyMenu {
  /** @param {(command: import("../messages.js").Command) => void} send @param {import("../editing.js").Edit} edit @param {{frame: () => void, look: (side: string) => void, place: (body: string) => [number, number, number]}} view */
  constructor(send, edit, view) {
    this.send = send;
    this.edit = edit;
    this.view = view;
  }

  /** @param {{clientX: number, clientY: number}} event @param {string | null} body */
  open(event, body) {
    const { send, view } = this;
    if (!body) { openMenu(event.clientX, event.clientY, ["View", ["Frame all", () => { select(null); view.frame(); }, "F"], ["Front", () => view.look("front"), "1"], ["Side", () => view.look("side"), "3"], ["Top", () => view.look("top"), "7"]]); return; }
    select(body);
    const hold = state.rules.pins[body] ?? "none", pin = (/** @type {"none" | "place" | "whole"} */ how) => send({ type: "pin_body", body, hold: how });
    const joint = figure()?.joints.find(one => one.body === body), goal = state.rules.goals.find(one => one.body === body), path = state.rules.paths.some(one => one.body === body);
    const bends = joint && joint.kind !== "free", hinge = joint?.kind === "hinge";
    openMenu(event.clientX, event.clientY, [
      body.replaceAll("_", " "),
      [hold === "whole" ? "✓ Pin place and turn" : "Pin place and turn", () => pin("whole"), "P"],
      [hold === "place" ? "✓ Pin place" : "Pin place", () => pin("place")],
      ["Free", hold === "none" ? null : () => pin("none")],
      null,
      [this.words("lock", body, "Lock its turn"), () => this.toggle("lock", body, { body })],
      [this.words("fix", body, "Fix its joint"), bends ? () => this.toggle("fix", body, { joint: joint.name }) : null],
      [this.words("on_plane", body, "Keep at this height"), () => this.toggle("on_plane", body, { body, origin: view.place(body).map(v => Math.round(1e4 * v) / 1e4) })],
      ["Couple its joint with …", hinge ? () => this.couple(event, joint.name) : null],
      null,
      [goal?.kind === "reach" ? "✓ Try to stay here" : "Try to stay here", () => send({ type: "set_goal", body, kind: goal?.kind === "reach" ? "none" : "reach", place: view.place(body) })],
      [goal?.kind === "aim" ? "✓ Look at a place" : "Look at a place: click it next", () => { if (goal?.kind === "aim") send({ type: "set_goal", body, kind: "none" }); else this.aim(body); }],
      null,
      ["Record a path with it", () => changed("record_path", body)],
      ["Forget its path", path ? () => send({ type: "remove_path", body }) : null],
      ["Frame", () => view.frame(), "F"],
      ["Push it forward", state.live?.running ? () => send({ type: "push_body", body, force: [150, 0, 0] }) : null],
    ]);
  }

  /** The constraint of a kind on a body, or on its joint. @param {string} kind @param {string} body */
  found(kind, body) {
    const joint = figure()?.joints.find(one => one.body === body)?.name;
    return state.scene?.constraints.find(one => one.kind === kind && (one.body === body || (one.joint && one.joint === joint)));
  }
  /** @param {string} kind @param {string} body @param {string} text */
  words(kind, body, text) { return this.found(kind, body) ? `✓ ${text}` : text; }
  /** @param {string} kind @param {string} body @param {Record<string, any>} entries */
  toggle(kind, body, entries) {
    const found = this.found(kind, body);
    if (found) this.edit("RemoveConstraint", { constraint: found.index });
    else this.edit("AddConstraint", { kind, entries });
  }

  /** @param {string} body */
  aim(body) {
    toast(`Click the place that ${body.replaceAll("_", " ")} looks at; Esc gives up.`);
    changed("pick_place", (/** @type {[number, number, number]} */ place) => this.send({ type: "set_goal", body, kind: "aim", place }));
  }

  /** @param {{clientX: number, clientY: number}} event @param {string} joint */
  couple(event, joint) {
    const others = figure()?.joints.filter(one => one.kind === "hinge" && one.name !== joint) ?? [];
    setTimeout(() => openMenu(event.clientX, event.clientY, [`${joint.replaceAll("_", " ")} bends as`, ...others.map(one => /** @type {[string, () => void]} */ ([one.name.replaceAll("_", " "), () => this.edit("AddConstraint", { kind: "couple", entries: { coefficients: { [joint]: 1, [one.name]: -1 }, equals: 0 } })]))]));
  }
}
