"""Reference motions: planted feet, limits obeyed, balance on one leg, for humans of many shapes."""

from __future__ import annotations

from functools import lru_cache

import mujoco
import numpy as np
import pytest

from counterpoise.character import Character, Foot
from counterpoise.character.library import character
from counterpoise.errors import BadValue, MissingRole, UnknownName
from counterpoise.motion import Motion, reference_motion, reference_motions

NAMES = ["stand", "squat", "butterfly", "toe_touch", "twist", "side_kick", "front_kick", "leg_circle"]
ON_ONE_LEG = {"side_kick": (1.05, 2.89), "front_kick": (1.05, 2.65), "leg_circle": (1.05, 5.75)}
CASES = [("human", name) for name in NAMES]
CASES += [
    ("child", "squat"),
    ("asymmetric", "squat"),
    ("asymmetric", "side_kick"),
    ("insectoid", "toe_touch"),
]
CASES += [("child", "leg_circle"), ("insectoid", "front_kick"), ("planar_biped", "front_kick")]


@lru_cache
def made(figure: str, name: str) -> Motion:
    return reference_motion(name, character(figure), rate=60.0 if figure == "human" else 30.0)


def place(who: Character, q: np.ndarray, feet: list[Foot]) -> tuple[np.ndarray, np.ndarray]:
    """Contact points and CoM, by plain MuJoCo."""
    data = mujoco.MjData(who.model)
    data.qpos[:] = q
    mujoco.mj_kinematics(who.model, data)
    mujoco.mj_comPos(who.model, data)
    points = [
        data.body(p.body).xpos + data.body(p.body).xmat.reshape(3, 3) @ np.array(p.position)
        for foot in feet
        for p in foot.points
    ]
    return np.array(points), data.subtree_com[0].copy()


@pytest.mark.parametrize(("figure", "name"), CASES)
def test_support_feet_do_not_move(figure, name):
    motion = made(figure, name)
    who = motion.character
    left, right = ([f for f in who.feet if f.side == side] for side in ("left", "right"))
    home_left, home_right = (place(who, who.neutral, feet)[0] for feet in (left, right))
    lifted = ON_ONE_LEG.get(name, (np.inf, -np.inf))
    for t in np.linspace(motion.start, motion.end, 60):
        q = motion.sample(t).q
        assert np.abs(place(who, q, left)[0] - home_left).max() < 0.003
        swing = place(who, q, right)[0]
        if not lifted[0] < t < lifted[1]:
            assert np.abs(swing - home_right).max() < 0.003
        assert swing[:, 2].min() > -0.005


@pytest.mark.parametrize(("figure", "name"), CASES)
def test_limits_are_obeyed_and_the_ends_are_neutral_and_at_rest(figure, name):
    motion = made(figure, name)
    who = motion.character
    assert max(float(who.limits.violation(q).max()) for q in motion.poses) < 1e-6
    for end in (0, -1):
        np.testing.assert_allclose(who.difference(who.neutral, motion.poses[end]), 0.0, atol=1e-4)
    np.testing.assert_allclose(motion.sample([motion.start, motion.end]).v, 0.0, atol=1e-9)
    samples = motion.sample(np.linspace(motion.start, motion.end, 300))
    assert np.abs(samples.v).max() < 12.0  # [rad/s]
    assert np.abs(samples.a).max() < 400.0  # [rad/s^2]


@pytest.mark.parametrize(("figure", "name"), [case for case in CASES if case[1] in ON_ONE_LEG])
def test_on_one_leg_the_weight_is_over_the_foot(figure, name):
    motion = made(figure, name)
    who = motion.character
    left = [f for f in who.feet if f.side == "left"]
    sole, _ = place(who, who.neutral, left)
    low, high = sole.min(axis=0), sole.max(axis=0)
    for t in np.linspace(*ON_ONE_LEG[name], 20):
        _, com = place(who, motion.sample(t).q, left)
        axes = [0] if figure == "planar_biped" else [0, 1]
        assert np.all(com[axes] > low[axes]) and np.all(com[axes] < high[axes])


def test_the_motions_are_what_their_names_say():
    human = character("human")
    data = mujoco.MjData(human.model)

    def at(name: str, t: float, body: str) -> np.ndarray:
        data.qpos[:] = made("human", name).sample(t).q
        mujoco.mj_kinematics(human.model, data)
        return data.body(body).xpos.copy()

    assert at("squat", 1.3, "pelvis")[2] < 0.75 * at("squat", 0.0, "pelvis")[2]
    assert made("human", "squat").duration == pytest.approx(3.0)
    assert at("butterfly", 0.8, "hand_left")[2] > at("butterfly", 0.8, "head")[2]
    assert at("toe_touch", 1.8, "hand_left")[2] < 0.36
    assert at("front_kick", 1.84, "foot_right")[0] > 0.5 and at("front_kick", 1.84, "foot_right")[2] > 0.5
    assert at("side_kick", 1.94, "foot_right")[1] < -0.5
    assert at("leg_circle", 2.2, "foot_right")[2] > 0.15
    shoulders = at("twist", 1.6, "upper_arm_left") - at("twist", 1.6, "upper_arm_right")
    assert np.arctan2(-shoulders[0], shoulders[1]) > 0.4  # to the left


def test_every_reference_is_listed_and_says_what_it_needs():
    assert [reference.name for reference in reference_motions()] == NAMES
    with pytest.raises(UnknownName, match="did you mean 'squat'"):
        reference_motion("squad", character("human"))
    with pytest.raises(MissingRole, match="'butterfly' needs what 'ostrich' lacks: shoulder_left"):
        reference_motion("butterfly", character("ostrich"))
    with pytest.raises(MissingRole, match="sideways"):
        reference_motion("leg_circle", character("planar_biped"))
    with pytest.raises(MissingRole, match="root that can move"):
        reference_motion("stand", character("chain"))
    with pytest.raises(BadValue, match="positive"):
        reference_motion("stand", character("human"), speed=0.0)


def test_speed_keeps_the_rate():
    motion = reference_motion("butterfly", character("human"), rate=30.0, speed=2.0)
    assert motion.duration == pytest.approx(1.6) and motion.rate == pytest.approx(30.0, rel=0.05)


@pytest.mark.parametrize("name", NAMES)
def test_the_ground_could_almost_give_the_forces(name):
    """The zero-moment point of the motion, by inverse dynamics, stays within 5 cm of the soles that carry."""
    motion = made("human", name)
    who = motion.character
    data = mujoco.MjData(who.model)
    low_high = {}
    for foot in who.feet:
        sole, _ = place(who, who.neutral, [foot])
        low_high[foot.side] = sole[:, :2].min(axis=0), sole[:, :2].max(axis=0)
    lifted = ON_ONE_LEG.get(name, (np.inf, -np.inf))
    for t in np.linspace(motion.start, motion.end, 80):
        data.qpos[:], data.qvel[:], data.qacc[:] = motion.sample(t)
        mujoco.mj_inverse(who.model, data)
        force = data.qfrc_inverse[:3]
        moment = data.xmat[1].reshape(3, 3) @ data.qfrc_inverse[3:6] + np.cross(data.qpos[:3], force)
        point = np.array([-moment[1], moment[0]]) / force[2]
        low, high = low_high["left"]
        if not lifted[0] < t < lifted[1]:
            low, high = np.minimum(low, low_high["right"][0]), np.maximum(high, low_high["right"][1])
        assert np.all(point > low - 0.05) and np.all(point < high + 0.05)
