"""Acclaim: a skeleton (.asf) and, in another file, its motion (.amc), as the CMU database has them; read only.

Every bone has a direction and a length in the world at rest, an axis frame C, and up to six degrees of freedom. Its
joint is where its parent's bone ends; with M the rotation of its values about the axes of C in the order the file
names (XYZ: first x, M = Rz Ry Rx), the joint turns by C M C^-1 (Lander 1998, Working with Motion Capture File Formats).
The figure rests without rotations, as a BVH does.

Lengths are in units of 1 inch / `length`: 0.45 in the database, 0.056444 m. AMC has no frame rate; that of the database
is 120 a second.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import BadFile, BadValue, nearest_name
from counterpoise.motion.files.axes import INCH, into_ours, likely_height
from counterpoise.motion.files.euler import rotation_of
from counterpoise.motion.files.text import MAX_VALUE, TextFile, decoded, number, shown
from counterpoise.motion.skeleton import MAX_DEPTH, MAX_JOINTS, Clip, Skeleton

FORMAT = "asf"
USUAL_RATE = 120.0  # [1/s]
_DOFS = ("tx", "ty", "tz", "rx", "ry", "rz", "l")
_MAX_SKELETON = 4 << 20  # [bytes]
_PLAUSIBLE_HEIGHT = (0.5, 2.5)  # [m] of a figure whose `length` is read in inches


@dataclass
class _Bone:
    name: str
    line: int
    direction: Array = field(default_factory=lambda: np.zeros(3))
    length: float = 0.0
    axis: Array = field(default_factory=lambda: np.zeros(3))  # in the file's angle unit
    order: str = "xyz"  # of rotations; the first is done first
    dofs: tuple[str, ...] = ()
    position: Array = field(default_factory=lambda: np.zeros(3))  # of the root


@dataclass
class _Figure:
    bones: list[_Bone]  # root first, parents before children
    parents: list[int]
    inches: float  # a unit of length is 1 / inches inch
    degrees: bool
    name: str


def read_clip(
    path: str | os.PathLike[str],
    *,
    skeleton: str | os.PathLike[str] | None = None,
    rate: float | None = None,
    units: str | float | None = None,
    up: str | None = None,
    forward: str | None = None,
) -> Clip:
    """Reads an AMC with its skeleton: the `skeleton` given, or the .asf of the same name or subject in its folder."""
    remarks: list[str] = []
    found = Path(skeleton) if skeleton is not None else _beside(Path(path))
    if skeleton is None:
        remarks.append(f"skeleton found beside it: {found.name}")
    figure = _read_skeleton(TextFile(found, "ASF", _MAX_SKELETON))
    if rate is None:
        rate = USUAL_RATE
        remarks.append(f"AMC has no rate; {rate:g} frames a second, as in the CMU database")
    elif not (np.isfinite(rate) and rate > 0.0):
        raise BadValue(f"a rate is a positive number of frames per second, not {rate!r}", rate=rate)
    values, degrees = _read_frames(TextFile(path, "AMC"), figure)
    return _finished(figure, values, degrees, float(rate), Path(path).stem, (units, up, forward), remarks)


def read_skeleton_clip(
    path: str | os.PathLike[str],
    *,
    units: str | float | None = None,
    up: str | None = None,
    forward: str | None = None,
) -> Clip:
    """Reads an ASF alone: one frame, the figure at rest."""
    figure = _read_skeleton(TextFile(path, "ASF", _MAX_SKELETON))
    root = figure.bones[0]
    resting = [[root.position["xyz".index(dof[1])] if dof[0] == "t" else 0.0 for dof in root.dofs]]
    return _finished(figure, {0: np.array(resting)}, figure.degrees, 30.0, Path(path).stem, (units, up, forward), [])


def _beside(motion: Path) -> Path:
    """Returns the skeleton of a motion: 02_01.amc -> 02_01.asf, 02.asf, or the only .asf of the folder."""
    folder = motion.parent
    try:
        there = sorted(p for p in folder.iterdir() if p.suffix.lower() == ".asf")
    except OSError:
        there = []
    stems = {p.stem.lower(): p for p in there}
    pieces = motion.stem.lower().split("_")
    for end in range(len(pieces), 0, -1):
        if (stem := "_".join(pieces[:end])) in stems:
            return stems[stem]
    if not motion.is_file():
        raise BadFile(f"no file {str(motion)!r}", path=str(motion))
    if len(there) == 1:
        return there[0]
    raise BadFile(
        f"{str(motion)!r} needs its skeleton, and there is no {motion.stem}.asf or {pieces[0]}.asf in its folder; "
        "give skeleton='....asf'",
        path=str(motion),
    )


# ------------------------------------------------------------------------------------------------------ skeleton


def _lines(text: TextFile) -> Iterator[tuple[int, list[str]]]:
    """Yields (line, words) of every line that is neither empty nor a comment."""
    for line, row in text.lines(longest=4096):
        words = decoded(row).split()
        if words and not words[0].startswith("#"):
            yield line, words


def _read_skeleton(text: TextFile) -> _Figure:
    section, bone = "", None
    inches, degrees, name = 1.0, True, ""
    root = _Bone("root", 1, order="xyz", dofs=("tx", "ty", "tz", "rx", "ry", "rz"))
    bones: dict[str, _Bone] = {"root": root}
    children: dict[str, list[str]] = {}
    line = 1
    for line, words in _lines(text):
        key = words[0].lower()
        if key.startswith(":"):
            if bone is not None:
                raise text.bad(line, f"bone {shown(bone.name)} has no end")
            section = key
            if section == ":name":
                name = " ".join(words[1:])
        elif section == ":units":
            if key == "length":
                inches = _numbers(text, line, words, 1)[0]
                if not 1e-6 < inches < 1e6:
                    raise text.bad(line, f"a length unit of {inches:g}")
            elif key == "angle":
                degrees = not words[-1].lower().startswith("rad")
        elif section == ":root":
            _root_line(text, line, words, root)
        elif section == ":bonedata":
            bone = _bone_line(text, line, words, bone, bones)
        elif section == ":hierarchy" and key not in ("begin", "end"):
            _hang(text, line, words, bones, children)
    if bone is not None:
        raise text.bad(line, f"bone {shown(bone.name)} has no end: the file is cut short")
    if section == "" or len(bones) == 1:
        raise text.bad(line, "no :bonedata: this is not an ASF skeleton, or it is cut short")
    if not children:
        raise text.bad(line, "no :hierarchy: the file is cut short")
    return _tree(text, line, bones, children, inches, degrees, name)


def _numbers(text: TextFile, line: int, words: list[str], count: int) -> list[float]:
    if len(words) < count + 1:
        raise text.bad(line, f"{words[0]} needs {count} numbers; {len(words) - 1} are there")
    values = [number(word) for word in words[1 : count + 1]]
    for word, value in zip(words[1:], values, strict=False):
        if value is None:
            raise text.bad(line, f"{shown(word)} where {words[0]} needs a number")
    return [value for value in values if value is not None]


def _order(text: TextFile, line: int, word: str) -> str:
    order = word.lower()
    if sorted(order) != ["x", "y", "z"]:
        raise text.bad(line, f"{shown(word)} is not an order of axes such as XYZ")
    return order


def _dofs(text: TextFile, line: int, words: list[str]) -> tuple[str, ...]:
    dofs = tuple(word.lower() for word in words)
    for dof in dofs:
        if dof not in _DOFS or dofs.count(dof) > 1:
            raise text.bad(line, f"{shown(dof)} is not a degree of freedom (tx, ty, tz, rx, ry, rz), or is there twice")
    if "l" in dofs:
        raise text.bad(line, "a bone whose length changes (dof l) cannot be read")
    return dofs


def _root_line(text: TextFile, line: int, words: list[str], root: _Bone) -> None:
    key = words[0].lower()
    if key == "order":
        root.dofs = _dofs(text, line, words[1:])
    elif key == "axis":
        root.order = _order(text, line, words[-1])
    elif key == "position":
        root.position = np.array(_numbers(text, line, words, 3))
    elif key == "orientation":
        root.axis = np.array(_numbers(text, line, words, 3))


def _bone_line(
    text: TextFile, line: int, words: list[str], bone: _Bone | None, bones: dict[str, _Bone]
) -> _Bone | None:
    key = words[0].lower()
    if key == "begin":
        if bone is not None:
            raise text.bad(line, f"bone {shown(bone.name)} has no end")
        return _Bone("", line)
    if bone is None:
        raise text.bad(line, f"{shown(words[0])} outside begin ... end")
    if key == "end":
        if not bone.name or bone.name in bones:
            raise text.bad(line, f"bone {shown(bone.name)} has no name, or the name of another bone")
        if len(bones) > MAX_JOINTS:
            raise text.bad(line, f"more than {MAX_JOINTS} bones")
        if np.abs(bone.direction * bone.length).max() > MAX_VALUE:
            raise text.bad(line, f"bone {shown(bone.name)} is {bone.length:g} times {bone.direction.tolist()} long")
        bones[bone.name] = bone
        return None
    if key == "name":
        bone.name = " ".join(words[1:])[:200]
    elif key == "direction":
        bone.direction = np.array(_numbers(text, line, words, 3))
    elif key == "length":
        bone.length = _numbers(text, line, words, 1)[0]
    elif key == "axis":
        bone.axis = np.array(_numbers(text, line, words, 3))
        if len(words) > 4:
            bone.order = _order(text, line, words[4])
    elif key == "dof":
        bone.dofs = _dofs(text, line, words[1:])
    return bone


def _hang(text: TextFile, line: int, words: list[str], bones: dict[str, _Bone], children: dict[str, list[str]]) -> None:
    for word in words:
        if word not in bones:
            guess = nearest_name(word, bones)
            raise text.bad(line, f"no bone {shown(word)}" + (f"; did you mean {guess!r}?" if guess else ""))
    children.setdefault(words[0], []).extend(words[1:])


def _tree(
    text: TextFile,
    line: int,
    bones: dict[str, _Bone],
    children: dict[str, list[str]],
    inches: float,
    degrees: bool,
    name: str,
) -> _Figure:
    """Returns the bones in depth-first order, after checking that each is below the root exactly once."""
    order, parents, depths, seen = [], [], [], set()
    todo = [("root", -1, 0)]
    while todo:
        at, parent, depth = todo.pop()
        if at in seen or depth > MAX_DEPTH:
            why = "is in two places of the hierarchy" if at in seen else f"is more than {MAX_DEPTH} deep"
            raise text.bad(line, f"bone {shown(at)} {why}")
        seen.add(at)
        order.append(bones[at])
        parents.append(parent)
        depths.append(depth)
        todo += [(child, len(order) - 1, depth + 1) for child in reversed(children.get(at, []))]
    if loose := [bone for bone in bones if bone not in seen]:
        raise text.bad(bones[loose[0]].line, f"bone {shown(loose[0])} is not in the hierarchy")
    return _Figure(order, parents, inches, degrees, name)


# -------------------------------------------------------------------------------------------------------- motion


def _read_frames(text: TextFile, figure: _Figure) -> tuple[dict[int, Array], bool]:
    """Returns the values (frames, dofs) of every bone that has any, and whether angles are degrees."""
    place = {bone.name: k for k, bone in enumerate(figure.bones)}
    widths = [len(bone.dofs) for bone in figure.bones]
    rows = [array("d") for _ in figure.bones]
    degrees, frames, last, line = figure.degrees, 0, None, 1
    for line, words in _lines(text):
        key = words[0]
        if key.startswith(":"):
            if key.upper() == ":RADIANS":
                degrees = False
            elif key.upper() == ":DEGREES":
                degrees = True
            continue
        if len(words) == 1 and key.isascii() and key.isdigit() and len(key) < 12:
            if last is not None and int(key) != last + 1:
                raise text.bad(line, f"frame {key} follows frame {last}")
            _check_frame(text, line, figure, rows, frames)
            last, frames = int(key), frames + 1
            continue
        k = place.get(key)
        if k is None:
            guess = nearest_name(key, place)
            raise text.bad(
                line, f"no bone {shown(key)} in the skeleton" + (f"; did you mean {guess!r}?" if guess else "")
            )
        if len(words) - 1 != widths[k] or widths[k] == 0:
            raise text.bad(line, f"{len(words) - 1} values of bone {key!r}, which has {widths[k]} degrees of freedom")
        if len(rows[k]) >= frames * widths[k]:
            where = "before the first frame number" if frames == 0 else "twice in one frame"
            raise text.bad(line, f"bone {key!r} is there {where}")
        values = [number(word) for word in words[1:]]
        if None in values:
            raise text.bad(line, f"{shown(words[1 + values.index(None)])} where bone {key!r} needs a finite number")
        rows[k].extend(value for value in values if value is not None)
    if frames == 0:
        raise text.bad(line, "no frames: this is not an AMC, or it is cut short")
    _check_frame(text, line, figure, rows, frames)
    if not rows[0]:
        raise text.bad(line, "the root has no values")
    return {k: np.frombuffer(values).reshape(frames, widths[k]) for k, values in enumerate(rows) if values}, degrees


def _check_frame(text: TextFile, line: int, figure: _Figure, rows: list[array[float]], frames: int) -> None:
    """Raises BadFile unless the frame that ends here has every bone that moves."""
    for k, values in enumerate(rows):
        if values and len(values) != frames * len(figure.bones[k].dofs):
            raise text.bad(line, f"the frame that ends here leaves out bone {figure.bones[k].name!r}")


def _finished(
    figure: _Figure,
    values: dict[int, Array],
    degrees: bool,
    rate: float,
    name: str,
    given: tuple[str | float | None, str | None, str | None],  # units, up, forward
    remarks: list[str],
) -> Clip:
    bones, parents = figure.bones, figure.parents
    f, n = len(values[0]), len(bones)
    reach = np.array([bone.direction * bone.length for bone in bones])
    offsets = np.array([reach[parent] if parent >= 0 else np.zeros(3) for parent in parents])
    offsets[0] = bones[0].position
    rotations = np.empty((f, n, 4))
    rotations[:] = spatial.IDENTITY
    translations = np.empty((f, n, 3))
    translations[:] = offsets
    for k, rows in values.items():
        bone = bones[k]
        frame = _turn(bone.order, bone.axis[None], figure.degrees)[0]
        angles, shift = np.zeros((f, 3)), np.zeros((f, 3))
        for column, dof in enumerate(bone.dofs):
            (angles if dof[0] == "r" else shift)[:, "xyz".index(dof[1])] = rows[:, column]
        M = _turn(bone.order, angles, degrees)
        rotations[:, k] = spatial.multiply(spatial.multiply(frame, M), spatial.conjugate(frame))
        if k == 0:
            translations[:, 0] = shift
        else:
            translations[:, k] += spatial.rotate(frame, shift)
    leaves = sorted(set(range(n)) - set(parents))
    ends = tuple((k, (float(reach[k][0]), float(reach[k][1]), float(reach[k][2]))) for k in leaves if reach[k].any())
    still = np.tile(spatial.IDENTITY, (n, 1))
    skeleton = Skeleton(tuple(bone.name for bone in bones), tuple(parents), offsets, still, ends)
    raw = Clip(skeleton, rate, rotations, translations)
    units, up, forward = given
    if units is None:
        units = _units(raw, figure, up, remarks)
    clip, axes = into_ours(raw, units, up, forward, remarks)
    notes: dict[str, Any] = {
        "format": FORMAT,
        "names": skeleton.names,
        "subject": figure.name,
        "rate": rate,
        **axes,
        "remarks": tuple(remarks),
    }
    return replace(clip, name=name, notes=notes)


def _turn(order: str, angles: Array, degrees: bool) -> Array:
    """Returns the rotations (f, 4) of angles (f, 3) about x, y, z, done in this order about fixed axes."""
    axes = ["xyz".index(letter) for letter in reversed(order)]
    chosen = angles[:, axes]
    return rotation_of(axes, chosen if degrees else np.degrees(chosen))


def _units(raw: Clip, figure: _Figure, up: str | None, remarks: list[str]) -> float | None:
    """Returns metres a unit by the file's `length`; None if that gives an implausible height."""
    metres = INCH / figure.inches
    height = likely_height(raw, up) * metres
    if _PLAUSIBLE_HEIGHT[0] <= height <= _PLAUSIBLE_HEIGHT[1]:
        remarks.append(f"a unit is 1 inch / {figure.inches:g} ({metres:.6g} m): the figure is {height:.2f} m tall")
        return metres
    remarks.append(f"length {figure.inches:g} in inches would make the figure {height:.3g} m tall")
    return None


__all__ = ["read_clip", "read_skeleton_clip"]
