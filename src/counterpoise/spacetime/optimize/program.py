"""A motion problem as rows and sparse derivatives for a solver, folded in two where it is its own mirror image."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.symmetry import Image, find_fold, unfolded

IDLE_SLOPE = 1e-12  # derivatives below this at random candidates are zero everywhere


class MotionProgram:
    """All rows of a problem, their pattern, and which of them a solver needs to see.

    Candidates are whole outside; a solver sees them folded in two where the problem is its own mirror image.
    """

    def __init__(self, problem: MotionProblem, image: Image | None = None, strict: bool = True) -> None:
        """`image` mirrors candidates; `strict` asks every row for a mirror image among the rows."""
        self.problem, self.blocks = problem, problem.blocks
        patterns = [b.pattern() for b in self.blocks]
        self.starts = np.cumsum([0, *(len(b) for b in self.blocks)])
        self._rows = np.concatenate([r + s for (r, _), s in zip(patterns, self.starts, strict=False)]).astype(np.int64)
        self._cols = np.concatenate([c for _, c in patterns]).astype(np.int64)
        self._spans = np.cumsum([0, *(len(r) for r, _ in patterns)])
        self.low = np.concatenate([b.low for b in self.blocks])
        self.high = np.concatenate([b.high for b in self.blocks])
        self._slopes = np.empty(len(self._rows))
        self._seen = np.full(problem.variables, np.nan)  # the candidate that was evaluated last ...
        self._updates = -1  # ... and how often the evaluation, which other programs use too, had been updated then
        found = None if image is None else find_fold(problem, image, self.values, self.low, self.high, strict)
        self.symmetric = found is not None
        self.fold = found or unfolded(problem.variables, len(self.low))
        self.used = self._rows_that_change()
        self._gather()

    def _rows_that_change(self) -> Ints:
        """Rows that some variable can change, one of each mirror pair (a planar figure's sideways balance is idle)."""
        moved = np.zeros(len(self.low), bool)
        rng = np.random.default_rng(0)
        for size in (0.0, 1e-2):
            slopes = self.slopes(self.problem.start + size * rng.normal(size=self.problem.variables))
            moved[self._rows[np.abs(slopes) > IDLE_SLOPE]] = True
        return self.fold.rows[moved[self.fold.rows]]

    def _gather(self) -> None:
        """How derivatives for the solver are summed: those by a variable and by its mirror image add up."""
        cost, n = self.problem.cost, self.fold.variables
        at, sign = self.fold.places()
        row = np.full(len(self.low), -1, np.int64)
        row[self.used] = np.arange(len(self.used))
        sums = _summed if self.symmetric else _picked
        self.jacobian_pattern, self.jacobian_gather = sums(row[self._rows], at[self._cols], sign[self._cols], n)
        r, c = at[cost.rows], at[cost.cols]
        weight = sign[cost.rows] * sign[cost.cols] * np.where((r == c) & (cost.rows != cost.cols), 2.0, 1.0)
        self.hessian_pattern, self.hessian_gather = sums(np.maximum(r, c), np.minimum(r, c), weight, n)

    def evaluate(self, x: Array) -> None:
        """Brings the problem's evaluation up to a candidate."""
        if self._updates != self.problem.evaluation.updates or not np.array_equal(x, self._seen):
            self.problem.evaluate(x)
            self._seen[:] = x
            self._updates = self.problem.evaluation.updates

    def values(self, x: Array) -> Array:
        """Returns all rows."""
        self.evaluate(x)
        return np.concatenate([b.values(self.problem.evaluation, x) for b in self.blocks])

    def slopes(self, x: Array) -> Array:
        """Returns the derivatives of all rows, in the blocks' order. The array is reused."""
        self.evaluate(x)
        for b, s, t in zip(self.blocks, self._spans[:-1], self._spans[1:], strict=True):
            b.derivatives(self.problem.evaluation, x, self._slopes[s:t])
        return self._slopes

    def jacobian(self, x: Array) -> Array:
        """Returns the derivatives of the rows a solver sees, in the order of `jacobian_pattern`."""
        return np.asarray(self.jacobian_gather @ self.slopes(x))

    def violation(self, x: Array) -> Array:
        """Returns by how much each row is violated (scaled: body weights, m, rad)."""
        values = self.values(x)
        return np.maximum(np.maximum(self.low - values, values - self.high), 0.0)

    def worst(self, x: Array) -> float:
        """Returns the largest violation."""
        return float(self.violation(x).max(initial=0.0))

    def worst_block(self, violation: Array) -> str:
        """Returns the name of the block with the largest violation."""
        return self.blocks[int(np.searchsorted(self.starts, int(np.argmax(violation)), side="right") - 1)].name


def _summed(rows: Ints, cols: Ints, weight: Array, width: int) -> tuple[tuple[Ints, Ints], Any]:
    """Entries with the same place added up; those with a negative place left out."""
    use = np.flatnonzero((rows >= 0) & (cols >= 0))
    places, slot = np.unique(rows[use] * width + cols[use], return_inverse=True)
    gather = sp.csr_matrix((weight[use], (slot, use)), (len(places), len(rows)))
    return (places // width, places % width), gather


def _picked(rows: Ints, cols: Ints, weight: Array, width: int) -> tuple[tuple[Ints, Ints], Any]:
    """The same where the solver adds up entries with the same place."""
    use = np.flatnonzero((rows >= 0) & (cols >= 0))
    gather = sp.csr_matrix((weight[use], use, np.arange(len(use) + 1)), (len(use), len(rows)))
    return (rows[use], cols[use]), gather
