"""Edits of characters: figures of the library, and the figure editor (add, remove, length, limits, root, mirror)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.editing import rerooted_pose
from counterpoise.errors import BadValue
from counterpoise.scene.contents import MAIN
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.edits.another_figure import carried_over, coordinates_in, figure_alone
from counterpoise.scene.edits.base import SceneEdit, given, item_path
from counterpoise.scene.edits.keys import coordinates_of
from counterpoise.scene.figures import edited_once
from counterpoise.scene.scene import Scene
from counterpoise.spacetime.stunt.lines import Path

_TARGETS = ("segment", "joint", "side", "limb", "old")  # the entry that says what a figure edit changes
_REPEATED = (
    "set_length", "set_limits", "set_limit_side", "set_angle", "set_mass", "set_shape", "set_feet", "set_hands",
)  # fmt: skip


@dataclass(frozen=True)
class SetFigure(SceneEdit):
    """Another figure: of the library with parameters (height, mass), or a file beside the scene.

    Keys keep the joints that both figures have. What names a part that the new one lacks is left out: contacts,
    wishes, constraints, pushes, paths, and edits of the old figure.
    """

    figure: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        file = self.figure.lower().endswith((".xml", ".mjcf", ".urdf", ".bvh", ".glb", ".gltf", ".asf", ".amc"))
        value = {"file" if file else "name": self.figure, **self.parameters}
        path: Path = ("character",) if self.character == MAIN else ("characters", self.character)
        document = scene.document
        if self.character in scene.characters:
            base = figure_alone(value if self.parameters else self.figure, scene)
            document = carried_over(document, scene, self.character, base)
        if isinstance(document.get(path), dict):
            document = document.without(path)
        if self.character == MAIN:
            return document.with_value(path, value if self.parameters else self.figure)
        return document.with_new_table(path, value)


@dataclass(frozen=True)
class AddCharacter(SceneEdit):
    """One more character, [characters.NAME]."""

    name: str
    figure: str = "human"
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def change(self, scene: Scene) -> TomlDocument:
        if not self.name or self.name in scene.characters:
            raise BadValue(f"a new character needs a name of its own; got {self.name!r}")
        return SetFigure(self.figure, self.parameters, self.name).change(scene)


@dataclass(frozen=True)
class RemoveCharacter(SceneEdit):
    """The scene without a character, and without all that is about it: edits, motions, controller, pushes, pins."""

    name: str

    def change(self, scene: Scene) -> TomlDocument:
        """Removes its tables; those of a list from the last to the first, so that the numbers of the others hold."""
        if self.name == MAIN:
            raise BadValue("the main character cannot be removed; SetFigure takes another figure")
        scene.character(self.name)
        document = scene.document.without(("characters", self.name))
        for edit in reversed(scene.characters[self.name].edits):
            document = document.without(("edit", edit.index))
        for motion in scene.motions.values():
            if motion.character == self.name:
                document = document.without(("motions", motion.name))
        for controller in scene.controllers.values():
            if controller.character == self.name:
                path = ("controller",) if controller.name == MAIN else ("controllers", controller.name)
                document = document.without(path)
        for push in sorted({(p.kind, p.index) for p in scene.pushes if p.character == self.name}, reverse=True):
            document = document.without(push)
        for constraint in sorted((c.index for c in scene.constraints if c.character == self.name), reverse=True):
            document = document.without(("constraint", constraint))
        for recorded in sorted((p.index for p in scene.recorded_paths if p.character == self.name), reverse=True):
            document = document.without(("recorded_path", recorded))
        return document


@dataclass(frozen=True)
class EditFigure(SceneEdit):
    """One edit of a figure by its kind (set_length, add_segment, ...) with entries as in the table [[edit]].

    Coordinates in the keys of the character follow: those of joints that are gone are removed, and a new root keeps
    every pose as it looks.
    """

    kind: str
    entries: Mapping[str, Any] = field(default_factory=dict)
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        before = scene.character(self.character)
        entries = given(self.entries)
        document = self._written(scene, entries)
        after = edited_once(before, self.kind, json.dumps(entries)) if self.kind in _RESHAPING else before
        return carry_poses(document, scene, self.character, before, after, self._renamed())

    def _written(self, scene: Scene, entries: dict[str, Any]) -> TomlDocument:
        """Writes the edit, over the last one of the character where both set the same of the same part."""
        mine = scene.characters[self.character].edits
        if mine and self.kind in _REPEATED and mine[-1].kind == self.kind:
            last = mine[-1]
            if all(last.entries.get(t) == entries.get(t) for t in _TARGETS):
                path, document = ("edit", last.index), scene.document
                for name in set(last.entries) - set(entries):
                    document = document.without((*path, name))
                for name, value in entries.items():
                    document = document.with_value((*path, name), value)
                return document
        owner = {} if self.character == MAIN else {"character": self.character}
        return scene.document.with_table(("edit",), {"kind": self.kind, **owner, **entries})

    def _renamed(self) -> dict[str, str]:
        return {str(self.entries["old"]): str(self.entries["new"])} if self.kind == "rename" else {}


_RESHAPING = ("remove_segment", "rename", "reroot", "mirror_limb", "add_segment")


def carry_poses(
    document: TomlDocument, scene: Scene, name: str, before: Character, after: Character, renamed: Mapping[str, str]
) -> TomlDocument:
    """Returns the document with the coordinates in keys and poses as they are for the changed character."""
    if before.joint_names == after.joint_names and before.root == after.root:
        return document
    rerooted = before.root != after.root and set(before.segments) == set(after.segments)
    for path in coordinates_in(scene, name):
        coordinates = {renamed.get(k, k): v for k, v in document.get(path).items()}
        if rerooted:
            q = np.array(before.neutral)
            for joint, value in coordinates.items():
                q[before.joint(joint).qpos] = value
            coordinates = coordinates_of(after, rerooted_pose(before, after, q))
        kept = {k: v for k, v in coordinates.items() if k in after.joint_names}
        document = document.with_value(path, kept)
    return document


@dataclass(frozen=True)
class RemoveFigureEdit(SceneEdit):
    """The scene without one of the edits of its figures; the others stay."""

    index: int  # which [[edit]] of the file, from 0

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.without(item_path(scene, ("edit",), self.index))


@dataclass(frozen=True)
class SetLength(SceneEdit):
    """A segment of another length [m]."""

    segment: str
    length: float  # [m]
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        entries = {"segment": self.segment, "length": self.length}
        return EditFigure("set_length", entries, self.character).change(scene)


@dataclass(frozen=True)
class SetLimit(SceneEdit):
    """Other limits of a joint: (low, high) in degrees, of a slide in metres; two of a universal joint; of a ball
    { forward, back, side, twist } in degrees; "none" for no limits."""

    joint: str
    limits: Sequence[Any] | Mapping[str, Any] | str
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        return EditFigure("set_limits", {"joint": self.joint, "limits": self.limits}, self.character).change(scene)


@dataclass(frozen=True)
class SetLimitSide(SceneEdit):
    """Another angle [deg] for one side of a joint's limits, while the others stay: low, high; first low, ... of a
    universal joint; face 1, ... of a ball's cone, twist low, twist high."""

    joint: str
    side: str
    angle: float  # [deg]
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        entries = {"joint": self.joint, "side": self.side, "angle": self.angle}
        return EditFigure("set_limit_side", entries, self.character).change(scene)


@dataclass(frozen=True)
class SetMass(SceneEdit):
    """A segment of another mass [kg]."""

    segment: str
    mass: float  # [kg]
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        return EditFigure("set_mass", {"segment": self.segment, "mass": self.mass}, self.character).change(scene)


@dataclass(frozen=True)
class AddSegment(SceneEdit):
    """One more segment at the end of `parent`; `options` as `add_segment` takes them, angles in degrees."""

    name: str
    parent: str | None = None
    length: float = 0.3  # [m]
    options: Mapping[str, Any] = field(default_factory=dict)
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        entries = {"name": self.name, "parent": self.parent, "length": self.length, **self.options}
        return EditFigure("add_segment", entries, self.character).change(scene)


@dataclass(frozen=True)
class RemoveSegment(SceneEdit):
    """A figure without a segment; `branch` takes all that hangs from it as well."""

    segment: str
    branch: bool = False
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        entries = {"segment": self.segment, "branch": self.branch or None}
        return EditFigure("remove_segment", entries, self.character).change(scene)


@dataclass(frozen=True)
class SetRoot(SceneEdit):
    """The same figure with another segment as its root."""

    segment: str
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        return EditFigure("reroot", {"segment": self.segment}, self.character).change(scene)


@dataclass(frozen=True)
class MirrorLimb(SceneEdit):
    """A limb's mirror image on the other side; `replace` takes away what is there."""

    limb: str
    replace: bool = False
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        entries = {"limb": self.limb, "replace": self.replace or None}
        return EditFigure("mirror_limb", entries, self.character).change(scene)
