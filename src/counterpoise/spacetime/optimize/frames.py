"""The instants at which a motion is looked at, and everything about the body there that constraints need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.motion.poses import layout_of
from counterpoise.spacetime.aggregate.kernels import aggregate_batch
from counterpoise.spacetime.aggregate.places_kernels import places_batch, turns_batch
from counterpoise.spacetime.aggregate.tables import link_tables
from counterpoise.spacetime.optimize.chart import BLOCKS, chain_rows, evaluate_curve
from counterpoise.spacetime.optimize.moments import DEGREE, Time, Timeline

WIDTH = DEGREE + 1


@dataclass(frozen=True, eq=False)
class Base:
    """The curve rotations are written about: at each frame its pose, and its rates by phase time."""

    quaternion: Array  # (n, rotations, 4)
    rate: Array  # (n, rotations, 3) angular velocity by s, body
    bend: Array  # (n, rotations, 3) and its rate by s


@dataclass(frozen=True, eq=False)
class Frames:
    """Instants of a timeline: the knots, where physics holds, and others."""

    phase: Ints  # (n,)
    s: Array  # (n,)
    first: Ints  # (n,) first coefficient
    B: Array  # (n, 3, W)
    knots: int  # the first so many are knots, phase by phase

    def __len__(self) -> int:
        return len(self.phase)


def make_frames(timeline: Timeline, others: Sequence[tuple[int, float]] = ()) -> Frames:
    """All knots of all phases (the seam between two counts twice), then `others` as (phase, s)."""
    phase = [np.full(len(p.breaks), p.index) for p in timeline.phases] + [np.array([k], np.int64) for k, _ in others]
    s = [p.breaks for p in timeline.phases] + [np.array([at]) for _, at in others]
    which, where = np.concatenate(phase).astype(np.int64), np.concatenate(s).astype(float)
    first, B = np.empty(len(which), np.int64), np.empty((len(which), 3, WIDTH))
    for p in timeline.phases:
        at = which == p.index
        first[at], B[at] = p.basis(where[at])
    knots = sum(len(p.breaks) for p in timeline.phases)
    return Frames(which, where, first, B, knots)


def base_of(motion: Motion, timeline: Timeline, frames: Frames) -> Base:
    """A motion as base curve: at seams each side has its own duration, so rates by s differ there."""
    layout = layout_of(motion.character)
    times = timeline.times
    T = np.diff(times)[frames.phase]
    t = times[frames.phase] + frames.s * T
    at = motion.sample(np.clip(t, motion.start, motion.end))
    cols = layout.rotation_v[:, None] + np.arange(3)
    return Base(
        np.ascontiguousarray(at.q[:, layout.quaternions]),
        np.ascontiguousarray(at.v[:, cols] * T[:, None, None]),
        np.ascontiguousarray(at.a[:, cols] * T[:, None, None] ** 2),
    )


class Evaluation:
    """Everything about one candidate: poses, forces and places at all frames. Arrays are reused from call to call."""

    def __init__(
        self, character: Character, timeline: Timeline, frames: Frames, base: Base, about: Array,
        points: tuple[Ints, Array], turns: Ints,
    ) -> None:  # fmt: skip
        self.character, self.timeline, self.frames, self.base, self.about = character, timeline, frames, base, about
        self.layout, self.tables = layout_of(character), link_tables(character)
        n, k, nv, nr = len(frames), frames.knots, character.nv, len(self.layout.rotation_v)
        self.point_bodies, self.point_places = points
        self.turn_bodies = turns
        self.q, self.v, self.a = np.zeros((n, character.nq)), np.zeros((n, nv)), np.zeros((n, nv))
        self.blocks = np.zeros((n, nr, BLOCKS, 3, 3))
        self.F, self.Fq, self.Fv, self.Fa = np.zeros((k, 6)), *np.zeros((3, k, 6, nv))
        self.P, self.V, self.J = (
            np.zeros((n, len(points[0]), 3)), np.zeros((n, len(points[0]), 3)), np.zeros((n, len(points[0]), 3, nv)),
        )  # fmt: skip
        self.M, self.W, self.K = (
            np.zeros((n, len(turns), 3, 3)), np.zeros((n, len(turns), 3)), np.zeros((n, len(turns), 3, nv)),
        )  # fmt: skip
        self.T = np.ones(n)
        self._none = np.zeros((1, 1))

    def update(self, X: Array, times: Array) -> None:
        """Look at the motion with coefficients X (c, nv) and moments `times`."""
        f, b, at = self.frames, self.base, self.layout
        self.times = times
        self.T[:] = np.diff(times)[f.phase]
        evaluate_curve(
            X, f.first, f.B, self.T, b.quaternion, b.rate, b.bend, at.vector_q, at.vector_v, at.rotation_q,
            at.rotation_v, self.q, self.v, self.a, self.blocks,
        )  # fmt: skip
        k = f.knots
        aggregate_batch(self.tables, self.q[:k], self.v[:k], self.a[:k], self.about, self.F, self.Fq, self.Fv, self.Fa)
        if len(self.point_bodies):
            places_batch(self.tables, self.q, self.v, self.point_bodies, self.point_places, self.P, self.V, self.J)
        if len(self.turn_bodies):
            turns_batch(self.tables, self.q, self.v, self.turn_bodies, self.M, self.W, self.K)

    def add_points(self, bodies: Ints, places: Array) -> None:
        """Look at further points of bodies, behind those it looks at."""
        self.point_bodies = np.concatenate([self.point_bodies, bodies])
        self.point_places = np.concatenate([self.point_places, places])
        n, m, nv = len(self.frames), len(self.point_bodies), self.character.nv
        self.P, self.V, self.J = np.zeros((n, m, 3)), np.zeros((n, m, 3)), np.zeros((n, m, 3, nv))
        places_batch(self.tables, self.q, self.v, self.point_bodies, self.point_places, self.P, self.V, self.J)

    def chain(
        self, frame: Ints, Gq: Array, Gv: Array | None, Ga: Array | None, dofs: Ints, out: Array, by_T: Array
    ) -> None:
        """Derivatives by coefficients (rows, dofs, W) and by the phase's duration (rows,) of rows at frames."""
        orders = 1 if Gv is None else 2 if Ga is None else 3
        Gv, Ga = self._none if Gv is None else Gv, self._none if Ga is None else Ga
        chain_rows(
            frame, Gq, Gv, Ga, orders, self.frames.B, self.T, self.v, self.a, self.blocks, self.layout.rotation_v,
            dofs, out, by_T,
        )  # fmt: skip

    def columns(self, frame: Ints, dofs: Ints) -> Ints:
        """Variables (rows, dofs, W) that rows at frames depend on."""
        at = self.frames.first[frame][:, None, None] + np.arange(WIDTH)
        return np.asarray(at * self.character.nv + dofs[None, :, None], np.int64)


def times_of(timeline: Timeline, frames: Frames) -> Array:
    """When frames are, as long as no moment has moved [s]."""
    times = timeline.times
    return np.asarray(times[frames.phase] + frames.s * np.diff(times)[frames.phase])


def frame_of(timeline: Timeline, time: Time, frames: Frames) -> int:
    """The knot at a time, or the nearest of its phase."""
    p, s = timeline.locate(time)
    near = np.flatnonzero((frames.phase[: frames.knots] == p) & (np.abs(frames.s[: frames.knots] - s) < 1e-9))
    if len(near) == 0:
        at = np.flatnonzero(frames.phase[: frames.knots] == p)
        return int(at[np.argmin(np.abs(frames.s[at] - s))])
    return int(near[0])
