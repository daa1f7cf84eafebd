"""Answering: tables, JSON, progress bars, pictures on the way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterpoise.motion.motion import Motion
    from counterpoise.simulate.recording import Recording


def draw(
    recording: Recording | Motion, video: Path | None, png: Path | None, tell: Callable[[str, float], None]
) -> None:
    """The filmstrip and the video a verb was asked for on the way."""
    if video is None and png is None:
        return
    from counterpoise.render import filmstrip
    from counterpoise.render import video as film
    from counterpoise.render.sources import take_of

    take = take_of(recording)
    if png is not None:
        filmstrip(take, path=png)
    if video is not None:
        film(take, video, progress=lambda done, all_: tell("drawing", done / all_))


@contextmanager
def bar(quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """A progress bar with one line a stage; on standard error, so that answers can be piped."""
    if quiet:
        yield lambda stage, share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True))
    tasks: dict[str, TaskID] = {}

    def tell(stage: str, share: float) -> None:
        if not tasks:
            progress.start()  # only now: an error before the work begins stays one line
        if stage not in tasks:
            tasks[stage] = progress.add_task(stage, total=1.0)
        progress.update(tasks[stage], completed=min(share, 1.0))

    try:
        yield tell
    finally:
        if tasks:
            progress.stop()


def say(thing: Any) -> None:
    from rich.console import Console

    Console().print(thing, highlight=False)


def say_json(value: Any) -> None:
    print(json.dumps(value, indent=1, allow_nan=False))


def plain(values: Any) -> list[float | None]:
    return [None if v != v else float(v) for v in values.tolist()]
