"""Paths: where a point of a body goes, and when (after Bawa 1995).

A path is a smooth curve through a few control points and a timing. Either every point has its own time, and the curve
is the C2 spline through them in time; or the curve is a shape, run through between `start` and `end` by a speed profile
over its length: after a fraction u of the time the point has gone the fraction s(u) of the way.

    wave = Path.through("hand_right", [(0.3, -0.3, 1.2), (0.4, -0.1, 1.5), (0.3, 0.2, 1.2)], duration=1.5, speed="ease")
    drawn = Path.from_stroke("hand_left", samples)        # (n, 4): t, x, y, z as they were recorded
    drawn = drawn.moved(2, (0.4, 0.3, 1.1)).retimed(2.0)  # control points lie on the curve and can be moved
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.curves import EASINGS, RotationCurve, VectorCurve
from counterpoise.motion.timed import Timed
from counterpoise.pose.checks import FARTHEST
from counterpoise.pose.goals import Orient, PoseGoal, Reach
from counterpoise.pose.strokes import fit_stroke, read_stroke

Speed: TypeAlias = str | Callable[[Array], Any]
"""A speed profile: a word of `SPEEDS`, or s(u) from [0, 1] to [0, 1] for arrays."""

SPEEDS: dict[str, str] = {
    "constant": "linear",
    "ease": "smoother",
    "ease_in": "in",
    "ease_out": "out",
    **{name: name for name in EASINGS},
}
"""Words for speed profiles, and the easing each stands for."""

LATEST = 1e6  # [s]
_PIECES = 24  # of every stretch between two points, for the length along it
_SAME = 1e-9  # [m]: points nearer than this are one


@dataclass(frozen=True, eq=False)
class Path(Timed):
    """Where a point of a body goes. Build it with `Path.through` or `Path.from_stroke`; a change returns a new path.

    Before its first time the path stays at its beginning, after its last at its end. `turns` are orientations of the
    body at the control points, if it should turn as well.
    """

    body: str
    points: Array  # (k, 3) [m], world, on the curve
    times: Array  # (k,) [s]; with a speed profile only the first and the last count
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)  # in the body's frame [m]
    speed: Speed | None = None  # None: every point has its own time
    turns: Array | None = None  # (k, 4) quaternions
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.body, str):
            raise BadValue(f"a path is of a body's name, not {self.body!r}")
        points, times = _places(self.points), _times(self.times)
        if len(points) < 2:
            raise BadValue(f"a path needs at least two points; got {len(points)}")
        if len(points) != len(times):
            raise BadValue(f"a path has a time for every point; got {len(points)} points and {len(times)} times")
        if not (np.isfinite(self.weight) and self.weight > 0.0):
            raise BadValue(f"a path's weight is a positive number; got {self.weight!r}")
        turns = None if self.turns is None else _quaternions(self.turns, len(points))
        if self.speed is not None:
            _profile(self.speed)
        for array in (points, times, turns):
            if array is not None:
                array.flags.writeable = False
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "turns", turns)
        object.__setattr__(self, "point", _place(self.point))

    def __repr__(self) -> str:
        return f"Path({self.body!r}: {len(self.points)} points, {self.length:.3g} m, {self.start:g} ... {self.end:g} s)"

    # -- making -----------------------------------------------------------------------------------------------------
    @staticmethod
    def through(
        body: str,
        points: ArrayLike,
        duration: float | None = None,
        times: ArrayLike | None = None,
        speed: Speed | None = None,
        start: float = 0.0,
        point: ArrayLike = (0.0, 0.0, 0.0),
        turns: ArrayLike | None = None,
        weight: float = 1.0,
    ) -> Path:
        """The path through points (k, 3): in `duration` seconds with a speed profile ("constant"), or at `times`."""
        places = _places(points)
        if (duration is None) == (times is None):
            raise BadValue("a path takes a `duration` (with a speed profile) or `times` for its points, one of the two")
        if times is not None and speed is not None:
            raise BadValue("a speed profile goes with a `duration`; points with `times` have their speed already")
        if duration is not None:
            speed = "constant" if speed is None else speed
            when = start + np.linspace(0.0, 1.0, max(len(places), 2)) * _duration(duration)
        else:
            when = _times(times) + start
        facing = None if turns is None else np.asarray(turns)
        made = Path(body, places, when[: len(places)], _place(point), speed, facing, weight)
        return made if speed is None else replace(made, times=made._passing)

    @staticmethod
    def from_stroke(
        body: str,
        samples: ArrayLike,
        times: ArrayLike | None = None,
        smoothing: float | None = None,
        point: ArrayLike = (0.0, 0.0, 0.0),
        weight: float = 1.0,
    ) -> Path:
        """The path of a recorded stroke: samples (n, 4) of t, x, y, z, or points (n, 3) with `times`.

        Fitted by a spline in time with as few control points as come within `smoothing` [m, root mean square] of the
        samples; None estimates the hand's tremble from the samples. Pauses stay pauses; samples of the same moment are
        averaged.
        """
        t, x = read_stroke(samples, times)
        knots, places = fit_stroke(t, x, smoothing)
        return Path(body, places, knots, _place(point), weight=weight)

    # -- asking -----------------------------------------------------------------------------------------------------
    @property
    def length(self) -> float:
        """Of the way along the curve [m]."""
        return float(self._ways[1][-1])

    def at(self, t: ArrayLike) -> Array:
        """Where the point should be at t, (3,), or (..., 3) for an array of times."""
        when = _moments(t)
        return self._shape(self._parameter(when)).value

    def velocity(self, t: ArrayLike) -> Array:
        """How fast the point should move at t [m/s]; zero outside the path's time."""
        when = _moments(t)
        inside = ((when >= self.start) & (when <= self.end))[..., None]
        if self.speed is None:
            return np.where(inside, self._shape(when).velocity, 0.0)
        slope = self._shape(self._parameter(when)).velocity
        size = np.linalg.norm(slope, axis=-1, keepdims=True)
        along = np.divide(slope, size, out=np.zeros_like(slope), where=size > 1e-12)
        return np.where(inside, along * self._rate(when)[..., None], 0.0)

    def turn_at(self, t: ArrayLike) -> Array | None:
        """The body's orientation at t, (4,) or (..., 4); None when the path does not speak of it."""
        curve = self._turning
        return None if curve is None else curve(self._parameter(_moments(t))).value

    def goals(self, t: float) -> list[PoseGoal]:
        """What a pose at time t should do: reach the place, and turn if the path says so."""
        wanted: list[PoseGoal] = [Reach(self.body, tuple(self.at(t).tolist()), self.point, self.weight)]
        turn = self.turn_at(t)
        return wanted if turn is None else [*wanted, Orient(self.body, tuple(turn.tolist()), self.weight)]

    # -- changing ---------------------------------------------------------------------------------------------------
    def moved(self, index: int, place: ArrayLike) -> Path:
        """One control point elsewhere."""
        points = self.points.copy()
        points[self._index(index)] = _place(place)
        return self._changed(points, self.times, self.turns)

    def with_point(
        self, place: ArrayLike, index: int | None = None, time: float | None = None, turn: ArrayLike | None = None
    ) -> Path:
        """One more control point, before point `index` (None: by its `time`, or at the end)."""
        here = _place(place)
        if time is not None:
            _times([time])
            if index is None:
                index = int(np.searchsorted(self.times, time))
        at = len(self.times) if index is None else int(index)
        if not 0 <= at <= len(self.times):
            raise BadValue(f"a point goes before one of 0 ... {len(self.times)}; got {index}")
        if time is None:
            step = self.duration / (len(self.times) - 1)
            before = self.times[at - 1] if at > 0 else self.times[0] - 2.0 * step
            after = self.times[at] if at < len(self.times) else self.times[-1] + 2.0 * step
            time = 0.5 * float(before + after)
            if self.speed is not None and at in (0, len(self.times)):  # the same time for a longer way
                time = self.start if at == 0 else self.end
        turns = self.turns
        if turns is not None:
            facing = self.turn_at(float(time)) if turn is None else np.asarray(turn, dtype=np.float64)
            assert facing is not None
            turns = np.insert(turns, at, facing, axis=0)
        elif turn is not None:
            raise BadValue("this path has no orientations; give `turns` for all its points when it is made")
        times = np.insert(self.times, at, time)
        if self.speed is not None:
            times = np.linspace(times[0], times[-1], len(times))
        return self._changed(np.insert(self.points, at, here, axis=0), times, turns)

    def without_point(self, index: int) -> Path:
        """One control point fewer; the path keeps its beginning and its end in time only if those stay."""
        at = self._index(index)
        if len(self.points) == 2:
            raise BadValue("a path needs at least two points; this one has no more")
        turns = None if self.turns is None else np.delete(self.turns, at, axis=0)
        times = np.delete(self.times, at)
        if self.speed is not None:
            times = np.linspace(self.start, self.end, len(times))
        return self._changed(np.delete(self.points, at, axis=0), times, turns)

    def retimed(
        self, duration: float | None = None, start: float | None = None, times: ArrayLike | None = None
    ) -> Path:
        """The same way in another `duration`, from another `start`, or with `times` of its own for every point."""
        if times is not None:
            if duration is not None or start is not None:
                raise BadValue("a path is retimed by `times`, or by `duration` and `start`")
            return replace(self, times=_times(times), speed=None)
        first = self.start if start is None else float(_times([start])[0])
        factor = 1.0 if duration is None else _duration(duration) / self.duration
        return replace(self, times=first + (self.times - self.start) * factor)

    def with_speed(self, speed: Speed, duration: float | None = None) -> Path:
        """The curve through the same points, run through by a speed profile instead of their own times."""
        _profile(speed)
        timed = self if duration is None else self.retimed(duration)
        return self._changed(timed.points, timed.times, timed.turns, speed)

    def shifted(self, seconds: float) -> Path:
        """The same path, later by `seconds`."""
        return replace(self, times=self.times + float(seconds))

    def translated(self, by: ArrayLike) -> Path:
        """The same path elsewhere: all points moved by a vector [m]."""
        return replace(self, points=self.points + np.array(_place(by)))

    def reversed(self) -> Path:
        """The same way back, in the same span of time; a speed profile runs as before, from the new beginning."""
        turns = None if self.turns is None else self.turns[::-1]
        times = self.start + (self.end - self.times[::-1])
        return self._changed(self.points[::-1], times, turns)

    def mirrored(self, body: str | None = None) -> Path:
        """The left-right mirror image (y to -y), of the body of the other side by name unless another is given."""
        flip = np.array([1.0, -1.0, 1.0])
        turns = None if self.turns is None else self.turns * np.array([1.0, -1.0, 1.0, -1.0])
        x, y, z = self.point
        other = body if body is not None else _other_side(self.body)
        return replace(self, body=other, points=self.points * flip, turns=turns, point=(x, -y, z))

    def _changed(self, points: Array, times: Array, turns: Array | None, speed: Speed | None = None) -> Path:
        made = replace(self, points=points, times=times, turns=turns, speed=self.speed if speed is None else speed)
        return made if made.speed is None else replace(made, times=made._passing)

    def _index(self, index: int) -> int:
        if not -len(self.points) <= index < len(self.points):
            raise BadValue(f"this path has points 0 ... {len(self.points) - 1}; got {index}")
        return index % len(self.points)

    # -- the curve --------------------------------------------------------------------------------------------------
    @cached_property
    def _apart(self) -> Ints:
        """The points that count for the shape: all, or with a speed profile those that differ from the one before."""
        if self.speed is None:
            return np.arange(len(self.points))
        gaps = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        kept = np.concatenate([[0], 1 + np.flatnonzero(gaps > _SAME)])
        return kept if len(kept) > 1 else np.array([0, len(self.points) - 1])

    @cached_property
    def _parameters(self) -> Array:
        """Times; or, for a shape without times, sums of the roots of the chords (centripetal: no loops at bends)."""
        if self.speed is None:
            return self.times
        gaps = np.linalg.norm(np.diff(self.points[self._apart], axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(np.sqrt(np.maximum(gaps, 1e-12)))])

    @cached_property
    def _shape(self) -> VectorCurve:
        return VectorCurve(self._parameters, self.points[self._apart])

    @cached_property
    def _turning(self) -> RotationCurve | None:
        return None if self.turns is None else RotationCurve(self._parameters, self.turns[self._apart])

    @cached_property
    def _ways(self) -> tuple[Array, Array]:
        """Parameters, finely, and the way along the curve up to each [m] (Gauss-Legendre on every piece)."""
        p = self._parameters
        share = np.arange(_PIECES) / _PIECES
        fine = np.append((p[:-1, None] + np.diff(p)[:, None] * share).ravel(), p[-1])
        nodes, weights = np.polynomial.legendre.leggauss(5)
        half = 0.5 * np.diff(fine)[:, None]
        slopes = self._shape((fine[:-1, None] + half) + half * nodes).velocity
        steps = (np.linalg.norm(slopes, axis=-1) * half) @ weights
        return fine, np.concatenate([[0.0], np.cumsum(steps)])

    @cached_property
    def _by_way(self) -> Callable[[Array], Array]:
        """The parameter after a way [m] along the curve."""
        fine, ways = self._ways
        moving = np.concatenate([[True], np.diff(ways) > 1e-12])
        if moving.sum() < 2:
            return lambda way: np.full(np.shape(way), fine[0])
        slopes = np.linalg.norm(self._shape(fine[moving]).velocity, axis=-1)
        spline = CubicHermiteSpline(ways[moving], fine[moving], 1.0 / np.maximum(slopes, 1e-6 * slopes.max()))
        return lambda way: np.clip(spline(way), fine[0], fine[-1])

    @cached_property
    def _passing(self) -> Array:
        """When each point is passed, with a speed profile [s]; points passed at once are set a hair apart."""
        assert self.speed is not None
        u = np.linspace(0.0, 1.0, 2001)
        gone = np.maximum.accumulate(_profile(self.speed)(u)) * self.length
        fine, ways = self._ways
        at = np.interp(np.interp(self._parameters, fine, ways), gone, u)
        shares = np.linspace(0.0, 1.0, len(self.points))
        shares[self._apart] = at
        if len(self._apart) < len(shares):
            shares = np.interp(np.arange(len(shares)), self._apart, at)
        hair = 1e-9 * np.arange(len(shares))
        shares = np.maximum.accumulate(shares + hair)
        shares = (shares - shares[0]) / (shares[-1] - shares[0])
        return self.start + shares * self.duration

    def _parameter(self, when: Array) -> Array:
        held = np.clip(when, self.start, self.end)
        if self.speed is None:
            return held
        u = (held - self.start) / self.duration
        return self._by_way(_profile(self.speed)(u) * self.length)

    def _rate(self, when: Array) -> Array:
        """Speed along the curve [m/s]."""
        assert self.speed is not None
        u, h, s = (when - self.start) / self.duration, 1e-5, _profile(self.speed)
        low, high = np.clip(u - h, 0.0, 1.0), np.clip(u + h, 0.0, 1.0)
        return (s(high) - s(low)) / np.maximum(high - low, 1e-12) * self.length / self.duration


# ------------------------------------------------------------------------------------------------------- greeting


def _profile(speed: Speed) -> Callable[[Array], Array]:
    """A speed profile as a checked function of arrays."""
    if isinstance(speed, str):
        if speed not in SPEEDS:
            raise unknown_name("speed profile", speed, SPEEDS)
        return EASINGS[SPEEDS[speed]]
    if not callable(speed):
        raise BadValue(f"a speed profile is one of {', '.join(SPEEDS)} or a function s(u); got {speed!r}")

    def told(u: Array) -> Array:
        flat = np.asarray(u, dtype=np.float64)
        try:
            out = np.asarray(speed(flat), dtype=np.float64)
        except (TypeError, ValueError):  # a function of plain numbers
            out = np.array([float(speed(x)) for x in flat.ravel()]).reshape(flat.shape)  # type: ignore[arg-type]
        return np.broadcast_to(out, flat.shape)

    grid = told(np.linspace(0.0, 1.0, 33))
    if not np.isfinite(grid).all() or abs(grid[0]) > 1e-6 or abs(grid[-1] - 1.0) > 1e-6:
        raise BadValue(f"a speed profile goes from s(0) = 0 to s(1) = 1; this one from {grid[0]:.3g} to {grid[-1]:.3g}")
    if grid.min() < -1e-9 or grid.max() > 1.0 + 1e-9:
        raise BadValue("a speed profile stays between 0 and 1: fractions of the way")
    return lambda u: np.clip(told(u), 0.0, 1.0)


def _places(values: ArrayLike) -> Array:
    try:
        out = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadValue("the points of a path are numbers (k, 3) [m]") from None
    if out.ndim != 2 or out.shape[1] != 3:
        raise BadValue(f"the points of a path have shape (k, 3); got {out.shape}", shape=out.shape)
    if not np.isfinite(out).all():
        raise BadValue(f"point {int(np.argwhere(~np.isfinite(out))[0, 0])} of a path holds NaN or infinity")
    if np.abs(out).max(initial=0.0) > FARTHEST:
        raise BadValue(f"a point of a path is {np.abs(out).max():.3g} m away: are these metres? (at most {FARTHEST:g})")
    return out


def _place(value: ArrayLike) -> tuple[float, float, float]:
    x, y, z = _places(np.asarray(value)[None])[0].tolist()
    return x, y, z


def _times(values: ArrayLike | None) -> Array:
    try:
        out = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadValue("the times of a path are numbers [s]") from None
    if out.ndim != 1 or not np.isfinite(out).all():
        raise BadValue("the times of a path are finite numbers [s], one for every point")
    if np.abs(out).max(initial=0.0) > LATEST:
        raise BadValue(f"a path at {np.abs(out).max():.3g} s: are these seconds? (at most {LATEST:g})")
    if np.any(np.diff(out) <= 0.0):
        i = int(np.argmax(np.diff(out) <= 0.0))
        raise BadValue(
            f"the times of a path increase; point {i + 1} at {out[i + 1]:g} s follows {out[i]:g} s", index=i + 1
        )
    return out


def _moments(t: ArrayLike) -> Array:
    out = np.asarray(t, dtype=np.float64)
    if not np.isfinite(out).all():
        raise BadValue("a path is asked at finite times [s]")
    return out


def _duration(value: float) -> float:
    if not (np.isfinite(value) and 0.0 < value <= LATEST):
        raise BadValue(f"a duration is a positive number of seconds (at most {LATEST:g}); got {value!r}")
    return float(value)


def _quaternions(values: ArrayLike, count: int) -> Array:
    out = np.array(values, dtype=np.float64)
    if out.shape != (count, 4) or not np.isfinite(out).all() or np.linalg.norm(out, axis=-1).min() < 1e-6:
        raise BadValue(
            f"orientations of a path are quaternions ({count}, 4), one for every point; got shape {out.shape}"
        )
    return spatial.align_signs(spatial.normalize(out))


def _other_side(body: str) -> str:
    for one, other in (("left", "right"), ("right", "left")):
        if one in body.split("_"):
            return "_".join(other if word == one else word for word in body.split("_"))
    return body
