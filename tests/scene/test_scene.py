"""Scenes: stunt files are scenes, errors name the line, edits are values, everything can be undone to the byte."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.character import editing
from counterpoise.character.snapshot import take_contact_places
from counterpoise.errors import CounterpoiseError
from counterpoise.scene import edits
from counterpoise.scene.edits import EDITS, edit_from_dict, edit_to_dict

STUNTS = sorted((Path(__file__).parents[2] / "examples" / "stunts").glob("*.toml"))
SCENE = """\
# Two people on a slope.
scene = 1
name = "slope"      # shown in the studio
character = "human"
duration = 1.5

[characters.anna]
name = "human"
height = 1.6

[[edit]]
kind = "set_length"
character = "anna"
segment = "shank_left"
length = 0.42

[pose.low]
like = "crouch"

[[key]]             # begins here
time = 0.0
rest = true

[[key]]
time = 1.0
pose = "low"

[[contact]]
part = "feet"

[motions.bend]
character = "anna"
physics = "none"
[[motions.bend.key]]
time = 0.0
[[motions.bend.key]]
time = 0.8
pose = "dip"

[world]
friction = 0.8
tilt = [0, 4]

[controller]
kind = "stand"
compliance = 0.3
[controller.tuning]
com_stiffness = 5.0

[simulation]
seconds = 2.0

[[push]]
body = "thorax"
force = [60, 0, 0]
start = 0.5
duration = 0.1

[[constraint]]
kind = "pin"
body = "foot_left"

[[camera]]
name = "side"
azimuth = -90

[[note]]
text = "softer here"
time = 0.7

[output]
video = "slope.mp4"
camera = "side"
"""


def slope() -> cp.Scene:
    return cp.read_scene(SCENE)


@pytest.mark.parametrize("path", STUNTS, ids=lambda p: p.stem)
def test_a_stunt_file_is_a_scene_and_is_written_as_it_was_read(path: Path, tmp_path: Path):
    scene = cp.read_scene(path)
    stunt = cp.read_stunt(path)
    motion = scene.motion()
    assert motion.stunt is not None and len(motion.stunt.keys) == len(stunt.keys) == len(motion.keys)
    assert sum(len(c.touches) for c in motion.contacts) == len(stunt.contacts)
    for mine, theirs in zip(motion.keys, stunt.keys, strict=True):
        assert np.array_equal(mine.pose, theirs.pose)
    cp.write_scene(scene, tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_bytes() == path.read_bytes()


def test_a_scene_says_everything():
    scene = slope()
    assert list(scene.characters) == ["main", "anna"] and list(scene.motions) == ["main", "bend"]
    anna = scene.character("anna")
    assert anna.to_mjcf() == editing.set_length(cp.character("human", height=1.6), "shank_left", 0.42).to_mjcf()
    assert scene.motion("bend").physics == "none" and scene.motion("bend").character == "anna"
    assert scene.world == cp.World(friction=0.8, tilt=(0.0, 4.0))
    stand = scene.controllers["main"].plain
    assert isinstance(stand, cp.Stand)
    assert stand.compliance == 0.3 and stand.tuning == cp.StandTuning(com_stiffness=5.0)
    assert scene.pushes[0].push == cp.Push("thorax", (60, 0, 0), 0.5, 0.1)
    assert isinstance(scene.constraints_of()[0], cp.Pin)
    assert scene.camera("side").azimuth == -90 and scene.notes[0].time == 0.7
    assert scene.output.files == {"video": "slope.mp4"}


def test_controllers_of_every_kind_are_read():
    kinds = {
        "walk": "speed = 1.0\nheading = 90", "jump": "height = 0.2", "get_up": "", "hold": "stiffness = 4.0",
        "balance": "strict = false", "momentum_balance": 'variant = "2008"', "passive": "",
        "routine": '[[controller.item]]\nkind = "jump"\n[[controller.item]]\nkind = "stand"\nseconds = 1.0',
    }  # fmt: skip
    made = {kind: cp.read_scene(f'[controller]\nkind = "{kind}"\n{more}\n') for kind, more in kinds.items()}
    walk = made["walk"].controllers["main"].plain
    assert isinstance(walk, cp.Walk) and walk.speed == 1.0 and walk.heading == pytest.approx(np.pi / 2)
    routine = made["routine"].controllers["main"].plain
    assert isinstance(routine, cp.Routine) and len(routine.items) == 2
    with pytest.raises(CounterpoiseError, match="variant"):
        cp.read_scene('[controller]\nkind = "momentum_balance"\nvariant = "2010"\n')


def test_a_scene_with_keys_is_also_a_stunt():
    stunt = cp.read_stunt(SCENE)
    assert len(stunt.keys) == 2 and stunt.name == "slope"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("scene = 1", "scene = 9", 2, "version 9"),
        ('kind = "set_length"', 'kind = "set_lenght"', 12, "did you mean 'set_length'"),
        ('segment = "shank_left"', 'segment = "shank"', 11, "shank"),
        ('pose = "low"', 'pose = "lwo"', 26, "lwo"),
        ("compliance = 0.3", "complience = 0.3", 46, "did you mean 'compliance'"),
        ("com_stiffness = 5.0", "com_stiffnes = 5.0", 48, "did you mean 'com_stiffness'"),
        ('body = "thorax"', 'body = "torax"', 54, "did you mean 'thorax'"),
        ('camera = "side"', 'camera = "sied"', 73, "did you mean 'side'"),
        ('character = "anna"\nphysics', 'character = "ana"\nphysics', 32, "did you mean 'anna'"),
        ("[simulation]", "[simulaton]", 50, "did you mean 'simulation'"),
    ],
)
def test_errors_name_the_line(old: str, new: str, line: int, message: str):
    assert old in SCENE
    with pytest.raises(CounterpoiseError, match=message) as caught:
        cp.read_scene(SCENE.replace(old, new))
    assert f":{line}: " in str(caught.value)


def test_an_edit_changes_only_its_own_line():
    before = slope()
    after = cp.apply_edit(before, cp.scene.MoveKey(1, 1.1))
    changed = [(a, b) for a, b in zip(before.text.splitlines(), after.text.splitlines(), strict=True) if a != b]
    assert changed == [("time = 1.0", "time = 1.1")]
    assert after.motion().keys[1].time == 1.1 and before.motion().keys[1].time == 1.0


def test_a_key_at_a_named_moment_moves_the_moment():
    scene = cp.read_scene(STUNTS[0])
    assert scene.name == "back flip"
    after = cp.apply_edit(scene, cp.scene.MoveContact(0, end=0.74))
    assert "takeoff = { at = 0.74, between = [0.62, 0.85] }" in after.text
    assert after.motion().contacts[0].end == 0.74


def test_a_dragged_pose_is_kept_to_the_last_bit():
    scene = slope()
    human = scene.character()
    rng = np.random.default_rng(5)
    q = np.array(human.integrate(human.neutral, rng.normal(0.0, 0.2, human.nv)))
    coordinates = cp.scene.coordinates_of(human, q)
    after = cp.apply_edit(scene, cp.scene.SetPose(1, coordinates))
    assert np.abs(after.motion().keys[1].pose - q).max() < 1e-14
    again = cp.read_scene(after.text)
    assert np.array_equal(again.motion().keys[1].pose, after.motion().keys[1].pose)


def test_a_figure_edited_in_a_scene_is_the_figure_of_the_api():
    scene = cp.new_scene("human")
    scene = cp.apply_edit(scene, cp.scene.SetLength("forearm_left", 0.3))
    scene = cp.apply_edit(scene, cp.scene.SetLength("forearm_left", 0.31))
    scene = cp.apply_edit(scene, cp.scene.SetLimit("elbow_left", (0, 120)))
    scene = cp.apply_edit(scene, cp.scene.AddSegment("tail", "pelvis", 0.4, {"direction": [-1, 0, 0.2]}))
    wanted = editing.set_length(cp.character("human"), "forearm_left", 0.31)
    wanted = editing.set_limits(wanted, "elbow_left", (0.0, float(np.radians(120.0))))
    wanted = editing.add_segment(wanted, "tail", "pelvis", 0.4, direction=(-1, 0, 0.2))
    assert scene.character().to_mjcf() == wanted.to_mjcf()
    assert scene.text.count("[[edit]]") == 3  # a second length of the same segment replaces the first


def test_keys_follow_a_figure_whose_segments_change():
    scene = cp.new_scene("human")
    human = scene.character()
    q = np.array(human.integrate(human.neutral, np.random.default_rng(1).normal(0.0, 0.1, human.nv)))
    scene = cp.apply_edit(scene, cp.scene.AddKey(0.0, cp.scene.coordinates_of(human, q)))
    without = cp.apply_edit(scene, cp.scene.RemoveSegment("hand_left", branch=True))
    assert "wrist_left" not in without.document.get(("key", 0, "coordinates"))
    assert len(without.motion().keys[0].pose) == without.character().nq
    rooted = cp.apply_edit(scene, cp.scene.SetRoot("thorax"))
    shift = rooted.character().snapshot(rooted.character().state(rooted.motion().keys[0].pose)).com
    assert np.abs(shift - human.snapshot(human.state(q)).com).max() < 1e-9


def test_another_figure_keeps_the_joints_that_both_have_and_leaves_out_what_it_lacks():
    scene = cp.new_scene("human")
    human = scene.character()
    q = human.neutral.copy()
    q[human.joint("knee_left").qpos] = 0.7
    q[2] += 0.1  # [m] above the ground
    for edit in (
        cp.scene.AddKey(0.0, cp.scene.coordinates_of(human, q)),
        cp.scene.AddContact("feet", 0.0, 0.2), cp.scene.AddContact("hand_left", 0.1, 0.2),
        cp.scene.AddWish("place", {"body": "hand_left", "time": 0.5, "x": 0.0}), cp.scene.AddWish("effort"),
        cp.scene.AddConstraint("fix", {"joint": "elbow_left"}), cp.scene.AddConstraint("lock", {"body": "head"}),
        cp.scene.AddPush("hand_left", (9, 0, 0), start=0.1), cp.scene.AddPush("head", (9, 0, 0), start=0.1),
        cp.scene.SetMass("hand_left", 1.0), cp.scene.SetMass("head", 6.0),
    ):  # fmt: skip
        scene = cp.apply_edit(scene, edit)
    after = cp.apply_edit(scene, cp.scene.SetFigure("ostrich"))
    bird, key = after.character(), after.motion().keys[0].pose
    assert key[bird.joint("knee_left").qpos] == 0.7
    heights = [take_contact_places(one, pose)[:, 2].min() for one, pose in ((human, q), (bird, key))]
    assert abs(heights[0] - heights[1]) < 1e-9 and heights[0] > 0.05
    assert "waist" not in after.document.get(("key", 0, "coordinates"))
    assert [one.parts for one in after.motion().contacts] == [("foot_left", "foot_right")]
    assert [one.kind for one in after.motion().wishes] == ["effort"]
    assert [one.entries["body"] for one in after.constraints] == ["head"]
    assert [one.push.body for one in after.pushes] == ["head"]
    assert [edit.entries["segment"] for edit in after.characters["main"].edits] == ["head"]
    younger = cp.apply_edit(scene, cp.scene.SetFigure("child"))
    assert len(younger.motion().contacts) == 2 and len(younger.characters["main"].edits) == 2  # a child has all of them


EXAMPLES: dict[str, Any] = {
    "AddKey": [cp.scene.AddKey(1.3, pose="dip")], "MoveKey": [cp.scene.MoveKey(1, 1.2)],
    "RemoveKey": [cp.scene.RemoveKey(1)], "SetPose": [cp.scene.SetPose(0, {"knee_left": 0.4})],
    "SetKey": [cp.scene.SetKey(1, {"soft": 5.0, "name": "low"})],
    "CopyKey": [cp.scene.CopyKey(0, 1.4, mirror=True)], "SavePose": [cp.scene.SavePose("mine", {"knee_left": 0.2})],
    "RemovePose": [cp.scene.SavePose("mine", {"knee_left": 0.2}), cp.scene.RemovePose("mine")],
    "AddContact": [cp.scene.AddContact("hand_left", 0.2, 0.9, place=[0.4, 0.2, 0.9])],
    "MoveContact": [cp.scene.MoveContact(0, end=1.2)], "SetContact": [cp.scene.SetContact(0, {"friction": 0.5})],
    "RemoveContact": [cp.scene.RemoveContact(0)],
    "AddWish": [cp.scene.AddWish("place", {"body": "com", "time": 0.5, "x": 0.0})],
    "SetWish": [cp.scene.AddWish("effort"), cp.scene.SetWish(0, {"weight": 2.0})],
    "RemoveWish": [cp.scene.AddWish("effort"), cp.scene.RemoveWish(0)],
    "AddMotion": [cp.scene.AddMotion("other", physics="none")], "RemoveMotion": [cp.scene.RemoveMotion("bend")],
    "SetDuration": [cp.scene.SetDuration(2.0)], "SetPhysics": [cp.scene.SetPhysics("none")],
    "CopyRange": [cp.scene.CopyRange(0.0, 0.5, 1.0, mirror=True)], "MoveRange": [cp.scene.MoveRange(0.5, 1.0, 0.3)],
    "RemoveRange": [cp.scene.RemoveRange(0.0, 0.2)],
    "Retime": [cp.scene.Retime(1.5, 0.5, end=0.8)], "SetFigure": [cp.scene.SetFigure("human", {"height": 1.9})],
    "AddCharacter": [cp.scene.AddCharacter("bob", "human")],
    "RemoveCharacter": [
        cp.scene.AddCharacter("bob"), cp.scene.AddMotion("nod", "bob", duration=1.0),
        cp.scene.SetController("stand", character="bob"), cp.scene.AddPush("thorax", (9, 0, 0), 0.1, character="bob"),
        cp.scene.AddPin("hand_left", character="bob"),
        cp.scene.RecordPath("head", [0, 1], [[0, 0, 1], [0, 0, 2]], character="bob"), cp.scene.RemoveCharacter("bob"),
    ],
    "EditFigure": [cp.scene.EditFigure("set_mass", {"segment": "head", "mass": 6.0})],
    "RemoveFigureEdit": [cp.scene.RemoveFigureEdit(0)], "SetLength": [cp.scene.SetLength("shank_left", 0.45)],
    "SetLimit": [cp.scene.SetLimit("knee_left", (0, 130))],
    "SetLimitSide": [cp.scene.SetLimitSide("hip_left", "face 2", 20.0)], "SetMass": [cp.scene.SetMass("head", 6.0)],
    "AddSegment": [cp.scene.AddSegment("tail", "pelvis", 0.3)], "RemoveSegment": [cp.scene.RemoveSegment("hand_left")],
    "SetRoot": [cp.scene.SetRoot("thorax", character="anna")],
    "MirrorLimb": [cp.scene.MirrorLimb("arm_left", replace=True)],
    "AddPin": [cp.scene.AddPin("hand_left", lock=True)], "RemovePin": [cp.scene.RemovePin("foot_left")],
    "AddConstraint": [cp.scene.AddConstraint("balanced")], "RemoveConstraint": [cp.scene.RemoveConstraint(0)],
    "RecordPath": [cp.scene.RecordPath("hand_left", [0.0, 0.5], [[0.1, 0.3, 0.9], [0.3, 0.3, 1.2]])],
    "ForgetPath": [
        cp.scene.RecordPath("hand_left", [0.0, 0.5], [[0.1, 0.3, 0.9], [0.3, 0.3, 1.2]], point=[0.0, 0.0, 0.1]),
        cp.scene.ForgetPath("hand_left"),
    ],
    "AddPush": [cp.scene.AddPush("head", (0, 30, 0), 1.0)], "SetPush": [cp.scene.SetPush(0, {"start": 0.8})],
    "RemovePush": [cp.scene.RemovePush(0)],
    "SetController": [cp.scene.SetController("stand", options={"compliance": 0.7})],
    "RemoveController": [cp.scene.RemoveController()], "SetTuning": [cp.scene.SetTuning("com_stiffness", 6.0)],
    "SetWorld": [cp.scene.SetWorld({"friction": 0.6})], "SetSimulation": [cp.scene.SetSimulation({"seed": 3})],
    "AddTerrain": [cp.scene.SetWorld({"tilt": None}), cp.scene.AddTerrain("box", {"center": [2.0, 0.0]})],
    "SetTerrain": [
        cp.scene.SetWorld({"tilt": None}), cp.scene.AddTerrain("box", {"center": [2.0, 0.0]}),
        cp.scene.SetTerrain("box", 0, {"height": 0.4}),
    ],
    "RemoveTerrain": [
        cp.scene.SetWorld({"tilt": None}), cp.scene.AddTerrain("box", {"center": [2.0, 0.0]}),
        cp.scene.RemoveTerrain("box", 0),
    ],
    "AddProp": [cp.scene.AddProp("ball", 0.2, 1.0, (2.0, 0.0, 0.1))],
    "SetProp": [cp.scene.AddProp("ball", 0.2, 1.0, (2.0, 0.0, 0.1)), cp.scene.SetProp(0, {"bounce": 0.5})],
    "RemoveProp": [cp.scene.AddProp("ball", 0.2, 1.0, (2.0, 0.0, 0.1)), cp.scene.RemoveProp(0)],
    "AddNote": [cp.scene.AddNote("here", 0.3)], "SetNote": [cp.scene.SetNote(0, {"text": "there"})],
    "RemoveNote": [cp.scene.RemoveNote(0)], "SetCamera": [cp.scene.SetCamera("front", eye=(3, 0, 1), target=(0, 0, 1))],
    "RemoveCamera": [cp.scene.SetCamera("top", azimuth=0), cp.scene.RemoveCamera("top")],
    "SetOutput": [cp.scene.SetOutput({"picture": "slope.png"})], "SetName": [cp.scene.SetName("hill")],
    "SetEntry": [cp.scene.SetEntry(("taste", "smooth"), 2.0)],
    "SetText": [cp.scene.SetText('character = "human"\n')],
    "Together": [cp.scene.Together([cp.scene.MoveKey(1, 1.2), cp.scene.RemovePush(0)], "clean up")],
}  # fmt: skip


def made(name: str, folder: Path) -> list[Any]:
    if name != "AddClip":
        return list(EXAMPLES[name])
    cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.3).write(folder / "squat.npz")
    return [cp.scene.AddClip("squat", "squat.npz", physics="check")]


@pytest.mark.parametrize("name", sorted(EDITS))
def test_every_edit_changes_the_scene_says_its_python_and_is_undone(name: str, tmp_path: Path):
    steps = made(name, tmp_path)
    history = cp.SceneHistory(cp.read_scene(SCENE, tmp_path))
    first, scene = history.present, history.present
    for edit in steps:
        history = history.do(edit)
        assert type(edit_from_dict(json.loads(json.dumps(edit_to_dict(edit))))) is type(edit)
        assert edit.words()
    space = {"cp": cp, "scene": scene}
    exec(history.python(), space)
    assert space["scene"].text == history.present.text
    by_line = first
    for line in (line for edit in steps for line in edit.python().splitlines()):
        by_line = cp.apply_edit(by_line, cp.scene.read_edit(line))
    assert by_line.text == history.present.text
    if len(steps) == 1:
        assert history.present.text != first.text
        from_json = edit_from_dict(json.loads(json.dumps(edit_to_dict(steps[0]))))
        assert cp.apply_edit(first, from_json).text == history.present.text
    for _ in steps:
        history = history.undo()
    assert history.present.text == first.text
    for _ in steps:
        history = history.redo()
    assert cp.read_scene(history.present.text, tmp_path).text == history.present.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MoveKy(0, 1.0)", "did you mean 'MoveKey'"),
        ("MoveKey(0, time=__import__('os').getpid())", "no edit 'getpid'"),
        ("MoveKey(0, open)", "holds numbers"),
        ("MoveKey(0)", "not complete"),
        ("MoveKey(*[0, 1])", "written as in Python"),
        ("1 + 1", "holds numbers"),
        ("[1, 2]", "written as in Python"),
        ("import os", "written as in Python"),
        ("MoveKey(0, 1.0", "written as in Python"),
    ],
)
def test_edits_in_words_are_read_and_never_run(text: str, message: str):
    with pytest.raises(CounterpoiseError, match=message):
        cp.scene.read_edit(text)


def random_edit(rng: random.Random, scene: cp.Scene) -> edits.SceneEdit:
    """An edit with random numbers, which may not fit the scene."""
    time, index = round(rng.uniform(0.0, 2.0), 3), rng.randrange(4)
    body = rng.choice(["thorax", "hand_left", "foot_right", "head"])
    return rng.choice([
        cp.scene.AddKey(time, pose=rng.choice(["dip", "crouch", "low"]), soft=rng.choice([None, 3.0])),
        cp.scene.MoveKey(index, time), cp.scene.RemoveKey(index), cp.scene.CopyKey(index, time, rng.random() < 0.5),
        cp.scene.SetPose(index, {"knee_left": rng.uniform(0.0, 1.0), "elbow_right": rng.random()}),
        cp.scene.AddContact(rng.choice(["feet", "foot_left"]), min(time, 1.0), 1.0 + time),
        cp.scene.RemoveContact(index),
        cp.scene.MoveContact(index, time), cp.scene.AddWish("place", {"body": "com", "time": time, "z": 0.9}),
        cp.scene.RemoveWish(index), cp.scene.AddPin(body, rng.random() < 0.5), cp.scene.RemovePin(body),
        cp.scene.AddPush(body, (rng.uniform(-9, 9), 0.0, 1.0), time), cp.scene.RemovePush(index),
        cp.scene.SetPush(index, {"start": time}), cp.scene.SetTuning("com_stiffness", rng.uniform(2.0, 6.0)),
        cp.scene.SetWorld({"friction": rng.uniform(0.3, 1.0)}), cp.scene.AddNote(f"note {index}", time),
        cp.scene.RemoveNote(index), cp.scene.SetLength("shank_left", rng.uniform(0.35, 0.5)),
        cp.scene.SetLimit("knee_left", (0.0, rng.uniform(90.0, 140.0))), cp.scene.Retime(rng.uniform(0.8, 1.2)),
        cp.scene.SetCamera(f"camera {index}", azimuth=rng.uniform(-180, 180)), cp.scene.SetName(f"take {index}"),
        cp.scene.AddMotion(f"motion {index}", physics="none"), cp.scene.RemoveMotion(f"motion {index}"),
        cp.scene.AddKey(time, pose="dip", motion=f"motion {index}"), cp.scene.SetController("hold"),
    ])  # fmt: skip


def test_200_random_edits_are_undone_to_the_byte(tmp_path: Path):
    rng = random.Random(19)
    history = cp.SceneHistory(slope())
    cp.write_scene(history.present, tmp_path / "before.toml")
    refused = 0
    while len(history.past) < 200:
        try:
            history = history.do(random_edit(rng, history.present))
        except CounterpoiseError:
            refused += 1
        assert refused < 1000
    cp.write_scene(history.present, tmp_path / "edited.toml")
    edited = cp.read_scene(tmp_path / "edited.toml")
    assert edited.text == history.present.text != SCENE
    while history.past:
        history = history.undo()
    cp.write_scene(history.present, tmp_path / "after.toml")
    assert (tmp_path / "after.toml").read_bytes() == (tmp_path / "before.toml").read_bytes()
    while history.future:
        history = history.redo()
    assert history.present.text == edited.text


def test_clips_go_with_the_scene(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.3).write(tmp_path / "a" / "squat.bvh")
    scene = cp.apply_edit(cp.new_scene("human", folder=tmp_path / "a"), cp.scene.AddClip("squat", "squat.bvh"))
    cp.write_scene(scene, tmp_path / "b" / "moved.toml")
    moved = cp.read_scene(tmp_path / "b" / "moved.toml")
    clip = moved.motion("squat").clip
    assert clip is not None and clip.path == tmp_path / "b" / "squat.bvh"
    (tmp_path / "a" / "squat.bvh").write_text("another")
    with pytest.raises(CounterpoiseError, match="differs"):
        cp.write_scene(scene, tmp_path / "b" / "moved.toml")
    with pytest.raises(CounterpoiseError, match=r"no file 'none\.bvh'"):
        cp.apply_edit(scene, cp.scene.AddClip("none", "none.bvh"))


def test_props_of_a_scene_are_read_edited_and_simulated() -> None:
    text = 'scene = 1\n[[prop]]\nshape = "ball"\nsize = 0.2\nmass = 1.0\nplace = [1, 0, 1]\nvelocity = [-4, 0, 1]\n'
    scene = cp.read_scene(text)
    assert scene.world.props == (cp.Prop("ball", 0.2, 1.0, (1.0, 0.0, 1.0), velocity=(-4.0, 0.0, 1.0)),)
    history = cp.SceneHistory(scene).do(cp.scene.AddProp("box", (0.4, 0.3, 0.2), 3.0, (2, 0, 0.1), {"facing": 90}))
    box = history.present.world.props[1]
    assert box.extent == (0.4, 0.3, 0.2) and np.allclose(box.turn, (np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
    history = history.do(cp.scene.SetProp(1, {"bounce": 0.5})).do(cp.scene.RemoveProp(0))
    assert [prop.bounce for prop in history.present.world.props] == [0.5]
    assert history.undo().undo().undo().present.text == text
    with pytest.raises(CounterpoiseError, match=":4: "):
        cp.read_scene(text.replace("0.2", "[0.2, 0.2]"))
    with pytest.raises(CounterpoiseError, match=":3: "):
        cp.read_scene(text.replace("ball", "bal"))
    run = cp.read_scene(text + '[controller]\nkind = "passive"\n[simulation]\nseconds = 0.1\n').run()
    assert run.recording is not None and run.recording.prop_poses()[-1, 0] < 0.7  # [m]: it flew
