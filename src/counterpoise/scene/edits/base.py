"""An edit is a value: what it changes in the document, its Python line, its words, and how it is applied."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from counterpoise.errors import BadValue
from counterpoise.scene.contents import MAIN
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.scene import Scene, scene_from_text
from counterpoise.scene.values import plain_value
from counterpoise.spacetime.stunt.lines import Path


@dataclass(frozen=True)
class SceneEdit(ABC):
    """One change of a scene. It is applied by `apply_edit` and changes nothing by itself."""

    @abstractmethod
    def change(self, scene: Scene) -> TomlDocument:
        """Returns the document after the edit. It is checked afterwards, as a whole."""

    def python(self) -> str:
        """Returns the line of Python that does the same."""
        return f"scene = cp.apply_edit(scene, {self.expression()})"

    def expression(self) -> str:
        """Returns the edit itself in Python; what has its default is left out."""
        given = []
        for one in fields(self):
            value = getattr(self, one.name)
            default = one.default if one.default is not MISSING else None
            if one.default_factory is not MISSING:
                default = one.default_factory()
            if (one.default is MISSING and one.default_factory is MISSING) or value != default:
                given.append(f"{one.name}={plain_repr(value)}")
        return f"cp.scene.{type(self).__name__}({', '.join(given)})"

    def words(self) -> str:
        """Returns the edit in a few words, for a menu: "move key"."""
        name = type(self).__name__
        return "".join(f" {c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def plain_repr(value: Any) -> str:
    """Returns a value in Python, without types of numpy."""
    if isinstance(value, SceneEdit):
        return value.expression()
    if isinstance(value, tuple) and any(isinstance(v, SceneEdit) for v in value):
        return f"[{', '.join(plain_repr(v) for v in value)}]"
    if isinstance(value, tuple):
        inner = ", ".join(plain_repr(v) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(plain_value(value, keep_none=True))


def apply_edit(scene: Scene, edit: SceneEdit) -> Scene:
    """Returns the scene after an edit. A scene that would not be valid is an error, with its line."""
    if not isinstance(edit, SceneEdit):
        raise BadValue(f"an edit is a value such as cp.scene.MoveKey(0, 0.5); got {edit!r}")
    return scene_from_text(edit.change(scene).text, scene.folder, scene.source)


def motion_path(scene: Scene, motion: str) -> Path:
    """Returns where the entries of a motion stand; `main` may have none yet."""
    if motion == MAIN:
        return ()
    scene.motion(motion)
    return ("motions", motion)


def item_path(scene: Scene, table: Path, index: int) -> Path:
    """Returns the path of one table of a list, after a look whether it is there."""
    count = len(scene.document.get(table, ()))
    if not (isinstance(index, int) and 0 <= index < count):
        what = table[-1]
        known = f"there are {count}, counted from 0" if count else "there is none"
        raise BadValue(f"no {what} {index!r}: {known}", index=index, count=count)
    return (*table, index)


def given(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the entries that are not None."""
    return {k: v for k, v in entries.items() if v is not None}


def with_entries(document: TomlDocument, table: Path, entries: Mapping[str, Any]) -> TomlDocument:
    """Returns the document with entries of one table set; None removes one."""
    for name, value in entries.items():
        path = (*table, name)
        if value is not None:
            document = document.with_value(path, value)
        elif document.get(path) is not None:
            document = document.without(path)
    return document


def finite(value: float, what: str) -> float:
    """Returns a finite number; `what` names it in the error."""
    number = float(value)
    if not abs(number) < 1e9:
        raise BadValue(f"{what} is a finite number; got {value!r}")
    return number
