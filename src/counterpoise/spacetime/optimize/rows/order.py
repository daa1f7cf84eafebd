"""Free moments stay in order."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.rows.base import RowBlock

SHORTEST_FREE_PHASE = 0.05  # [s] between two free moments


class OrderRows(RowBlock):
    """Each of two neighbouring free moments comes at least so many seconds after the one before."""

    may_have_slack: ClassVar[bool] = False

    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        self.name = "order of moments"
        self.pairs = np.array(pairs, np.int64)
        self.frame = np.zeros(len(pairs), np.int64)
        self.low, self.high = np.full(len(pairs), SHORTEST_FREE_PHASE), np.full(len(pairs), np.inf)

    def pattern(self) -> tuple[Ints, Ints]:
        return np.repeat(np.arange(len(self.pairs)), 2), self.pairs.ravel()

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return np.asarray(x[self.pairs[:, 1]] - x[self.pairs[:, 0]])

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        out[:] = np.tile([-1.0, 1.0], len(self.pairs))


def order_rows(layout: Layout) -> list[RowBlock]:
    """Returns the rows of all pairs of neighbouring free moments."""
    pairs = [
        (int(a), int(b)) for a, b in zip(layout.moments[:-1], layout.moments[1:], strict=True) if a >= 0 and b >= 0
    ]
    return [OrderRows(pairs)] if pairs else []
