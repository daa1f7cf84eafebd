"""Edits of what acts on the characters: constraints, pushes, the world, controllers and their tuning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from counterpoise.errors import BadValue, unknown_name
from counterpoise.scene.contents import MAIN
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.edits.base import SceneEdit, given, item_path, with_entries
from counterpoise.scene.scene import Scene
from counterpoise.spacetime.stunt.lines import Path
from counterpoise.spacetime.stunt.terrain import MAKERS


def _owner(character: str) -> dict[str, str]:
    return {} if character == MAIN else {"character": character}


@dataclass(frozen=True)
class AddPin(SceneEdit):
    """A body that stays where it is while poses are dragged; `lock` keeps its orientation as well."""

    body: str
    lock: bool = False
    point: Sequence[float] | None = None  # in the body's frame [m]
    at: Sequence[float] | None = None  # in the world [m]; None: where it is
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        entries = given(
            {"kind": "pin", **_owner(self.character), "body": self.body, "point": self.point, "at": self.at}
        )
        document = scene.document.with_table(("constraint",), entries)
        if self.lock:
            held = {"kind": "lock", **_owner(self.character), "body": self.body}
            document = document.with_table(("constraint",), held)
        return document


@dataclass(frozen=True)
class RemovePin(SceneEdit):
    """A body that may move again: without its pins and locks."""

    body: str
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        mine = [
            c.index for c in scene.constraints
            if c.kind in ("pin", "lock") and c.character == self.character and c.entries.get("body") == self.body
        ]  # fmt: skip
        if not mine:
            raise BadValue(f"{self.body!r} is not pinned")
        document = scene.document
        for index in reversed(mine):
            document = document.without(("constraint", index))
        return document


@dataclass(frozen=True)
class AddConstraint(SceneEdit):
    """What poses keep while they are dragged: pin, lock, fix, couple, on_plane, balanced or above_ground."""

    kind: str
    entries: Mapping[str, Any] = field(default_factory=dict)
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        entries = {"kind": self.kind, **_owner(self.character), **self.entries}
        return scene.document.with_table(("constraint",), entries)


@dataclass(frozen=True)
class RemoveConstraint(SceneEdit):
    """The scene without one of its constraints."""

    constraint: int  # which [[constraint]], from 0

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.without(item_path(scene, ("constraint",), self.constraint))


@dataclass(frozen=True)
class AddPush(SceneEdit):
    """A push of a body in the simulation."""

    body: str
    force: Sequence[float]  # (x, y, z) [N]
    start: float  # [s]
    duration: float = 0.1  # [s]
    point: Sequence[float] | None = None  # in the body's frame [m]
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        entries = given({
            **_owner(self.character), "body": self.body, "force": self.force, "start": self.start,
            "duration": self.duration, "point": self.point,
        })  # fmt: skip
        return scene.document.with_table(("push",), entries)


@dataclass(frozen=True)
class SetPush(SceneEdit):
    """Other entries of a push by name: body, force, start, duration, point; None removes one."""

    push: int  # which [[push]], from 0
    entries: Mapping[str, Any] = field(default_factory=dict)

    def change(self, scene: Scene) -> TomlDocument:
        return with_entries(scene.document, item_path(scene, ("push",), self.push), self.entries)


@dataclass(frozen=True)
class RemovePush(SceneEdit):
    """The scene without one of its pushes."""

    push: int

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.without(item_path(scene, ("push",), self.push))


@dataclass(frozen=True)
class SetController(SceneEdit):
    """What drives a character: the kind of controller, and its options by name; in place of the one before."""

    kind: str
    follow: str | None = None  # a motion of the scene, a reference motion or a file
    options: Mapping[str, Any] = field(default_factory=dict)
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        path = controller_path(scene, self.character)
        document = scene.document
        if document.get(path) is not None:
            document = document.without(path)
        entries = given({"kind": self.kind, **_owner(self.character), "follow": self.follow, **self.options})
        return document.with_new_table(path, entries)


@dataclass(frozen=True)
class RemoveController(SceneEdit):
    """A character that nothing drives."""

    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.without(controller_path(scene, self.character))


@dataclass(frozen=True)
class SetTuning(SceneEdit):
    """One number of a controller's table of tuning; None is its default. `table` is tuning, planning, ..."""

    name: str
    value: float | bool | None
    table: str = "tuning"
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        path = (*controller_path(scene, self.character), *self.table.split("."))
        return with_entries(scene.document, path, {self.name: self.value})


@dataclass(frozen=True)
class SetWorld(SceneEdit):
    """Entries of the world by name: ground, friction, tilt, gravity, timestep, platform; None is the default."""

    entries: Mapping[str, Any] = field(default_factory=dict)

    def change(self, scene: Scene) -> TomlDocument:
        return with_entries(scene.document, ("world",), self.entries)


@dataclass(frozen=True)
class SetSimulation(SceneEdit):
    """How the scene is simulated: seconds, seed, lift; None is the default."""

    entries: Mapping[str, Any] = field(default_factory=dict)

    def change(self, scene: Scene) -> TomlDocument:
        return with_entries(scene.document, ("simulation",), self.entries)


@dataclass(frozen=True)
class AddTerrain(SceneEdit):
    """A piece of terrain: box, ramp, stairs, stepping_stones, gap, height_field, ..., with its entries."""

    kind: str
    entries: Mapping[str, Any] = field(default_factory=dict)

    def change(self, scene: Scene) -> TomlDocument:
        if self.kind not in MAKERS:
            raise unknown_name("piece of terrain", self.kind, MAKERS)
        return scene.document.with_table((self.kind,), self.entries)


@dataclass(frozen=True)
class SetTerrain(SceneEdit):
    """Other entries of a piece of terrain; None removes one."""

    kind: str
    piece: int  # which of its kind, from 0
    entries: Mapping[str, Any] = field(default_factory=dict)

    def change(self, scene: Scene) -> TomlDocument:
        return with_entries(scene.document, item_path(scene, (self.kind,), self.piece), self.entries)


@dataclass(frozen=True)
class RemoveTerrain(SceneEdit):
    """The scene without one of its pieces of terrain."""

    kind: str
    piece: int

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.without(item_path(scene, (self.kind,), self.piece))


@dataclass(frozen=True)
class AddProp(SceneEdit):
    """A loose ball or box: `size` is the diameter of a ball, or (x, y, z) of a box [m]; `place` is its centre [m].

    Other entries: facing [deg], velocity [m/s], spin [rad/s], friction, bounce.
    """

    shape: str
    size: float | Sequence[float]
    mass: float  # [kg]
    place: Sequence[float]
    entries: Mapping[str, Any] = field(default_factory=dict)

    def change(self, scene: Scene) -> TomlDocument:
        entries = {"shape": self.shape, "size": self.size, "mass": self.mass, "place": self.place, **self.entries}
        return scene.document.with_table(("prop",), entries)


@dataclass(frozen=True)
class SetProp(SceneEdit):
    """Other entries of a prop by name; None removes one."""

    prop: int  # which [[prop]], from 0
    entries: Mapping[str, Any] = field(default_factory=dict)

    def change(self, scene: Scene) -> TomlDocument:
        return with_entries(scene.document, item_path(scene, ("prop",), self.prop), self.entries)


@dataclass(frozen=True)
class RemoveProp(SceneEdit):
    """The scene without one of its props."""

    prop: int

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.without(item_path(scene, ("prop",), self.prop))


def controller_path(scene: Scene, character: str) -> Path:
    """Returns where the controller of a character is written, or would be."""
    for one in scene.controllers.values():
        if one.character == character:
            return ("controller",) if one.name == MAIN else ("controllers", one.name)
    return ("controller",) if character == MAIN else ("controllers", character)


__all__ = [
    "AddConstraint", "AddPin", "AddProp", "AddPush", "AddTerrain", "RemoveConstraint", "RemoveController", "RemovePin",
    "RemoveProp", "RemovePush", "RemoveTerrain", "SetController", "SetProp", "SetPush", "SetSimulation", "SetTerrain",
    "SetTuning", "SetWorld", "controller_path",
]  # fmt: skip
