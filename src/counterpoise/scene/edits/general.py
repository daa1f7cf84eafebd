"""Edits of notes, cameras and files to write; of any entry; of the text; and several edits as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from counterpoise.errors import BadValue
from counterpoise.scene.contents import MAIN
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.edits.base import SceneEdit, apply_edit, given, item_path, with_entries
from counterpoise.scene.scene import Scene, scene_from_text


@dataclass(frozen=True)
class AddNote(SceneEdit):
    """A remark, at a time or about the whole scene."""

    text: str
    time: float | None = None  # [s]
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        motion = None if self.motion == MAIN else self.motion
        return scene.document.with_table(("note",), given({"text": self.text, "time": self.time, "motion": motion}))


@dataclass(frozen=True)
class SetNote(SceneEdit):
    """Other entries of a remark: text, time, motion; None removes one."""

    note: int  # which [[note]], from 0
    entries: Mapping[str, Any] = field(default_factory=dict)

    def change(self, scene: Scene) -> TomlDocument:
        return with_entries(scene.document, item_path(scene, ("note",), self.note), self.entries)


@dataclass(frozen=True)
class RemoveNote(SceneEdit):
    """The scene without one of its remarks."""

    note: int

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.without(item_path(scene, ("note",), self.note))


@dataclass(frozen=True)
class SetCamera(SceneEdit):
    """A camera with a name, new or in place of the one before: eye and target [m], or azimuth and elevation [deg]."""

    name: str
    eye: Sequence[float] | None = None
    target: Sequence[float] | None = None
    azimuth: float | None = None
    elevation: float | None = None
    field_of_view: float | None = None

    def change(self, scene: Scene) -> TomlDocument:
        entries = {
            "eye": self.eye, "target": self.target, "azimuth": self.azimuth, "elevation": self.elevation,
            "field_of_view": self.field_of_view,
        }  # fmt: skip
        for i, camera in enumerate(scene.cameras):
            if camera.name == self.name:
                return with_entries(scene.document, ("camera", i), entries)
        return scene.document.with_table(("camera",), {"name": self.name, **entries})


@dataclass(frozen=True)
class RemoveCamera(SceneEdit):
    """The scene without one of its cameras."""

    name: str

    def change(self, scene: Scene) -> TomlDocument:
        scene.camera(self.name)
        at = next(i for i, camera in enumerate(scene.cameras) if camera.name == self.name)
        return scene.document.without(("camera", at))


@dataclass(frozen=True)
class SetOutput(SceneEdit):
    """Files that running the scene writes: recording, motion, video, picture; None removes one."""

    entries: Mapping[str, Any] = field(default_factory=dict)

    def change(self, scene: Scene) -> TomlDocument:
        return with_entries(scene.document, ("output",), self.entries)


@dataclass(frozen=True)
class SetName(SceneEdit):
    """Another name of the scene."""

    name: str

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.with_value(("name",), self.name)


@dataclass(frozen=True)
class SetEntry(SceneEdit):
    """Any entry by its path, such as ("taste", "smooth") or ("key", 0, "soft"); None removes it."""

    path: Sequence[str | int]
    value: Any

    def change(self, scene: Scene) -> TomlDocument:
        path = tuple(self.path)
        return scene.document.without(path) if self.value is None else scene.document.with_value(path, self.value)


@dataclass(frozen=True)
class SetText(SceneEdit):
    """The whole text of the scene, as a person wrote it."""

    text: str

    def change(self, scene: Scene) -> TomlDocument:
        return TomlDocument(scene_from_text(self.text, scene.folder, scene.source).text)


@dataclass(frozen=True)
class Together(SceneEdit):
    """Several edits as one, one after the other: they are undone together. All are applied, or none."""

    edits: Sequence[SceneEdit]
    label: str = ""

    def change(self, scene: Scene) -> TomlDocument:
        if not self.edits:
            raise BadValue("Together takes at least one edit")
        for edit in self.edits[:-1]:
            scene = apply_edit(scene, edit)
        return self.edits[-1].change(scene)

    def words(self) -> str:
        return self.label or self.edits[0].words()

    def python(self) -> str:
        """Returns one line for each of the edits."""
        return "\n".join(edit.python() for edit in self.edits)
