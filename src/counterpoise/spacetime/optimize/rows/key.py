"""Exact keys."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.rows.base import RowBlock, dof_names


class KeyRows(RowBlock):
    """Coordinates of the curve at a frame have given values: an exact key, whole or in part."""

    def __init__(self, e: MotionEvaluation, frame: int, dofs: Ints, target: Array, name: str) -> None:
        self.name, self.dofs = name, dofs
        self.frame = np.full(len(dofs), frame, np.int64)
        self.low = self.high = np.asarray(target, float)
        self.labels = tuple(np.array(dof_names(e.character))[dofs])
        self.columns = e.columns(np.array([frame]), dofs)[0]  # (dofs, W)
        self.B = e.frames.B[frame, 0]

    def pattern(self) -> tuple[Ints, Ints]:
        rows = np.broadcast_to(np.arange(len(self.dofs))[:, None], self.columns.shape)
        return rows.ravel().astype(np.int64), self.columns.ravel()

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return np.asarray(x[self.columns] @ self.B)

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        out[:] = np.tile(self.B, len(self.dofs))
