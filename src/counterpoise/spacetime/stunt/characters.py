"""The character of a stunt: from the library, with parameters, or from a file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

from counterpoise.character.character import Character
from counterpoise.character.library import character as library_character
from counterpoise.character.library import library
from counterpoise.character.loading import load_character
from counterpoise.errors import BadFile, BadValue, unknown_name
from counterpoise.motion.files.hub import read_motion
from counterpoise.motion.skeleton import Source
from counterpoise.spacetime.stunt.reading import Table

BODY_FILES = (".xml", ".mjcf", ".urdf")
KEPT_BODIES = 16  # bodies of files that are kept
SKELETON_FILES = (".bvh", ".fbx", ".glb", ".gltf", ".asf", ".amc")  # motion files, whose skeletons become bodies
READING = ("units", "up", "forward")  # of a motion file, where it does not say


def read_character(top: Table) -> Character:
    """Reads `character = "human"`, a file of a body, or a table with a name (or file) and parameters."""
    wanted = 'a character of the library such as "human", or a file such as "robot.xml"'
    value = top.value("character", wanted)
    if value is None:
        return library_character("human")
    if isinstance(value, str):
        with top.at("character"):
            if FilePath(value).suffix.lower() in (*BODY_FILES, *SKELETON_FILES):
                return _loaded(top.source.folder / value, {})
            return library_character(value)
    table = top.table("character", "[character]")
    assert table is not None
    name = table.text("name", wanted)
    file = table.text("file", "the path of an .xml, .urdf or .bvh file")
    if (name is None) == (file is None):
        raise table.fault(None, "[character] has either name, a character of the library, or file, the file of a body")
    if file is not None:
        return _from_file(top, table, file)
    assert name is not None
    return _from_library(table, name)


def _from_file(top: Table, table: Table, file: str) -> Character:
    options: dict[str, Any] = {k: table.names(k, "names of bodies") for k in ("feet", "hands")}
    options["root"] = table.text("root", "the name of a body")
    for key in READING:
        options[key] = table.text(key, 'as "m" or "cm", "z", "x": the units and axes of a motion file')
    table.done()
    with table.at("file"):
        return _loaded(top.source.folder / file, {k: v for k, v in options.items() if v is not None})


def file_options(top: Table) -> tuple[str | None, dict[str, Any]]:
    """Returns the motion file that the character is of, and how it is read; None for other characters."""
    value = top.data.get("character")
    table = value if isinstance(value, dict) else {"file": value}
    file = table.get("file")
    if not isinstance(file, str) or FilePath(file).suffix.lower() not in SKELETON_FILES:
        return None, {}
    return file, {key: table[key] for key in READING if isinstance(table.get(key), str)}


def file_source(top: Table) -> Source | None:
    """Returns what is kept of the motion file that the character is of, so that results are written as it is."""
    file, options = file_options(top)
    path = top.source.folder / file if file is not None else None
    if path is None or not path.is_file():
        return None
    return read_motion(path, **options).source


def _loaded(path: FilePath, options: dict[str, Any]) -> Character:
    """Returns the body of a file; of a file that has not changed the same one as before."""
    if not path.is_file():
        raise BadFile(f"no file {str(path)!r}", path=str(path))
    about = path.stat()
    given = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in options.items())
    return _load(path.resolve(), about.st_mtime_ns, about.st_size, given)


@lru_cache(maxsize=KEPT_BODIES)
def _load(path: FilePath, changed: int, size: int, options: tuple[tuple[str, Any], ...]) -> Character:
    if path.suffix.lower() in SKELETON_FILES:
        reading = dict(options)
        if set(reading) - set(READING):
            raise BadValue(f"feet, hands and root of {path.name!r} are found in its skeleton: leave them out")
        return read_motion(path, **reading).character
    if unknown := [name for name, _ in options if name in READING]:
        raise BadValue(f"{unknown[0]} is for motion files such as .bvh; {path.name!r} has its own")
    return load_character(path, **dict(options))


def _from_library(table: Table, name: str) -> Character:
    with table.at("name"):
        if name not in library():
            raise unknown_name("character", name, library())
    parameters = {}
    for key in library()[name].parameters:
        found = table.value(key, "a number")
        if found is not None:
            parameters[key] = found
    table.done()
    with table.at(next(iter(parameters), "name")):
        return library_character(name, **parameters)
