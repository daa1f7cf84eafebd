"""Where a plan lies in the world: turned about the vertical and moved, so that its planted points fit the real ones."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.control.perform.planned_motion import PlannedState


class PlanPlacement(NamedTuple):
    """Places of the plan are turned by `yaw` [rad] about the vertical, then moved by `shift` [m]."""

    yaw: float
    shift: Array  # (3,)

    @property
    def rotation(self) -> Array:
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


AS_PLANNED = PlanPlacement(0.0, np.zeros(3))


def fit_layout(planned: Array, measured: Array, part: Ints, yaw: float, spread: float, rise: float) -> PlanPlacement:
    """Returns the layout that brings points of the plan (k, 3) onto the measured ones; the shift's height is `rise`.

    The heading is that of the soles, not of the line between the feet: one foot before the other is no turn. `part`
    (k,) says which foot a point is of. Soles whose points are within `spread` [m] of each other say little about the
    heading: then it stays near `yaw`.
    """
    a, b = (_from_middle(points[:, :2], part) for points in (planned, measured))
    found = math.atan2(float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum()), float((a * b).sum()))
    size = float((a * a).sum()) / len(a)
    yaw += math.remainder(found - yaw, 2.0 * math.pi) * size / (size + spread**2)
    layout = PlanPlacement(yaw, np.zeros(3))
    shift = measured.mean(axis=0) - layout.rotation @ planned.mean(axis=0)
    shift[2] = rise
    return PlanPlacement(yaw, shift)


def _from_middle(points: Array, part: Ints) -> Array:
    """Returns points (k, 2) as seen from the middle of those of the same part."""
    out = np.empty_like(points)
    for one in set(part.tolist()):
        own = part == one
        out[own] = points[own] - points[own].mean(axis=0)
    return out


def followed(layout: PlanPlacement, goal: PlanPlacement, share: float) -> PlanPlacement:
    """Returns the layout moved towards a goal by a share of the way."""
    yaw = layout.yaw + share * math.remainder(goal.yaw - layout.yaw, 2.0 * math.pi)
    return PlanPlacement(yaw, layout.shift + share * (goal.shift - layout.shift))


def laid(state: PlannedState, layout: PlanPlacement, speed: float) -> PlannedState:
    """Returns the plan's state in the world, passed through at `speed` times its own speed."""
    R, shift = layout.rotation, layout.shift
    q, v, a = state.q.copy(), state.v * speed, state.a * speed**2
    q[:3] = R @ q[:3] + shift
    turn = np.array([math.cos(0.5 * layout.yaw), 0.0, 0.0, math.sin(0.5 * layout.yaw)])
    q[3:7] = spatial.multiply(turn, q[3:7])
    v[:3], a[:3] = R @ v[:3], R @ a[:3]
    rates = np.array([1.0, speed, speed**2])
    com = (state.com @ R.T) * rates[:, None]
    points = (state.points @ R.T) * rates[:, None, None]
    com[0] += shift
    points[0] += shift
    spin = (state.spin @ R.T) * np.array([[speed], [speed**2]])
    return PlannedState(q, v, a, com, spin, points)
