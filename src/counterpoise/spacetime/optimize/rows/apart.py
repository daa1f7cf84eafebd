"""Parts of the body that do not pass through each other: distances of rods, smooth but where they are parallel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.shapes import Rod, main_rod
from counterpoise.spacetime.optimize.frames import Evaluation
from counterpoise.spacetime.optimize.rows.base import Layout, _Spline, moved_by

TINY = 1e-12
STRICT = 5.0  # scale of the rows: rods that are far inside each other cannot be parted later
NEIGHBOURS = 2  # bodies along the tree that may touch


def rod_pairs(
    character: Character, bodies: Sequence[str] | None = None, others: Sequence[str] | None = None
) -> list[tuple[Rod, Rod]]:
    """Pairs of bodies' main rods: those named, or all that are more than two joints apart and do not meet at rest."""
    m, rest = character.model, character.snapshot()
    names = [str(m.body(b).name) for b in range(1, m.nbody)]
    links = _links(m)

    def place(rod: Rod, local: tuple[float, float, float]) -> Array:
        b = character.body_id(rod.body)
        return np.asarray(rest.body_position[b] + rest.body_rotation[b] @ local)[None]

    rods = {name: main_rod(character, name) for name in {*(bodies or names), *(others or names)}}
    out = []
    for i, one in enumerate(names if bodies is None else bodies):
        for two in names[i + 1 :] if bodies is None and others is None else names if others is None else others:
            a, b = rods[one], rods[two]
            if a is None or b is None or links[character.body_id(one), character.body_id(two)] <= NEIGHBOURS:
                continue
            gap = gap_of_lines(*(place(r, p) for r in (a, b) for p in (r.start, r.end)))
            if float(np.linalg.norm(gap)) > a.radius + b.radius:
                out.append((a, b))
    return out


def _links(m: mujoco.MjModel) -> Ints:
    """(nbody, nbody): how many bodies further along the tree."""
    out = np.full((m.nbody, m.nbody), m.nbody, np.int64)
    out[0, 0] = 0
    for b in range(1, m.nbody):
        out[b, :b] = out[:b, b] = out[int(m.body_parentid[b]), :b] + 1
        out[b, b] = 0
    return out


@dataclass(eq=False)
class ApartPlan:
    """Pairs of rods to be kept apart, and at which knots they already are."""

    name: str
    labels: tuple[str, ...]  # (pairs,)
    ends: Ints  # (pairs, 4) which of the evaluation's points the two rods' ends are
    room: Array  # (pairs,) [m] least distance of their lines
    on: Flags  # (knots,) when
    known: Flags | None = None  # (knots, pairs) rows there are

    def free(self, e: Evaluation) -> Array:
        """(knots, pairs) [m] how far from touching they are; negative: how far inside each other."""
        gap = gap_of_lines(*(e.P[: len(self.on), self.ends[:, i]] for i in range(4)))
        return np.asarray(np.linalg.norm(gap, axis=-1) - self.room)

    def rows(self, e: Evaluation, layout: Layout, reach: float, least: float) -> Apart:
        """New rows: pairs that come nearer than `least` to touching, at all knots where they are within `reach`."""
        free = self.free(e)
        known = np.zeros(free.shape, bool) if self.known is None else self.known
        fresh = (free < reach) & self.on[:, None] & ~known
        fresh &= ((free < least) & self.on[:, None] & ~known).any(axis=0)
        self.known = known | fresh
        frame, pair = np.nonzero(fresh)
        labels = tuple(self.labels[k] for k in pair)
        return Apart(e, layout, self.name, frame.astype(np.int64), self.ends[pair], self.room[pair], labels)


class Apart(_Spline):
    """Two rods at a frame: the distance of their lines is at least their radii.

    By the nearest points' own motion: where on the lines they are does not matter to first order. Only joints between
    the two bodies count.
    """

    def __init__(
        self, e: Evaluation, layout: Layout, name: str, frames: Ints, ends: Ints, room: Array,
        labels: tuple[str, ...],
    ) -> None:  # fmt: skip
        """`ends` (rows, 4): which of the evaluation's points the two rods' ends are."""
        self.name, self.frame, self.ends, self.labels = name, frames, ends, labels
        self.low, self.high = STRICT * room, np.full(len(frames), np.inf)
        moves = moved_by(e)
        one, two = (moves[e.point_bodies[ends[:, i]]] for i in (0, 2))
        between = one ^ two  # what moves both changes nothing
        used = np.flatnonzero(between.any(axis=0)).astype(np.int64)
        self._prepare(e, layout, used, timed=False)
        self._keep = np.broadcast_to(between[:, used, None], self._cols.shape)

    def pattern(self) -> tuple[Ints, Ints]:
        rows = np.broadcast_to(np.arange(len(self.frame))[:, None, None], self._cols.shape)
        return rows[self._keep].astype(np.int64), self._cols[self._keep]

    def _nearest(self, e: Evaluation) -> tuple[Array, Array]:
        """The way between nearest points (n, 3), and the shares (n, 4) of the four ends in it."""
        a, b, c, d = (e.P[self.frame, self.ends[:, i]] for i in range(4))
        s, t = nearest_on_lines(a, b, c, d)
        shares = np.stack([1.0 - s, s, t - 1.0, -t], axis=1)
        return np.einsum("ni,nix->nx", shares, np.stack([a, b, c, d], axis=1)), shares

    def values(self, e: Evaluation, x: Array) -> Array:
        return np.asarray(STRICT * np.linalg.norm(self._nearest(e)[0], axis=1))

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        gap, shares = self._nearest(e)
        way = STRICT * gap / np.maximum(np.linalg.norm(gap, axis=1, keepdims=True), TINY)
        G = np.zeros((len(self.frame), e.character.nv))
        for i in range(4):
            G += shares[:, i, None] * np.einsum("ni,nid->nd", way, e.J[self.frame, self.ends[:, i]])
        e.chain(self.frame, G, None, None, self.dofs, self._out, self._by_T)
        out[:] = self._out[self._keep]


def gap_of_lines(a: Array, b: Array, c: Array, d: Array) -> Array:
    """The way (..., 3) to the nearest point of a-b from that of c-d."""
    s, t = nearest_on_lines(a, b, c, d)
    return np.asarray(a + s[..., None] * (b - a) - c - t[..., None] * (d - c))


def nearest_on_lines(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """Shares s, t in [0, 1] of the nearest points of lines a-b and c-d (n, 3); Ericson 2005, section 5.1.9."""
    u, v, w = b - a, d - c, a - c
    uu, vv, uv = (u * u).sum(-1), (v * v).sum(-1), (u * v).sum(-1)
    uw, vw = (u * w).sum(-1), (v * w).sum(-1)
    denominator = uu * vv - uv * uv
    s = np.where(denominator > TINY, (uv * vw - uw * vv) / np.maximum(denominator, TINY), 0.5)
    s = np.where(vv > TINY, s, -uw / np.maximum(uu, TINY))  # the other is a point
    s = np.clip(np.where(uu > TINY, s, 0.0), 0.0, 1.0)
    t = np.where(vv > TINY, (uv * s + vw) / np.maximum(vv, TINY), 0.0)
    clipped = np.clip(t, 0.0, 1.0)
    again = np.where(uu > TINY, (uv * clipped - uw) / np.maximum(uu, TINY), 0.0)
    return np.where(t == clipped, s, np.clip(again, 0.0, 1.0)), clipped
