"""What commands do, without a browser: drags, keys, undo, figures, baking, recovery."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from studio_bench import Bench

from counterpoise.character.editing import set_length
from counterpoise.character.library import character
from counterpoise.character.snapshot import take_body_poses
from counterpoise.scene import read_scene
from counterpoise.simulate import World
from counterpoise.studio.folder import Folder
from counterpoise.studio.frames import HEAD, LIVE, POSED
from counterpoise.studio.live import LiveRun
from counterpoise.studio.live_controllers import LiveFigure, make_controller
from counterpoise.studio.open_scene import start_document

ARM = """<mujoco><worldbody><body name="upper"><geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/>
<body name="lower" pos="0 0 -0.4"><joint name="elbow" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/></body></body></worldbody></mujoco>"""


def place_of(bench: Bench, body: str, q: Any) -> Any:
    return take_body_poses(bench.shop.character, np.asarray(q))[bench.shop.character.segments.index(body), :3]


def drag(bench: Bench, body: str, by: tuple[float, float, float], time: float = 0.0) -> Any:
    target = place_of(bench, body, bench.shop.document.pose_at(time)) + by
    for share in np.linspace(0.1, 1.0, 10):
        start = target - np.array(by) * (1.0 - share)
        bench.do({"type": "drag_body", "seq": 1, "body": body, "target": start.tolist(), "time": time})
    for _ in range(10):
        bench.do({"type": "drag_body", "seq": 2, "body": body, "target": target.tolist(), "time": time})
    return target


def test_a_drag_is_one_step_that_can_be_undone(bench: Bench) -> None:
    feet = [place_of(bench, foot.body, bench.shop.document.pose_at(0.0)) for foot in bench.shop.character.feet]
    target = drag(bench, "hand_left", (0.15, 0.05, 0.2))
    head = HEAD.unpack_from(bench.frames[-1])
    assert head[0] == POSED and head[8] == 2  # the frame answers the pointer message with this number
    bench.do({"type": "release_body"})
    q = bench.shop.document.pose_at(0.0)
    assert np.linalg.norm(place_of(bench, "hand_left", q) - target) < 1e-3
    for foot, before in zip(bench.shop.character.feet, feet, strict=True):
        assert np.linalg.norm(place_of(bench, foot.body, q) - before) < 1e-5
    scene = bench.last("scene_changed")
    assert len(scene["keys"]) == 1 and scene["undo"] == "add key" and scene["unsaved"]
    assert "AddKey" in scene["script"]
    drag(bench, "hand_left", (0.0, 0.0, -0.1))
    bench.do({"type": "release_body"})
    assert bench.last("scene_changed")["undo"] == "set pose"
    bench.do({"type": "undo_edit"})
    assert np.array_equal(bench.shop.document.pose_at(0.0), q)
    bench.do({"type": "undo_edit"})
    assert not bench.last("scene_changed")["keys"]
    bench.do({"type": "undo_edit"})
    assert "nothing to undo" in bench.last("trouble")["message"]


def test_a_cancelled_drag_changes_nothing(bench: Bench) -> None:
    text = bench.shop.document.scene.text
    drag(bench, "hand_left", (0.1, 0.0, 0.1))
    bench.do({"type": "release_body", "keep": False})
    assert bench.shop.document.scene.text == text and not bench.shop.document.history.past


def test_the_script_does_the_same(bench: Bench, tmp_path: Path) -> None:
    drag(bench, "hand_right", (0.1, 0.0, 0.1))
    bench.do({"type": "release_body"})
    bench.do({"type": "edit_scene", "edit": "SetLength", "values": {"segment": "forearm_left", "length": 0.3}})
    bench.do({"type": "add_pose_key", "time": 1.0})
    from counterpoise.studio.scene_facts import script_of

    space: dict[str, Any] = {}
    exec(script_of(bench.shop.document), space)
    ours = [line for line in bench.shop.document.scene.text.splitlines() if not line.startswith(("name", "duration"))]
    theirs = [line for line in space["scene"].text.splitlines() if not line.startswith(("name", "duration"))]
    assert ours == theirs


def test_an_edited_figure_is_that_of_the_library_functions(bench: Bench) -> None:
    bench.do({"type": "edit_scene", "edit": "SetLength", "values": {"segment": "forearm_left", "length": 0.31}})
    assert bench.shop.character.to_mjcf() == set_length(character("human"), "forearm_left", 0.31).to_mjcf()
    facts = bench.last("scene_changed")["figure"]
    assert (
        abs(next(b for b in facts["bodies"] if b["name"] == "forearm_left")["length"] - 0.31) < 1e-5
    )  # [m]: as it is written in MJCF
    bench.do({"type": "undo_edit"})
    assert bench.shop.character.to_mjcf() == character("human").to_mjcf()


def test_mistakes_become_sentences(bench: Bench) -> None:
    for command in (
        {"type": "edit_scene", "edit": "MoveKy", "values": {}},
        {"type": "edit_scene", "edit": "MoveKey", "values": {"key": 4, "time": 1.0}},
        {"type": "push_body", "body": "thorax", "force": [1, 0, 0]},
        {"type": "drag_body", "seq": 1, "body": "nose", "target": [0, 0, 1]},
        {"type": "show_motion", "name": "none"},
        {"type": "start_live", "controller": "dance"},
        {"type": "open_file", "name": "none.toml"},
        {"type": "bake_live"},
    ):
        text = bench.shop.document.scene.text
        bench.do(command)
        assert len(bench.last("trouble")["message"]) > 10
        assert bench.shop.document.scene.text == text


def test_joints_by_number_stay_within_their_limits(bench: Bench) -> None:
    human = bench.shop.character
    bench.do({"type": "set_joint", "time": 0.0, "joint": "knee_left", "values": [0.7], "done": False})
    assert bench.frames and not bench.shop.document.history.past
    bench.do({"type": "set_joint", "time": 0.0, "joint": "knee_left", "values": [50.0]})
    q = bench.shop.document.pose_at(0.0)
    assert human.limits.values(q).max() < 1e-9
    assert q[human.joint("knee_left").qpos][0] > 1.5


def test_live_and_bake(bench: Bench) -> None:
    bench.do({"type": "start_live", "controller": "passive"})
    for _ in range(6):
        bench.frames.clear()
        bench.shop.advance_live()
        assert HEAD.unpack_from(bench.frames[-1])[0] == LIVE
    bench.do({"type": "set_live", "speed": 0.5, "pitch": 2.0})
    assert bench.last("live_changed")["tilt"] == [0.0, 2.0]
    run = bench.shop.live
    assert run is not None
    times, poses, efforts = np.array(run.times), np.array(run.poses), np.array(run.effort_rows)
    bench.do({"type": "bake_live"})
    scene = bench.last("scene_changed")
    heat = bench.shop.document.shown.efforts
    assert heat is not None and scene["efforts"] in bench.shop.files
    assert np.abs(heat.shares - efforts).max() < 1e-6 and np.abs(heat.times - (times - times[0])).max() < 1e-9
    assert scene["motion"] == "baked 1" and scene["kind"] == "clip" and bench.shop.live is None
    baked = bench.shop.document.shown.motion
    assert baked is not None and np.abs(baked.poses - poses).max() < 1e-9 and np.abs(baked.times - times).max() < 1e-9
    bench.do({"type": "bake_live", "keys": 30})
    scene = bench.last("scene_changed")
    assert scene["motion"] == "baked keys 1" and len(scene["keys"]) == 4
    assert np.abs(bench.shop.document.pose_at(0.0) - poses[0]).max() < 1e-9


def test_after_a_crash_the_last_edit_is_there(tmp_path: Path) -> None:
    first = Bench(tmp_path)
    drag(first, "hand_left", (0.1, 0.0, 0.1))
    first.do({"type": "release_body"})
    text = first.shop.document.scene.text
    again = start_document(Folder(tmp_path), None)  # nothing was saved
    assert again.recovered and again.scene.text == text
    first.do({"type": "save_scene", "name": "mine.toml"})
    assert read_scene(tmp_path / "mine.toml").text == text
    assert not start_document(Folder(tmp_path), None).recovered
    first.do({"type": "add_pose_key", "time": 0.5})
    later = start_document(Folder(tmp_path), tmp_path / "mine.toml")
    assert later.recovered and later.scene.text == first.shop.document.scene.text != text
    later.undo()
    assert later.scene.text == text and not later.unsaved


def test_saving_keeps_what_a_person_wrote(tmp_path: Path) -> None:
    path = tmp_path / "jump.toml"
    stunt = Path(__file__).parents[2] / "examples" / "stunts" / "standing_jump.toml"
    path.write_bytes(stunt.read_bytes())
    bench = Bench(tmp_path, start_document(Folder(tmp_path), path))
    bench.do({"type": "edit_scene", "edit": "MoveKey", "values": {"key": 1, "time": 0.4}})
    bench.do({"type": "save_scene", "name": "jump.toml"})
    before, after = stunt.read_text().splitlines(), path.read_text().splitlines()
    assert [(a, b) for a, b in zip(before, after, strict=True) if a != b] == [("time = 0.35", "time = 0.4")]


def test_poses_are_kept_and_taken(bench: Bench) -> None:
    bench.do({"type": "set_joint", "time": 0.0, "joint": "knee_left", "values": [0.9]})
    bench.do({"type": "save_pose_as", "time": 0.0, "name": "bent"})
    assert bench.last("scene_changed")["poses"][0] == "bent"
    bench.do({"type": "apply_pose", "time": 1.0, "name": "bent"})
    assert np.abs(bench.shop.document.pose_at(1.0) - bench.shop.document.pose_at(0.0)).max() < 1e-9
    bench.do({"type": "apply_pose", "time": 1.0, "name": "crouch"})
    assert bench.shop.document.pose_at(1.0)[2] < 0.8  # [m] of the pelvis
    bench.do({"type": "apply_pose", "time": 1.0, "name": "cruch"})
    assert "crouch" in bench.last("trouble")["message"]


def test_examples_open_as_scenes_without_a_file(bench: Bench, tmp_path: Path) -> None:
    from counterpoise.studio.starters import starter_names

    for name in starter_names():
        bench.do({"type": "open_starter", "name": name})
        scene = bench.last("scene_changed")
        assert scene["name"] == name.removeprefix("experiment: ") and not scene["file"] and not scene["undo"]
    assert not list((tmp_path / ".counterpoise").glob("*")) if (tmp_path / ".counterpoise").exists() else True


def test_a_scene_is_played_and_a_job_stops_when_told() -> None:
    from counterpoise.progress import Progress
    from counterpoise.scene import SetController, SetSimulation, apply_edit, new_scene
    from counterpoise.studio.jobs import run_play, scene_values

    scene = apply_edit(new_scene(), SetController("passive"))
    scene = apply_edit(scene, SetSimulation({"seconds": 0.2}))
    told: list[Progress] = []
    done = run_play(lambda progress: told.append(progress) or True, **scene_values(scene, "main"))
    assert done.motion is not None and done.owner == "main" and abs(done.motion.duration - 0.2) < 0.02 and told
    stopped = run_play(lambda progress: False, **scene_values(scene, "main"))
    assert stopped.stopped


def test_planted_feet_are_held_between_keys_when_there_is_time(bench: Bench) -> None:
    bench.do({"type": "add_pose_key", "time": 0.0})
    bench.do({"type": "apply_pose", "time": 0.2, "name": "crouch"})
    shop = bench.shop
    assert shop.needs_refining
    before = bench.last("scene_changed")["track"]
    shop.refine(lambda: False)
    assert shop.needs_refining  # it was interrupted
    shop.refine(lambda: True)
    assert not shop.needs_refining and bench.last("scene_changed")["track"] != before
    first, middle = (place_of(bench, "foot_left", shop.document.pose_at(t)) for t in (0.0, 0.1))
    assert np.linalg.norm(first - middle) < 1e-4


def test_only_a_walker_is_sent_to_a_place(bench: Bench) -> None:
    bench.do({"type": "start_live", "controller": "passive"})
    bench.do({"type": "walk_to", "x": 1.0, "y": 0.5})
    assert "walk" in bench.last("trouble")["message"]
    bench.do({"type": "start_live", "controller": "walk"})
    bench.do({"type": "walk_to", "x": 1.0, "y": 1.0})
    bench.shop.advance_live()
    assert bench.shop.live is not None
    walker: Any = bench.shop.live.session.controller
    assert abs(walker.heading - np.pi / 4) < 0.05 and walker.speed == 0.6
    bench.do({"type": "walk_to", "x": 0.05, "y": 0.0})
    bench.shop.advance_live()
    assert bench.shop.live.session.controller.speed == 0.0 and bench.shop.live.walk_target is None


def test_a_locomotion_is_steered_by_keys_by_a_place_and_by_its_wishes(bench: Bench) -> None:
    bench.do({"type": "start_live", "controller": "stand"})
    bench.do({"type": "steer_live", "forward": 1.0})
    assert "choose locomotion" in bench.last("trouble")["message"]
    bench.do({"type": "start_live", "controller": "locomotion"})
    run = bench.shop.live
    assert run is not None

    def now() -> Any:
        return run.session.controller

    bench.do({"type": "steer_live", "forward": 1.0, "turn": 1.0})
    for _ in range(3):
        bench.shop.advance_live()
    assert 0.7 < now().speed < 1.1 and 0.01 < now().heading < 0.05 and now().to is None
    bench.do({"type": "steer_live", "forward": 5.0, "run": True})
    assert 2.5 < now().speed < 3.5  # no farther than ahead
    bench.do({"type": "steer_live"})
    assert now().speed == 0.0
    bench.do({"type": "walk_to", "x": 1.0, "y": 1.0})
    bench.shop.advance_live()
    assert now().to == (1.0, 1.0) and 0.7 < now().speed < 1.1
    bench.do({"type": "tune_live", "table": "controller", "name": "speed", "value": 0.8})
    assert now().to is None and now().speed == 0.8
    bench.do({"type": "walk_to", "x": 2.0, "y": 0.0})
    assert now().to == (2.0, 0.0) and now().speed == 0.8


def test_wishes_of_a_locomotion_have_units_and_may_be_left_open(bench: Bench) -> None:
    bench.do({"type": "start_live", "controller": "locomotion"})
    wishes = {one["name"]: one for one in bench.last("live_changed")["sliders"] if one["table"] == "controller"}
    assert {"speed", "heading", "gait", "step_length", "hip_height", "style"} <= set(wishes)
    assert wishes["hip_height"]["unit"] == "m" and wishes["hip_height"]["value"] is None
    assert wishes["step_time"]["low"] < 0.5 < wishes["step_time"]["high"] and "run" in wishes["gait"]["choices"]
    run = bench.shop.live
    assert run is not None
    for value in (0.85, None):
        bench.do({"type": "tune_live", "table": "controller", "name": "hip_height", "value": value})
        controller: Any = run.session.controller
        assert controller.hip_height == value
    bench.do({"type": "choose_live", "name": "gait", "value": "walk"})
    bench.do({"type": "choose_live", "name": "style", "value": "proud"})
    bench.do({"type": "tune_live", "table": "running", "name": "release", "value": 0.5})
    controller = run.session.controller
    assert (controller.gait, controller.style, controller.running.release) == ("walk", "proud", 0.5)
    for wrong, word in (
        ({"type": "choose_live", "name": "gait", "value": "hop"}, "hop_left"),
        ({"type": "choose_live", "name": "speed", "value": "walk"}, "gait"),
        ({"type": "tune_live", "table": "controller", "name": "gate", "value": 1.0}, "wish"),
        ({"type": "tune_live", "table": "tuning", "name": "fastest", "value": None}, "wishes"),
        ({"type": "tune_live", "table": "controller", "name": "step_time", "value": -1.0}, "positive"),
    ):
        bench.do(wrong)
        assert word in bench.last("trouble")["message"]
    assert run.session.controller.step_time is None


def test_a_locomotion_begins_as_the_figure_faces(human: Any) -> None:
    q = np.array(human.neutral)
    q[3:7] = np.cos(0.5), 0.0, 0.0, np.sin(0.5)  # a quarter to the left and more: 1 rad
    run = LiveRun("locomotion", [LiveFigure("main", human, make_controller("locomotion", q, World()), q)], World())
    assert abs(run.session.controller.heading - 1.0) < 0.05


def test_a_figure_of_a_file_is_taken_or_says_why_not(bench: Bench) -> None:
    bench.do({"type": "add_pose_key", "time": 0.0})
    folder = bench.folder.root
    (folder / "bird.xml").write_text(character("ostrich").to_mjcf())
    bench.do({"type": "open_file", "name": "bird.xml"})
    assert bench.shop.character.segments == character("ostrich").segments
    assert bench.shop.rules.pins == {"foot_left": "whole", "foot_right": "whole"}
    (folder / "robot.xml").write_text('<mujoco><asset><mesh name="a" file="meshes/a.stl"/></asset></mujoco>')
    said = bench.do({"type": "open_file", "name": "robot.xml"})[-1]["message"]
    assert "meshes/a.stl" in said and "copy the files that the body names beside it" in said
    text = bench.shop.document.scene.text.replace("[[key]]", "[[key]]\njoints = { knee = 20 }", 1)
    bench.do({"type": "edit_scene", "edit": "SetText", "values": {"text": text}})
    (folder / "arm.xml").write_text(ARM)
    said = bench.do({"type": "open_file", "name": "arm.xml"})[-1]["message"]
    assert said.startswith("arm.xml does not fit what this scene says") and "press New in the tab Scene" in said
    assert bench.shop.character.segments == character("ostrich").segments
