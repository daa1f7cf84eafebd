"""Outlines of joint limits agree with the limits themselves."""

from __future__ import annotations

import numpy as np
import pytest

from counterpoise import spatial
from counterpoise.character.editing import set_limit_side
from counterpoise.character.editing.limit_sides import joint_limits, limit_sides, with_side
from counterpoise.character.library import character
from counterpoise.errors import CounterpoiseError
from counterpoise.studio.limit_outlines import cone_edge, drawn_limits

HUMAN = character("human")


@pytest.mark.parametrize("name", sorted(HUMAN.limits.balls))
def test_the_edge_of_a_cone_is_where_the_limit_begins(name: str) -> None:
    limit = HUMAN.limits.balls[name]
    centre = np.array(spatial.rotate(limit.rest, limit.axis))
    for way in cone_edge(limit)[0][::6]:
        angle = float(np.arccos(np.clip(way @ centre, -1.0, 1.0)))
        axis = np.cross(centre, way) / np.sin(angle)
        assert angle > 0.0 and np.linalg.norm(way) == pytest.approx(1.0)
        for share, is_outside in ((-0.02, False), (0.02, True)):  # [rad] before and behind the edge
            swing = spatial.from_axis_angle(axis, angle + share)
            outside = limit.violation(spatial.multiply(swing, limit.rest))[0]
            assert (outside > 0.0) == (is_outside and angle < np.pi - 0.02)


def test_the_arc_of_a_hinge_ends_where_its_bone_is_at_the_limits() -> None:
    joint = HUMAN.joint("knee_left")
    outline = drawn_limits(HUMAN, joint).outline
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


LIMITED = [joint.name for joint in HUMAN.joints if joint_limits(HUMAN, joint) is not None]


@pytest.mark.parametrize("name", LIMITED)
def test_a_grip_that_is_turned_lies_on_the_edge_of_the_changed_limits(name: str) -> None:
    """The bone of a figure with the changed limits, put where the grip is now, is at the limit: neither before nor
    behind it. Every other side is as before."""
    joint = HUMAN.joint(name)
    limits = joint_limits(HUMAN, joint)
    assert limits is not None
    drawn = [grip for grip in drawn_limits(HUMAN, joint).grips if len(grip.place)]
    assert len(drawn) >= 2
    for grip in drawn:
        turned = np.radians(-4.0)
        now = np.array(spatial.rotate(spatial.from_axis_angle(grip.axis, turned), grip.place))
        other = set_limit_side(HUMAN, name, grip.side, grip.angle + turned)
        found = joint_limits(other, other.joint(name))
        assert found is not None
        before, after = limit_sides(limits), limit_sides(found)
        assert after.pop(grip.side) == pytest.approx(before.pop(grip.side) + turned, abs=1e-9)
        assert after == pytest.approx(before, abs=1e-9)
        edge = drawn_limits(other, other.joint(name)).outline
        assert np.max(edge @ now) > np.cos(np.radians(6.0))  # the edge is drawn through it, or near it
        if joint.kind == "ball":
            limit = other.limits.balls[name]
            base = np.array(other.model.body_quat[other.body_id(joint.body)])
            here = np.array(spatial.rotate(spatial.conjugate(base), now))
            face = int(grip.side.split()[1]) - 1
            assert limit.normals[face] @ here == pytest.approx(limit.offsets[face], abs=0.01)


def test_a_twist_is_a_side_too_and_bad_sides_are_refused() -> None:
    turned = set_limit_side(HUMAN, "hip_left", "twist high", np.radians(20.0))
    assert turned.limits.balls["hip_left"].twist[1] == pytest.approx(np.radians(20.0))
    limits = joint_limits(HUMAN, HUMAN.joint("wrist_left"))
    assert limits is not None
    for side, angle in (("third low", 0.0), ("first low", 3.2), ("first low", float("nan"))):
        with pytest.raises(CounterpoiseError):
            with_side(limits, side, angle)
    with pytest.raises(CounterpoiseError, match="root"):
        set_limit_side(HUMAN, "root", "low", 0.1)
