"""Outlines of joint limits agree with the limits themselves."""

from __future__ import annotations

import numpy as np
import pytest

from counterpoise import spatial
from counterpoise.character.library import character
from counterpoise.studio.limit_outlines import cone_edge, limit_outline

HUMAN = character("human")


@pytest.mark.parametrize("name", sorted(HUMAN.limits.balls))
def test_the_edge_of_a_cone_is_where_the_limit_begins(name: str) -> None:
    limit = HUMAN.limits.balls[name]
    centre = np.array(spatial.rotate(limit.rest, limit.axis))
    for way in cone_edge(limit)[::6]:
        angle = float(np.arccos(np.clip(way @ centre, -1.0, 1.0)))
        axis = np.cross(centre, way) / np.sin(angle)
        assert angle > 0.0 and np.linalg.norm(way) == pytest.approx(1.0)
        for share, is_outside in ((-0.02, False), (0.02, True)):  # [rad] before and behind the edge
            swing = spatial.from_axis_angle(axis, angle + share)
            outside = limit.violation(spatial.multiply(swing, limit.rest))[0]
            assert (outside > 0.0) == (is_outside and angle < np.pi - 0.02)


def test_the_arc_of_a_hinge_ends_where_its_bone_is_at_the_limits() -> None:
    joint = HUMAN.joint("knee_left")
    outline = limit_outline(HUMAN, joint)
    assert np.allclose(np.linalg.norm(outline, axis=1), 1.0)
    ends = []
    for k in (0, 1):
        q = np.array(HUMAN.neutral)
        q[joint.qpos] = HUMAN.model.joint("knee_left").range[k]
        shot = HUMAN.snapshot(HUMAN.state(q))
        bone = shot.position("foot_left") - shot.position("shank_left")
        ends.append(shot.rotation("thigh_left").T @ (bone / np.linalg.norm(bone)))
    cosines = np.sum(np.array(ends) * outline[[0, -1]], axis=1)
    assert cosines.min() > np.cos(0.05)  # [rad]: the ankle is nearly on the line of the bone
