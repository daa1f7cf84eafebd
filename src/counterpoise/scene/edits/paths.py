"""Edits of recorded paths: strokes of the pointer that bodies may follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterpoise.errors import BadValue
from counterpoise.scene.contents import MAIN
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.edits.base import SceneEdit, given
from counterpoise.scene.recorded_paths import recorded_path_of
from counterpoise.scene.scene import Scene


@dataclass(frozen=True)
class RecordPath(SceneEdit):
    """A path for a body through points [m] at times [s]; it takes the place of the one that the body had."""

    body: str
    times: Sequence[float]  # [s]
    points: Sequence[Sequence[float]]  # (x, y, z) [m]
    point: Sequence[float] | None = None  # of the body that follows, in its frame [m]; None: its origin
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        document, known = scene.document, recorded_path_of(scene.recorded_paths, self.body, self.character)
        if known is not None:
            document = document.without(("recorded_path", known.index))
        owner = None if self.character == MAIN else self.character
        entries = {"body": self.body, "character": owner, "point": self.point, "times": self.times}
        return document.with_table(("recorded_path",), given({**entries, "points": self.points}))


@dataclass(frozen=True)
class ForgetPath(SceneEdit):
    """The scene without the recorded path of a body."""

    body: str
    character: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        known = recorded_path_of(scene.recorded_paths, self.body, self.character)
        if known is None:
            raise BadValue(f"{self.body!r} has no recorded path")
        return scene.document.without(("recorded_path", known.index))
