"""CSV: a character's joint coordinates as a table for spreadsheets.

One header line, then one line a frame. Columns are `time [s]` and the coordinates of every joint, units in brackets:
`root.x [m]`, `root.qw`, `knee_left [rad]`, `ankle_left.pitch [rad]`, `shoulder_left.qx`; quaternions are (w, x, y, z),
parent from child. Numbers are written with all their digits. The reader accepts columns in any order, commas,
semicolons or tabs between them, and other units (deg, mm, cm, ms).
"""

from __future__ import annotations

import csv
import os
from array import array
from math import pi
from pathlib import Path

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.errors import BadFile, CounterpoiseError, nearest_name
from counterpoise.files import one_line, whole_file
from counterpoise.motion.files.text import TextFile, decoded, number, shown
from counterpoise.motion.motion import Motion

_UNITS = {
    "s": {"s": 1.0, "ms": 1e-3},
    "m": {"m": 1.0, "cm": 1e-2, "mm": 1e-3},
    "rad": {"rad": 1.0, "deg": pi / 180.0},
    "": {"": 1.0},
}
_QUATERNION = ("qw", "qx", "qy", "qz")


def columns_of(character: Character) -> list[tuple[str, str]]:
    """Returns (name, unit) of every coordinate of q, in order."""
    out: list[tuple[str, str]] = []
    for joint in character.joints:
        if joint.kind == "free":
            out += [(f"{joint.name}.{axis}", "m") for axis in "xyz"]
        if joint.kind in ("free", "ball"):
            out += [(f"{joint.name}.{part}", "") for part in _QUATERNION]
        elif joint.kind == "universal":
            out += [(f"{joint.name}.{part.removeprefix(joint.name).strip('_')}", "rad") for part in joint.parts]
        else:
            out.append((joint.name, "m" if joint.kind == "slide" else "rad"))
    return out


def write_table(motion: Motion, path: str | os.PathLike[str]) -> None:
    """Writes the motion's frames, completely or not at all."""
    header = ["time [s]", *(f"{name} [{unit}]" if unit else name for name, unit in columns_of(motion.character))]
    rows = np.column_stack([motion.times, motion.poses])
    try:
        with whole_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(",".join(_quoted(name) for name in header) + "\n")
            for row in rows.tolist():
                stream.write(",".join(map(repr, row)) + "\n")
    except OSError as error:
        raise BadFile(f"cannot write {str(path)!r}: {one_line(error)}", path=str(path)) from error


def read_table(path: str | os.PathLike[str], character: Character) -> Motion:
    """Reads a table of this character; anything wrong in it raises BadFile with line and column."""
    text = TextFile(path, "CSV")
    end = text.data.find(b"\n")
    head = text.data if end < 0 else text.data[:end]
    if not head.strip():
        raise text.bad(1, "the first line is empty; it should name the columns")
    names = [("time", "s"), *columns_of(character)]
    if len(head) > 400 * (len(names) + 8):
        raise text.bad(1, f"a header of {len(head)} bytes")
    header = decoded(head).strip("\r\n")
    mark = max(",;\t", key=header.count)
    try:
        cells = [cell.strip() for cell in next(csv.reader([header], delimiter=mark))]
    except csv.Error as error:
        raise text.bad(1, f"not a row of names: {one_line(error)}") from None
    columns, scales = _header(text, cells, names, character)
    values = _values(text, len(head) + 1, mark, cells)
    given = values[:, columns] * scales
    try:
        return Motion(character, given[:, 0], given[:, 1:], name=Path(path).stem)
    except CounterpoiseError as error:
        raise BadFile(f"{str(path)!r} holds no valid motion: {one_line(error)}", path=str(path)) from error


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name


def _header(
    text: TextFile, cells: list[str], names: list[tuple[str, str]], character: Character
) -> tuple[list[int], Array]:
    """Returns which column holds each coordinate, and the factor to our units."""
    known = dict(names)
    found: dict[str, tuple[int, float]] = {}
    for k, cell in enumerate(cells, start=1):
        name, _, rest = cell.partition("[")
        name, unit = name.strip(), rest.rstrip("] ").strip()
        if name not in known:
            guess = nearest_name(name, known)
            cure = f"did you mean {guess!r}?" if guess else f"{character.name!r} has no such coordinate"
            raise text.bad(1, f"column {k} is {shown(name)}; {cure}")
        if name in found:
            raise text.bad(1, f"column {k}: {shown(name)} is there twice")
        units = _UNITS[known[name]]
        if unit and unit not in units:
            known_units = ", ".join(u for u in units if u)
            cure = f": {known_units}" if known_units else ", which has none"
            raise text.bad(1, f"column {k}: {shown(unit)} is not a unit of {shown(name)}{cure}")
        found[name] = (k - 1, units.get(unit, 1.0))
    if missing := [name for name, _ in names if name not in found]:
        shown_few = ", ".join(missing[:6]) + (", ..." if len(missing) > 6 else "")
        raise text.bad(1, f"{len(missing)} columns of {character.name!r} are missing: {shown_few}")
    return [found[name][0] for name, _ in names], np.array([found[name][1] for name, _ in names])


def _values(text: TextFile, start: int, mark: str, header: list[str]) -> Array:
    """Returns the numbers (frames, columns); raises BadFile with line and column of the first wrong one."""
    numbers = array("d")
    for line, row in text.lines(start, longest=64 * len(header) + 4096):
        words = decoded(row).strip("\r\n ")
        if not words:
            continue
        cells = words.split(mark)
        if len(cells) != len(header):
            raise text.bad(line, f"{len(cells)} cells for {len(header)} columns")
        for k, cell in enumerate(cells):
            value = number(cell.strip().strip('"'))
            if value is None:
                raise text.bad(line, f"column {k + 1} ({header[k]}): {shown(cell.strip())} is not a finite number")
            numbers.append(value)
    if not numbers:
        raise text.bad(2, "a header and no frames")
    return np.frombuffer(numbers, dtype=np.float64).reshape(-1, len(header))


__all__ = ["columns_of", "read_table", "write_table"]
