"""Another figure in a scene: keys keep the joints that both figures have; what names a part it lacks is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_contact_places
from counterpoise.errors import CounterpoiseError
from counterpoise.scene.contents import MAIN
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.edits.keys import coordinates_of
from counterpoise.scene.figures import edited_once
from counterpoise.scene.scene import Scene, scene_from_text
from counterpoise.spacetime.stunt.lines import Path

OF_MOTIONS = ("contact", "wish")  # tables of a motion that name parts of its figure
OF_SCENES = ("constraint", "push", "random_pushes", "recorded_path")  # tables of the scene that do


def figure_alone(value: Any, scene: Scene) -> Character:
    """Returns the figure that an entry `character` says, without the rest of a scene."""
    text = TomlDocument("").with_value(("character",), value).text
    return scene_from_text(text, scene.folder, scene.source).character()


def carried_over(document: TomlDocument, scene: Scene, name: str, base: Character) -> TomlDocument:
    """Returns the document of a scene in which a character has another figure, without what does not fit it.

    Edits of the old figure that the new one cannot take are left out, and so are contacts, wishes, constraints, pushes
    and paths of parts that it does not have. Poses keep the joints that both have, within their limits, and the height
    of their lowest point.
    """
    before, after = scene.character(name), base
    unfit: list[Path] = []
    for edit in scene.characters[name].edits:
        try:
            after = edited_once(after, edit.kind, json.dumps(edit.entries))
        except (CounterpoiseError, TypeError):
            unfit.append(("edit", edit.index))
    for path in coordinates_in(scene, name):
        document = document.with_value(path, carried_pose(before, after, scene.document.get(path)))
    unfit += [path for path, entries in _tables(scene, name) if not names_in(entries, before) <= _names(after)]
    for path in sorted(unfit, key=lambda one: one[-1], reverse=True):  # from the last on: the other numbers hold
        document = document.without(path)
    return document


def coordinates_in(scene: Scene, name: str) -> list[Path]:
    """Returns where coordinates of a character are written: in keys of its motions, and in poses of the scene."""
    out: list[Path] = []
    document = scene.document
    if name == MAIN:
        out += [("pose", pose, "coordinates") for pose in document.get(("pose",), {})]
    for table in _motions(scene, name):
        out += [(*table, "key", i, "coordinates") for i in range(len(document.get((*table, "key"), ())))]
    return [path for path in out if document.get(path) is not None]


def carried_pose(before: Character, after: Character, coordinates: Mapping[str, Any]) -> dict[str, Any]:
    """Returns coordinates of a pose for another figure: of joints with the same name and kind, and of the root."""
    old, new = np.array(before.neutral), np.array(after.neutral)
    kept = {one.name for one in after.joints}
    for joint, value in coordinates.items():
        old[before.joint(joint).qpos] = value
    shared = [j.name for j in before.joints if j.name in kept and j.kind == after.joint(j.name).kind != "free"]
    for joint in shared:
        new[after.joint(joint).qpos] = old[before.joint(joint).qpos]
    new = np.array(after.limits.clamp(new))
    said = {joint for joint in shared if joint in coordinates}
    if before.floating and after.floating:
        size = after.neutral[2] / before.neutral[2] if before.neutral[2] > 0.0 else 1.0
        new[:7] = old[:7]
        new[2] *= size
        low, lower = _lowest(before, old), _lowest(after, new)
        if low is not None and lower is not None:
            new[2] += low - lower
        said |= {joint.name for joint in after.joints if joint.kind == "free"}
    return {joint: value for joint, value in coordinates_of(after, new).items() if joint in said}


def names_in(entries: Any, character: Character) -> set[str]:
    """Returns the parts of a character that entries name: segments, joints, "feet" and "hands"."""
    if isinstance(entries, str):
        return {entries} & _names(character)
    if isinstance(entries, Mapping):
        entries = [*entries, *entries.values()]
    return set().union(*(names_in(one, character) for one in entries)) if isinstance(entries, (list, tuple)) else set()


def _names(character: Character) -> set[str]:
    groups = {name for name, parts in (("feet", character.feet), ("hands", character.hands)) if parts}
    return {*character.segments, *character.joint_names, *groups}


def _motions(scene: Scene, name: str) -> Iterator[Path]:
    """The tables of the motions of a character."""
    for motion in scene.motions.values():
        if motion.character == name:
            yield () if motion.name == MAIN else ("motions", motion.name)


def _tables(scene: Scene, name: str) -> Iterator[tuple[Path, Any]]:
    """Every table that is about parts of a character, with its entries."""
    document = scene.document
    for table in _motions(scene, name):
        for kind in OF_MOTIONS:
            for i, entries in enumerate(document.get((*table, kind), ())):
                yield (*table, kind, i), entries
    for kind in OF_SCENES:
        for i, entries in enumerate(document.get((kind,), ())):
            if entries.get("character", MAIN) == name:
                yield (kind, i), entries


def _lowest(character: Character, q: Array) -> float | None:
    """Returns the height of the lowest contact point [m]; None where a figure has none."""
    places = take_contact_places(character, q)
    return float(places[:, 2].min()) if len(places) else None
