"""Curves of the graph panel: measured ones are read, those of joints are edited at the keys."""

from __future__ import annotations

import numpy as np
import pytest
from studio_bench import Bench

from counterpoise.character.library import character
from counterpoise.errors import BadValue, UnknownName
from counterpoise.studio.curves import channel_of, channels, curve_names, read_curves


@pytest.mark.parametrize("name", ["human", "chain", "planar_biped"])
def test_every_channel_reads_back_what_was_put(name: str) -> None:
    figure = character(name)
    random = np.random.default_rng(3)
    q = np.array(figure.integrate(figure.neutral, random.normal(0.0, 0.2, figure.nv)))
    assert set(channels(figure)) < set(curve_names(figure))
    for channel in channels(figure).values():
        value = float(channel.values(q[None])[0]) + (0.1 if channel.unit == "m" else 7.0)
        changed = channel.put(q, value)
        assert abs(channel.values(changed[None])[0] - value) < 1e-9
        others = [one for one in channels(figure).values() if one is not channel]
        for other in others:
            assert abs(other.values(changed[None])[0] - other.values(q[None])[0]) < 1e-9


def test_a_curve_is_edited_at_a_key_within_its_limits_and_undone(bench: Bench) -> None:
    human = bench.shop.character
    bench.do({"type": "add_pose_key", "time": 0.0})
    bench.do({"type": "add_pose_key", "time": 1.0})
    text = bench.shop.document.scene.text
    edit = {"type": "set_curve", "key": 1, "name": "knee_left", "value": 40.0}
    bench.do({**edit, "done": False})
    assert bench.frames and bench.shop.document.scene.text == text
    bench.do(edit)
    pose = bench.shop.document.pose_at(1.0)
    assert abs(np.degrees(pose[human.joint("knee_left").qpos][0]) - 40.0) < 1e-9
    assert abs(bench.shop.document.pose_at(0.0) - human.neutral).max() < 1e-9
    curves = read_curves(bench.shop.document.shown.whole(), ["knee_left", "com height"])["curves"]
    assert [one["editable"] for one in curves] == [True, False] and abs(curves[0]["values"][60] - 40.0) < 1e-4
    bench.do({**edit, "value": 500.0})
    assert human.limits.values(bench.shop.document.pose_at(1.0)).max() < 1e-9
    bench.do({"type": "undo_edit"})
    bench.do({"type": "undo_edit"})
    assert bench.shop.document.scene.text == text
    bench.do({**edit, "key": 7})
    assert "no key 7" in bench.last("trouble")["message"]


def test_measured_curves_are_not_edited() -> None:
    human = character("human")
    with pytest.raises(BadValue, match="measured"):
        channel_of(human, "com height")
    with pytest.raises(UnknownName, match="knee_left"):
        channel_of(human, "knee_lfet")
