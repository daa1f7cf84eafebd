"""How verbs answer: text, tables, JSON, progress bars, and the pictures asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterpoise.motion.motion import Motion
    from counterpoise.render.scene import Scene
    from counterpoise.simulate.recording import Recording

Progress = Callable[[str, float], None]  # called with the stage and the share of it that is done


def draw(
    recording: Recording | Motion, video: Path | None, png: Path | None, report: Progress, props: Scene | None = None
) -> None:
    """Draws the filmstrip and the video, where a path is given; `props` are terrain and bars of a motion."""
    if video is None and png is None:
        return
    from counterpoise.render import filmstrip
    from counterpoise.render import video as film
    from counterpoise.render.sources import take_of

    take = take_of(recording, props=props)
    if png is not None:
        filmstrip(take, path=png)
    if video is not None:
        film(take, video, progress=lambda done, all_: report("drawing", done / all_))


@contextmanager
def bar(quiet: bool) -> Iterator[Progress]:
    """Yields a function that moves a progress bar, one line a stage. It is on standard error; answers can be piped."""
    if quiet:
        yield lambda stage, share: None
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

    def report(stage: str, share: float) -> None:
        if not tasks:
            progress.start()  # not before: an error before the work begins stays one line
        if stage not in tasks:
            tasks[stage] = progress.add_task(stage, total=1.0)
        progress.update(tasks[stage], completed=min(share, 1.0))

    try:
        yield report
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
