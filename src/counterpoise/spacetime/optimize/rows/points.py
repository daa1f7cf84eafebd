"""Points above planes, the fast path of `FeatureRows`: many points, each at frames of its own, in one block."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import dofs_moving
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.rows.base import SplineRows


class PointRows(SplineRows):
    """A point's coordinate along a direction, between bounds: n . p of row i at frame[i]."""

    def __init__(
        self, e: MotionEvaluation, layout: Layout, name: str, frames: Ints, points: Ints, directions: Array,
        low: Array, high: Array, labels: tuple[str, ...],
    ) -> None:  # fmt: skip
        """`points` (rows,) are the evaluation's, `directions` (rows, 3) unit vectors."""
        self.name, self.frame, self.points, self.directions = name, frames, points, directions
        self.low, self.high, self.labels = low, high, labels
        moved = dofs_moving(e.character)[e.point_bodies[np.unique(points)]].any(axis=0)
        self.prepare(e, layout, np.flatnonzero(moved).astype(np.int64))

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return np.asarray((e.P[self.frame, self.points] * self.directions).sum(axis=1))

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        self.write(e, out, np.einsum("ni,nid->nd", self.directions, e.J[self.frame, self.points]))
