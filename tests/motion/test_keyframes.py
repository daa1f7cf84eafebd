"""Keyframes and poses by joint names."""

from __future__ import annotations

import numpy as np
import pytest

from counterpoise import spatial
from counterpoise.character.library import character
from counterpoise.errors import BadValue, UnknownName
from counterpoise.motion import Keyframe, keyframed, pose_from_joints


@pytest.fixture(scope="module")
def human():
    return character("human")


def test_poses_by_joint_names(human):
    turn = spatial.exp([0.0, 0.0, 0.4])
    pose = pose_from_joints(
        human,
        {
            "knee_left": 1.2,
            "shoulder_left": (0.5, -0.2, 0.1),
            "waist": turn,
            "ankle_left": (0.3, 0.1),
            "ankle_right_roll": 0.2,
            "root": {"move": (0.1, 0.0, -0.2), "turn": (0.0, 0.0, 0.5)},
        },
    )
    assert pose[human.joint("knee_left").qpos] == 1.2
    np.testing.assert_allclose(pose[human.joint("shoulder_left").qpos], spatial.exp([0.5, -0.2, 0.1]))
    np.testing.assert_allclose(pose[human.joint("waist").qpos], turn)
    np.testing.assert_allclose(pose[human.joint("ankle_left").qpos], [0.3, 0.1])
    assert pose[human.joint("ankle_right").qpos.stop - 1] == 0.2
    np.testing.assert_allclose(pose[:3], human.neutral[:3] + [0.1, 0.0, -0.2])
    assert spatial.yaw(pose[3:7]) == pytest.approx(0.5, abs=1e-3)
    others = human.joint("knee_right").qpos
    np.testing.assert_allclose(pose[others], human.neutral[others])
    based = pose_from_joints(human, {"root": {"position": (0, 0, 1), "quaternion": (1, 0, 0, 0)}}, base=pose)
    assert based[human.joint("knee_left").qpos] == 1.2
    np.testing.assert_allclose(based[:7], [0, 0, 1, 1, 0, 0, 0])


@pytest.mark.parametrize(
    ("joints", "error", "message"),
    [
        ({"left_knee": 1.0}, UnknownName, "no joint 'left_knee' in 'human'; did you mean 'knee_left'"),
        ({"knee_left": (1.0, 2.0)}, BadValue, "takes 1 finite"),
        ({"shoulder_left": 1.0}, BadValue, "takes 3 or 4 finite"),
        ({"knee_left": float("nan")}, BadValue, "finite"),
        ({"knee_left": "bent"}, BadValue, "finite"),
        ({"root": 1.0}, BadValue, "mapping"),
        ({"root": {"mov": (0, 0, 0)}}, UnknownName, "did you mean 'move'"),
    ],
)
def test_bad_joint_values_are_refused(human, joints, error, message):
    with pytest.raises(error, match=message):
        pose_from_joints(human, joints)


def test_keys_are_met_and_ends_and_holds_are_at_rest(human):
    keys = [
        Keyframe(0.0, {}),
        Keyframe(1.0, {"knee_left": 0.8, "spine": (0.0, 0.2, 0.1)}),
        Keyframe(1.5, {"knee_left": 1.2, "spine": (0.0, 0.1, 0.3)}, hold=0.5),
        Keyframe(3.0, human.neutral),
    ]
    motion = keyframed(human, keys, rate=60, name="bend")
    assert motion.name == "bend" and motion.rate == pytest.approx(60.0) and motion.duration == pytest.approx(3.0)
    knee = human.joint("knee_left").qpos.start
    for t, angle in ((1.0, 0.8), (1.5, 1.2), (1.75, 1.2), (2.0, 1.2)):
        assert motion.sample(t).q[knee] == pytest.approx(angle, abs=1e-6)
    for t in (0.0, 1.75, 3.0):
        np.testing.assert_allclose(motion.sample(t).v, 0.0, atol=1e-3)
    assert np.linalg.norm(motion.sample(1.0).v) > 0.3  # it passes through a plain key


def test_eases_shape_the_way(human):
    def knee_at(t: float, ease: str) -> float:
        motion = keyframed(human, [Keyframe(0.0, {"knee_left": 0.0}), Keyframe(1.0, {"knee_left": 1.0}, ease=ease)])
        return float(motion.sample(t).q[human.joint("knee_left").qpos.start])

    assert knee_at(0.25, "linear") == pytest.approx(0.25, abs=1e-6)
    assert knee_at(0.25, "smooth") == pytest.approx(0.15625, abs=1e-4)
    assert knee_at(0.5, "in") == pytest.approx(0.125, abs=1e-4)
    assert knee_at(0.5, "spline") == pytest.approx(0.5, abs=1e-6)
    with pytest.raises(UnknownName, match="smooth"):
        Keyframe(0.0, {}, ease="smoth")


def test_keys_alone(human):
    keys = [Keyframe(0.0, {}), Keyframe(0.7, {"knee_left": 1.0}), Keyframe(2.0, {})]
    motion = keyframed(human, keys, rate=None)
    assert len(motion) == 3
    np.testing.assert_allclose(motion.sample([0.0, 2.0]).v, 0.0, atol=1e-12)
    with pytest.raises(BadValue, match="rate"):
        keyframed(human, [Keyframe(0.0, {}, hold=1.0), Keyframe(2.0, {})], rate=None)


@pytest.mark.parametrize("rate", [60.0, None])
def test_loops_do_not_stop_at_the_seam(human, rate):
    swing = [Keyframe(t, {"shoulder_left": (0.0, -np.sin(np.pi * t), 0.0)}) for t in (0.0, 0.5, 1.0, 1.5, 2.0)]
    motion = keyframed(human, swing, rate=rate, loop=True)
    assert motion.loop
    shoulder = human.joint("shoulder_left").dofs.start + 1
    assert motion.sample(0.0).v[shoulder] < -2.0
    assert motion.sample(2.0 - 1e-9).v[shoulder] == pytest.approx(motion.sample(1e-9).v[shoulder], abs=1e-4)
    with pytest.raises(BadValue, match="repeat"):
        keyframed(human, swing[:-1], loop=True)


def test_bad_keyframes_are_refused(human):
    with pytest.raises(BadValue, match="at least one"):
        keyframed(human, [])
    with pytest.raises(BadValue, match="must come after"):
        keyframed(human, [Keyframe(0.0, {}, hold=2.0), Keyframe(1.0, {})])
    with pytest.raises(BadValue, match="rate"):
        keyframed(human, [Keyframe(0.0, {}), Keyframe(1.0, {})], rate=0.0)
    with pytest.raises(BadValue, match="49 finite"):
        keyframed(human, [Keyframe(0.0, np.zeros(3))])
    with pytest.raises(BadValue, match="hold"):
        Keyframe(0.0, {}, hold=-1.0)
