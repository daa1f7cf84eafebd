"""Counterpoise's own motion file: an `.npz` that needs no other file and never runs code.

Arrays: `time` (n,) [s]; `qpos` (n, nq); `meta`, a 0-d text holding JSON: format, version, character, joints,
name, loop, travel, ends, `character_mjcf`, from which the character is rebuilt, and, of a motion read from another
file, its `source`. The same motion always gives the same bytes. A reader checks the header of every array before it
reserves memory for it.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from counterpoise.character import Character
from counterpoise.errors import BadFile, CounterpoiseError
from counterpoise.files import Archive, Refused, one_line, open_archive, write_archive
from counterpoise.motion.files.source import source_from_json, source_to_json
from counterpoise.motion.files.text import MAX_VALUE
from counterpoise.motion.motion import Motion, check_fits

FORMAT, VERSION = "counterpoise-motion", 1


def save_motion(motion: Motion, path: str | os.PathLike[str]) -> None:
    """Writes `motion` to `path` completely or not at all: a temporary file in the same folder, then a rename."""
    meta: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "character": motion.character.name,
        "joints": list(motion.character.joint_names),
        "name": motion.name,
        "loop": motion.loop,
        "travel": motion.travel,
        "ends": motion.ends,
        "character_mjcf": motion.character.to_mjcf(),
    }
    if motion.source is not None:
        meta["source"] = source_to_json(motion.source)
    text = np.array(json.dumps(meta, sort_keys=True, ensure_ascii=True))
    write_archive(path, {"time": motion.times, "qpos": motion.poses, "meta": text})


def load_motion(path: str | os.PathLike[str], character: Character | None = None) -> Motion:
    """Reads a motion, or raises BadFile with one line. A `character` given must fit that of the file."""
    with open_archive(path, "motion file") as archive:
        time = archive.read("time", "f", 1)
        qpos = archive.read("qpos", "f", 2)
        if 0 in time.shape or 0 in qpos.shape:
            raise Refused("it holds no frames")
        for name, values in (("time", time), ("qpos", qpos)):
            if np.abs(values).max() > MAX_VALUE:
                raise Refused(f"array {name!r} holds {np.abs(values).max():g}; no motion has more than {MAX_VALUE:g}")
        meta = _read_meta(archive)
        source = source_from_json(meta["source"]) if meta.get("source") is not None else None
    if character is not None:
        check_fits(character, meta["character"], qpos.shape[1], tuple(meta["joints"]))
    try:
        body = character if character is not None else Character.from_mjcf(meta["character_mjcf"])
        return Motion(body, time, qpos, **{key: meta[key] for key in ("name", "loop", "travel", "ends")}, source=source)
    except (CounterpoiseError, ValueError) as error:
        raise BadFile(f"{str(path)!r} holds no valid motion: {one_line(error)}", path=str(path)) from error


_META: dict[str, tuple[type, Any]] = {  # name: type, value if absent (... if required)
    "character": (str, ...),
    "joints": (list, ...),
    "character_mjcf": (str, ...),
    "name": (str, ""),
    "loop": (bool, False),
    "travel": (bool, False),
    "ends": (str, "free"),
}


def _read_meta(archive: Archive) -> dict[str, Any]:
    meta = archive.read_meta(FORMAT, VERSION)
    for key, (kind, default) in _META.items():
        if default is not ...:
            meta.setdefault(key, default)
        if not isinstance(meta.get(key), kind):
            raise Refused(f"its meta has no proper {key!r}")
    if not all(isinstance(joint, str) for joint in meta["joints"]):
        raise Refused("its meta has no proper 'joints'")
    return meta
