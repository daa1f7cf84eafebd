"""BVH: read as another reader reads it, written so that it comes back the same, and files that are none."""

from __future__ import annotations

import tracemalloc
import warnings
from dataclasses import replace
from pathlib import Path

import bvh as other
import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from counterpoise import read_motion
from counterpoise.character.library import character
from counterpoise.errors import BadFile, BadValue, UnknownName
from counterpoise.motion import Motion, reference_motion
from counterpoise.motion.files.axes import UNITS
from counterpoise.motion.files.bvh import read_clip, write_clip
from counterpoise.motion.skeleton import Clip

MOCAP = Path(__file__).resolve().parents[3] / "shared" / "mocap"
CLIPS = sorted(MOCAP.glob("*.bvh"))
real = pytest.mark.skipif(not CLIPS, reason="no folder ../shared/mocap with real clips beside the repository")

# A small person in centimetres whose joints differ in everything a BVH may differ in.
TREE = """HIERARCHY
ROOT Hips
{
  OFFSET 1.0 2.0 3.0
  CHANNELS 6 Zrotation Xposition Yrotation Yposition Xrotation Zposition
  JOINT Chest
  {
    OFFSET 0.0 45.5 -1.25
    CHANNELS 3 Xrotation Zrotation Yrotation
    JOINT Head
    {
      OFFSET 0 25 0
      CHANNELS 1 Yrotation
      End Site
      {
        OFFSET 0 20.0 0
      }
    }
    JOINT LeftShoulder
    {
      OFFSET 18 15 0
      CHANNELS 6 Xposition Yposition Zposition Yrotation Zrotation Xrotation
      JOINT LeftElbow
      {
        OFFSET 28 0 0
        CHANNELS 2 Yrotation Zrotation
        JOINT LeftHand
        {
          OFFSET 25 0 0
          CHANNELS 0
          End Site
          {
            OFFSET 17 0 0
          }
        }
      }
    }
  }
  JOINT LeftHip
  {
    OFFSET 9 -2 0
    CHANNELS 3 Yrotation Xrotation Zrotation
    JOINT LeftKnee
    {
      OFFSET 0 -43 0
      CHANNELS 1 Xrotation
      JOINT LeftAnkle
      {
        OFFSET 0 -42 0
        CHANNELS 3 Zrotation Xrotation Yrotation
        End Site
        {
          OFFSET 0 -7 14
        }
      }
    }
  }
}
"""
WIDTH = 6 + 3 + 1 + 6 + 2 + 0 + 3 + 1 + 3


def numbers(frames: int, rng: np.random.Generator) -> np.ndarray:
    """A smooth movement in the channels of TREE."""
    t = np.linspace(0.0, 1.0, frames)[:, None]
    rows = rng.uniform(-60, 60, WIDTH) + rng.uniform(-30, 30, WIDTH) * np.sin(2 * np.pi * t + rng.uniform(0, 6, WIDTH))
    rows[:, [1, 3, 5]] = [0.0, 95.0, 0.0] + 5.0 * rows[:, [1, 3, 5]] / 90.0
    rows[:, 10:13] = np.array([18.0, 15.0, 0.0]) + rows[:, 10:13] / 60.0
    return rows


def written(path: Path, tree: str, rows: np.ndarray, frame_time: str = "0.0083333") -> Path:
    lines = [" ".join(f"{v:.6f}" for v in row) for row in np.atleast_2d(rows)]
    path.write_text(tree + f"MOTION\nFrames: {len(lines)}\nFrame Time: {frame_time}\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture
def small(tmp_path, rng):
    return written(tmp_path / "small.bvh", TREE, numbers(40, rng))


def judged(path: Path, frames: int | None = None) -> tuple[list[str], np.ndarray]:
    """Joint places (f, n, 3) in the file's own units and axes, by another reader and scipy's rotations."""
    lines = path.read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("Frame Time")) + 1
    count = len(lines) - start if frames is None else frames
    file = other.Bvh("\n".join(lines[: start + count]) + "\n")
    names = file.get_joints_names()
    out = np.zeros((count, len(names), 3))
    for frame in range(count):
        turns: dict[str, Rotation] = {}
        for i, name in enumerate(names):
            channels = file.joint_channels(name)
            offset = dict(zip("XYZ", file.joint_offset(name), strict=True))
            turn = Rotation.identity()
            for channel in channels:
                value = float(file.frame_joint_channel(frame, name, channel))
                if channel.endswith("rotation"):
                    turn = turn * Rotation.from_euler(channel[0].lower(), value, degrees=True)
                else:
                    offset[channel[0]] = value
            place = np.array(list(offset.values()))
            above = file.joint_parent(name)
            if above is None:
                out[frame, i], turns[name] = place, turn
            else:
                out[frame, i] = out[frame, names.index(above.name)] + turns[above.name].apply(place)
                turns[name] = turns[above.name] * turn
    return names, out


def y_up(places: np.ndarray, scale: float) -> np.ndarray:
    """From ours (x forward, y left, z up) to a file with y up and z forward."""
    return places[..., [1, 2, 0]] / scale


def body_places(motion: Motion) -> np.ndarray:
    """(f, bodies, 3), by MuJoCo."""
    model = motion.character.model
    data = mujoco.MjData(model)
    out = []
    for pose in motion.poses:
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        out.append(data.xpos[1:].copy())
    return np.array(out)


# ------------------------------------------------------------------------------------------------------- reading


def test_another_reader_finds_the_joints_at_the_same_places(small):
    names, theirs = judged(small)
    clip = read_clip(small)
    assert list(clip.skeleton.names) == names
    assert clip.notes["scale"] == 0.01 and clip.notes["up"] == "y" and clip.notes["forward"] == "z"
    np.testing.assert_allclose(y_up(clip.world()[0], 0.01), theirs, atol=1e-9)


def test_the_character_has_its_joints_where_the_file_has_them(small):
    names, theirs = judged(small)
    motion = read_motion(small)
    assert list(motion.character.segments) == names
    np.testing.assert_allclose(y_up(body_places(motion), 0.01), theirs, atol=1e-7)
    assert motion.rate == pytest.approx(120.0, abs=1e-9)


@pytest.mark.parametrize(
    "text, rate",
    [("0.0083333", 120), (".0083333", 120), ("0.033333", 30), ("0.0333", 30), ("0.04", 25), ("4e-2", 25)],
)
def test_a_frame_time_is_a_whole_rate_rounded(text, rate, tmp_path, rng):
    assert read_clip(written(tmp_path / "a.bvh", TREE, numbers(3, rng), text)).rate == rate


def test_a_film_rate_stays_as_it_is(tmp_path, rng):
    clip = read_clip(written(tmp_path / "a.bvh", TREE, numbers(3, rng), "0.0333667"))
    assert clip.rate == pytest.approx(1 / 0.0333667)


@pytest.mark.parametrize("dress", [lambda s: s.replace("\n", "\r\n"), lambda s: "\ufeff" + s,
                                   lambda s: s.replace("  ", "\t"), lambda s: s.replace("\n", "\r"),
                                   lambda s: s.replace("\n{", " {").replace("OFFSET", "offset"),
                                   lambda s: s.replace("End Site", "END SITE")])  # fmt: skip
def test_dialects_mean_the_same(small, tmp_path, dress):
    dressed = tmp_path / "dressed.bvh"
    dressed.write_bytes(dress(small.read_text()).encode())
    np.testing.assert_array_equal(read_clip(dressed).rotations, read_clip(small).rotations)


@pytest.mark.parametrize(
    "unit, scale", [("m", 1.0), ("cm", 0.01), ("mm", 0.001), ("inch", 0.0254), ("cmu", 0.0254 / 0.45)]
)
def test_units_are_guessed_from_the_figures_size_and_told(unit, scale, tmp_path):
    motion = reference_motion("squat", character("human"))
    path = tmp_path / "squat.bvh"
    motion.write(path, units=unit, rate=10)
    clip = read_clip(path)
    assert clip.notes["scale"] == pytest.approx(scale)
    assert any(f"units guessed: {unit}" in line for line in clip.notes["remarks"])
    told = read_clip(path, units=scale)
    assert not any("units" in line for line in told.notes["remarks"])
    np.testing.assert_allclose(clip.world()[0], told.world()[0])


def small_person(path: Path, units: str, cmu_names: bool) -> Path:
    """A person whose joints span 1.2 m, smaller than the sizes that units are guessed for."""
    reference_motion("squat", character("human", height=1.2)).write(path, units=units, rate=10)
    if cmu_names:
        text = path.read_text()
        for ours, theirs in (("thigh_left", "LHipJoint"), ("thigh_right", "RHipJoint"), ("abdomen", "LowerBack")):
            assert ours in text
            text = text.replace(ours, theirs)
        path.write_text(text)
    return path


@pytest.mark.parametrize("unit", ["cmu", "cm", "m"])
def test_cmu_skeletons_are_recognised_by_name_where_that_gives_a_person(unit, tmp_path):
    clip = read_clip(small_person(tmp_path / "small.bvh", unit, cmu_names=True))
    assert clip.notes["scale"] == pytest.approx(UNITS[unit])
    assert any("units by joint names: cmu" in line for line in clip.notes["remarks"]) == (unit == "cmu")


def test_a_person_of_a_doubtful_size_is_a_warning(tmp_path):
    path = small_person(tmp_path / "small.bvh", "cmu", cmu_names=False)
    with pytest.warns(UserWarning, match=r"person 0\.2.* m tall, which is doubtful.*give `units`"):
        motion = read_motion(path)
    assert any(line.startswith("warning: the figure is read as a person 0.2") for line in motion.source.remarks)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = read_motion(path, units="cmu")
        small_person(path, "cmu", cmu_names=True)
        named = read_motion(path)
    np.testing.assert_allclose(named.poses[:, :3], told.poses[:, :3])
    assert not any("doubtful" in line for line in (*told.source.remarks, *named.source.remarks))


@pytest.mark.parametrize("up, forward", [("y", "z"), ("z", "x"), ("z", "-y"), ("y", "-x"), ("x", "y")])
def test_axes_are_guessed_and_told(up, forward, tmp_path):
    motion = reference_motion("squat", character("human"))
    path = tmp_path / "squat.bvh"
    motion.write(path, up=up, forward=forward, rate=10)
    clip = read_clip(path)
    assert (clip.notes["up"], clip.notes["forward"]) == (up, forward)
    ours = body_places(read_motion(path))
    np.testing.assert_allclose(ours, body_places(motion.resampled(10)), atol=1e-6)


def test_positions_near_zero_are_added_to_the_offset(tmp_path, rng):
    rows = numbers(5, rng)
    there = read_clip(written(tmp_path / "a.bvh", TREE, rows))
    rows[:, 10:13] -= [18.0, 15.0, 0.0]
    added = read_clip(written(tmp_path / "b.bvh", TREE, rows))
    np.testing.assert_allclose(added.world()[0], there.world()[0], atol=1e-7)
    assert any("added" in line for line in added.notes["remarks"]) and added.notes["positions"] == "added"
    write_clip(tmp_path / "c.bvh", added, source=read_motion(tmp_path / "b.bvh").source)
    np.testing.assert_allclose(read_clip(tmp_path / "c.bvh").world()[0], there.world()[0], atol=1e-7)


def test_one_of_several_figures(tmp_path):
    two = TREE + TREE.replace("HIERARCHY\n", "").replace("ROOT Hips", "ROOT Second")
    rows = np.concatenate([np.zeros((2, WIDTH)), np.full((2, WIDTH), 10.0)], axis=1)
    path = written(tmp_path / "two.bvh", two, rows)
    with pytest.raises(BadFile, match=r"2 figures: 'Hips'.*'Second'"):
        read_clip(path)
    second = read_clip(path, figure="Second")
    alone = read_clip(written(tmp_path / "one.bvh", TREE, np.full((2, WIDTH), 10.0)))
    np.testing.assert_array_equal(second.world()[0], alone.world()[0])


# ------------------------------------------------------------------------------------------------------- writing


def heading(path: Path) -> list[str]:
    """Everything but the numbers, word by word."""
    with path.open() as stream:
        words = stream.read(20_000).split()
    return words[: words.index("Time:") + 2]


def test_a_round_trip_keeps_the_files_own_words(small, tmp_path):
    again = tmp_path / "again.bvh"
    read_motion(small).write(again)
    assert heading(again) == heading(small)
    np.testing.assert_allclose(judged(again)[1], judged(small)[1], atol=1e-5)  # [cm]: 0.1 micrometres


def test_changed_motions_keep_the_files_own_words(small, tmp_path):
    motion = read_motion(small)
    tree = heading(small)[:-4]
    for changed in (motion.slice(10 / 120, 30 / 120), motion.reversed(), motion.placed((1.0, 2.0), 0.5)):
        changed.write(tmp_path / "changed.bvh")
        assert heading(tmp_path / "changed.bvh")[:-4] == tree
    np.testing.assert_allclose(
        body_places(read_motion(tmp_path / "changed.bvh")), body_places(motion.placed((1.0, 2.0), 0.5)), atol=1e-6
    )
    motion.write(tmp_path / "slow.bvh", rate=30)
    assert heading(tmp_path / "slow.bvh")[-1].startswith("0.0333333")


def test_a_joint_that_its_channels_cannot_say_gets_more(small, tmp_path):
    motion = read_motion(small)
    poses = motion.poses.copy()
    knee = motion.character.joint("LeftKnee").qpos
    poses[:, knee] = [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]
    bent = Motion(motion.character, motion.times, poses, source=motion.source)
    bent.write(tmp_path / "bent.bvh")
    np.testing.assert_allclose(body_places(read_motion(tmp_path / "bent.bvh")), body_places(bent), atol=1e-6)


@pytest.mark.parametrize("name", ["human", "ostrich", "insectoid"])
def test_any_character_is_written_where_it_is(name, tmp_path):
    body = character(name)
    motion = reference_motion("squat", body).resampled(12)
    path = tmp_path / "squat.bvh"
    motion.write(path)
    names, theirs = judged(path)
    ours = dict(zip(body.segments, np.moveaxis(body_places(motion), 1, 0), strict=True))
    for i, joint in enumerate(names):
        np.testing.assert_allclose(theirs[:, i], y_up(ours[joint], 1.0), atol=1e-6)
    assert other.Bvh(path.read_text()).frame_time == pytest.approx(1 / 12)


def test_some_bodies_only(tmp_path):
    body = character("human")
    motion = reference_motion("squat", body).resampled(12)
    motion.write(tmp_path / "some.bvh", bodies=["pelvis", "head", "foot_left"], frames=(2, 6))
    names, theirs = judged(tmp_path / "some.bvh")
    assert names == ["pelvis", "head", "foot_left"] and len(theirs) == 5
    ours = body_places(motion)[2:7, [body.segments.index(name) for name in names]]
    np.testing.assert_allclose(theirs, y_up(ours, 1.0), atol=1e-6)
    motion.write(tmp_path / "feet.bvh", bodies=["foot_left", "foot_right"])
    names, theirs = judged(tmp_path / "feet.bvh")
    assert names == ["origin", "foot_left", "foot_right"]
    ours = body_places(motion)[:, [body.segments.index(name) for name in names[1:]]]
    np.testing.assert_allclose(theirs[:, 1:], y_up(ours, 1.0), atol=1e-6)


def test_angles_do_not_leap(tmp_path):
    """A figure that turns on the spot three times is written with an angle that grows to 1080 degrees."""
    body = character("human")
    t = np.linspace(0.0, 3.0, 181)
    poses = np.tile(body.neutral, (len(t), 1))
    poses[:, 3:7] = np.stack([np.cos(np.pi * t), 0 * t, 0 * t, np.sin(np.pi * t)], axis=1)
    Motion(body, t, poses).write(tmp_path / "turn.bvh")
    rows = np.loadtxt((tmp_path / "turn.bvh").read_text().splitlines()[-181:])
    assert np.abs(np.diff(rows, axis=0)).max() < 10.0
    assert np.ptp(rows[:, 4]) == pytest.approx(1080.0)


def test_names_are_clean_and_each_its_own(tmp_path, rng):
    odd = TREE.replace("LeftElbow", "left elbow (é)").replace("LeftHand", "Head")
    motion = read_motion(written(tmp_path / "odd.bvh", odd, numbers(3, rng)))
    assert len(set(motion.character.segments)) == 9 and not any(" " in name for name in motion.character.segments)
    motion.write(tmp_path / "back.bvh")
    assert heading(tmp_path / "back.bvh") == heading(tmp_path / "odd.bvh")
    Motion(motion.character, motion.times, motion.poses).write(tmp_path / "clean.bvh")
    written_names = read_clip(tmp_path / "clean.bvh").skeleton.names
    assert len(set(written_names)) == 9 and all(name.isascii() and " " not in name for name in written_names)


def test_nothing_is_left_where_writing_fails(tmp_path):
    motion = reference_motion("squat", character("human"))
    with pytest.raises(BadFile, match="no folder"):
        motion.write(tmp_path / "missing" / "a.bvh")
    with pytest.raises(UnknownName, match="did you mean 'foot_left'"):
        motion.write(tmp_path / "a.bvh", bodies=["left_foot"])
    with pytest.raises(BadValue, match="has no option animation"):
        motion.write(tmp_path / "a.bvh", animation=1)
    assert list(tmp_path.iterdir()) == []


# --------------------------------------------------------------------------------------------------- real clips


def every_tenth(clip: Clip) -> Clip:
    return replace(clip, rotations=clip.rotations[::10], translations=clip.translations[::10])


@real
@pytest.mark.parametrize("path", CLIPS, ids=lambda p: p.stem)
def test_real_clips_make_the_round_trip(path, tmp_path):
    motion = read_motion(path)
    again = tmp_path / "again.bvh"
    motion.write(again)
    assert heading(again) == heading(path)
    places, back = (every_tenth(read_clip(file)).world()[0] for file in (path, again))
    assert np.abs(places - back).max() < 1e-5
    few = read_motion(path, frames=(1, 3))
    names, theirs = judged(path, 4)
    np.testing.assert_allclose(y_up(body_places(few), 0.0254 / 0.45), theirs[1:], atol=1e-6)
    assert list(motion.character.segments) == names


@real
def test_a_pose_put_before_the_movement_is_noticed():
    kept = read_motion(MOCAP / "02_01.bvh")
    left_out = read_motion(MOCAP / "02_01.bvh", skip_rest_frame=True)
    assert (len(kept), len(left_out)) == (344, 343)
    assert left_out.start == pytest.approx(1 / 120) and any(
        "frame 0 left out" in line for line in left_out.source.remarks
    )
    part = read_motion(MOCAP / "02_01.bvh", frames=(1, 343), skip_rest_frame=True)
    assert len(part) == 343


# ------------------------------------------------------------------------------------------------------- hostile

GOOD = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Yrotation Xrotation\n}\n"
MOVE = "MOTION\nFrames: 2\nFrame Time: 0.01\n1 2 3\n4 5 6\n"


def deep(count: int) -> str:
    joint = "JOINT j\n{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n"
    return GOOD[:-2] + joint * count + "}\n" * (count + 1)


HOSTILE = {
    "empty": ("", "HIERARCHY"),
    "other words": ("solid cube\nfacet", "HIERARCHY"),
    "no motion": (GOOD, "line 7: the file ends without"),
    "tree cut short": (GOOD[:30], "cut short"),
    "brace missing": (GOOD[:-2] + MOVE, "never closed"),
    "brace too many": (GOOD + "}\n" + MOVE, "line 7: a } without"),
    "deep": (deep(10_000) + MOVE, "line 802: joints more than 200 deep"),
    "wide": (GOOD[:-2] + "JOINT j\n{\nOFFSET 0 1 0\n}\n" * 1500 + "}\n" + MOVE, "more than 1000 joints"),
    "a million channels": (GOOD.replace("CHANNELS 3", "CHANNELS 1000000") + MOVE, "line 5: '1000000' channels"),
    "minus channels": (GOOD.replace("CHANNELS 3", "CHANNELS -3") + MOVE, "line 5: '-3' channels"),
    "unknown channel": (GOOD.replace("Xrot", "Wrot") + MOVE, "line 5: no channel 'Wrotation'"),
    "fewer channels": (GOOD.replace(" Xrotation", "") + MOVE, "line 6: no channel '}'"),
    "no offset": (GOOD.replace("OFFSET 0 0 0\n", "") + MOVE, "line 5: joint 'a' has no OFFSET"),
    "offset nan": (GOOD.replace("OFFSET 0 0", "OFFSET 0 nan") + MOVE, "line 4: 'nan'"),
    "offset short": (GOOD.replace("OFFSET 0 0 0", "OFFSET 0 0") + MOVE, "line 5: 'CHANNELS'"),
    "offset huge": (GOOD.replace("OFFSET 0", "OFFSET 1e300") + MOVE, "line 4: '1e300'"),
    "second root inside": (GOOD[:-2] + "ROOT b\n{\n}\n}\n" + MOVE, "line 6: ROOT inside"),
    "joint in end site": (GOOD[:-2] + "End Site\n{\nJOINT b\n{\n}\n}\n}\n" + MOVE, "line 8: a JOINT inside an End"),
    "no frames line": (GOOD + "MOTION\n1 2 3\n", "line 8: after MOTION"),
    "frames are no number": (GOOD + MOVE.replace("Frames: 2", "Frames: many"), "line 8: Frames: 'many'"),
    "minus frames": (GOOD + MOVE.replace("Frames: 2", "Frames: -2"), "line 8: Frames: '-2'"),
    "no frames": (GOOD + MOVE.replace("Frames: 2", "Frames: 0"), "line 8: Frames: 0"),
    "many frames": (GOOD + MOVE.replace("Frames: 2", "Frames: 999999999999"), "line 9: 999999999999 frames"),
    "more frames": (GOOD + MOVE.replace("Frames: 2", "Frames: 3"), "line 11: 2 frames where 'Frames:' says 3"),
    "fewer frames": (GOOD + MOVE.replace("Frames: 2", "Frames: 1"), "line 11: more frames"),
    "frame time zero": (GOOD + MOVE.replace("0.01", "0"), "line 9: Frame Time: '0'"),
    "frame time minus": (GOOD + MOVE.replace("0.01", "-0.01"), "line 9: Frame Time: '-0.01'"),
    "frame time nan": (GOOD + MOVE.replace("0.01", "nan"), "line 9: Frame Time: 'nan'"),
    "nan": (GOOD + MOVE.replace("5", "nan"), r"line 11: 'nan' where .* \(a Yrotation\)"),
    "infinite": (GOOD + MOVE.replace("5", "1e999"), "line 11: '1e999'"),
    "a word": (GOOD + MOVE.replace("5", "five"), "line 11: 'five'"),
    "comma": (GOOD + MOVE.replace("4 5", "4,5"), "line 11: '4,5'"),
    "underscore": (GOOD + MOVE.replace("5", "5_0"), "line 11: '5_0'"),
    "line short": (GOOD + MOVE.replace("4 5", "4"), "line 11: 2 numbers are too few"),
    "line long": (GOOD + MOVE.replace("4 5", "4 5 6"), "line 11: 4 numbers are too many"),
    "nothing moves": (GOOD.replace("CHANNELS 3 Zrotation Yrotation Xrotation\n", "") + MOVE, "no joint has any"),
    "name without end": (GOOD.replace("ROOT a", "ROOT " + "x" * 5000) + MOVE, "letters"),
    "zero byte": (GOOD + "\0" + MOVE, "byte 75 is zero"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_a_bad_file_is_refused_by_name_and_line(what, tmp_path):
    text, why = HOSTILE[what]
    path = tmp_path / "bad.bvh"
    path.write_bytes(text.encode())
    tracemalloc.start()
    with pytest.raises(BadFile, match=why) as caught:
        read_motion(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "bad.bvh" in str(caught.value) and "\n" not in str(caught.value)
    assert peak < 20 << 20


def test_the_good_file_of_these_is_good(tmp_path):
    path = tmp_path / "good.bvh"
    path.write_text(GOOD + MOVE)
    assert len(read_motion(path)) == 2


def test_junk_is_refused(tmp_path, rng):
    path = tmp_path / "junk.bvh"
    for start in (b"", b"HIERARCHY\n", GOOD.encode(), (GOOD + MOVE).encode()):
        path.write_bytes(start + rng.bytes(50_000))
        with pytest.raises(BadFile, match=r"junk\.bvh"):
            read_motion(path)
    with pytest.raises(BadFile, match="no file"):
        read_motion(tmp_path / "none.bvh")
    (tmp_path / "folder.bvh").mkdir()
    with pytest.raises(BadFile, match="is a folder"):
        read_motion(tmp_path / "folder.bvh")


def test_a_file_cut_anywhere_is_refused_or_whole(small, tmp_path):
    """No cut gives another movement than the file's own."""
    data = small.read_bytes()
    whole = read_clip(small)
    path = tmp_path / "cut.bvh"
    for at in range(100, len(data), 97):
        path.write_bytes(data[:at])
        try:
            clip = read_clip(path)
        except BadFile as error:
            assert "cut.bvh" in str(error)
        else:
            assert len(clip) == len(whole)
            np.testing.assert_array_equal(clip.rotations[:-1], whole.rotations[:-1])


def test_a_wrong_rate_is_overruled(tmp_path):
    path = tmp_path / "a.bvh"
    path.write_text(GOOD + MOVE.replace("0.01", "0"))
    assert read_motion(path, rate=50).rate == pytest.approx(50.0)
    with pytest.raises(BadValue, match="positive"):
        read_motion(path, rate=-1.0)
