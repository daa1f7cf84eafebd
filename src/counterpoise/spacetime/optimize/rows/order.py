"""Free moments stay in order."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.frames import Evaluation
from counterpoise.spacetime.optimize.rows.base import Block, Layout

SHORTEST_PHASE = 0.05  # [s]


class Spans(Block):
    """Moments stay in order."""

    def __init__(self, pairs: list[tuple[int, int]], least: float) -> None:
        self.name = "order of moments"
        self.pairs = np.array(pairs, np.int64)
        self.frame = np.zeros(len(pairs), np.int64)
        self.low, self.high = np.full(len(pairs), least), np.full(len(pairs), np.inf)

    def pattern(self) -> tuple[Ints, Ints]:
        return np.repeat(np.arange(len(self.pairs)), 2), self.pairs.ravel()

    def values(self, e: Evaluation, x: Array) -> Array:
        return np.asarray(x[self.pairs[:, 1]] - x[self.pairs[:, 0]])

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        out[:] = np.tile([-1.0, 1.0], len(self.pairs))


def time_rows(layout: Layout) -> list[Block]:
    pairs = [
        (int(a), int(b)) for a, b in zip(layout.moments[:-1], layout.moments[1:], strict=True) if a >= 0 and b >= 0
    ]
    return [Spans(pairs, SHORTEST_PHASE)] if pairs else []
