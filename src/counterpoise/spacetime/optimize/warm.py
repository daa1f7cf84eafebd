"""An earlier result as the start of a new problem: the same motion in its variables, and how the cost has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.motion.poses import layout_of
from counterpoise.spacetime.optimize.build import build_from
from counterpoise.spacetime.optimize.cost import MotionCost
from counterpoise.spacetime.optimize.frames import frame_of
from counterpoise.spacetime.optimize.initial import fit_coordinates
from counterpoise.spacetime.optimize.keys import coordinates, key_target
from counterpoise.spacetime.optimize.moments import seconds
from counterpoise.spacetime.optimize.posture import nearness
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.starting_point import with_finer_knots

if TYPE_CHECKING:
    from counterpoise.spacetime.optimize.result import Result

SLOPE_STEP = 1e-3  # of a phase, for slopes at its ends by differences


def earlier_motion(problem: MotionProblem, warm: Result) -> Array:
    """Returns the earlier motion as a candidate of this problem; contacts and forces too where their numbers agree.

    Rotations are written about the first guess, which moves with the keys: the curve is read off and written anew.
    """
    x, old = problem.start.copy(), warm.problem
    alike = len(warm.x) == len(x) and old.layout.places == problem.layout.places
    c = problem.layout.curve
    if alike:
        x[c:] = warm.x[c:]
    if alike and np.array_equal(old.evaluation.base.quaternion, problem.evaluation.base.quaternion):
        x[:c] = warm.x[:c]
    else:
        x[:c] = _written_anew(problem, warm).ravel()
    return np.clip(x, problem.low, problem.high)


def with_knots_of(problem: MotionProblem, warm: Result) -> MotionProblem:
    """Returns the problem with the knots that were added to the earlier one, where their phases are as many."""
    added = warm.problem.basis.added_knots
    if not added or len(problem.timeline.phases) != len(warm.problem.timeline.phases) or problem.elastic:
        return problem
    return build_from(with_finer_knots(problem.basis, added))


def _written_anew(problem: MotionProblem, warm: Result) -> Array:
    """Coefficients through the earlier motion at the knots, with its slopes at the ends of phases."""
    f = problem.frames
    phase, s = f.phase[: f.knots], f.s[: f.knots]
    values = _read(problem, warm, phase, s)
    ends = np.flatnonzero((s == 0.0) | (s == 1.0))
    way = np.where(s[ends] == 0.0, 1.0, -1.0)
    one, two = (_read(problem, warm, phase[ends], s[ends] + k * SLOPE_STEP * way) for k in (1, 2))
    rates = way[:, None] * (-3.0 * values[ends] + 4.0 * one - two) / (2.0 * SLOPE_STEP)
    return fit_coordinates(problem.timeline, f, values, dict(zip(ends.tolist(), rates, strict=True)))


def _read(problem: MotionProblem, warm: Result, phase: Ints, s: Array) -> Array:
    """The earlier motion's coordinates, as this problem writes them, at (phase, s)."""
    times = problem.timeline.times
    t = times[phase] + s * np.diff(times)[phase]
    q = warm.curve.sample(t).q
    base = problem.guess.sample(np.clip(t, problem.guess.start, problem.guess.end)).q
    return coordinates(problem.character, base[:, layout_of(problem.character).quaternions], q)


def change_of_slope(problem: MotionProblem, warm: Result, x: Array) -> Array:
    """Returns how the cost's slope at x differs from the earlier problem's: soft keys that moved, other preferences.

    The new optimum lies, to first order, where the old motion goes when pushed by this.
    """
    old, cost, e = warm.problem, problem.cost, problem.evaluation
    soft = []
    for key in old.keys:
        if key.soft is not None and seconds(key.time) <= problem.timeline.times[-1]:
            known = any(m is key.time for m in problem.timeline.moments)
            frame = frame_of(problem.timeline, key.time if known else seconds(key.time), problem.frames)
            soft.append((frame, *key_target(problem.character, key, e, frame), key.soft))
    near, goal = nearness(problem.basis, e, old.request.taste)
    before = MotionCost(e, problem.layout, old.cost.weights, goal, near, soft, cost.prices)
    problem.evaluate(x)
    now, then = np.empty(len(x)), np.empty(len(x))
    cost.gradient(e, x, now)
    before.gradient(e, x, then)
    return now - then
