"""Edits of a scene, each a frozen value; `EDITS` lists them by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from counterpoise.errors import BadValue, unknown_name
from counterpoise.scene.edits import contacts, figures, general, keys, motions, paths, physics, ranges
from counterpoise.scene.edits.base import SceneEdit, apply_edit
from counterpoise.scene.edits.python_text import edit_from_python
from counterpoise.scene.values import plain_value

EDITS: dict[str, type[SceneEdit]] = {
    name: found
    for module in (keys, contacts, ranges, motions, figures, physics, paths, general)
    for name, found in vars(module).items()
    if isinstance(found, type) and issubclass(found, SceneEdit) and found is not SceneEdit
}


def read_edit(text: str) -> SceneEdit:
    """Returns the edit that a line of Python describes, such as `MoveKey(2, 0.5)`; it is read, not run."""
    return edit_from_python(text, EDITS)


def edit_to_dict(edit: SceneEdit) -> dict[str, Any]:
    """Returns an edit as plain values that JSON can hold: {"edit": "MoveKey", "key": 0, "time": 0.5, "motion": ...}."""
    values = {one.name: getattr(edit, one.name) for one in fields(edit)}
    if isinstance(edit, general.Together):
        values["edits"] = [edit_to_dict(one) for one in edit.edits]
    return {"edit": type(edit).__name__, **{k: plain_value(v, keep_none=True) for k, v in values.items()}}


def edit_from_dict(data: Mapping[str, Any]) -> SceneEdit:
    """Returns the edit that plain values describe; see `edit_to_dict`. Errors name what is wrong."""
    name = data.get("edit")
    if name not in EDITS:
        raise unknown_name("edit", name, EDITS)
    kind = EDITS[str(name)]
    values = {k: v for k, v in data.items() if k != "edit"}
    known = [one.name for one in fields(kind)]
    for given in values:
        if given not in known:
            raise unknown_name("entry", given, known, str(name))
    if kind is general.Together:
        values["edits"] = tuple(edit_from_dict(one) for one in values.get("edits", ()))
    try:
        return kind(**values)
    except TypeError as error:
        raise BadValue(f"the edit {name!r} is not complete: {error}") from None


__all__ = ["EDITS", "SceneEdit", "apply_edit", "edit_from_dict", "edit_to_dict", "read_edit"]
