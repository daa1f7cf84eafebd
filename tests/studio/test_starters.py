"""Examples that the studio opens: all are read and simulated, and those of the demo are the demo."""

from __future__ import annotations

import numpy as np
import pytest
from studio_bench import Bench

from counterpoise.experiments import demo
from counterpoise.scene import SetSimulation, apply_edit, read_scene
from counterpoise.studio.starters import HOME, starter_names

PLANNED = ("demo jump", "jump", "jump onto a box", "squat")  # they are optimised first, which takes seconds
SECONDS = 0.15  # [s]


def path_of(name: str) -> str:
    return str(HOME / f"{name.replace(' ', '_')}.toml")


@pytest.mark.parametrize("name", starter_names())
def test_every_example_opens_with_all_its_figures(bench: Bench, name: str) -> None:
    bench.do({"type": "open_starter", "name": name})
    scene = bench.last("scene_changed")
    assert not scene["undo"] and len(scene["cast"]) == len(scene["characters"]) - 1
    assert len(scene["props"]) == len(bench.shop.document.scene.world.props)
    assert bench.shop.document.scene.text.startswith("# ")  # it says what it is


@pytest.mark.parametrize("name", [name for name in starter_names() if name not in PLANNED and ":" not in name])
def test_examples_with_controllers_are_simulated(name: str) -> None:
    scene = apply_edit(read_scene(path_of(name)), SetSimulation({"seconds": SECONDS}))
    recording = scene.run().recording
    assert recording is not None and recording.status == "finished" and abs(recording.duration - SECONDS) < 1e-9


def test_the_blows_of_the_demo_are_those_of_its_scene() -> None:
    seconds = 0.6  # the first blow comes at 0.4 s
    scene = apply_edit(read_scene(path_of("demo blows")), SetSimulation({"seconds": seconds}))
    recording, shown = scene.run().recording, demo.push_the_human(seconds)
    assert recording is not None
    assert np.abs(recording.qpos - shown.qpos).max() < 1e-3  # forces are written to 0.1 N
    assert [(p.push.start, p.push.body) for p in scene.pushes] == [(blow[0], "thorax") for blow in demo.BLOWS]
