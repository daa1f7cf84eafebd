"""Very long arms do not hang into the ground."""

import mujoco
import numpy as np
import pytest

import counterpoise as cp


@pytest.mark.parametrize("parts", [("arms",), ("upper_arm_left", "forearm_left", "hand_left")])
def test_long_arms_are_bent_in_the_neutral_pose(parts):
    body = cp.character("human").rescaled(dict.fromkeys(parts, 2.0))
    data = mujoco.MjData(body.model)
    data.qpos[:] = body.neutral
    mujoco.mj_kinematics(body.model, data)
    hand = body.body_id("hand_left")
    assert data.xpos[hand, 2] > 0.1
    snapshot = body.snapshot(body.state(body.neutral))
    assert np.abs(snapshot.contact_position[:, 2]).max() < 1e-3
    assert np.abs(snapshot.com[:2] - snapshot.contact_position[:, :2].mean(axis=0)).max() < 0.02


def test_arms_that_hang_free_stay_as_they_are():
    human = cp.character("human")
    longer = human.rescaled({"arms": 1.2})
    elbow = human.joint("elbow_left")
    assert np.allclose(longer.neutral[elbow.qpos], human.neutral[elbow.qpos], atol=0.01)
