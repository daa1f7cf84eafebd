"""The verb `optimize`: a motion from the keys, contacts and wishes of a stunt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli.app import Json, app
from counterpoise.cli.output import FRAME_RATE, bar, draw, ended, progress_lines, say, say_json, written_suffixes
from counterpoise.phrases import check_targets
from counterpoise.progress import Progress, watching

if TYPE_CHECKING:
    from counterpoise.motion.motion import Motion
    from counterpoise.render.scene import DrawnScene
    from counterpoise.spacetime.optimize import OptimizeProgress, Result
    from counterpoise.spacetime.stunt.stunt import Stunt

_PROGRESS_INTERVAL = 2.0  # [s] between lines of progress without a terminal
_MAX_STRAIN = 1.01  # share of a joint's strength above which a torque limit is suggested


@app.command()
def optimize(
    source: Annotated[Path, typer.Argument(metavar="STUNT", help="A stunt (.toml): keys, contacts, wishes.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the motion: .npz, .bvh, .glb, .gltf, .usd, .csv.")
    ] = None,
    video: Annotated[Path | None, typer.Option("--video", help="Write a video (.mp4, .gif, .webp).")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw a filmstrip (.png).")] = None,
    fps: Annotated[
        float | None,
        typer.Option(help="Frames a second of the file; 240 for .npz, 60 for others.", min=1.0, max=10_000.0),
    ] = None,
    limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop after this time and keep the best motion.", min=0.0)
    ] = None,
    describe: Annotated[bool, typer.Option("--describe", help="Print the problem first: variables, rows.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress; only the result.")] = False,
    as_json: Json = False,
) -> None:
    """Optimise a physically possible motion for a stunt. Ctrl-C stops it and keeps the best motion so far.

    Exit code 0: solved, also between the knots; 1: solved with exceptions, which are named, or unsolved (the
    motion with the least violation is written, and conflicts are named); 2: the stunt cannot be read; 130: stopped by
    Ctrl-C.
    """
    from counterpoise.spacetime.optimize import OptimizeProgress
    from counterpoise.spacetime.stunt.stunt import read_stunt

    check_targets({out: written_suffixes(), video: (".mp4", ".gif", ".webp"), png: (".png",)})
    stunt = read_stunt(source)
    problem = stunt.problem()
    if describe and not as_json:
        say(problem.describe())
    with _progress(quiet or as_json) as show:
        began = time.monotonic()

        def watch(progress: Progress) -> bool:
            if isinstance(progress, OptimizeProgress):
                show(progress)
            return limit is None or time.monotonic() - began < limit

        with watching(watch) as reporter:
            result = stunt.optimize(callback=reporter, problem=problem)
    motion = result.motion.named(stunt.name)
    if out is not None:
        _write(motion, out, fps)
    if not reporter.interrupted:
        with bar(quiet or as_json) as show_drawing:
            draw(motion, video, png, show_drawing, _props(stunt, video or png))
    asked = {"motion": out} if reporter.interrupted else {"motion": out, "video": video, "filmstrip": png}
    files = {k: str(v) for k, v in asked.items() if v is not None}
    if as_json:
        say_json(_as_json(stunt, result, files))
    else:
        _print(stunt, result)
        for path in files.values():
            say(f"wrote {path}")
    ended(reporter, 0 if result.ok else 1)


def _props(stunt: Stunt, drawn: Path | None) -> DrawnScene | None:
    """What the stunt stands on and holds, where it is drawn."""
    if drawn is None:
        return None
    from counterpoise.render.props import props_of

    return props_of(stunt)


def _write(motion: Motion, out: Path, fps: float | None) -> None:
    from counterpoise.motion.files.hub import write_motion

    own = out.suffix.lower() == ".npz"
    write_motion(motion, out, rate=fps if fps is not None else None if own else FRAME_RATE)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[OptimizeProgress], object]]:
    """One line that is rewritten at every iteration; without a terminal, a line every few seconds."""
    lines = progress_lines()
    if lines is not None or quiet:
        yield lines if lines is not None else lambda progress: None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    if console.is_terminal:
        with Live(Text("setting up"), console=console, transient=True, auto_refresh=False) as live:
            yield lambda progress: live.update(Text(_line(progress), no_wrap=True, overflow="ellipsis"), refresh=True)
        return
    last = [time.monotonic()]

    def show(progress: OptimizeProgress) -> None:
        if time.monotonic() - last[0] > _PROGRESS_INTERVAL:
            last[0] = time.monotonic()
            console.print(_line(progress), soft_wrap=True)

    yield show


def _line(p: OptimizeProgress) -> str:
    stage = "exact" if p.exact else "searching"
    head = f"iteration {p.iteration:3d}  {p.seconds:.1f} s  {stage:9}  objective {p.objective:.4g}"
    return f"{head}  worst violation {p.violation:.0e} {p.worst}"


def _as_json(stunt: Stunt, result: Result, files: dict[str, str]) -> dict[str, Any]:
    return {
        "stunt": stunt.name, "character": stunt.character.name, "grade": result.grade, "status": result.status,
        "ok": result.ok,
        "iterations": result.iterations, "seconds": result.seconds, "objective": result.objective,
        "worst": result.worst,
        "violations": [{"name": v.name, "time": v.time, "amount": v.amount} for v in result.violations],
        "exceptions": [vars(e) | {"text": str(e)} for e in result.exceptions],
        "conflicts": list(result.conflicts), "notes": list(result.notes), "moments": result.times,
        "between": result.between,
        "impacts": [{"time": i.time, "approach": i.approach, "force": i.force} for i in result.impacts()],
        "strains": [{"joint": s.joint, "share": s.share, "time": s.time} for s in result.strains()],
        "duration": result.motion.duration, "files": files,
    }  # fmt: skip


def _print(stunt: Stunt, result: Result) -> None:
    from rich.markup import escape
    from rich.table import Table

    colour = "green" if result.ok else "yellow" if result.exact else "bold red"
    mark = f"[{colour}]{escape(result.status)}[/]"
    say(f"{escape(stunt.name)}: {mark} in {result.iterations} iterations, {result.seconds:.2f} s")
    for conflict in result.conflicts:
        say(f"in conflict: {escape(conflict)}")
    if not result.exact and result.violations:
        table = Table("violated", "time [s]", "by (body weights, m, rad)")
        for v in result.violations:
            table.add_row(escape(v.name), f"{v.time:.3f}", f"{v.amount:.2g}")
        say(table)
    for exception in result.exceptions:
        say(f"exception: {escape(str(exception))}")
    for note in result.notes:
        say(f"note: {escape(note)}")
    if result.times:
        say("moments: " + escape(", ".join(f"{k} at {v:.3f} s" for k, v in result.times.items())))
    if result.between:
        say("error between the knots: " + escape(", ".join(f"{k} {v:.2%}" for k, v in result.between.items())))
    for impact in result.impacts():
        say(escape(str(impact)))
    if strains := result.strains():
        advice = (
            '; a [[wish]] of kind = "torque" keeps every joint within its strength'
            if strains[0].share > _MAX_STRAIN
            else ""
        )
        say(escape(f"{strains[0]}{advice}"))
