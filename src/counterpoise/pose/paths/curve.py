"""The curve of a path: a spline through its points, and which of its parameters belongs to which time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from counterpoise.arrays import Array, Ints
from counterpoise.motion.curves import RotationCurve, VectorCurve
from counterpoise.pose.paths.speeds import Speed, speed_profile

PIECES = 24  # of every stretch between two points, for the length along it
SAME_POINT = 1e-9  # [m]: points nearer than this are one
PROFILE_SAMPLES = 2001  # of a speed profile, to find when points are passed
RATE_STEP = 1e-5  # difference of u for the slope of a speed profile


class PathCurve:
    """The spline through points (k, 3), worked out when it is first needed.

    Without a speed profile its parameter is the time. With one, the parameter is the sum of the roots of the chords
    (centripetal: no loops at bends), and the profile says how much of the length is passed at which time.
    """

    def __init__(self, points: Array, times: Array, speed: Speed | None, turns: Array | None) -> None:
        self.points, self.times, self.turns = points, times, turns
        self.start, self.end = float(times[0]), float(times[-1])
        self.profile = None if speed is None else speed_profile(speed)

    @property
    def length(self) -> float:
        """Length of the curve [m]."""
        return float(self._lengths[1][-1])

    def parameter(self, when: Array) -> Array:
        """Returns the parameters at times; the ends before the start and after the end."""
        inside = np.clip(when, self.start, self.end)
        if self.profile is None:
            return inside
        u = (inside - self.start) / (self.end - self.start)
        return self._parameter_at(self.profile(u) * self.length)

    def speed(self, when: Array) -> Array:
        """Returns the speed along the curve at times [m/s], by the speed profile."""
        assert self.profile is not None
        duration, h, s = self.end - self.start, RATE_STEP, self.profile
        u = (when - self.start) / duration
        low, high = np.clip(u - h, 0.0, 1.0), np.clip(u + h, 0.0, 1.0)
        return (s(high) - s(low)) / np.maximum(high - low, 1e-12) * self.length / duration

    @cached_property
    def shape(self) -> VectorCurve:
        return VectorCurve(self._parameters, self.points[self._distinct])

    @cached_property
    def turning(self) -> RotationCurve | None:
        """The curve of the orientations, if the path has any."""
        return None if self.turns is None else RotationCurve(self._parameters, self.turns[self._distinct])

    @cached_property
    def passing_times(self) -> Array:
        """When each point is passed, with a speed profile (k,) [s]; always increasing."""
        assert self.profile is not None
        u = np.linspace(0.0, 1.0, PROFILE_SAMPLES)
        passed = np.maximum.accumulate(self.profile(u)) * self.length
        fine, lengths = self._lengths
        at = np.interp(np.interp(self._parameters, fine, lengths), passed, u)
        shares = np.linspace(0.0, 1.0, len(self.points))
        shares[self._distinct] = at
        if len(self._distinct) < len(shares):
            shares = np.interp(np.arange(len(shares)), self._distinct, at)
        shares = np.maximum.accumulate(shares + 1e-9 * np.arange(len(shares)))  # points passed at once are set apart
        shares = (shares - shares[0]) / (shares[-1] - shares[0])
        return self.start + shares * (self.end - self.start)

    @cached_property
    def _distinct(self) -> Ints:
        """Points that make the shape: all, or with a speed profile those that differ from the one before."""
        if self.profile is None:
            return np.arange(len(self.points))
        gaps = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        kept = np.concatenate([[0], 1 + np.flatnonzero(gaps > SAME_POINT)])
        return kept if len(kept) > 1 else np.array([0, len(self.points) - 1])

    @cached_property
    def _parameters(self) -> Array:
        """Parameters of the distinct points."""
        if self.profile is None:
            return self.times
        gaps = np.linalg.norm(np.diff(self.points[self._distinct], axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(np.sqrt(np.maximum(gaps, 1e-12)))])

    @cached_property
    def _lengths(self) -> tuple[Array, Array]:
        """Parameters on a fine grid, and the length of the curve up to each [m] (Gauss-Legendre on every piece)."""
        p = self._parameters
        share = np.arange(PIECES) / PIECES
        fine = np.append((p[:-1, None] + np.diff(p)[:, None] * share).ravel(), p[-1])
        nodes, weights = np.polynomial.legendre.leggauss(5)
        half = 0.5 * np.diff(fine)[:, None]
        slopes = self.shape((fine[:-1, None] + half) + half * nodes).velocity
        steps = (np.linalg.norm(slopes, axis=-1) * half) @ weights
        return fine, np.concatenate([[0.0], np.cumsum(steps)])

    @cached_property
    def _parameter_at(self) -> Callable[[Array], Array]:
        """The parameter as a function of the length along the curve [m]."""
        fine, lengths = self._lengths
        moving = np.concatenate([[True], np.diff(lengths) > 1e-12])
        if moving.sum() < 2:
            return lambda length: np.full(np.shape(length), fine[0])
        slopes = np.linalg.norm(self.shape(fine[moving]).velocity, axis=-1)
        spline = CubicHermiteSpline(lengths[moving], fine[moving], 1.0 / np.maximum(slopes, 1e-6 * slopes.max()))
        return lambda length: np.clip(spline(length), fine[0], fine[-1])
