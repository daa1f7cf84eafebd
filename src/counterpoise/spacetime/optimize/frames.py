"""The instants at which a motion is evaluated, and the curve its rotations are written about there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.motion.motion import Motion
from counterpoise.motion.poses import layout_of
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


def times_of(timeline: Timeline, frames: Frames) -> Array:
    """Returns the times of frames, as long as no moment has moved [s]."""
    times = timeline.times
    return np.asarray(times[frames.phase] + frames.s * np.diff(times)[frames.phase])


def frame_of(timeline: Timeline, time: Time, frames: Frames) -> int:
    """Returns the knot at a time, or the nearest knot of its phase."""
    p, s = timeline.locate(time)
    near = np.flatnonzero((frames.phase[: frames.knots] == p) & (np.abs(frames.s[: frames.knots] - s) < 1e-9))
    if len(near) == 0:
        at = np.flatnonzero(frames.phase[: frames.knots] == p)
        return int(at[np.argmin(np.abs(frames.s[at] - s))])
    return int(near[0])
