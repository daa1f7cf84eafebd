"""Where the variables of a motion begin, and what bounds them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.motion.poses import layout_of
from counterpoise.spacetime.optimize.frames import WIDTH, Frames
from counterpoise.spacetime.optimize.guess import place_of
from counterpoise.spacetime.optimize.holds import Hold
from counterpoise.spacetime.optimize.impacts import impulse_bounds
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.moments import Timeline, seconds
from counterpoise.spacetime.optimize.starting_point import StartingPoint

LARGEST_TURN = 5.0  # [rad] of a rotation about the first guess


@dataclass(frozen=True, eq=False)
class Variables:
    """A candidate and its bounds, (size,) each."""

    x: Array
    low: Array
    high: Array


def initial_variables(start: StartingPoint, layout: Layout) -> Variables:
    """Returns the first guess as variables, with bounds; torques and slacks are zero and free."""
    x, (low, high) = _fit_guess(start, layout), _bounds(start, layout)
    shared: dict[int, int] = {}  # holds that carry the body together, by phase
    for hold in start.holds:
        for p in range(hold.first, hold.last):
            shared[p] = shared.get(p, 0) + 1
    ends = [*layout.forces[1:], layout.torques]
    for hold, place, first, end in zip(start.holds, layout.places, layout.forces, ends, strict=False):
        value, free = _contact_place(start, hold)
        x[place : place + 4] = value
        low[place : place + 4] = np.where(free, -np.inf, value)
        high[place : place + 4] = np.where(free, np.inf, value)
        x[first:end] = np.tile(_carrying(hold) / max(shared.get(hold.first, 1), 1), (end - first) // hold.multipliers)
    return Variables(x, low, high)


def _carrying(hold: Hold) -> Array:
    """Multipliers with which a contact alone carries the body's weight."""
    m, g = hold.generators.shape[:2]
    out = np.zeros(hold.multipliers)
    if hold.signed:
        out[2] = 1.0
    else:
        out[: m * g] = 1.0 / (m * g)
    return out


def _contact_place(start: StartingPoint, hold: Hold) -> tuple[Array, Array]:
    """Where a contact is at first (x, y, z, facing) and which of that is free."""
    timeline, character, guess = start.timeline, start.character, start.guess
    for key in start.keys:
        p, s = timeline.locate(key.time)
        if key.whole and (hold.first <= p < hold.last or (s == 0.0 and p == hold.last)):
            return place_of(character, hold, np.asarray(key.pose, float), seconds(key.time)), np.zeros(4, bool)
    begins, ends = timeline.times[hold.first], timeline.times[hold.last]
    middle = 0.5 * (begins + ends)
    value = place_of(character, hold, guess.sample(float(np.clip(middle, guess.start, guess.end))).q, middle)
    free = np.array([True, True, False, hold.facing])
    if hold.touch.how != "bar":
        value[2] = 0.0
    if hold.touch.place is not None:
        given = np.asarray(hold.touch.place, float)
        surface = hold.surface(float(begins))
        if given.shape == (3,):
            value[:3] = np.asarray(surface.rotation).T @ (given - surface.origin)
        else:
            value[:2], value[2] = given, 0.0
        free[:3] = False
    if hold.touch.facing is not None:
        value[3], free[3] = hold.touch.facing, False
    return value, free


def _fit_guess(start: StartingPoint, layout: Layout) -> Array:
    """Variables whose curve passes through the guess at the knots: numbers by interpolation, rotations zero."""
    character, timeline, frames, guess = start.character, start.timeline, start.frames, start.guess
    q = guess.sample(np.clip(start.times, guess.start, guess.end)).q
    at, k = layout_of(character), frames.knots
    values = np.zeros((k, character.nv))
    values[:, at.vector_v] = q[:k, at.vector_q]
    slopes = {}
    for p in timeline.phases:  # at the ends those of the chords there
        first, *_, last = np.flatnonzero(frames.phase[:k] == p.index).tolist()
        slopes[first] = (values[first + 1] - values[first]) / (p.breaks[1] - p.breaks[0])
        slopes[last] = (values[last] - values[last - 1]) / (p.breaks[-1] - p.breaks[-2])
    x = np.zeros(layout.size)
    x[: layout.curve] = fit_coordinates(timeline, frames, values, slopes).ravel()
    for i, var in enumerate(layout.moments):
        if var >= 0:
            x[var] = layout.fixed_times[i]
    return x


def fit_coordinates(timeline: Timeline, frames: Frames, values: Array, slopes: dict[int, Array]) -> Array:
    """Returns coefficients (c, nv) through values (knots, nv), with slopes (by s) at the knots that end phases."""
    X = np.zeros((timeline.coefficients, values.shape[1]))
    for p in timeline.phases:
        on = np.flatnonzero(frames.phase[: frames.knots] == p.index)
        A = np.zeros((len(on) + 2, p.coefficients))
        for r, (i, order) in enumerate([*((i, 0) for i in on), (on[0], 1), (on[-1], 1)]):
            A[r, frames.first[i] - p.first : frames.first[i] - p.first + WIDTH] = frames.B[i, order]
        ends = np.stack([slopes[int(on[0])], slopes[int(on[-1])]])
        X[p.first : p.first + p.coefficients] = np.linalg.solve(A, np.concatenate([values[on], ends]))
    return X


def _bounds(start: StartingPoint, layout: Layout) -> tuple[Array, Array]:
    """A hinge's coefficients stay in its range, so the whole curve does (a spline stays in the hull of them)."""
    character, timeline = start.character, start.timeline
    low, high = np.full(layout.size, -np.inf), np.full(layout.size, np.inf)
    L, H = (b[: layout.curve].reshape(-1, character.nv) for b in (low, high))
    limits = character.limits
    for d, a, b in zip(limits.range_dof, limits.range_low, limits.range_high, strict=True):
        L[:, d], H[:, d] = a, b
    for v in layout_of(character).rotation_v:
        L[:, v : v + 3], H[:, v : v + 3] = -LARGEST_TURN, LARGEST_TURN
    for k, var in enumerate(layout.moments):
        if var >= 0:
            low[var], high[var] = timeline.low[k], timeline.high[k]
    for impact, first in zip(start.impacts, layout.impulses, strict=True):
        a, b = impulse_bounds(impact, start.holds, start.impact_torques, character, start.request.impact)
        low[first : first + len(a)], high[first : first + len(a)] = a, b
    ends = [*layout.forces[1:], layout.torques]
    for hold, first, end in zip(start.holds, layout.forces, ends, strict=False):
        a, b = hold.bounds(character.weight)
        times = (end - first) // hold.multipliers
        low[first:end], high[first:end] = np.tile(a, times), np.tile(b, times)
    return low, high
