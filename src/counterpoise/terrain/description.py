"""Terrain as plain values: what is written into recordings, and the kinds of pieces by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from counterpoise.errors import BadValue, unknown_name
from counterpoise.terrain.height_field import HeightField
from counterpoise.terrain.pieces import Box, Gap, Patch, Piece, Ramp, Stairs, SteppingStones
from counterpoise.terrain.terrain import Terrain

KINDS: dict[str, type[Piece]] = {
    "box": Box,
    "ramp": Ramp,
    "stairs": Stairs,
    "stepping_stones": SteppingStones,
    "gap": Gap,
    "patch": Patch,
    "height_field": HeightField,
}


def describe_terrain(terrain: Terrain) -> list[dict[str, Any]]:
    """Returns one table of plain values for each piece; `terrain_from_description` makes the same terrain of them."""
    names = {kind: name for name, kind in KINDS.items()}
    assert not isinstance(terrain.pieces, Piece)
    return [
        {"kind": names[type(piece)], **{f.name: _plain(getattr(piece, f.name)) for f in fields(piece)}}  # type: ignore[arg-type]
        for piece in terrain.pieces
    ]


def terrain_from_description(tables: Sequence[Mapping[str, Any]]) -> Terrain:
    """Returns the terrain of tables as `describe_terrain` makes them."""
    pieces = []
    for table in tables:
        values = dict(table)
        kind = values.pop("kind", None)
        if kind not in KINDS:
            raise unknown_name("kind of terrain", kind, KINDS)
        try:
            pieces.append(KINDS[kind](**values))
        except TypeError as error:
            raise BadValue(f"a piece of terrain of kind {kind!r} is damaged: {error}") from error
    return Terrain(pieces)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
