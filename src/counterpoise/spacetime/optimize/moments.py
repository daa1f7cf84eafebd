"""Moments, fixed or free, and the phases between them; each phase has a spline of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline

from counterpoise.arrays import Array, Ints
from counterpoise.errors import BadValue

DEGREE = 3
RATE = 30.0  # knots a second
SHORTEST_PHASE = 0.02  # [s]
TIME_TOLERANCE = 1e-6  # [s] times nearer than this are the same
KNOT_TOLERANCE = 1e-3  # [s] knots are at least this far apart
SAME_PLACE = 1e-9  # share of a phase below which two knots are one


@dataclass(frozen=True, eq=False)
class Moment:
    """An instant the optimiser may move: it begins `at` and stays between `low` and `high` [s]."""

    at: float
    low: float | None = None  # None: half-way to the moment before
    high: float | None = None  # None: half-way to the moment after
    name: str = ""
    minor: bool = False  # whether the bounds of other moments do not depend on it

    def __post_init__(self) -> None:
        for label, value in (("at", self.at), ("low", self.low), ("high", self.high)):
            if value is not None and not np.isfinite(value):
                raise BadValue(f"a moment's {label} is a time in seconds; got {value!r}")
        low, high = self.low, self.high
        if (low is not None and low > self.at) or (high is not None and high < self.at):
            raise BadValue(
                f"a moment lies between its bounds: low <= at <= high; got low={low!r}, at={self.at!r}, high={high!r}"
            )


Time: TypeAlias = float | Moment


def check_time(time: Any, what: str) -> None:
    """Raises where `time` is neither a number nor a Moment."""
    if not isinstance(time, Moment) and not (isinstance(time, (int, float)) and np.isfinite(time)):
        raise BadValue(f"{what} is a time in seconds or a Moment; got {time!r}")


def seconds(time: Time) -> float:
    """Returns a time in seconds; of a Moment where it begins."""
    return time.at if isinstance(time, Moment) else float(time)


@dataclass(frozen=True, eq=False)
class Phase:
    """A stretch of time in which no contact begins or ends: one clamped cubic B-spline with knots at `breaks`."""

    index: int
    breaks: Array  # (intervals + 1,) places of the knots from 0 to 1
    first: int  # its first coefficient; the last is the first of the next phase

    @property
    def intervals(self) -> int:
        return len(self.breaks) - 1

    @property
    def coefficients(self) -> int:
        return self.intervals + DEGREE

    @cached_property
    def spline(self) -> BSpline:
        knots = np.concatenate([np.zeros(DEGREE), self.breaks, np.ones(DEGREE)])
        return BSpline(knots, np.eye(self.coefficients), DEGREE)

    def basis(self, s: ArrayLike) -> tuple[Ints, Array]:
        """First coefficient (global) and basis values (n, 3, W) with derivatives by s, at places s of the phase."""
        at = np.clip(np.asarray(s, float), 0.0, 1.0)
        inside = np.clip(np.searchsorted(self.breaks, at + 1e-12, side="right") - 1, 0, self.intervals - 1)
        cols = inside[:, None] + np.arange(DEGREE + 1)
        out = np.empty((len(at), 3, DEGREE + 1))
        edge = np.minimum(at, 1.0 - 1e-12)  # the last knot belongs to the last interval
        for order in range(3):
            whole = np.asarray(self.spline(edge) if order == 0 else self.spline.derivative(order)(edge))
            out[:, order] = np.take_along_axis(whole, cols, axis=1)
        out[at >= 1.0, 0] = (0.0, 0.0, 0.0, 1.0)  # exact at the end: the last coefficient is the value there
        return (self.first + inside).astype(np.int64), out


@dataclass(frozen=True, eq=False)
class Timeline:
    """The moments of a motion in order, and the phases between them."""

    moments: tuple[Moment, ...]  # first and last are the ends
    low: Array  # (moments,) [s]
    high: Array
    phases: tuple[Phase, ...]

    @property
    def times(self) -> Array:
        return np.array([m.at for m in self.moments])

    @property
    def free(self) -> Ints:
        """Moments the optimiser may move."""
        return np.flatnonzero(self.high - self.low > TIME_TOLERANCE)

    @property
    def coefficients(self) -> int:
        last = self.phases[-1]
        return last.first + last.coefficients

    def moment_of(self, time: Time) -> int | None:
        """Index of the moment a time is, or None where it lies inside a phase."""
        if isinstance(time, Moment):
            for i, m in enumerate(self.moments):
                if m is time:
                    return i
            raise BadValue(f"the moment {time.name or time.at!r} begins or ends nothing; use a number there")
        close = np.flatnonzero(np.abs(self.times - float(time)) <= TIME_TOLERANCE)
        return int(close[0]) if len(close) else None

    def locate(self, time: Time) -> tuple[int, float]:
        """(phase, s) of a time; a moment between two phases is the later one's start, the end the last one's end."""
        at = self.moment_of(time)
        if at is not None:
            return (at, 0.0) if at < len(self.phases) else (len(self.phases) - 1, 1.0)
        t, times = seconds(time), self.times
        if not times[0] - TIME_TOLERANCE <= t <= times[-1] + TIME_TOLERANCE:
            raise BadValue(f"the motion runs from {times[0]:g} s to {times[-1]:g} s; {t:g} s lies outside", time=t)
        p = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(self.phases) - 1))
        return p, float((t - times[p]) / (times[p + 1] - times[p]))


def with_more_knots(timeline: Timeline, places: Sequence[tuple[int, float]]) -> Timeline:
    """Returns a timeline with further knots at (phase, s); those that are there already count once."""
    phases: list[Phase] = []
    first = 0
    for p in timeline.phases:
        own = np.array([s for k, s in places if k == p.index])
        fresh = own[np.abs(own[:, None] - p.breaks).min(axis=1) > SAME_PLACE] if len(own) else own
        phase = Phase(p.index, np.unique(np.concatenate([p.breaks, fresh])), first)
        phases.append(phase)
        first += phase.coefficients - 1
    return replace(timeline, phases=tuple(phases))


def make_timeline(
    duration: Time,
    events: Sequence[Time],
    rate: float,
    inner: Sequence[float] = (),
    fine: Sequence[tuple[float, float, float]] = (),
) -> Timeline:
    """The phases that contact changes cut a motion into, with `rate` knots a second and one at each `inner` time.

    `fine` are stretches (start, end, knots a second) that have a rate of their own.
    """
    for stretch in fine:
        if len(stretch) != 3 or not (np.isfinite(stretch).all() and stretch[0] < stretch[1] and stretch[2] > 0.0):
            raise BadValue(f"a fine stretch is (start, end, knots a second), start < end; got {stretch!r}")
    inner = [*inner, *(t for start, stop, _ in fine for t in (start, stop))]
    end = seconds(duration)
    if not end >= SHORTEST_PHASE:
        raise BadValue(f"a motion lasts at least {SHORTEST_PHASE} s; got a duration of {end!r} s", duration=end)
    if not (np.isfinite(rate) and rate > 0.0):
        raise BadValue(f"knots a second is a positive number; got {rate!r}")
    fixed = [Moment(0.0, 0.0, 0.0, "start")]
    last = duration if isinstance(duration, Moment) else Moment(end, end, end, "end")
    moments: list[Moment] = [*fixed, last]
    for event in events:
        if isinstance(event, Moment):
            if not any(m is event for m in moments):
                moments.append(event)
            continue
        t = float(event)
        if not -TIME_TOLERANCE <= t <= end + TIME_TOLERANCE:
            raise BadValue(f"the motion runs from 0 to {end:g} s; a contact at {t:g} s lies outside", time=t)
        if not any(abs(m.at - t) <= TIME_TOLERANCE for m in moments):
            moments.append(Moment(t, t, t))
    moments.sort(key=lambda m: m.at)
    times = np.array([m.at for m in moments])
    gaps = np.diff(times)
    if len(gaps) and gaps.min() < SHORTEST_PHASE - TIME_TOLERANCE:
        k = int(np.argmin(gaps))
        raise BadValue(
            f"contacts change at {times[k]:g} s and again at {times[k + 1]:g} s: give phases at least "
            f"{SHORTEST_PHASE} s, or make the two one moment"
        )
    low, high = np.empty(len(moments)), np.empty(len(moments))
    for k, m in enumerate(moments):
        before = next((o.at for o in moments[:k][::-1] if not o.minor), m.at)
        after = next((o.at for o in moments[k + 1 :] if not o.minor), 2.0 * m.at - before)
        low[k] = 0.5 * (before + m.at) if m.low is None else m.low
        high[k] = 0.5 * (after + m.at) if m.high is None else m.high
    phases: list[Phase] = []
    first = 0
    for k, gap in enumerate(gaps):
        marks = [(t - times[k]) / gap for t in inner if times[k] + KNOT_TOLERANCE < t < times[k + 1] - KNOT_TOLERANCE]
        cuts = _apart(np.unique([0.0, *marks, 1.0]), KNOT_TOLERANCE / gap)
        parts = []
        for a, b in pairwise(cuts):
            middle = times[k] + 0.5 * (a + b) * gap
            here = next((r for start, stop, r in fine if start <= middle <= stop), rate)
            parts.append(np.linspace(a, b, max(1, int(np.ceil((b - a) * gap * here - 1e-9))) + 1)[:-1])
        breaks = np.append(np.concatenate(parts), 1.0)
        phase = Phase(k, breaks if len(breaks) > 2 else np.array([0.0, 0.5, 1.0]), first)
        phases.append(phase)
        first += phase.coefficients - 1
    return Timeline(tuple(moments), low, high, tuple(phases))


def _apart(marks: Array, least: float) -> Array:
    keep = [marks[0]]
    for m in marks[1:]:
        if m - keep[-1] > least:
            keep.append(m)
    return np.array(keep)
