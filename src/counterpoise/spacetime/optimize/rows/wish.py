"""Wishes as rows: places of points and of the CoM, facing, the apex of a flight."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.aggregate.kernels import momentum_batch
from counterpoise.spacetime.optimize.asks import Apex, Facing, Place
from counterpoise.spacetime.optimize.frames import Evaluation
from counterpoise.spacetime.optimize.moments import seconds
from counterpoise.spacetime.optimize.rows.base import Block, Layout, Spot, _Spline

G = 9.81


def make_wish(
    e: Evaluation, layout: Layout, wish: Place | Facing | Apex, frame: int, points: list[tuple[int, Array]],
    turns: list[int],
) -> Block:  # fmt: skip
    """The rows of a wish at its frame."""
    who = e.character
    if isinstance(wish, Apex):
        return ApexRow(e, layout, wish, frame, _centres(e, points))
    if isinstance(wish, Facing):
        return FacingRow(e, layout, wish, frame, turns.index(who.body_id(wish.body or who.root)))
    axes = [k for k in range(3) if wish.position[k] is not None]
    values = np.array([float(wish.position[k]) for k in axes])  # type: ignore[arg-type]
    low, high = values - wish.within, values + wish.within
    name = wish.name or f"{wish.body} at {seconds(wish.time):g} s"
    if wish.body == "com":
        return ComRow(e, layout, name, frame, np.array(axes), low, high, _centres(e, points))
    body, local = who.body_id(wish.body), np.asarray(wish.point, float)
    at = next(i for i, (b, p) in enumerate(points) if b == body and np.array_equal(p, local))
    n = len(axes)
    return Spot(
        e, layout, name, np.full(n, frame), np.full(n, at), np.eye(3)[axes], low, high,
        tuple("xyz"[k] for k in axes),
    )  # fmt: skip


def _centres(e: Evaluation, points: list[tuple[int, Array]]) -> tuple[Ints, Array]:
    """Which points are the bodies' own centres of mass, and their shares of the whole."""
    m = e.character.model
    at, share = [], []
    for b in range(1, m.nbody):
        if m.body_mass[b] <= 0.0:
            continue
        at.append(next(i for i, (o, p) in enumerate(points) if o == b and np.array_equal(p, m.body_ipos[b])))
        share.append(float(m.body_mass[b]))
    return np.array(at, np.int64), np.array(share) / sum(share)


class ComRow(_Spline):
    """Coordinates of the CoM between bounds."""

    def __init__(
        self, e: Evaluation, layout: Layout, name: str, frame: int, axes: Ints, low: Array, high: Array,
        centres: tuple[Ints, Array],
    ) -> None:  # fmt: skip
        self.name, self.axes, self.low, self.high, self.centres = name, axes, low, high, centres
        self.frame = np.full(len(axes), frame, np.int64)
        self.kinds = tuple("xyz"[k] for k in axes)
        self._prepare(e, layout, np.arange(e.character.nv), timed=False)

    def pattern(self) -> tuple[Ints, Ints]:
        return self._spline_pattern()

    def values(self, e: Evaluation, x: Array) -> Array:
        at, share = self.centres
        return np.asarray((share @ e.P[self.frame[0], at])[self.axes])

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        at, share = self.centres
        J = np.einsum("k,kid->id", share, e.J[self.frame[0], at])
        self._spline_derivatives(e, np.ascontiguousarray(J[self.axes]), None, None, out)


class ApexRow(_Spline):
    """z + z'^2 / 2g of the CoM: the height it will reach, or has come from, in free flight."""

    def __init__(self, e: Evaluation, layout: Layout, wish: Apex, frame: int, centres: tuple[Ints, Array]) -> None:
        self.name, self.centres = wish.name or "apex", centres
        self.frame = np.array([frame], np.int64)
        self.low = np.array([-np.inf if wish.sense == "at most" else wish.height])
        self.high = np.array([np.inf if wish.sense == "at least" else wish.height])
        self._prepare(e, layout, np.arange(e.character.nv), timed=True)

    def pattern(self) -> tuple[Ints, Ints]:
        return self._spline_pattern()

    def _speed(self, e: Evaluation) -> float:
        at, share = self.centres
        return float(share @ e.V[self.frame[0], at, 2])

    def values(self, e: Evaluation, x: Array) -> Array:
        at, share = self.centres
        return np.array([float(share @ e.P[self.frame[0], at, 2]) + self._speed(e) ** 2 / (2.0 * G)])

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        """By the pose through z and z', by the velocity through z'."""
        at, share = self.centres
        i, k = self.frame[0], self._speed(e) / G
        J = np.einsum("k,kd->d", share, e.J[i, at, 2])
        rate = _speed_by_pose(e, i)
        self._spline_derivatives(e, (J + k * rate)[None], (k * J)[None], None, out)


def _speed_by_pose(e: Evaluation, frame: int) -> Array:
    """d(J v)_z/dq of the CoM: the momentum's derivative by the pose, divided by the mass."""
    nv = e.character.nv
    H, Hq, Hv = np.zeros((1, 6)), np.zeros((1, 6, nv)), np.zeros((1, 6, nv))
    momentum_batch(
        e.tables, e.q[frame : frame + 1], e.v[frame : frame + 1], np.zeros((1, 3)), np.zeros((1, 3)), H, Hq, Hv
    )
    return np.asarray(Hq[0, 5] / e.character.mass)


class FacingRow(_Spline):
    """The body's x axis points the way asked, seen from above."""

    def __init__(self, e: Evaluation, layout: Layout, wish: Facing, frame: int, turn: int) -> None:
        self.name = wish.name or f"facing at {seconds(wish.time):g} s"
        self.frame = np.array([frame], np.int64)
        self.low = self.high = np.zeros(1)
        self.turn, self.across = turn, np.array([-np.sin(wish.yaw), np.cos(wish.yaw), 0.0])
        self._prepare(e, layout, np.arange(e.character.nv), timed=False)

    def pattern(self) -> tuple[Ints, Ints]:
        return self._spline_pattern()

    def values(self, e: Evaluation, x: Array) -> Array:
        return np.array([self.across @ e.M[self.frame[0], self.turn][:, 0]])

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        u = e.M[self.frame[0], self.turn][:, 0]
        G = np.cross(u, self.across) @ e.K[self.frame[0], self.turn]
        self._spline_derivatives(e, np.ascontiguousarray(G)[None], None, None, out)
