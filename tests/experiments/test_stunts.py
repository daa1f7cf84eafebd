"""Stunts of the spacetime experiments keep out of the ground, of boxes and of themselves, measured by MuJoCo."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

import counterpoise as cp
from counterpoise.experiments import stunts
from counterpoise.experiments.key_poses import moved
from counterpoise.experiments.staging import StagedStunt, solve
from counterpoise.measure.outsider import judge_motion
from counterpoise.measure.outsider_mechanics import lowest

FEET = ("foot_left", "foot_right")


@pytest.fixture(scope="module")
def human():
    return cp.character("human")


@pytest.mark.parametrize("foot", FEET)
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_foot_that_rolls_over_its_edge_neither_sinks_nor_rises(human, foot: str, side: float):
    points, rise = stunts._edge(human, foot, side)
    shot = human.snapshot()
    heel, ball = (shot.position(foot) + shot.rotation(foot) @ p for p in points)
    assert heel[2] == pytest.approx(rise, abs=1e-6) and ball[2] == pytest.approx(rise, abs=1e-6)
    line = (ball - heel) / np.linalg.norm(ball - heel)
    m, d = human.model, mujoco.MjData(human.model)
    shapes = np.flatnonzero(m.geom_bodyid == human.body_id(foot))
    heights = []
    for angle in np.radians(np.arange(0.0, 51.0, 5.0)):
        d.qpos[:] = moved(human, np.asarray(human.neutral), heel, heel, -side * angle * line)
        mujoco.mj_kinematics(m, d)
        heights.append(min(lowest(m, d, int(g)) for g in shapes))
    assert min(heights) > -1e-4 and max(heights) < rise + 1e-4 < 3e-3


def test_what_stands_in_the_way_is_measured(human):
    """A plate that comes 8 mm up through the soles of a standing figure."""
    keys = (cp.Key(0.0, human.neutral, rest=True), cp.Key(0.3, human.neutral, rest=True))
    touches = tuple(cp.Touch(f, 0.0, 0.3) for f in FEET)
    plate = {"box": ((0.0, 0.0, -0.1), (1.0, 1.0, 0.108))}
    stunt = StagedStunt(human, keys, touches, 0.3, scenery=(plate,))
    deep, which = stunts.into_scenery(stunt, solve(stunt))
    assert deep == pytest.approx(0.008, abs=3e-4) and ("foot" in which or "toes" in which)
    away = StagedStunt(human, keys, touches, 0.3, scenery=({"box": ((3.0, 0.0, 0.5), (0.5, 0.5, 0.5))},))
    assert stunts.into_scenery(away, solve(away)) == (0.0, "")


@pytest.mark.slow
def test_the_vault_goes_over_the_box_and_not_through_it(human):
    stunt = stunts.vault(human, stunts.StuntsSettings())
    result = solve(stunt)
    judged = judge_motion(result)
    assert result.exact and max(result.between.values()) < 0.01 and judged.fine and judged.sink < 2e-3, judged.report()
    deep, which = stunts.into_scenery(stunt, result)
    assert deep < 2e-3, which


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("twist", [("foot_left", "foot_right"), ("shank_left", "shank_right"), ("thigh_left", "thigh_right")]),
        ("jump", [("hand_left", "hand_right")]),
        ("cartwheel", [("hand_left", "foot_left"), ("hand_right", "foot_right")]),
    ],
)
def test_limbs_that_cross_keep_apart(human, name: str, pairs: list[tuple[str, str]]):
    result = solve(stunts.build(human, name, stunts.StuntsSettings()))
    judged = judge_motion(result)
    assert result.exact and judged.fine and judged.sink < 2e-3, judged.report()
    m, d = human.model, mujoco.MjData(human.model)
    deep = -math.inf
    for q in result.motion.poses[::4]:
        d.qpos[:] = q
        mujoco.mj_kinematics(m, d)
        for one, other in pairs:
            a, b = (np.flatnonzero(m.geom_bodyid == human.body_id(part)) for part in (one, other))
            deep = max(deep, *(-mujoco.mj_geomDistance(m, d, int(g), int(h), 0.2, None) for g in a for h in b))
    assert deep < 0.002
