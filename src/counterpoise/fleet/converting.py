"""Converting many motion files at once: `convert_files`, behind the verb `counterpoise convert`."""

from __future__ import annotations

import glob
import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from counterpoise.character import Character
from counterpoise.errors import BadValue
from counterpoise.files import open_archive
from counterpoise.fleet.engines import check_engine, engine_answers
from counterpoise.fleet.planning import PathLike, Step, plan_conversion
from counterpoise.motion.clips import chosen_frames, frames_of_motion
from counterpoise.motion.files.axes import axis, metres
from counterpoise.motion.files.hub import FORMATS, read_motion, same_body
from counterpoise.motion.motion import Motion
from counterpoise.progress import Watch, watching


@dataclass(frozen=True)
class Converted:
    """The result of one file."""

    input: Path
    output: Path
    status: Literal["done", "failed", "skipped", "stopped"]
    why: str = ""  # the reason in one line, if it is not done
    frames: int = 0  # written
    rate: float = 0.0  # [1/s]
    remarks: tuple[str, ...] = ()  # what was guessed in reading


@dataclass(frozen=True)
class Conversion:
    """The results of all files."""

    files: tuple[Converted, ...]
    seconds: float  # that it took
    interrupted: bool = False

    def of(self, status: str) -> tuple[Converted, ...]:
        """Returns the files that are "done", "failed", "skipped" or "stopped"."""
        return tuple(one for one in self.files if one.status == status)

    def __str__(self) -> str:
        counts = {status: len(self.of(status)) for status in ("done", "failed", "skipped", "stopped")}
        return ", ".join(f"{count} {status}" for status, count in counts.items() if count or status == "done")


def convert_files(
    inputs: PathLike | Sequence[PathLike],
    out: PathLike,
    *,
    to: str | None = None,
    character: Character | str | None = None,
    rate: float | None = None,
    frames: tuple[int | None, int | None] | None = None,
    bodies: Sequence[str] | None = None,
    units: str | float | None = None,
    up: str | None = None,
    source_rate: float | None = None,
    out_units: str | float | None = None,
    out_up: str | None = None,
    figure: int | str | None = None,
    jobs: int | None = None,
    force: bool = False,
    engine: str = "processes",
    progress: Watch | None = None,
) -> Conversion:
    """Converts motion files and recordings in `jobs` processes (by default as many as cores).

    A file that fails does not stop the others. `inputs`, `out`, `to` and `force` are as in `plan_conversion`. A
    `character` is retargeted to. `rate` [1/s] is that of the files written, `frames` (first, last), both included and
    either None, are frames of the input, `bodies` the segments to keep. `units`, `up` and `source_rate` are those of
    the inputs, if these do not have them or have them wrong; `out_units` and `out_up` are those of a BVH that is
    written. `engine` is "processes", or "ray" and "ray://address" for a cluster that sees the same files. `figure` is
    the figure of a recording, counted from 0, or the root's name in a BVH with several. Ctrl-C, or a
    falsy answer of `progress`, stops; files that are done stay.
    """
    check_engine(engine)
    steps = plan_conversion(inputs, out, to=to, force=force)
    options: dict[str, Any] = {
        "rate": _positive("rate", rate),
        "frames": list(frames) if frames is not None else None,
        "bodies": list(bodies) if bodies is not None else None,
        "units": units,
        "up": up,
        "source_rate": _positive("source_rate", source_rate),
        "out_units": out_units,
        "out_up": out_up,
        "figure": figure,
        "character": _mjcf(character),
    }
    for unit in (units, out_units):
        metres(unit) if unit is not None else None
    for name in (up, out_up):
        axis(name) if name is not None else None
    started = perf_counter()
    results = [Converted(step.input, step.output, "skipped" if step.skip else "stopped", step.skip) for step in steps]
    todo = [k for k, step in enumerate(steps) if not step.skip]
    tasks = [{"input": str(steps[k].input), "output": str(steps[k].output), **options} for k in todo]
    interrupted = False
    try:
        with watching(progress) as reporter:
            coming = engine_answers(engine, f"{__name__}:convert_one", tasks, jobs, lambda: reporter.stopped)
            with closing(coming):
                count = 0
                while reporter.report("converting", count / max(len(tasks), 1), f"{count} of {len(tasks)} files"):
                    answer = next(coming, None)
                    if answer is None:
                        break
                    count += 1
                    k = todo[answer.task]
                    results[k] = _result(steps[k], answer.value, answer.error)
            interrupted = count < len(tasks)
    except KeyboardInterrupt:
        reporter.interrupt()
        interrupted = True
    for one in results:
        if one.status in ("failed", "stopped"):
            _clean_up(one.output)
    return Conversion(tuple(results), perf_counter() - started, interrupted)


def convert_one(
    input: str,
    output: str,
    rate: float | None,
    frames: list[int | None] | None,
    bodies: list[str] | None,
    units: str | float | None,
    up: str | None,
    source_rate: float | None,
    out_units: str | float | None,
    out_up: str | None,
    figure: int | str | None,
    character: str | None,
) -> dict[str, Any]:
    """Converts one file, completely or not at all. Returns the frames and rate written, and what was guessed."""
    body = _figure(character) if character is not None else None
    part = _part(frames)
    read: dict[str, Any] = {"units": units, "up": up, "rate": source_rate}
    if (recorded := _recording(input, figure, {k: v for k, v in read.items() if v is not None})) is not None:
        motion = _onto(_cut(recorded, part), body)
    else:
        if figure is not None:
            if Path(input).suffix.lower() != ".bvh":
                raise BadValue(f"figure {figure!r} means nothing to a {Path(input).suffix.lower()} file")
            read["figure"] = str(figure)
        if body is None and FORMATS[Path(input).suffix.lower()].needs_character:
            raise BadValue(
                f"a {Path(input).suffix.lower()} file does not contain a character; give it with `character`"
            )
        motion = read_motion(input, body, frames=part, **read)
    remarks = motion.source.remarks if motion.source is not None else ()
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    options = {key: value for key, value in (("units", out_units), ("up", out_up)) if value is not None}
    motion.write(output, rate=rate, bodies=bodies, **options)
    times, _, written = frames_of_motion(motion, rate, None)
    return {"frames": len(times), "rate": written, "remarks": list(remarks)}


# --------------------------------------------------------------------------------------------------------- pieces


def _positive(what: str, value: float | None) -> float | None:
    if value is not None and not (math.isfinite(value) and value > 0.0):
        raise BadValue(f"a {what} is a positive number of frames per second, not {value!r}", **{what: value})
    return value


def _mjcf(character: Character | str | None) -> str | None:
    """Returns the character as text, from which a worker builds it again."""
    if isinstance(character, str):
        from counterpoise.character.library import character as find

        character = find(character)
    return character.to_mjcf() if character is not None else None


@lru_cache(maxsize=1)
def _figure(mjcf: str) -> Character:
    return Character.from_mjcf(mjcf)


def _part(frames: Sequence[int | None] | None) -> tuple[int, int] | slice | None:
    if frames is None:
        return None
    first, last = frames
    return (first or 0, last) if last is not None else slice(first or 0, None)


def _recording(path: str, figure: int | str | None, read: dict[str, Any]) -> Motion | None:
    """Returns the motion of one figure of a recording; None if the file is not a recording."""
    if Path(path).suffix.lower() != ".npz":
        return None
    with open_archive(path, "recording or motion") as archive:
        recorded = "model_mjb" in archive.names
    if not recorded:
        return None
    from counterpoise.simulate import Recording

    for name in read:
        raise BadValue(f"a recording has its own {name}: leave it out")
    recording = Recording.load(path)
    count, which = len(recording.figures), str(figure if figure is not None else 0)
    if not (which.isascii() and which.isdigit() and int(which) < count):
        raise BadValue(f"this recording has {count} figure(s), counted from 0; got {which!r}", figures=count)
    motion = recording.motion_of(int(which))
    return motion.named(Path(path).stem)


def _cut(motion: Motion, part: tuple[int, int] | slice | None) -> Motion:
    if part is None:
        return motion
    chosen = chosen_frames(part, len(motion))
    return replace(motion, times=motion.times[chosen], poses=motion.poses[chosen])


def _onto(motion: Motion, character: Character | None) -> Motion:
    """Returns the motion on a character, retargeted if it is not the same body."""
    if character is None:
        return motion
    if same_body(motion.character, character):
        return replace(motion, character=character)
    from counterpoise.motion.retarget.transfer import retarget

    return retarget(motion, character)


def _result(step: Step, value: dict[str, Any] | None, error: str) -> Converted:
    if error or value is None:
        return Converted(step.input, step.output, "failed", error)
    return Converted(step.input, step.output, "done", "", value["frames"], value["rate"], tuple(value["remarks"]))


def _clean_up(output: Path) -> None:
    """Removes the temporary file that a crashed process may have left; see `files.whole_file`."""
    for left in output.parent.glob(f".{'[0-9a-f]' * 12}.{glob.escape(output.name)}"):
        left.unlink(missing_ok=True)


__all__ = ["Conversion", "Converted", "convert_files", "convert_one", "plan_conversion"]
