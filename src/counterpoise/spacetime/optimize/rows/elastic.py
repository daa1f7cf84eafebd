"""Rows with slack: each may be violated by a variable of its own, which costs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.rows.base import RowBlock


class ElasticRows(RowBlock):
    """low <= g(x) - s <= high, where each slack s costs price / 2 s^2."""

    may_have_slack: ClassVar[bool] = False  # it has

    def __init__(self, block: RowBlock, price: float, asked: bool, first: int = -1) -> None:
        """`asked`: the user wants a cost instead of a constraint. `first` is the variable of the first slack."""
        self.block, self.price, self.asked, self.first = block, price, asked, first
        self.name, self.frame, self.low, self.high = block.name, block.frame, block.low, block.high
        self.kinds, self.labels = block.kinds, block.labels

    def at(self, first: int) -> ElasticRows:
        """Returns the same rows with their slacks from another variable on."""
        return ElasticRows(self.block, self.price, self.asked, first)

    @property
    def slacks(self) -> slice:
        """The variables of its slacks."""
        return slice(self.first, self.first + len(self))

    def missing(self, e: MotionEvaluation, x: Array) -> Array:
        """Returns the slacks with which a candidate holds the rows."""
        values = self.block.values(e, x)
        return np.asarray(values - np.clip(values, self.low, self.high))

    def pattern(self) -> tuple[Ints, Ints]:
        rows, cols = self.block.pattern()
        n = np.arange(len(self))
        return np.concatenate([rows, n]), np.concatenate([cols, self.first + n])

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return self.block.values(e, x) - x[self.slacks]

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        n = len(self)
        self.block.derivatives(e, x, out[:-n])
        out[-n:] = -1.0
