// What the page knows and what is chosen on it. Parts listen to names: "scene", "selection", "time", "live", ...

/** @typedef {import("./messages.js").SceneChanged} SceneChanged */

/** @type {Map<string, Set<(value: any) => void>>} */
const listeners = new Map();

export const state = {
  /** @type {import("./messages.js").StudioReady | null} */ ready: null,
  /** @type {SceneChanged | null} */ scene: null,
  /** @type {import("./messages.js").RulesChanged} */ rules: { type: "rules_changed", pins: {}, balanced: true, above_ground: true, goals: [], paths: [] },
  /** @type {import("./messages.js").LiveChanged | null} */ live: null,
  /** @type {string | null} */ selected: null,
  time: 0, // [s] of the playhead
  playing: false,
  recording: false, // whether the next drag is recorded as a path
  /** @type {[number, number] | null} */ range: null, // [s] chosen on the timeline
  looping: true,
  speed: 1,
  /** @type {"move" | "turn"} */ tool: "move",
  shows: { handles: true, mass: true, forces: true, heat: true, ghosts: false, trail: false, limits: true, gizmo: true, smooth: true },
};

/** Calls a function whenever a thing changes. @param {string} name @param {(value: any) => void} listener */
export function on(name, listener) {
  if (!listeners.has(name)) listeners.set(name, new Set());
  listeners.get(name)?.add(listener);
}

/** Says that a thing has changed. @param {string} name @param {any} [value] */
export function changed(name, value) {
  for (const listener of listeners.get(name) ?? []) listener(value);
}

/** @param {string | null} body */
export function select(body) {
  if (state.selected === body) return;
  state.selected = body;
  changed("selection", body);
}

/** Moves the playhead. @param {number} time @param {boolean} [byHand] */
export function setTime(time, byHand = true) {
  const end = state.scene?.duration ?? 0;
  state.time = Math.min(Math.max(time, 0), end);
  changed("time", byHand);
}

/** @returns {import("./messages.js").FigureFacts | null} */
export const figure = () => state.scene?.figure ?? null;
