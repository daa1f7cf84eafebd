"""The whole-body solver against independent judges: non-negative least squares, the general solver, laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from body_problems import EIGHT, FAMILIES, TWELVE, Recipe, Stand, bent, family, from_snapshot, make, upright
from scipy.optimize import nnls

import counterpoise as cp
from counterpoise.arrays import Array
from counterpoise.character.snapshot import take_snapshot
from counterpoise.defaults import GRAVITY
from counterpoise.errors import BadValue
from counterpoise.simulate.disturbances import Push
from counterpoise.solve import Level, solve_hierarchy
from counterpoise.solve.body import program
from counterpoise.solve.body.layout import scratch_size
from counterpoise.solve.body.program import (
    BodyProblem,
    BodySolution,
    build_body_problem,
    cold_memory,
    solve_body,
    stack_levels,
)
from counterpoise.solve.body.rows import StandardGains, friction_edges


# -- judges -----------------------------------------------------------------------------------------------------------
def dense(p: BodyProblem) -> tuple[list[tuple[Array, Array]], Array, Array, Array, Array, Array]:
    """Levels, rows with ends, bounds: the problem without its structure, in x = [a, lambda / unit]."""
    n, k = p.G.shape
    size = np.maximum(np.abs(np.where(np.isfinite(p.torque_high), p.torque_high, 1.0)), 1e-3)
    size = np.concatenate([np.full(p.root, p.force_unit), size])
    rows = np.hstack([p.M, -p.G * p.force_unit]) / size[:, None]
    low = np.concatenate([np.zeros(p.root), p.torque_low]) - p.h
    high = np.concatenate([np.zeros(p.root), p.torque_high]) - p.h
    root_w = np.concatenate([np.sqrt(p.weight), np.full(k, np.sqrt(p.force_weight))])

    def wide(A: Array) -> Array:
        return np.hstack([A, np.zeros((len(A), k))])

    last = np.vstack([wide(p.extra_rows), np.diag(root_w)])
    aim = np.concatenate([p.extra_targets, np.sqrt(p.weight) * p.posture, np.zeros(k)])
    levels = [(wide(A), b) for A, b in p.levels] + [(last, aim)]
    upper = np.concatenate([np.full(n, np.inf), p.force_limit / p.force_unit])
    return levels, rows, low / size, high / size, np.concatenate([np.full(n, -np.inf), np.zeros(k)]), upper


def unpack(p: BodyProblem, s: BodySolution) -> Array:
    return np.concatenate([s.acceleration, s.multipliers / p.force_unit])


def null_space(A: Array) -> Array:
    if len(A) == 0:
        return np.eye(A.shape[1])
    _, sizes, V = np.linalg.svd(A)
    return V[int((sizes > 1e-11 * sizes[0]).sum()) :].T


def defect(p: BodyProblem, x: Array) -> Array:
    """Of every level: the part of its gradient that no multipliers of the right sign explain, relative (0: optimal)."""
    levels, rows, low, high, lower, upper = dense(p)
    C = np.vstack([rows, np.eye(len(x))])
    low, high = np.concatenate([low, lower]), np.concatenate([high, upper])
    value = C @ x
    fixed = high <= low
    at_low, at_high = (value < low + 1e-8) & ~fixed, (value > high - 1e-8) & ~fixed
    equal, locked, out = [C[fixed]], np.zeros(len(value), bool), []
    for A, b in levels:
        left = A @ x - b
        gradient = A.T @ left
        Z = null_space(np.vstack([*equal, C[locked]]))
        projected = Z.T @ gradient
        index = np.flatnonzero((at_low | at_high) & ~locked)
        edges = (C[index] * np.where(at_low[index], 1.0, -1.0)[:, None]) @ Z
        length = np.linalg.norm(edges, axis=1)
        index, edges = index[length > 1e-9], edges[length > 1e-9] / length[length > 1e-9, None]
        size = max(float(np.linalg.norm(np.abs(A).T @ np.abs(left))), 1e-9)
        miss = float(np.linalg.norm(projected))
        if len(index) and miss > 1e-12 * size:
            mu, miss = nnls(edges.T, projected, maxiter=5000)
            locked[index[mu > 1e-9 * np.linalg.norm(projected)]] = True
        out.append(0.0 if np.linalg.norm(left) < 1e-8 else miss / size)
        equal.append(A)
    return np.array(out)


def check_bounds(p: BodyProblem, s: BodySolution) -> None:
    """Physics holds, forces push, torques stay within limits."""
    joints = slice(p.root, None)
    assert (s.multipliers >= 0.0).all() and (s.multipliers <= p.force_limit).all()
    assert (s.torque[joints] >= p.torque_low).all() and (s.torque[joints] <= p.torque_high).all()
    assert not s.torque[: p.root].any()
    left = p.M @ s.acceleration + p.h - p.G @ s.multipliers - s.torque
    assert np.abs(left).max() < 1e-7 * (1.0 + np.abs(p.h).max())


def check_optimal(p: BodyProblem, s: BodySolution, judge: bool) -> None:
    assert s.status == 0, s.words
    check_bounds(p, s)
    x = unpack(p, s)
    strict = defect(p, x)[:-1]  # the last level's set is known only to the rounding of those above: judged apart
    assert strict.max(initial=0.0) < 1e-6, strict
    levels, rows, low, high, lower, upper = dense(p)
    if judge:
        named = [Level(A, b, name=f"{i}") for i, (A, b) in enumerate(levels) if len(A)]
        other = solve_hierarchy(named, rows=(rows, low, high), bounds=(lower, upper))
        theirs = iter(other.residuals)
        for (A, _), ours in zip(levels, s.residuals, strict=True):
            if len(A) == 0:
                continue
            judged = float(next(theirs))
            assert abs(ours - judged) <= 1e-6 * (1e-3 + judged), (s.residuals, other.residuals)
            if abs(ours - judged) > 1e-9 * (1e-3 + judged):
                break  # not the same to all digits above: what follows is another problem


# -- families ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FAMILIES)
def test_the_optimum_of_every_family(name: str):
    for index in range(6):
        p = make(family(name, index, TWELVE if index % 3 == 2 else EIGHT))
        check_optimal(p, solve_body(p), judge=index < 3)


@pytest.mark.parametrize("name", ["double", "single", "weighted", "flight", "redundant", "capped", "edge"])
def test_the_last_level_is_optimal_too(name: str):
    for index in range(6):
        p = make(family(name, index))
        assert defect(p, unpack(p, solve_body(p))).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_the_optimum_of_hundreds(name: str):
    for index in range(100, 400):
        p = make(family(name, index, TWELVE if index % 2 else EIGHT))
        check_optimal(p, solve_body(p), judge=index % 5 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_thousands_are_solved_cold_and_warm_alike(name: str):
    memory = None
    for index in range(1000, 2000):
        p = make(family(name, index, TWELVE if index % 2 else EIGHT))
        cold = solve_body(p)
        again = solve_body(p, cold.memory)
        strange = solve_body(p, memory)  # the memory of another problem
        memory = cold.memory
        for s in (cold, again, strange):
            assert s.status == 0, (index, s.words)
            check_bounds(p, s)
            for one, other in zip(s.residuals[:-1], cold.residuals[:-1], strict=True):
                assert abs(one - other) <= 1e-6 * (1e-3 + other), (index, s.residuals, cold.residuals)
                if abs(one - other) > 1e-9 * other:
                    break


# -- laws -------------------------------------------------------------------------------------------------------------
def leveled(p: BodyProblem, levels: list[tuple[Array, Array]]) -> BodyProblem:
    """The same problem with other strict levels."""
    rows, targets, starts = stack_levels(levels, len(p.h))
    return replace(p, level_rows=rows, level_targets=targets, level_starts=starts)


PICK = ("double", "single", "torque", "three levels", "weighted")


@pytest.mark.parametrize("name", PICK)
def test_a_lower_level_changes_nothing_above(name: str):
    p = make(family(name, 3))
    whole = solve_body(p).residuals
    for count in range(len(p.levels)):
        part = solve_body(leveled(p, p.levels[:count])).residuals
        assert np.allclose(part[:count], whole[:count], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", PICK)
def test_order_scale_and_copies_of_rows_do_not_matter(name: str):
    p = make(family(name, 4))
    rng = np.random.default_rng(0)
    base = solve_body(p)
    mixed = []
    for A, b in p.levels:
        turn = rng.permutation(len(A))
        mixed.append((7.0 * A[turn], 7.0 * b[turn]))
    mixed.insert(1, mixed[0])  # a redundant level is free
    other = solve_body(leveled(p, mixed))
    assert other.status == 0
    assert np.allclose(np.delete(other.residuals, 1)[:-1], 7.0 * base.residuals[:-1], rtol=1e-7, atol=1e-8)
    assert np.isclose(other.residuals[-1], base.residuals[-1], rtol=1e-5)


def test_the_order_of_levels_is_obeyed():
    p = make(Recipe(push=0.05, spread=0.01))
    (A, b), other = p.levels[1], p.levels[1][1] + 0.1
    first, second = solve_body(leveled(p, [(A, b), (A, other)])), solve_body(leveled(p, [(A, other), (A, b)]))
    assert first.residuals[0] < 1e-8 and second.residuals[0] < 1e-8
    assert np.allclose([first.residuals[1], second.residuals[1]], 0.1 * np.sqrt(3.0))


def test_the_same_question_has_the_same_answer():
    p = make(family("torque", 2))
    first = solve_body(p)
    before = first.memory.held.copy(), first.memory.point.copy()
    second, third = solve_body(p, first.memory), solve_body(p, first.memory)
    assert (solve_body(p).values == first.values).all() and (second.values == third.values).all()
    assert (before[0] == first.memory.held).all() and (before[1] == first.memory.point).all()
    assert second.iterations <= 3 < first.iterations


def test_nothing_is_left_behind_in_the_workspace():
    """Poisoned scratch, and scratch of a larger problem, change no digit."""
    small, large = make(family("torque", 1)), make(family("redundant", 1))
    first = solve_body(small).values
    solve_body(large)
    work, whole = program._local.kept
    assert (solve_body(small).values == first).all()
    work[:], whole[:] = np.nan, -(10**6)
    assert (solve_body(small).values == first).all()


def test_the_workspace_is_as_large_as_stated():
    """No kernel writes beyond the numbers and integers of `scratch_size`."""
    for shape in SHAPES:
        n, root, k, sizes, e = shape
        p = random_problem(0, n, root, k, sizes, e)
        numbers, integers = scratch_size(n, k, sum(sizes), e, len(sizes))
        work, whole = np.full(numbers + 100, 1.5), np.full(integers + 100, 7, np.int64)
        first = solve_body(p).values
        kept = program._local.kept
        try:
            program._local.kept = work[:numbers], whole[:integers]
            assert (solve_body(p).values == first).all()
        finally:
            program._local.kept = kept
        assert (work[numbers:] == 1.5).all() and (whole[integers:] == 7).all()


def test_without_limits_it_is_the_cascade_of_pseudo_inverses():
    """Algorithm 1 of de Lasa 2011, on the levels and then the last one, with contacts that may pull."""
    p = make(Recipe(3, push=0.5))
    n = len(p.h)
    p = replace(p, torque_low=np.full(n - 6, -np.inf), torque_high=np.full(n - 6, np.inf))
    # a bilateral contact is a pair of opposite edges, far from their bounds
    G = np.hstack([p.G, -p.G])
    p = replace(p, G=np.ascontiguousarray(G), force_limit=np.full(G.shape[1], np.inf))
    s = solve_body(p)
    J = p.levels[0][0]
    root = p.M[:6], -p.h[:6]
    x, Z = np.zeros(n + len(J)), np.eye(n + len(J))
    stack = [(np.hstack([root[0], -J.T[:6]]), root[1])]
    stack += [(np.hstack([A, np.zeros((len(A), len(J)))]), b) for A, b in p.levels]
    for A, b in stack:
        AZ = A @ Z
        x = x + Z @ np.linalg.pinv(AZ, rcond=1e-11) @ (b - A @ x)
        Z = Z @ null_space(AZ)
    for (A, b), ours in zip(p.levels, s.residuals, strict=False):
        assert np.isclose(np.linalg.norm(A @ x[:n] - b), ours, rtol=1e-8, atol=1e-8)


def test_flight_obeys_ballistics():
    character = cp.character("human")
    rng = np.random.default_rng(5)
    s = take_snapshot(character, character.state(bent(character, 0.4), 0.5 * rng.standard_normal(character.nv)))
    p = from_snapshot(s, bent(character, 0.5), Recipe(stance=(False, False)))
    found = solve_body(p)
    com = s.com_jacobian @ found.acceleration + s.com_drift
    assert np.allclose(com, [0.0, 0.0, -GRAVITY], atol=1e-8)
    assert not found.multipliers.any()


def test_the_com_moves_as_predicted():
    """Finite differences of the CoM's velocity along the accelerations found, and friction cones from the forces."""
    character = cp.character("human")
    rng = np.random.default_rng(7)
    start = character.state(upright(character).q, 0.1 * rng.standard_normal(character.nv))
    s = take_snapshot(character, start)
    p = Stand().problem(s, bent(character, 0.5), float(s.com[2]) + 0.02)
    found = solve_body(p)
    step = 1e-5

    def at(sign: float) -> Array:
        v = start.v + sign * step * found.acceleration
        q = character.integrate(start.q, sign * step * (start.v + v) / 2)
        return take_snapshot(character, character.state(q, v)).com_velocity

    numeric = (at(1.0) - at(-1.0)) / (2 * step)
    middle = s.contact_position[list(EIGHT)].mean(axis=0)
    wanted = 60.0 * (np.array([middle[0], middle[1], s.com[2] + 0.02]) - s.com) - 12.0 * s.com_velocity
    assert found.residuals[1] < 1e-8
    assert np.allclose(numeric, wanted, atol=1e-4)
    forces = np.einsum(
        "pe,pec->pc", found.multipliers.reshape(-1, 4), friction_edges(np.tile([0, 0, 1.0], (8, 1)), 0.8)
    )
    assert (np.hypot(forces[:, 0], forces[:, 1]) <= 0.8 * forces[:, 2] + 1e-9).all()
    assert np.allclose(forces.sum(axis=0) / character.mass, numeric + [0, 0, GRAVITY], atol=1e-4)  # Newton


# -- other bodies, other sizes ----------------------------------------------------------------------------------------
def random_problem(seed: int, n: int, root: int, k: int, sizes: tuple[int, ...], e: int) -> BodyProblem:
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((n, n))
    limit = rng.uniform(0.5, 8.0, n - root)
    levels = [(rng.standard_normal((m, max(1, m // 2))) @ rng.standard_normal((max(1, m // 2), n)),
               rng.standard_normal(m)) for m in sizes]  # fmt: skip
    return build_body_problem(
        L @ L.T / n + 0.1 * np.eye(n), 3.0 * rng.standard_normal(n), root=root, G=rng.standard_normal((n, k)),
        force_limit=rng.choice([0.0, 1.0, 5.0, np.inf], k), torque_low=-limit, torque_high=0.5 * limit, levels=levels,
        weight=rng.uniform(0.1, 2.0, n), posture=rng.standard_normal(n),
        extra=(rng.standard_normal((e, n)), rng.standard_normal(e)), force_weight=0.1, force_unit=10.0,
    )  # fmt: skip


SHAPES = [
    (9, 0, 0, (), 0), (9, 0, 0, (4,), 2), (9, 3, 8, (4, 6), 3), (12, 6, 16, (20, 3, 3), 30), (12, 6, 0, (3,), 1),
    (7, 3, 4, (2, 2, 2, 2, 2), 0), (5, 0, 3, (9,), 9), (4, 4, 6, (2,), 0), (30, 6, 24, (12, 3), 12),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bodies_of_every_shape(shape: tuple[int, int, int, tuple[int, ...], int]):
    for seed in range(6):
        p = random_problem(seed, *shape)
        s = solve_body(p)
        check_optimal(p, s, judge=True)
        assert defect(p, unpack(p, s)).max() < 1e-6


def test_a_joint_without_a_motor_gives_no_torque():
    p = random_problem(1, 9, 0, 0, (3,), 0)
    low, high = p.torque_low.copy(), p.torque_high.copy()
    low[0] = high[0] = 0.0
    p = replace(p, torque_low=low, torque_high=high)
    s = solve_body(p)
    assert s.torque[0] == 0.0
    check_optimal(p, s, judge=True)


def test_a_box_without_zero_is_kept_to():
    p = random_problem(2, 9, 3, 4, (3,), 0)
    p = replace(p, torque_low=p.torque_low + 20.0, torque_high=p.torque_high + 20.0)
    s = solve_body(p)
    check_optimal(p, s, judge=True)
    assert s.torque[3:].min() > 10.0


def test_out_of_steps_is_still_within_limits():
    p = make(family("torque", 0))
    for steps in (1, 5, 20):
        s = solve_body(p, max_steps=steps)
        assert s.status == 1 and s.iterations == steps
        assert "out of steps" in s.words and "within their limits" in s.words
        check_bounds(p, s)
    assert solve_body(p).words == "solved"


def test_memory_of_another_body_is_no_harm():
    p, other = make(family("double", 0)), make(family("double", 0, TWELVE))
    assert (solve_body(p, solve_body(other).memory).values == solve_body(p).values).all()
    assert (solve_body(p, cold_memory(p)).values == solve_body(p).values).all()


# -- bad input --------------------------------------------------------------------------------------------------------
def test_bad_problems_say_what_is_wrong():
    M, h = np.eye(4), np.zeros(4)
    with pytest.raises(BadValue, match=r"M of the whole-body problem has shape \(4, 4\); got \(3, 3\)"):
        build_body_problem(np.eye(3), h)
    with pytest.raises(BadValue, match="level 1 needs rows"):
        build_body_problem(M, h, levels=[(np.ones((1, 4)), [0.0]), (np.ones((2, 3)), [0.0, 0.0])], root=0)
    with pytest.raises(BadValue, match="NaN"):
        build_body_problem(M, [0.0, np.nan, 0.0, 0.0])
    with pytest.raises(BadValue, match="weights are positive"):
        build_body_problem(M, h, weight=np.zeros(4), root=0)
    with pytest.raises(BadValue, match="joint dof 1 leave no torque"):
        build_body_problem(M, h, root=2, torque_low=[0.0, 1.0], torque_high=[0.0, -1.0])
    with pytest.raises(BadValue, match="force_limit is 0"):
        build_body_problem(M, h, root=2, G=np.ones((4, 1)), force_limit=[-1.0])
    with pytest.raises(BadValue, match="root counts"):
        build_body_problem(M, h, root=5)
    with pytest.raises(BadValue, match="friction"):
        friction_edges([[0.0, 0.0, 1.0]], -1.0)
    p = make(family("double", 0))
    wrong = p.level_targets.copy()
    wrong[-1] = np.inf
    with pytest.raises(BadValue, match="strict level 1"):
        solve_body(replace(p, level_targets=wrong))


# -- closed loop ------------------------------------------------------------------------------------------------------
def run(controller: Stand, force: tuple[float, float, float], seconds: float) -> cp.Recording:
    character = cp.character("human")
    pushes = [Push("thorax", force, t, 0.1) for t in np.arange(0.3, seconds, 1.2)]
    record = cp.simulate(character, controller, seconds, disturbances=pushes, start=upright(character))
    assert not record.notes["status"].any()
    assert record.notes["over"].max() <= 0.0 and record.notes["pull"].max() <= 0.0
    return record


def test_it_stands_through_a_push():
    record = run(Stand(), (150.0, 0.0, 0.0), 1.5)
    assert record.qpos[:, 2].min() > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("points", [EIGHT, TWELVE], ids=["8 points", "12 points"])
@pytest.mark.parametrize("force", [(300.0, 0.0, 0.0), (0.0, 250.0, 0.0), (-600.0, 200.0, 0.0)], ids=str)
@pytest.mark.parametrize("torque", [1.0, 0.35])
def test_it_never_fails_in_the_loop(points: tuple[int, ...], force: tuple[float, float, float], torque: float):
    """Pushed over, on the ground, saturated: every tick is solved, whatever becomes of the body."""
    weighted = replace(Stand().gains, com_weight=1e4)
    for gains in (Stand().gains, weighted):
        run(Stand(gains=gains, points=points, torque=torque), force, 4.0)


def test_gains_are_read_as_written():
    assert StandardGains(com_weight=4.0, spin_weight=9.0).numbers[-2:].tolist() == [2.0, 3.0]
    assert StandardGains().numbers[7] < 0.0
