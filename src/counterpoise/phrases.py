"""Phrases: pushes, platforms, sizes, figures and sources written in one line of text.

The command line reads them. An error is a `BadValue` or `UnknownName` that shows how the phrase should look.
"""

from __future__ import annotations

import math
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from counterpoise.errors import BadFile, BadValue, unknown_name
from counterpoise.files import check_writable

if TYPE_CHECKING:
    from counterpoise.character.character import Character
    from counterpoise.control.basic import Controller
    from counterpoise.motion.motion import Motion
    from counterpoise.pose.paths import Path
    from counterpoise.render.scene import DrawnScene
    from counterpoise.simulate.disturbances import Push
    from counterpoise.simulate.recording import Recording
    from counterpoise.simulate.world import Platform

SMALLEST = 8  # [pixels] width and height of a picture


def parameters(pairs: list[str] | None) -> dict[str, Any]:
    """Reads several NAME=VALUE: numbers, true or false."""
    out: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise BadValue(f"--set takes NAME=VALUE, such as height=1.8; got {pair!r}")
        out[name] = {"true": True, "false": False}.get(text.lower(), text)
        if isinstance(out[name], str):
            number = number_from(text, f"--set {name}")
            out[name] = int(number) if number == int(number) and "." not in text and "e" not in text else number
    return out


def number_from(text: str, what: str) -> float:
    """Reads a finite number; `what` names it in errors."""
    try:
        value = float(text)
    except ValueError:
        raise BadValue(f"{what} needs a number; got {text!r}") from None
    if not abs(value) < 1e12:
        raise BadValue(f"{what} needs a finite number; got {text!r}")
    return value


def figure_from(name: str, set_: list[str] | None) -> Character:
    """Returns a figure of the library with NAME=VALUE parameters, or the body of an .xml or .urdf file."""
    from counterpoise.character.library import character
    from counterpoise.character.loading import load_character

    if FilePath(name).suffix.lower() in (".xml", ".mjcf", ".urdf"):
        if set_:
            raise BadValue("--set is for figures of the library; a file has no parameters")
        return load_character(name)
    return character(name, **parameters(set_))


def push_from(text: str, seconds: float | None = None) -> Push:
    """Reads BODY:FX,FY,FZ@START+DURATION, of a push that starts within `seconds`."""
    from counterpoise.simulate import Push

    body, colon, rest = text.partition(":")
    force, at, when = rest.partition("@")
    begin, plus, duration = when.partition("+")
    if not (colon and at and plus and body):
        raise BadValue(f"a push is BODY:FX,FY,FZ@START+DURATION, such as thorax:80,0,0@1.0+0.1; got {text!r}")
    parts = [number_from(x, "a push's force") for x in force.split(",")]
    if len(parts) != 3:
        raise BadValue(f"a push has three force components FX,FY,FZ [N]; got {force!r}")
    start = number_from(begin, "a push's start")
    if not 0.0 <= start < (math.inf if seconds is None else seconds):
        end = "" if seconds is None else f" and before the end, {seconds:g} s"
        raise BadValue(f"a push starts at 0 s or later{end}; got {text!r}")
    return Push(body, (parts[0], parts[1], parts[2]), start, number_from(duration, "a push's duration"))


def platform_from(texts: list[str] | None) -> Platform | None:
    """Reads several AXIS:AMPLITUDE@HZ; an axis given twice is a sum of sines."""
    from counterpoise.simulate.world import AXES, Platform, Sine

    if not texts:
        return None
    axes: dict[str, Any] = {}
    for text in texts:
        axis, colon, rest = text.partition(":")
        amplitude, at, frequency = rest.partition("@")
        if axis not in AXES:
            raise unknown_name("platform axis", axis, AXES)
        if not (colon and at):
            raise BadValue(f"a platform axis is AXIS:AMPLITUDE@HZ, such as x:0.05@0.5; got {text!r}")
        wave = Sine(number_from(amplitude, "amplitude"), number_from(frequency, "frequency"))
        axes[axis] = (*axes.get(axis, ()), wave)
    return Platform(**axes)


def tilt_from(text: str) -> tuple[float, float]:
    """Reads ROLL,PITCH in degrees."""
    parts = [number_from(x, "--tilt") for x in text.split(",")]
    if len(parts) != 2:
        raise BadValue(f"--tilt takes ROLL,PITCH in degrees; got {text!r}")
    return parts[0], parts[1]


def size_from(text: str, default: tuple[int, int]) -> tuple[int, int]:
    """Reads WIDTHxHEIGHT in pixels; the default if it is empty."""
    if not text:
        return default
    width, x, height = text.lower().partition("x")
    if not (x and width.isdecimal() and height.isdecimal()):
        raise BadValue(f"a size is WIDTHxHEIGHT in pixels, such as 640x480; got {text!r}")
    if min(int(width), int(height)) < SMALLEST:
        raise BadValue(f"a picture is at least {SMALLEST} pixels wide and high; got {text!r}")
    return int(width), int(height)


def controller_from(behaviour: str, character: Character, reference: str | None, stiffness: float) -> Controller:
    """Returns the controller of a behaviour: passive or hold."""
    from counterpoise.control import HoldPose, Passive

    if behaviour not in ("passive", "hold"):
        raise unknown_name("behaviour", behaviour, ("passive", "hold"))
    if behaviour == "passive":
        if reference is not None:
            raise BadValue("a passive figure cannot follow a reference: use 'hold' with --reference")
        return Passive()
    return HoldPose(motion_from(reference, character) if reference is not None else None, stiffness=stiffness)


def motion_from(name: str, character: Character, **options: Any) -> Motion:
    """Returns a reference motion by name, or the motion of a file or recording, retargeted where the body is another.

    It begins at 0 s.
    """
    from dataclasses import replace

    from counterpoise.character.character import Character as Body
    from counterpoise.motion.files.hub import same_body
    from counterpoise.motion.retarget.transfer import retarget
    from counterpoise.simulate import Recording

    motion = source_from(name, character, **options)
    if isinstance(motion, Body):
        raise BadValue(f"{name!r} is a figure, not a motion")
    if isinstance(motion, Recording):
        motion = motion.motion
    if motion.character is not character:
        fits = same_body(motion.character, character)
        motion = replace(motion, character=character) if fits else retarget(motion, character)
    return motion if motion.start == 0.0 else motion.shifted(-motion.start)


def source_from(source: str, character: Character | None = None, **options: Any) -> Recording | Motion | Character:
    """Returns what a text names: a motion file of any format, a recording, a reference motion, or a figure.

    A `character` performs reference motions and moves files that hold no character; files of other bodies are
    retargeted onto it. Recordings stay as they are. `options` go to `read_motion`.
    """
    from counterpoise.character.library import character as find
    from counterpoise.character.library import library
    from counterpoise.files import open_archive
    from counterpoise.motion import reference_motion, reference_motions
    from counterpoise.motion.files.hub import read_motion
    from counterpoise.simulate import Recording

    path = FilePath(source)
    suffix = path.suffix.lower()
    useless = [name for name, value in options.items() if value is not None]
    if suffix in (".xml", ".mjcf", ".urdf"):
        _refuse(useless, source, "a figure")
        return figure_from(source, None)
    if suffix == ".npz":
        with open_archive(source, "recording or motion") as archive:
            recorded = "model_mjb" in archive.names
        if recorded:
            _refuse(useless, source, "a recording")
            return Recording.load(source)
    if suffix or path.exists():
        return read_motion(source, character, skip_rest_frame=True, **options)
    motions = [reference.name for reference in reference_motions()]
    if source in motions:
        _refuse(useless, source, "a reference motion")
        return reference_motion(source, character if character is not None else find("human"))
    if source in library():
        _refuse(useless, source, "a figure")
        return find(source)
    raise unknown_name("motion file, reference motion or figure", source, [*motions, *library()])


def _refuse(options: list[str], source: str, kind: str) -> None:
    """Refuses options of how a file is read, where there is none to read."""
    if options:
        raise BadValue(f"`{options[0]}` is for files of other programs; {source!r} is {kind}")


def props_from(source: str | None) -> DrawnScene | None:
    """Returns the terrain of a TOML file, or what a stunt (.toml) stands on and holds, as it is drawn."""
    if source is None:
        return None
    from counterpoise.render.props import props_of, terrain_scene
    from counterpoise.spacetime.stunt.reading import open_toml
    from counterpoise.spacetime.stunt.stunt import read_stunt
    from counterpoise.spacetime.stunt.terrain import read_terrain

    if "duration" in open_toml(source, "terrain"):
        return props_of(read_stunt(source))
    return terrain_scene(read_terrain(source))


def check_targets(targets: dict[FilePath | None, tuple[str, ...]]) -> None:
    """Refuses a bad output path before any work is done."""
    for path, accepted in targets.items():
        if path is None:
            continue
        if path.suffix.lower() not in accepted:
            raise BadValue(f"{str(path)!r} must end in {' or '.join(accepted)}")
        check_writable(path)


def named_numbers(text: str, option: str, count: tuple[int, ...]) -> tuple[str, list[float]]:
    """Reads NAME=NUMBER,NUMBER,... with as many numbers as `count` allows."""
    name, equals, numbers = text.partition("=")
    values = [number_from(x, option) for x in numbers.split(",")] if equals else []
    if not name or len(values) not in count:
        shape = " or ".join(str(c) for c in count)
        raise BadValue(f"{option} takes NAME=NUMBERS with {shape} number(s) after the =; got {text!r}")
    return name, values


def pose_start(source: str | None, character: Character) -> Any:
    """Returns the last frame of a motion to start from, or None for the neutral pose."""
    if source is None:
        return None
    return motion_from(source, character).poses[-1]


def path_from(text: str, seconds: float, speed: str) -> Path:
    """Reads BODY=X,Y,Z:X,Y,Z:..., a path through points, or BODY=FILE.csv, a stroke with columns t, x, y, z."""
    from counterpoise.pose.paths import Path

    body, equals, course = text.partition("=")
    if not (equals and body and course):
        raise BadValue(f"a path is BODY=X,Y,Z:X,Y,Z:... or BODY=stroke.csv; got {text!r}")
    if course.lower().endswith((".csv", ".txt")):
        return Path.from_stroke(body, _table(FilePath(course)))
    points = [[number_from(x, "a path's point") for x in place.split(",")] for place in course.split(":")]
    if any(len(point) != 3 for point in points):
        raise BadValue(f"every point of a path has three coordinates X,Y,Z [m]; got {course!r}")
    return Path.through(body, points, duration=seconds, speed=speed)


def _table(path: FilePath) -> list[list[float]]:
    """Rows of numbers t, x, y, z from a text file; a first line of words is skipped."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise BadFile(f"no file {str(path)!r}", path=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot read {str(path)!r} as text: {error}", path=str(path)) from None
    rows = []
    for number, line in enumerate(lines, start=1):
        cells = [cell for cell in line.replace(";", ",").replace("\t", ",").split(",") if cell.strip()]
        if not cells or (number == 1 and not _numeric(cells[0])):
            continue
        if len(cells) != 4 or not all(_numeric(cell) for cell in cells):
            raise BadFile(f"{str(path)!r}, line {number}: a stroke has four numbers t, x, y, z; got {line[:60]!r}")
        rows.append([float(cell) for cell in cells])
    return rows


def _numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
