"""Descent from one start: a quadratic model of the goals, damped, along a path that never leaves the constraints.

Each step minimises a quadratic model (Gauss-Newton, with the points' exact curvature where it helps and stays convex)
under linearised constraints. The step is taken, the constraints are *restored*, and only then is the new pose judged,
by the goals alone. So every accepted pose holds its pins and limits, and no merit function weighs goals against pins.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.pose.core import descend_core
from counterpoise.pose.problem import LIMIT_MARGIN, PoseEvaluation, PoseProblem
from counterpoise.pose.restore import (
    CONSTRAINT_TOLERANCE,
    constrained_step,
    goals_held,
    least_broken,
    pressing_limits,
    restore,
)
from counterpoise.pose.tuning import PoseTuning

_NO_CAP = np.empty(0)
DAMPING_TRIALS = 8  # dampings tried before a step is given up
MIN_DAMPING = 1e-7
LEAST_CURVATURE = 1e-10  # added to the diagonal of the model
NEGLIGIBLE_STEP = 1e-10  # [rad, m]
SMALL_GAIN = 0.5  # relative gain below which the next step uses the exact curvature
SLOW_STEPS = 2  # successive steps without a gain that end the search
SETTLE_SHARES = (1.0, 0.4, 0.16)  # of a step towards the posture, tried in turn
WORTHWHILE_SETTLING = 0.01  # relative decrease of the posture's cost below which settling ends
TRIAL_LEARNING = 0.3  # share of a trial's time that goes into what is expected of the next one
LONG_TRIAL = 3.0  # times what is expected: a longer trial counts as this
MAX_KEPT_DAMPING = 1e3  # with which a frame begins after one that ran out of time
WORTHWHILE_GAIN = 1e-5  # relative gain of the last step above which the general descent goes on from the compiled one


@dataclass
class Descent:
    """Where the descent from one start ended."""

    q: Array
    objective: float
    held: bool  # constraints hold
    reached: bool  # goals are within tolerance
    iterations: int
    multipliers: dict[str, float]  # of limits that keep the constraints from being met, by name
    gain: float = 0.0  # relative decrease of the last step
    late: bool = False  # ended by the clock


def descend(
    problem: PoseProblem,
    q: Array,
    rules: PoseTuning,
    most: int,
    began: float,
    cap: tuple[Array, Array] | None = None,
    warm: dict[str, Any] | None = None,
    polish: bool = True,
) -> Descent:
    """Returns where the goals lead downhill from one start, with the constraints held in every step.

    `most` limits the iterations; `cap` = (pose, furthest) keeps every variable within `furthest` of that pose
    (dragging); `warm` keeps the working set from call to call. With `polish` the general descent goes on where the
    compiled one stops while it still gains.
    """
    if problem.compiled:
        found = _descend_compiled(problem, q, rules, most, cap, warm)
        if found.reached or (found.held and not (polish and found.gain > WORTHWHILE_GAIN)):
            return found
        q = found.q if found.held else q
        most = max(most - found.iterations, 6)
    q, e, held = restore(problem, q, cap)
    if not held and rules.seconds is not None:
        return Descent(q, problem.objective(q, e), False, False, most, {}, late=rules.out_of_time(began))
    if not held:
        q, e = least_broken(problem, q, cap)
        return Descent(q, problem.objective(q, e), False, False, most, pressing_limits(problem, q, e))
    f = problem.objective(q, e)
    mu, done = rules.damping, 0
    weight2, weights = problem.posture**2, problem.joint_weights
    memory = warm if warm is not None else {}
    slow, late = 0, False
    pace = _Pace(rules, began, memory)
    mu = pace.damping(mu)
    while done < most:
        if _reached(problem, e, rules.tolerance):
            q, e, spent = settle_posture(problem, q, rules.settle, cap)
            return Descent(q, problem.objective(q, e), True, True, done + spent, {})
        if pace.is_late():
            late = True
            break
        done += 1
        gradient = e.J.T @ e.r + weight2 * weights * problem.offset(q)
        H = e.J.T @ e.J
        base = 2.0 * f
        stuck = True
        for _ in range(DAMPING_TRIALS):
            if pace.is_late():
                late = True
                break
            model = H.copy()
            diagonal = weights * weight2 + mu * base + LEAST_CURVATURE
            if e.S is not None and _convex(model, e.S, diagonal):
                model += e.S
            model.flat[:: len(model) + 1] += diagonal
            step = constrained_step(problem, q, e, model, gradient, cap, memory)
            if step is None:
                mu = max(10.0 * mu, 1e-6)
                continue
            if np.abs(step).max(initial=0.0) < NEGLIGIBLE_STEP:
                break
            trial, te, ok = restore(problem, problem.moved(q, step), cap, late=pace.is_over)
            tf = problem.objective(trial, te)
            pace.tried()
            if ok and tf < f:
                gain = (f - tf) / max(f, 1e-300)
                q, e, f = trial, te, tf
                mu = max(mu / 5.0, MIN_DAMPING)
                stuck = False
                break
            mu *= 6.0
        if stuck:
            break
        curvature = gain < SMALL_GAIN and not _reached(problem, e, rules.tolerance)
        if curvature:
            e = problem.evaluate(q, curvature=True)
        slow = slow + 1 if gain < rules.flat else 0
        if slow >= SLOW_STEPS:
            break
    pace.keep(mu, late)
    return Descent(q, f, True, _reached(problem, e, rules.tolerance), done, {}, late=late)


class _Pace:
    """Keeps a descent within its time, where it has a limit: it learns how long a trial takes from frame to frame.

    Every frame makes one trial at least, so that a drag goes on whatever the machine does besides. Without a limit by
    the clock it does nothing, and the same problem has the same answer on every machine.
    """

    def __init__(self, rules: PoseTuning, began: float, memory: dict[str, Any]) -> None:
        self.limited = rules.seconds is not None
        self._rules, self._began, self._memory = rules, began, memory
        self._trial = float(memory.get("trial seconds", 0.0))
        self._since, self._trials = (time.perf_counter() if self.limited else 0.0), 0

    def is_late(self) -> bool:
        """Whether another trial would end after the limit."""
        return self.limited and self._trials > 0 and self._rules.out_of_time(self._began, self._trial)

    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.limited and self._rules.out_of_time(self._began)

    def damping(self, usual: float) -> float:
        """Returns the damping to begin with: where the last frame ran out of time, the one it had come to."""
        return float(self._memory.get("damping", usual)) if self.limited else usual

    def tried(self) -> None:
        """Learns from a trial how long the next one takes; one that was interrupted by the machine counts little."""
        if not self.limited:
            return
        now = time.perf_counter()
        took, self._since, self._trials = now - self._since, now, self._trials + 1
        known = self._trial if self._trial > 0.0 else took
        self._trial += TRIAL_LEARNING * (min(took, LONG_TRIAL * known) - self._trial)

    def keep(self, damping: float, late: bool) -> None:
        """Keeps what the next frame begins with."""
        if self.limited:
            self._memory["trial seconds"] = self._trial
            self._memory["damping"] = min(damping, MAX_KEPT_DAMPING) if late else self._rules.damping


def _descend_compiled(
    problem: PoseProblem,
    q: Array,
    rules: PoseTuning,
    most: int,
    cap: tuple[Array, Array] | None,
    warm: dict[str, Any] | None,
) -> Descent:
    """Returns the same descent made by the compiled core."""
    limits = problem.limits
    working = warm.get("working") if warm is not None else None
    if working is None:
        working = np.zeros(len(problem.variables), np.int64), np.zeros(len(limits.ball_rows), np.int64)
    if warm is not None:
        warm["working"] = working
    start = np.array(q)
    q, cost, held, reached, done, gain = descend_core(
        start,
        limits.joints,
        tuple(problem.compiled_goals),
        problem.row_weights,
        (problem.rest, problem.posture, problem.joint_weights),
        (start, _NO_CAP) if cap is None else (np.array(cap[0]), cap[1]),
        (rules.tolerance, rules.damping, most, rules.flat, rules.settle, LIMIT_MARGIN, CONSTRAINT_TOLERANCE),
        working,
    )
    return Descent(q, cost, held, reached, done, {}, gain)


def settle_posture(
    problem: PoseProblem, q: Array, most: int, cap: tuple[Array, Array] | None
) -> tuple[Array, PoseEvaluation, int]:
    """Moves towards the rest posture with the goals held like constraints. Returns (pose, evaluation, iterations)."""
    weights, spent = problem.joint_weights, 0
    for _ in range(most):
        e = goals_held(problem.evaluate(q))
        offset = problem.offset(q)
        before, better = float(offset @ (weights * offset)), False
        step = constrained_step(problem, q, e, np.diag(weights), weights * offset, cap, {})
        spent += 1
        for share in SETTLE_SHARES:
            if step is None:
                break
            trial, _, held = restore(problem, problem.moved(q, share * step), cap, goals=True)
            offset = problem.offset(trial)
            after = float(offset @ (weights * offset))
            if held and after < before:
                q, better = trial, after < (1.0 - WORTHWHILE_SETTLING) * before
                break
        if not better:
            break
    return q, problem.evaluate(q), spent


def _reached(problem: PoseProblem, e: PoseEvaluation, tolerance: float) -> bool:
    """Whether every goal is within tolerance, in its own unit (without weights)."""
    if not len(e.r):
        return True
    sizes = np.square(e.r / problem.row_weights)
    starts = problem.goal_starts
    return bool(np.add.reduceat(sizes, starts).max() <= tolerance**2)


def _convex(model: Array, S: Array, diagonal: Array) -> bool:
    """Whether the model with the curvature S is positive definite."""
    try:
        trial = model + S
        trial.flat[:: len(trial) + 1] += diagonal
        np.linalg.cholesky(trial)
    except np.linalg.LinAlgError:
        return False
    return True
