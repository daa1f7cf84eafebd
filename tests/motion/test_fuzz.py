"""Ten thousand spoilt files a reader: every one is refused in one line, or read, and then it is right.

Bytes are changed, cut, doubled and moved; words are exchanged for numbers, keywords and nonsense. Nothing but a
CounterpoiseError may come out, nothing may hang, and what is read must be finite, of the shape and length the file
itself declares (counted here by other means), and the same when read again. glTF and C3D have their own runs beside
their tests; here glTF goes on through the making of a character.
"""

from __future__ import annotations

import faulthandler
import io
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadFile, CounterpoiseError
from counterpoise.motion import Motion

TREE = """HIERARCHY
ROOT Hips
{
	OFFSET 0.00 0.00 0.00
	CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
	JOINT Spine
	{
		OFFSET 0.0 0.3 0.0
		CHANNELS 3 Zrotation Yrotation Xrotation
		JOINT Head
		{
			OFFSET 0.0 0.4 0.0
			CHANNELS 3 Zrotation Yrotation Xrotation
			End Site
			{
				OFFSET 0.0 0.2 0.0
			}
		}
@ARMS	}
@LEGS}
"""
LIMB = """JOINT {0}{1}
{{
OFFSET {2} {3} 0.0
CHANNELS 3 Zrotation Xrotation Yrotation
JOINT {0}{4}
{{
OFFSET {5} 0.0
CHANNELS 3 Zrotation Xrotation Yrotation
JOINT {0}{6}
{{
OFFSET {5} 0.0
CHANNELS 1 Zrotation
End Site
{{
OFFSET 0.0 0.0 0.15
}}
}}
}}
}}
"""


def bvh_seeds() -> list[bytes]:
    rng = np.random.default_rng(3)
    arms = "".join(LIMB.format(s, "Arm", x, "0.3", "ForeArm", f"{x} 0", "Hand") for s, x in (("l", 0.3), ("r", -0.3)))
    legs = "".join(LIMB.format(s, "UpLeg", x, "0.0", "Leg", "0 -0.4", "Foot") for s, x in (("l", 0.1), ("r", -0.1)))
    tree = TREE.replace("@ARMS", arms).replace("@LEGS", legs)
    width = len(re.findall(r"[XYZ](?:position|rotation)", tree))
    stick = (
        "HIERARCHY\r\nROOT a b\r\n{\r\nOFFSET 1 2 3\r\nCHANNELS 2 Yrotation Xposition\r\nEnd Site\r\n{\r\nOFFSET 1 0 0"
    )
    stick += "\r\n}\r\n}\r\nMOTION\r\nFrames:\t2\r\nFrame Time:\t.0333333\r\n1.5e1 2\r\n-3 4\r\n"
    rows = "".join(" ".join(f"{v:.4f}" for v in rng.normal(0.0, 20.0, width)) + "\n" for _ in range(4))
    return [f"{tree}MOTION\nFrames: 4\nFrame Time: 0.0083333\n{rows}".encode(), stick.encode()]


def acclaim_seeds() -> tuple[bytes, bytes]:
    names = ["lfemur", "ltibia", "lfoot", "rfemur", "rtibia", "rfoot", "upperback", "head", "lhand", "rhand"]
    ways = [(1, -1, 0), (0, -1, 0), (0, 0, 1), (-1, -1, 0), (0, -1, 0), (0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0)]
    dofs = ["rx ry rz", "rx", "rx rz", "rx ry rz", "rx", "rx rz", "rx ry rz", "", "tx ty tz rx", "ry rz"]
    asf = "# made by hand\n:version 1.10\n:name hand\n:documentation\n  none\n"
    asf += ":units\n  mass 1.0\n  length 0.45\n  angle deg\n"
    asf += ":root\n  order TX TY TZ RX RY RZ\n  axis XYZ\n  position 0 0 0\n  orientation 0 0 0\n:bonedata\n"
    for k, (name, way, dof) in enumerate(zip(names, [*ways, (-1, 0, 0)], dofs, strict=True), start=1):
        asf += f"  begin\n    id {k}\n    name {name}\n    direction {way[0]} {way[1]} {way[2]}\n    length 7.5\n"
        asf += (
            f"    axis 0 {3 * k} 20 XYZ\n" + (f"    dof {dof}\n    limits (-160.0 20.0)\n" if dof else "") + "  end\n"
        )
    asf += ":hierarchy\n  begin\n    root lfemur rfemur upperback\n    lfemur ltibia\n    ltibia lfoot\n"
    asf += "    rfemur rtibia\n    rtibia rfoot\n    upperback head lhand rhand\n  end\n"
    amc = "#!OML:ASF hand\n:FULLY-SPECIFIED\n:DEGREES\n"
    for frame in (1, 2, 3):
        amc += f"{frame}\nroot 1 17 -2.5 0 {frame}.5 1e-014\n"
        rows = [(name, len(dof.split())) for name, dof in zip(names, dofs, strict=True) if dof]
        amc += "".join(f"{name} " + " ".join(f"{frame * (k + 2)}.25" for k in range(n)) + "\n" for name, n in rows)
    return asf.encode(), amc.encode()


# ------------------------------------------------------------------------------------------------------ mutations

ODD_WORDS = [
    b"0", b"-1", b"1", b"2", b"7", b"1000000", b"99999999999999999999", b"1e308", b"-1e308", b"1e999", b"nan", b"-inf",
    b"1e-320", b"0x10", b"1_0", b".", b"-", b"+", b"1e", b"1,5", b"''", b"\xff\xfe", b"\xc3\xa9", b"{", b"}", b"{}",
    b"\0", b"ROOT", b"JOINT", b"End", b"Site", b"OFFSET", b"CHANNELS", b"MOTION", b"Frames:", b"Frame", b"Time:",
    b"HIERARCHY", b"Xposition", b"Zrotation", b"begin", b"end", b"root", b"dof", b"rx", b"tz", b"l", b"axis", b"ZYX",
    b":bonedata", b":hierarchy", b":root", b":units", b"order", b"length", b"name", b"direction", b"head", b"lfoot",
    b"id", b"null", b"true", b"[]", b'"', b"time [s]", b"[deg]", b"[mm]", b";", b"\t", b"\r", b"\n",
]  # fmt: skip
WORD = re.compile(rb"[^\s,{}\"]+|[{}\",]")


def spoilt(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """One to four changes, half of them of bytes, half of words."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        out = out or bytearray(b"x")
        (_bytes if rng.random() < 0.5 else _words)(out, other, rng)
    return bytes(out)


def _bytes(out: bytearray, other: bytes, rng: random.Random) -> None:
    at, kind = rng.randrange(len(out)), rng.randrange(7)
    length = rng.choice((1, 1, 2, 8, 60, 1000))
    if kind <= 1:
        out[at] = rng.randrange(256)
    elif kind == 2:
        out[at] ^= 1 << rng.randrange(8)
    elif kind == 3:
        del out[at : at + length]
    elif kind == 4:
        out[at:at] = out[at : at + length]
    elif kind == 5:
        del out[at:]
    else:
        start = rng.randrange(len(other))
        out[at:at] = other[start : start + length]


def _words(out: bytearray, other: bytes, rng: random.Random) -> None:
    found = list(WORD.finditer(bytes(out)))
    if not found:
        return
    one, two = sorted(rng.choices(found, k=2), key=lambda m: m.start())
    kind = rng.randrange(6)
    if kind <= 1:
        out[one.start() : one.end()] = rng.choice(ODD_WORDS)
    elif kind == 2:
        del out[one.start() : one.end()]
    elif kind == 3:
        out[one.start() : one.start()] = two.group() + b" "
    elif kind == 4 and one.end() <= two.start():
        out[two.start() : two.end()], out[one.start() : one.end()] = one.group(), two.group()
    else:
        lines = out.splitlines(keepends=True)
        k = rng.randrange(len(lines))
        lines[k : k + 1] = rng.choice(([], [lines[k]] * 2, [rng.choice(lines)]))
        out[:] = b"".join(lines)


def spoilt_archive(members: dict[str, bytes], other: bytes, rng: random.Random) -> bytes:
    """The archive's own bytes, or one of its arrays, or a word of its meta; packed again so that checksums hold."""
    new = dict(members)
    kind = rng.random()
    if kind < 0.4:  # a word of the meta
        text = bytearray(str(np.load(io.BytesIO(members["meta.npy"]))).encode())
        for _ in range(rng.choice((1, 1, 2))):
            text = text or bytearray(b"x")
            (_words if rng.random() < 0.7 else _bytes)(text, other, rng)
        new["meta.npy"] = npy(np.array(bytes(text).decode("latin-1")))
    elif kind < 0.8:  # an array's header or its numbers
        name = rng.choice(sorted(new))
        new[name] = spoilt(new[name], other, rng)
    elif kind < 0.85:
        new.pop(rng.choice(sorted(new)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))) as archive:
        for name, data in new.items():
            archive.writestr(name, data)
    whole = buffer.getvalue()
    return spoilt(whole, other, rng) if kind >= 0.85 else whole


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


# --------------------------------------------------------------------------------------------------------- judges


def judged_bvh(data: bytes, motion: Motion) -> None:
    """Frames and numbers counted by plain regular expressions."""
    text = data.removeprefix(b"\xef\xbb\xbf")
    text = text.replace(b"\r", b"\n") if b"\n" not in text else text
    heading = re.search(rb"(?im)^[ \t]*MOTION[ \t\r]*$\s*Frames\s*:\s*(\S+)\s+Frame\s+Time\s*:\s*(\S+)", text)
    assert heading is not None and len(motion) == int(heading.group(1))
    rest = text[heading.end() :].split()
    channels = sum(int(count) for count in re.findall(rb"(?i)(?<!\S)CHANNELS\s+(\d+)", text[: heading.start()]))
    assert len(rest) == len(motion) * channels and np.isfinite([float(word) for word in rest]).all()
    if len(motion) > 1:
        assert motion.rate == pytest.approx(1.0 / float(heading.group(2)), rel=3e-3)
    names = re.findall(rb"(?i)(?<!\S)(?:ROOT|JOINT)\s", text[: heading.start()])
    assert len(motion.character.segments) <= len(names) + 1


def judged_amc(data: bytes, motion: Motion) -> None:
    text = data.replace(b"\r", b"\n") if b"\n" not in data else data
    words = [line.decode("utf-8", "replace").split() for line in text.split(b"\n")]
    assert len(motion) == sum(len(line) == 1 and line[0].isdigit() for line in words)


def judged_asf(data: bytes, motion: Motion) -> None:
    assert len(motion) == 1 and len(motion.character.segments) <= 1 + len(re.findall(rb"(?i)(?<!\S)begin", data))


def judged_csv(data: bytes, motion: Motion) -> None:
    text = data.replace(b"\r", b"\n") if b"\n" not in data else data
    lines = [line for line in text.split(b"\n")[1:] if line.strip(b"\r\n ")]
    assert len(motion) == len(lines)
    assert motion.poses.shape == (len(lines), motion.character.nq)


def judged_npz(data: bytes, motion: Motion) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        time, poses = (np.load(io.BytesIO(archive.read(f"{name}.npy"))) for name in ("time", "qpos"))
    np.testing.assert_array_equal(time, motion.times)
    assert poses.shape == motion.poses.shape


def judged_gltf(data: bytes, motion: Motion) -> None:
    assert len(motion) >= 1


def fuzzed(
    path: Path,
    make: Callable[[random.Random], bytes],
    judge: Callable[[bytes, Motion], None],
    rounds: int,
    seed: int,
    **options: object,
) -> None:
    rng = random.Random(seed)
    read = 0
    for k in range(rounds):
        if k % 100 == 0:
            faulthandler.dump_traceback_later(600.0, exit=True)  # a hang ends the run and says where
        data = make(rng)
        path.write_bytes(data)
        try:
            motion = cp.read_motion(path, **options)
        except CounterpoiseError as error:
            message = str(error)
            assert isinstance(error, BadFile) and path.name in message and "\n" not in message, (k, message)
            assert len(message) < 700, (k, message)
            if k % 20 == 0:
                with pytest.raises(BadFile, match=re.escape(message)):
                    cp.read_motion(path, **options)
            continue
        except Exception as error:
            raise AssertionError(f"round {k} of seed {seed} ended in {type(error).__name__}: {error}") from error
        read += 1
        assert np.isfinite(motion.poses).all() and (np.diff(motion.times) > 0.0).all()
        assert motion.poses.shape == (len(motion.times), motion.character.nq)
        try:
            judge(data, motion)
        except AssertionError as error:
            raise AssertionError(f"round {k} of seed {seed} was read, and wrongly: {error}") from error
        if read % 10 == 0:
            again = cp.read_motion(path, **options)
            np.testing.assert_array_equal(again.poses, motion.poses)
            np.testing.assert_array_equal(again.times, motion.times)
        if read % 25 == 0:
            motion.write(path.with_name("back.bvh"))
            assert len(cp.read_motion(path.with_name("back.bvh"))) == len(motion)
    faulthandler.cancel_dump_traceback_later()
    assert 0 < read < rounds  # some changes touch nothing that matters


ROUNDS = pytest.mark.parametrize(
    ("rounds", "seed"), [(60, 1), pytest.param(10_000, 2, marks=pytest.mark.slow)], ids=["few", "many"]
)


def of_seeds(seeds: list[bytes]) -> Callable[[random.Random], bytes]:
    return lambda rng: spoilt(rng.choice(seeds), rng.choice(seeds), rng)


@ROUNDS
def test_bvh(tmp_path, rounds, seed):
    fuzzed(tmp_path / "m.bvh", of_seeds(bvh_seeds()), judged_bvh, rounds, seed)


@ROUNDS
def test_amc(tmp_path, rounds, seed):
    asf, amc = acclaim_seeds()
    (tmp_path / "m.asf").write_bytes(asf)
    fuzzed(tmp_path / "m.amc", of_seeds([amc, amc.replace(b"\n", b"\r\n")]), judged_amc, rounds, seed)


@ROUNDS
def test_asf(tmp_path, rounds, seed):
    asf, _ = acclaim_seeds()
    fuzzed(tmp_path / "m.asf", of_seeds([asf, asf.replace(b"\n", b"\r\n")]), judged_asf, rounds, seed)


@ROUNDS
def test_csv(tmp_path, rounds, seed):
    chain = cp.character("chain")
    motion = Motion(chain, [0.0, 0.1, 0.2], np.linspace(0.0, 0.5, 3 * chain.nq).reshape(3, chain.nq))
    motion.write(tmp_path / "m.csv")
    text = (tmp_path / "m.csv").read_bytes()
    seeds = [text, text.replace(b",", b";").replace(b"[rad]", b"[deg]"), text.replace(b",", b"\t")]
    fuzzed(tmp_path / "m.csv", of_seeds(seeds), judged_csv, rounds, seed, character=chain)


@ROUNDS
def test_npz(tmp_path, rounds, seed):
    (tmp_path / "a.bvh").write_bytes(bvh_seeds()[1])
    cp.read_motion(tmp_path / "a.bvh").write(tmp_path / "a.npz")
    whole = (tmp_path / "a.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    fuzzed(tmp_path / "m.npz", lambda rng: spoilt_archive(members, whole, rng), judged_npz, rounds, seed)


@ROUNDS
@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_gltf(tmp_path, suffix, rounds, seed):
    (tmp_path / "a.bvh").write_bytes(bvh_seeds()[1])
    cp.read_motion(tmp_path / "a.bvh").write(tmp_path / f"a{suffix}")
    data = (tmp_path / f"a{suffix}").read_bytes()
    fuzzed(tmp_path / f"m{suffix}", of_seeds([data]), judged_gltf, rounds, seed)
