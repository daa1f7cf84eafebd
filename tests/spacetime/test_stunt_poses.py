"""Poses by name look like their names, on any figure, inside its limits."""

from __future__ import annotations

import numpy as np
import pytest

from counterpoise.character.library import character
from counterpoise.errors import CounterpoiseError, MissingRole, UnknownName
from counterpoise.spacetime.stunt.poses import named_pose, named_poses

ARMED = ("human", "child", "asymmetric", "insectoid", "dinosaur")
STANDING = ("neutral", "straight", "T", "stretch", "dip", "crouch", "load", "land", "reach")


def seen(name: str, body):
    return body.snapshot(body.state(named_pose(name, body)))


def soles(body, shot):
    return np.array([shot.position(p.body, p.position) for p in body.contact_points])


@pytest.mark.parametrize("figure", ARMED)
def test_every_pose_keeps_the_limits(figure: str):
    body = character(figure)
    for pose in named_poses():
        row, worst = body.limits.worst(named_pose(pose.name, body))
        assert worst < 1e-6, f"{pose.name} of {figure}: {row}"


@pytest.mark.parametrize("figure", ["human", "child", "insectoid"])
def test_standing_poses_stand_and_an_even_figure_is_even(figure: str):
    body = character(figure)
    for name in STANDING:
        q = named_pose(name, body)
        shot = seen(name, body)
        assert abs(soles(body, shot)[:, 2].min()) < 2e-3, name
        assert np.abs(body.difference(q, body.mirror_pose(q))).max() < 1e-3, name
        middle = soles(body, shot).mean(axis=0)
        if name != "load":
            assert abs(shot.com[0] - middle[0]) < 0.15 * body.height, name


@pytest.mark.parametrize("figure", ["human", "child"])
def test_poses_are_what_they_are_called(figure: str):
    body = character(figure)
    h = body.height
    com = {p.name: seen(p.name, body).com[2] for p in named_poses()}
    assert com["crouch"] < com["dip"] < com["straight"]
    for name in ("hang", "stretch"):
        shot = seen(name, body)
        assert min(shot.position(hand)[2] for hand in body.hands) > h
    T = seen("T", body)
    assert abs(T.position("hand_left")[1] - T.position("hand_right")[1]) > 0.75 * h
    reach = seen("reach", body)
    assert reach.position("hand_left")[0] - reach.position("head")[0] > 0.25 * h
    load, land = seen("load", body), seen("land", body)
    assert load.position("hand_left")[0] < load.position("foot_left")[0] < land.position("hand_left")[0]
    tuck, pike = seen("tuck", body), seen("pike", body)

    def spread(shot):
        return np.linalg.norm(shot.body_com[1:] - shot.com, axis=1).max()

    assert spread(tuck) < 0.7 * spread(seen("straight", body))
    assert abs(pike.position("foot_left")[2] - pike.position(body.root)[2]) < 0.25 * h
    q = named_pose("pike", body)
    assert abs(q[body.joint("knee_left").qpos][0]) < 0.2
    assert named_pose("tuck", body)[body.joint("knee_left").qpos][0] > 1.5


def test_what_is_not_there_is_said():
    with pytest.raises(MissingRole, match="no hands"):
        named_pose("hang", character("ostrich"))
    with pytest.raises(UnknownName, match="did you mean 'crouch'"):
        named_pose("crouhc", character("human"))
    with pytest.raises(CounterpoiseError):
        named_pose("crouch", character("chain"))
    with pytest.raises(ValueError, match="read-only"):
        named_pose("T", character("human"))[0] = 1.0


@pytest.mark.parametrize("name", [p.name for p in named_poses()])
def test_poses_of_a_symmetric_figure_are_symmetric_to_the_last_digits(name: str):
    """Left and right hands and feet mirror each other: such motions are solved in half the variables."""
    body = character("human")
    shot = body.snapshot(body.state(named_pose(name, body)))
    for part in ("hand", "foot", "forearm", "shank"):
        left, right = shot.position(f"{part}_left"), shot.position(f"{part}_right")
        np.testing.assert_allclose(left * (1, -1, 1), right, atol=1e-12)
