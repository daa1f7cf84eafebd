"""Edits of contacts and wishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from counterpoise.scene.contents import MAIN
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.edits.base import SceneEdit, finite, given, item_path, motion_path, with_entries
from counterpoise.scene.edits.keys import with_room, with_time
from counterpoise.scene.scene import Scene


@dataclass(frozen=True)
class AddContact(SceneEdit):
    """Parts of the body that touch the world from `start` to `end`; None: from the beginning, to the end."""

    part: str | Sequence[str]  # "feet", "hand_left", ["foot_left", "hand_left"]
    start: float | None = None  # [s]
    end: float | None = None  # [s]
    how: str | None = None  # flat, heel, toe, point, bar
    place: Sequence[Any] | None = None  # [x, y] or [x, y, z] for each part [m]
    options: Mapping[str, Any] = field(default_factory=dict)  # other entries: friction, height, slope, ...
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        table = motion_path(scene, self.motion)
        entries = given({"part": self.part, "from": self.start, "to": self.end, "how": self.how, "place": self.place})
        made = scene.document.with_table((*table, "contact"), entries | dict(self.options))
        return with_room(made, table, self.end or 0.0)


@dataclass(frozen=True)
class MoveContact(SceneEdit):
    """Another beginning or end of a contact; None leaves it. A named moment moves with it."""

    contact: int  # which [[contact]] of the motion, from 0
    start: float | None = None  # [s]
    end: float | None = None  # [s]
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        table = motion_path(scene, self.motion)
        path = item_path(scene, (*table, "contact"), self.contact)
        document = scene.document
        for name, time in (("from", self.start), ("to", self.end)):
            if time is not None:
                document = with_time(document, table, (*path, name), finite(time, "a time [s]"))
        return with_room(document, table, self.end or 0.0)


@dataclass(frozen=True)
class SetContact(SceneEdit):
    """Other entries of a contact by name: how, place, friction, ...; None removes one."""

    contact: int
    entries: Mapping[str, Any] = field(default_factory=dict)
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        path = item_path(scene, (*motion_path(scene, self.motion), "contact"), self.contact)
        return with_entries(scene.document, path, self.entries)


@dataclass(frozen=True)
class RemoveContact(SceneEdit):
    """A motion without one of its contacts."""

    contact: int
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.without(item_path(scene, (*motion_path(scene, self.motion), "contact"), self.contact))


@dataclass(frozen=True)
class AddWish(SceneEdit):
    """One more wish: an apex, a place, a facing, ...; `entries` as in the table [[wish]]."""

    kind: str
    entries: Mapping[str, Any] = field(default_factory=dict)
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        table = (*motion_path(scene, self.motion), "wish")
        return scene.document.with_table(table, {"kind": self.kind, **self.entries})


@dataclass(frozen=True)
class SetWish(SceneEdit):
    """Other entries of a wish by name; None removes one."""

    wish: int  # which [[wish]] of the motion, from 0
    entries: Mapping[str, Any] = field(default_factory=dict)
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        path = item_path(scene, (*motion_path(scene, self.motion), "wish"), self.wish)
        return with_entries(scene.document, path, self.entries)


@dataclass(frozen=True)
class RemoveWish(SceneEdit):
    """A motion without one of its wishes."""

    wish: int
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.without(item_path(scene, (*motion_path(scene, self.motion), "wish"), self.wish))
