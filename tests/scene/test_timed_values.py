"""Wishes of a controller that change with time, ways and places, as a scene says them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterpoise.errors import BadFile
from counterpoise.experiments import demo_locomotion
from counterpoise.experiments.demo_locomotion import asked_heading, asked_speed
from counterpoise.scene import SetSimulation, apply_edit, read_scene
from counterpoise.scene.controllers import build_controller
from counterpoise.scene.scene import scene_from_text
from counterpoise.scene.timed_values import TimedValue
from counterpoise.studio.starters import HOME

SCENES = Path(__file__).parents[2] / "examples" / "scenes"
LOCOMOTION = """character = "human"
[controller]
kind = "locomotion"
"""


def controller_of(text: str) -> object:
    scene = scene_from_text(LOCOMOTION + text, Path("."), "test")
    return build_controller(scene.controllers["main"], scene.world)


def test_a_value_goes_in_lines_or_in_steps() -> None:
    line, steps = TimedValue((1.0, 3.0), (0.0, 4.0)), TimedValue((1.0, 3.0), (2.0, 4.0), steps=True)
    assert [line(t) for t in (0.0, 1.0, 2.0, 9.0)] == [0.0, 0.0, 2.0, 4.0]
    assert [steps(t) for t in (0.0, 1.0, 2.9, 3.0, 9.0)] == [2.0, 2.0, 2.0, 4.0, 4.0]


def test_the_last_act_of_the_demo_is_a_scene() -> None:
    scene = read_scene(HOME / "demo_locomotion.toml")
    made = build_controller(scene.controllers["main"], scene.world)
    for time in np.linspace(0.0, 12.0, 121):
        assert made.speed(time) == asked_speed(time)  # type: ignore[attr-defined]
        assert made.heading(time) == pytest.approx(asked_heading(time), abs=1e-12)  # type: ignore[attr-defined]
    run = apply_edit(scene, SetSimulation({"seconds": 0.55})).run().recording
    assert run is not None and np.array_equal(run.qpos, demo_locomotion.go_about(0.55).qpos)


def test_a_way_a_style_and_props_that_are_seen() -> None:
    text = 'to = [[2, 0], [2, 1]]\nstyle = "proud"\navoid = true\n'
    text += '[[prop]]\nshape = "ball"\nsize = 0.2\nmass = 1\nplace = [3, 0, 1]\n'
    made = controller_of(text + "[[box]]\nsize = [1, 1]\nheight = 0.1\ncenter = [4, 0]\n")
    assert np.shape(made.to) == (2, 2) and made.style == "proud"  # type: ignore[attr-defined]
    assert len(made.avoid) == 1 and made.terrain is not None  # type: ignore[attr-defined]
    assert np.shape(controller_of("to = [2, 1]").to) == (2,)  # type: ignore[attr-defined]


@pytest.mark.parametrize("bad, words", [
    ("speed = { times = [0, 1], values = [1] }", "two numbers"), ("to = [1, 2, 3]", "places"), ("to = 3", "places"),
    ("speed = { times = [0, 1, 2], values = [1, 2] }", "one value for each"), ("speed = { at = [0, 1] }", "times"),
    ("speed = { times = [1, 0], values = [1, 2] }", "rise"), ('style = "limp"', "limping"),
    ("rate = { times = [0, 1] }", "number"),
])  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(bad: str, words: str) -> None:
    with pytest.raises(BadFile, match=words) as caught:
        controller_of(bad)
    assert "test:4" in str(caught.value)


@pytest.mark.parametrize("name", ["faster_and_faster", "round_the_corner"])
def test_scenes_of_the_examples_are_simulated(name: str) -> None:
    run = apply_edit(read_scene(SCENES / f"{name}.toml"), SetSimulation({"seconds": 0.1})).run()
    assert run.recording is not None and run.recording.status == "finished"
