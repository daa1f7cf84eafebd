"""Parts of the body that keep off each other: distances of rods, their derivatives, and arms that would cross legs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import lsq_linear

import counterpoise as cp
from counterpoise.character.shapes import main_rod
from counterpoise.errors import BadValue
from counterpoise.measure.outsider import judge_overlap
from counterpoise.spacetime.optimize.program import MotionProgram
from counterpoise.spacetime.optimize.rods import nearest_on_lines, rod_pairs

FEET = ("foot_left", "foot_right")


def test_nearest_points_of_lines_agree_with_least_squares():
    rng = np.random.default_rng(0)
    a, b, c, d = rng.normal(size=(4, 200, 3))
    b[:20] = a[:20]  # a line that is a point
    d[10:30] = c[10:30]
    d[30:50] = c[30:50] + 1.7 * (b[30:50] - a[30:50])  # parallel
    s, t = nearest_on_lines(a, b, c, d)
    for k in range(200):
        A = np.stack([b[k] - a[k], c[k] - d[k]], axis=1)
        best = lsq_linear(A, c[k] - a[k], bounds=(0.0, 1.0), tol=1e-14)
        found = np.linalg.norm(a[k] + s[k] * (b[k] - a[k]) - c[k] - t[k] * (d[k] - c[k]))
        assert 0.0 <= s[k] <= 1.0 and 0.0 <= t[k] <= 1.0
        assert found == pytest.approx(np.sqrt(2.0 * best.cost), abs=2e-6)


def test_left_and_right_rods_are_mirror_images():
    who = cp.character("human")
    for name in ("upper_arm", "forearm", "hand", "thigh", "shank", "foot", "toes"):
        left, right = main_rod(who, f"{name}_left"), main_rod(who, f"{name}_right")
        assert left is not None and right is not None and left.radius == pytest.approx(right.radius)
        one, two = np.array([left.start, left.end]), np.array([right.start, right.end]) * (1.0, -1.0, 1.0)
        assert min(np.abs(one - two).max(), np.abs(one - two[::-1]).max()) < 1e-8
    pairs = {frozenset((a.body, b.body)) for a, b in rod_pairs(who)}
    assert frozenset(("thigh_left", "shank_right")) in pairs and frozenset(("hand_left", "head")) in pairs
    assert frozenset(("thigh_left", "shank_left")) not in pairs


def lunge() -> tuple:
    """A forward bend whose soft key has the forearms in the thighs."""
    who = cp.character("human")
    bent = who.neutral.copy()
    for side in ("left", "right"):
        bent[who.joint(f"hip_{side}").qpos] = cp.spatial.exp([0.0, -1.5, 0.0])
        bent[who.joint(f"knee_{side}").qpos] = 1.5
        bent[who.joint(f"shoulder_{side}").qpos] = cp.spatial.exp([0.0, -0.4, 0.0])
    bent[who.joint("waist").qpos] = cp.spatial.exp([0.0, 0.6, 0.0])
    keys = [cp.Key(0.0, who.neutral, rest=True), cp.Key(0.6, bent, soft=1000.0, root=False)]
    return who, keys, [cp.Touch(f, 0.0, 0.9) for f in FEET], 0.9


def test_derivatives_agree_with_differences():
    who, *asks = lunge()
    problem = cp.build_motion_problem(who, *asks, rate=15.0, wishes=[cp.Apart()])
    program = MotionProgram(problem)
    rng = np.random.default_rng(3)
    x = problem.start + 1e-2 * rng.normal(size=problem.variables)
    J = sp.csr_matrix((program.jacobian(x), program.jacobian_pattern), (len(program.used), problem.variables))
    d = rng.normal(size=problem.variables)
    ahead, behind = (program.values(x + e * d)[program.used] for e in (1e-6, -1e-6))
    numeric, exact = (ahead - behind) / 2e-6, J @ d
    start, block = next((s, b) for b, s in zip(problem.blocks, program.starts, strict=False) if b.name == "apart")
    own = (program.used >= start) & (program.used < start + len(block))
    assert own.sum() > 100
    close = np.abs(numeric[own] - exact[own]) < 1e-5 * (1.0 + np.abs(exact[own]))
    assert close.mean() > 0.99  # not where two lines are parallel, and the nearest points leap


def test_arms_keep_off_the_legs():
    who, *asks = lunge()
    through = cp.optimize_motion(who, *asks, rate=20.0, taste=cp.Taste(posture=0.0))
    kept = cp.optimize_motion(who, *asks, rate=20.0, wishes=[cp.Apart()], taste=cp.Taste(posture=0.0))
    assert through.exact and kept.exact
    assert judge_overlap(through)[0] > 0.03
    assert judge_overlap(kept)[0] < 0.015
    assert any(e.kind == "overlap" for e in through.exceptions) and not through.ok  # though nobody asked
    assert not any(e.kind == "overlap" for e in kept.exceptions)


def test_bad_asks_bring_the_cure():
    with pytest.raises(BadValue, match="itself"):
        cp.Apart(["hand_left"], ["hand_left", "thigh_left"])
    who, *asks = lunge()
    with pytest.raises(cp.errors.UnknownName, match="thigh_left"):
        cp.build_motion_problem(who, *asks, wishes=[cp.Apart(["thigh_lefft"], ["hand_left"])])
