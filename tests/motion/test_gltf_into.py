"""A motion put back into the GLB that it came from: everything in the file stays, one animation is added."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.character.kinematics import body_frames
from counterpoise.errors import BadFile, BadValue
from counterpoise.motion.clips import clip_of_motion
from counterpoise.motion.files.glb import pack
from counterpoise.motion.files.gltf import build_gltf

KEPT = ("meshes", "skins", "materials", "scenes", "nodes")


def opened(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + length]), data[20 + length + 8 :]


@pytest.fixture
def rigged(tmp_path: Path) -> Path:
    """A file as other programs make it: a turned, scaled armature above the joints, and two animations."""
    human = cp.character("human")
    squat = cp.reference_motion("squat", human).slice(0.0, 0.5)
    root, binary = build_gltf(clip_of_motion(squat, 30.0), squat)
    root["asset"]["generator"] = "another program"
    root["nodes"][0] |= {"rotation": [0.0, 0.6, 0.0, 0.8], "scale": [0.5, 0.5, 0.5], "translation": [0.3, 0.0, -0.2]}
    root["materials"][0]["name"] = "cloth"
    root["animations"].append({**root["animations"][0], "name": "idle"})
    path = tmp_path / "rigged.glb"
    path.write_bytes(pack(root, binary))
    return path


def places(motion: cp.Motion) -> np.ndarray:
    return body_frames(motion.character, motion.poses)[0][:, 1:]


def test_everything_stays_and_the_motion_comes_first(rigged: Path, tmp_path: Path):
    motion = cp.read_motion(rigged, forward="z")
    poses = np.array(motion.poses)
    poses[:, :3] += (0.1, 0.05, 0.02)
    poses[:, 8:12] = poses[::-1, 8:12]
    changed = cp.Motion(motion.character, motion.times, poses, name=motion.name, source=motion.source)
    changed.write(tmp_path / "out.glb", into=rigged)
    before, old = opened(rigged)
    after, new = opened(tmp_path / "out.glb")
    assert all(after[name] == before[name] for name in KEPT)
    assert after["animations"][1:] == before["animations"] and after["animations"][0]["name"].endswith("changed")
    assert after["accessors"][: len(before["accessors"])] == before["accessors"]
    size = before["buffers"][0]["byteLength"]
    assert new[:size] == old[:size]
    again = cp.read_motion(tmp_path / "out.glb", forward="z", rate=motion.rate)
    assert len(again) == len(changed) and np.abs(places(again) - places(changed)).max() < 1e-5  # [m]
    untouched = cp.read_motion(tmp_path / "out.glb", forward="z", animation="idle", rate=motion.rate)
    assert np.abs(places(untouched) - places(motion)).max() < 1e-5


def test_other_skeletons_and_other_files_are_refused(rigged: Path, tmp_path: Path):
    squat = cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.5)
    with pytest.raises(BadFile, match="do not retarget"):
        squat.write(tmp_path / "out.glb", into=rigged)
    motion = cp.read_motion(rigged)
    with pytest.raises(BadFile, match="no file"):
        motion.write(tmp_path / "out.glb", into=tmp_path / "none.glb")
    with pytest.raises(BadValue, match=r"put into a \.glb"):
        motion.write(tmp_path / "out.gltf", into=rigged)
    motion.write(tmp_path / "text.gltf")
    with pytest.raises(BadFile, match="no binary glTF"):
        motion.write(tmp_path / "out.glb", into=tmp_path / "text.gltf")
    broken = tmp_path / "broken.glb"
    broken.write_bytes(rigged.read_bytes()[:4000])
    with pytest.raises(BadFile, match="cannot write into"):
        motion.write(tmp_path / "out.glb", into=broken)
    assert not (tmp_path / "out.glb").exists()
