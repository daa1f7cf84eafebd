"""Left and right: read from names as files write them, and mirror images of figures with such names."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import counterpoise as cp
from counterpoise import spatial
from counterpoise.character.roles import left_right_pairs, other_side, side_of
from counterpoise.character.skeletal.parts import named_sides
from counterpoise.motion import Motion
from counterpoise.motion.clips import motion_of_clip
from counterpoise.motion.skeleton import Clip, Skeleton

MOCAP = Path(__file__).resolve().parents[3] / "shared" / "mocap"
PAIRS = (
    ("foot_left", "foot_right"),
    ("left_foot", "right_foot"),
    ("LeftUpLeg", "RightUpLeg"),
    ("thigh_l", "thigh_r"),
    ("thigh.L", "thigh.R"),
    ("Bip01 L Thigh", "Bip01 R Thigh"),
    ("mixamorig:LeftArm", "mixamorig:RightArm"),
    ("rig|l_hand", "rig|r_hand"),
)
LETTERS = (
    ("lfemur", "rfemur"),
    ("LHipJoint", "RHipJoint"),
    ("LThumb", "RThumb"),
    ("ltoes", "rtoes"),
    ("body:lhand", "body:rhand"),
    ("RigLeftHand", "RigRightHand"),
)
MIDDLE = ("lowerback", "root", "Rib", "lowerneck", "LowerBack", "roll", "Spine", "rotator")


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_names_that_tell_their_side(left, right):
    assert (side_of(left), side_of(right)) == ("left", "right")
    assert (other_side(left), other_side(right)) == (right, left)


@pytest.mark.parametrize(("left", "right"), [*PAIRS, *LETTERS])
def test_one_letter_tells_where_the_partner_is_there(left, right):
    figure = (left, right, *MIDDLE)
    assert (side_of(left, figure), side_of(right, figure)) == ("left", "right")
    assert (other_side(left, figure), other_side(right, figure)) == (right, left)
    assert left_right_pairs(figure) == ((left, right),)
    assert named_sides(figure) == ("left", "right", *["middle"] * len(MIDDLE))
    assert other_side(left, (left, *MIDDLE)) == left  # nobody there


@pytest.mark.parametrize("name", [*MIDDLE, *(name for pair in LETTERS[:5] for name in pair)])
def test_alone_a_letter_tells_nothing(name):
    assert side_of(name) == "middle" and side_of(name, [name]) == "middle" and other_side(name, [name]) == name


def places(motion: Motion) -> np.ndarray:
    """(f, bodies, 3) by MuJoCo."""
    model = motion.character.model
    data, out = mujoco.MjData(model), []
    for pose in motion.poses:
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        out.append(data.xpos[1:].copy())
    return np.array(out)


def partners(motion: Motion) -> list[int]:
    names = motion.character.segments
    found = [names.index(other_side(name, names)) for name in names]
    assert [found[k] for k in found] == list(range(len(names)))
    return found


@pytest.mark.parametrize("name", ["02_01.bvh", "02_01.amc", "13_29.bvh", "49_19.bvh"])
def test_a_real_clip_in_the_mirror(name):
    """Left and right bodies swap places; what is left over is the person's own difference of left and right bones."""
    if not (MOCAP / name).is_file():
        pytest.skip("no folder ../shared/mocap with real clips beside the repository")
    motion = cp.read_motion(MOCAP / name, frames=range(1, 300, 13))
    mirrored, other = motion.mirrored(), partners(motion)
    np.testing.assert_array_equal(mirrored.mirrored().poses, motion.poses)
    feet = {foot.side for foot in motion.character.feet}
    assert feet == {"left", "right"} and sum(k != i for i, k in enumerate(other)) >= 16
    model = motion.character.model
    bones = model.body_pos[1:].copy()
    bones[0] = 0.0  # a free root is where it is put
    uneven = np.linalg.norm(bones - bones[other] * (1, -1, 1), axis=1)
    for b in range(1, len(uneven)):  # adds up along the limb
        uneven[b] += uneven[model.body_parentid[b + 1] - 1]
    off = np.linalg.norm(places(mirrored) - places(motion)[:, other] * (1, -1, 1), axis=2).max(axis=0)
    assert (off <= uneven + 1e-9).all()


def test_a_figure_whose_joints_rest_turned():
    """Any frames at rest, root too, as other programs have them; the body is symmetric, so the image is exact."""
    rng = np.random.default_rng(0)
    names, parents = ("hips", "lLeg", "lFoot", "rLeg", "rFoot", "head"), (-1, 0, 1, 0, 3, 0)
    stand = np.array([[0, 0, 1], [0, 0.1, 0.9], [0.1, 0.2, 0.1], [0, -0.1, 0.9], [0.1, -0.2, 0.1], [0.1, 0, 1.6]])
    turns = spatial.normalize(rng.normal(size=(6, 4)))
    back = [spatial.conjugate(turns[p]) if p >= 0 else spatial.IDENTITY for p in parents]
    offsets = [spatial.rotate(back[i], stand[i] - (stand[p] if p >= 0 else 0.0)) for i, p in enumerate(parents)]
    rest = [spatial.multiply(back[i], turns[i]) for i in range(6)]
    skeleton = Skeleton(names, parents, np.array(offsets), np.array(rest))
    rotations = spatial.normalize(np.array(rest) + 0.6 * rng.normal(size=(20, 6, 4)))
    translations = np.tile(np.array(offsets), (20, 1, 1))
    translations[:, 0] += rng.normal(size=(20, 3))
    motion = motion_of_clip(Clip(skeleton, 10.0, rotations, translations))
    mirrored = motion.mirrored()
    np.testing.assert_allclose(places(mirrored), places(motion)[:, partners(motion)] * (1, -1, 1), atol=1e-12)
    np.testing.assert_allclose(places(mirrored.mirrored()), places(motion), atol=1e-12)
    who, q, v = motion.character, motion.poses[3], rng.normal(size=motion.character.nv)
    ahead = who.difference(who.mirror_pose(who.integrate(q, -1e-6 * v)), who.mirror_pose(who.integrate(q, 1e-6 * v)))
    np.testing.assert_allclose(who.mirror_velocity(v), ahead / 2e-6, atol=1e-7)
