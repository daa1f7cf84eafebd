"""Strict priorities: what always holds, whatever the problem."""

from __future__ import annotations

import numpy as np
import pytest

from counterpoise.solve import Level, Part, Solution, solve_hierarchy
from solve.families import KINDS, Case, make_case
from solve.kkt import assert_optimal

SEEDS = range(5)


def case_of(kind: str, seed: int) -> tuple[Case, np.random.Generator]:
    rng = np.random.default_rng([41, seed])
    return make_case(kind, rng, biggest=12, most_rows=40), rng


def solve(levels: list[tuple[np.ndarray, np.ndarray]], case: Case) -> Solution:
    named = [Level(A, b, name=f"level {k}") for k, (A, b) in enumerate(levels)]
    done = solve_hierarchy(named, case.rows, case.bounds)
    assert done.status == "solved"
    return done


def same(one: np.ndarray, two: np.ndarray, tolerance: float = 1e-7) -> bool:
    return bool(np.allclose(one, two, rtol=0.0, atol=tolerance * (1.0 + np.abs(one).max(initial=0.0))))


@pytest.mark.parametrize("kind", KINDS)
def test_a_lower_level_never_disturbs_a_higher_one(kind: str):
    for seed in SEEDS:
        case, _ = case_of(kind, seed)
        whole = solve(case.levels, case).residuals
        for count in range(1, len(case.levels)):
            part = solve(case.levels[:count], case).residuals
            scale = 1.0 + np.array([np.linalg.norm(b) for _, b in case.levels[:count]])
            assert (np.abs(part - whole[:count]) <= 1e-8 * scale).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_variables_and_constraints_does_not_matter(kind: str):
    for seed in SEEDS:
        case, rng = case_of(kind, seed)
        done = solve(case.levels, case)
        columns, rows = rng.permutation(len(case.lower)), rng.permutation(len(case.low))
        shuffled = []
        for A, b in case.levels:
            order = rng.permutation(len(b))
            shuffled.append((A[order][:, columns], b[order]))
        other = Case(
            shuffled,
            case.G[rows][:, columns],
            case.low[rows],
            case.high[rows],
            case.lower[columns],
            case.upper[columns],
        )
        again = solve(shuffled, other)
        assert same(done.x[columns], again.x)
        assert same(done.residuals, again.residuals)


@pytest.mark.parametrize("kind", KINDS)
def test_the_units_of_an_objective_alone_in_its_level_do_not_matter(kind: str):
    for seed in SEEDS:
        case, rng = case_of(kind, seed)
        factors = 10.0 ** rng.uniform(-4, 4, len(case.levels))
        done = solve(case.levels, case)
        again = solve([(f * A, f * b) for f, (A, b) in zip(factors, case.levels, strict=True)], case)
        assert same(done.x, again.x)


@pytest.mark.parametrize("kind", KINDS)
def test_splitting_a_level_into_objectives_changes_nothing(kind: str):
    for seed in SEEDS:
        case, rng = case_of(kind, seed)
        done = solve(case.levels, case)
        split = []
        for k, (A, b) in enumerate(case.levels):
            cut = int(rng.integers(0, len(b) + 1))
            split.append(
                Level(objectives=[Part(A[:cut], b[:cut], 1.0, f"{k} a"), Part(A[cut:], b[cut:], 1.0, f"{k} b")])
            )
        again = solve_hierarchy(split, case.rows, case.bounds)
        assert np.array_equal(done.x, again.x)


@pytest.mark.parametrize("kind", KINDS)
def test_a_redundant_level_is_free(kind: str):
    """Repeating combinations of rows that are settled already moves nothing."""
    for seed in SEEDS:
        case, rng = case_of(kind, seed)
        done = solve(case.levels, case)
        k = int(rng.integers(0, len(case.levels)))
        A, b = case.levels[k]
        mix = rng.standard_normal((3, len(b)))
        more = [*case.levels[: k + 1], (mix @ A, mix @ (A @ done.x)), *case.levels[k + 1 :]]
        assert same(done.x, solve(more, case).x)


@pytest.mark.parametrize("kind", KINDS)
def test_every_level_is_proved_by_its_multipliers(kind: str):
    """Stationarity, signs and complementary slackness of each level, and of the nearness that ends it."""
    for seed in SEEDS:
        case, _ = case_of(kind, seed)
        assert_optimal(solve(case.levels, case))


def test_multipliers_are_the_worth_of_moving_an_end():
    """Duality: d(residual^2 / 2) / d(end) = -multiplier, by differences."""
    rng = np.random.default_rng(5)
    A, b, G = rng.standard_normal((6, 4)), 5.0 * rng.standard_normal(6), rng.standard_normal((5, 4))
    high = np.abs(rng.standard_normal(5))
    level = [Level(A, b, name="only")]
    done = solve_hierarchy(level, (G, None, high))
    assert done.active
    h = 1e-6
    for row in range(5):
        shift = h * np.eye(5)[row]
        up, down = (solve_hierarchy(level, (G, None, high + s * shift)).residuals[0] ** 2 / 2 for s in (1.0, -1.0))
        assert (up - down) / (2 * h) == pytest.approx(-done.multipliers[0].rows[row], abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tighter_constraint_never_helps_the_first_level(kind: str):
    for seed in SEEDS:
        case, _ = case_of(kind, seed)
        done = solve(case.levels, case)
        inside = Case(
            case.levels,
            np.vstack([case.G, np.ones((1, len(case.lower)))]),
            np.append(case.low, done.x.sum() - 1.0),
            np.append(case.high, done.x.sum()),
            case.lower,
            case.upper,
        )
        assert same(done.x, solve(case.levels, inside).x)  # a wall that just touches the answer leaves it
