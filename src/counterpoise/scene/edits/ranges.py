"""Edits of a range of time: copy it, move it, empty it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from counterpoise.character.roles import other_side
from counterpoise.errors import BadValue
from counterpoise.scene.contents import MAIN, SceneContact, SceneKey, SceneMotion
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.edits.base import SceneEdit, finite, motion_path
from counterpoise.scene.edits.keys import POSE_ENTRIES, coordinates_of, with_room, with_time
from counterpoise.scene.scene import Scene
from counterpoise.spacetime.stunt.lines import Path

SAME_TIME = 1e-4  # [s] keys nearer than this are at one time
SHORTEST = 1e-3  # [s] shorter pieces of a contact are not copied


@dataclass(frozen=True)
class CopyRange(SceneEdit):
    """Keys and contacts from `start` to `end`, a second time from `to` on; a key that is there already is replaced."""

    start: float  # [s]
    end: float  # [s]
    to: float  # [s]
    mirror: bool = False  # left and right change places
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        """Copies a contact only where its parts do not touch already: no part touches twice at a time."""
        start, end = _range(self.start, self.end)
        by = finite(self.to, "a time [s]") - start
        table, motion = motion_path(scene, self.motion), scene.motion(self.motion)
        keys, bars = _keys_in(motion, start, end), _contacts_in(motion, start, end)
        if not keys and not bars:
            raise BadValue(f"there is no key and no contact from {start:g} to {end:g} s: nothing to copy")
        there = [key for key in motion.keys if any(abs(key.time - one.time - by) < SAME_TIME for one in keys)]
        made = _without_keys(scene.document, table, there)
        for key in keys:
            made = made.with_table((*table, "key"), self._key(scene, motion, table, key, by))
        for bar in bars:
            entries = self._contact(scene, motion, table, bar)
            taken = [(one.start, one.end) for one in motion.contacts if set(one.parts) & set(entries["part"])]
            for first, last in _free(max(bar.start, start) + by, min(bar.end, end) + by, taken):
                made = made.with_table((*table, "contact"), {**entries, "from": first, "to": last})
        return with_room(made, table, end + by)

    def _key(self, scene: Scene, motion: SceneMotion, table: Path, key: SceneKey, by: float) -> dict[str, Any]:
        """Returns the entries of a copy: its pose is written as coordinates."""
        character = scene.character(motion.character)
        kept = scene.document.get((*table, "key", key.index)).items()
        entries = {name: value for name, value in kept if name not in POSE_ENTRIES and name != "name"}
        pose = character.mirror_pose(key.pose) if self.mirror else key.pose
        return {**entries, "time": key.time + by, "coordinates": coordinates_of(character, pose)}

    def _contact(self, scene: Scene, motion: SceneMotion, table: Path, bar: SceneContact) -> dict[str, Any]:
        """Returns the entries of a copy, without its times; of a mirrored one, also without its places."""
        entries = {**scene.document.get((*table, "contact", bar.index)), "part": list(bar.parts)}
        if self.mirror:
            character = scene.character(motion.character)
            names = [*character.segments, *(foot.name for foot in character.feet)]
            entries["part"] = [other_side(part, names) for part in bar.parts]
            entries.pop("place", None)
        return entries


@dataclass(frozen=True)
class MoveRange(SceneEdit):
    """Keys and contacts that lie from `start` to `end`, later by `by` seconds; the others stay."""

    start: float  # [s]
    end: float  # [s]
    by: float  # [s]
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        """Moves times that are numbers; of named moments, the moment, once."""
        start, end = _range(self.start, self.end)
        by = finite(self.by, "a time [s]")
        if start + by < 0.0:
            raise BadValue(f"nothing lies before 0 s; {start:g} s would come to {start + by:g} s")
        table, motion, document = motion_path(scene, self.motion), scene.motion(self.motion), scene.document
        times: dict[Path, float] = {}
        for key in _keys_in(motion, start, end):
            times[(*table, "key", key.index, "time")] = key.time
        for bar in motion.contacts:
            if bar.start >= start - SAME_TIME and bar.end <= end + SAME_TIME:
                times |= {(*table, "contact", bar.index, "from"): bar.start}
                times |= {(*table, "contact", bar.index, "to"): bar.end}
        moments: set[str] = set()  # a moment that several of them name moves once
        for path, time in times.items():
            named = document.get(path)
            if isinstance(named, str) and named in moments:
                continue
            moments |= {named} if isinstance(named, str) else set()
            document = with_time(document, table, path, time + by)
        return with_room(document, table, end + by)


@dataclass(frozen=True)
class RemoveRange(SceneEdit):
    """A motion without its keys from `start` to `end`; contacts stay."""

    start: float  # [s]
    end: float  # [s]
    motion: str = MAIN

    def change(self, scene: Scene) -> TomlDocument:
        start, end = _range(self.start, self.end)
        found = _keys_in(scene.motion(self.motion), start, end)
        if not found:
            raise BadValue(f"there is no key from {start:g} to {end:g} s")
        return _without_keys(scene.document, motion_path(scene, self.motion), found)


def _range(start: float, end: float) -> tuple[float, float]:
    first, last = finite(start, "the start of a range [s]"), finite(end, "the end of a range [s]")
    if last <= first:
        raise BadValue(f"a range ends after its start; got {first:g} to {last:g} s")
    return first, last


def _keys_in(motion: SceneMotion, start: float, end: float) -> list[SceneKey]:
    return [key for key in motion.keys if start - SAME_TIME <= key.time <= end + SAME_TIME]


def _contacts_in(motion: SceneMotion, start: float, end: float) -> list[SceneContact]:
    return [bar for bar in motion.contacts if min(bar.end, end) - max(bar.start, start) > SHORTEST]


def _free(start: float, end: float, taken: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Returns the pieces of a span that no other span covers."""
    pieces = [(start, end)]
    for first, last in taken:
        pieces = [part for a, b in pieces for part in ((a, min(b, first)), (max(a, last), b))]
        pieces = [(a, b) for a, b in pieces if b - a > SHORTEST]
    return pieces


def _without_keys(document: TomlDocument, table: Path, keys: list[SceneKey]) -> TomlDocument:
    """Removes keys from the last to the first, so that the numbers of the others hold."""
    for key in sorted(keys, key=lambda one: -one.index):
        document = document.without((*table, "key", key.index))
    return document
