"""The one door for motion files, and what stands behind it: characters from skeletons, clips from any motion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

import counterpoise as cp
from counterpoise import spatial
from counterpoise.character.skeletal.build import character_from_skeleton
from counterpoise.character.skeletal.parts import named_sides, read_parts
from counterpoise.errors import BadFile, BadValue
from counterpoise.motion import Motion, reference_motion
from counterpoise.motion.clips import clip_of_motion, motion_of_clip
from counterpoise.motion.files import hub
from counterpoise.motion.skeleton import Clip, Skeleton

MOCAP = Path(__file__).resolve().parents[3] / "shared" / "mocap"
CLIPS = sorted([*MOCAP.glob("*.bvh"), *MOCAP.glob("*.amc")])
LOST_THORAX = 0.1167 / 1.585  # the BVH files lost this bone: its length in 02_01.amc by the height of 02_01.bvh
RISING = ("111_10", "139_16")  # begin on a chair and on the ground: they stand in the end
real = pytest.mark.skipif(not CLIPS, reason="no folder ../shared/mocap with real clips beside the repository")


def body_frames(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """World places (f, bodies, 3) and rotations (f, bodies, 4), by MuJoCo."""
    model = motion.character.model
    data = mujoco.MjData(model)
    places, turns = [], []
    for pose in motion.poses:
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        places.append(data.xpos[1:].copy())
        turns.append(data.xquat[1:].copy())
    return np.array(places), np.array(turns)


def wild(body, frames: int = 6, seed: int = 5) -> Motion:
    """Any poses whatever."""
    rng = np.random.default_rng(seed)
    poses = body.integrate(np.tile(body.neutral, (frames, 1)), rng.normal(0.0, 0.8, (frames, body.nv)))
    return Motion(body, np.arange(frames) / 30.0, poses)


def same_turns(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(np.abs(np.sum(a * b, axis=-1)), 1.0, atol=1e-12)


# ------------------------------------------------------------------------------------------ motion to clip and back


def test_a_clip_has_its_joints_where_the_bodies_are(cast):
    motion = wild(cast)
    clip = clip_of_motion(motion)
    places, turns = clip.world()
    xpos, xquat = body_frames(motion)
    assert clip.skeleton.names == cast.segments
    np.testing.assert_allclose(places, xpos, atol=1e-9)
    same_turns(turns, xquat)


ODD = """<mujoco><worldbody><body name="base" pos="0 0 1" quat="0.9 0.1 0.3 0.2"><freejoint/>
<geom size="0.1"/>
<body name="arm" pos="0.1 0.2 0.3" quat="0.5 0.5 0.5 0.5">
  <joint name="a" type="hinge" axis="1 2 3" pos="0.05 0 0.1" ref="0.3"/><joint name="b" type="slide" axis="0 1 1"/>
  <joint name="c" type="hinge" axis="0 1 0" pos="0 0.2 0"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
  <body name="tool" pos="0.3 0 0"><joint name="d" type="ball" pos="0 0 0.04"/>
  <geom type="box" size=".1 .02 .03" pos="0.1 0 0"/>
</body></body></body></worldbody></mujoco>"""


def test_anchors_slides_and_several_hinges_a_body():
    from counterpoise.character import Character

    body = Character.from_mjcf(ODD)
    motion = wild(body)
    xpos, xquat = body_frames(motion)
    places, turns = clip_of_motion(motion).world()
    np.testing.assert_allclose(places, xpos, atol=1e-9)
    same_turns(turns, xquat)
    ends = dict(clip_of_motion(motion).skeleton.ends)
    np.testing.assert_allclose(ends[2], [0.2, 0.0, 0.0], atol=1e-9)


def test_left_out_bodies_are_collapsed(human):
    motion = wild(human)
    names = ["pelvis", "forearm_left", "hand_left", "foot_right"]
    clip = clip_of_motion(motion, bodies=names)
    assert set(clip.skeleton.names) == set(names)
    hand = clip.skeleton.names.index("hand_left")
    assert clip.skeleton.names[clip.skeleton.parents[hand]] == "forearm_left"
    xpos, xquat = body_frames(motion)
    at = [human.segments.index(name) for name in clip.skeleton.names]
    places, turns = clip.world()
    np.testing.assert_allclose(places, xpos[:, at], atol=1e-9)
    same_turns(turns, xquat[:, at])
    rest = replace(clip, rotations=clip.skeleton.rest[None], translations=clip.skeleton.offsets[None])
    still = Motion(human, [0.0], [human.model.qpos0])
    np.testing.assert_allclose(rest.world()[0][0], body_frames(still)[0][0, at], atol=1e-9)


def test_rates_and_frames(human):
    squat = reference_motion("squat", human)
    clip = clip_of_motion(squat, rate=24)
    assert clip.rate == 24 and len(clip) == int(squat.duration * 24 + 1e-6) + 1
    np.testing.assert_allclose(clip.translations[5, 0], squat.sample(5 / 24).q[:3], atol=1e-12)
    for frames in ((3, 8), slice(3, 9), range(3, 9)):
        assert len(clip_of_motion(squat, frames=frames)) == 6
    with pytest.raises(BadValue, match="not within"):
        clip_of_motion(squat, frames=(0, 10_000))
    uneven = Motion(human, [0.0, 0.1, 1.0], np.tile(human.neutral, (3, 1)))
    assert len(clip_of_motion(uneven)) == 3 and clip_of_motion(uneven).rate == 2.0


def tree(rng: np.random.Generator, joints: int = 12) -> Skeleton:
    parents = [-1, *(int(rng.integers(0, i)) for i in range(1, joints))]
    rest = spatial.normalize(rng.normal(size=(joints, 4)))
    names = tuple(f"joint {i}" for i in range(joints))
    return Skeleton(names, tuple(parents), rng.uniform(-0.5, 0.5, (joints, 3)), rest, ((joints - 1, (0.1, 0.0, 0.2)),))


def test_any_tree_becomes_a_character(rng):
    """Rest rotations and moving joints included: places and rotations agree with MuJoCo's."""
    skeleton = tree(rng)
    rotations = spatial.normalize(rng.normal(size=(7, 12, 4)))
    translations = np.tile(skeleton.offsets, (7, 1, 1))
    translations[:, [0, 4, 9]] += rng.normal(size=(7, 3, 3))
    clip = Clip(skeleton, 50.0, rotations, translations)
    motion = motion_of_clip(clip)
    places, turns = clip.world()
    order = [motion.character.segments.index(name) for name in motion.source.bodies]
    xpos, xquat = body_frames(motion)
    np.testing.assert_allclose(xpos[:, order], places, atol=1e-9)
    same_turns(xquat[:, order], turns)
    kinds = {
        joint.body: [j.kind for j in motion.character.joints if j.body == joint.body]
        for joint in motion.character.joints
    }
    assert kinds["joint_4"] == ["slide", "slide", "slide", "ball"] and kinds["joint_5"] == ["ball"]
    still = Motion(motion.character, [0.0], [motion.character.model.qpos0])
    np.testing.assert_allclose(body_frames(still)[0][0, order], skeleton.world()[0], atol=1e-9)


def test_frames_aligned_at_rest_keep_the_places(rng):
    skeleton = tree(rng)
    clip = Clip(skeleton, 50.0, spatial.normalize(rng.normal(size=(7, 12, 4))), rng.normal(size=(7, 12, 3)))
    aligned = clip.aligned()
    np.testing.assert_allclose(aligned.world()[0], clip.world()[0], atol=1e-12)
    np.testing.assert_allclose(aligned.skeleton.world()[0], skeleton.world()[0], atol=1e-12)
    np.testing.assert_array_equal(aligned.skeleton.rest, np.tile(spatial.IDENTITY, (12, 1)))


# ----------------------------------------------------------------------------------------- bodies for bare skeletons

MIXAMO = {  # name: (parent, offset in metres, x forward, y left, z up)
    "mixamorig:Hips": (None, (0, 0, 1.0)), "mixamorig:Spine": ("mixamorig:Hips", (0, 0, 0.1)),
    "mixamorig:Spine2": ("mixamorig:Spine", (0, 0, 0.25)), "mixamorig:Neck": ("mixamorig:Spine2", (0, 0, 0.15)),
    "mixamorig:Head": ("mixamorig:Neck", (0.02, 0, 0.1)), "mixamorig:HeadTop_End": ("mixamorig:Head", (0, 0, 0.18)),
    **{
        f"mixamorig:{side}{name}": (above if ":" in above else f"mixamorig:{side}{above}", (x, s * y, z))
        for side, s in (("Left", 1), ("Right", -1))
        for name, above, (x, y, z) in (
            ("Shoulder", "mixamorig:Spine2", (0, 0.06, 0.1)), ("Arm", "Shoulder", (0, 0.12, 0)),
            ("ForeArm", "Arm", (0, 0.28, 0)), ("Hand", "ForeArm", (0, 0.26, 0)),
            ("HandIndex1", "Hand", (0, 0.1, 0)), ("HandIndex2", "HandIndex1", (0, 0.03, 0)),
            ("UpLeg", "mixamorig:Hips", (0, 0.09, -0.05)), ("Leg", "UpLeg", (0, 0, -0.44)),
            ("Foot", "Leg", (0, 0, -0.43)), ("ToeBase", "Foot", (0.13, 0, -0.06)), ("Toe_End", "ToeBase", (0.07, 0, 0)),
        )
    },
}  # fmt: skip


def person():
    names = list(MIXAMO)
    parents = [-1 if above is None else names.index(above) for above, _ in MIXAMO.values()]
    return names, parents, np.array([offset for _, offset in MIXAMO.values()])


def test_parts_are_found_by_a_few_names_and_the_tree():
    names, parents, offsets = person()
    found = read_parts(names, parents, offsets)
    part = {name.removeprefix("mixamorig:"): p for name, p in zip(names, found.by_joint, strict=True)}
    assert found.humanoid
    assert (part["LeftUpLeg"], part["LeftLeg"], part["LeftFoot"], part["LeftToeBase"]) == (
        "thigh",
        "shank",
        "foot",
        "foot",
    )
    assert (part["RightArm"], part["RightForeArm"], part["RightHandIndex1"]) == ("upper_arm", "forearm", "hand")
    assert (part["Hips"], part["Spine2"], part["Neck"], part["RightShoulder"]) == ("pelvis", "thorax", "head", "thorax")
    assert named_sides(["lfemur", "rfemur", "lowerback", "RThumb", "LThumb", "thigh.L", "thigh.R"]) == (
        "left", "right", "middle", "right", "left", "left", "right",
    )  # fmt: skip


def test_a_person_weighs_what_winter_says():
    names, parents, offsets = person()
    body = character_from_skeleton("mixamo", names, parents, offsets)
    weight = dict(zip(body.segments, body.model.body_mass[1:], strict=True))
    assert body.mass == pytest.approx(73.0, rel=0.12) and 1.7 < body.height < 1.95
    assert weight["mixamorig:LeftUpLeg"] / body.mass == pytest.approx(0.100, rel=0.02)
    assert weight["mixamorig:LeftLeg"] / body.mass == pytest.approx(0.0465, rel=0.02)
    assert weight["mixamorig:RightArm"] / body.mass == pytest.approx(0.028, rel=0.02)
    assert [(foot.body.split(":")[1], foot.side) for foot in body.feet] == [
        ("LeftFoot", "left"),
        ("RightFoot", "right"),
    ]
    assert [hand.split(":")[1] for hand in body.hands] == ["LeftHand", "RightHand"]
    inertia = body.model.body_inertia[1:]
    assert (inertia > 0.0).all() and (inertia[:, 0] <= inertia[:, 1] + inertia[:, 2] + 1e-15).all()
    assert character_from_skeleton("heavy", names, parents, offsets, mass=90.0).mass == pytest.approx(90.0, rel=1e-3)


def test_soles_lie_flat_on_the_ground():
    names, parents, offsets = person()
    body = character_from_skeleton("mixamo", names, parents, offsets)
    data = mujoco.MjData(body.model)
    data.qpos[:] = body.neutral
    mujoco.mj_kinematics(body.model, data)
    for point in body.contact_points:
        b = body.model.body(point.body).id
        place = data.xpos[b] + data.xmat[b].reshape(3, 3) @ np.array(point.position)
        assert place[2] == pytest.approx(0.0, abs=1e-9)
    assert all(len(foot.points) == 6 for foot in body.feet)
    np.testing.assert_allclose(body.neutral[7:], body.model.qpos0[7:], atol=1e-12)


def test_a_built_body_can_be_simulated_saved_and_posed(tmp_path):
    names, parents, offsets = person()
    body = character_from_skeleton("mixamo", names, parents, offsets)
    run = cp.simulate(body, cp.HoldPose(), seconds=0.3)
    assert run.status == "finished" and np.isfinite(run.qpos).all()
    assert run.positions()[-1][2] == pytest.approx(body.neutral[2], abs=0.03)
    again = type(body).from_mjcf(body.to_mjcf())
    assert again.segments == body.segments and again.mass == body.mass and len(again.feet) == 2
    pose = cp.pose_from_joints(body, {"mixamorig:LeftLeg": (0.0, 0.5, 0.0)})
    assert pose.shape == (body.nq,)


def test_a_beast_weighs_its_volume_and_finds_its_lowest_leaves():
    offsets = [(0, 0, 0.5), (0.4, 0, 0), (0, 0.1, -0.45), (0, -0.1, -0.45), (0, 0.1, -0.45), (0, -0.1, -0.45)]
    body = character_from_skeleton(
        "table", ["back", "front", "a", "b", "c", "d"], [-1, 0, 0, 0, 1, 1], offsets,
        ends=[(i, (0.0, 0.0, -0.05)) for i in (2, 3, 4, 5)],
    )  # fmt: skip
    assert {foot.body for foot in body.feet} == {"a", "b", "c", "d"}
    assert 1.0 < body.mass < 60.0


def test_a_figure_that_rests_along_one_axis_stands_as_it_moves(tmp_path):
    """All bones along x at rest, as some programs write them; the first frame stands."""
    names, parents, offsets = person()
    rest = np.tile(spatial.IDENTITY, (len(names), 1))
    laid = np.array([[np.linalg.norm(offset), 0.0, 0.0] for offset in offsets])
    laid[0] = offsets[0]
    standing = Skeleton(tuple(names), tuple(parents), offsets, rest)
    down, turns = np.array([1.0, 0.0, 0.0]), np.tile(spatial.IDENTITY, (len(names), 1))
    for i in range(len(parents)):  # world rotations that carry +x to each joint's last bone
        children = [k for k, p in enumerate(parents) if p == i]
        if children:
            turns[i] = spatial.from_two_vectors(down, offsets[children[-1]])
    local = np.array([
        turns[i] if p < 0 else spatial.multiply(spatial.conjugate(turns[p]), turns[i]) for i, p in enumerate(parents)
    ])  # fmt: skip
    skeleton = Skeleton(tuple(names), tuple(parents), laid, rest)
    clip = Clip(skeleton, 30.0, np.tile(local, (5, 1, 1)), np.tile(laid, (5, 1, 1)))
    motion = motion_of_clip(clip)
    assert 0.8 * standing.world()[0][:, 2].max() < motion.character.height < 2.0
    assert len(motion.character.feet) == 2
    part = motion_of_clip(clip.frames(3, 4), whole=clip)
    assert part.character.to_mjcf() == motion.character.to_mjcf()


@real
@pytest.mark.parametrize("path", CLIPS, ids=lambda p: p.name)
def test_real_clips_have_sensible_bodies(path):
    motion = cp.read_motion(path, frames=(0, 120))
    body = motion.character
    lost = LOST_THORAX * body.height if path.suffix == ".bvh" else 0.0
    assert 1.45 < body.height + lost < 1.9 and 50.0 < body.mass < 90.0
    assert [foot.side for foot in body.feet] == ["left", "right"] and len(body.hands) == 2
    assert len(body.segments) == 31 and any("units" in line or "unit is" in line for line in motion.source.remarks)
    if path.stem in RISING:
        whole = cp.read_motion(path)
        motion = whole.slice(whole.end - 1.0, whole.end)
    places, _ = clip_of_motion(motion).world()
    assert 0.6 < np.median(places[:, 0, 2]) < 1.6 or path.stem == "43_02"  # the root is above the floor


# ------------------------------------------------------------------------------------------------------------ hub


def test_every_format_is_what_it_says():
    for suffix, entry in hub.FORMATS.items():
        assert suffix == suffix.lower() and entry.title and (entry.reader or entry.writer)
        assert bool(entry.needs) == bool(entry.extra)
        for name in filter(None, (entry.reader, entry.writer)):
            assert callable(hub.function_of(entry, name, f"x{suffix}"))


def test_suffixes(tmp_path, human):
    squat = reference_motion("squat", human)
    with pytest.raises(BadFile, match=r"no motion format has the suffix '.xyz'; the suffix may be .bvh, .*\.npz"):
        squat.write(tmp_path / "a.xyz")
    with pytest.raises(BadFile, match=r"the suffix may be \.bvh"):
        cp.read_motion(tmp_path / "a")
    squat.write(tmp_path / "a.FBX")
    assert len(cp.read_motion(tmp_path / "a.FBX")) == len(squat)


def test_a_missing_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(hub, "find_spec", lambda name: None)
    with pytest.raises(BadFile, match=r"need the package 'pxr': pip install 'counterpoise\[usd\]'"):
        cp.read_motion(tmp_path / "a.usda")


def test_the_houses_own_format_goes_through_the_same_door(tmp_path, human):
    squat = reference_motion("squat", human)
    squat.write(tmp_path / "squat.npz")
    back = cp.read_motion(tmp_path / "squat.npz")
    np.testing.assert_array_equal(back.poses, squat.poses)
    assert cp.read_motion(tmp_path / "squat.npz", human).character is human
    part = cp.read_motion(tmp_path / "squat.npz", start=0.5, end=1.0)
    assert (part.start, part.end) == (pytest.approx(0.5, abs=0.02), pytest.approx(1.0, abs=0.02))
    with pytest.raises(BadValue, match=r"`up` means nothing to a \.npz file"):
        cp.read_motion(tmp_path / "squat.npz", up="z")
    with pytest.raises(BadValue, match="has no option colour"):
        cp.read_motion(tmp_path / "squat.npz", colour="red")


def test_onto_another_character_is_retargeting(tmp_path, human):
    squat = reference_motion("squat", human).resampled(20)
    squat.write(tmp_path / "squat.bvh")
    onto = cp.read_motion(tmp_path / "squat.bvh", "human", units="m")
    assert onto.character is human and onto.source is None
    assert onto.poses[:, 2].min() < onto.poses[0, 2] - 0.1  # it still squats


def test_parts_of_a_file(tmp_path, human):
    squat = reference_motion("squat", human).resampled(20)
    squat.write(tmp_path / "squat.bvh")
    whole = cp.read_motion(tmp_path / "squat.bvh")
    part = cp.read_motion(tmp_path / "squat.bvh", start=1.0, end=2.0)
    assert (part.start, part.end, len(part)) == (pytest.approx(1.0), pytest.approx(2.0), 21)
    np.testing.assert_array_equal(part.poses, whole.poses[20:41])
    assert part.character.to_mjcf() == whole.character.to_mjcf()
    with pytest.raises(BadValue, match="no frames from 9 s to the end"):
        cp.read_motion(tmp_path / "squat.bvh", start=9.0)
    with pytest.raises(BadValue, match="not both"):
        cp.read_motion(tmp_path / "squat.bvh", start=1.0, frames=(1, 2))


def test_a_recording_goes_out_as_keys(tmp_path, human):
    run = cp.simulate(human, cp.HoldPose(), seconds=0.2)
    run.motion.write(tmp_path / "run.bvh", rate=60, bodies=["pelvis", "thorax", "head"])
    back = cp.read_motion(tmp_path / "run.bvh", units="m")
    assert back.character.segments == ("pelvis", "thorax", "head") and back.rate == pytest.approx(60.0)
    heads = body_frames(back)[0][:, 2]
    at = human.segments.index("head")
    truth = body_frames(Motion(human, back.times, run.motion.sample(back.times).q))[0][:, at]
    np.testing.assert_allclose(heads, truth, atol=1e-6)
