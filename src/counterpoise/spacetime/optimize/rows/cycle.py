"""The end of a motion is its beginning again: rows that close a cycle."""

from __future__ import annotations

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.asks import Cycle
from counterpoise.spacetime.optimize.frames import Evaluation
from counterpoise.spacetime.optimize.rows.base import Block, Layout, Seam, _Spline, dof_names


class SamePose(Block):
    """Poses at two frames agree: numbers equal (the root's place moved on), rotations by log(R0^T R1) = 0."""

    def __init__(self, e: Evaluation, layout: Layout, cycle: Cycle, first: int, last: int) -> None:
        self.name = "cycle"
        who, at = e.character, e.layout
        self.first, self.last = first, last
        skipped = {int(d) for d, t in zip((0, 1), cycle.travel, strict=True) if t is None and who.floating}
        self.vectors = np.array([d for d in at.vector_v if int(d) not in skipped], np.int64)
        self.shift = np.zeros(who.nv)
        for d, t in zip((0, 1), cycle.travel, strict=True):
            self.shift[d] = 0.0 if t is None else t
        self.dofs = np.concatenate([self.vectors, *(np.arange(v, v + 3) for v in at.rotation_v)]).astype(np.int64)
        self.frame = np.full(len(self.dofs), last, np.int64)
        self.low = self.high = np.zeros(len(self.dofs))
        self.labels = tuple(np.array(dof_names(who))[self.dofs])
        self.sides = [_At(e, layout, np.full(len(self.dofs), f, np.int64)) for f in (first, last)]

    def values(self, e: Evaluation, x: Array) -> Array:
        at = e.layout
        q0, q1 = e.q[self.first], e.q[self.last]
        place = dict(zip(at.vector_v.tolist(), at.vector_q.tolist(), strict=True))
        numbers = [q1[place[int(d)]] - q0[place[int(d)]] - self.shift[d] for d in self.vectors]
        turns = [spatial.difference(q0[o : o + 4], q1[o : o + 4]) for o in at.rotation_q]
        return np.concatenate([np.array(numbers), *turns])

    def pattern(self) -> tuple[Ints, Ints]:
        (r0, c0), (r1, c1) = (side.pattern() for side in self.sides)
        self._split = len(r0)
        return np.concatenate([r0, r1]), np.concatenate([c0, c1])

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        at, nv = e.layout, e.character.nv
        G0, G1 = np.zeros((len(self.dofs), nv)), np.zeros((len(self.dofs), nv))
        n = len(self.vectors)
        G0[np.arange(n), self.vectors], G1[np.arange(n), self.vectors] = -1.0, 1.0
        for k, (o, v) in enumerate(zip(at.rotation_q, at.rotation_v, strict=True)):
            r = spatial.difference(e.q[self.first, o : o + 4], e.q[self.last, o : o + 4])
            rows = slice(n + 3 * k, n + 3 * k + 3)
            G0[rows, v : v + 3], G1[rows, v : v + 3] = (
                -spatial.left_jacobian_inverse(r),
                spatial.right_jacobian_inverse(r),
            )
        self.sides[0].fill(e, G0, out[: self._split])
        self.sides[1].fill(e, G1, out[self._split :])


class _At(_Spline):
    """Rows of the pose at one frame, with derivatives given from outside."""

    def __init__(self, e: Evaluation, layout: Layout, frame: Ints) -> None:
        self.frame = frame
        self._prepare(e, layout, np.arange(e.character.nv), timed=False)

    def pattern(self) -> tuple[Ints, Ints]:
        return self._spline_pattern()

    def values(self, e: Evaluation, x: Array) -> Array:
        return np.zeros(len(self.frame))

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        out[:] = 0.0

    def fill(self, e: Evaluation, G: Array, out: Array) -> None:
        self._spline_derivatives(e, G, None, None, out)


class SameSpeed(Seam):
    """Velocities at two frames agree."""

    def __init__(self, e: Evaluation, layout: Layout, first: int, last: int) -> None:
        super().__init__(e, layout, np.array([first]), np.array([last]))
        self.name = "cycle's velocity"
