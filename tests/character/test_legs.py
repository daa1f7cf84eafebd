"""Hips, knees, ankles, heels, balls and toes are found on any body: by what they do, not by what they are called."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"
WALKERS = [entry.name for entry in cp.characters() if cp.character(entry.name).feet]
HUMANS, BIRDS = ("human", "child", "asymmetric", "insectoid"), ("ostrich", "chicken", "dinosaur")
ROBOTS = {  # hip, knee and ankle of the left leg, as the files name them
    "h1": (("left_hip_yaw", "left_hip_roll", "left_hip_pitch"), ("left_knee",), ("left_ankle",)),
    "g1": (
        ("left_hip_pitch_joint", "left_hip_roll_joint", "left_hip_yaw_joint"),
        ("left_knee_joint",),
        ("left_ankle_pitch_joint", "left_ankle_roll_joint"),
    ),
    "talos": (
        ("leg_left_1_joint", "leg_left_2_joint", "leg_left_3_joint"),
        ("leg_left_4_joint",),
        ("leg_left_5_joint", "leg_left_6_joint"),
    ),
    "dm_humanoid": (("left_hip_x", "left_hip_z", "left_hip_y"), ("left_knee",), ("left_ankle_y", "left_ankle_x")),
    "dm_humanoid_CMU": (("lfemurrz", "lfemurry", "lfemurrx"), ("ltibiarx",), ("lfootrz", "lfootrx")),
}


def loaded(robot: str) -> cp.Character:
    path = MODELS / f"{robot}.xml"
    if not path.is_file():
        pytest.skip("the public robots are not here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # talos: grippers without limits
        return cp.load_character(path)


def centre(snapshot: cp.Snapshot, joint: cp.LegJoint | None) -> np.ndarray:
    assert joint is not None
    return snapshot.position(joint.body, joint.point)


def check_a_leg(character: cp.Character, leg: cp.LegRoles) -> None:
    """What one expects of any leg."""
    here = character.snapshot()
    hip, knee, ankle = (centre(here, joint) for joint in (leg.hip, leg.knee, leg.ankle))
    points = here.contact_position
    sole = [*leg.heel, *leg.ball, *leg.toes]
    foot = character.foot(leg.foot)
    assert sorted(character.contact_points[i].name for i in sole) == sorted(point.name for point in foot.points)
    assert hip[2] > knee[2] > ankle[2] > points[sole, 2].min()
    upper, lower = np.linalg.norm(hip - knee), np.linalg.norm(knee - ankle)
    assert 0.3 * lower < upper < 3.0 * lower
    assert leg.heel and leg.front
    assert points[list(leg.heel), 0].max() < points[list(leg.front), 0].min()
    if leg.ball and leg.toes:
        assert points[list(leg.heel), 0].max() < points[list(leg.ball), 0].min() < points[list(leg.toes), 0].min()
    # the knee changes the length of the leg more than the joints at its ends
    assert leg.knee is not None and leg.ankle is not None
    changes = {}
    for name, joint in (("hip", leg.hip), ("knee", leg.knee), ("ankle", leg.ankle)):
        v = np.zeros(character.nv)
        for part in joint.joints:
            v[character.joint(part).dofs] = 0.6
        there = character.snapshot(character.state(character.integrate(character.neutral, v)))
        away = centre(there, leg.hip) - centre(there, leg.ankle)
        changes[name] = abs(np.linalg.norm(away) - np.linalg.norm(hip - ankle))
    assert changes["knee"] > changes["hip"] and changes["knee"] > changes["ankle"]


@pytest.mark.parametrize("name", WALKERS)
def test_every_leg_of_the_library_is_whole(name: str):
    character = cp.character(name)
    legs = cp.legs_of(character)
    assert [leg.foot for leg in legs] == [foot.name for foot in character.feet]
    for leg in legs:
        check_a_leg(character, leg)
        for what in ("hip", "knee", "ankle"):
            assert getattr(leg, what).joints == (f"{what}_{leg.side}",)


@pytest.mark.parametrize("name", HUMANS)
def test_people_stand_on_heel_ball_and_toes(name: str):
    character = cp.character(name)
    for leg in cp.legs_of(character):
        for part, points in (("heel", leg.heel), ("ball", leg.ball), ("toe", leg.toes)):
            assert len(points) == 2 and all(character.contact_points[i].name.startswith(part) for i in points)
        assert leg.hock is None and leg.front == leg.toes


@pytest.mark.parametrize("name", BIRDS)
def test_birds_have_a_hock_that_bends_backwards(name: str):
    character = cp.character(name)
    here = character.snapshot()
    for leg in cp.legs_of(character):
        assert leg.hock is not None and leg.hock.joints == (f"hock_{leg.side}",)
        knee, hock, ankle = centre(here, leg.knee), centre(here, leg.hock), centre(here, leg.ankle)
        assert knee[2] > hock[2] > ankle[2] and hock[0] < knee[0] and hock[0] < ankle[0]
        assert leg.toes == () and leg.front == leg.ball


@pytest.mark.parametrize("name", [name for name in WALKERS if name != "asymmetric"])
def test_left_and_right_are_mirror_images(name: str):
    character = cp.character(name)
    left, right = cp.legs_of(character)
    here = character.snapshot()
    assert (left.side, right.side) == ("left", "right")
    for what in ("hip", "knee", "ankle"):
        a, b = (centre(here, getattr(leg, what)) for leg in (left, right))
        assert np.allclose(a * [1.0, -1.0, 1.0], b, atol=1e-6)


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_legs_of_robots_are_those_of_their_files(robot: str):
    character = loaded(robot)
    legs = {leg.side: leg for leg in cp.legs_of(character)}
    assert set(legs) == {"left", "right"}
    for leg in legs.values():
        check_a_leg(character, leg)
    assert (legs["left"].hip.joints, legs["left"].knee.joints, legs["left"].ankle.joints) == ROBOTS[robot]


@pytest.mark.parametrize("name", ["human", "ostrich", "child"])
def test_names_are_not_needed(name: str):
    """The same body with parts called b0, b1, ...: its legs have the same joints and stand on the same parts."""
    known = cp.character(name)
    names = sorted({*known.segments, *(part for joint in known.joints for part in joint.parts)}, key=len, reverse=True)
    text = re.sub(r"<custom>.*?</custom>", "", known.to_mjcf(), flags=re.DOTALL)  # where the roles are written
    for i, old in enumerate(names):
        text = re.sub(rf'"{re.escape(old)}"', f'"b{i}"', text)
    nameless = cp.Character.from_mjcf(text)
    assert not set(nameless.segments) & set(known.segments)
    there = nameless.snapshot()
    legs = sorted(cp.legs_of(nameless), key=lambda leg: -centre(there, leg.hip)[1])
    assert len(legs) == 2
    for found, wanted in zip(legs, cp.legs_of(known), strict=True):
        check_a_leg(nameless, found)
        for what in ("hip", "knee", "hock", "ankle"):
            mine, theirs = getattr(found, what), getattr(wanted, what)
            assert (mine is None) == (theirs is None), what
            if mine is not None:
                assert mine.body == f"b{names.index(theirs.body)}", what
        assert bool(found.toes) == bool(wanted.toes)


def test_a_body_without_feet_has_no_legs():
    assert cp.legs_of(cp.character("chain")) == ()
