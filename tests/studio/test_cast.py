"""Props and several figures in one scene: shown, thrown at, simulated together, baked together."""

from __future__ import annotations

from typing import Any

import numpy as np
from studio_bench import Bench

from counterpoise.defaults import GRAVITY
from counterpoise.studio.frames import HEAD, LIVE
from counterpoise.studio.live import MOST_THROWN

THROW = {"type": "throw_prop", "place": [2.0, 0.0, 1.2], "target": [0.0, 0.0, 1.2], "speed": 9.0, "mass": 4.0}


def add_second(bench: Bench, name: str = "other", figure: str = "human") -> None:
    edits = [
        {"edit": "AddCharacter", "name": name, "figure": figure},
        {"edit": "SetController", "kind": "stand", "options": {"place": [0.0, -1.5]}, "character": name},
    ]
    bench.do({"type": "edit_scene", "edit": "Together", "values": {"label": "add", "edits": edits}})


def advance(bench: Bench, pictures: int) -> None:
    for _ in range(pictures):
        bench.frames.clear()
        bench.shop.advance_live()


def test_what_is_thrown_flies_hits_and_is_seen(bench: Bench) -> None:
    bench.do({"type": "start_live", "controller": "passive"})
    bench.do(THROW)
    live = bench.last("live_changed")
    assert [prop["shape"] for prop in live["props"]] == ["ball"]
    run = bench.shop.live
    assert run is not None
    before = float(run.session.states[0].v[0])
    advance(bench, 20)
    head = HEAD.unpack_from(bench.frames[-1])
    assert head[0] == LIVE and head[6:8] == (0, 1)
    place = np.frombuffer(bench.frames[-1], "<f4")[-7:-4]
    assert np.allclose(place, run.props[0].place, atol=1e-5)
    assert run.session.states[0].v[0] < before - 0.05  # [m/s]: it was hit from the front
    for _ in range(MOST_THROWN + 3):
        bench.do(THROW)
    assert len(run.props) == MOST_THROWN
    bench.do({"type": "set_live", "pitch": 3.0})  # another world: the props go on where they are
    assert len(run.props) == MOST_THROWN
    bench.do({"type": "clear_thrown"})
    assert not bench.last("live_changed")["props"]
    bench.do({**THROW, "speed": 0.0})
    assert "speed of a throw" in bench.last("trouble")["message"]
    bench.do({**THROW, "size": 99.0})
    assert "size of a ball" in bench.last("trouble")["message"]


def test_a_prop_is_pulled_lifted_and_let_go(bench: Bench) -> None:
    for mass in (0.1, 3.0, 20.0):
        values = {"shape": "box", "size": [0.3, 0.3, 0.3], "mass": mass, "place": [1.2, 1.0, 0.15]}
        bench.do({"type": "edit_scene", "edit": "AddProp", "values": values})
        bench.do({"type": "start_live", "controller": "stand"})
        run = bench.shop.live
        assert run is not None
        last = len(run.props) - 1
        for k in range(60):
            bench.do({"type": "pull_prop", "prop": last, "target": [1.2, 1.0, 0.15 + 0.01 * k], "point": [0, 0, 0.15]})
            bench.shop.advance_live()
        advance(bench, 60)
        assert abs(run.props[last].place[2] + 0.15 - 0.74) < 0.12, mass  # it hangs a little below the pointer
        turned = abs(run.props[last].turn[0])
        assert turned > 0.98, mass  # and hangs still
        bench.do({"type": "release_body", "keep": True})
        advance(bench, 90)
        assert abs(run.props[last].place[2] - 0.15) < 0.02, mass
        bench.do({"type": "stop_live"})
        bench.do({"type": "undo_edit"})


def test_a_pulled_prop_that_vanishes_is_let_go(bench: Bench) -> None:
    bench.do({"type": "start_live", "controller": "passive"})
    for _ in range(2):
        bench.do(THROW)
    bench.do({"type": "pull_prop", "prop": 1, "target": [1.0, 1.0, 1.0]})
    advance(bench, 2)
    bench.do({"type": "clear_thrown"})
    advance(bench, 2)
    assert bench.shop.live is not None and bench.shop.live.session.disturbances == []
    bench.do({"type": "pull_prop", "prop": 0, "target": [1.0, 1.0, 1.0]})
    assert "no loose prop 0" in bench.last("trouble")["message"]


def test_what_was_thrown_is_baked_beside_the_take(bench: Bench) -> None:
    bench.do({"type": "start_live", "controller": "passive"})
    advance(bench, 5)
    bench.do(THROW)
    advance(bench, 10)
    run = bench.shop.live
    assert run is not None
    place = run.props[0].place
    bench.do({"type": "clear_thrown"})
    advance(bench, 5)
    bench.do({"type": "bake_live"})
    scene = bench.last("scene_changed")
    assert scene["track_props"][0]["shape"] == "ball" and scene["prop_track"] in bench.shop.files
    paths = bench.shop.document.shown.prop_paths
    assert paths is not None and paths.poses.shape == (21, 1, 7)
    there = np.isfinite(paths.poses[:, 0, 0])
    assert there.tolist() == [False] * 6 + [True] * 10 + [False] * 5  # thrown after frame 5, taken away after frame 15
    assert np.allclose(paths.poses[15, 0, :3], place)
    data = np.frombuffer(bench.shop.files[scene["prop_track"]][12:], "<f4")
    assert len(data) == 21 * (1 + 3 + 7)
    (bench.folder.root / "elsewhere").mkdir()
    bench.do({"type": "save_scene", "name": "elsewhere/thrown.toml"})
    assert (bench.folder.root / "elsewhere" / "takes" / "baked_1_props.npz").is_file()
    bench.do({"type": "undo_edit"})
    assert bench.last("scene_changed")["prop_track"] == ""


def test_a_moving_floor_is_drawn_where_it_is(bench: Bench) -> None:
    floor = {"x": {"amplitude": 0.1, "frequency": 1.0}, "pitch": {"amplitude": 0.05, "frequency": 0.7}, "ease": 0.1}
    bench.do({"type": "edit_scene", "edit": "SetWorld", "values": {"entries": {"platform": floor}}})
    bench.do({"type": "start_live", "controller": "hold"})
    advance(bench, 15)
    run = bench.shop.live
    assert run is not None and run.thrown == 0
    (box,) = run.drawn_props
    data = run.session._run.data  # type: ignore[union-attr]
    body = data.body("platform")
    assert np.abs(body.xpos + body.xmat.reshape(3, 3) @ [0.0, 0.0, -0.05] - box.place).max() < 1e-4
    assert np.abs(np.abs(body.xquat) - np.abs(box.turn)).max() < 1e-4
    assert np.frombuffer(bench.frames[-1], "<f4")[-7] == np.float32(box.place[0])


def test_props_of_the_scene_fall_while_it_lives_and_are_back_afterwards(bench: Bench) -> None:
    values = {"shape": "box", "size": [0.3, 0.3, 0.3], "mass": 4.0, "place": [1.0, 0.0, 1.0]}
    bench.do({"type": "edit_scene", "edit": "AddProp", "values": values})
    assert bench.last("scene_changed")["props"][0]["place"] == [1.0, 0.0, 1.0]
    bench.do({"type": "start_live", "controller": "passive"})
    advance(bench, 12)
    run = bench.shop.live
    assert run is not None and abs(run.props[0].place[2] - (1.0 - 0.5 * GRAVITY * 0.2**2)) < 0.005
    bench.do(THROW)
    bench.do({"type": "clear_thrown"})
    assert [prop.shape for prop in run.props] == ["box"]  # what belongs to the scene stays
    bench.do({"type": "stop_live"})
    bench.do({"type": "edit_scene", "edit": "SetProp", "values": {"prop": 0, "entries": {"mass": 6.0}}})
    assert bench.last("scene_changed")["props"][0]["mass"] == 6.0
    bench.do({"type": "undo_edit"})
    bench.do({"type": "undo_edit"})
    assert not bench.last("scene_changed")["props"]


def test_several_figures_are_shown_simulated_and_baked_together(bench: Bench) -> None:
    add_second(bench)
    scene = bench.last("scene_changed")
    assert [one["name"] for one in scene["cast"]] == ["other"] and scene["characters"] == ["main", "other"]
    assert scene["cast"][0]["track"] in bench.shop.files and scene["cast"][0]["figure"]["mesh"] in bench.shop.files
    assert abs(bench.shop.cast.pose_at("other", 0.0)[1] + 1.5) < 1e-9  # [m]: where its controller begins
    bench.do({"type": "start_live", "controller": "passive"})
    run = bench.shop.live
    assert run is not None and [one.name for one in run.figures] == ["main", "other"]
    bench.do({"type": "push_body", "body": "thorax", "force": [0, -60, 0], "figure": 1})
    advance(bench, 30)
    assert [HEAD.unpack_from(frame)[6] for frame in bench.frames] == [1, 0]
    main, other = run.poses[-1], run.other_poses[0][-1]
    assert main[2] < 0.85 < other[2]  # [m]: the rag doll falls, the one that stands does not
    bench.do({"type": "push_body", "body": "thorax", "force": [9, 0, 0], "figure": 2})
    assert "no figure 2" in bench.last("trouble")["message"]
    bench.do({"type": "bake_live"})
    scene = bench.last("scene_changed")
    assert scene["motion"] == "baked 1" and "baked 1 other" in [one["name"] for one in scene["motions"]]
    assert np.abs(bench.shop.cast.pose_at("other", 10.0) - other).max() < 1e-9  # it shows its part of the take
    bench.do({"type": "undo_edit"})
    assert [one["name"] for one in bench.last("scene_changed")["motions"]] == ["main"]


def test_a_figure_of_the_cast_is_taken_into_the_hand(bench: Bench) -> None:
    add_second(bench)
    bench.do({"type": "show_character", "name": "other"})
    scene = bench.last("scene_changed")
    assert scene["owner"] == "other" and scene["motion"] == "other" and not scene["cast"]  # the main one has no motion
    q = np.array(bench.shop.document.pose_at(0.0))
    assert abs(q[1] + 1.5) < 1e-9
    bench.do({"type": "set_joint", "time": 0.0, "joint": "knee_left", "values": [0.6]})
    assert bench.last("scene_changed")["keys"] and bench.shop.document.scene.motion("other").keys
    bench.do({"type": "show_character", "name": "main"})
    assert bench.last("scene_changed")["owner"] == "main"
    posed = bench.shop.cast.pose_at("other", 0.0)
    knee = bench.shop.document.scene.character("other").joint("knee_left").qpos
    assert abs(posed[knee][0] - 0.6) < 1e-9
    bench.do({"type": "show_character", "name": "nobody"})
    assert "nobody" in bench.last("trouble")["message"]
    bench.do({"type": "edit_scene", "edit": "RemoveCharacter", "values": {"name": "other"}})
    assert bench.last("scene_changed")["characters"] == ["main"]


def sliders(bench: Bench) -> dict[str, Any]:
    return {one["name"]: one for one in bench.last("live_changed")["sliders"] if one["table"] == "controller"}


def test_wishes_of_a_jump_are_set_while_it_stands(bench: Bench) -> None:
    bench.do({"type": "start_live", "controller": "jump"})
    live = bench.last("live_changed")
    assert live["acts"] == "jump" and live["stage"] == "stands"
    bench.do({"type": "tune_live", "table": "controller", "name": "forward", "value": 0.4})
    bench.do({"type": "choose_live", "name": "style", "value": "tuck"})
    assert sliders(bench)["forward"]["value"] == 0.4 and sliders(bench)["style"]["value"] == "tuck"
    run = bench.shop.live
    assert run is not None and run.performing is not None and run.performing.wish.forward == 0.4
    bench.do({"type": "tune_live", "table": "tuning", "name": "com_stiffness", "value": 7.0})
    assert run.session.controller is run.performing.stand
    bench.do({"type": "tune_live", "table": "controller", "name": "height", "value": None})
    assert "height is a number" in bench.last("trouble")["message"]
    bench.do({"type": "start_live", "controller": "stand"})
    bench.do({"type": "act_live"})
    assert "nothing on demand" in bench.last("trouble")["message"]
