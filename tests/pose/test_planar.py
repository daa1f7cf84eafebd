"""The planar chain: exact derivatives, Newton's order of convergence, true optima, limits and pins held."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

from counterpoise.errors import BadValue
from counterpoise.pose.planar import PlanarDrag, planar_fgh, planar_points, solve_planar
from counterpoise.pose.planar.derivatives import add_fgh, fill_lock


def tip(lengths: np.ndarray, angles: np.ndarray) -> np.ndarray:
    heading = np.cumsum(angles)
    return np.array([lengths @ np.cos(heading), lengths @ np.sin(heading)])


def some_chain(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lengths, a curled start, and a target that another curl reaches."""
    lengths, curl = rng.uniform(0.5, 1.5, n), 2.0 / np.sqrt(n)
    return lengths, curl * rng.uniform(-1, 1, n), tip(lengths, curl * rng.uniform(-1, 1, n))


# -- derivatives ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, 3, 10, 50])
def test_value_gradient_and_hessian_against_complex_steps(n: int):
    rng, h = np.random.default_rng(n), 1e-40
    lengths, angles, target = rng.uniform(0.2, 1.0, n) / n, rng.uniform(-3, 3, n), rng.uniform(-1, 1, 2)
    F, g, H = planar_fgh(lengths, angles, target)
    miss = tip(lengths, angles) - target
    assert pytest.approx(miss @ miss, rel=1e-13) == F
    for i in range(n):
        moved = angles.astype(complex)
        moved[i] += 1j * h
        heading = np.cumsum(moved)
        away_x, away_y = lengths @ np.cos(heading) - target[0], lengths @ np.sin(heading) - target[1]
        assert g[i] == pytest.approx((away_x**2 + away_y**2).imag / h, abs=1e-12)
        gradient = np.zeros(n, dtype=complex)
        add_fgh(lengths, moved, target[0], target[1], gradient, np.empty((0, 0), dtype=complex))
        np.testing.assert_allclose(H[:, i], gradient.imag / h, atol=1e-12)


@pytest.mark.parametrize("n", [1, 3, 20])
def test_the_locked_point_against_complex_steps(n: int):
    rng, h = np.random.default_rng(n), 1e-40
    lengths, angles, place = rng.uniform(0.2, 1.0, n) / n, rng.uniform(-3, 3, n), rng.uniform(-1, 1, 2)
    J = np.empty((2, n))
    c = fill_lock(lengths, angles, place[0], place[1], J)
    np.testing.assert_allclose(c, tip(lengths, angles) - place, atol=1e-14)
    for i in range(n):
        moved = angles.astype(complex)
        moved[i] += 1j * h
        cx, cy = fill_lock(lengths, moved, place[0], place[1], np.empty((2, n), dtype=complex))
        np.testing.assert_allclose(J[:, i], [cx.imag / h, cy.imag / h], atol=1e-12)


def test_the_points_are_joints_then_tip():
    points = planar_points([1.0, 2.0], [np.pi / 2, -np.pi / 2])
    np.testing.assert_allclose(points, [[0, 0], [0, 1], [2, 1]], atol=1e-15)


# -- Newton's order -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [3, 10, 50, 200])
def test_convergence_is_superlinear_and_of_second_order(n: int):
    rng, orders = np.random.default_rng(100 + n), []
    for _ in range(12):
        lengths, start, target = some_chain(rng, n)
        size = lengths.sum()
        pose = solve_planar(lengths, start, target, tolerance=1e-13 * size)
        errors = pose.errors / size
        assert pose.solved and pose.iterations < 40
        near = errors[(errors < 3e-3) & (errors > 1e-14)]
        ratios = near[1:] / near[:-1]
        assert ratios[-1] < 2e-3 and (len(ratios) < 2 or ratios[-1] < 0.2 * ratios[0]), errors
        if len(near) > 2:
            orders.append(np.log(near[-1] / near[-2]) / np.log(near[-2] / near[-3]))
    assert 1.8 < np.median(orders) < 2.6, orders


def test_an_unreachable_optimum_is_found_to_second_order_too():
    """Too far: the straight chain. F - F* of a quadratic method loses most of its digits at once."""
    rng = np.random.default_rng(4)
    lengths, start, _ = some_chain(rng, 20)
    far = 1.4 * lengths.sum() * np.array([0.6, 0.8])
    pose = solve_planar(lengths, start, far)
    assert pose.status == "unreachable"
    assert pose.residual == pytest.approx(0.4 * lengths.sum(), rel=1e-13)
    np.testing.assert_allclose(np.cumsum(pose.angles) % (2 * np.pi), np.arctan2(0.8, 0.6), atol=1e-8)
    excess = pose.errors - 0.4 * lengths.sum()
    near = excess[(excess < 1e-2) & (excess > 1e-12)]
    assert near[-1] / near[-2] < 0.02


# -- optima ---------------------------------------------------------------------------------------------------------
def test_too_near_folds_back():
    for start in ([0.3, 0.1, 0.2], [0.0, 0.0, 0.0], [2.0, -1.0, 0.5]):
        pose = solve_planar([1.0, 0.2, 0.3], start, (0.08, 0.06))
        assert pose.status == "unreachable"
        assert pose.residual == pytest.approx(1.0 - 0.5 - 0.1, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_limited_chains_against_brute_force(seed: int):
    """Three links, every joint limited: a fine grid polished by scipy finds nothing better."""
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.4, 1.0, 3)
    limits = np.stack([-rng.uniform(0.1, 1.2, 3), rng.uniform(0.1, 1.2, 3)], axis=1)
    target = rng.uniform(-2.5, 2.5, 2)
    pose = solve_planar(lengths, rng.uniform(limits[:, 0], limits[:, 1]), target, limits=limits)
    axes = [np.linspace(low, high, 41) for low, high in limits]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    heading = np.cumsum(grid, axis=1)
    away = np.hypot(np.cos(heading) @ lengths - target[0], np.sin(heading) @ lengths - target[1])
    best = min(
        float(
            minimize(
                lambda q: planar_fgh(lengths, q, target).value,
                grid[k],
                jac=lambda q: planar_fgh(lengths, q, target).gradient,
                bounds=limits,
                method="L-BFGS-B",
                options={"ftol": 1e-16, "gtol": 1e-12},
            ).fun
        )
        for k in np.argsort(away)[:5]
    )
    assert pose.residual <= np.sqrt(best) + 1e-6
    assert (pose.status == "solved") == (pose.residual <= 1e-9)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_limits_are_never_passed_and_the_minimum_is_one(seed: int, n: int):
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.1, 1.0, n)
    limits = np.sort(rng.uniform(-2, 2, (n, 2)), axis=1)
    limits[rng.random(n) < 0.1] = 0.3  # a joint that cannot move
    target = rng.normal(size=2) * lengths.sum() * 0.6
    pose = solve_planar(lengths, rng.uniform(-4, 4, n), target, limits=limits)
    assert (pose.angles >= limits[:, 0]).all() and (pose.angles <= limits[:, 1]).all()
    assert pose.status in ("solved", "unreachable")
    g = planar_fgh(lengths, pose.angles, target).gradient / lengths.sum() ** 2
    pushes_out = ((pose.angles <= limits[:, 0]) & (g >= 0)) | ((pose.angles >= limits[:, 1]) & (g <= 0))
    assert np.abs(g[~pushes_out]).max(initial=0.0) < 1e-7


@pytest.mark.parametrize("n", [2, 3, 10, 60])
@pytest.mark.parametrize("share", [0.6, 0.05, 0.0, -0.4])
@pytest.mark.parametrize("knees", [False, True])
def test_a_straight_chain_still_bends_to_a_target_on_its_line(n: int, share: float, knees: bool):
    limits = np.array([[-7.0, 7.0]] + [[0.0, np.pi]] * (n - 1)) if knees else None
    pose = solve_planar(np.ones(n), np.zeros(n), (share * n, 0.0), limits=limits)
    assert pose.solved, pose.residual


# -- pins -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(6))
def test_pinned_points_stay_and_the_tip_arrives(seed: int):
    rng = np.random.default_rng(seed)
    lengths, limits = rng.uniform(0.5, 1.5, 12), np.array([[-1.3, 1.3]] * 12)
    wanted = planar_points(lengths, rng.uniform(-1.2, 1.2, 12))
    pose = solve_planar(lengths, rng.uniform(-1, 1, 12), wanted[-1], limits=limits, pins={5: wanted[5]})
    assert pose.solved and pose.pin_residual < 1e-11 and np.abs(pose.angles).max() <= 1.3
    np.testing.assert_allclose(planar_points(lengths, pose.angles)[5], wanted[5], atol=1e-11)
    assert pose.errors[-1] < 1e-2 * pose.errors[-2]


def test_a_pinned_chain_out_of_reach_against_scipy():
    rng = np.random.default_rng(8)
    lengths, start, target = np.ones(6), rng.uniform(-0.6, 0.6, 6), np.array([4.0, 5.0])
    limits, pin = np.array([[-1.0, 1.0]] * 6), planar_points(lengths, start)[3]
    pose = solve_planar(lengths, start, target, limits=limits, pins={3: None})
    assert pose.status == "unreachable" and pose.pin_residual < 1e-12
    reference = minimize(
        lambda q: planar_fgh(lengths, q, target).value,
        start,
        jac=lambda q: planar_fgh(lengths, q, target).gradient,
        bounds=limits,
        constraints={"type": "eq", "fun": lambda q: tip(lengths[:3], q[:3]) - pin},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert pose.residual <= np.sqrt(reference.fun) * (1.0 + 1e-7)
    assert LinearConstraint(np.eye(6), *limits.T).residual(pose.angles)[0].min() >= 0.0


def test_pins_out_of_reach_are_said_to_be():
    pose = solve_planar(np.ones(4), np.zeros(4), (1.0, 1.0), pins={2: (3.0, 0.0)})
    assert pose.status == "infeasible" and pose.pin_residual == pytest.approx(1.0)


# -- dragging -------------------------------------------------------------------------------------------------------
def test_two_hundred_links_follow_in_a_few_iterations_a_frame():
    rng = np.random.default_rng(2)
    lengths = np.full(200, 0.01)
    drag = PlanarDrag(lengths, rng.uniform(-0.1, 0.1, 200))
    target, iterations, turned = tip(lengths, drag.angles), [], 0.0
    drag.to(target)
    for frame in range(240):
        target = target + 0.005 * np.array([np.cos(2.0 + 0.026 * frame), np.sin(2.0 + 0.026 * frame)])
        before = drag.angles
        pose = drag.to(target)
        iterations.append(pose.iterations)
        turned = max(turned, float(np.abs(pose.angles - before).max()))
        assert pose.solved and pose.residual < 1e-6
    assert turned <= np.radians(5.0)
    assert np.median(iterations) <= 5


def test_a_leaping_target_is_caught_up_with_by_bounded_turns():
    drag = PlanarDrag(np.ones(4), [0.3, 0.2, 0.1, 0.1])
    statuses, before = [], drag.angles
    for _ in range(60):
        pose = drag.to((-2.0, 1.0))
        assert np.abs(pose.angles - before).max() <= np.radians(5.0) + 1e-15
        statuses.append(pose.status)
        before = pose.angles
    assert statuses[0] == "lagging" and statuses[-1] == "solved"


def test_a_drag_keeps_its_pins():
    drag = PlanarDrag(np.ones(6), np.full(6, 0.4), pins={3: None})
    place = planar_points(np.ones(6), drag.angles)[3]
    for frame in range(40):
        pose = drag.to((0.5 + 0.1 * frame, 3.0))
        np.testing.assert_allclose(planar_points(np.ones(6), pose.angles)[3], place, atol=1e-11)


# -- the border -----------------------------------------------------------------------------------------------------
def test_bad_input_is_refused_with_a_cure():
    with pytest.raises(BadValue, match="lengths"):
        solve_planar([1.0, -1.0], [0.0, 0.0], (1.0, 0.0))
    with pytest.raises(BadValue, match="2 finite angles"):
        solve_planar([1.0, 1.0], [0.0], (1.0, 0.0))
    with pytest.raises(BadValue, match="two finite numbers"):
        solve_planar([1.0, 1.0], [0.0, 0.0], (1.0, np.nan))
    with pytest.raises(BadValue, match="lower before upper"):
        solve_planar([1.0], [0.0], (1.0, 0.0), limits=[[1.0, 0.0]])
    with pytest.raises(BadValue, match="1 to 2"):
        solve_planar([1.0, 1.0], [0.0, 0.0], (1.0, 0.0), pins={3: None})
    with pytest.raises(BadValue, match="tolerance"):
        solve_planar([1.0], [0.0], (1.0, 0.0), tolerance=0.0)
