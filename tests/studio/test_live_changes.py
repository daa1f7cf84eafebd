"""Scenes whose bodies change: live they change at the same time, and a played take has heat and props throughout."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from studio_bench import Bench

from counterpoise.control import Stand
from counterpoise.defaults import GRAVITY
from counterpoise.scene.scene import scene_from_text
from counterpoise.simulate import Session
from counterpoise.studio.figure_facts import figure_facts
from counterpoise.studio.jobs import run_play
from counterpoise.studio.live import FRAME
from counterpoise.studio.live_controllers import make_controller
from counterpoise.studio.open_scene import OpenScene

CHANGING = """
[controller]
kind = "stand"
[[change]]
time = 0.13
lengths = { arms = 1.3 }
controller = { compliance = 0.4 }
[[change]]
time = 0.21
masses = { arms = 1.5 }
[[prop]]
shape = "ball"
size = 0.2
mass = 1.0
place = [1.0, 0.0, 1.0]
[simulation]
seconds = 0.4
"""


def changing_bench(folder: Path, first: float = 0.13) -> Bench:
    bench, text = Bench(folder), CHANGING.replace("0.13", str(first))
    return Bench(folder, OpenScene(bench.folder, scene_from_text(text, folder, "changing.toml")))


@pytest.mark.parametrize("moment", [0.13, 0.1])  # [s] within a picture, and at the end of one
def test_a_live_body_changes_when_the_scene_says_so(moment: float, tmp_path: Path) -> None:
    """The run is, to the last bit, that of a session whose body is changed at these times."""
    bench = changing_bench(tmp_path, moment)
    bench.do({"type": "start_live", "controller": "stand"})
    assert bench.last("live_changed")["bodies"] == []
    run, scene = bench.shop.live, bench.shop.document.scene
    assert run is not None
    first, second = (change.body for change in scene.changes)
    assert first is not None and second is not None
    by_hand = Session(run.character, run.session.controller, world=scene.world, start=run.session.state)
    for picture in range(18):
        bench.shop.advance_live()
        assert len(run.changes) == 2 - (picture >= (7 if moment > 0.1 else 6)) - (picture >= 12), picture
    said = bench.last("live_changed")["bodies"][0]
    assert said["mesh"] == figure_facts(second).mesh != figure_facts(scene.character()).mesh
    assert said["mesh"] in bench.shop.files and said["weight"] == pytest.approx(second.weight)
    by_hand.advance(moment)
    by_hand.character, by_hand.controller = first, replace(Stand(), **_fields(by_hand.controller), compliance=0.4)
    by_hand.advance(0.21 - moment)
    by_hand.character = second
    by_hand.advance(18 * FRAME - 0.21)
    assert run.character is second and run.time == by_hand.time
    assert np.array_equal(run.poses[-1], by_hand.state.q)
    bench.do({"type": "stop_live"})
    assert bench.last("live_changed")["bodies"] == []


def _fields(stand: object) -> dict[str, object]:
    return {name: value for name, value in vars(stand).items() if name in ("reference", "friction", "ground")}


def test_another_controller_takes_only_the_body(tmp_path: Path) -> None:
    """Options belong to the controller that the scene names; a rag doll has none of them."""
    bench = changing_bench(tmp_path)
    bench.do({"type": "start_live", "controller": "passive"})
    for _ in range(14):
        bench.shop.advance_live()
    run = bench.shop.live
    assert run is not None and run.other_bodies and run.name == "passive"


def test_a_played_take_has_heat_and_props_over_all_changes(tmp_path: Path) -> None:
    done = run_play(lambda progress: None, CHANGING, tmp_path, "changing.toml", "main")
    assert done.motion is not None and done.efforts is not None and done.props is not None
    assert done.efforts.shares.shape[1] == len(done.motion.character.segments)
    for times in (done.efforts.times, done.props.times):
        assert times[0] == 0.0 and times[-1] > 0.38 and np.diff(times).min() > 0.0 and np.diff(times).max() < 0.02
    assert done.efforts.shares[:, 1:].max(axis=1).min() > 0.0  # it stands by its own strength in every frame
    heights = done.props.poses[:, 0, 2]
    assert np.abs(heights - (1.0 - 0.5 * GRAVITY * done.props.times**2)).max() < 0.01  # the ball falls freely


def test_walkers_see_the_ground_of_the_scene(tmp_path: Path) -> None:
    box = "[[box]]\ncenter = [2.0, 0.0]\nsize = [1.0, 1.0]\nheight = 0.1\n"
    world = scene_from_text(box + CHANGING, tmp_path, "").world
    assert world.terrain is not None
    for name in ("walk", "locomotion"):
        assert make_controller(name, np.zeros(1), world).terrain is world.terrain  # type: ignore[attr-defined]
