"""Constraints of a motion as blocks of rows, each with names, bounds, a fixed sparsity pattern and exact first
derivatives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.frames import WIDTH
from counterpoise.spacetime.optimize.layout import Layout


class RowBlock(ABC):
    """Rows low <= g(x) <= high, each at one frame."""

    name: str
    frame: Ints  # (rows,) the frame each row belongs to
    low: Array
    high: Array
    kinds: tuple[str, ...] = ()  # names of the rows of one frame, repeating
    labels: tuple[str, ...] = ()  # or a name for every row
    weight: float = 1.0  # of the rows' errors where they are a cost
    may_have_slack: ClassVar[bool] = True  # whether it may be violated to find what is impossible

    def __len__(self) -> int:
        return len(self.low)

    def label(self, row: int) -> str:
        """Returns the name of a row in reports."""
        names = self.labels or self.kinds
        return f"{self.name} {names[row % len(names)]}".strip() if names else self.name

    @abstractmethod
    def pattern(self) -> tuple[Ints, Ints]:
        """Returns (row in this block, variable) of every derivative that may differ from zero."""

    @abstractmethod
    def values(self, e: MotionEvaluation, x: Array) -> Array:
        """Returns g (rows,) at the candidate that was evaluated last."""

    @abstractmethod
    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        """Writes the derivatives in the pattern's order."""


class SplineRows(RowBlock):
    """Rows that depend on the pose (and its rates) at one frame each, over some dofs, and on the phase's duration."""

    def prepare(
        self, e: MotionEvaluation, layout: Layout, dofs: Ints, timed: bool = False, keep: Flags | None = None
    ) -> None:
        """Sets up the pattern: `dofs` that rows depend on, of which `keep` (rows, dofs) says which row on which.

        `timed` rows depend on the duration of their phase.
        """
        self.dofs = dofs
        columns = e.columns(self.frame, dofs)
        self._slopes = np.empty((len(self.frame), len(dofs), WIDTH))
        self._by_duration = np.empty(len(self.frame))
        self._keep = None if keep is None else np.broadcast_to(keep[:, :, None], columns.shape)
        rows = np.broadcast_to(np.arange(len(self.frame))[:, None, None], columns.shape)
        phase = e.frames.phase[self.frame]
        ends = np.stack([layout.moments[phase], layout.moments[phase + 1]], axis=1)
        self._timed_rows, side = np.nonzero(ends >= 0) if timed else (np.empty(0, np.int64), np.empty(0, np.int64))
        self._sign = np.where(side == 1, 1.0, -1.0)
        self._pattern = (
            np.concatenate([rows.ravel() if keep is None else rows[self._keep], self._timed_rows]).astype(np.int64),
            np.concatenate(
                [columns.ravel() if keep is None else columns[self._keep], ends[self._timed_rows, side]]
            ).astype(np.int64),
        )

    def pattern(self) -> tuple[Ints, Ints]:
        return self._pattern

    def write(
        self, e: MotionEvaluation, out: Array, Gq: Array, Gv: Array | None = None, Ga: Array | None = None
    ) -> int:
        """Writes derivatives given by pose, velocity and acceleration (rows, nv). Returns how many were written."""
        e.chain(self.frame, Gq, Gv, Ga, self.dofs, self._slopes, self._by_duration)
        own = self._slopes.ravel() if self._keep is None else self._slopes[self._keep]
        n, end = len(own), len(self._pattern[0])
        out[:n] = own
        out[n:end] = self._by_duration[self._timed_rows] * self._sign
        return end


def dof_names(character: Character) -> tuple[str, ...]:
    """Returns a name for every dof: `knee_left`, `hip_left y`."""
    out: list[str] = []
    for joint in character.joints:
        n = joint.dofs.stop - joint.dofs.start
        marks = {1: ("",), 3: (" x", " y", " z"), 6: (" x", " y", " z", " turn x", " turn y", " turn z")}
        out += [f"{joint.name}{mark}" for mark in marks.get(n, tuple(f" {k}" for k in range(n)))]
    return tuple(out)
