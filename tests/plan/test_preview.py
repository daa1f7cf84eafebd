"""The plan of several steps: derivatives beside differences, the path beside an integration, the optimum beside scipy's
global search, and what a plan does after a push."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import differential_evolution

import counterpoise as cp
from counterpoise.control.walk.steps_ahead import leg_frame
from counterpoise.defaults import GRAVITY
from counterpoise.errors import BadValue
from counterpoise.plan import (
    FootstepPlan,
    LegFrame,
    PlanCosts,
    PlanProblem,
    PlanStart,
    PlanWish,
    build_plan,
    solve_plan,
)
from counterpoise.plan.preview_residuals import LEAST, MOST

STEP = PlanWish(length=0.6, time=0.54, double=0.11, width=0.14)
IN_PLACE = PlanWish(length=0.0, time=0.34, double=0.07, width=0.14)


@pytest.fixture(scope="module")
def frame() -> LegFrame:
    return leg_frame(cp.character("human"), cp.WalkTuning())


def standing(frame: LegFrame, velocity: tuple[float, float], stance: int = 0) -> PlanStart:
    """A body that stands on both feet, moves with a velocity, and lifts a foot now."""
    side = 1.0 if stance == 0 else -1.0
    com = np.array([0.03, -0.08 * side])
    return PlanStart(
        stance, com, com + np.array(velocity) / frame.omega, np.zeros(2), 0.0, np.array([0.0, -0.16 * side]),
        np.zeros(2), np.array([0.06, 0.0]), gone=0.07, swung=0.0,
    )  # fmt: skip


def some_problem(frame: LegFrame, seed: int, last: FootstepPlan | None = None) -> PlanProblem:
    rng = np.random.default_rng(seed)
    start = standing(frame, tuple(rng.normal(0.0, 0.7, 2)), int(rng.integers(2)))
    swung = float(rng.uniform(0.0, 0.2)) if rng.integers(2) else None
    start = replace(
        start, swing_velocity=rng.normal(0.0, 1.0, 2), stance_yaw=0.1, swung=swung,
        double_left=0.05 if swung is None else 0.0,
    )  # fmt: skip
    wish = STEP if rng.integers(2) else IN_PLACE
    return build_plan(frame, start, replace(wish, turn=0.1, heading=0.4, aside=0.02), last=last, aged=0.01)


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_are_those_of_differences(frame, seed):
    """At random steps, near and far from the best ones: most hinges are met."""
    rng = np.random.default_rng(seed)
    last = solve_plan(some_problem(frame, seed))
    problem = some_problem(frame, seed, last)
    moved = np.zeros(problem.residuals(last.x, problem.ways()[0])[0].shape, bool)
    for trial in range(40):
        ways = problem.ways()[trial % 9]
        x = last.x + rng.normal(0.0, 0.02 if trial % 2 else 0.3, 9)
        x[::3] = np.clip(x[::3], 0.05, 0.6)
        _, J = problem.residuals(x, ways)
        h = 1e-6
        found = np.empty_like(J)
        for i, e in enumerate(h * np.eye(9)):
            found[:, i] = (problem.residuals(x + e, ways)[0] - problem.residuals(x - e, ways)[0]) / (2 * h)
        smooth = np.abs(found).max() if found.size else 1.0
        assert np.median(np.abs(J - found)) < 1e-6
        assert (np.abs(J - found) < 1e-4 * max(smooth, 1.0)).mean() > 0.999  # a hinge may lie within the difference
        moved |= np.abs(J).max(axis=1) > 0.0
    assert moved.mean() > 0.75


@pytest.mark.parametrize("seed", [3, 4])
def test_the_path_is_what_an_integration_says(frame, seed):
    plan = solve_plan(some_problem(frame, seed))
    path, omega = plan.path, frame.omega
    start = np.concatenate([path.com[0], omega * (path.capture[0] - path.com[0])])
    here, at = start, 0.0
    for k in range(1, len(path.times)):
        p0, p1, T = path.pressure[k - 1], path.pressure[k], path.times[k] - at

        def fall(t, y, p0=p0, p1=p1, T=T):
            return np.concatenate([y[2:], omega**2 * (y[:2] - p0 - (p1 - p0) * t / T)])

        here = solve_ivp(fall, (0.0, T), here, rtol=1e-9, atol=1e-11).y[:, -1]
        at = path.times[k]
        assert here[:2] == pytest.approx(path.com[k], abs=1e-6)
        assert here[:2] + here[2:] / omega == pytest.approx(path.capture[k], abs=1e-6)
    assert at == pytest.approx(plan.landing_times[-1])


@pytest.mark.parametrize("seed", range(5))
def test_no_global_search_finds_steps_that_are_cheaper_by_a_twentieth(frame, seed):
    problem = some_problem(frame, 100 + seed)
    plan = solve_plan(problem)
    assert plan.cost == pytest.approx(problem.cost(plan.x), rel=1e-9)
    assert plan.cost == pytest.approx(sum(plan.costs.values()), rel=1e-9)
    bounds = [b for s in problem.steps for b in ((s[LEAST], s[MOST]), (-1.5, 1.5), (-1.5, 1.5))]
    found = differential_evolution(
        problem.cost,
        bounds,
        seed=seed,
        maxiter=60,
        popsize=6,
        polish=False,
        x0=np.clip(plan.x + 0.03, *np.transpose(bounds)),
        tol=0.0,
    )
    assert plan.cost <= 1.05 * found.fun


def test_a_steady_walk_goes_on_as_it_is(frame):
    """From the capture point of the steady walk the best steps are the usual ones, and cost nothing."""
    side, double, single = -1.0, STEP.double, STEP.time - STEP.double
    sole = frame.soles[0]
    first = sole[0] + frame.first_pressure * (sole[2] - sole[0])
    last = sole[0] + frame.last_pressure * (sole[2] - sole[0])
    steady = cp.plan.pendulum.periodic_capture(
        complex(STEP.length, 0.0), STEP.width, -side, 0.0, first, last, double, single, frame.omega
    )
    capture = np.array([steady.real, steady.imag])  # as the left foot has landed at the origin
    rear = np.array([-STEP.length, side * STEP.width])
    com = capture - np.array([1.2, 0.0]) / frame.omega
    start = PlanStart(0, com, capture, np.zeros(2), 0.0, rear, np.zeros(2), rear + [last, 0.0], 0.0, None, double)
    plan = solve_plan(build_plan(frame, start, STEP))
    assert np.diff(np.vstack([np.zeros(2), plan.footholds])[:, 0], axis=0) == pytest.approx([0.6] * 3, abs=0.01)
    assert plan.landing_times == pytest.approx([0.54, 1.08, 1.62], abs=0.01)
    assert plan.cost < 0.01 and plan.feet.tolist() == [1, 0, 1] and not plan.ways.any()


def test_pushed_it_steps_where_it_falls(frame):
    calm = solve_plan(build_plan(frame, standing(frame, (0.0, 0.0)), IN_PLACE))
    ahead = solve_plan(build_plan(frame, standing(frame, (0.9, 0.0)), IN_PLACE))
    aside = solve_plan(build_plan(frame, standing(frame, (0.0, -0.8)), IN_PLACE))
    assert ahead.footholds[0, 0] > calm.footholds[0, 0] + 0.2
    assert aside.footholds[0, 1] < calm.footholds[0, 1] - 0.2 and aside.ways[0] == 0
    for plan in (calm, ahead, aside):  # at the end the capture point is where a step in place has it
        off = plan.path.capture[-1] - plan.footholds[-1]
        assert np.linalg.norm(off) < 0.12, off


def test_pushed_over_its_stance_foot_it_crosses_or_catches_itself_later(frame):
    """To the left on the left foot: the right foot has to go around it, or the step after has to be wide."""
    plan = solve_plan(build_plan(frame, standing(frame, (0.0, 0.9)), IN_PLACE))
    assert plan.ways[0] != 0 or plan.footholds[1, 1] > 0.3
    dear = solve_plan(build_plan(frame, standing(frame, (0.0, 0.9)), IN_PLACE, costs=PlanCosts(cross=1e4)))
    assert not dear.ways.any() and dear.footholds[1, 1] > 0.3


def test_a_plan_goes_on_from_the_last_one(frame):
    problem = some_problem(frame, 7)
    first = solve_plan(problem)
    again = solve_plan(problem, first, anew=False)
    assert again.cost <= first.cost * (1.0 + 1e-9) and again.iterations < 10
    assert again.x == pytest.approx(first.x, abs=1e-3)


def test_the_same_problem_has_the_same_bytes(frame):
    one, two = solve_plan(some_problem(frame, 9)), solve_plan(some_problem(frame, 9))
    assert one.x.tobytes() == two.x.tobytes() and one.cost == two.cost
    with pytest.raises(ValueError, match="read-only"):
        one.x[0] = 1.0


def test_any_state_of_a_body_has_a_plan():
    human = cp.character("human")
    plan = cp.steps_ahead(human.snapshot(), speed=1.0)
    assert plan.footholds.shape == (3, 2) and plan.footholds[-1, 0] > 0.4
    pushed = human.state()
    v = pushed.v.copy()
    v[1] = 0.8
    left = cp.steps_ahead(human.snapshot(human.state(pushed.q, v)))
    assert left.feet[0] == 0 and left.footholds[0, 1] > 0.3  # pushed to the left, the left foot steps


def test_a_plan_can_be_drawn(frame, tmp_path):
    """Both panels show every landing; equal plans give equal bytes."""
    plan = solve_plan(build_plan(frame, standing(frame, (0.9, -0.4)), IN_PLACE))
    drawing = cp.plot_plan(plan, tmp_path / "a.png")
    cp.plot_plan(plan, tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    above, side = drawing.axes
    assert len(above.patches) == 2 + plan.problem.count
    com = next(line for line in above.lines if line.get_label() == "CoM")
    assert com.get_xdata()[-1] == pytest.approx(plan.path.com[-1, 0])
    assert max(np.max(line.get_ydata()) for line in side.lines) == pytest.approx(GRAVITY / frame.omega**2, rel=0.01)
    with pytest.raises(BadValue, match="png"):
        cp.plot_plan(plan, tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda f: build_plan(f, standing(f, (0, 0)), STEP, steps=4), "1 to 3 steps"),
        (lambda f: PlanWish(time=math.nan), "finite number"),
        (lambda f: PlanWish(time=0.1, double=0.2), "part of the step"),
        (lambda f: PlanCosts(time=-1.0), "PlanCosts.time"),
        (lambda f: replace(standing(f, (0, 0)), com=[1.0]), "place"),
        (lambda f: replace(standing(f, (0, 0)), stance=2), "left foot"),
        (lambda f: replace(f, soles=np.zeros(3)), "soles"),
        (lambda f: replace(f, omega=0.0), "positive"),
        (lambda f: cp.steps_ahead(cp.character("human").snapshot(), stance=3), "stance"),
        (lambda f: cp.steps_ahead(cp.character("human").snapshot(), speed=math.inf), "speed"),
    ],
)
def test_bad_input_is_named(frame, make, words):
    with pytest.raises(BadValue, match=words):
        make(frame)
