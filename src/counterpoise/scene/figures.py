"""Reads the characters of a scene and the edits that changed them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.editing import (
    Oval,
    add_segment,
    mirror_limb,
    remove_segment,
    rename,
    reroot,
    set_angle,
    set_feet,
    set_hands,
    set_length,
    set_limit_side,
    set_limits,
    set_mass,
    set_shape,
)
from counterpoise.character.kept import kept_with_character
from counterpoise.character.rescale import rescaled
from counterpoise.errors import BadValue, unknown_name
from counterpoise.scene.contents import MAIN, FigureEdit, SceneCharacter
from counterpoise.spacetime.stunt.characters import read_character
from counterpoise.spacetime.stunt.reading import Table, is_number

FIGURE_EDITS: dict[str, Callable[..., Character]] = {
    f.__name__: f
    for f in (
        add_segment, remove_segment, set_length, set_limits, set_limit_side, set_angle, set_mass, set_shape, set_feet,
        set_hands, rename, mirror_limb, reroot,
    )
}  # fmt: skip
FIGURE_EDITS["rescale"] = rescaled  # factors by segment, by side or by group ("arms", "legs", "all")
_ANGLES = ("angle",)  # written in degrees


def read_characters(top: Table) -> dict[str, SceneCharacter]:
    """Returns the characters of a scene by name: `main`, and those of the tables [characters.NAME]."""
    edits = [_read_edit(table, i) for i, table in enumerate(top.tables("edit"))]
    bases = {MAIN: (read_character(top), _source(top))}
    named = top.table("characters", "[characters]")
    for name in named.data if named is not None else ():
        assert named is not None
        if name == MAIN:
            raise named.fault(name, f"{MAIN!r} is the character at the top of the file: give this one another name")
        bases[name] = _named(named, name)
    for owner, _, table in edits:
        if owner not in bases:
            with table.at("character"):
                raise unknown_name("character of the scene", owner, bases)
    out = {}
    for name, (base, source) in bases.items():
        mine = [(edit, table) for owner, edit, table in edits if owner == name]
        out[name] = SceneCharacter(name, source, tuple(e for e, _ in mine), base, _edited(base, mine))
    return out


def _named(tables: Table, name: str) -> tuple[Character, str]:
    """Reads [characters.NAME]: the same entries as [character]."""
    value = tables.value(name, "a table")
    if not isinstance(value, dict):
        raise tables.fault(name, f"a character is a table: write [characters.{name}] and its name below; got {value!r}")
    holder = _Renamed(value, (*tables.path, name), tables)
    return read_character(holder), _source(holder)


class _Renamed(Table):
    """A table that reads as [character] although it is written elsewhere."""

    def __init__(self, value: dict[str, Any], path: tuple[str | int, ...], above: Table) -> None:
        super().__init__({"character": value}, path[:-1], "the file", above.source)
        self._inner = Table(value, path, f"[{'.'.join(str(p) for p in path)}]", above.source)

    def table(self, key: str, label: str) -> Table | None:
        self.known.append(key)
        return self._inner


def _source(top: Table) -> str:
    value = top.data.get("character", "human")
    return str(value if isinstance(value, str) else value.get("name", value.get("file", "")))


def _read_edit(table: Table, index: int) -> tuple[str, FigureEdit, Table]:
    kind = table.text("kind", f"one of {', '.join(FIGURE_EDITS)}", required=True, choices=tuple(FIGURE_EDITS))
    assert kind is not None
    owner = table.text("character", "a character of the scene") or MAIN
    entries = {}
    for name in list(inspect.signature(FIGURE_EDITS[kind]).parameters)[1:]:
        value = table.value(name, "")
        if value is not None:
            entries[name] = value
    table.label = f"this [[edit]] of kind {kind!r}"
    table.done()
    return owner, FigureEdit(kind, entries, index), table


def _edited(base: Character, edits: list[tuple[FigureEdit, Table]]) -> Character:
    character = base
    for edit, table in edits:
        with table.at(None):
            try:
                character = edited_once(character, edit.kind, json.dumps(edit.entries))
            except TypeError as error:
                raise BadValue(f"this edit {edit.kind!r} is not complete: {error}") from None
    return character


@kept_with_character
def edited_once(character: Character, kind: str, entries: str) -> Character:
    """Returns the character with one edit; entries as JSON, so that equal edits are made once."""
    given: dict[str, Any] = json.loads(entries)
    for name in _ANGLES:
        if is_number(given.get(name)):
            given[name] = float(np.radians(given[name]))
    if "limits" in given:
        joint = given.get("joint", "hinge") if kind == "add_segment" else character.joint(str(given["joint"])).kind
        given["limits"] = limits_from(given["limits"], joint)
    return FIGURE_EDITS[kind](character, **given)


def limits_from(value: Any, kind: str) -> Any:
    """Returns limits as the editing functions take them from limits as they are written: degrees, of a slide metres."""
    if value == "none":
        return None
    if kind == "ball":
        if not isinstance(value, dict):
            raise BadValue(
                "the limits of a ball joint are { forward, back, side, twist = [low, high] } in degrees; "
                f"got {value!r}"
            )
        wrong = set(value) - {"forward", "back", "side", "twist"}
        if wrong or "forward" not in value:
            raise unknown_name("limit of a ball joint", next(iter(wrong), "?"), ("forward", "back", "side", "twist"))
        swings: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
        return Oval(**swings)
    try:
        numbers = np.asarray(value, float)
    except (TypeError, ValueError):
        raise BadValue(f'limits are [low, high] in degrees (of a slide in metres), or "none"; got {value!r}') from None
    turned = numbers if kind == "slide" else np.radians(numbers)
    if kind == "universal":
        return tuple(tuple(row) for row in turned.tolist()) if turned.ndim == 2 else value
    return tuple(turned.tolist()) if turned.ndim == 1 else value
