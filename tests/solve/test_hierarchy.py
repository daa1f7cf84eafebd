"""The strict hierarchy against judges that share nothing with it: clarabel, SciPy, pseudo-inverses, plain algebra."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from counterpoise.errors import BadValue, UnknownName
from counterpoise.solve import Level, Part, Solution, Warm, build_hierarchy, solve_hierarchy
from solve.families import KINDS, Case, badly_scaled, make_case
from solve.kkt import assert_optimal
from solve.reference import interior_point, reference


def levels_of(case: Case) -> list[Level]:
    return [Level(A, b, name=f"level {k}") for k, (A, b) in enumerate(case.levels)]


def solve_case(case: Case, **more: object) -> Solution:
    return solve_hierarchy(levels_of(case), case.rows, case.bounds, **more)  # type: ignore[arg-type]


def assert_as_reference(case: Case, residuals: np.ndarray) -> bool:
    """Lexicographically as good as the reference: to 1e-6 of each residual (or 1e-8 of its target, near zero).

    Where the reference itself is not sure (or we are better), levels below cannot be compared; False says so.
    """
    judge = reference(case.levels, *case.constraints)
    for got, want, (_, b) in zip(residuals, judge.residuals, case.levels, strict=True):
        reach = 1e-6 * want + 1e-8 * (1.0 + np.linalg.norm(b))
        if got < want - (reach if judge.trusted else 1e-10 * (1.0 + want)):
            assert want - got <= 1e-4 * (1.0 + np.linalg.norm(b)), (residuals, judge.residuals)
            return False
        assert got <= want + reach, (residuals, judge.residuals)
    return True


# -- the contract -----------------------------------------------------------------------------------------------------
def test_levels_are_obeyed_in_their_order():
    """Two levels that contradict each other, and a bound: the first is met, the second as far as that leaves room."""
    want_one, want_two = Level([[1.0, 0.0]], [1.0], name="one"), Level([[1.0, 1.0]], [5.0], name="two")
    done = solve_hierarchy([want_one, want_two], bounds=(None, [np.inf, 3.0]))
    assert done.status == "solved" and bool(done)
    assert np.allclose(done.x, [1.0, 3.0])
    assert np.allclose(done.residuals, [0.0, 1.0])
    assert done.objectives == pytest.approx({"one": 0.0, "two": 1.0})
    assert done.residual("two") == pytest.approx(1.0)
    (wall,) = done.active
    assert (wall.kind, wall.index, wall.side, wall.level) == ("bound", 1, "high", "two")
    assert wall.multiplier == pytest.approx(1.0)  # d(residual^2 / 2) / d(end) = -1
    other = solve_hierarchy([want_two, want_one], bounds=(None, [np.inf, 3.0]))
    assert np.allclose(other.residuals, [0.0, 1.0]) and np.allclose(other.x, [2.0, 3.0])


def test_without_inequalities_it_is_algorithm_one(rng: np.random.Generator):
    """De Lasa 2011, Algorithm 1, by pseudo-inverses and null spaces from singular values."""
    for _ in range(30):
        n = int(rng.integers(2, 12))
        levels = []
        for _ in range(4):
            m, r = int(rng.integers(1, n)), int(rng.integers(1, n))
            levels.append((rng.standard_normal((m, r)) @ rng.standard_normal((r, n)), rng.standard_normal(m)))
        C, d = np.eye(n), np.zeros(n)
        for A, b in levels:
            bar = A @ C
            d = d + C @ np.linalg.pinv(bar, rcond=1e-10) @ (b - A @ d)
            _, s, Vt = np.linalg.svd(bar)
            C = C @ Vt[int((s > 1e-10 * max(s.max(initial=0.0), 1.0)).sum()) :].T
        done = solve_hierarchy([Level(A, b, name=str(i)) for i, (A, b) in enumerate(levels)])
        assert np.allclose(done.x, d, atol=1e-8)


def test_objectives_of_a_level_combine_by_weights(rng: np.random.Generator):
    A, B, a, b = (
        rng.standard_normal((3, 4)),
        rng.standard_normal((5, 4)),
        rng.standard_normal(3),
        rng.standard_normal(5),
    )
    parts = Level(objectives=[Part(A, a, 4.0, "hand"), Part(B, b, 0.25, "posture")], name="both")
    stacked = Level(np.vstack([2.0 * A, 0.5 * B]), np.concatenate([2.0 * a, 0.5 * b]), name="stacked")
    rows = Level(np.vstack([A, B]), np.concatenate([a, b]), name="rows", weights=[4.0] * 3 + [0.25] * 5)
    one, two, three = (solve_hierarchy([level]) for level in (parts, stacked, rows))
    assert np.allclose(one.x, two.x) and np.allclose(one.x, three.x)
    assert np.allclose(one.residuals, two.residuals)
    assert one.objectives["hand"] == pytest.approx(np.linalg.norm(A @ one.x - a))
    assert one.residuals[0] ** 2 == pytest.approx(
        4.0 * one.objectives["hand"] ** 2 + 0.25 * one.objectives["posture"] ** 2
    )
    assert np.allclose(solve_hierarchy([Level.of([Part(A, a, 1.0, "x"), Part(B, b, 0.0, "y")])]).x,
                       solve_hierarchy([Level(A, a)]).x)  # fmt: skip
    with pytest.raises(UnknownName, match="hand"):
        one.residual("hands")


def test_what_is_left_free_is_nearest_to_near():
    A = np.array([[1.0, 1.0, 0.0]])
    assert np.allclose(solve_hierarchy([Level(A, [2.0])]).x, [1.0, 1.0, 0.0])
    assert np.allclose(solve_hierarchy([Level(A, [2.0])], near=[3.0, 1.0, 7.0]).x, [2.0, 0.0, 7.0])
    assert np.allclose(solve_hierarchy([], bounds=([1.0, -1.0], [2.0, 1.0])).x, [1.0, 0.0])


def test_levels_without_rows_and_rows_without_entries_are_fine():
    empty, real = Level(np.zeros((0, 2)), np.zeros(0), name="empty"), Level(np.eye(2), [1.0, 2.0], name="real")
    done = solve_hierarchy([empty, real], rows=(np.zeros((1, 2)), [-1.0], [1.0]))
    assert done.status == "solved" and np.allclose(done.x, [1.0, 2.0]) and np.allclose(done.residuals, 0.0)


def test_an_answer_stays_still_and_belongs_to_its_problem():
    A = np.eye(2)
    done = solve_hierarchy([Level(A, [1.0, 2.0], name="a")])
    A[:] = 7.0
    assert np.allclose(done.problem.A, np.eye(2))
    with pytest.raises(ValueError, match="read-only"):
        done.x[0] = 3.0


# -- exactness --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
def test_residuals_are_those_of_the_reference(kind: str):
    for seed in range(8):
        case = make_case(kind, np.random.default_rng([31, seed]))
        done = solve_case(case)
        assert done.status == "solved"
        assert_as_reference(case, done.residuals)
        assert_optimal(done)


@pytest.mark.parametrize("kind", KINDS)
def test_units_do_not_matter(kind: str):
    """Variables, rows and levels in units from 1e-6 to 1e6: the same residuals as the problem in good units."""
    for seed in range(6):
        rng = np.random.default_rng([32, seed])
        case = make_case(kind, rng)
        scaled, factors = badly_scaled(case, rng)
        done = solve_case(scaled)
        assert done.status == "solved"
        assert_as_reference(case, done.residuals / factors)


@settings(max_examples=60)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**32), decades=st.sampled_from([0.0, 0.0, 3.0, 6.0]))
def test_any_feasible_problem_is_solved(kind: str, seed: int, decades: float):
    rng = np.random.default_rng(seed)
    case = make_case(kind, rng, biggest=12, most_rows=40)
    other, factors = badly_scaled(case, rng, decades)
    done = solve_case(other)
    assert done.status == "solved"
    assert_as_reference(case, done.residuals / factors)
    assert max(m.defect for m in done.multipliers[:-1]) < 1e-7


@settings(max_examples=60)
@given(
    data=st.lists(
        st.tuples(st.lists(st.integers(-3, 3), min_size=3, max_size=3), st.integers(-5, 5)), min_size=1, max_size=6
    ),
    walls=st.lists(
        st.tuples(st.lists(st.integers(-2, 2), min_size=3, max_size=3), st.integers(0, 2), st.integers(0, 2)),
        max_size=8,
    ),
)
def test_small_integers_meet_every_degeneracy(data: list, walls: list):
    """One row a level, walls through and around the origin: ties everywhere."""
    levels = [(np.array([row], float), np.array([b], float)) for row, b in data]
    G = np.array([row for row, _, _ in walls], float).reshape(-1, 3)
    low, high = -np.array([a for _, a, _ in walls], float), np.array([a for _, _, a in walls], float)
    free = np.full(3, np.inf)
    case = Case(levels, G, low, high, -free, free)
    done = solve_case(case)
    assert done.status == "solved"
    assert_as_reference(case, done.residuals)
    assert_optimal(done)


@pytest.mark.slow
@pytest.mark.parametrize("decades", [0.0, 3.0, 6.0])
def test_thousands_of_problems(decades: float):
    """3,000 problems of ten kinds: none unsolved, none unproved, none worse than the reference."""
    compared = 0
    for number in range(3000):
        rng = np.random.default_rng([33, number])
        case = make_case(KINDS[number % len(KINDS)], rng, biggest=20 if number % 10 else 60)
        other, factors = badly_scaled(case, rng, decades)
        done = solve_case(other)
        assert done.status == "solved", number
        compared += assert_as_reference(case, done.residuals / factors)
        assert max(m.defect for m in done.multipliers[:-1]) < 1e-7, number
    assert compared >= 2950


@pytest.mark.parametrize("kind", KINDS)
def test_the_plain_judge_agrees(kind: str):
    for seed in range(4):
        case = make_case(kind, np.random.default_rng([34, seed]), biggest=10, most_rows=30)
        fast, plain = solve_case(case), solve_case(case, method="plain")
        assert plain.status == "solved"
        assert np.allclose(fast.x, plain.x, atol=1e-6 * (1.0 + np.abs(fast.x).max()))
        assert np.allclose(fast.residuals, plain.residuals, atol=1e-7)


def body_like(rng: np.random.Generator, strength: float) -> Case:
    """Sizes and structure of a standing figure: 45 accelerations, 32 multipliers, two rigid feet of four points."""
    nv, J = 45, rng.standard_normal((120, 45))
    M, h = J.T @ J / 120 + 0.02 * np.eye(nv), 3.0 * rng.standard_normal(nv)
    feet = rng.standard_normal((2, 6, nv))
    corners = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
    Jc = np.vstack([foot[3:] - np.cross(np.eye(3), c).T @ foot[:3] for foot in feet for c in corners])
    edges = np.array([[0.8, 0.0, 1.0], [-0.8, 0.0, 1.0], [0.0, 0.8, 1.0], [0.0, -0.8, 1.0]])
    B = np.vstack([edges @ Jc[3 * i : 3 * i + 3] for i in range(8)]).T
    limit = strength * (1.0 + np.abs(rng.standard_normal(nv)))
    limit[:6] = 0.0

    def wide(A: np.ndarray) -> np.ndarray:
        return np.hstack([A, np.zeros((len(A), 32))])

    style = np.vstack([0.3 * rng.standard_normal((3, nv)), np.eye(nv)])
    levels = [
        (wide(Jc), np.zeros(24)),
        (wide(rng.standard_normal((3, nv))), 2.0 * rng.standard_normal(3)),
        (wide(style), 3.0 * rng.standard_normal(48)),
    ]
    free = np.full(nv, np.inf)
    lower, upper = np.concatenate([-free, np.zeros(32)]), np.full(77, np.inf)
    return Case(levels, np.hstack([M, -B]), -limit - h, limit - h, lower, upper)


@pytest.mark.parametrize("strength", [100.0, 4.0, 2.0])
def test_a_problem_the_size_of_a_body(strength: float):
    case = body_like(np.random.default_rng(int(strength)), strength)
    done = solve_case(case)
    assert done.status == "solved"
    assert_as_reference(case, done.residuals)
    assert_optimal(done)


# -- warm starts ------------------------------------------------------------------------------------------------------
def test_consecutive_problems_start_where_the_last_ended(rng: np.random.Generator):
    case = body_like(rng, 5.0)
    last = solve_case(case)
    guesses = []
    for _ in range(10):
        case.levels[2] = (case.levels[2][0], case.levels[2][1] + 0.01 * rng.standard_normal(48))
        case.low += 0.01
        case.high += 0.01
        warm, cold = solve_case(case, warm=last), solve_case(case)
        assert warm.status == cold.status == "solved"
        assert np.allclose(warm.x, cold.x, atol=1e-8)
        guesses.append(warm.work["guesses"] < cold.work["guesses"] + cold.work["programs"])
        last = warm
    assert all(guesses)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_warm_start_does_no_harm(kind: str):
    for seed in range(4):
        rng = np.random.default_rng([35, seed])
        case = make_case(kind, rng, biggest=10, most_rows=30)
        cold = solve_case(case)
        nonsense = Warm(rng.standard_normal(len(cold.x)), rng.integers(-1, 2, len(cold.sides)))
        warm = solve_case(case, warm=nonsense)
        assert warm.status == "solved" and np.allclose(warm.x, cold.x, atol=1e-7 * (1.0 + np.abs(cold.x).max()))
        assert np.allclose(solve_case(case, warm=solve_hierarchy([Level(np.eye(1), [1.0])])).x, cold.x, atol=1e-9)


# -- contradictions ---------------------------------------------------------------------------------------------------
def feasible(G: np.ndarray, low: np.ndarray, high: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> bool:
    top, bottom = np.isfinite(high), np.isfinite(low)
    A, b = np.vstack([G[top], -G[bottom]]), np.concatenate([high[top], -low[bottom]])
    bounds = [(a if np.isfinite(a) else None, c if np.isfinite(c) else None) for a, c in zip(lower, upper, strict=True)]
    return linprog(np.zeros(G.shape[1]), A_ub=A, b_ub=b, bounds=bounds).status == 0


def test_a_contradiction_is_named():
    G = np.array([[1.0, 1.0], [1.0, -1.0], [2.0, 2.0], [0.0, 1.0]])
    done = solve_hierarchy(
        [Level(np.eye(2), [0.0, 0.0], name="rest")],
        (G, [1.0, -5.0, -9.0, -4.0], [np.inf, 5.0, 1.0, 4.0]),
        row_names=["sum", "difference", "double", "height"],
    )
    assert done.status == "infeasible" and not done
    assert set(done.conflict) == {"sum", "double"}
    assert np.allclose(G[[0, 2]] @ done.x, [0.6, 1.2], atol=1e-9)  # violations 0.4 and 0.2: least squares


def test_conflicts_are_as_small_as_can_be(rng: np.random.Generator):
    """Together they cannot hold; without any one of them they can (SciPy's linear programs say so)."""
    seen = 0
    while seen < 25:
        n, m = int(rng.integers(2, 7)), int(rng.integers(3, 16))
        G = rng.standard_normal((m, n)) if rng.random() < 0.5 else rng.integers(-2, 3, (m, n)).astype(float)
        low, width = 2.0 * rng.standard_normal(m), rng.exponential(0.5, m)
        high = np.where(rng.random(m) < 0.5, np.inf, low + width)
        lower, upper = np.full(n, -1.0), np.where(rng.random(n) < 0.5, np.inf, 1.0)
        if feasible(G, low, high, lower, upper) or not np.abs(G).sum(axis=1).all():
            continue
        seen += 1
        done = solve_hierarchy([Level(np.eye(n), np.ones(n))], (G, low, high), (lower, upper))
        assert done.status == "infeasible" and done.contradiction
        kept = np.array(done.contradiction)

        def holds(some: np.ndarray) -> bool:
            rows, bounds = some[some >= n] - n, some[some < n]  # noqa: B023
            floor, roof = np.full(n, -np.inf), np.full(n, np.inf)  # noqa: B023
            floor[bounds], roof[bounds] = lower[bounds], upper[bounds]  # noqa: B023
            return feasible(G[rows], low[rows], high[rows], floor, roof)  # noqa: B023

        assert not holds(kept)
        for i in kept:
            assert holds(kept[kept != i])
        # least squared violation of the rows, bounds kept: the same as an interior-point program finds
        wide = np.hstack([G, np.eye(m)])
        C = np.vstack([wide, np.hstack([np.eye(n), np.zeros((n, m))])])
        target = np.hstack([np.zeros((m, n)), np.eye(m)])
        w, _, _ = interior_point(target, np.zeros(m), C, np.concatenate([low, lower]), np.concatenate([high, upper]))
        value = G @ done.x
        violation = np.maximum(np.maximum(low - value, value - high), 0.0)
        assert np.linalg.norm(violation) == pytest.approx(np.linalg.norm(w[n:]), rel=1e-5)
        assert (done.x >= lower).all() and (done.x <= upper).all()


def test_a_row_of_zeros_can_contradict_alone():
    done = solve_hierarchy([Level(np.eye(2), [1.0, 1.0])], (np.array([[1.0, 0.0], [0.0, 0.0]]), [0.0, 1.0], [5.0, 2.0]))
    assert done.status == "infeasible" and done.conflict == ("row 1",)


# -- other methods ----------------------------------------------------------------------------------------------------
def test_weights_tend_to_strict_priorities(rng: np.random.Generator):
    """Section 3.4: the larger the ratio, the nearer."""
    case = make_case("full", np.random.default_rng([36, 3]), biggest=8, most_rows=10, levels=3)
    strict = solve_case(case)
    far = []
    for ratio in (1e1, 1e2, 1e3, 1e4):
        importance = [ratio ** (len(case.levels) - 1 - k) for k in range(len(case.levels))]
        done = solve_case(case, method="weighted", importance=importance)
        assert done.status == "solved"
        far.append(np.linalg.norm(done.residuals[0] - strict.residuals[0]))
    assert far[-1] <= far[0] and far[-1] < 1e-2
    one = [Level(np.eye(2), [3.0, 1.0])]
    assert np.allclose(solve_hierarchy(one, bounds=(None, 2.0), method="weighted").x, [2.0, 1.0], atol=1e-6)


def test_the_cascade_agrees_where_it_works():
    same = 0
    for seed in range(12):
        case = make_case("full", np.random.default_rng([37, seed]), biggest=6, most_rows=8, levels=2)
        strict, cascade = solve_case(case), solve_case(case, method="cascade")
        assert cascade.status in ("solved", "inexact")
        if cascade.status == "solved":
            scale = 1.0 + np.array([np.linalg.norm(b) for _, b in case.levels])
            same += bool((np.abs(strict.residuals - cascade.residuals) <= 1e-4 * scale).all())
    assert same >= 8


def test_other_methods_name_contradictions_too():
    for method in ("weighted", "cascade", "plain"):
        done = solve_hierarchy([Level(np.eye(1), [0.0])], ([[1.0], [1.0]], [1.0, -5.0], [5.0, -1.0]), method=method)
        assert done.status == "infeasible" and set(done.conflict) == {"row 0", "row 1"}


# -- bad input --------------------------------------------------------------------------------------------------------
GOOD = Level(np.eye(2), [0.0, 0.0], name="good")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Level([[1.0, np.nan]], [0.0], name="com"), ["level 'com'", r"A\[0, 1\]"]),
        (lambda: Level([[1.0, 2.0]], [np.inf], name="com"), ["level 'com'", r"b\[0\]"]),
        (lambda: Level([[1.0, 2.0]], [0.0, 1.0], name="com"), ["'com'", r"\(1, 2\)", r"\(2,\)"]),
        (lambda: Level(None, None, name="com"), ["'com'", "zero rows are fine"]),
        (lambda: Level([[1.0]], [0.0], name="com", weights=-1.0), ["'com'", "not negative"]),
        (lambda: Level([["a"]], [0.0], name="com"), ["'com'", "numbers"]),
        (lambda: Part(np.eye(2), [0.0, np.nan], name="hand"), ["objective 'hand'", r"b\[1\]"]),
        (lambda: Part(np.eye(2), [0.0, 0.0], weight=np.nan, name="hand"), ["'hand'", "weight"]),
        (lambda: Level.of([Part(np.eye(2), [0.0, 0.0], name="a"), Part(np.eye(3), np.zeros(3), name="b")], "arms"),
         ["level 'arms'", "a: 2", "b: 3"]),
        (lambda: solve_hierarchy([GOOD, Level(np.eye(3), np.zeros(3), name="odd")]), ["'odd'", "3 columns"]),
        (lambda: solve_hierarchy([GOOD, GOOD]), ["'good'", "rename"]),
        (lambda: solve_hierarchy([GOOD, None]), ["level 2", "NoneType"]),
        (lambda: solve_hierarchy([GOOD], (np.eye(3), 0.0, 1.0)), [r"\(3, 3\)", r"\(m, 2\)"]),
        (lambda: solve_hierarchy([GOOD], (np.eye(2), [0.0, 2.0], [1.0, 1.0])), ["row 1", "2.0", "1.0"]),
        (lambda: solve_hierarchy([GOOD], (np.eye(2), [0.0, 2.0], [1.0, 1.0]), row_names=["a", "knee"]), ["'knee'"]),
        (lambda: solve_hierarchy([GOOD], (np.eye(2), [0.0, np.nan], None)), [r"low\[1\]"]),
        (lambda: solve_hierarchy([GOOD], (np.eye(2), 0.0)), [r"\(G, low, high\)"]),
        (lambda: solve_hierarchy([GOOD], (np.array([[np.nan, 1.0]]), 0.0, 1.0)), [r"G\[0, 0\]"]),
        (lambda: solve_hierarchy([GOOD], bounds=([0.0, 1.0], [1.0, 0.5])), ["variable 1", "1.0", "0.5"]),
        (lambda: solve_hierarchy([GOOD], bounds=([0.0], None)), [r"\(1,\)", r"\(2,\)"]),
        (lambda: solve_hierarchy([GOOD], bounds=(np.inf, None)), ["lower", "inf"]),
        (lambda: solve_hierarchy([GOOD], near=[1.0]), ["near", r"\(1,\)"]),
        (lambda: solve_hierarchy([]), ["number of variables"]),
        (lambda: solve_hierarchy([GOOD], method="weighted", importance=[1.0, 2.0]), ["1 weights"]),
    ],
)  # fmt: skip
def test_an_error_names_what_is_wrong(make, words):
    with pytest.raises(BadValue) as error:
        make()
    for word in words:
        assert re.search(word, str(error.value)), (word, str(error.value))


def test_an_unknown_method_offers_the_nearest():
    with pytest.raises(UnknownName, match="weighted"):
        solve_hierarchy([GOOD], method="weigthed")  # type: ignore[arg-type]


def test_a_problem_can_be_built_looked_at_and_solved():
    problem = build_hierarchy([GOOD], ([[1.0, 1.0]], 1.0, None), row_names=["sum"])
    assert problem.size == 2 and problem.names == ("good",) and problem.constraint_name(2) == "sum"
    done = solve_hierarchy(problem)
    assert np.allclose(done.x, [0.5, 0.5]) and done.active[0].name == "sum"
