"""The pose nearest to a reference that meets goals and constraints: style from the reference, places from the goals.

    minimise    1/2 |q - q_ref|^2_W  +  1/2 s^2 |r(q)|^2      W: by the inertia each joint moves; r: stiff goals
    subject to  c(q) = 0, g(q) <= 0, low <= q <= high         of a `PoseProblem`

Every frame is solved to convergence (sequential quadratic programs in the null space of the linearised equalities,
which may be redundant). So the answer depends smoothly on the reference and on the goals, and not on the rounding of
the frame before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.pose.problem import PoseEvaluation, PoseProblem
from counterpoise.pose.restore import EQUALITY_WEIGHT, UNBOUNDED, restore
from counterpoise.solve.quadratic import solve_quadratic

GOAL_STIFFNESS = 100.0  # s: weight of a goal's error [m] beside the root's distance from its reference [m]
STEP_TOLERANCE = 1e-7  # [rad, m]: shorter steps end the search
LONGEST_STEP = 0.5  # [rad, m]
MIN_INERTIA_WEIGHT = 2e-4  # added to every joint's share of inertia, so that no joint is free
UNDAMPED_STEPS = 4  # steps before damping may begin


class Nearest(NamedTuple):
    """The pose, whether it holds its constraints, and the steps it took."""

    q: Array
    held: bool
    steps: int


def inertia_weights(character: Character) -> Array:
    """Returns weights (nv,) of departures from a reference: the diagonal of the neutral mass matrix over m h^2.

    Heavy parts stay near the reference and light ones adapt: legs bend under a pelvis that keeps its path. The three
    directions of a ball (and of a free root's position and orientation) have the same weight.
    """
    scale = character.mass * max(character.height, 1e-3) ** 2
    weight = np.diag(character.snapshot().M) / scale + MIN_INERTIA_WEIGHT
    for joint in character.joints:
        if joint.kind in ("ball", "free"):
            for first in range(joint.dofs.start, joint.dofs.stop, 3):
                weight[first : first + 3] = weight[first : first + 3].mean()
    assert len(weight) == character.nv
    return weight


def nearest_pose(
    problem: PoseProblem,
    reference: Array,
    weights: Array,
    start: Array,
    cap: tuple[Array, Array] | None = None,
    most: int = 40,
) -> Nearest:
    """Returns the pose nearest to `reference` that holds the problem's constraints and meets its goals stiffly.

    `cap` = (pose, furthest) keeps every variable within `furthest` (nv,) of a pose, which itself holds the constraints.
    """
    character, w = problem.character, weights[problem.variables]
    if not len(problem.variables):
        return Nearest(problem.start, True, 0)
    box = None if cap is None else (cap[0], cap[1][problem.variables])
    q, e = start, problem.evaluate(start, curvature=bool(problem.goals))
    damping, before, steps = 0.0, np.inf, 0
    for steps in range(1, most + 1):
        offset = character.difference(reference, q)[problem.variables]
        H = GOAL_STIFFNESS**2 * (e.J.T @ e.J)
        H.flat[:: len(H) + 1] += w * (1.0 + damping)
        if e.S is not None:
            H = _with_curvature(H, GOAL_STIFFNESS**2 * e.S)
        step = _step(problem, q, e, H, w * offset + GOAL_STIFFNESS**2 * (e.J.T @ e.r), box)
        size = float(np.abs(step).max(initial=0.0))
        if size > 0.9 * before and steps > UNDAMPED_STEPS:
            damping = max(4.0 * damping, 1.0)
        q = problem.moved(q, step * min(1.0, LONGEST_STEP / max(size, 1e-300)))
        e = problem.evaluate(q, curvature=bool(problem.goals))
        before = size
        if size < STEP_TOLERANCE:
            break
    q, _, held = restore(problem, q, box)
    return Nearest(q, held, steps)


def _with_curvature(H: Array, S: Array) -> Array:
    """Returns H + S where that is positive definite, else H."""
    try:
        np.linalg.cholesky(H + S)
    except np.linalg.LinAlgError:
        return H
    return H + S


def _step(
    problem: PoseProblem, q: Array, e: PoseEvaluation, H: Array, gradient: Array, cap: tuple[Array, Array] | None
) -> Array:
    """Returns one step: to x0, which meets the linearised equalities, and from there in their null space."""
    n = len(H)
    x0, N = np.zeros(n), np.eye(n)
    if len(e.c):
        U, s, Vt = np.linalg.svd(e.C, full_matrices=True)
        rank = int(np.sum(s > 1e-8 * max(float(s[0]), 1e-12)))
        x0 = -Vt[:rank].T @ ((U[:, :rank].T @ e.c) / s[:rank])
        N = Vt[rank:].T
    inner, pull = N.T @ H @ N, N.T @ (gradient + H @ x0)
    x = x0 - N @ np.linalg.solve(inner, pull) if N.shape[1] else x0
    low, high = problem.bounds(q)
    if cap is not None:
        offset = problem.character.difference(cap[0], q)[problem.variables]
        low, high = np.maximum(low, -cap[1] - offset), np.minimum(high, cap[1] - offset)
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    room = -e.g
    if np.all(x >= low) and np.all(x <= high) and np.all(e.G @ x <= room):
        return x
    bounded = np.isfinite(low) | np.isfinite(high)
    A = np.vstack([N[bounded], e.G @ N])
    below = np.concatenate([np.maximum(low[bounded] - x0[bounded], -UNBOUNDED), np.full(len(room), -UNBOUNDED)])
    above = np.concatenate([np.minimum(high[bounded] - x0[bounded], UNBOUNDED), room - e.G @ x0])
    free = np.full(N.shape[1], UNBOUNDED)
    if N.shape[1]:
        answer = solve_quadratic(inner, pull, -free, free, A, below, above)
        if answer.solved:
            return x0 + N @ answer.x
    rho = EQUALITY_WEIGHT * max(float(np.trace(H)) / n, 1.0)  # equalities that cannot be met inside the bounds
    soft = solve_quadratic(
        H + rho * (e.C.T @ e.C), gradient + rho * (e.C.T @ e.c), np.minimum(low, 0.0), np.maximum(high, 0.0), e.G,
        np.full(len(room), -UNBOUNDED), np.maximum(room, 0.0),
    )  # fmt: skip
    return soft.x if soft.solved else np.clip(0.5 * x, low, high)
