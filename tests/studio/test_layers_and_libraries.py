"""Layers, paths, goals, libraries of constraints and figures, height fields: what the page asks the server for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from studio_bench import Bench

import counterpoise as cp
from counterpoise.character.snapshot import take_body_poses
from counterpoise.errors import BadValue
from counterpoise.measure.mechanics import momentum
from counterpoise.scene.scene import scene_from_text
from counterpoise.studio import posing
from counterpoise.studio.curves import read_curves
from counterpoise.studio.jobs import JobDone, run_animate, run_check
from counterpoise.studio.layers import joint_columns, layered
from counterpoise.studio.open_scene import OpenScene, start_document
from counterpoise.studio.pointer_paths import animation_values
from counterpoise.studio.scene_facts import drawn_heights, field_address

ARM = ("shoulder_left", "elbow_left")
ROUGH = 'character = "human"\n[[rough_ground]]\nsize = [4.0, 3.0]\nroughness = 0.05\nseed = 3\n'


def squat() -> cp.Motion:
    return cp.reference_motion("squat", cp.character("human")).slice(0.0, 1.0)


def still(motion: cp.Motion) -> cp.Motion:
    return cp.Motion(motion.character, motion.times, np.tile(motion.poses[0], (len(motion), 1)))


def test_a_layer_is_exact_within_and_blends_at_its_ends() -> None:
    top = squat()
    base = still(top)
    made = layered(base, top, ARM, start=0.3, end=0.8, blend=0.1)
    rows, _ = joint_columns(top.character, ARM)
    for t, q in zip(made.times, made.poses, strict=True):
        under, over = np.array(base.poses[0]), np.array(top.sample(top.times[0] + t).q)
        assert np.abs(q[~rows] - under[~rows]).max() < 1e-12
        if 0.4 <= t <= 0.7:
            assert np.abs(q[rows] - over[rows]).max() < 1e-12
        if t < 0.3 or t > 0.8:
            assert np.abs(q[rows] - under[rows]).max() < 1e-12
    steps = np.abs(np.diff(made.poses, axis=0)).max()
    assert steps < 3.0 * np.abs(np.diff(np.asarray(top.poses), axis=0)).max() + 0.06  # it does not jump


def test_a_layer_of_another_figure_or_of_no_time_is_refused() -> None:
    motion = squat()
    other = cp.Motion(cp.character("chain"), np.zeros(1), cp.character("chain").neutral[None])
    with pytest.raises(BadValue, match="same figure"):
        layered(motion, other)
    with pytest.raises(BadValue, match="lies between"):
        layered(motion, motion, start=2.0)


def test_some_joints_are_baked_and_the_others_are_as_on_the_timeline(bench: Bench) -> None:
    bench.do({"type": "start_live", "controller": "passive"})
    for _ in range(12):
        bench.shop.advance_live()
    assert bench.shop.live is not None
    poses = np.array(bench.shop.live.poses)
    bench.do({"type": "bake_live", "joints": list(ARM), "start": 0.05, "end": 0.15})
    assert bench.last("scene_changed")["motion"] == "baked 1"
    take = cp.Motion.load(bench.folder.root / "takes" / "baked_1.npz")
    rows, _ = joint_columns(take.character, ARM)
    assert len(take) == 7 and np.abs(take.poses[:, rows] - poses[3:10, rows]).max() < 1e-9
    assert np.ptp(take.poses[:, ~rows], axis=0).max() == 0.0


def test_a_take_is_laid_over_another_motion_and_undone(bench: Bench) -> None:
    squat().save(bench.folder.root / "squat.npz")
    bench.do({"type": "open_file", "name": "squat.npz"})
    bench.do({"type": "show_motion", "name": "main"})
    text = bench.shop.document.scene.text
    bench.do({"type": "lay_motion", "over": "squat", "joints": ["elbow_left"], "start": 0.2, "end": 0.6})
    assert bench.last("scene_changed")["motion"] == "layered 1"
    take = cp.Motion.load(bench.folder.root / "takes" / "layered_1.npz")
    rows, _ = joint_columns(take.character, ["elbow_left"])
    assert np.ptp(take.poses[:, rows]) > 0.01 and np.ptp(take.poses[:, ~rows], axis=0).max() < 1e-12
    bench.do({"type": "undo_edit"})
    assert bench.shop.document.scene.text == text
    assert "no motion" in bench.do({"type": "lay_motion", "over": "nothing"})[-1]["message"]


def test_a_goal_is_followed_while_something_else_is_dragged(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posing, "TIME_PER_FRAME", None)  # what is found must not depend on the machine
    human = bench.shop.character
    places = take_body_poses(human, human.neutral)[:, :3]
    head, hand, pelvis = (human.segments.index(name) for name in ("head", "hand_right", "pelvis"))
    bench.do({"type": "set_goal", "body": "hand_right", "kind": "reach", "place": places[hand].tolist()})
    bench.do({"type": "set_goal", "body": "head", "kind": "aim", "place": [1.0, 1.5, 0.3]})
    assert [one["kind"] for one in bench.last("rules_changed")["goals"]] == ["reach", "aim"]
    target = (places[pelvis] - np.array([0.0, 0.0, 0.08])).tolist()
    for k in range(60):
        bench.do({"type": "drag_body", "seq": k + 1, "body": "pelvis", "target": target})
    assert bench.shop.drag is not None
    after = take_body_poses(human, bench.shop.drag.pose)
    assert np.linalg.norm(after[pelvis, :3] - target) < 0.002
    assert np.linalg.norm(after[hand, :3] - places[hand]) < 0.01  # it would have sunk by 0.08
    looks = np.array([1.0, 1.5, 0.3]) - after[head, :3]
    turn = human.snapshot(human.state(bench.shop.drag.pose)).rotation("head")
    rest = human.snapshot().rotation("head")
    ahead = np.asarray(turn) @ np.asarray(rest).T @ np.array([1.0, 0.0, 0.0])
    before = np.array([1.0, 0.0, 0.0]) @ looks / np.linalg.norm(looks)
    assert ahead @ looks / np.linalg.norm(looks) > before + 0.2
    bench.do({"type": "release_body", "keep": False})
    bench.do({"type": "set_goal", "body": "head", "kind": "none"})
    assert len(bench.last("rules_changed")["goals"]) == 1


def test_a_stroke_becomes_a_path_that_two_hands_follow(bench: Bench) -> None:
    human = bench.shop.character
    places = take_body_poses(human, human.neutral)[:, :3]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        start = places[human.segments.index(f"hand_{side}")]
        stroke = [
            [t, start[0] + 0.15 * (1 - np.cos(4 * t)), start[1] + sign * 0.1 * np.sin(4 * t), start[2] + 0.4 * t]
            for t in np.linspace(0.0, 0.8, 40)
        ]
        bench.do({"type": "add_path", "body": f"hand_{side}", "samples": stroke})
    facts = bench.last("rules_changed")["paths"]
    assert [one["body"] for one in facts] == ["hand_left", "hand_right"] and facts[0]["duration"] == pytest.approx(0.8)
    assert len(facts[0]["knots"]) < 12
    shop = bench.shop
    assert bench.do({"type": "undo_edit"}) and len(bench.last("rules_changed")["paths"]) == 1
    bench.do({"type": "redo_edit"})
    again = Bench(bench.folder.root, start_document(bench.folder, None))  # as after a crash
    assert list(again.shop.paths) == ["hand_left", "hand_right"]
    bench.do({"type": "add_path", "body": "hand_left", "samples": [[t, 0.1 + t, 0.3, 1.0] for t in (0.0, 0.2, 0.4)]})
    assert list(shop.paths) == ["hand_right", "hand_left"] and shop.paths["hand_left"].duration == pytest.approx(0.4)
    bench.do({"type": "undo_edit"})
    done = run_animate(
        lambda _: True, **animation_values(human, human.neutral, list(shop.paths.values()), shop.rules, ())
    )
    assert isinstance(done, JobDone) and done.motion is not None and not done.stopped
    for k in (0, 20, 40):
        now = take_body_poses(human, done.motion.poses[k])[:, :3]
        for path in shop.paths.values():
            assert np.linalg.norm(now[human.segments.index(path.body)] - path.at(done.motion.times[k])) < 1e-3
        for foot in ("foot_left", "foot_right"):
            row = human.segments.index(foot)
            assert np.linalg.norm(now[row] - places[row]) < 1e-5
    bench.do({"type": "remove_path", "body": "hand_left"})
    assert len(bench.last("rules_changed")["paths"]) == 1
    bench.do({"type": "remove_path", "body": "hand_right"})
    assert "no body has a path" in bench.do({"type": "start_job", "kind": "animate"})[-1]["message"]


def test_sets_of_constraints_are_taken_kept_and_undone(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posing, "TIME_PER_FRAME", None)
    text = bench.shop.document.scene.text
    names = bench.shop.scene_event().constraint_sets
    assert {"feet planted", "standing", "left as right", "back bends evenly", "ankles follow knees"} <= set(names)
    for name in names:
        bench.do({"type": "take_constraints", "name": name})
        assert bench.last("scene_changed")["constraints"], name
        bench.do({"type": "undo_edit"})
        assert bench.shop.document.scene.text == text
    bench.do({"type": "take_constraints", "name": "left as right"})
    bench.do({"type": "keep_constraints", "name": "both sides"})
    assert "both sides" in bench.last("scene_changed")["constraint_sets"]
    assert "already" in bench.do({"type": "keep_constraints", "name": "both sides"})[-1]["message"]
    assert "letters" in bench.do({"type": "keep_constraints", "name": "../out"})[-1]["message"]
    bench.do({"type": "undo_edit"})
    bench.do({"type": "take_constraints", "name": "both sides"})
    kinds = [one["kind"] for one in bench.last("scene_changed")["constraints"]]
    assert kinds and set(kinds) == {"couple"}
    human = bench.shop.character
    place = take_body_poses(human, human.neutral)[human.segments.index("hand_left"), :3] + np.array([0.1, 0.0, 0.2])
    for k in range(40):
        bench.do({"type": "drag_body", "seq": k + 1, "body": "hand_left", "target": place.tolist()})
    assert bench.shop.drag is not None
    q = bench.shop.drag.pose
    left, right = (float(q[human.joint(f"elbow_{side}").qpos.start]) for side in ("left", "right"))
    assert abs(left - right) < 1e-6 and abs(left - human.neutral[human.joint("elbow_left").qpos.start]) > 0.05


@pytest.mark.parametrize("name", ["human", "ostrich", "chain", "insectoid", "planar_biped"])
def test_every_set_of_the_library_fits_its_figure(name: str, tmp_path: Path) -> None:
    figure = cp.character(name)
    scene = cp.new_scene(name)
    for label, tables in cp.scene.constraint_sets(figure).items():
        after = cp.apply_edit(scene, cp.scene.take_constraints(tables, label=label))
        assert len(after.constraints) == len(tables)
        held = after.constraints_of("main")
        assert cp.PoseDrag(figure, held).pose.shape == (figure.nq,)
        cp.scene.write_constraint_set(tmp_path / "set.toml", tables)
        assert [dict(one) for one in cp.scene.read_constraint_set(tmp_path / "set.toml")] == [dict(t) for t in tables]


def test_a_figure_is_kept_in_the_folder_and_taken_again(bench: Bench) -> None:
    bench.do({"type": "edit_scene", "edit": "SetLength", "values": {"segment": "forearm_left", "length": 0.33}})
    mjcf = bench.shop.character.to_mjcf()
    bench.do({"type": "keep_figure", "name": "long arm"})
    assert (bench.folder.root / "figures" / "long arm.xml").read_text() == mjcf
    assert "figures/long arm.xml" in bench.last("files_listed")["names"]
    assert "already" in bench.do({"type": "keep_figure", "name": "long arm"})[-1]["message"]
    bench.do({"type": "open_file", "name": "figures/long arm.xml"})
    assert bench.shop.character.segments == cp.character("human").segments


def test_height_fields_are_told_with_their_heights(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.shop.open(OpenScene(bench.folder, scene_from_text(ROUGH, tmp_path, "rough")))
    facts = bench.last("scene_changed")["fields"]
    terrain = bench.shop.document.scene.world.terrain
    assert terrain is not None and len(facts) == 1
    field = terrain.fields[0]
    data = np.frombuffer(bench.shop.files[facts[0]["heights"]], "<f4").reshape(facts[0]["rows"], facts[0]["columns"])
    assert facts[0]["heights"] == field_address(field) and np.abs(data - drawn_heights(field)).max() < 1e-6
    xs = np.linspace(field.center[0] - 0.5 * field.size[0], field.center[0] + 0.5 * field.size[0], facts[0]["columns"])
    ys = np.linspace(field.center[1] - 0.5 * field.size[1], field.center[1] + 0.5 * field.size[1], facts[0]["rows"])
    for row, column in ((5, 9), (20, 33), (-7, -4)):
        assert terrain.height(xs[column], ys[row]) == pytest.approx(float(data[row, column]), abs=2e-3)


def test_measured_curves_obey_the_laws_of_mechanics() -> None:
    human = cp.character("human")
    world = cp.World(ground=False)
    thrown = cp.simulate(human, None, 0.5, world=world, start=cp.State(human.neutral, spin(human)))
    motion = thrown.motion_of(0)
    names = ["ground force", "angular momentum x", "angular momentum y", "com speed", "kinetic energy"]
    found = {one["name"]: np.array(one["values"], float) for one in read_curves(motion, names)["curves"]}
    inner = slice(5, -5)
    assert np.abs(found["ground force"][inner]).max() < 0.02 * human.weight  # it flies
    for axis, row in (("x", 0), ("y", 1)):
        truth = momentum(thrown)[inner, row]
        assert np.abs(found[f"angular momentum {axis}"][inner] - truth).max() < 0.02 * np.abs(truth).max() + 0.02


def spin(human: cp.Character) -> np.ndarray:
    v = np.zeros(human.nv)
    v[3:6] = (1.0, 2.0, 0.5)
    return v


def test_a_check_adds_its_own_curves() -> None:
    done = run_check(lambda _: True, squat())
    found = read_curves(squat(), ["check: residual", "check: friction"], done.curves)
    assert [one["name"] for one in found["curves"]] == ["check: residual", "check: friction"]
    assert "check: largest effort" in found["known"] and None not in found["curves"][0]["values"]
    assert read_curves(squat(), ["check: residual"])["curves"] == []  # the check is not of this motion any more
