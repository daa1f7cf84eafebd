"""How verbs answer: text, tables, JSON, progress bars, and the pictures asked for."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from counterpoise.progress import Progress, Reporter, Watch, watching

if TYPE_CHECKING:
    from counterpoise.motion.motion import Motion
    from counterpoise.render.scene import DrawnScene
    from counterpoise.simulate.recording import Recording

FRAME_RATE = 60.0  # [1/s] in files for other programs
_LINE_INTERVAL = 0.2  # [s] between lines of progress for another program


def draw(
    recording: Recording | Motion,
    video: Path | None,
    png: Path | None,
    report: Reporter,
    props: DrawnScene | None = None,
) -> None:
    """Draws the filmstrip and the video, where a path is given and the verb was not stopped, with `props`."""
    if (video is None and png is None) or report.stopped:
        return
    from counterpoise.render import filmstrip
    from counterpoise.render import video as film
    from counterpoise.render.sources import take_of

    take = take_of(recording, props=props, smooth=None)
    if png is not None:
        filmstrip(take, path=png)
    if video is not None:
        film(take, video, progress=report)


def written_suffixes() -> tuple[str, ...]:
    """Returns the suffixes of motion files that can be written."""
    from counterpoise.motion.files.hub import FORMATS

    return tuple(suffix for suffix, entry in FORMATS.items() if entry.writer)


def save_run(recording: Recording, out: Path, timings: bool = False) -> None:
    """Saves a recording (.npz), or writes the motion of its first figure in the format of the suffix."""
    if out.suffix.lower() == ".npz":
        recording.save(out, timings=timings)
    else:
        recording.motion.write(out, rate=FRAME_RATE)


@contextmanager
def bar(quiet: bool) -> Iterator[Reporter]:
    """Yields who watches: a bar for each stage, on standard error, so that answers can be piped.

    Ctrl-C inside asks the work to stop; `ended` then ends the verb with exit code 130.
    """
    with _bars(quiet) as watch, watching(watch) as reporter:
        yield reporter


def ended(reporter: Reporter, code: int = 0) -> None:
    """Ends a verb: with exit code 130 after Ctrl-C, otherwise with `code`."""
    if reporter.interrupted:
        end_stopped()
    if code:
        raise typer.Exit(code)


def end_stopped() -> NoReturn:
    """Ends a verb that was stopped by Ctrl-C: it says so, with exit code 130. What it kept is said before."""
    print("counterpoise: stopped", file=sys.stderr)
    raise typer.Exit(130)


def progress_lines() -> Watch | None:
    """Returns what prints progress as lines for another program, where that asks for it; None otherwise.

    A program that starts a verb sets COUNTERPOISE_PROGRESS=lines and reads "progress SHARE STAGE" on standard error.
    """
    if os.environ.get("COUNTERPOISE_PROGRESS") != "lines":
        return None
    last = [-1.0]

    def show(now: Progress) -> None:
        if time.monotonic() - last[0] > _LINE_INTERVAL:
            last[0] = time.monotonic()
            print(f"progress {min(max(now.share, 0.0), 1.0):.3f} {now.stage}", file=sys.stderr, flush=True)

    return show


@contextmanager
def _bars(quiet: bool) -> Iterator[Watch | None]:
    lines = progress_lines()
    if lines is not None:
        yield lines
        return
    if quiet:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    progress = Bars(*columns, console=Console(stderr=True))
    tasks: dict[str, TaskID] = {}

    def show(now: Progress) -> None:
        if not tasks:
            progress.start()  # not before: an error before the work begins stays one line
        if now.stage not in tasks:
            tasks[now.stage] = progress.add_task(now.stage, total=1.0)
        progress.update(tasks[now.stage], completed=min(now.share, 1.0))

    try:
        yield show
    finally:
        if tasks:
            progress.stop()


def say(thing: Any) -> None:
    """Prints text or a table."""
    from rich.console import Console

    Console().print(thing, highlight=False)


def say_json(value: Any) -> None:
    """Prints a value as JSON."""
    print(json.dumps(value, indent=1, allow_nan=False))


def plain(values: Any) -> list[float | None]:
    """Returns an array as a list for JSON, with None for NaN."""
    return [None if v != v else float(v) for v in values.tolist()]


def written(files: Mapping[str, Path | None]) -> dict[str, str]:
    """Returns the files that were asked for, as text by name."""
    return {name: str(path) for name, path in files.items() if path is not None}
