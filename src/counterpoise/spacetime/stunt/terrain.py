"""Reads terrain from TOML: one table for each piece, every mistake reported with its line.

[[box]]
center = [1.0, 0.0]
size = [1.0, 2.0]
height = 0.3

[[stairs]]
start = [2.0, 0.0]
steps = 5

[[rough_ground]]
center = [6.0, 0.0]
seed = 3
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue, CounterpoiseError
from counterpoise.spacetime.stunt.reading import Table, open_toml
from counterpoise.terrain import HeightField, Piece, SteppingStones, Terrain, rough_ground
from counterpoise.terrain.description import KINDS

MAKERS: dict[str, Callable[..., Piece]] = {
    **KINDS,
    "rough_ground": rough_ground,
    "stones_in_row": SteppingStones.in_row,
}


def read_terrain(source: str | os.PathLike[str]) -> Terrain:
    """Reads a terrain from a TOML file, or from a TOML text.

    Tables are [[box]], [[ramp]], [[stairs]], [[stepping_stones]], [[stones_in_row]], [[gap]], [[patch]],
    [[height_field]] and [[rough_ground]]; their entries are the arguments of the pieces. A height field may name a
    `file`, .npy or .csv, instead of its `heights`.
    """
    top = open_toml(source, "terrain")
    pieces = read_pieces(top)
    top.done()
    if not pieces:
        raise top.fault(None, f"there is no piece of terrain: write [[box]], or another of {', '.join(MAKERS)}")
    with top.at(None):
        return Terrain(pieces)


def read_pieces(top: Table) -> list[Piece]:
    """Returns the pieces of terrain that a file describes."""
    return [_read_piece(table, kind) for kind in MAKERS for table in top.tables(kind)]


def _read_piece(table: Table, kind: str) -> Piece:
    make, given = MAKERS[kind], {}
    for name in inspect.signature(make).parameters:
        value = table.value(name, "")
        if value is not None:
            given[name] = value
    if make is HeightField:
        file = table.text("file", 'the name of a .npy or .csv file with heights, such as "hills.csv"')
        if (file is None) == ("heights" not in given):
            raise table.fault(None, "a height field has either heights, rows of numbers, or a file with them")
        if file is not None:
            with table.at("file"):
                given["heights"] = _heights_of(table.source.folder / file)
    table.done()
    with table.at(_entry_at_fault(make, given)):
        return make(**given)


def _entry_at_fault(make: Callable[..., Piece], given: dict[str, Any]) -> str | None:
    """Returns the entry that is refused by itself, where there is one; None where all is well or they do not fit."""
    if _is_refused(make, given):
        for name, value in given.items():
            alone = {key: given[key] for key in ("heights", "centers") if key in given} | {name: value}
            if _is_refused(make, alone):
                return name
    return None


def _is_refused(make: Callable[..., Piece], given: dict[str, Any]) -> bool:
    try:
        make(**given)
    except CounterpoiseError:
        return True
    return False


def _heights_of(path: Path) -> Array:
    if not path.is_file():
        raise BadValue(f"no file {str(path)!r}")
    try:
        if path.suffix.lower() == ".npy":
            return np.asarray(np.load(path, allow_pickle=False), np.float64)
        if path.suffix.lower() == ".csv":
            return np.loadtxt(path, delimiter=",", ndmin=2)
    except (ValueError, OSError, EOFError) as error:
        raise BadValue(f"{path.name!r} does not hold rows of numbers: {error}") from None
    raise BadValue(f"heights are read from .npy and .csv files; got {path.name!r}")
