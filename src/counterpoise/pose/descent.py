"""Descent from one start: a quadratic model of the goals, damped, along a path that never leaves the constraints.

Each step minimises a quadratic model (Gauss-Newton, with the points' exact curvature where it helps and stays convex)
under linearised constraints. The step is taken, the constraints are *restored*, and only then is the new pose judged,
by the goals alone. So every accepted pose holds its pins and limits, and no merit function weighs goals against pins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.kinematics import tree_of
from counterpoise.character.tables import tables_of
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

WORTHWHILE_GAIN = 1e-5  # relative gain of the last step above which the general descent goes on from the compiled one


@dataclass
class Descent:
    """Where one start led."""

    q: Array
    objective: float
    held: bool  # constraints hold
    reached: bool  # goals are within tolerance
    iterations: int
    multipliers: dict[str, float]  # limits that stand in the way of the constraints, by name
    gain: float = 0.0  # relative decrease of the last step


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
    """Follow the goals downhill from one start, holding the constraints all the way.

    `cap` = (pose, furthest) keeps every variable within `furthest` of that pose (dragging); `warm` carries the
    working set.
    """
    if problem.compiled:
        found = _descend_compiled(problem, q, rules, most, cap, warm)
        if found.reached or (found.held and not (polish and found.gain > WORTHWHILE_GAIN)):
            return found
        q = found.q if found.held else q
        most = max(most - found.iterations, 6)
    q, e, held = restore(problem, q, cap)
    if not held:
        q, e = least_broken(problem, q, cap)
        return Descent(q, problem.objective(q, e), False, False, most, pressing_limits(problem, q, e))
    f = problem.objective(q, e)
    mu, done = rules.damping, 0
    weight2, heft = problem.posture**2, problem.joint_weights
    memory = warm if warm is not None else {}
    slow = 0
    while done < most:
        if _reached(problem, e, rules.tolerance):
            q, e, spent = settle_posture(problem, q, rules.settle, cap)
            return Descent(q, problem.objective(q, e), True, True, done + spent, {})
        if rules.out_of_time(began):
            break
        done += 1
        lean = problem.lean(q)
        gradient = e.J.T @ e.r + weight2 * heft * lean
        H = e.J.T @ e.J
        base = 2.0 * f
        stuck = True
        for _ in range(8):
            model = H.copy()
            diagonal = heft * weight2 + mu * base + 1e-10
            if e.S is not None and _convex(model, e.S, diagonal):
                model += e.S
            model.flat[:: len(model) + 1] += diagonal
            step = constrained_step(problem, q, e, model, gradient, cap, memory)
            if step is None:
                mu = max(10.0 * mu, 1e-6)
                continue
            if np.abs(step).max(initial=0.0) < 1e-10:
                break
            trial, te, ok = restore(problem, problem.moved(q, step), cap)
            tf = problem.objective(trial, te)
            if ok and tf < f:
                gain = (f - tf) / max(f, 1e-300)
                q, e, f = trial, te, tf
                mu = max(mu / 5.0, 1e-7)
                stuck = False
                break
            mu *= 6.0
        if stuck:
            break
        curvature = gain < 0.5 and not _reached(problem, e, rules.tolerance)
        if curvature:
            e = problem.evaluate(q, curvature=True)
        slow = slow + 1 if gain < rules.flat else 0
        if slow >= 2:
            break
    return Descent(q, f, True, _reached(problem, e, rules.tolerance), done, {})


def _descend_compiled(
    problem: PoseProblem,
    q: Array,
    rules: PoseTuning,
    most: int,
    cap: tuple[Array, Array] | None,
    warm: dict[str, Any] | None,
) -> Descent:
    """The same descent, whole in the compiled core."""
    t, fast = tables_of(problem.character), problem.compiled_goals
    anchor, furthest = cap if cap is not None else (q, np.empty(0))
    limits = len(problem.limits.ball_rows)
    held, active = np.zeros(len(problem.variables), np.int64), np.zeros(limits, np.int64)
    if warm is not None and "held" in warm:
        held, active = warm["held"], warm["active"]
    q, f, ok, reached, done, gain = descend_core(
        np.array(q), tree_of(problem.character), problem.character.layout, t.ancestors, problem.variables,
        (fast.point_body, fast.point_place, fast.point_target, fast.point_weight),
        (fast.turn_body, fast.turn_target, fast.turn_weight),
        fast.goal_points, fast.goal_turns, problem.row_weights, problem.limits.ranges, problem.limits.balls,
        problem.rest, problem.posture, problem.joint_weights, np.array(anchor), furthest, rules.tolerance,
        rules.damping, most, rules.flat, rules.settle,
        LIMIT_MARGIN, CONSTRAINT_TOLERANCE, held, active,
    )  # fmt: skip
    if warm is not None:
        warm["held"], warm["active"] = held, active
    return Descent(q, f, ok, reached, done, {}, gain)


def settle_posture(
    problem: PoseProblem, q: Array, most: int, cap: tuple[Array, Array] | None
) -> tuple[Array, PoseEvaluation, int]:
    """The posture nearest to the rest, the goals held like constraints: Newton steps along what they leave free."""
    heft, spent = problem.joint_weights, 0
    for _ in range(most):
        e = goals_held(problem.evaluate(q))
        lean = problem.lean(q)
        before, better = float(lean @ (heft * lean)), False
        step = constrained_step(problem, q, e, np.diag(heft), heft * lean, cap, {})
        spent += 1
        for share in (1.0, 0.4, 0.16):
            if step is None:
                break
            trial, _, held = restore(problem, problem.moved(q, share * step), cap, goals=True)
            lean = problem.lean(trial)
            after = float(lean @ (heft * lean))
            if held and after < before:
                q, better = trial, after < 0.99 * before
                break
        if not better:
            break
    return q, problem.evaluate(q), spent


def _reached(problem: PoseProblem, e: PoseEvaluation, tolerance: float) -> bool:
    """Every goal within tolerance, in its own unit (weights taken out)."""
    if not len(e.r):
        return True
    sizes = np.square(e.r / problem.row_weights)
    starts = problem.goal_starts
    return bool(np.add.reduceat(sizes, starts).max() <= tolerance**2)


def _convex(model: Array, S: Array, diagonal: Array) -> bool:
    try:
        trial = model + S
        trial.flat[:: len(trial) + 1] += diagonal
        np.linalg.cholesky(trial)
    except np.linalg.LinAlgError:
        return False
    return True
