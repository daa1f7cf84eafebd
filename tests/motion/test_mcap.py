"""MCAP: what is written is what another program reads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import spatial
from counterpoise.errors import BadFile
from counterpoise.motion.files import hub

reader = pytest.importorskip("mcap.reader")


def test_frames_bones_and_joints_are_read_back(tmp_path: Path):
    human = cp.character("human")
    squat = cp.reference_motion("squat", human).slice(0.2, 0.6)
    squat.write(tmp_path / "squat.mcap", rate=30.0)
    found: dict[str, list[tuple[int, dict[str, object]]]] = {}
    with (tmp_path / "squat.mcap").open("rb") as stream:
        for schema, channel, message in reader.make_reader(stream).iter_messages():
            assert schema.encoding == "jsonschema" and json.loads(schema.data)["title"] == schema.name
            found.setdefault(channel.topic, []).append((message.log_time, json.loads(message.data)))
    assert {topic: len(messages) for topic, messages in found.items()} == {"/tf": 13, "/bones": 13, "/joints": 13}
    for k in (0, 7, 12):
        at = round(k / 30.0 * 1e9)
        state = squat.sample(0.2 + k / 30.0)
        kinematics = human.snapshot(human.state(state.q))
        assert [found[topic][k][0] for topic in found] == [at] * 3
        assert found["/joints"][k][1]["knee_left"] == pytest.approx(state.q[human.joint("knee_left").qpos][0], abs=1e-9)
        places: dict[str, tuple[np.ndarray, np.ndarray]] = {"world": (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))}
        for frame in found["/tf"][k][1]["transforms"]:  # type: ignore[attr-defined]
            step = [frame["translation"][axis] for axis in "xyz"], [frame["rotation"][axis] for axis in "wxyz"]
            own = tuple(np.array(part) for part in step)
            places[frame["child_frame_id"]] = spatial.compose(places[frame["parent_frame_id"]], own)
        for name in ("head", "hand_left", "foot_right"):
            assert places[name][0] == pytest.approx(kinematics.body_position[human.body_id(name)], abs=1e-9)
        (entity,) = found["/bones"][k][1]["entities"]  # type: ignore[attr-defined]
        assert len(entity["lines"][0]["points"]) == 2 * (len(human.segments) - 1)


def test_without_the_package_the_cure_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hub, "find_spec", lambda name: None)
    with pytest.raises(BadFile, match=r"pip install 'counterpoise\[mcap\]'"):
        cp.reference_motion("squat", cp.character("human")).write(tmp_path / "squat.mcap")
    with pytest.raises(BadFile, match=r"\.mcap files are not read here"):
        cp.read_motion(tmp_path / "squat.mcap")
