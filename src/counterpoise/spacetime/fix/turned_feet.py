"""Feet of a capture that are turned over at the ankle: they are turned back.

Markers of a foot are few, and a solver may take a foot for one that points backwards: within a few frames it turns by
half a turn at its ankle, stays so for a step, and turns back. No ankle does that, and a body in such a clip stands on
nothing. There the ankle goes from its last possible rotation to its next one instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.joints import Joint
from counterpoise.motion.contacts import runs
from counterpoise.motion.curves import ease
from counterpoise.spacetime.fix.guard import near_frames


@dataclass(frozen=True)
class TurnedFeetTuning:
    """When a foot counts as turned over."""

    most: float = 1.5  # [rad] an ankle turned further from standing is none
    margin: float = 0.05  # [s] before and after, in which the foot is on its way


def turned_feet(
    character: Character, times: Array, poses: Array, tuning: TurnedFeetTuning | None = None
) -> tuple[Array, Flags]:
    """Returns poses (n, nq) with feet turned back at their ankles, and the frames (n,) in which one was turned."""
    t = tuning or TurnedFeetTuning()
    out, changed = poses, np.zeros(len(times), dtype=bool)
    for joint in _ankles(character):
        turns = np.asarray(poses[:, joint.qpos])
        rest = np.broadcast_to(character.neutral[joint.qpos], turns.shape)
        wrong = np.linalg.norm(spatial.difference(rest, turns), axis=-1) > t.most
        if not wrong.any():
            continue
        bad = near_frames(times, wrong, t.margin)
        out = np.array(poses) if out is poses else out
        for first, last in runs(bad):
            before, after = first - 1, last
            ends = [turns[k] for k in (before, after) if 0 <= k < len(times)] or [rest[0]]
            share = ease((times[first:last] - times[max(before, 0)]) / max(_span(times, before, after), 1e-9), "smooth")
            out[first:last, joint.qpos] = spatial.slerp(ends[0], ends[-1], share)
            changed[first:last] = True
    return out, changed


def _span(times: Array, before: int, after: int) -> float:
    """Returns the time between two frames, as far as there are such [s]."""
    return float(times[min(after, len(times) - 1)] - times[max(before, 0)])


def _ankles(character: Character) -> list[Joint]:
    """Returns the ball joints at which feet hang on shanks."""
    at, model = anatomy_of(character), character.model
    feet = {chain[0] for limb, chain in at.limbs.items() if limb.startswith("foot") and chain}
    return [j for j in character.joints if j.kind == "ball" and int(model.dof_bodyid[j.dofs.start]) in feet]
