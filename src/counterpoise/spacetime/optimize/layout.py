"""Where the variables of a motion lie in one vector x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.spacetime.optimize.frames import Frames
from counterpoise.spacetime.optimize.holds import Hold
from counterpoise.spacetime.optimize.moments import Timeline


@dataclass(frozen=True, eq=False)
class Layout:
    """Coefficients of the curve, free moments, impacts, places of contacts, force multipliers, torques, then slacks."""

    nv: int
    coefficients: int
    moments: Ints  # variable of each moment, -1 where it is fixed
    fixed_times: Array  # (moments,) [s]
    impulses: tuple[int, ...]  # first variable of each impact
    places: tuple[int, ...]  # first of (x, y, z, facing) of each hold
    forces: tuple[int, ...]  # first multiplier of each hold, frame after frame
    torques: int  # first torque
    size: int

    @property
    def curve(self) -> int:
        """How many of the variables are coefficients of the curve."""
        return self.coefficients * self.nv

    def times(self, x: Array) -> Array:
        """Returns the times of all moments [s]."""
        out = self.fixed_times.copy()
        free = self.moments >= 0
        out[free] = x[self.moments[free]]
        return out

    def extended(self, slacks: int) -> Layout:
        """Returns the layout with further variables at the end."""
        return replace(self, size=self.size + slacks)


def lay_out(
    character: Character, timeline: Timeline, holds: tuple[Hold, ...], frames: Frames, torques: int,
    impulses: Sequence[int] = (),
) -> Layout:  # fmt: skip
    """Lays out coefficients, free moments, places of contacts, their multipliers, and `torques` at every knot.

    `impulses` are the numbers of variables of the impacts.
    """
    at = timeline.coefficients * character.nv
    moments = np.full(len(timeline.moments), -1, np.int64)
    for k in timeline.free:
        moments[k] = at
        at += 1
    first = []
    for count in impulses:
        first.append(at)
        at += count
    places = []
    for _ in holds:
        places.append(at)
        at += 4
    forces = []
    for hold in holds:
        forces.append(at)
        at += len(hold.knots(frames)) * hold.multipliers
    return Layout(
        character.nv, timeline.coefficients, moments, timeline.times, tuple(first), tuple(places), tuple(forces), at,
        at + frames.knots * torques,
    )  # fmt: skip
