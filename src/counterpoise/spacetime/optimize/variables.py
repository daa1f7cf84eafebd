"""The variables of a motion: where they lie, what bounds them, and where they start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.motion.poses import layout_of
from counterpoise.spacetime.optimize.asks import Key
from counterpoise.spacetime.optimize.frames import WIDTH, Frames
from counterpoise.spacetime.optimize.guess import place_of
from counterpoise.spacetime.optimize.holds import Hold
from counterpoise.spacetime.optimize.moments import Timeline, seconds
from counterpoise.spacetime.optimize.rows.base import Layout


def lay_out(character: Character, timeline: Timeline, holds: list[Hold], frames: Frames, torques: int) -> Layout:
    """Coefficients, then free moments, places of contacts, their multipliers, and `torques` at every knot."""
    c, nv = timeline.coefficients, character.nv
    at = c * nv
    moments = np.full(len(timeline.moments), -1, np.int64)
    for k in timeline.free:
        moments[k] = at
        at += 1
    places = []
    for _ in holds:
        places.append(at)
        at += 4
    forces = []
    for hold in holds:
        on = (frames.phase[: frames.knots] >= hold.first) & (frames.phase[: frames.knots] < hold.last)
        forces.append(at)
        at += int(on.sum()) * hold.multipliers
    return Layout(nv, c, moments, timeline.times, places, forces, at, at + frames.knots * torques)


def fit(character: Character, timeline: Timeline, frames: Frames, layout: Layout, q: Array) -> Array:
    """Variables whose curve passes through the guess at the knots: numbers by interpolation, rotations zero."""
    at, k = layout_of(character), frames.knots
    values = np.zeros((k, character.nv))
    values[:, at.vector_v] = q[:k, at.vector_q]
    slopes = {}
    for p in timeline.phases:  # at the ends as the chords there
        first, *_, last = np.flatnonzero(frames.phase[:k] == p.index).tolist()
        slopes[first] = (values[first + 1] - values[first]) / (p.breaks[1] - p.breaks[0])
        slopes[last] = (values[last] - values[last - 1]) / (p.breaks[-1] - p.breaks[-2])
    x = np.zeros(layout.size)
    x[: layout.coefficients * character.nv] = fit_coordinates(timeline, frames, values, slopes).ravel()
    for i, var in enumerate(layout.moments):
        if var >= 0:
            x[var] = layout.fixed_times[i]
    return x


def fit_coordinates(timeline: Timeline, frames: Frames, values: Array, slopes: dict[int, Array]) -> Array:
    """Coefficients (c, nv) through values (knots, nv), with slopes (by s) at the knots that end phases."""
    X = np.zeros((timeline.coefficients, values.shape[1]))
    for p in timeline.phases:
        on = np.flatnonzero(frames.phase[: frames.knots] == p.index)
        A = np.zeros((len(on) + 2, p.coefficients))
        for r, (i, order) in enumerate([*((i, 0) for i in on), (on[0], 1), (on[-1], 1)]):
            A[r, frames.first[i] - p.first : frames.first[i] - p.first + WIDTH] = frames.B[i, order]
        ends = np.stack([slopes[int(on[0])], slopes[int(on[-1])]])
        X[p.first : p.first + p.coefficients] = np.linalg.solve(A, np.concatenate([values[on], ends]))
    return X


def bounds(character: Character, layout: Layout, timeline: Timeline, holds: list[Hold]) -> tuple[Array, Array]:
    """A hinge's coefficients stay in its range, so the whole curve does (a spline stays in the hull of them)."""
    low, high = np.full(layout.size, -np.inf), np.full(layout.size, np.inf)
    c, nv = layout.coefficients, character.nv
    L, H = low[: c * nv].reshape(c, nv), high[: c * nv].reshape(c, nv)
    limits = character.limits
    for d, a, b in zip(limits.range_dof, limits.range_low, limits.range_high, strict=True):
        L[:, d], H[:, d] = a, b
    for v in layout_of(character).rotation_v:
        L[:, v : v + 3], H[:, v : v + 3] = -5.0, 5.0
    for k, var in enumerate(layout.moments):
        if var >= 0:
            low[var], high[var] = timeline.low[k], timeline.high[k]
    weight = character.mass * 9.81
    ends = [*layout.forces[1:], layout.torques][: len(holds)]
    for hold, start, end in zip(holds, layout.forces, ends, strict=True):
        a, b = hold.bounds(weight)
        times = (end - start) // hold.multipliers
        low[start:end], high[start:end] = np.tile(a, times), np.tile(b, times)
    return low, high


def start_contacts(
    character: Character, layout: Layout, holds: list[Hold], keys: Sequence[Key], timeline: Timeline, guess: Motion,
    x: Array, low: Array, high: Array,
) -> None:  # fmt: skip
    """Where contacts are to begin with, which of that is fixed, and forces that carry the weight."""
    weight_at: dict[int, int] = {}
    for hold in holds:
        for p in range(hold.first, hold.last):
            weight_at[p] = weight_at.get(p, 0) + 1
    for hold, var, lam, end in zip(
        holds, layout.places, layout.forces, [*layout.forces[1:], layout.torques][: len(holds)], strict=True
    ):
        anchor = None
        for key in keys:
            p, s = timeline.locate(key.time)
            if key.whole and (hold.first <= p < hold.last or (s == 0.0 and p == hold.last)):
                anchor = place_of(character, hold, np.asarray(key.pose, float), seconds(key.time))
                break
        t0, t1 = timeline.times[hold.first], timeline.times[hold.last]
        middle = 0.5 * (t0 + t1)
        found = place_of(character, hold, guess.sample(float(np.clip(middle, guess.start, guess.end))).q, middle)
        value, free = found.copy(), np.array([True, True, False, True])
        if hold.touch.how in ("flat", "heel", "toe"):
            value[2] = 0.0
        if hold.touch.place is not None:
            given = np.asarray(hold.touch.place, float)
            s0 = hold.surface(float(t0))
            if given.shape == (3,):
                value[:3] = np.asarray(s0.rotation).T @ (given - s0.origin)
            elif given.shape == (2,):
                value[:2], value[2] = given, 0.0
            else:
                raise BadValue(f"the place of {hold.label!r} is (x, y) or (x, y, z); got {hold.touch.place!r}")
            free[:3] = False
        elif hold.touch.how == "point":
            value[2] = 0.0
        if hold.touch.facing is not None:
            value[3], free[3] = hold.touch.facing, False
        if anchor is not None:
            value, free = anchor, np.zeros(4, bool)
        if not hold.facing:
            free[3] = False
        x[var : var + 4] = value
        low[var : var + 4] = np.where(free, -np.inf, value)
        high[var : var + 4] = np.where(free, np.inf, value)
        m, g = hold.generators.shape[:2]
        share = np.zeros(hold.multipliers)
        if hold.signed:
            share[2] = 1.0
        else:
            share[: m * g] = 1.0 / (m * g)
        frames = (end - lam) // hold.multipliers
        x[lam:end] = np.tile(share / max(weight_at.get(hold.first, 1), 1), frames)
