"""The general solver of a whole-body problem: it takes every problem, and tests the compiled one.

Every one-sided row A a <= b has a slack of its own: A a + s = b with s >= 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.control.whole_body_problem import LEAST_POSTURE_WEIGHT, WholeBodyAnswer, WholeBodyProblem
from counterpoise.objectives import DiagonalRows, Rows
from counterpoise.objectives.stance_kernels import NO_LIMIT
from counterpoise.solve.hierarchy import Warm, solve_hierarchy
from counterpoise.solve.level import Level, Part

AT_BOUND = 1e-7  # of 1 + |b|: a one-sided row this near to its bound is at it


def solve_general(problem: WholeBodyProblem, warm: Any) -> WholeBodyAnswer:
    """Solves by `solve_hierarchy`, in x = (a, lambda / m g, slacks). Where it fails, by weights; the status says so."""
    levels, rows, bounds = as_hierarchy(problem)
    nv, k = len(problem.torque_high), len(problem.force_high)
    warm = warm if isinstance(warm, Warm) else None
    solution = solve_hierarchy(levels, rows, bounds, warm=warm, method=problem.tuning.method)
    status = solution.status if solution.status == "solved" else f"{solution.status} {solution.note}".strip()
    kept = solution.warm
    if solution.status != "solved" and problem.tuning.method == "strict":
        status = f"weighted, as the strict solver was {status}"
        solution = solve_hierarchy(levels, rows, bounds, method="weighted")
    x = solution.x[: nv + k].copy()
    x[nv:] *= problem.weight
    np.clip(x[nv:], problem.force_low, problem.force_high, out=x[nv:])
    stops = tuple(
        objective.name
        for objectives, parts in zip(problem.levels, problem.rows, strict=True)
        for objective, row in zip(objectives, parts, strict=True)
        if row.at_most and len(row) and bool((row.A @ x[:nv] >= row.b - AT_BOUND * (1.0 + np.abs(row.b))).any())
    )
    return WholeBodyAnswer(x, status, kept, stops, dict(solution.work))


def as_hierarchy(
    problem: WholeBodyProblem,
) -> tuple[list[Level], tuple[Array, Array, Array], tuple[Array, Array]]:
    """Returns levels, torque rows and bounds of the general problem."""
    s, W = problem.snapshot, problem.weight
    nv, k = len(problem.torque_high), len(problem.force_high)
    slack = sum(len(r) for level in problem.rows for r in level if r.at_most)
    n = nv + k + slack
    T = np.hstack([s.M, -problem.G * W, np.zeros((nv, slack))])  # tau = T x + h
    levels, used = [], nv + k
    for number, (objectives, rows) in enumerate(zip(problem.levels, problem.rows, strict=True)):
        parts = []
        for objective, row in zip(objectives, rows, strict=True):
            if len(row) == 0:
                continue
            A, b = _in_all_unknowns(row, n, nv, k, W, T, s.h)
            if row.at_most:
                A[:, used : used + len(row)] = np.eye(len(row))
                used += len(row)
            parts.append(Part(A, b, objective.weight, objective.name))
        if number == len(problem.levels) - 1:
            last = np.zeros((k + nv, n))
            last[:k, nv : nv + k] = np.sqrt(problem.tuning.force_weight) * np.eye(k)
            last[k:, :nv] = np.sqrt(LEAST_POSTURE_WEIGHT) * np.eye(nv)
            parts.append(Part(last, np.zeros(k + nv), 1.0, "(small forces)"))
        if parts:
            levels.append(Level(objectives=parts, name=f"level {number + 1}"))
    scale = np.where(np.isfinite(problem.torque_high) & (problem.torque_high > 0.0), problem.torque_high, W)
    rows_ = (T / scale[:, None], (problem.torque_low - s.h) / scale, (problem.torque_high - s.h) / scale)
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    lower[nv : nv + k] = np.where(problem.force_low <= -0.1 * NO_LIMIT, -np.inf, problem.force_low / W)
    upper[nv : nv + k] = np.where(problem.force_high >= 0.1 * NO_LIMIT, np.inf, problem.force_high / W)
    lower[nv + k :] = 0.0
    return levels, rows_, (lower, upper)


def _in_all_unknowns(
    row: Rows | DiagonalRows, n: int, nv: int, k: int, W: float, T: Array, h: Array
) -> tuple[Array, Array]:
    """Returns one objective's rows in the unknowns x of the general problem."""
    A = np.zeros((len(row), n))
    if row.on == "acceleration":
        A[:, :nv] = row.A
        return A, row.b.copy()
    if row.on == "torque":
        return row.A @ T, row.b - row.A @ h
    A[:, nv : nv + k] = row.A * W
    return A, row.b.copy()
