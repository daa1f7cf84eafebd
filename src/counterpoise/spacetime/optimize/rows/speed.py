"""Rows of velocities: continuity between phases, and rest at a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.rows.base import RowBlock, SplineRows, dof_names

SPEED_SCALE = 0.1  # [s] rows are velocities times this: 10 rad/s count as much as 1 rad


class SpeedRows(SplineRows):
    """Velocities of some dofs at frames, times a scale; a rotation's depend on all three of its dofs."""

    def __init__(self, e: MotionEvaluation, layout: Layout, frames: Ints, dofs: Ints, scale: float) -> None:
        nv = e.character.nv
        self.frames, self.chosen, self.scale = frames, dofs, scale
        self.frame = np.repeat(frames, len(dofs))
        self.slope = np.tile(scale * np.eye(nv)[dofs], (len(frames), 1))
        self.none = np.zeros_like(self.slope)
        first = np.arange(nv)
        for v in e.layout.rotation_v:
            first[v : v + 3] = v
        same = first[dofs][:, None] == first[None, :]
        self.prepare(e, layout, np.arange(nv), timed=True, keep=np.tile(same, (len(frames), 1)))

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return np.asarray(self.scale * e.v[self.frames][:, self.chosen].ravel())

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        self.write(e, out, self.none, self.slope)


class SeamRows(RowBlock):
    """Velocities at pairs of frames agree: across the seams between phases, where accelerations may jump."""

    may_have_slack: ClassVar[bool] = False

    def __init__(self, e: MotionEvaluation, layout: Layout, before: Ints, after: Ints, name: str) -> None:
        self.name = name
        every = np.arange(e.character.nv)
        self.sides = (
            SpeedRows(e, layout, before, every, SPEED_SCALE),
            SpeedRows(e, layout, after, every, -SPEED_SCALE),
        )
        self.frame = self.sides[1].frame
        self.low = self.high = np.zeros(len(self.frame))
        self.kinds = dof_names(e.character)

    def pattern(self) -> tuple[Ints, Ints]:
        (r0, c0), (r1, c1) = (side.pattern() for side in self.sides)
        return np.concatenate([r0, r1]), np.concatenate([c0, c1])

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return self.sides[0].values(e, x) + self.sides[1].values(e, x)

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        split = len(self.sides[0].pattern()[0])
        self.sides[0].derivatives(e, x, out[:split])
        self.sides[1].derivatives(e, x, out[split:])


class JumpRows(SeamRows):
    """Velocities differ at pairs of frames by variables of their own, which cost."""

    def __init__(self, e: MotionEvaluation, layout: Layout, before: Ints, after: Ints, jumps: Sequence[int]) -> None:
        """`jumps`: the first variable of each pair's."""
        super().__init__(e, layout, before, after, "jump")
        self.own = np.concatenate([first + np.arange(e.character.nv) for first in jumps]).astype(np.int64)

    def pattern(self) -> tuple[Ints, Ints]:
        rows, cols = super().pattern()
        return np.concatenate([rows, np.arange(len(self.own))]), np.concatenate([cols, self.own])

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return super().values(e, x) + x[self.own]

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        super().derivatives(e, x, out[: -len(self.own)])
        out[-len(self.own) :] = 1.0


class KeySpeedRows(SpeedRows):
    """Some dofs move with given velocities at a frame, or not at all."""

    def __init__(
        self, e: MotionEvaluation, layout: Layout, frame: int, dofs: Ints, name: str, velocity: Array | None
    ) -> None:
        """`velocity` (nv,); None: at rest."""
        super().__init__(e, layout, np.array([frame], np.int64), dofs, SPEED_SCALE)
        self.name = f"{name} at rest" if velocity is None else f"{name} velocity"
        self.low = self.high = np.zeros(len(dofs)) if velocity is None else SPEED_SCALE * velocity[dofs]
        self.labels = tuple(np.array(dof_names(e.character))[dofs])
