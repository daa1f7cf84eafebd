"""Reading and writing motion files: the suffix chooses the format.

`FORMATS` lists all formats. A new format is a module with `read_clip(path, **options) -> Clip` and / or
`write_clip(path, clip, **options)`, and one entry here. Options that these functions have as parameters are passed on.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise.character import Character
from counterpoise.character.skeletal.parts import read_parts
from counterpoise.errors import BadFile, BadValue, CounterpoiseError
from counterpoise.motion.clips import Frames, chosen_frames, clip_of_motion, frames_of_motion, motion_of_clip, probes
from counterpoise.motion.files.axes import POSSIBLE_HEIGHT, height_of
from counterpoise.motion.motion import Motion, check_fits
from counterpoise.motion.skeleton import Clip

_HOME = "counterpoise.motion.files"
REST_FRAME_TURN = np.radians(10.0)  # [rad] least change after a pose that was put before the movement ...
REST_FRAME_RATIO = 3.0  # ... and its least ratio to the changes of the next frames


@dataclass(frozen=True)
class Format:
    """A file format: the module and functions that read and write it."""

    module: str
    title: str
    reader: str = "read_clip"  # "" if the format is only written
    writer: str = "write_clip"  # "" if it is only read
    holds: str = "clip"  # "clip": a skeleton of its own; "motion": poses of a whole character
    needs_character: bool = False  # the file does not contain the character
    needs: str = ""  # a package that it needs to be read (or to be written, if it is only written) ...
    extra: str = ""  # ... and the extra that installs it


_USD = Format("usd", "USD (UsdSkel)", needs="pxr", extra="usd")
FORMATS: Mapping[str, Format] = {
    ".bvh": Format("bvh", "Biovision hierarchy"),
    ".amc": Format("asf", "Acclaim motion, with the .asf skeleton beside it", writer=""),
    ".asf": Format("asf", "Acclaim skeleton alone: its rest pose", reader="read_skeleton_clip", writer=""),
    ".glb": Format("gltf", "glTF 2.0, binary"),
    ".gltf": Format("gltf", "glTF 2.0"),
    ".fbx": Format("fbx", "Autodesk FBX: skeleton and movement", needs="ufbx", extra="fbx"),
    ".usda": _USD,
    ".usdc": _USD,
    ".usd": _USD,
    ".usdz": _USD,
    ".c3d": Format("c3d", "optical markers", "read_c3d", "", holds="motion", needs_character=True),
    ".csv": Format("table", "joint coordinates", "read_table", "write_table", holds="motion", needs_character=True),
    ".mcap": Format(
        "mcap_write",
        "a log for Foxglove",
        "",
        "write_mcap",
        holds="motion",
        needs="mcap",
        extra="mcap",
    ),
    ".npz": Format("npz", "Counterpoise's own", "load_motion", "save_motion", holds="motion"),
}


def read_motion(
    path: str | os.PathLike[str],
    character: Character | str | None = None,
    *,
    rate: float | None = None,
    units: str | float | None = None,
    up: str | None = None,
    forward: str | None = None,
    start: float | None = None,
    end: float | None = None,
    frames: Frames | None = None,
    skeleton: str | os.PathLike[str] | None = None,
    skip_rest_frame: bool | None = None,
    **options: Any,
) -> Motion:
    """Reads a motion file in the format of its suffix.

    Without a `character` one is built from the file's skeleton (segments, masses, feet). To a character that is given,
    or named from the library, the motion is retargeted. What was guessed is listed in `motion.source.remarks`. A person
    smaller than 0.8 m or taller than 2.4 m gives a warning, unless units were given.

    `rate` [1/s] is that of the file's frames, if the file does not have it or has it wrong. `units` ("cm", "inch", ...,
    or metres a unit), `up` and `forward` ("y", "-z") are guessed if the format does not define them. `start` and `end`
    [s], or `frames` (first, last), keep a part; times stay as they were. `skeleton` is the .asf of an .amc.
    `skip_rest_frame` leaves out a T-pose before the movement; by default only when retargeting. Further options go to
    the format's reader (`figure`, `animation`, ...) or to `retarget`.
    """
    entry = format_of(path, "read")
    figure = _library(character) if isinstance(character, str) else character
    reader = function_of(entry, entry.reader, path)
    given = {"rate": rate, "units": units, "up": up, "forward": forward, "skeleton": skeleton}
    for name, value in given.items():
        if value is not None and name not in inspect.signature(reader).parameters:
            raise BadValue(f"`{name}` means nothing to a {Path(path).suffix.lower()} file: {_why_not(entry, name)}")
    mine = set(inspect.signature(reader).parameters)
    accepted = {k: v for k, v in {**given, **options}.items() if v is not None and k in mine}
    rest = {k: v for k, v in options.items() if k not in mine}
    if entry.holds == "clip":
        skip = figure is not None if skip_rest_frame is None else skip_rest_frame
        clip = reader(path, **accepted)
        if units is None and (doubt := _doubtful_size(clip, "units" in mine)):
            warnings.warn(f"{str(path)!r}: {doubt}", stacklevel=2)
            clip = replace(clip, notes={**clip.notes, "remarks": (*clip.notes.get("remarks", ()), f"warning: {doubt}")})
        motion = _from_clip(path, clip, start, end, frames, skip)
    else:
        if entry.needs_character:
            if figure is None:
                raise BadValue(
                    f"a {Path(path).suffix.lower()} file does not contain a character; "
                    "give the one it moves with `character`"
                )
            accepted["character"] = figure
        motion = _cut(reader(path, **accepted), start, end, frames)
    if figure is not None and motion.character is not figure and not entry.needs_character:
        if same_body(motion.character, figure):
            return replace(motion, character=figure)
        from counterpoise.motion.retarget.transfer import retarget

        moved: Motion = retarget(motion, figure, **rest)
        return moved
    if rest:
        raise BadValue(f"reading {Path(path).suffix.lower()} files has no option {', '.join(sorted(rest))}")
    return motion


def write_motion(
    motion: Motion,
    path: str | os.PathLike[str],
    rate: float | None = None,
    frames: Frames | None = None,
    bodies: Sequence[str] | None = None,
    **options: Any,
) -> None:
    """Writes a motion in the format of the suffix: metres, root scale 1, clean names, one key a frame.

    `rate` [1/s] is the frame rate, `frames` a part of the result ((first, last), both included), `bodies` the segments
    to keep. Some formats have more options: `units`, `up`, `forward` (BVH), `buffer` (glTF).
    """
    entry = format_of(path, "write")
    writer = function_of(entry, entry.writer, path)
    known = {name for name in inspect.signature(writer).parameters if name not in ("path", "clip", "motion", "source")}
    options = {k: v for k, v in options.items() if v is not None}
    if unknown := sorted(set(options) - known):
        takes = ", ".join(["rate", "frames", "bodies", *sorted(known)])
        raise BadValue(f"writing {Path(path).suffix.lower()} files has no option {', '.join(unknown)}; it has {takes}")
    if entry.holds == "motion":
        if bodies is not None:
            raise BadValue(f"a {Path(path).suffix.lower()} file holds poses of a whole character: leave out `bodies`")
        if rate is not None or frames is not None:
            times, poses, _ = frames_of_motion(motion, rate, frames)
            motion = replace(motion, times=times, poses=poses, loop=False, travel=False)
        writer(motion, path, **options)
        return
    clip = clip_of_motion(motion, rate, frames, bodies)
    parameters = inspect.signature(writer).parameters
    if "motion" in parameters:
        options["motion"] = motion
    if "source" in parameters and motion.source is not None and motion.source.fits(motion.character.segments):
        options["source"] = motion.source
    writer(path, clip, **options)


def format_of(path: str | os.PathLike[str], to: str) -> Format:
    """Returns the format of a suffix, which must be possible `to` "read" or "write"."""
    suffix = Path(path).suffix.lower()
    able = [s for s, entry in FORMATS.items() if (entry.reader if to == "read" else entry.writer)]
    if suffix not in able:
        word = (
            f"no motion format has the suffix {suffix!r}"
            if suffix not in FORMATS
            else f"{suffix} files are not {_PAST[to]}"
        )
        raise BadFile(f"cannot {to} {str(path)!r}: {word}; the suffix may be {', '.join(able)}", path=str(path))
    return FORMATS[suffix]


_PAST = {"read": "read here", "write": "written here"}


def function_of(entry: Format, name: str, path: str | os.PathLike[str]) -> Callable[..., Any]:
    """Returns the reader or writer of a format."""
    if entry.needs and find_spec(entry.needs) is None and not (name == entry.writer and entry.reader):
        cure = f"pip install 'counterpoise[{entry.extra}]'"
        raise BadFile(f"{Path(path).suffix.lower()} files need the package {entry.needs!r}: {cure}", path=str(path))
    found: Callable[..., Any] = getattr(import_module(f"{_HOME}.{entry.module}"), name)
    return found


def _why_not(entry: Format, name: str) -> str:
    if name == "skeleton":
        return "it has its own"
    return "its motion has times" if name == "rate" else "the format defines it"


def _library(name: str) -> Character:
    from counterpoise.character.library import character

    return character(name)


def same_body(own: Character, wanted: Character) -> bool:
    """Returns whether poses of one character mean the same on the other: the same joints on the same bones."""
    try:
        check_fits(wanted, own.name, own.nq, tuple(own.joint_names))
    except BadValue:
        return False
    return own.segments == wanted.segments and bool(np.allclose(own.model.body_pos, wanted.model.body_pos, atol=1e-9))


def _doubtful_size(clip: Clip, takes_units: bool) -> str:
    """A warning about a figure that has the parts of a person but not the size of one; "" for any other."""
    bones, (low, high) = clip.skeleton, POSSIBLE_HEIGHT
    if not read_parts(bones.names, bones.parents, bones.offsets).humanoid:
        return ""
    height = height_of(probes(clip), np.array([0.0, 0.0, 1.0]))
    if low <= height <= high:
        return ""
    given = "give `units`: m, cm, mm, inch, ft, cmu or metres a unit"
    cure = given if takes_units else "scale the figure in the program the file came from"
    return f"the figure is read as a person {height:.3g} m tall, which is doubtful; if the units are wrong, {cure}"


# ------------------------------------------------------------------------------------------------------- parts


def _from_clip(
    path: str | os.PathLike[str],
    clip: Clip,
    start: float | None,
    end: float | None,
    frames: Frames | None,
    skip: bool,
) -> Motion:
    part = _range(np.arange(len(clip)) / clip.rate, start, end, frames)
    remarks = list(clip.notes.get("remarks", ()))
    if skip and part[0] == 0 and len(part) > 2:
        if starts_with_rest(clip):
            part = part[1:]
            remarks.append("frame 0 left out: a pose put before the movement")
        else:
            remarks.append("frame 0 kept: the movement begins with it")
    chosen = replace(
        clip,
        rate=clip.rate / part.step,
        rotations=clip.rotations[part],
        translations=clip.translations[part],
        notes={**clip.notes, "remarks": tuple(remarks)},
    )
    try:
        motion = motion_of_clip(chosen, whole=clip)
    except BadFile:
        raise
    except CounterpoiseError as error:
        raise BadFile(f"{str(path)!r}: {error}", **{**error.evidence, "path": str(path)}) from None
    return motion if part[0] == 0 else motion.shifted(part[0] / clip.rate)


def starts_with_rest(clip: Clip) -> bool:
    """Returns whether the first frame is a pose put before the movement: the change after it is by far the largest."""
    if len(clip) < 4:
        return False
    ahead = clip.rotations[: min(len(clip), 20)]
    turns = 2.0 * np.arccos(np.minimum(np.abs(np.sum(ahead[1:] * ahead[:-1], axis=-1)), 1.0))  # (steps, joints)
    usual = turns.mean(axis=1)  # one joint of a capture may leap; all of them do not
    return bool(turns[0].max() > REST_FRAME_TURN and usual[0] > REST_FRAME_RATIO * usual[1:].max())


def _cut(motion: Motion, start: float | None, end: float | None, frames: Frames | None) -> Motion:
    part = _range(motion.times, start, end, frames)
    if len(part) == len(motion):
        return motion
    return replace(motion, times=motion.times[part], poses=motion.poses[part], loop=False, travel=False)


def _range(times: Any, start: float | None, end: float | None, frames: Frames | None) -> range:
    """Returns the frames to keep."""
    if frames is not None:
        if start is not None or end is not None:
            raise BadValue("give the part to read by start and end, or by frames, not both")
        return chosen_frames(frames, len(times))
    slack = 1e-6
    first = 0 if start is None else int(np.searchsorted(times, start - slack))
    last = len(times) - 1 if end is None else int(np.searchsorted(times, end + slack)) - 1
    if not 0 <= first <= last < len(times):
        asked = f"{'the start' if start is None else f'{start:g} s'} to {'the end' if end is None else f'{end:g} s'}"
        raise BadValue(f"no frames from {asked}; the file has {times[0]:g} to {times[-1]:g} s", start=start, end=end)
    return range(first, last + 1)


__all__ = ["FORMATS", "Format", "format_of", "read_motion", "same_body", "starts_with_rest", "write_motion"]
