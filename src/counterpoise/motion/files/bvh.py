"""BVH (Biovision hierarchy): the text format nearly every animation program reads and writes.

A tree of joints with offsets and channels, then one line of numbers a frame. Rotations are degrees about the joint's
own axes in the order of the channels, R = R_1 R_2 R_3. A position channel replaces that coordinate of the offset; in
files whose positions stay near zero it is added, with a remark. The format has no units and no up axis: see `axes`. The
figure rests without rotations.

Writing is in `bvh_write`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import BadFile, BadValue
from counterpoise.motion.files.axes import into_ours
from counterpoise.motion.files.bvh_write import CHANNELS, FORMAT, write_clip
from counterpoise.motion.files.euler import rotation_of
from counterpoise.motion.files.text import MAX_VALUE, TextFile, decoded, number, shown
from counterpoise.motion.skeleton import MAX_DEPTH, MAX_JOINTS, Clip, Skeleton

MAX_NUMBERS = 60_000_000  # an hour of fifty joints at 120 frames a second: half a gigabyte
_MAX_CHANNELS = 12  # of one joint
_MAX_TREE = 4 << 20  # [bytes] of hierarchy text
_RATE_ERROR = 2e-3  # relative error of a frame time that is still taken as a whole number of frames a second
_SINGLE_POSE_RATE = 30.0  # [1/s] for a file of one frame whose frame time is 0
_MOTION = re.compile(rb"^[ \t]*MOTION[ \t\r]*$", re.MULTILINE | re.IGNORECASE)
_FRAMES = re.compile(rb"\s*Frames\s*:\s*(\S+)[ \t]*\r?\n\s*Frame\s+Time\s*:\s*(\S+)[ \t]*\r?(?:\n|$)", re.IGNORECASE)


# ------------------------------------------------------------------------------------------------------- reading


@dataclass
class _Joint:
    name: str
    parent: int
    line: int
    offset: tuple[float, float, float] | None = None
    offset_text: str = ""
    channels: tuple[str, ...] | None = None
    ends: list[tuple[tuple[float, float, float], str]] = field(default_factory=list)


def read_clip(
    path: str | os.PathLike[str],
    *,
    units: str | float | None = None,
    up: str | None = None,
    forward: str | None = None,
    rate: float | None = None,
    figure: str | None = None,
) -> Clip:
    """Reads a BVH. `units`, `up` and `forward` are guessed if not given, `rate` [1/s] replaces the frame time.

    A file may hold several figures (several ROOTs): `figure` names the root to read.
    """
    text = TextFile(path, "BVH")
    start = _MOTION.search(text.data)
    if start is None:
        if not text.data.lstrip()[:9].upper() == b"HIERARCHY":
            raise BadFile(f"{text.path!r} is not BVH: its first word is not HIERARCHY", path=text.path, line=1)
        raise text.bad(text.line_of(len(text.data)), "the file ends without a line MOTION: it is cut short")
    joints = _read_tree(text, start.start())
    frames, frame_time, at = _read_heading(text, start.end())
    remarks: list[str] = []
    rate = _rate(text, frames, frame_time, rate, at, remarks)
    channels = [joint.channels or () for joint in joints]
    values = _read_values(text, at, frames, channels, joints)
    joints, values = _one_figure(text, joints, values, figure)
    raw = _raw_clip(joints, values, rate, remarks)
    clip, axes = into_ours(raw, units, up, forward, remarks)
    notes: dict[str, Any] = {
        "format": FORMAT,
        "names": tuple(joint.name for joint in joints),
        "channels": tuple(joint.channels or () for joint in joints),
        "offset_text": tuple(joint.offset_text for joint in joints),
        "end_text": tuple(words for joint in joints for _, words in joint.ends),
        "positions": raw.notes["positions"],
        "frame_time": frame_time,
        "rate": rate,
        **axes,
        "remarks": tuple(remarks),
    }
    return replace(clip, name=Path(path).stem, notes=notes)


def _read_tree(text: TextFile, stop: int) -> list[_Joint]:
    """Returns the joints of the hierarchy."""
    if stop > _MAX_TREE:
        raise text.bad(1, f"the hierarchy has {stop >> 20} MiB; no figure needs more than {_MAX_TREE >> 20}")
    words = _Words(text, stop)
    if words.next().upper() != "HIERARCHY":
        raise text.bad(words.line, f"a BVH begins with the word HIERARCHY, not {shown(words.last)}")
    joints: list[_Joint] = []
    open_: list[int] = []  # joints whose braces are open; -1 for an end site
    while (word := words.next()) != "":
        key = word.upper()
        if key in ("ROOT", "JOINT"):
            if (key == "ROOT") == bool(open_):
                raise text.bad(words.line, f"{key} {'inside another joint' if open_ else 'outside any ROOT'}")
            if open_ and open_[-1] < 0:
                raise text.bad(words.line, "a JOINT inside an End Site")
            if len(joints) >= MAX_JOINTS:
                raise text.bad(words.line, f"more than {MAX_JOINTS} joints")
            line = words.line
            name = words.name()
            joints.append(_Joint(name, open_[-1] if open_ else -1, line))
            open_.append(len(joints) - 1)
            if len(open_) > MAX_DEPTH:
                raise text.bad(line, f"joints more than {MAX_DEPTH} deep")
        elif key == "END":
            if not open_ or open_[-1] < 0:
                raise text.bad(words.line, "an End Site outside any joint")
            words.name()
            open_.append(-1)
        elif key == "OFFSET":
            _offset(text, words, joints, open_)
        elif key == "CHANNELS":
            _channels(text, words, joints, open_)
        elif key == "}":
            if not open_:
                raise text.bad(words.line, "a } without its {")
            closed = open_.pop()
            if closed >= 0 and joints[closed].offset is None:
                raise text.bad(words.line, f"joint {shown(joints[closed].name)} has no OFFSET")
        else:
            raise text.bad(words.line, f"{shown(word)} where ROOT, JOINT, End Site, OFFSET, CHANNELS or }} may stand")
    if open_:
        raise text.bad(words.line, f"{len(open_)} braces are never closed")
    if not joints:
        raise text.bad(words.line, "the hierarchy has no ROOT")
    return joints


class _Words:
    """The words of the hierarchy one by one, with braces as words of their own, and the line of the last word."""

    def __init__(self, text: TextFile, stop: int) -> None:
        self._text = text
        self._words = self._all(stop)
        self.line, self.last = 1, ""

    def _all(self, stop: int) -> Iterator[tuple[str, int]]:
        for line, row in self._text.lines():
            if stop <= 0:
                return
            stop -= len(row)
            for word in decoded(row).replace("{", " { ").replace("}", " } ").split():
                yield word, line

    def next(self) -> str:
        self.last, self.line = next(self._words, ("", self.line))
        return self.last

    def name(self) -> str:
        """Returns all words of the line up to the opening brace, which may be on the next line."""
        parts: list[str] = []
        line = self.line
        while (word := self.next()) != "{":
            if word in ("", "}") or self.line != line or len(parts) > 16:
                raise self._text.bad(self.line, f"{shown(word)} where {{ should open a joint")
            parts.append(word)
        name = " ".join(parts)
        if len(name) > 200:
            raise self._text.bad(self.line, f"a joint's name of {len(name)} letters")
        return name or "joint"

    def numbers(self, count: int, what: str) -> tuple[list[float], str]:
        values, words = [], []
        for _ in range(count):
            word = self.next()
            value = number(word)
            if value is None:
                raise self._text.bad(self.line, f"{shown(word)} where {what} needs a number")
            values.append(value)
            words.append(word)
        return values, " ".join(words)


def _offset(text: TextFile, words: _Words, joints: list[_Joint], open_: list[int]) -> None:
    if not open_:
        raise text.bad(words.line, "an OFFSET outside any joint")
    line = words.line
    (x, y, z), written = words.numbers(3, "an OFFSET")
    if open_[-1] < 0:
        joints[open_[-2]].ends.append(((x, y, z), written))
        return
    joint = joints[open_[-1]]
    if joint.offset is not None:
        raise text.bad(line, f"a second OFFSET of joint {shown(joint.name)}")
    joint.offset, joint.offset_text = (x, y, z), written


def _channels(text: TextFile, words: _Words, joints: list[_Joint], open_: list[int]) -> None:
    if not open_ or open_[-1] < 0:
        raise text.bad(words.line, "CHANNELS outside any joint")
    joint = joints[open_[-1]]
    if joint.channels is not None:
        raise text.bad(words.line, f"a second CHANNELS of joint {shown(joint.name)}")
    count = words.next()
    if not (count.isascii() and count.isdigit()) or len(count) > 9 or int(count) > _MAX_CHANNELS:
        raise text.bad(words.line, f"{shown(count)} channels; a joint has 0 to {_MAX_CHANNELS}")
    names = []
    for _ in range(int(count)):
        name = words.next()
        if name.lower() not in CHANNELS:
            raise text.bad(words.line, f"no channel {shown(name)}; they are Xposition ... Zrotation")
        names.append(name)
    places = [name.lower() for name in names if "position" in name.lower()]
    if len(set(places)) != len(places):
        raise text.bad(words.line, f"joint {shown(joint.name)} has one position channel twice")
    joint.channels = tuple(names)


def _read_heading(text: TextFile, at: int) -> tuple[int, str, int]:
    """Returns the number of frames, the frame time as text, and the byte at which the numbers begin."""
    found = _FRAMES.match(text.data, at)
    line = text.line_of(at) + 1
    if found is None:
        raise text.bad(line, "after MOTION come the lines 'Frames: ...' and 'Frame Time: ...'")
    count, seconds = (decoded(group) for group in found.groups())
    line = text.line_of(found.start(1))
    if not (count.isascii() and count.isdigit()) or len(count) > 12:
        raise text.bad(line, f"Frames: {shown(count)} is not a number of frames")
    if int(count) == 0:
        raise text.bad(line, "Frames: 0; there is no movement in this file")
    return int(count), seconds, found.end()


def _rate(text: TextFile, frames: int, written: str, rate: float | None, at: int, remarks: list[str]) -> float:
    """Returns frames a second: 1 / frame time, or the whole number of which the frame time is the rounded inverse."""
    if rate is not None:
        if not (np.isfinite(rate) and rate > 0.0):
            raise BadValue(f"a rate is a positive number of frames per second, not {rate!r}", rate=rate)
        return float(rate)
    seconds = number(written)
    if seconds is None or not 1e-6 <= seconds <= 1e4:
        if seconds == 0.0 and frames == 1:
            remarks.append("frame time 0 of a single pose taken as 1/30 s")
            return _SINGLE_POSE_RATE
        cure = "a time of more than 0 s; if the file is wrong, give read_motion the rate"
        raise text.bad(text.line_of(at - 1), f"Frame Time: {shown(written)} is not {cure}")
    exact, whole = 1.0 / seconds, float(round(1.0 / seconds))
    mantissa, _, exponent = written.lower().partition("e")
    last = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))  # [s], one unit of the last digit
    if whole > 0.0 and abs(1.0 / whole - seconds) <= min(last, _RATE_ERROR * seconds):
        return whole
    return exact


def _read_values(
    text: TextFile, at: int, frames: int, channels: Sequence[Sequence[str]], joints: Sequence[_Joint]
) -> Array:
    """Returns the numbers (frames, channels), after checking that all are there, finite and not too large."""
    width = sum(map(len, channels))
    if width == 0:
        raise text.bad(joints[0].line, "no joint has any channels: nothing moves")
    room = len(text.data) - at
    if frames * width > MAX_NUMBERS:
        raise text.bad(
            text.line_of(at - 1), f"{frames} frames of {width} channels; at most {MAX_NUMBERS} numbers can be read"
        )
    possible = 2 * frames * width <= room + 1 and room <= 64 * frames * width + (1 << 20)
    values = text.numbers(at) if possible else None
    right = values is not None and len(values) == frames * width and bool((np.abs(values) <= MAX_VALUE).all())
    if values is None or not right or text.ragged(at, frames, width):
        raise _wrong_line(text, at, frames, width, channels, joints)
    return values.reshape(frames, width)


def _wrong_line(
    text: TextFile, at: int, frames: int, width: int, channels: Sequence[Sequence[str]], joints: Sequence[_Joint]
) -> BadFile:
    """Returns an error that names the line at which the numbers are wrong."""
    labels = [f"{joints[i].name} {name}" for i, names in enumerate(channels) for name in names]
    line, read = text.line_of(at), 0
    for line, row in text.lines(at, longest=64 * width + 4096):
        words = row.split()
        for k, word in enumerate(words):
            if number(decoded(word)) is None:
                where = labels[k] if k < width else f"number {k + 1}"
                return text.bad(line, f"{shown(decoded(word))} where a finite number should be ({where})")
        if words and len(words) != width:
            many = "few" if len(words) < width else "many"
            return text.bad(line, f"{len(words)} numbers are too {many} for the {width} channels of the hierarchy")
        read += bool(words)
        if read > frames:
            break
    return text.bad(line, f"{read if read <= frames else 'more'} frames where 'Frames:' says {frames}")


def _one_figure(text: TextFile, joints: list[_Joint], values: Array, figure: str | None) -> tuple[list[_Joint], Array]:
    """Returns the joints of one ROOT and their columns."""
    roots = [i for i, joint in enumerate(joints) if joint.parent < 0]
    names = [joints[i].name for i in roots]
    if figure is None and len(roots) == 1:
        return joints, values
    if figure is None:
        listed = ", ".join(f"{joints[i].name!r} (line {joints[i].line})" for i in roots[:8])
        raise text.bad(joints[roots[1]].line, f"{len(roots)} figures: {listed}; give figure=... to read one of them")
    if figure not in names:
        raise BadValue(f"no figure {figure!r} in {text.path!r}; it has {', '.join(names[:12])}", figure=figure)
    first = roots[names.index(figure)]
    last = next((i for i in roots if i > first), len(joints))
    widths = [len(joint.channels or ()) for joint in joints]
    start, stop = sum(widths[:first]), sum(widths[:last])
    chosen = [replace(j, parent=j.parent - first if j.parent >= 0 else -1) for j in joints[first:last]]
    return chosen, values[:, start:stop]


def _raw_clip(joints: Sequence[_Joint], values: Array, rate: float, remarks: list[str]) -> Clip:
    """Returns the movement in the file's own axes and units."""
    f, n = len(values), len(joints)
    offsets = np.array([joint.offset for joint in joints], dtype=np.float64)
    rotations = np.empty((f, n, 4))
    translations = np.empty((f, n, 3))
    translations[:] = offsets
    turning: dict[tuple[int, ...], list[tuple[int, list[int]]]] = {}
    column, placed = 0, []
    for i, joint in enumerate(joints):
        axes: list[int] = []
        columns: list[int] = []
        for name in joint.channels or ():
            kind, axis = CHANNELS[name.lower()]
            if kind == "position":
                translations[:, i, axis] = values[:, column]
                placed.append((i, axis))
            else:
                axes.append(axis)
                columns.append(column)
            column += 1
        turning.setdefault(tuple(axes), []).append((i, columns))
    for order, members in turning.items():
        which = [i for i, _ in members]
        taken = np.array([columns for _, columns in members], dtype=np.int64).reshape(len(members), len(order))
        rotations[:, which] = rotation_of(order, values[:, taken])
    added = _positions_are_added(placed, offsets, translations)
    if added:
        remarks.append("positions are near zero, offsets are not: positions are added to offsets")
        for i, axis in placed:
            if i:
                translations[:, i, axis] += offsets[i, axis]
    ends = tuple((i, end) for i, joint in enumerate(joints) for end, _ in joint.ends)
    names = tuple(joint.name for joint in joints)
    still = np.tile(spatial.IDENTITY, (n, 1))
    skeleton = Skeleton(names, tuple(joint.parent for joint in joints), offsets, still, ends)
    return Clip(skeleton, rate, rotations, translations, notes={"positions": "added" if added else "instead"})


def _positions_are_added(placed: Sequence[tuple[int, int]], offsets: Array, translations: Array) -> bool:
    """Returns whether joints below the root have positions near zero rather than near their offsets."""
    inner = [(i, axis) for i, axis in placed if i and offsets[i, axis] != 0.0]
    if not inner:
        return False
    from_zero = sum(float(np.abs(translations[:, i, axis]).mean()) for i, axis in inner)
    from_offset = sum(float(np.abs(translations[:, i, axis] - offsets[i, axis]).mean()) for i, axis in inner)
    return from_zero < 0.5 * from_offset


__all__ = ["read_clip", "write_clip"]
