"""Parts of the body that do not pass through each other: distances of rods, smooth but where they are parallel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kinematics import dofs_moving
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.rods import TINY, gap_of_lines, nearest_on_lines
from counterpoise.spacetime.optimize.rows.base import RowBlock, SplineRows

DISTANCE_SCALE = 5.0  # of the rows: rods that are far inside each other cannot be parted later


@dataclass(frozen=True, eq=False)
class ApartPlan:
    """Pairs of rods to be kept apart, and when."""

    name: str
    labels: tuple[str, ...]  # (pairs,)
    ends: Ints  # (pairs, 4) which of the evaluation's points the two rods' ends are
    room: Array  # (pairs,) [m] least distance of their lines
    on: Flags  # (knots,) when

    def gaps(self, e: MotionEvaluation) -> Array:
        """Returns the distance between surfaces (knots, pairs) [m]; negative: the depth of overlap."""
        gap = gap_of_lines(*(e.P[: len(self.on), self.ends[:, i]] for i in range(4)))
        return np.asarray(np.linalg.norm(gap, axis=-1) - self.room)

    def known(self, blocks: Iterable[RowBlock]) -> Flags:
        """Returns which knots and pairs (knots, pairs) have rows already."""
        out = np.zeros((len(self.on), len(self.labels)), bool)
        for block in blocks:
            own = getattr(block, "block", block)
            if isinstance(own, ApartRows) and own.plan is self:
                out[own.frame, own.pair] = True
        return out

    def rows(self, e: MotionEvaluation, layout: Layout, known: Flags, reach: float, least: float) -> ApartRows:
        """Returns new rows: of pairs that come nearer than `least`, at all knots where they are within `reach`."""
        gaps = self.gaps(e)
        fresh = (gaps < reach) & self.on[:, None] & ~known
        fresh &= ((gaps < least) & self.on[:, None] & ~known).any(axis=0)
        frame, pair = np.nonzero(fresh)
        return ApartRows(e, layout, self, frame.astype(np.int64), pair.astype(np.int64))


class ApartRows(SplineRows):
    """Two rods at a frame: the distance of their lines is at least the sum of their radii.

    The derivative is that of the nearest points' own motion: where on the lines they are does not matter to first
    order. Only dofs between the two bodies count.
    """

    def __init__(self, e: MotionEvaluation, layout: Layout, plan: ApartPlan, frames: Ints, pair: Ints) -> None:
        self.plan, self.name, self.frame, self.pair = plan, plan.name, frames, pair
        self.ends, self.labels = plan.ends[pair], tuple(plan.labels[k] for k in pair)
        self.low, self.high = DISTANCE_SCALE * plan.room[pair], np.full(len(frames), np.inf)
        moves = dofs_moving(e.character)
        one, two = (moves[e.point_bodies[self.ends[:, i]]] for i in (0, 2))
        between = one ^ two
        used = np.flatnonzero(between.any(axis=0)).astype(np.int64)
        self.prepare(e, layout, used, keep=between[:, used])

    def _nearest(self, e: MotionEvaluation) -> tuple[Array, Array]:
        """The way between nearest points (n, 3), and the shares (n, 4) of the four ends in it."""
        a, b, c, d = (e.P[self.frame, self.ends[:, i]] for i in range(4))
        s, t = nearest_on_lines(a, b, c, d)
        shares = np.stack([1.0 - s, s, t - 1.0, -t], axis=1)
        return np.einsum("ni,nix->nx", shares, np.stack([a, b, c, d], axis=1)), shares

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return np.asarray(DISTANCE_SCALE * np.linalg.norm(self._nearest(e)[0], axis=1))

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        gap, shares = self._nearest(e)
        way = DISTANCE_SCALE * gap / np.maximum(np.linalg.norm(gap, axis=1, keepdims=True), TINY)
        G = np.zeros((len(self.frame), e.character.nv))
        for i in range(4):
            G += shares[:, i, None] * np.einsum("ni,nid->nd", way, e.J[self.frame, self.ends[:, i]])
        self.write(e, out, G)
