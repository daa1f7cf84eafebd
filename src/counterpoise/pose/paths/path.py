"""Path: where a point of a body goes, and when (after Bawa 1995).

A path is a smooth curve through a few control points and a timing. Either every point has its own time, and the curve
is the C2 spline through them in time. Or the curve is a shape that is passed between `start` and `end` by a speed
profile over its length: after a fraction u of the time the point has passed the fraction s(u) of the length.

    wave = Path.through("hand_right", [(0.3, -0.3, 1.2), (0.4, -0.1, 1.5), (0.3, 0.2, 1.2)], duration=1.5, speed="ease")
    drawn = Path.from_stroke("hand_left", samples)        # (n, 4): t, x, y, z as they were recorded
    drawn = drawn.moved(2, (0.4, 0.3, 1.1)).retimed(2.0)  # control points lie on the curve and can be moved
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.roles import other_side
from counterpoise.errors import BadValue
from counterpoise.motion.timed import Timed
from counterpoise.pose.goals import Orient, PoseGoal, Reach
from counterpoise.pose.paths.checks import (
    checked_duration,
    checked_place,
    checked_places,
    checked_quaternions,
    checked_times,
    finite_times,
)
from counterpoise.pose.paths.curve import PathCurve
from counterpoise.pose.paths.speeds import Speed, speed_profile
from counterpoise.pose.paths.strokes import fit_stroke, read_stroke


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
            raise BadValue(f"a path needs the name of a body, not {self.body!r}")
        points, times = checked_places(self.points), checked_times(self.times)
        if len(points) < 2:
            raise BadValue(f"a path needs at least two points; got {len(points)}")
        if len(points) != len(times):
            raise BadValue(f"a path has a time for every point; got {len(points)} points and {len(times)} times")
        if not (np.isfinite(self.weight) and self.weight > 0.0):
            raise BadValue(f"a path's weight is a positive number; got {self.weight!r}")
        turns = None if self.turns is None else checked_quaternions(self.turns, len(points))
        if self.speed is not None:
            speed_profile(self.speed)
        for array in (points, times, turns):
            if array is not None:
                array.flags.writeable = False
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "turns", turns)
        object.__setattr__(self, "point", checked_place(self.point))

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
        places = checked_places(points)
        if (duration is None) == (times is None):
            raise BadValue("a path takes a `duration` (with a speed profile) or `times` for its points, one of the two")
        if times is not None and speed is not None:
            raise BadValue("a speed profile goes with a `duration`; points with `times` have their speed already")
        if duration is not None:
            speed = "constant" if speed is None else speed
            when = start + np.linspace(0.0, 1.0, len(places)) * checked_duration(duration)
        else:
            when = checked_times(times) + start
        facing = None if turns is None else np.asarray(turns)
        made = Path(body, places, when, checked_place(point), speed, facing, weight)
        return made._timed()

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
        samples; None estimates the tremor of the hand from the samples. Pauses stay pauses; samples of the same moment
        are averaged.
        """
        t, x = read_stroke(samples, times)
        knots, places = fit_stroke(t, x, smoothing)
        return Path(body, places, knots, checked_place(point), weight=weight)

    # -- reading ----------------------------------------------------------------------------------------------------
    @property
    def length(self) -> float:
        """Length of the curve [m]."""
        return self._curve.length

    def at(self, t: ArrayLike) -> Array:
        """Returns where the point should be at t, (3,), or (..., 3) for an array of times."""
        return self._curve.shape(self._curve.parameter(finite_times(t))).value

    def velocity(self, t: ArrayLike) -> Array:
        """Returns how fast the point should move at t [m/s]; zero outside the path's time."""
        when, curve = finite_times(t), self._curve
        inside = ((when >= self.start) & (when <= self.end))[..., None]
        if self.speed is None:
            return np.where(inside, curve.shape(when).velocity, 0.0)
        slope = curve.shape(curve.parameter(when)).velocity
        size = np.linalg.norm(slope, axis=-1, keepdims=True)
        along = np.divide(slope, size, out=np.zeros_like(slope), where=size > 1e-12)
        return np.where(inside, along * curve.speed(when)[..., None], 0.0)

    def turn_at(self, t: ArrayLike) -> Array | None:
        """Returns the body's orientation at t, (4,) or (..., 4); None when the path has no orientations."""
        turning = self._curve.turning
        return None if turning is None else turning(self._curve.parameter(finite_times(t))).value

    def goals(self, t: float) -> list[PoseGoal]:
        """Returns the goals of a pose at time t: to reach the place, and to turn if the path has orientations."""
        wanted: list[PoseGoal] = [Reach(self.body, tuple(self.at(t).tolist()), self.point, self.weight)]
        turn = self.turn_at(t)
        return wanted if turn is None else [*wanted, Orient(self.body, tuple(turn.tolist()), self.weight)]

    @cached_property
    def _curve(self) -> PathCurve:
        return PathCurve(self.points, self.times, self.speed, self.turns)

    # -- changing ---------------------------------------------------------------------------------------------------
    def moved(self, index: int, place: ArrayLike) -> Path:
        """Returns the path with one control point elsewhere."""
        points = self.points.copy()
        points[self._index(index)] = checked_place(place)
        return replace(self, points=points)._timed()

    def with_point(
        self, place: ArrayLike, index: int | None = None, time: float | None = None, turn: ArrayLike | None = None
    ) -> Path:
        """Returns the path with one more control point, before point `index` (None: by its `time`, or at the end)."""
        here = checked_place(place)
        if time is not None:
            checked_times([time])
            if index is None:
                index = int(np.searchsorted(self.times, time))
        at = len(self.times) if index is None else int(index)
        if not 0 <= at <= len(self.times):
            raise BadValue(f"a point goes before one of 0 ... {len(self.times)}; got {index}")
        if time is None:
            time = self._time_before(at)
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
        return replace(self, points=np.insert(self.points, at, here, axis=0), times=times, turns=turns)._timed()

    def without_point(self, index: int) -> Path:
        """Returns the path with one control point fewer; its start and end change if those of its points go."""
        at = self._index(index)
        if len(self.points) == 2:
            raise BadValue("a path needs at least two points; this one has no more")
        turns = None if self.turns is None else np.delete(self.turns, at, axis=0)
        times = np.delete(self.times, at)
        if self.speed is not None:
            times = np.linspace(self.start, self.end, len(times))
        return replace(self, points=np.delete(self.points, at, axis=0), times=times, turns=turns)._timed()

    def retimed(
        self, duration: float | None = None, start: float | None = None, times: ArrayLike | None = None
    ) -> Path:
        """Returns the same curve in another `duration`, from another `start`, or with own `times` for every point."""
        if times is not None:
            if duration is not None or start is not None:
                raise BadValue("a path is retimed by `times`, or by `duration` and `start`")
            return replace(self, times=checked_times(times), speed=None)
        first = self.start if start is None else float(checked_times([start])[0])
        factor = 1.0 if duration is None else checked_duration(duration) / self.duration
        return replace(self, times=first + (self.times - self.start) * factor)

    def with_speed(self, speed: Speed, duration: float | None = None) -> Path:
        """Returns the curve through the same points with a speed profile instead of their own times."""
        speed_profile(speed)
        timed = self if duration is None else self.retimed(duration)
        return replace(timed, speed=speed)._timed()

    def shifted(self, seconds: float) -> Path:
        """Returns the same path, later by `seconds`."""
        return replace(self, times=self.times + float(seconds))

    def translated(self, by: ArrayLike) -> Path:
        """Returns the same path elsewhere: all points moved by a vector [m]."""
        return replace(self, points=self.points + np.array(checked_place(by)))

    def reversed(self) -> Path:
        """Returns the path backwards, in the same span of time; a speed profile runs as before from the new start."""
        turns = None if self.turns is None else self.turns[::-1]
        times = self.start + (self.end - self.times[::-1])
        return replace(self, points=self.points[::-1], times=times, turns=turns)._timed()

    def mirrored(self, body: str | None = None) -> Path:
        """Returns the mirror image (y to -y), of the body on the other side by name unless another is given."""
        flip = np.array([1.0, -1.0, 1.0])
        turns = None if self.turns is None else self.turns * np.array([1.0, -1.0, 1.0, -1.0])
        x, y, z = self.point
        other = body if body is not None else other_side(self.body)
        return replace(self, body=other, points=self.points * flip, turns=turns, point=(x, -y, z))

    def _timed(self) -> Path:
        """Returns the path with the times at which its points are passed, where it has a speed profile."""
        return self if self.speed is None else replace(self, times=self._curve.passing_times)

    def _index(self, index: int) -> int:
        if not -len(self.points) <= index < len(self.points):
            raise BadValue(f"this path has points 0 ... {len(self.points) - 1}; got {index}")
        return index % len(self.points)

    def _time_before(self, at: int) -> float:
        """Returns a time for a new point before point `at`: halfway, or one step beyond an end."""
        if self.speed is not None and at in (0, len(self.times)):  # the same time for a longer curve
            return self.start if at == 0 else self.end
        step = self.duration / (len(self.times) - 1)
        before = self.times[at - 1] if at > 0 else self.times[0] - 2.0 * step
        after = self.times[at] if at < len(self.times) else self.times[-1] + 2.0 * step
        return 0.5 * float(before + after)
