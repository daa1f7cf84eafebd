"""Restoring the constraints of a posing problem, and the quadratic programs behind its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.pose.problem import LIMIT_MARGIN, NEAR_LIMIT, PoseEvaluation, PoseProblem
from counterpoise.solve.quadratic import solve_quadratic

CONSTRAINT_TOLERANCE = 1e-8  # [m, rad]: constraints are restored to this
LONGEST_STEP = 1.0  # [rad]: no joint moves further in one step
UNBOUNDED = 1e30  # stands for infinity in the quadratic programs
MAX_DAMPING = 1e8
LEAST_BROKEN_STEPS = 60  # towards the pose that violates the constraints least
ACTIVE_TOLERANCE = 1e-6  # [rad, m]: limits nearer than this are active
MIN_PRESSURE = 1e-3  # share of the largest descent below which a limit is not pushed against
SHORTEST_STEP_WEIGHT = 1e6  # of constraints that cannot be met in one step, beside the length of the step
EQUALITY_WEIGHT = 1e4  # of equalities that cannot be met in one step, beside the goals' mean curvature


def restore(
    problem: PoseProblem,
    q: Array,
    cap: tuple[Array, Array] | None = None,
    most: int = 12,
    goals: bool = False,
    late: Callable[[], bool] = lambda: False,
) -> tuple[Array, PoseEvaluation, bool]:
    """Brings q back onto the constraints by the shortest steps: c(q) = 0 to 1e-8, g(q) <= 0, ranges exactly.

    With `goals` they are held too. It is given up once `late` says so. Returns the pose, its evaluation and whether
    the constraints hold.
    """

    def evaluate(pose: Array) -> PoseEvaluation:
        here = problem.evaluate(pose)
        return goals_held(here) if goals else here

    e = evaluate(q)
    for _ in range(most):
        broken = np.flatnonzero(e.g > LIMIT_MARGIN * 0.5)
        size = max(float(np.abs(e.c).max(initial=0.0)), float(e.g[broken].max(initial=0.0)))
        if size <= CONSTRAINT_TOLERANCE and not len(broken):
            return q, e, True
        if late():
            return q, e, False
        C, c = e.C, e.c
        if len(broken):
            C, c = np.vstack([C, e.G[broken]]), np.concatenate([c, e.g[broken] + 0.5 * LIMIT_MARGIN])
        step = _shortest(problem, q, C, c, cap)
        if step is None:
            step = _shortest_program(problem, q, e, cap)
        if step is None or not np.isfinite(step).all():
            return q, e, False
        longest = float(np.abs(step).max(initial=0.0))
        if longest > LONGEST_STEP:
            step = step * (LONGEST_STEP / longest)
        q = problem.moved(q, step)
        e = evaluate(q)
    held = float(np.abs(e.c).max(initial=0.0)) <= CONSTRAINT_TOLERANCE and float(e.g.max(initial=0.0)) <= LIMIT_MARGIN
    return q, e, held


def goals_held(e: PoseEvaluation) -> PoseEvaluation:
    """Returns the evaluation with its goals as further equalities."""
    return replace(e, c=np.concatenate([e.c, e.r]), C=np.vstack([e.C, e.J]), r=e.r[:0], J=e.J[:0])


def least_broken(
    problem: PoseProblem, q: Array, cap: tuple[Array, Array] | None = None
) -> tuple[Array, PoseEvaluation]:
    """Returns the pose inside the joint limits that violates the equalities least (damped least squares), evaluated."""
    e = problem.evaluate(q)
    mu, f = 1e-3, 0.5 * float(e.c @ e.c)
    for _ in range(LEAST_BROKEN_STEPS):
        H = e.C.T @ e.C
        H.flat[:: len(H) + 1] += mu * f + 1e-9
        low, high = _box(problem, q, cap)
        near = e.g > -NEAR_LIMIT
        answer = solve_quadratic(
            H, e.C.T @ e.c, low, high, e.G[near], np.full(int(near.sum()), -UNBOUNDED), np.maximum(-e.g[near], 0.0)
        )
        if not answer.solved:
            mu = max(10 * mu, 1e-6)
            if mu > MAX_DAMPING:
                break
            continue
        trial = problem.moved(q, answer.x)
        te = problem.evaluate(trial)
        tf = 0.5 * float(te.c @ te.c)
        if tf < f:
            settled = (f - tf) < 1e-9 * f
            q, e, f, mu = trial, te, tf, max(mu / 5, 1e-9)
            if settled:
                break
        else:
            mu *= 6
            if mu > MAX_DAMPING:
                break
    return problem.character.limits.clamp(q), e


def pressing_limits(problem: PoseProblem, q: Array, e: PoseEvaluation) -> dict[str, float]:
    """Returns the limits that keep the equalities from being met: active, with the descent direction beyond them."""
    descent = -(e.C.T @ e.c)
    scale = max(float(np.abs(descent).max(initial=0.0)), 1e-12)
    low, high = problem.bounds(q)
    names = problem.character.limits.names
    out: dict[str, float] = {}
    for i, row in zip(problem.limits.ranges[0], problem.limits.range_rows, strict=True):
        if low[i] > -ACTIVE_TOLERANCE and descent[i] < -MIN_PRESSURE * scale:
            out[names[2 * row]] = -float(descent[i])
        if high[i] < ACTIVE_TOLERANCE and descent[i] > MIN_PRESSURE * scale:
            out[names[2 * row + 1]] = float(descent[i])
    for k, row in enumerate(problem.limits.ball_rows):
        if e.g[k] > -ACTIVE_TOLERANCE and float(e.G[k] @ descent) > MIN_PRESSURE * scale:
            out[names[row]] = float(e.G[k] @ descent)
    return out


def _box(problem: PoseProblem, q: Array, cap: tuple[Array, Array] | None) -> tuple[Array, Array]:
    """Returns the bounds of a step: joint ranges, the longest step and the cap."""
    low, high = problem.bounds(q)
    low, high = np.maximum(low, -LONGEST_STEP), np.minimum(high, LONGEST_STEP)
    if cap is not None:
        anchor, furthest = cap
        offset = problem.character.difference(anchor, q)[problem.variables]
        low, high = np.maximum(low, -furthest - offset), np.minimum(high, furthest - offset)
    return np.minimum(low, 0.0), np.maximum(high, 0.0)


def constrained_step(
    problem: PoseProblem,
    q: Array,
    e: PoseEvaluation,
    H: Array,
    gradient: Array,
    cap: tuple[Array, Array] | None,
    memory: dict[str, Any],
) -> Array | None:
    """Returns the step that minimises a quadratic model under linearised constraints; None where there is none.

    Equalities that cannot be met in one step are met as nearly as the limits allow. `memory` keeps multipliers for a
    warm start.
    """
    low, high = _box(problem, q, cap)
    near = np.flatnonzero(e.g > -NEAR_LIMIT)
    if not len(near) and not len(e.c):  # bounds only: most often the plain Newton step is inside
        try:
            step = -np.asarray(np.linalg.solve(H, gradient), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        if np.all(step >= low) and np.all(step <= high):
            return step
    A = np.vstack([e.C, e.G[near]]) if len(near) else e.C
    below = np.concatenate([-e.c, np.full(len(near), -UNBOUNDED)])
    above = np.concatenate([-e.c, -e.g[near]])
    warm = memory.get("multipliers")
    answer = solve_quadratic(H, gradient, low, high, A, below, above, warm)
    if answer.solved:
        memory["multipliers"] = answer.multipliers
        return answer.x
    if not len(e.c):
        return None
    rho = EQUALITY_WEIGHT * max(float(np.trace(H)) / len(H), 1.0)
    soft = solve_quadratic(
        H + rho * (e.C.T @ e.C), gradient + rho * (e.C.T @ e.c), low, high, e.G[near],
        np.full(len(near), -UNBOUNDED), np.maximum(-e.g[near], 0.0),
    )  # fmt: skip
    return soft.x if soft.solved else None


def _shortest(problem: PoseProblem, q: Array, C: Array, c: Array, cap: tuple[Array, Array] | None) -> Array | None:
    """Returns the shortest step with C x = -c, variables at bounds held there; None where that does not suffice."""
    low, high = _box(problem, q, cap)
    step = np.zeros(C.shape[1])
    free = np.ones(C.shape[1], bool)
    for _ in range(4):
        part = C[:, free]
        rest = c + C[:, ~free] @ step[~free]
        gram = part @ part.T
        gram.flat[:: len(gram) + 1] += 1e-12 * max(float(np.trace(gram)), 1e-12)
        try:
            step[free] = -part.T @ np.linalg.solve(gram, rest)
        except np.linalg.LinAlgError:
            return None
        out = (step < low - 1e-12) | (step > high + 1e-12)
        if not out.any():
            miss = float(np.abs(C @ step + c).max(initial=0.0))
            return step if miss <= 0.3 * float(np.abs(c).max(initial=0.0)) + 1e-12 else None
        step[out] = np.clip(step[out], low[out], high[out])
        free &= ~out
        if not free.any():
            return None
    return None


def _shortest_program(
    problem: PoseProblem, q: Array, e: PoseEvaluation, cap: tuple[Array, Array] | None
) -> Array | None:
    """Returns the shortest step that meets all linearised constraints, or comes nearest, by a quadratic program."""
    low, high = _box(problem, q, cap)
    n = len(low)
    near = np.flatnonzero(e.g > -NEAR_LIMIT)
    A = np.vstack([e.C, e.G[near]])
    below = np.concatenate([-e.c, np.full(len(near), -UNBOUNDED)])
    above = np.concatenate([-e.c, np.where(e.g[near] > 0.0, -e.g[near] - 0.5 * LIMIT_MARGIN, -e.g[near])])
    answer = solve_quadratic(np.eye(n), np.zeros(n), low, high, A, below, above)
    if answer.solved:
        return answer.x
    rows = np.vstack([e.C, e.G[near][e.g[near] > 0.0]])
    miss = np.concatenate([e.c, e.g[near][e.g[near] > 0.0]])
    H = SHORTEST_STEP_WEIGHT * rows.T @ rows + np.eye(n)
    soft = solve_quadratic(
        H, SHORTEST_STEP_WEIGHT * rows.T @ miss, low, high, np.empty((0, n)), np.empty(0), np.empty(0)
    )
    return soft.x if soft.solved else None
