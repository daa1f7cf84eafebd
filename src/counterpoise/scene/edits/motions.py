"""Edits of whole motions: add, remove, retime, another duration, what physics does with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from counterpoise.errors import BadValue
from counterpoise.scene.contents import MAIN
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.edits.base import SceneEdit, finite, given, motion_path
from counterpoise.scene.scene import Scene
from counterpoise.spacetime.stunt.lines import Path
from counterpoise.spacetime.stunt.reading import is_number


@dataclass(frozen=True)
class AddMotion(SceneEdit):
    """A new motion of keys, [motions.NAME], empty."""

    name: str
    character: str = MAIN
    duration: float | None = None  # [s]
    physics: str | None = None  # optimize, check or none

    def change(self, scene: Scene) -> TomlDocument:
        _check_new(scene, self.name)
        entries = given({"character": self.character, "duration": self.duration, "physics": self.physics})
        return scene.document.with_new_table(("motions", self.name), entries)


@dataclass(frozen=True)
class AddClip(SceneEdit):
    """A motion file beside the scene as a motion; `start` and `end` are the part of it that is used [s]."""

    name: str
    file: str  # beside the scene
    character: str = MAIN
    start: float | None = None  # [s]
    end: float | None = None  # [s]
    physics: str | None = None  # fix, check or none

    def change(self, scene: Scene) -> TomlDocument:
        _check_new(scene, self.name)
        entries = given({
            "clip": self.file, "character": self.character, "from": self.start, "to": self.end,
            "physics": self.physics,
        })  # fmt: skip
        return scene.document.with_new_table(("motions", self.name), entries)


@dataclass(frozen=True)
class RemoveMotion(SceneEdit):
    """The scene without a motion; of `main`, without its keys, contacts and wishes. Files stay where they are."""

    name: str

    def change(self, scene: Scene) -> TomlDocument:
        scene.motion(self.name)
        if self.name != MAIN:
            return scene.document.without(("motions", self.name))
        document = scene.document
        for entry in ("key", "contact", "wish", "fine", "moments", "reference", "clip", "from", "to"):
            document = document.without((entry,)) if document.get((entry,)) is not None else document
        return document


@dataclass(frozen=True)
class SetDuration(SceneEdit):
    """Another duration of a motion [s]; what lies after it is not moved."""

    duration: float  # [s]
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        path = (*motion_path(scene, self.motion), "duration")
        return scene.document.with_value(path, finite(self.duration, "a duration [s]"))


@dataclass(frozen=True)
class SetPhysics(SceneEdit):
    """What running the scene does with a motion: optimize, fix, check or none."""

    physics: str
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.with_value((*motion_path(scene, self.motion), "physics"), self.physics)


@dataclass(frozen=True)
class Retime(SceneEdit):
    """All times of a motion from `start` on, stretched by a factor about `start`: keys, contacts, wishes, moments.

    With `end`, only the times up to it are stretched; later ones move by what the range has grown.
    """

    factor: float
    start: float = 0.0  # [s]
    motion: str = MAIN
    end: float | None = None  # [s]

    def change(self, scene: Scene) -> TomlDocument:
        if not 0.01 <= self.factor <= 100.0:
            raise BadValue(f"a motion is stretched by a factor from 0.01 to 100; got {self.factor!r}")
        if self.end is not None and not self.end > self.start:
            raise BadValue(f"a range ends after its start; got {self.start:g} to {self.end:g} s")
        table, document = motion_path(scene, self.motion), scene.document
        for path in _times(document, table):
            time = document.get(path)
            moved = [self._moved(t) for t in time] if isinstance(time, list) else self._moved(time)
            document = document if moved == time else document.with_value(path, moved)
        return document

    def _moved(self, time: Any) -> Any:
        if not (is_number(time) and time > self.start):
            return time
        last = time if self.end is None else min(time, self.end)
        return self.start + self.factor * (last - self.start) + (time - last)


def _times(document: TomlDocument, table: Path) -> list[Path]:
    """Returns the paths of all times of a motion."""
    out: list[Path] = [(*table, "duration")]
    for kind in ("key", "contact", "wish", "fine"):
        for i in range(len(document.get((*table, kind), ()))):
            out += [(*table, kind, i, name) for name in ("time", "from", "to")]
    moments: dict[str, Any] = document.get((*table, "moments"), {})
    for name, value in moments.items():
        path = (*table, "moments", name)
        out += [path] if is_number(value) else [(*path, "at"), (*path, "between")]
    return [path for path in out if document.get(path) is not None]


def _check_new(scene: Scene, name: str) -> None:
    if not name or name == MAIN:
        raise BadValue(f"a motion needs a name, and {MAIN!r} is the one at the top of the file; got {name!r}")
    if name in scene.motions:
        raise BadValue(f"there is already a motion {name!r}: give this one another name")
