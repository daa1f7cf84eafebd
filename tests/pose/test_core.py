"""The compiled core against independent judges: MuJoCo's kinematics, daqp, the general path."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.pose.build import build_pose_problem
from counterpoise.pose.core import StepProgram, WorkingSet, bounded_step
from counterpoise.pose.descent import descend
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.tuning import PoseTuning
from counterpoise.solve import solve_quadratic

BODIES = ("human", "chicken", "dinosaur", "chain", "planar_biped")


def random_pose(who: cp.Character, rng: np.random.Generator, size: float = 0.8) -> np.ndarray:
    return who.limits.clamp(who.integrate(who.neutral, size * rng.uniform(-1, 1, who.nv)))


def test_the_bounded_step_is_the_programs_optimum():
    rng = np.random.default_rng(1)
    exact = 0
    for _ in range(60):
        n, soft, hard, limits = (
            int(rng.integers(8, 46)),
            int(rng.integers(1, 7)),
            int(rng.integers(0, 7)),
            int(rng.integers(0, 12)),
        )
        J, C, G = rng.standard_normal((soft, n)), rng.standard_normal((hard, n)), rng.standard_normal((limits, n))
        r, g = rng.standard_normal(soft), rng.uniform(-1.0, -0.05, limits)
        low, high = -rng.uniform(0.02, 1.0, n), rng.uniform(0.02, 1.0, n)
        c = -C @ (0.3 * rng.uniform(low, high))  # reachable inside the box
        D, p = rng.uniform(1e-3, 1.0, n), rng.standard_normal(n) * 0.1
        program = StepProgram(soft, np.vstack([J, C]), np.concatenate([r, c]), D, p, g, G, low, high)
        x, ok = bounded_step(program, WorkingSet(np.zeros(n, np.int64), np.zeros(limits, np.int64)))
        H = J.T @ J + np.diag(D)
        A = np.vstack([C, G])
        answer = solve_quadratic(
            H, J.T @ r + p, low, high, A, np.concatenate([-c, np.full(limits, -1e30)]), np.concatenate([-c, -g])
        )
        if not (ok and answer.solved):
            continue  # the working set was not found in a few sweeps: the descent then judges what it got
        exact += 1

        def value(y: np.ndarray) -> float:
            return float(0.5 * y @ H @ y + (J.T @ r + p) @ y)  # noqa: B023

        assert np.all(x >= low - 1e-9) and np.all(x <= high + 1e-9)
        assert np.abs(C @ x + c).max(initial=0.0) < 1e-6 and (G @ x + g).max(initial=0.0) < 1e-6
        assert value(x) <= value(answer.x) + 1e-6 * (1.0 + abs(value(answer.x)))
    assert exact >= 50


@pytest.mark.parametrize("name", ["human", "chain"])
def test_curvature_is_the_second_derivative_of_the_goals(name: str):
    who = cp.character(name)
    rng = np.random.default_rng(2)
    tip = who.segments[-1]
    problem = build_pose_problem(
        who, [cp.Reach(tip, (0.7, 0.1, 0.9), point=(0.05, 0.0, 0.1))], (), random_pose(who, rng)
    )
    q, n = problem.start, len(problem.variables)
    e = problem.evaluate(q, curvature=True)
    assert e.S is not None
    exact = e.J.T @ e.J + e.S

    def gradient(x: np.ndarray) -> np.ndarray:
        full = np.zeros(who.nv)
        full[problem.variables] = x
        here = problem.evaluate(who.integrate(q, full))
        return here.J.T @ here.r

    h = 1e-6
    numeric = np.array([(gradient(h * row) - gradient(-h * row)) / (2 * h) for row in np.eye(n)])
    symmetric = 0.5 * (numeric + numeric.T)  # in a ball's tangent space the two orders of turning differ
    assert np.allclose(exact, symmetric, atol=1e-6)


def general(problem: PoseProblem) -> PoseProblem:
    """The same problem without the compiled core."""
    problem.__dict__["compiled"] = False
    return problem


@pytest.mark.parametrize("target", [(0.45, 0.3, 1.3), (0.2, 0.6, 0.5), (1.8, 0.4, 1.0)])
def test_the_core_and_the_general_path_find_the_same_pose(target: tuple[float, float, float]):
    who = cp.character("human")
    wishes = [cp.Reach("hand_left", target)], [c for f in ("foot_left", "foot_right") for c in (cp.Pin(f), cp.Lock(f))]
    rules = PoseTuning(tolerance=1e-9, iterations=200, flat=1e-12)
    fast = descend(p := build_pose_problem(who, *wishes), p.start, rules, 200, 0.0)
    slow = descend(p := general(build_pose_problem(who, *wishes)), p.start, rules, 200, 0.0)
    assert fast.held and slow.held
    assert fast.objective <= slow.objective * (1 + 2e-3) + 1e-8  # the general path may creep where nothing is reached
    if fast.reached:
        assert slow.reached and slow.objective == pytest.approx(fast.objective, rel=2e-3, abs=1e-8)
