"""The verb that makes a motion possible: fix."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.clips import (
    Clip,
    FigureName,
    Floor,
    Friction,
    Holding,
    Rate,
    Units,
    Up,
    WhichFigure,
    floor_from,
    holds_from,
    motion_of_source,
    reading_options,
    short,
)
from counterpoise.cli.telling import bar, say, say_json
from counterpoise.phrases import check_targets

if TYPE_CHECKING:
    from counterpoise.motion.motion import Motion
    from counterpoise.spacetime.fix import FixResult


@app.command()
def fix(
    source: Clip,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help=".bvh, .glb, .npz, ...: the fixed motion.")],
    figure_name: FigureName = None,
    set_: Set = None,
    report: Annotated[Path | None, typer.Option("--report", metavar="FILE", help=".json: before and after.")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help=".png, .pdf or .svg: before and after.")
    ] = None,
    friction: Friction = None,
    floor: Floor = None,
    hold: Holding = None,
    near: Annotated[float | None, typer.Option(help="Smaller keeps nearer to the original [m].")] = None,
    force: Annotated[float | None, typer.Option(help="Smaller leaves less from nowhere [body weights].")] = None,
    calm: Annotated[float | None, typer.Option(help="Smoothing of the captured tremble [s]; 0 keeps it.")] = None,
    window: Annotated[float | None, typer.Option(help="Done at a time [s].")] = None,
    figure: WhichFigure = 0,
    units: Units = None,
    up: Up = None,
    rate: Rate = None,
    as_json: Json = False,
) -> None:
    """The least change that makes a motion physically possible; exit code 0, or 2 where it cannot be read.

    Interrupted, it writes what was done so far, the rest as it was.
    """
    from counterpoise.motion.files.hub import format_of
    from counterpoise.spacetime.fix import FixTuning, fix_motion

    format_of(out, "write")
    check_targets({out: (out.suffix.lower(),), plot: (".png", ".pdf", ".svg"), report: (".json",)})
    said: dict[str, Any] = {
        "friction": friction, "near": near, "force": force, "calm": calm, "window": window, "floor": floor_from(floor),
    }  # fmt: skip
    tuning = FixTuning(**{k: v for k, v in said.items() if v is not None})
    options, holds = reading_options(units, up, rate), holds_from(hold)
    motion = motion_of_source(source, figure_name, set_, figure, options)
    with bar(as_json) as tell:
        result = fix_motion(motion, holds=holds, tuning=tuning, progress=tell)
    whole = _with_rest_frame(result.motion, source, figure_name, options)
    whole.write(out)
    told = {"input": source, "output": str(out), **result.to_json()}
    if report is not None:
        from counterpoise.files import whole_file

        with whole_file(report) as place:
            place.write_text(json.dumps(told, indent=1, allow_nan=False), encoding="utf-8")
    if plot is not None:
        from counterpoise.render.fix_plot import plot_fix

        plot_fix(result, motion, plot)
    if as_json:
        say_json(told)
        return
    _tell(result)
    for path in (out, report, plot):
        if path is not None:
            say(f"wrote {path}")


def _with_rest_frame(fixed: Motion, source: str, figure_name: str | None, options: dict[str, Any]) -> Motion:
    """A T-pose that a file puts before the movement is no part of it, but the file written has it too."""
    if figure_name is not None or Path(source).suffix.lower() not in (".bvh", ".amc", ".glb", ".gltf"):
        return fixed
    import numpy as np

    from counterpoise.motion.files.hub import read_motion

    whole = read_motion(source, skip_rest_frame=False, **options)
    if len(whole) != len(fixed) + 1:
        return fixed
    return replace(whole, poses=np.concatenate([whole.poses[:1], fixed.poses]), name=fixed.name)


def _tell(result: FixResult) -> None:
    from rich.markup import escape
    from rich.table import Table

    done = result.motion
    title = f"{done.name or 'motion'} on {done.character.name}: {len(done)} frames in {result.seconds:.1f} s"
    table = Table("", "before", "after", "unit", title=escape(title))
    after = {finding.name: finding for finding in result.after.findings}
    for was in result.before.findings:
        now = after.get(was.name)
        table.add_row(was.name, short(was.value), short(now.value) if now else "", escape(was.unit))
    say(table)
    say(escape(result.summary))
    if result.frozen:
        say(escape(f"Not used: {', '.join(result.frozen)}."))
