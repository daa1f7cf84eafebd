"""Saving and loading motions, and files that are none."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest

from counterpoise.character.library import character
from counterpoise.errors import BadFile, BadValue
from counterpoise.motion import Keyframe, Motion, keyframed


@pytest.fixture(scope="module")
def wave():
    keys = [Keyframe(0.0, {}), Keyframe(0.5, {"shoulder_left": (2.0, 0.0, 0.0)}), Keyframe(1.0, {})]
    return keyframed(character("human"), keys, rate=30, loop=True, name="wave")


@pytest.fixture(scope="module")
def saved(wave, tmp_path_factory):
    path = tmp_path_factory.mktemp("motions") / "wave.npz"
    wave.save(path)
    return path


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def rewritten(saved, target, **members: bytes | None):
    """A copy of the file with members replaced, or left out if None."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            name = entry.removesuffix(".npy")
            data = members.get(name, old.read(entry))
            if data is not None:
                new.writestr(entry, data)
    return target


def test_a_file_stands_alone(wave, saved):
    back = Motion.load(saved)
    np.testing.assert_array_equal(back.poses, wave.poses)
    np.testing.assert_array_equal(back.times, wave.times)
    assert (back.name, back.loop, back.travel, back.ends) == ("wave", True, False, "rest")
    assert back.character.name == "human" and back.character.joint_names == wave.character.joint_names
    np.testing.assert_array_equal(back.sample(0.3).a, wave.sample(0.3).a)


def test_the_same_motion_gives_the_same_bytes(wave, saved, tmp_path):
    again, reloaded = tmp_path / "again.npz", tmp_path / "reloaded.npz"
    wave.save(again)
    wave.save(again)
    Motion.load(saved).save(reloaded)
    assert again.read_bytes() == saved.read_bytes()
    assert reloaded.read_bytes() == saved.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.npz", "reloaded.npz"]  # nothing left behind


def test_plain_numpy_reads_it(wave, saved):
    with np.load(saved, allow_pickle=False) as data:
        np.testing.assert_array_equal(data["qpos"], wave.poses)
        assert json.loads(str(data["meta"]))["character"] == "human"


def test_a_given_character_must_fit(saved):
    human = character("human", height=1.6)
    assert Motion.load(saved, human).character is human
    with pytest.raises(BadValue, match=r"'human'.*'ostrich'"):
        Motion.load(saved, character("ostrich"))


def test_a_failed_save_leaves_the_old_file(wave, saved, tmp_path, monkeypatch):
    path = tmp_path / "motion.npz"
    path.write_bytes(b"old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk")))
    with pytest.raises(BadFile, match="disk"):
        wave.save(path)
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


def giant_header(shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + b"\0" * 80


def with_meta(**changes: object) -> bytes:
    meta = {
        "format": "counterpoise-motion",
        "version": 1,
        "character": "x",
        "joints": [],
        "character_mjcf": "",
    }
    return npy(np.array(json.dumps({**meta, **changes})))


BAD_MEMBERS = {
    "missing": ({"qpos": None}, "'qpos' is missing"),
    "giant": ({"qpos": giant_header((10**9, 49))}, "does not fit its"),
    "overflowing": ({"qpos": giant_header((2**62, 2**62))}, "does not fit its"),
    "negative": ({"qpos": giant_header((-1, 49))}, "does not fit its"),
    "bomb": ({"qpos": npy(np.zeros((200_000, 49)))}, "more than a file of this size"),
    "pickled": ({"qpos": npy(np.array([[{}]], dtype=object))}, "must be numbers"),
    "not npy": ({"time": b"hello"}, "bad header"),
    "cut": ({"time": npy(np.arange(31.0))[:-8]}, "does not fit"),
    "text": ({"time": npy(np.array(["a"]))}, "must be numbers"),
    "flat": ({"qpos": npy(np.zeros(49))}, "2 axes"),
    "empty": ({"time": npy(np.zeros(0))}, "no frames"),
    "NaN": ({"time": npy(np.full(31, np.nan))}, "finite"),
    "still": ({"time": npy(np.zeros(31))}, "must increase"),
    "short": ({"time": npy(np.arange(5.0))}, "have shape"),
    "narrow": ({"qpos": npy(np.ones((31, 7)))}, "have shape"),
    "meta not JSON": ({"meta": npy(np.array("{"))}, "not JSON"),
    "meta nested": ({"meta": npy(np.array("[" * 100_000))}, "not JSON"),
    "meta foreign": ({"meta": npy(np.array("{}"))}, "format"),
    "meta list": ({"meta": npy(np.array("[]"))}, "format"),
    "newer": ({"meta": with_meta(version=99)}, "version 99"),
    "no body": ({"meta": with_meta()}, "no valid motion"),
    "bad joints": ({"meta": with_meta(joints=[1])}, "joints"),
    "bad loop": ({"meta": with_meta(loop="yes")}, "loop"),
    "bad model": ({"meta": with_meta(character_mjcf="<mujoco><body/></mujoco>")}, "no valid motion"),
}


@pytest.mark.parametrize("case", BAD_MEMBERS)
def test_bad_members_are_named_in_one_line(case, saved, tmp_path):
    members, message = BAD_MEMBERS[case]
    path = rewritten(saved, tmp_path / "bad.npz", **members)
    with pytest.raises(BadFile, match=message) as caught:
        Motion.load(path)
    assert "\n" not in str(caught.value) and "bad.npz" in str(caught.value)


def test_files_that_are_no_archives(saved, tmp_path):
    path = tmp_path / "bad.npz"
    whole = saved.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 4] ^= 0xFF
    for content in (b"", b"not a zip at all", whole[: len(whole) // 2], whole[:-30], bytes(flipped)):
        path.write_bytes(content)
        with pytest.raises(BadFile):
            Motion.load(path)
    with pytest.raises(BadFile, match="no file"):
        Motion.load(tmp_path / "nowhere.npz")
    with pytest.raises(BadFile):
        Motion.load(tmp_path)


def test_damaged_files_never_surprise(saved, tmp_path):
    path, whole, rng = tmp_path / "damaged.npz", saved.read_bytes(), np.random.default_rng(0)
    for _ in range(200):
        content = bytearray(whole)
        for _ in range(rng.choice([1, 3, 20])):
            place = int(rng.choice([rng.integers(len(content)), rng.integers(400), -1 - rng.integers(400)]))
            content[place] = int(rng.integers(256))
        path.write_bytes(content[: rng.integers(len(content))] if rng.random() < 0.2 else content)
        try:
            Motion.load(path)
        except BadFile as error:
            assert "\n" not in str(error)
