// Edits of the scene by name; those of a motion or a figure are about the one in the hand.
import { state } from "./store.js";

const MOTION_EDITS = new Set(["MoveKey", "CopyKey", "SetKey", "RemoveKey", "AddContact", "MoveContact", "SetContact", "RemoveContact", "SetDuration", "AddWish", "SetWish", "RemoveWish", "Retime", "CopyRange", "MoveRange", "RemoveRange"]);
const FIGURE_EDITS = new Set(["SetFigure", "SetLength", "SetMass", "SetLimit", "SetLimitSide", "AddSegment", "RemoveSegment", "SetRoot", "MirrorLimb", "AddConstraint", "EditFigure"]);

/** @typedef {(edit: string, values: Record<string, any>) => void} Edit */

/** Returns the function that sends an edit. @param {(command: import("./messages.js").Command) => void} send @returns {Edit} */
export const editor = send => (name, values) => {
  const about = MOTION_EDITS.has(name) ? { motion: state.scene?.motion } : FIGURE_EDITS.has(name) ? { character: state.scene?.owner } : {};
  send({ type: "edit_scene", edit: name, values: { ...about, ...values } });
};
