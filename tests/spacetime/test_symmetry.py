"""Motions that are their own mirror image are solved in half the variables; others are not touched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import counterpoise as cp
from counterpoise.spacetime.optimize.merit import CostMerit
from counterpoise.spacetime.optimize.program import MotionProgram
from counterpoise.spacetime.optimize.symmetry import find_image

FEET = ("foot_left", "foot_right")
RATE = 16.0


def hop(y: float = 0.0, name: str = "human", one_arm: float = 0.0, one_foot: float = 0.0) -> tuple:
    """Asks of a hop on the spot, away from y = 0, with an arm or a foot of its own where asked."""
    who = cp.character(name)
    start, end = who.neutral.copy(), who.neutral.copy()
    start[1] += y
    end[1] += y
    end[0] += 0.2
    if one_arm:
        end[who.joint("elbow_left").qpos] += one_arm
    keys = [cp.Key(0.0, start, rest=True), cp.Key(1.1, end, rest=True)]
    contacts = [cp.Touch(f, 0.0, 0.4 + one_foot * (f == FEET[0]), roll=0.0) for f in FEET]
    contacts += [cp.Touch(f, 0.7, 1.1, land=0.0) for f in FEET]
    return who, keys, contacts, 1.1


def mirrored(who: cp.Character, q: np.ndarray, y: float) -> np.ndarray:
    """Poses seen in the plane at y."""
    out = who.mirror_pose(q - np.eye(who.nq)[1] * y)
    return out + np.eye(who.nq)[1] * y


@pytest.mark.parametrize("y", [0.0, 0.7])
def test_the_motion_is_its_own_mirror_image_and_holds_every_row(y: float):
    who, *asks = hop(y)
    found = cp.optimize_motion(who, *asks, rate=RATE)
    assert found.exact and found.symmetric and found.worst < 1e-6
    q = found.sample(np.linspace(0.0, 1.1, 57)).q
    for pose, image in zip(q, mirrored(who, q, y), strict=True):
        assert np.abs(who.difference(pose, image)).max() < 1e-9


def test_it_is_as_good_as_the_one_found_without():
    who, *asks = hop()
    half = cp.optimize_motion(who, *asks, rate=RATE)
    whole = cp.optimize_motion(who, *asks, rate=RATE, symmetric=False)
    assert half.symmetric and not whole.symmetric and half.exact and whole.exact
    assert half.objective < 1.3 * whole.objective


@pytest.mark.parametrize("what", ["arm", "foot", "figure", "told"])
def test_what_is_not_symmetric_is_solved_whole(what: str):
    given = {"arm": {"one_arm": 0.3}, "foot": {"one_foot": 0.05}, "figure": {"name": "asymmetric"}, "told": {}}[what]
    who, *asks = hop(**given)  # type: ignore[arg-type]
    problem = cp.build_motion_problem(who, *asks, rate=RATE)
    image = find_image(problem)
    assert what == "told" or image is None or not MotionProgram(problem, image).symmetric
    if what == "told":
        assert MotionProgram(problem, image).symmetric
        assert not MotionProgram(problem, None).symmetric


def test_wishes_and_weights_count_too():
    """A wish for one hand, or a taste for one elbow, breaks the symmetry; the same for both does not."""
    who, *asks = hop()
    both = [cp.TorqueLimit(["knee_left", "knee_right"]), cp.Effort(["elbow_left", "elbow_right"])]
    cases = [
        (both, cp.Taste(), True),
        ([cp.TorqueLimit(["knee_left"])], cp.Taste(), False),
        ([cp.Effort(["elbow_left"])], cp.Taste(), False),
        ([], cp.Taste(joints={"elbow_left": 3.0}), False),
        ([], cp.Taste(joints={"elbow_left": 3.0, "elbow_right": 3.0}), True),
        ([cp.Place("hand_left", 0.55, (None, None, 1.4))], cp.Taste(), False),
        ([cp.Apex(0.55, 1.2, "at least")], cp.Taste(), True),
    ]
    for wishes, taste, expected in cases:
        problem = cp.build_motion_problem(who, *asks, rate=RATE, wishes=wishes, taste=taste)
        image = find_image(problem)
        found = image is not None and MotionProgram(problem, image).symmetric
        assert found is expected, (wishes, taste)


def test_folded_derivatives_agree_with_differences():
    who, *asks = hop(0.3)
    problem = cp.build_motion_problem(who, *asks, rate=RATE, wishes=[cp.Effort(["knee_left", "knee_right"])])
    program = MotionProgram(problem, find_image(problem))
    fold, rng = program.fold, np.random.default_rng(5)
    assert (
        program.symmetric and fold.variables < 0.55 * problem.variables and len(program.used) < 0.6 * len(program.low)
    )
    z = fold.narrow(problem.start) + 1e-2 * rng.normal(size=fold.variables)
    d, step = rng.normal(size=len(z)), 1e-6
    J = sp.csr_matrix((program.jacobian(fold.wide(z)), program.jacobian_pattern), (len(program.used), len(z)))
    ahead, behind = (program.values(fold.wide(z + e * d))[program.used] for e in (step, -step))
    numeric = (ahead - behind) / (2.0 * step)
    assert np.abs(numeric - J @ d).max() < 1e-6 * (1.0 + np.abs(numeric).max())
    merit = CostMerit(program, 1.0)
    slope = merit.gradient(fold.wide(z))
    cost = (merit.value(fold.wide(z + step * d)) - merit.value(fold.wide(z - step * d))) / (2.0 * step)
    assert cost == pytest.approx(d @ (fold.part.T @ slope), rel=1e-6)


def test_rows_left_out_say_nothing_new():
    """At any symmetric candidate every row the solver does not see has the violation of one it sees, or none."""
    who, *asks = hop()
    problem = cp.build_motion_problem(who, *asks, rate=RATE)
    program = MotionProgram(problem, find_image(problem))
    z = program.fold.narrow(problem.start) + 0.05 * np.random.default_rng(6).normal(size=program.fold.variables)
    off = program.violation(program.fold.wide(z))
    seen = np.sort(off[program.used])
    left = np.delete(off, program.used)
    left = left[left > 1e-9]
    assert len(left) > 100
    near = np.clip(np.searchsorted(seen, left), 1, len(seen) - 1)
    gap = np.minimum(np.abs(seen[near] - left), np.abs(seen[near - 1] - left))
    assert gap.max() < 1e-9


@pytest.mark.parametrize("rolls", [False, True])
def test_a_soft_key_that_moved_is_followed_from_the_earlier_result(rolls: bool):
    who, keys, contacts, end = hop()
    if rolls:
        contacts = [replace(touch, roll=None, land=None) for touch in contacts]
    bent = who.neutral.copy()
    elbows = [who.joint(f"elbow_{s}").qpos.start for s in ("left", "right")]
    soft = cp.Key(0.9, bent, soft=200.0)
    moved = bent.copy()
    moved[elbows[0]] += 0.8
    first = cp.optimize_motion(who, [*keys, soft], contacts, end, rate=RATE)
    warm = cp.optimize_motion(who, [*keys, replace(soft, pose=moved)], contacts, end, rate=RATE, warm=first)
    cold = cp.optimize_motion(who, [*keys, replace(soft, pose=moved)], contacts, end, rate=RATE)
    assert first.symmetric and not warm.symmetric and warm.exact and cold.exact
    assert warm.iterations < 0.6 * cold.iterations
    went, should = (np.asarray(r.sample(0.9).q)[elbows] - np.asarray(first.sample(0.9).q)[elbows] for r in (warm, cold))
    assert should[0] > 0.2
    assert went[0] == pytest.approx(should[0], rel=0.25) and abs(went[1]) < 0.15


def test_an_earlier_result_serves_another_number_of_knots():
    who, *asks = hop()
    first = cp.optimize_motion(who, *asks, rate=RATE)
    finer = cp.optimize_motion(who, *asks, rate=22.0, warm=first)
    assert finer.exact and len(finer.x) > len(first.x)
    t = np.linspace(0.0, 1.1, 23)
    gap = [who.difference(a, b) for a, b in zip(first.sample(t).q, finer.sample(t).q, strict=True)]
    assert np.abs(gap).max() < 0.1
