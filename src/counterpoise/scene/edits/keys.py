"""Edits of keys: add, move, copy, mirror, remove, another pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.scene.contents import MAIN
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.edits.base import SceneEdit, finite, given, item_path, motion_path, with_entries
from counterpoise.scene.scene import Scene
from counterpoise.spacetime.stunt.lines import Path
from counterpoise.spacetime.stunt.reading import is_number

Coordinates = Mapping[str, float | Sequence[float]]
POSE_ENTRIES = (
    "pose", "coordinates", "joints", "mirror", "turn", "facing", "place", "feet", "hands", "com",
)  # fmt: skip


def coordinates_of(character: Character, pose: ArrayLike) -> dict[str, Any]:
    """Returns a pose as the coordinates of every joint by name [m, rad, quaternions]; reading them is exact."""
    q = character.check_pose(pose)
    return {
        joint.name: float(q[joint.qpos.start]) if joint.nq == 1 else [float(v) for v in q[joint.qpos]]
        for joint in character.joints
    }


@dataclass(frozen=True)
class AddKey(SceneEdit):
    """A new key at a time: with the coordinates of joints (see `coordinates_of`), or a pose by name."""

    time: float  # [s]
    coordinates: Coordinates | None = None
    pose: str | None = None  # of the library, of the scene, or "squat@0.5"
    soft: float | None = None  # weight; None: exact
    rest: bool = False
    name: str | None = None
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        entries = given({
            "time": finite(self.time, "the time of a key [s]"), "name": self.name, "pose": self.pose,
            "coordinates": self.coordinates, "soft": self.soft, "rest": self.rest or None,
        })  # fmt: skip
        table = motion_path(scene, self.motion)
        return with_room(scene.document.with_table((*table, "key"), entries), table, self.time)


@dataclass(frozen=True)
class MoveKey(SceneEdit):
    """A key at another time. A key at a named moment moves the moment, and with it what begins or ends there."""

    key: int  # which [[key]] of the motion, from 0
    time: float  # [s]
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        table = motion_path(scene, self.motion)
        path = (*item_path(scene, (*table, "key"), self.key), "time")
        return with_room(with_time(scene.document, table, path, self.time), table, self.time)


@dataclass(frozen=True)
class RemoveKey(SceneEdit):
    """A motion without one of its keys."""

    key: int
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.without(item_path(scene, (*motion_path(scene, self.motion), "key"), self.key))


@dataclass(frozen=True)
class SetPose(SceneEdit):
    """Another pose of a key: the coordinates of its joints, in place of all that said its pose before."""

    key: int
    coordinates: Coordinates
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        path = item_path(scene, (*motion_path(scene, self.motion), "key"), self.key)
        gone = with_entries(scene.document, path, dict.fromkeys(POSE_ENTRIES))
        return gone.with_value((*path, "coordinates"), self.coordinates)


@dataclass(frozen=True)
class SetKey(SceneEdit):
    """Other entries of a key by name: soft, rest, root, only, name; None removes one."""

    key: int
    entries: Mapping[str, Any] = field(default_factory=dict)
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        path = item_path(scene, (*motion_path(scene, self.motion), "key"), self.key)
        return with_entries(scene.document, path, self.entries)


@dataclass(frozen=True)
class CopyKey(SceneEdit):
    """A second key with the pose of another, at another time; `mirror` exchanges left and right."""

    key: int
    time: float  # [s]
    mirror: bool = False
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        """Writes the pose of the key as coordinates: where the other one names a pose, it is not copied by name."""
        table = motion_path(scene, self.motion)
        path = item_path(scene, (*table, "key"), self.key)
        entries = {k: v for k, v in scene.document.get(path).items() if k not in POSE_ENTRIES}
        motion = scene.motion(self.motion)
        character = scene.character(motion.character)
        pose = motion.keys[self.key].pose
        if self.mirror:
            pose = character.mirror_pose(pose)
        entries |= {"time": finite(self.time, "the time of a key [s]"), "coordinates": coordinates_of(character, pose)}
        return with_room(scene.document.with_table((*table, "key"), entries), table, self.time)


@dataclass(frozen=True)
class SavePose(SceneEdit):
    """A pose of the scene's own library, [pose.NAME], which keys of the main character can name."""

    name: str
    coordinates: Coordinates

    def change(self, scene: Scene) -> TomlDocument:
        if not self.name:
            raise BadValue("a pose needs a name")
        document = scene.document
        if document.get(("pose", self.name)) is not None:
            document = document.without(("pose", self.name))
        return document.with_new_table(("pose", self.name), {"coordinates": self.coordinates})


@dataclass(frozen=True)
class RemovePose(SceneEdit):
    """The scene's library without one of its poses."""

    name: str

    def change(self, scene: Scene) -> TomlDocument:
        return scene.document.without(("pose", self.name))


def with_time(document: TomlDocument, table: Path, path: Path, time: float) -> TomlDocument:
    """Returns the document with a time set; where a moment is named there, that moment moves."""
    number = finite(time, "a time [s]")
    named = document.get(path)
    if not isinstance(named, str):
        return document.with_value(path, number)
    moment = (*table, "moments", named)
    at = moment if is_number(document.get(moment)) else (*moment, "at")
    return document.with_value(at, number)


def with_room(document: TomlDocument, table: Path, time: float) -> TomlDocument:
    """Returns the document with a motion that is long enough for a time; a motion without a duration stays so."""
    path = (*table, "duration")
    now = document.get(path)
    return document.with_value(path, float(time)) if is_number(now) and float(time) > now else document
