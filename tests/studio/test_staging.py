"""Staging: controller, pushes, cameras and notes of the scene, as the page shows and changes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from studio_bench import Bench


def edit(bench: Bench, kind_: str, **values: Any) -> dict[str, Any]:
    bench.do({"type": "edit_scene", "edit": kind_, "values": values})
    return bench.last("scene_changed")


def test_a_scene_is_staged_step_by_step_and_undone(bench: Bench) -> None:
    text = bench.shop.document.scene.text
    assert not bench.shop.scene_event().has_controllers
    scene = edit(bench, "SetController", kind="stand", character="main")
    assert scene["controller"] == "stand" and scene["has_controllers"]
    scene = edit(bench, "AddPush", body="thorax", force=[100, 0, 0], start=0.5, character="main")
    assert scene["pushes"] == [
        {"index": 0, "words": "thorax: 100, 0, 0 N at 0.5 s for 0.1 s", "start": 0.5, "end": 0.6}
    ]
    scene = edit(bench, "SetCamera", name="front", eye=[3, 0, 1], target=[0, 0, 1])
    assert scene["cameras"] == [{"name": "front", "eye": [3, 0, 1], "target": [0, 0, 1]}]
    scene = edit(bench, "AddNote", text="softer here", time=0.7, motion="main")
    assert scene["notes"] == [{"index": 0, "text": "softer here", "time": 0.7}]
    run = bench.shop.document.scene.run()
    assert run.recording is not None and run.ok
    speed = np.abs(np.diff(run.recording.qpos[:, 0])).max()
    assert speed > 1e-5  # the push moved it
    for _ in range(4):
        bench.do({"type": "undo_edit"})
    assert bench.shop.document.scene.text == text and bench.last("scene_changed")["controller"] == ""
