"""Reads the motions of a scene: the one at the top of the file, and those of the tables [motions.NAME]."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, get_args

import numpy as np

from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.files.hub import FORMATS
from counterpoise.scene.contents import (
    MAIN,
    Physics,
    SceneCharacter,
    SceneClip,
    SceneContact,
    SceneKey,
    SceneMotion,
    SceneWish,
)
from counterpoise.scene.derived import read_derived
from counterpoise.scene.path_reading import read_paths
from counterpoise.spacetime.optimize.moments import seconds
from counterpoise.spacetime.stunt.pose_reading import PoseReader
from counterpoise.spacetime.stunt.reading import Table, is_number
from counterpoise.spacetime.stunt.stunt import Stunt, stunt_from
from counterpoise.terrain import Terrain

PHYSICS: tuple[str, ...] = get_args(Physics)
SHORTEST_DURATION = 1.0  # [s] of a motion that says none and whose keys are earlier
_STUNT = ("duration", "rate", "reference", "clear", "moments", "fine", "key", "contact", "wish", "taste", "landing")


def read_motions(top: Table, characters: dict[str, SceneCharacter], terrain: Terrain | None) -> dict[str, SceneMotion]:
    """Returns the motions of a scene by name: `main`, where the file has one, and those of [motions.NAME]."""
    poses = {MAIN: PoseReader(characters[MAIN].character, top)}
    out: dict[str, SceneMotion] = {}
    main = _read_motion(top, MAIN, characters[MAIN], poses[MAIN], terrain)
    if main is not None:
        out[MAIN] = main
    tables = top.table("motions", "[motions]")
    for name in tables.data if tables is not None else ():
        assert tables is not None
        if name == MAIN:
            raise tables.fault(name, f"{MAIN!r} is the motion at the top of the file: give this one another name")
        table = tables.table(name, f"[motions.{name}]")
        assert table is not None
        owner = table.text("character", "a character of the scene") or MAIN
        if owner not in characters:
            with table.at("character"):
                raise unknown_name("character of the scene", owner, characters)
        reader = PoseReader(characters[owner].character, table)
        reader.own = poses[MAIN].own | reader.own if owner == MAIN else reader.own
        found = _read_motion(table, name, characters[owner], reader, terrain, (*out,))
        table.done()
        out[name] = found if found is not None else SceneMotion(name, owner, "none", 0.0)
    return out


def _read_motion(
    table: Table, name: str, owner: SceneCharacter, poses: PoseReader, terrain: Terrain | None,
    earlier: Collection[str] = (),
) -> SceneMotion | None:  # fmt: skip
    """Returns the motion of a table, or None where it has nothing that it could be made from."""
    clip, derived, paths = _read_clip(table), read_derived(table, earlier), read_paths(table, owner.character)
    physics = table.text("physics", f"one of {', '.join(PHYSICS)}", choices=PHYSICS)
    sources = {"clip": clip, "of": derived, "paths and goals": paths}
    given = [source for source, found in sources.items() if found is not None]
    if given:
        _check_alone(table, given, physics)
        return SceneMotion(
            name, owner.name, physics or "none", 0.0, clip=clip, derived=derived, paths=paths,  # type: ignore[arg-type]
        )  # fmt: skip
    if physics == "fix":
        raise table.fault("physics", "a clip is fixed; the physics of keys is optimize, check or none")
    if "key" not in table and "reference" not in table:
        if any(entry in table for entry in ("contact", "wish", "moments", "taste", "fine")):
            raise table.fault(None, "a motion needs at least one [[key]], or a reference motion to start from")
        table.known += _STUNT
        return None
    if "duration" not in table:
        times: list[Any] = [k.get("time") for k in table.data.get("key", ()) if isinstance(k, dict)]
        last = max((float(t) for t in times if is_number(t)), default=0.0)
        table.data["duration"] = max(last, SHORTEST_DURATION)
    stunt = stunt_from(table, owner.character, poses, terrain)
    return SceneMotion(
        name, owner.name, physics or "optimize", seconds(stunt.duration),  # type: ignore[arg-type]
        keys=_keys(stunt), contacts=_contacts(table, stunt), wishes=_wishes(table), stunt=stunt,
    )  # fmt: skip


def _check_alone(table: Table, given: list[str], physics: str | None) -> None:
    """Refuses a motion that is said twice, and clips that shall be optimised."""
    if len(given) > 1:
        raise table.fault(None, f"a motion is made from one thing; it has {given[0]} and {given[1]}: keep one")
    what = "a clip" if given[0] == "clip" else f"a motion made from {given[0]}"
    for entry in _STUNT:
        if entry in table and not (entry == "rate" and given[0] == "paths and goals"):
            raise table.fault(entry, f"{what} has no {entry}: keep either that or keys, contacts and wishes")
    if physics == "optimize":
        raise table.fault("physics", f"keys are optimised; the physics of {what} is fix, check or none")


def _keys(stunt: Stunt) -> tuple[SceneKey, ...]:
    return tuple(
        SceneKey(i, seconds(key.time), np.asarray(key.pose, float), key.soft, key.rest, key.name)
        for i, key in enumerate(stunt.keys)
    )


def _contacts(table: Table, stunt: Stunt) -> tuple[SceneContact, ...]:
    """Returns one entry for each table [[contact]], with its touches in the order of the stunt's."""
    out, first = [], 0
    for i, written in enumerate(table.data.get("contact", ())):
        parts = written.get("part")
        names = [parts] if isinstance(parts, str) else list(parts)
        count = sum(_count(stunt, name) for name in names)
        touches = stunt.contacts[first : first + count]
        first += count
        if touches:
            one = touches[0]
            out.append(
                SceneContact(i, tuple(t.part for t in touches), seconds(one.start), seconds(one.end), one.how, touches)
            )
    return tuple(out)


def _count(stunt: Stunt, name: str) -> int:
    if name == "feet":
        return len(stunt.character.feet)
    return len(stunt.character.hands) if name == "hands" else 1


def _wishes(table: Table) -> tuple[SceneWish, ...]:
    return tuple(
        SceneWish(i, str(wish.get("kind")), {k: v for k, v in wish.items() if k != "kind"})
        for i, wish in enumerate(table.data.get("wish", ()))
    )


def _read_clip(table: Table) -> SceneClip | None:
    """Reads `clip = "walk.bvh"` with `from` and `to`, the part of it that is used [s]."""
    file = table.text("clip", f"the name of a motion file beside the scene ({', '.join(FORMATS)})")
    start, end = (table.number(key, "seconds in the clip's own time") for key in ("from", "to"))
    if file is None:
        for key in ("from", "to"):
            if key in table and "of" not in table:
                raise table.fault(key, f"{key} is a time in a clip; there is no clip")
        return None
    if start is not None and end is not None and not start < end:
        raise table.fault("to", f"a clip ends after it begins; got from {start:g} s to {end:g} s")
    with table.at("clip"):
        path = file_beside(table.source.folder, file)
        if path.suffix.lower() not in FORMATS:
            raise BadValue(f"{file!r} is no motion file: it ends in one of {', '.join(FORMATS)}")
    return SceneClip(file, path, start, end)


def file_beside(folder: Path, file: str) -> Path:
    """Returns the path of a file that a scene names; it must be there."""
    path = folder / file
    if not path.is_file():
        raise BadValue(f"no file {file!r} beside the scene")
    return path


__all__ = ["PHYSICS", "file_beside", "read_motions"]
