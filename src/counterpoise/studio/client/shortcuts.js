// The table of all keys: what they are, what they say, what they do.
import { changed, setTime, state } from "./store.js";

/** @typedef {{keys: string, words: string, run: () => void}} Shortcut */
/**
 * @typedef {{send: (command: import("./messages.js").Command) => void, edit: import("./editing.js").Edit, tabs: any, openTab: (name: string) => void, transport: import("./timeline/transport.js").Transport,
 *   timeline: import("./timeline/timeline.js").Timeline, stage: import("./view/stage.js").Stage, nudge: (right: number, up: number) => void, frameView: () => void, bar: () => import("./bar.js").Bar, help: () => void}} Parts
 */

/** @param {string} keys @param {string} words @param {() => void} run @returns {Shortcut} */
const key = (keys, words, run) => ({ keys, words, run });

/** Goes to the next key, or the one before. @param {number} way */
function jump(way) {
  const times = (state.scene?.keys ?? []).map(one => one.time).filter(t => way * (t - state.time) > 1e-3);
  if (times.length) setTime(way > 0 ? Math.min(...times) : Math.max(...times));
}

/** @param {Parts} parts @returns {Record<string, Shortcut[]>} */
export function shortcuts({ send, edit, tabs, openTab, transport, timeline, stage, nudge, frameView, bar, help }) {
  const togglePin = () => { const body = state.selected; if (body) send({ type: "pin_body", body, hold: state.rules.pins[body] ? "none" : "whole" }); };
  const physics = (/** @type {string} */ name) => () => { openTab("Physics"); tabs.Physics[name].click(); };
  const shift = (/** @type {number} */ way) => () => { const one = transport.keyHere(); if (one) { const time = Math.max(0, one.time + way / 60); edit("MoveKey", { key: one.index, time }); state.time = time; } };
  const onTimeline = () => document.activeElement === timeline.canvas;
  return {
    Time: [key("Space", "play or pause", () => transport.toggle()), key("Left", "one frame back", () => transport.step(-1)), key("Right", "one frame ahead", () => transport.step(1)), key("Up", "next key", () => jump(1)), key("Down", "key before", () => jump(-1)), key("Home", "beginning", () => setTime(0)), key("End", "end", () => setTime(Infinity)), key("K", "set a key", () => changed("add_key")), key("Delete or Backspace", "remove the key here", () => transport.removeKey()), key("Ctrl D", "copy the chosen key here", () => { if (timeline.key >= 0) edit("CopyKey", { key: timeline.key, time: state.time }); }), key("Ctrl V", "copy the chosen range here", () => timeline.range.copy()), key("Escape", "choose no range", () => timeline.range.set(null)), key("G", "graphs", () => changed("graph"))],
    Pose: [key("W", "move", () => bar().tool("move")), key("E", "turn", () => bar().tool("turn")), key("Alt Left", "move the chosen body left by 1 cm; on the timeline, the key by a frame", () => (onTimeline() ? shift(-1)() : nudge(-1, 0))), key("Alt Right", "the same to the right", () => (onTimeline() ? shift(1)() : nudge(1, 0))), key("Alt Up", "move the chosen body up", () => nudge(0, 1)), key("Alt Down", "move the chosen body down", () => nudge(0, -1)), key("P", "pin or free the chosen body", togglePin), key("M", "mirror the pose", () => tabs.Pose.mirror()), key("Menu or Shift F10", "menu of the chosen body", () => changed("body_menu")), key("Ctrl Z", "undo", () => send({ type: "undo_edit" })), key("Ctrl Shift Z or Ctrl Y", "redo", () => send({ type: "redo_edit" }))],
    View: [key("F", "frame the chosen body", frameView), key("1", "front", () => stage.look("front")), key("3", "side", () => stage.look("side")), key("7", "top", () => stage.look("top")), key("+", "nearer", () => stage.zoom(0.85)), key("-", "farther", () => stage.zoom(1.18)), key("H", "handles", () => bar().toggle("handles")), key("?", "this help", help)],
    Physics: [key("L", "live or stop", () => { openTab("Live"); tabs.Live.toggle(); }), key("T", "throw at the pointer, while live", () => changed("throw", "pointer")), key("J", "jump or perform, while live (locomotion, too)", () => tabs.Live.doAct()), key("B", "bake what was live", () => tabs.Live.bakeAll()), key("O", "optimise", physics("optimize")), key("C", "check", physics("check")), key("X", "fix", physics("fix")), key("Ctrl S", "save", () => tabs.Scene.save())],
  };
}
