"""The end of a motion is its beginning again: rows that close a cycle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.rows.base import RowBlock, SplineRows, dof_names


class SamePoseRows(RowBlock):
    """Poses at two frames agree: numbers equal (the root's place moved on), rotations by log(R0^T R1) = 0."""

    def __init__(
        self, e: MotionEvaluation, layout: Layout, travel: Sequence[float | None], first: int, last: int
    ) -> None:
        """`travel` (x, y) [m] moves the root on; None leaves it free."""
        self.name, self.first, self.last = "cycle", first, last
        character, at = e.character, e.layout
        skipped = {d for d, t in enumerate(travel) if t is None and character.floating}
        self.vectors = np.array([d for d in at.vector_v if int(d) not in skipped], np.int64)
        self.shift = np.zeros(character.nv)
        self.shift[:2] = [0.0 if t is None else t for t in travel]
        self.dofs = np.concatenate([self.vectors, *(np.arange(v, v + 3) for v in at.rotation_v)]).astype(np.int64)
        self.frame = np.full(len(self.dofs), last, np.int64)
        self.low = self.high = np.zeros(len(self.dofs))
        self.labels = tuple(np.array(dof_names(character))[self.dofs])
        self.sides = [_PoseRows(e, layout, np.full(len(self.dofs), f, np.int64)) for f in (first, last)]

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        at = e.layout
        q0, q1 = e.q[self.first], e.q[self.last]
        place = dict(zip(at.vector_v.tolist(), at.vector_q.tolist(), strict=True))
        numbers = [q1[place[int(d)]] - q0[place[int(d)]] - self.shift[d] for d in self.vectors]
        turns = [spatial.difference(q0[o : o + 4], q1[o : o + 4]) for o in at.rotation_q]
        return np.concatenate([np.array(numbers), *turns])

    def pattern(self) -> tuple[Ints, Ints]:
        (r0, c0), (r1, c1) = (side.pattern() for side in self.sides)
        return np.concatenate([r0, r1]), np.concatenate([c0, c1])

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        at, nv = e.layout, e.character.nv
        G0, G1 = np.zeros((len(self.dofs), nv)), np.zeros((len(self.dofs), nv))
        n = len(self.vectors)
        G0[np.arange(n), self.vectors], G1[np.arange(n), self.vectors] = -1.0, 1.0
        for k, (o, v) in enumerate(zip(at.rotation_q, at.rotation_v, strict=True)):
            r = spatial.difference(e.q[self.first, o : o + 4], e.q[self.last, o : o + 4])
            rows = slice(n + 3 * k, n + 3 * k + 3)
            G0[rows, v : v + 3] = -spatial.left_jacobian_inverse(r)
            G1[rows, v : v + 3] = spatial.right_jacobian_inverse(r)
        split = len(self.sides[0].pattern()[0])
        self.sides[0].write(e, out[:split], G0)
        self.sides[1].write(e, out[split:], G1)


class _PoseRows(SplineRows):
    """Rows of the pose at one frame whose derivatives are given from outside: one side of `SamePoseRows`."""

    def __init__(self, e: MotionEvaluation, layout: Layout, frame: Ints) -> None:
        self.frame = frame
        self.prepare(e, layout, np.arange(e.character.nv))

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return np.zeros(len(self.frame))

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        out[:] = 0.0
