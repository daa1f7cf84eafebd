"""Hostile files: whatever is in them, one clear line says what and where, quickly and in little memory."""

from __future__ import annotations

import faulthandler
import io
import json
import os
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadFile, CounterpoiseError
from counterpoise.motion.files import hub

HIERARCHY = """HIERARCHY
ROOT hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT leg
  {
    OFFSET 0 -0.9 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 0 -0.1 0.1
    }
  }
}
"""
ROW = "0 1 0 5 3 1 30 0 0\n"
BVH = HIERARCHY + "MOTION\nFrames: 3\nFrame Time: 0.05\n" + 3 * ROW
BONE = "begin\nid {0}\nname b{0}\ndirection 0 -1 0\nlength 1\naxis 0 0 0 XYZ\ndof rx ry rz\nend\n"
TOP = ":version 1.10\n:name x\n:units\nmass 1\nlength 1\nangle deg\n:root\norder TX TY TZ RX RY RZ\naxis XYZ\n"
TOP += "position 0 0 0\norientation 0 0 0\n:bonedata\n"
ASF = TOP + BONE.format(0) + BONE.format(1) + ":hierarchy\nbegin\nroot b0\nb0 b1\nend\n"
AMC = "#!OML:ASF x\n:FULLY-SPECIFIED\n:DEGREES\n" + "".join(
    f"{k}\nroot 0 1 0 0 0 0\nb0 1 2 3\nb1 {k} 0 0\n" for k in (1, 2, 3)
)


@pytest.fixture(scope="module", autouse=True)
def readers_are_there() -> None:
    """Importing them is not what is measured."""
    for entry in hub.FORMATS.values():
        if entry.reader and not (entry.needs and find_spec(entry.needs) is None):
            import_module(f"counterpoise.motion.files.{entry.module}")
    for name in ("pose.markers", "character.skeletal"):
        import_module(f"counterpoise.{name}")


@contextmanager
def bounded(size: int) -> Iterator[None]:
    """Far more memory than any honest refusal needs; a hang ends the test run with a traceback of where."""
    faulthandler.dump_traceback_later(600.0, exit=True)
    tracemalloc.start()
    try:
        yield
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        faulthandler.cancel_dump_traceback_later()
    assert most < 40e6 + 8 * size, most


def refused(path: Path, *args, **options) -> str:
    size = path.stat().st_size if path.is_file() else 0
    with bounded(size), pytest.raises(CounterpoiseError) as caught:
        cp.read_motion(path, *args, **options)
    message = str(caught.value)
    assert isinstance(caught.value, BadFile) and path.name in message, message
    assert "\n" not in message and len(message) < 600, message[:600]
    return message


def swapped(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


# ------------------------------------------------------------------------------------------------- any format at all

SUFFIXES = (".bvh", ".amc", ".asf", ".csv", ".npz", ".glb", ".gltf", ".c3d")


def body_for(suffix: str, human) -> tuple[object, ...]:
    return (human,) if suffix in (".csv", ".c3d") else ()


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    (tmp_path / "bad.asf").write_text(ASF)
    return tmp_path / "bad.asf"


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("what", ["empty", "spaces", "zeros", "junk", "text", "newlines", "utf16", "one byte"])
def test_nonsense(tmp_path, human, skeleton, suffix, what):
    content = {
        "empty": b"",
        "spaces": b" " * 1_000_000,
        "zeros": b"\0" * 1_000_000,
        "junk": np.random.default_rng(0).bytes(1_000_000),
        "text": b"Lorem ipsum dolor sit amet. " * 30_000,
        "newlines": b"\n" * 1_000_000,
        "utf16": BVH.encode("utf-16"),
        "one byte": b"H",
    }[what]
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content)
    refused(path, *body_for(suffix, human))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and devices as POSIX has them")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_no_file(tmp_path, human, skeleton, suffix):
    """A folder, a pipe nobody writes to, a device without end, a link to itself, nothing at all."""
    who = body_for(suffix, human)
    for name, make in {
        "folder": lambda p: p.mkdir(),
        "pipe": os.mkfifo,
        "endless": lambda p: p.symlink_to("/dev/zero"),
        "loop": lambda p: p.symlink_to(p),
        "nothing": lambda p: None,
    }.items():
        path = tmp_path / f"{name}{suffix}"
        make(path)
        refused(path, *who)
        if suffix == ".asf":
            (tmp_path / "good.amc").write_text(AMC)
            with bounded(0), pytest.raises(BadFile, match=name):
                cp.read_motion(tmp_path / "good.amc", skeleton=path)


# ------------------------------------------------------------------------------------------------------------ BVH


def deep(count: int) -> str:
    tree = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"
    tree += "".join(f"JOINT j{k}\n{{\nOFFSET 0 0 1\nCHANNELS 3 Xrotation Yrotation Zrotation\n" for k in range(count))
    return tree + "}\n" * (count + 1) + "MOTION\nFrames: 1\nFrame Time: 1\n" + "0 " * 3 * (count + 1)


def wide(count: int) -> str:
    tree = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"
    tree += "".join(f"JOINT j{k}\n{{\nOFFSET 0 0 1\nCHANNELS 0\n}}\n" for k in range(count))
    return tree + "}\nMOTION\nFrames: 1\nFrame Time: 1\n0 0 0\n"


BAD_BVH: dict[str, tuple[str | Callable[[], str], str]] = {
    "cut in the tree": (HIERARCHY[:150], "line 9: the file ends without a line MOTION"),
    "cut in the heading": (HIERARCHY + "MOTION\nFrames: 3\n", r"line 17: after MOTION"),
    "cut in a row": (BVH[:-8], "line 21: 6 numbers are too few for the 9 channels"),
    "cut between rows": (BVH[: -len(ROW)], "2 frames where 'Frames:' says 3"),
    "a row too many": (BVH + ROW, "more frames where 'Frames:' says 3"),
    "a number too many": (swapped(BVH, ROW, "7 " + ROW), "line 19: 10 numbers are too many"),
    "numbers moved between rows": (BVH[: -2 * len(ROW)] + "0 1 0\n" + "5 " * 15, "line 20: 3 numbers are too few"),
    "a million channels": (swapped(BVH, "CHANNELS 6", "CHANNELS 1000000"), "line 5: '1000000' channels"),
    "negative channels": (swapped(BVH, "CHANNELS 6", "CHANNELS -6"), "line 5"),
    "fewer channels than named": (swapped(BVH, "CHANNELS 6", "CHANNELS 5"), "line 5: 'Xrotation' where"),
    "unknown channel": (swapped(BVH, "Yrotation", "Wrotation"), "line 5: no channel 'Wrotation'"),
    "a channel twice": (swapped(BVH, "Yposition", "Xposition"), "line 5.*twice"),
    "no channels at all": (lambda: wide(3).replace("CHANNELS 3 Xrotation Yrotation Zrotation", ""), "line 2: no joint"),
    "ten thousand deep": (lambda: deep(10_000), "line 802: joints more than 200 deep"),
    "braces without end": (lambda: "HIERARCHY\n" + "ROOT a {" * 100_000 + "\nMOTION\n", "line 2: a line of 800001 byt"),
    "a hundred thousand joints": (lambda: wide(100_000), "more than 1000 joints"),
    "a tree of 40 MB": (lambda: "HIERARCHY\n" + "\n" * 40_000_000 + "MOTION\n", "38 MiB"),
    "never closed": (HIERARCHY[:-2] + "MOTION\nFrames: 1\nFrame Time: 1\n" + ROW, "never closed"),
    "closed twice": (swapped(BVH, "MOTION", "}\nMOTION"), "line 16: a } without its {"),
    "two offsets": (swapped(BVH, "OFFSET 0 0 0", "OFFSET 0 0 0 OFFSET 0 0 0"), "line 4: a second OFFSET"),
    "no offset": (swapped(BVH, "OFFSET 0 -0.9 0", ""), "line 14: joint 'leg' has no OFFSET"),
    "joint in an end site": (swapped(BVH, "OFFSET 0 -0.1 0.1", "JOINT x {"), "line 12: a JOINT inside an End Site"),
    "offset of text": (swapped(BVH, "0 -0.9 0", "0 down 0"), "line 8: 'down' where an OFFSET needs a number"),
    "offset NaN": (swapped(BVH, "0 -0.9 0", "0 nan 0"), "line 8: 'nan'"),
    "offset enormous": (swapped(BVH, "0 -0.9 0", "0 1e308 0"), "line 8: '1e308'"),
    "a name without end": (swapped(BVH, "leg", "x" * 1_000_000), "line 6: a line of 1000009 bytes"),
    "a name of many words": (swapped(BVH, "leg", "x " * 1000), "line 6"),
    "two figures": (BVH.replace("MOTION", HIERARCHY[10:] + "MOTION").replace(ROW, ROW[:-1] + " " + ROW), "2 figures"),
    "frame time negative": (swapped(BVH, "0.05", "-0.05"), "line 18: Frame Time: '-0.05'"),
    "frame time zero": (swapped(BVH, "0.05", "0"), "line 18: Frame Time: '0'"),
    "frame time NaN": (swapped(BVH, "0.05", "nan"), "line 18: Frame Time: 'nan'"),
    "frame time endless": (swapped(BVH, "0.05", "1e308"), "line 18: Frame Time: '1e308'"),
    "frame time tiny": (swapped(BVH, "0.05", "5e-324"), "line 18: Frame Time: '5e-324'"),
    "frame time long": (swapped(BVH, "0.05", "0." + "3" * 100_000), ""),
    "frames negative": (swapped(BVH, "Frames: 3", "Frames: -3"), "line 17: Frames: '-3'"),
    "frames half": (swapped(BVH, "Frames: 3", "Frames: 2.5"), "line 17: Frames: '2.5'"),
    "no frames": (swapped(BVH, "Frames: 3", "Frames: 0"), "line 17: Frames: 0"),
    "frames beyond number": (swapped(BVH, "Frames: 3", "Frames: 999999999999"), "line 18: 999999999999 frames"),
    "frames of a thousand digits": (swapped(BVH, "Frames: 3", "Frames: " + "9" * 1000), "line 17"),
    "a million frames": (swapped(BVH, "Frames: 3", "Frames: 1000000"), "3 frames where 'Frames:' says 1000000"),
    "NaN": (swapped(BVH, "30", "NaN"), r"line 19: 'NaN' where a finite number should be \(leg Zrotation\)"),
    "infinity": (swapped(BVH, "30", "-inf"), "line 19: '-inf'"),
    "1e308": (swapped(BVH, "30", "1e308"), "line 19: '1e308'"),
    "1e999": (swapped(BVH, "30", "1e999"), "line 19: '1e999'"),
    "hexadecimal": (swapped(BVH, "30", "0x1p3"), "line 19: '0x1p3'"),
    "underscores": (swapped(BVH, "30", "3_0"), "line 19: '3_0'"),
    "a decimal comma": (swapped(BVH, "30", "3,5"), "line 19: '3,5'"),
    "a word": (swapped(BVH, "30", "thirty"), "line 19: 'thirty'"),
    "a formfeed": (swapped(BVH, "30", "30\f"), ""),
    "a row without end": (lambda: swapped(BVH, "30", "3" * 50_000_000), "line 19: a line of"),
    "text after": (BVH + "END\n", "line 22: 'END'"),
}


@pytest.mark.parametrize("what", BAD_BVH)
def test_bvh(tmp_path, what):
    content, words = BAD_BVH[what]
    path = tmp_path / "bad.bvh"
    path.write_text(content if isinstance(content, str) else content())
    if words:
        with_words(refused(path), words)
        return
    with bounded(path.stat().st_size):  # odd, but it can be read: then it must be right
        motion = cp.read_motion(path)
    assert len(motion) == 3 and np.isfinite(motion.poses).all()


def with_words(message: str, words: str) -> None:
    with pytest.raises(BadFile, match=words):
        raise BadFile(message)


def test_a_good_bvh_is_read(tmp_path):
    (tmp_path / "good.bvh").write_text(BVH)
    assert len(cp.read_motion(tmp_path / "good.bvh")) == 3


# ---------------------------------------------------------------------------------------------------- ASF and AMC


def chain(count: int) -> str:
    bones = "".join(BONE.format(k) for k in range(count))
    return (
        TOP + bones + ":hierarchy\nbegin\nroot b0\n" + "".join(f"b{k} b{k + 1}\n" for k in range(count - 1)) + "end\n"
    )


BAD_ASF: dict[str, tuple[str | Callable[[], str], str]] = {
    "cut in a bone": (ASF[:240], r"line \d+: .*cut short"),
    "cut before the hierarchy": (ASF[: ASF.index(":hierarchy")], "no :hierarchy"),
    "no bones": (TOP, "no :bonedata"),
    "ten thousand bones": (lambda: chain(10_000), "more than 1000 bones"),
    "five hundred deep": (lambda: chain(500), "more than 200 deep"),
    "a circle": (swapped(ASF, "b0 b1\n", "b0 b1\nb1 b0\n"), "is in two places"),
    "its own parent": (swapped(ASF, "b0 b1\n", "b0 b0\n"), "is in two places"),
    "a loose bone": (swapped(ASF, "b0 b1\n", ""), "'b1' is not in the hierarchy"),
    "a strange bone": (swapped(ASF, "b0 b1\n", "b0 b7\n"), "no bone 'b7'; did you mean"),
    "a name twice": (swapped(ASF, "name b1", "name b0"), "the name of another bone"),
    "no name": (swapped(ASF, "name b1\n", ""), "has no name"),
    "begin in a bone": (swapped(ASF, "name b1", "begin"), "has no end"),
    "length NaN": (swapped(ASF, "length 1\naxis", "length nan\naxis"), "'nan' where length"),
    "length enormous": (swapped(ASF, "length 1\naxis", "length 1e308\naxis"), "'1e308'"),
    "direction short": (swapped(ASF, "direction 0 -1 0", "direction 0 -1"), "direction needs 3 numbers; 2"),
    "product enormous": (
        lambda: ASF.replace("length 1\naxis", "length 1e9\naxis").replace("0 -1 0", "0 -1e9 0"),
        "bone 'b0' is 1e.09 times",
    ),
    "axis order": (swapped(ASF, "axis 0 0 0 XYZ", "axis 0 0 0 XXZ"), "'XXZ' is not an order"),
    "freedom": (swapped(ASF, "dof rx ry rz", "dof rx rx"), "'rx' is not a degree of freedom"),
    "freedom of length": (swapped(ASF, "dof rx ry rz", "dof rx l"), "length changes"),
    "unit zero": (swapped(ASF, "length 1", "length 0"), "a length unit of 0"),
    "unit text": (swapped(ASF, "length 1", "length inch"), "'inch' where length"),
    "a line without end": (swapped(ASF, "name b1", "name " + "b" * 100_000), "a line of 100006 bytes"),
}
BAD_AMC: dict[str, tuple[str | Callable[[], str], str]] = {
    "no frames": ("#!OML:ASF\n:DEGREES\n", "line 2: no frames|line 1: no frames"),
    "cut in a row": (AMC[:-4], "1 values of bone 'b1', which has 3"),
    "cut in a frame": (AMC[: AMC.rindex("b1")], "leaves out bone 'b1'"),
    "cut after a number": (AMC[: AMC.rindex("root")], "leaves out bone 'root'"),
    "frames jump": (swapped(AMC, "\n2\n", "\n7\n"), "line 8: frame 7 follows frame 1"),
    "frames go back": (swapped(AMC, "\n2\n", "\n1\n"), "line 8: frame 1 follows frame 1"),
    "a bone twice": (swapped(AMC, "b0 1 2 3\n", "b0 1 2 3\nb0 1 2 3\n"), "line 7: bone 'b0' is there twice"),
    "before the first": (swapped(AMC, "\n1\n", "\n"), "line 4: bone 'root' is there before"),
    "a strange bone": (swapped(AMC, "b0 1", "b8 1"), "line 6: no bone 'b8' in the skeleton; did you mean"),
    "too many values": (swapped(AMC, "b0 1 2 3", "b0 1 2 3 4"), "line 6: 4 values of bone 'b0', which has 3"),
    "ten thousand values": (swapped(AMC, "b0 1 2 3", "b0 " + "1 " * 2000), "line 6: 2000 values"),
    "NaN": (swapped(AMC, "b0 1 2 3", "b0 1 nan 3"), "line 6: 'nan' where bone 'b0' needs a finite number"),
    "1e308": (swapped(AMC, "b0 1 2 3", "b0 1 2 1e308"), "line 6: '1e308'"),
    "underscores": (swapped(AMC, "b0 1 2 3", "b0 1 2 1_0"), "line 6: '1_0'"),
    "a frame left out halfway": (AMC.replace("b0 1 2 3\n", "", 1), "b0"),
    "a line without end": (swapped(AMC, "b0 1", "b0 " + "1" * 100_000), "line 6: a line of"),
}


@pytest.mark.parametrize("what", BAD_ASF)
def test_asf(tmp_path, what):
    content, words = BAD_ASF[what]
    (tmp_path / "bad.asf").write_text(content if isinstance(content, str) else content())
    with_words(refused(tmp_path / "bad.asf"), words)
    (tmp_path / "bad.amc").write_text(AMC)
    with bounded(0), pytest.raises(BadFile):
        cp.read_motion(tmp_path / "bad.amc")


@pytest.mark.parametrize("what", BAD_AMC)
def test_amc(tmp_path, skeleton, what):
    content, words = BAD_AMC[what]
    path = tmp_path / "bad.amc"
    path.write_text(content if isinstance(content, str) else content())
    with_words(refused(path), words)


def test_a_good_amc_is_read(tmp_path, skeleton):
    (tmp_path / "bad.amc").write_text(AMC)
    assert len(cp.read_motion(tmp_path / "bad.amc")) == 3


# ------------------------------------------------------------------------------------------------------------ CSV


@pytest.fixture(scope="module")
def table(human, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("tables") / "squat.csv"
    squat = cp.reference_motion("squat", human)
    squat.write(path, frames=(0, 3))
    return path.read_text()


def cell(table: str, row: int, column: int, value: str) -> str:
    rows = [line.split(",") for line in table.splitlines()]
    rows[row][column] = value
    return "\n".join(",".join(line) for line in rows) + "\n"


BAD_CSV: dict[str, tuple[Callable[[str], str], str]] = {
    "no frames": (lambda t: t.splitlines()[0], "line 2: a header and no frames"),
    "cut in a row": (lambda t: t[:-200], r"line 5: \d+ cells for 50 columns"),
    "a cell too many": (lambda t: cell(t, 2, 5, "1,1"), "line 3: 51 cells for 50 columns"),
    "a million columns": (lambda t: "time [s]" + ",x" * 1_000_000, "line 1: a header of 2000008 bytes"),
    "a strange column": (lambda t: cell(t, 0, 3, "rot.z [m]"), "line 1: column 4 is 'rot.z'; did you mean"),
    "a column twice": (lambda t: cell(t, 0, 3, "root.x [m]"), "line 1: column 4: 'root.x' is there twice"),
    "a column less": (lambda t: "\n".join(row.rpartition(",")[0] for row in t.splitlines()), "1 columns of 'human'"),
    "a strange unit": (
        lambda t: cell(t, 0, 1, "root.x [furlong]"),
        "line 1: column 2: 'furlong' is not a unit of 'root.x': m, cm, mm",
    ),
    "NaN": (lambda t: cell(t, 2, 9, "nan"), r"line 3: column 10 \(.*\): 'nan' is not a finite number"),
    "infinity": (lambda t: cell(t, 2, 9, "inf"), "line 3: column 10"),
    "1e308": (lambda t: cell(t, 2, 9, "1e308"), "line 3: column 10"),
    "nothing": (lambda t: cell(t, 2, 9, ""), "line 3: column 10"),
    "text": (lambda t: cell(t, 2, 9, "three"), "line 3: column 10"),
    "time stands": (lambda t: cell(t, 3, 0, "0"), "times must increase; frame 2"),
    "no rotation": (
        lambda t: cell(cell(cell(cell(t, 2, 4, "0"), 2, 5, "0"), 2, 6, "0"), 2, 7, "0"),
        "frame 1 has a qu",
    ),
    "a row without end": (lambda t: t + "1" * 10_000_000, "line 6: a line of 10000000 bytes"),
}


@pytest.mark.parametrize("what", BAD_CSV)
def test_csv(tmp_path, human, table, what):
    change, words = BAD_CSV[what]
    path = tmp_path / "bad.csv"
    path.write_text(change(table))
    with_words(refused(path, human), words)


# ------------------------------------------------------------------------------------------------------------ npz


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def header(kind: str, *shape: int) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": kind, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("archives")
    (folder / "a.bvh").write_text(BVH)
    cp.read_motion(folder / "a.bvh").write(folder / "a.npz")
    with zipfile.ZipFile(folder / "a.npz") as old:
        return {name: old.read(name) for name in old.namelist()}


def packed(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in members.items():
            new.writestr(name, data)
    return path


def bomb(path: Path, name: str, head: bytes, size: int) -> None:
    """A member of a gigabyte of zeros that packs into one megabyte."""
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as new, new.open(name, "w", force_zip64=True) as stream:
        stream.write(head)
        for _ in range(size >> 26):
            stream.write(bytes(1 << 26))


def changed(archive: dict[str, bytes], change: Callable[[dict], object]) -> dict[str, bytes]:
    meta = json.loads(str(np.load(io.BytesIO(archive["meta.npy"]))))
    change(meta)
    return {**archive, "meta.npy": npy(np.array(json.dumps(meta)))}


@pytest.mark.parametrize("name", ["time", "qpos", "meta"])
def test_a_zip_bomb_is_not_unpacked(tmp_path, archive, name):
    path = packed(tmp_path / "bomb.npz", {k: v for k, v in archive.items() if k != f"{name}.npy"})
    size = 1 << 28
    heads = {"time": header("<f8", size // 8), "qpos": header("<f8", size // 128, 16), "meta": header(f"<U{size // 4}")}
    bomb(path, f"{name}.npy", heads[name], size)
    assert path.stat().st_size < 3 << 20
    with_words(refused(path), f"'{name}' declares 2684.* bytes")


def test_a_lying_zip(tmp_path, archive):
    """A member that says it is small and unpacks to more; one that says it is there twice."""
    path = packed(tmp_path / "bad.npz", archive)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02") + 24  # the last entry's size in the directory
    data[at : at + 4] = (1 << 20).to_bytes(4, "little")
    path.write_bytes(data)
    refused(path)
    with zipfile.ZipFile(path, "w") as new, pytest.warns(UserWarning, match="Duplicate"):
        for name, content in [*archive.items(), *archive.items()]:
            new.writestr(name, content)
    with bounded(0):
        assert len(cp.read_motion(path)) == 3  # the same twice: harmless


BAD_SOURCES: dict[str, Callable[[dict], object]] = {
    "no object": lambda m: m.update(source=[1, 2]),
    "text": lambda m: m.update(source="bvh"),
    "no skeleton": lambda m: m["source"].pop("offsets"),
    "parents in a circle": lambda m: m["source"].update(parents=[1, 0]),
    "parents far": lambda m: m["source"].update(parents=[-1, 99]),
    "parents of text": lambda m: m["source"].update(parents=["-1", "0"]),
    "parents true": lambda m: m["source"].update(parents=[-1, False]),
    "offsets short": lambda m: m["source"].update(offsets=[[0, 0, 0]]),
    "offsets ragged": lambda m: m["source"].update(offsets=[[0, 0, 0], [1]]),
    "offsets enormous": lambda m: m["source"].update(offsets=[[0, 0, 0], [0, 1e300, 0]]),
    "offsets of many digits": lambda m: m["source"].update(offsets=[[0, 0, 0], [0, 10**400, 0]]),
    "offsets NaN": lambda m: m["source"].update(offsets=[[0, 0, 0], [0, float("nan"), 0]]),
    "rest no rotation": lambda m: m["source"].update(rest=[[1, 0, 0, 0], [0, 0, 0, 0]]),
    "end of no joint": lambda m: m["source"].update(ends=[[7, [0, 0, 0]]]),
    "end of NaN": lambda m: m["source"].update(ends=[[1, [0, float("nan"), 0]]]),
    "bodies alike": lambda m: m["source"].update(bodies=["hips", "hips"]),
    "names not text": lambda m: m["source"].update(names=[1, 2]),
    "a million names": lambda m: m["source"].update(names=["x"] * 100_000, bodies=["x"] * 100_000),
    "notes a list": lambda m: m["source"].update(notes=[1]),
    "notes nested": lambda m: m["source"]["notes"].update(x=json.loads("[" * 400 + "]" * 400)),
    "rate negative": lambda m: m["source"]["notes"].update(rate=-1),
    "rate text": lambda m: m["source"]["notes"].update(rate="fast"),
    "remarks no texts": lambda m: m["source"]["notes"].update(remarks=[1]),
    "channels none": lambda m: m["source"]["notes"].pop("channels"),
    "channels strange": lambda m: m["source"]["notes"].update(channels=[["Wrotation"], []]),
    "channels short": lambda m: m["source"]["notes"].update(channels=[["Xrotation"]]),
    "names that write themselves": lambda m: m["source"]["notes"].update(names=["hips\n}", "leg"]),
    "offset text": lambda m: m["source"]["notes"].update(offset_text=["0 0 0", "0 x 0"]),
    "end text": lambda m: m["source"]["notes"].update(end_text=[]),
    "frame time": lambda m: m["source"]["notes"].update(frame_time="0.1\n1 2 3"),
    "axes": lambda m: m["source"]["notes"].update(up="w"),
    "axes alike": lambda m: m["source"]["notes"].update(up="z", forward="z"),
    "scale": lambda m: m["source"]["notes"].update(scale=0),
    "scale of many digits": lambda m: m["source"]["notes"].update(scale=10**400),
}


@pytest.mark.parametrize("what", BAD_SOURCES)
def test_what_an_npz_says_of_its_source_is_checked(tmp_path, archive, what):
    path = packed(tmp_path / "bad.npz", changed(archive, BAD_SOURCES[what]))
    if what == "notes nested":
        with bounded(0):
            assert len(cp.read_motion(path)) == 3
        return
    with_words(refused(path), "no proper 'source'")


def test_old_archives_have_no_source(tmp_path, archive):
    path = packed(tmp_path / "old.npz", changed(archive, lambda meta: meta.pop("source")))
    motion = cp.read_motion(path)
    assert motion.source is None and len(motion) == 3
    motion.write(tmp_path / "old.bvh")  # and is written as any other motion


def test_old_archives_call_remarks_told(tmp_path, archive):
    def old(meta: dict) -> None:
        meta["source"]["notes"]["told"] = ["up axis guessed: y"]
        meta["source"]["notes"].pop("remarks")

    motion = cp.read_motion(packed(tmp_path / "old.npz", changed(archive, old)))
    assert motion.source is not None and motion.source.remarks == ("up axis guessed: y",)


def test_bvh_through_npz_keeps_its_wording(tmp_path):
    words = BVH.replace("OFFSET 0 -0.9 0", "OFFSET 0.000 -9.0E-1 +0").replace("leg", "left leg").replace("  ", "\t")
    (tmp_path / "a.bvh").write_text(words.replace("Zrotation Yrotation Xrotation", "Yrotation Zrotation Xrotation"))
    first = cp.read_motion(tmp_path / "a.bvh")
    first.write(tmp_path / "b.bvh")
    first.write(tmp_path / "a.npz")
    again = cp.read_motion(tmp_path / "a.npz")
    again.write(tmp_path / "c.bvh")
    assert again.source is not None and again.source.remarks == first.source.remarks
    assert (tmp_path / "c.bvh").read_bytes() == (tmp_path / "b.bvh").read_bytes()
    assert "OFFSET 0.000 -9.0E-1 +0" in (tmp_path / "c.bvh").read_text()


# --------------------------------------------------------------------------------------------------- glTF and C3D


def gltf(tmp_path: Path, **changes: object) -> Path:
    data = np.array([[0.0], [1.0]], "<f4").tobytes() + np.array([[0, 0, 0, 1.0]] * 2, "<f4").tobytes()
    (tmp_path / "a.bin").write_bytes(data)
    root = {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": len(data), "uri": "a.bin"}],
        "bufferViews": [{"buffer": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 32}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR"},
            {"bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC4"},
        ],
        "nodes": [{"name": "a", "children": [1]}, {"name": "b", "translation": [0, 1, 0]}],
        "skins": [{"joints": [0, 1]}],
        "animations": [
            {
                "channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}}],
                "samplers": [{"input": 0, "output": 1}],
            }
        ],
    }
    path = tmp_path / "bad.gltf"
    path.write_text(json.dumps({**root, **changes}))
    return path


DEEP = [{"children": [i + 1]} for i in range(9_999)] + [{}]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"buffers": [{"byteLength": 40, "uri": "/etc/passwd"}]}, "/buffers/0"),
        ({"buffers": [{"byteLength": 40, "uri": "../a.bin"}]}, "/buffers/0"),
        ({"buffers": [{"byteLength": 40, "uri": "%2e%2e/a.bin"}]}, "/buffers/0"),
        ({"buffers": [{"byteLength": 40, "uri": "http://x/a.bin"}]}, "/buffers/0"),
        ({"buffers": [{"byteLength": 10**12, "uri": "a.bin"}]}, "/buffers/0"),
        ({"nodes": DEEP, "skins": [{"joints": list(range(10_000))}]}, "10000"),
        ({"nodes": [{"children": [1]}, {"translation": [0, 1e308, 0]}]}, "/nodes/1/translation"),
        ({"nodes": [{"name": "a"}] * 20_000}, "nodes|items"),
    ],
)  # fmt: skip
def test_gltf(tmp_path, changes, words):
    assert len(cp.read_motion(gltf(tmp_path))) >= 2
    with_words(refused(gltf(tmp_path, **changes)), words)
