"""Any goal at any frames: the one block of rows through which features enter the optimiser."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.features import PlaneDistance
from counterpoise.features.goal import Goal
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.rows.base import RowBlock, SplineRows
from counterpoise.spacetime.optimize.rows.points import PointRows


class FeatureRows(SplineRows):
    """low <= value <= high of a feature, or its error from a target = 0, at frames."""

    def __init__(self, e: MotionEvaluation, layout: Layout, goal: Goal, frames: Ints, name: str) -> None:
        self.goal, self.frames, self.name = goal, frames, name
        self.kinds, self.weight = goal.feature.labels, goal.weight
        self.size = goal.feature.jacobian(e.kinematics(frames[:1])).shape[-2]
        self.frame = np.repeat(frames, self.size)
        low, high = goal.bounds(self.size)
        self.low, self.high = np.tile(low, len(frames)), np.tile(high, len(frames))
        moved = goal.feature.moved_by(e.character)
        self.prepare(e, layout, np.flatnonzero(moved).astype(np.int64))

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        kinematics, goal = e.kinematics(self.frames), self.goal
        value = goal.feature.value(kinematics) if goal.bounded else goal.error(kinematics)[0]
        return value.reshape(-1)

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        kinematics, goal = e.kinematics(self.frames), self.goal
        J = goal.feature.jacobian(kinematics) if goal.bounded else goal.error(kinematics)[1]
        self.write(e, out, np.ascontiguousarray(J.reshape(-1, e.character.nv)))


def goal_rows(e: MotionEvaluation, layout: Layout, goal: Goal, frames: Ints, name: str = "") -> RowBlock:
    """Returns the rows of a goal at frames: compiled for points above planes, generic for all other features."""
    plane = goal.feature
    if isinstance(plane, PlaneDistance):
        n, label = len(frames), name or goal.name
        point = e.point(e.character.body_id(plane.body), np.asarray(plane.point, float))
        low, high = (np.full(n, float(b[0])) for b in goal.bounds(1))
        shift = float(plane.unit_normal @ np.asarray(plane.origin, float))
        shift += 0.0 if goal.bounded else float(goal.aim[0])
        rows = PointRows(
            e, layout, label, frames, np.full(n, point), np.tile(plane.unit_normal, (n, 1)), low + shift, high + shift,
            (plane.body,) * n,
        )  # fmt: skip
        rows.weight = goal.weight
        return rows
    return FeatureRows(e, layout, goal, frames, name or goal.name)
