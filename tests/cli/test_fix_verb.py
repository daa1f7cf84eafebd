"""`counterpoise fix`: the file that goes in but for what was wrong, a report, a picture, and nothing half written."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from counterpoise.character.library import character
from counterpoise.motion import Motion, reference_motion
from counterpoise.motion.files.hub import read_motion
from counterpoise.spacetime.check import check_motion
from counterpoise.spacetime.fix import windows as fixing


def slid() -> Motion:
    squat = reference_motion("squat", character("human"))
    times = np.arange(0.0, 1.2, 1.0 / 120.0)
    poses = np.array(squat.sample(times).q)
    poses[:, 0] += 0.02 * np.sin(2.0 * times)
    poses[:, 2] += 0.015
    return Motion(squat.character, times, poses, name="slid")


def test_a_bvh_keeps_skeleton_names_rate_and_length(say, tmp_path):
    slid().write(tmp_path / "slid.bvh")
    code, out, _ = say("fix", "slid.bvh", "-o", "fixed.bvh", "--report", "told.json", "--plot", "told.png")
    assert code == 0 and "Residual force" in out and "wrote fixed.bvh" in out
    was, now = (tmp_path / name for name in ("slid.bvh", "fixed.bvh"))
    heads = [[line.split() for line in path.read_text().split("MOTION")[0].splitlines()] for path in (was, now)]
    assert heads[0] == heads[1]
    first, second = (read_motion(path) for path in (was, now))
    assert len(first) == len(second) and first.rate == pytest.approx(second.rate)
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["before"]["findings"][0]["value"] > 1.0 > told["after"]["findings"][0]["value"]
    anew = check_motion(second, contacts=check_motion(first).contacts)
    assert anew.finding("skate").value < 0.5 and anew.finding("penetration").value < 0.2
    with Image.open(tmp_path / "told.png") as picture:
        assert picture.width > 800 and len(picture.convert("RGB").getcolors(1 << 24)) > 50


def test_a_rest_frame_before_the_movement_stays(say, tmp_path):
    motion = slid()
    who = motion.character
    arms = np.zeros(who.nv)
    arms[next(j.dofs for j in who.joints if "shoulder_left" in j.name)] = 0.8
    rest = who.integrate(who.neutral, arms)
    times = np.append(motion.times, motion.times[-1] + 1.0 / 120.0)
    replace(motion, times=times, poses=np.vstack([rest[None], motion.poses])).write(tmp_path / "t.bvh")
    assert len(read_motion(tmp_path / "t.bvh", skip_rest_frame=True)) == len(times) - 1
    assert say("fix", "t.bvh", "-o", "fixed.bvh")[0] == 0
    first, second = read_motion(tmp_path / "t.bvh"), read_motion(tmp_path / "fixed.bvh")
    assert len(first) == len(second)
    np.testing.assert_allclose(second.poses[0], first.poses[0], atol=1e-4)


def test_json_and_other_formats(say, tmp_path):
    slid().save(tmp_path / "slid.npz")
    code, out, _ = say("fix", "slid.npz", "-o", "fixed.npz", "--json", "--near", "0.005")
    told = json.loads(out)
    assert code == 0 and told["output"] == "fixed.npz" and told["change"] < 0.05
    assert Motion.load(tmp_path / "fixed.npz").character.name == "human"


def test_an_interrupt_keeps_what_was_done_and_writes_whole_files(say, tmp_path, monkeypatch):
    slid().save(tmp_path / "slid.npz")
    done = []
    solve = fixing.solve_window

    def interrupted(*arguments):
        if done:
            raise KeyboardInterrupt
        done.append(True)
        return solve(*arguments)

    monkeypatch.setattr(fixing, "solve_window", interrupted)
    code, out, _ = say("fix", "slid.npz", "-o", "fixed.npz", "--window", "0.4")
    assert code == 130 and "Stopped" in out
    made = Motion.load(tmp_path / "fixed.npz")
    np.testing.assert_allclose(made.poses[-5:], slid().poses[-5:], atol=1e-9)
    code, _, err = say("fix", "slid.npz", "-o", "none.npz")
    assert code == 130 and not (tmp_path / "none.npz").exists(), err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fixed.npz", "slid.npz"]


def test_mistakes_are_one_line_and_come_before_the_work(say, tmp_path):
    slid().save(tmp_path / "slid.npz")
    for words, part in (
        (("fix", "slid.npz", "-o", "fixed.xyz"), "no motion format"),
        (("fix", "none.bvh", "-o", "fixed.bvh"), "none.bvh"),
        (("fix", "slid.npz", "-o", "fixed.npz", "--near", "0"), "near is more than 0"),
        (("fix", "slid.npz", "-o", "fixed.npz", "--report", "told.txt"), ".json"),
        (("fix", "slid.npz", "-o", "no/where.npz"), "no folder"),
    ):
        code, _, err = say(*words)
        assert code == 2 and part in err and err.count("\n") == 1
    assert not (tmp_path / "fixed.npz").exists()


def test_a_clip_in_slow_motion_is_retimed(say, tmp_path):
    human = character("human")
    t = np.arange(0.0, 0.4, 0.5 / 120.0)
    height = np.concatenate([np.zeros(30), 0.5 * human.gravity * t * (0.4 - t), np.zeros(30)])
    poses = np.repeat(human.neutral[None], len(height), axis=0)
    poses[:, 2] += height
    slow = Motion(human, np.arange(len(height)) / 120.0, poses)
    slow.write(tmp_path / "slow.npz")
    _, out, err = say("fix", "slow.npz", "-o", "true.npz", "--retime", "--json")
    found = json.loads(out)
    assert found["playing_speed"] == 0.5 and found["retimed"], err
    assert read_motion(tmp_path / "true.npz").duration == pytest.approx(0.5 * slow.duration, rel=0.02)


def test_a_glb_keeps_what_is_in_it(say, tmp_path):
    reference_motion("squat", character("human")).slice(0.0, 0.5).write(tmp_path / "a.glb", body="smooth")
    code, _, err = say("fix", "a.glb", "-o", "b.glb")
    assert code == 0, err
    before, after = ((tmp_path / name).read_bytes() for name in ("a.glb", "b.glb"))
    old, new = (json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")]) for data in (before, after))
    assert (
        new["meshes"] == old["meshes"] and new["skins"] == old["skins"] and new["animations"][1:] == old["animations"]
    )
    fixed, first = read_motion(tmp_path / "b.glb"), read_motion(tmp_path / "a.glb")
    assert fixed.duration == pytest.approx(first.duration, abs=1e-3) and check_motion(fixed).possible


def test_a_usd_file_keeps_what_is_in_it(say, tmp_path):
    usd = pytest.importorskip("pxr.Usd", reason="usd-core is not installed")
    slid().write(tmp_path / "a.usda", rate=120.0, body="smooth")
    stage = usd.Stage.Open(str(tmp_path / "a.usda"))
    stage.DefinePrim("/World/lamp", "SphereLight")
    stage.GetRootLayer().Save()
    code, out, err = say("fix", "a.usda", "-o", "b.usda")
    assert code == 0 and "wrote b.usda" in out, err
    first, fixed = (read_motion(tmp_path / name) for name in ("a.usda", "b.usda"))
    assert len(first) == len(fixed) and first.rate == pytest.approx(fixed.rate)
    contacts = check_motion(first).contacts
    before, after = (check_motion(motion, contacts=contacts).finding("skate").value for motion in (first, fixed))
    assert after < 0.5 < before
    old, new = (usd.Stage.Open(str(tmp_path / name)) for name in ("a.usda", "b.usda"))
    kinds = [{str(p.GetPath()): str(p.GetTypeName()) for p in stage.Traverse()} for stage in (old, new)]
    assert kinds[0] == kinds[1] and "SphereLight" in kinds[0].values() and "Mesh" in kinds[0].values()


def test_what_something_unseen_carries_is_found_where_it_is_asked_for(say, tmp_path):
    high = slid()
    poses = np.array(high.poses)
    poses[:, 2] += 0.6
    replace(high, poses=poses).save(tmp_path / "high.npz")
    code, out, _ = say("fix", "high.npz", "-o", "fixed.npz", "--find-holds", "--json")
    told = json.loads(out)
    assert code == 0 and {hold["body"] for hold in told["holds"]} == {"foot_left", "foot_right"}
    code, _, err = say("fix", "high.npz", "-o", "no.npz", "--find-holds", "--hold", "hand_left")
    assert code == 2 and "give one of them" in err and not (tmp_path / "no.npz").exists()
