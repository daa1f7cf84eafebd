"""What the world holds stays where it is."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import dofs_moving
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.holds import Hold
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.rows.base import SplineRows


class ContactRows(SplineRows):
    """The held point, the further points of its sole, and the part's direction stay as the contact's variables say."""

    def __init__(self, e: MotionEvaluation, layout: Layout, hold: Hold, place: int, frames: Ints, times: Array) -> None:
        """`place` is the first of the contact's variables; it holds at `frames`, which are at `times` [s]."""
        self.name, self.hold, self.place, self.frames = hold.label, hold, place, frames
        self.point = e.point(hold.body, hold.point)
        self.level = np.array([e.point(b, p) for b, p in hold.level], np.int64)
        self.turn = e.turn(hold.body)
        self.kinds = ("x", "y", "z", *(f"level {i}" for i in range(len(self.level))), *("turn" for _ in hold.axes))
        self.frame = np.repeat(frames, hold.rows)
        self.low = self.high = np.zeros(len(self.frame))
        surfaces = [hold.surface(float(t)) for t in times]
        self.O, self.S = np.array([s.origin for s in surfaces]), np.array([s.rotation for s in surfaces])
        moved = dofs_moving(e.character)[[hold.body, *(b for b, _ in hold.level)]].any(axis=0)
        self.prepare(e, layout, np.flatnonzero(moved).astype(np.int64))

    def _directions(self, facing: float) -> tuple[Array, Array]:
        """World directions that the part's axes stay across (n, k, 3), and their rate by facing."""
        c, s = np.cos(facing), np.sin(facing)
        R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        dR = np.array([[-s, -c, 0.0], [c, -s, 0.0], [0.0, 0.0, 0.0]])
        own = np.where(self.hold.turned[:, None], self.hold.against @ R.T, self.hold.against)
        rate = np.where(self.hold.turned[:, None], self.hold.against @ dR.T, 0.0)
        return np.einsum("nij,kj->nki", self.S, own), np.einsum("nij,kj->nki", self.S, rate)

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        f, place = self.frames, x[self.place : self.place + 4]
        out = np.empty((len(f), self.hold.rows))
        out[:, :3] = np.einsum("nij,ni->nj", self.S, e.P[f, self.point] - self.O) - place[:3]
        k = len(self.level)
        if k:
            gap = e.P[f[:, None], self.level] - self.O[:, None]
            out[:, 3 : 3 + k] = np.einsum("ni,nki->nk", self.S[:, :, 2], gap) - place[2]
        if len(self.hold.axes):
            A, _ = self._directions(place[3])
            u = np.einsum("nij,kj->nki", e.M[f, self.turn], self.hold.axes)
            out[:, 3 + k :] = (A * u).sum(axis=-1)
        return out.ravel()

    def pattern(self) -> tuple[Ints, Ints]:
        rows, cols = super().pattern()
        n, m, k = len(self.frames), self.hold.rows, len(self.level)
        local = [(j, j) for j in range(3)] + [(3 + j, 2) for j in range(k)]
        local += [(3 + k + j, 3) for j in range(len(self.hold.axes)) if self.hold.turned[j]]
        r = np.array([[i * m + a for a, _ in local] for i in range(n)], np.int64)
        c = np.array([[self.place + b for _, b in local]] * n, np.int64)
        return np.concatenate([rows, r.ravel()]), np.concatenate([cols, c.ravel()])

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        """By the pose: S^T J, and (R u x A) . K for directions; by the contact's own place and facing."""
        f, k = self.frames, len(self.level)
        n, nv = len(f), e.character.nv
        G = np.empty((n, self.hold.rows, nv))
        G[:, :3] = np.einsum("nij,nid->njd", self.S, e.J[f, self.point])
        for j in range(k):
            G[:, 3 + j] = np.einsum("ni,nid->nd", self.S[:, :, 2], e.J[f, self.level[j]])
        by_place = [np.full((n, 3), -1.0), np.full((n, k), -1.0)]
        if len(self.hold.axes):
            A, rate = self._directions(x[self.place + 3])
            u = np.einsum("nij,kj->nki", e.M[f, self.turn], self.hold.axes)
            G[:, 3 + k :] = np.einsum("nki,nid->nkd", np.cross(u, A), e.K[f, self.turn])
            by_place.append((rate * u).sum(axis=-1)[:, self.hold.turned])
        end = self.write(e, out, G.reshape(-1, nv))
        out[end:] = np.concatenate(by_place, axis=1).ravel()
