"""Landings with an impact: where a part meets the ground while it moves, velocities jump and poses do not.

With q the pose and v-, v+ the velocities before and after,

    M(q) (v+ - v-) = J^T f T + tau T,

contact forces f push within friction cones, torques tau stay within the joints' strength, and the points that touch
are at rest after it. T is how long an impact of this size lasts in a body, shrunk to an instant: gravity and the way
moved in it are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.spacetime.optimize.frames import Frames
from counterpoise.spacetime.optimize.holds import Hold, joined_ends
from counterpoise.spacetime.optimize.requirements.base import Requirement
from counterpoise.spacetime.optimize.requirements.torque import TorqueLimit, plan_torques
from counterpoise.spacetime.optimize.rows.torque import TorquePlan
from counterpoise.spacetime.optimize.tuning import ImpactTuning


@dataclass(frozen=True, eq=False)
class Impact:
    """One instant at which velocities may jump: the beginning of a phase in which something begins to touch."""

    phase: int  # that begins with it
    holds: tuple[int, ...]  # contacts that push in it: those of the phase
    new: tuple[int, ...]  # those whose parts come in moving

    def knots(self, frames: Frames) -> tuple[int, int]:
        """Returns the knots before and after it; they have the same pose."""
        first = int(np.flatnonzero(frames.phase[: frames.knots] == self.phase)[0])
        return first - 1, first


def find_impacts(character: Character, holds: Sequence[Hold], phases: int) -> tuple[Impact, ...]:
    """Returns where parts that were free begin to press on something that does not move."""
    if not character.floating:
        return ()
    out = []
    for p in range(1, phases):
        new = tuple(i for i, h in enumerate(holds) if h.first == p and not joined_ends(h, holds)[0])
        if all(holds[i].still for i in new) and any(_comes_free(holds[i], holds) for i in new):
            out.append(Impact(p, tuple(i for i, h in enumerate(holds) if h.first <= p < h.last), new))
    return tuple(out)


def _comes_free(hold: Hold, holds: Sequence[Hold]) -> bool:
    """Whether it presses, and no contact of the same bodies lasts until it begins."""
    return not hold.signed and not any(o.first < hold.first <= o.last and o.bodies & hold.bodies for o in holds)


def impact_torques(character: Character, requirements: Sequence[Requirement]) -> TorquePlan:
    """Returns the torques that joints may give in an impact: up to their strength, or what is asked to be less of it;
    none where it is not known."""
    own = plan_torques(character, [TorqueLimit(), *(r for r in requirements if isinstance(r, TorqueLimit))])
    if own is None:
        none = np.empty(0)
        return TorquePlan(np.empty(0, np.int64), none, none, none)
    known = np.isfinite(character.torque_limit[own.dofs]) & (character.torque_limit[own.dofs] > 0.0)
    return TorquePlan(own.dofs, own.strength, np.where(known, own.bound, 0.0), own.effort)


def impulse_count(impact: Impact, holds: Sequence[Hold], torques: TorquePlan, nv: int) -> int:
    """Returns how many variables an impact has: multipliers of its contacts, shares of joints' strength, the jump."""
    return sum(holds[i].multipliers for i in impact.holds) + len(torques.dofs) + nv


def impulse_bounds(
    impact: Impact, holds: Sequence[Hold], torques: TorquePlan, character: Character, tuning: ImpactTuning
) -> tuple[Array, Array]:
    """Returns the bounds of these variables. A grip gives no torque in an impact."""
    free = np.full(character.nv, np.inf)
    low, high = [], []
    for i in impact.holds:
        a, b = holds[i].bounds(character.weight)
        n = len(a) - len(holds[i].torques)
        a[n:] = b[n:] = 0.0
        low.append(a)
        high.append(b)
    most = tuning.strength_share * torques.bound
    return np.concatenate([*low, -most, -free]), np.concatenate([*high, most, free])
