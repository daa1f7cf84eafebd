"""FBX: what is written is read back by ufbx; files of other axes, units and programs; spoilt files."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadFile, CounterpoiseError
from counterpoise.measure import compare_motions
from counterpoise.motion.clips import clip_of_motion
from counterpoise.motion.files import fbx, fbx_write
from counterpoise.motion.files.fbx_write import FbxRecord, build_fbx

pytest.importorskip("ufbx", reason="ufbx is not installed")
RATE = 30.0
SPOILT = 12  # files in the quick run
MANY_SPOILT = 1000


@pytest.fixture(scope="module")
def squat() -> cp.Motion:
    return cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.8)


@pytest.fixture(scope="module")
def clip(squat: cp.Motion):
    return clip_of_motion(squat, RATE, None, None)


def built(clip, monkeypatch, change) -> bytes:
    """The file of a clip whose records were changed before they were packed."""
    records = fbx_write._records(clip)
    change(records)
    monkeypatch.setattr(fbx_write, "_records", lambda _: records)
    data = build_fbx(clip)
    monkeypatch.undo()
    return data


def setting(records: list[FbxRecord], name: str) -> FbxRecord:
    settings = next(one for one in records if one.name == "GlobalSettings")
    table = next(one for one in settings.inside if one.name == "Properties70")
    return next(one for one in table.inside if one.values[0] == name)


def test_what_is_written_is_read_back(squat: cp.Motion, clip, tmp_path: Path):
    squat.write(tmp_path / "squat.fbx", rate=RATE)
    back = fbx.read_clip(tmp_path / "squat.fbx")
    assert back.rate == RATE and len(back) == len(clip) and back.name == "squat"
    assert sorted(back.skeleton.names) == sorted(clip.skeleton.names)
    order = [back.skeleton.names.index(name) for name in clip.skeleton.names]
    places, turns = back.world()
    wanted_places, wanted_turns = clip.world()
    assert np.abs(places[:, order] - wanted_places).max() < 1e-6  # [m]
    assert np.abs(np.abs(np.sum(turns[:, order] * wanted_turns, axis=-1)) - 1.0).max() < 1e-12
    ends = {(back.skeleton.names[j], tuple(np.round(e, 9))) for j, e in back.skeleton.ends}
    assert ends == {(clip.skeleton.names[j], tuple(np.round(e, 9))) for j, e in clip.skeleton.ends}
    squat.write(tmp_path / "again.fbx", rate=RATE)
    assert (tmp_path / "again.fbx").read_bytes() == (tmp_path / "squat.fbx").read_bytes()


def test_it_is_the_same_motion_as_through_gltf(squat: cp.Motion, tmp_path: Path):
    for suffix in ("fbx", "glb"):
        squat.write(tmp_path / f"squat.{suffix}", rate=RATE)
    motions = [cp.read_motion(tmp_path / f"squat.{suffix}") for suffix in ("fbx", "glb")]
    apart = compare_motions(*motions)
    assert len(apart.bodies) == 18 and apart.worst_place()[0] < 1e-6 and apart.worst_turn()[0] < 1e-5
    onto = cp.read_motion(tmp_path / "squat.fbx", character="child")
    assert onto.character.name == "child"


def test_units_and_axes_of_other_programs(clip, tmp_path: Path, monkeypatch):
    """The same numbers said to be metres, or z up, are a figure a hundred times as large, or lying."""

    def in_metres(records):
        one = setting(records, "UnitScaleFactor")
        one.values = (*one.values[:-1], 100.0)

    def z_up(records):
        for name, value in (("UpAxis", 2), ("FrontAxis", 1), ("FrontAxisSign", -1)):
            one = setting(records, name)
            one.values = (*one.values[:-1], value)

    (tmp_path / "plain.fbx").write_bytes(build_fbx(clip))
    (tmp_path / "metres.fbx").write_bytes(built(clip, monkeypatch, in_metres))
    (tmp_path / "z_up.fbx").write_bytes(built(clip, monkeypatch, z_up))
    places = {
        name: fbx.read_clip(tmp_path / f"{name}.fbx", forward="x").world()[0] for name in ("plain", "metres", "z_up")
    }
    assert np.allclose(places["metres"], 100.0 * places["plain"], atol=1e-4)
    turned = places["plain"]  # ours: y of the file was up; now its z is
    assert np.ptp(turned[0, :, 2]) > 1.4 and np.ptp(places["z_up"][0, :, 2]) < 0.6


def test_bones_under_a_scaled_node_and_with_a_name_space(clip, tmp_path: Path, monkeypatch):
    """As Blender and Mixamo write: an armature of scale 100 above the bones, names such as mixamorig:pelvis."""

    def armature(records):
        objects = next(one for one in records if one.name == "Objects")
        links = next(one for one in records if one.name == "Connections")
        number = np.int64(77)
        made = objects.add("Model", number, f"Armature{fbx_write.SEPARATOR}Model", "Null")
        fbx_write._properties(made, [("Lcl Scaling", "Lcl Scaling", "", "A", 100.0, 100.0, 100.0)])
        for link in links.inside:
            if link.values[0] == "OO" and link.values[2] == 0:
                link.values = ("OO", link.values[1], number)
        links.add("C", "OO", number, np.int64(0))
        for one in objects.inside:
            if one.name == "Model" and one.values[2] == "LimbNode":
                one.values = (one.values[0], "mixamorig:" + one.values[1], one.values[2])
        one = setting(records, "UnitScaleFactor")
        one.values = (*one.values[:-1], 0.01)

    (tmp_path / "plain.fbx").write_bytes(build_fbx(clip))
    (tmp_path / "armature.fbx").write_bytes(built(clip, monkeypatch, armature))
    plain, other = (fbx.read_clip(tmp_path / f"{name}.fbx", forward="x") for name in ("plain", "armature"))
    assert other.skeleton.names == plain.skeleton.names
    assert np.abs(other.world()[0] - plain.world()[0]).max() < 1e-5


def test_options_and_what_is_missing(squat: cp.Motion, tmp_path: Path):
    squat.write(tmp_path / "squat.fbx", rate=RATE)
    assert len(cp.read_motion(tmp_path / "squat.fbx", rate=10.0)) == 9
    assert cp.read_motion(tmp_path / "squat.fbx", animation="squat").name == "squat"
    with pytest.raises(CounterpoiseError, match="did you mean 'squat'"):
        cp.read_motion(tmp_path / "squat.fbx", animation="sqat")
    with pytest.raises(BadFile, match="no file"):
        cp.read_motion(tmp_path / "missing.fbx")
    with pytest.raises(CounterpoiseError, match="`units` means nothing"):
        cp.read_motion(tmp_path / "squat.fbx", units="cm")


def test_a_file_of_two_seconds_and_one_frame(clip, tmp_path: Path):
    still = replace(clip, rotations=clip.rotations[:1], translations=clip.translations[:1])
    (tmp_path / "one.fbx").write_bytes(build_fbx(still))
    assert len(fbx.read_clip(tmp_path / "one.fbx")) == 1


def spoilt(data: bytes, seed: int) -> bytes:
    """Bytes changed, cut, doubled or moved."""
    chance = random.Random(seed)
    out = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(out))
        way = chance.randrange(5)
        if way == 0:
            out[at] = chance.randrange(256)
        elif way == 1:
            out[at : at + 4] = chance.randbytes(4)
        elif way == 2:
            del out[at : at + chance.randint(1, 200)]
        elif way == 3:
            out[at:at] = out[at : at + chance.randint(1, 200)]
        else:
            out[at : at + 8] = b"\xff" * 8
        if not out:
            out = bytearray(b"x")
    return bytes(out)


def check_spoilt(clip, tmp_path: Path, count: int) -> int:
    data, read = build_fbx(clip), 0
    for seed in range(count):
        path = tmp_path / f"{seed}.fbx"
        path.write_bytes(spoilt(data, seed))
        try:
            found = fbx.read_clip(path)
        except CounterpoiseError as error:
            assert "\n" not in str(error) and str(path) in str(error)
            continue
        assert np.isfinite(found.world()[0]).all()
        read += 1
    return read


@pytest.mark.parametrize("data", [b"", b"x", b"Kaydara FBX Binary  \x00\x1a\x00", b"; FBX 7.4.0 project file\n", b"{}"])
def test_what_is_no_fbx_is_refused(tmp_path: Path, data: bytes):
    (tmp_path / "bad.fbx").write_bytes(data)
    with pytest.raises(BadFile, match="not an FBX file"):
        cp.read_motion(tmp_path / "bad.fbx")


def test_spoilt_files_are_refused_in_one_line_or_read(clip, tmp_path: Path):
    assert check_spoilt(clip, tmp_path, SPOILT) < SPOILT


@pytest.mark.slow
def test_many_spoilt_files(clip, tmp_path: Path):
    assert check_spoilt(clip, tmp_path, MANY_SPOILT) < MANY_SPOILT
