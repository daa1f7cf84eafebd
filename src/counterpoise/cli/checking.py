"""The verb `check`: whether a motion is physically possible, and how clean it is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli import clips
from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.clip_folders import (
    ONE_MOTION,
    FolderRun,
    clips_in,
    given_only,
    is_many,
    only_for_many,
    only_for_one,
    run_task,
    takes_folders,
)
from counterpoise.cli.output import bar, say, say_json
from counterpoise.phrases import check_targets
from counterpoise.progress import Progress

if TYPE_CHECKING:
    from counterpoise.spacetime.check import CheckReport

_PROGRESS_DELAY = 2.0  # [s] before a progress bar appears


@app.command()
@takes_folders
def check(
    source: clips.Clip,
    figure_name: clips.FigureName = None,
    set_: Set = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw all measures over time (.png, .pdf, .svg).")
    ] = None,
    friction: clips.Friction = None,
    floor: clips.Floor = None,
    hold: clips.Holding = None,
    smooth: Annotated[
        float | None, typer.Option(min=0.0, max=10.0, help="Width of the smoothing for accelerations [s].")
    ] = None,
    max_skate: Annotated[float | None, typer.Option(help="Most skating of planted feet [cm/s], rms.")] = None,
    max_penetration: Annotated[float | None, typer.Option(help="Deepest point below the floor [cm].")] = None,
    max_float: Annotated[float | None, typer.Option(help="Height of standing feet [cm], in 95% of the frames.")] = None,
    max_limit: Annotated[float | None, typer.Option(help="Largest angle beyond joint limits [deg].")] = None,
    max_force: Annotated[float | None, typer.Option(help="Residual force over 0.3 s [% of body weight], rms.")] = None,
    max_lean: Annotated[float | None, typer.Option(help="Residual that lasts for 1 s [% of body weight].")] = None,
    max_balance: Annotated[float | None, typer.Option(help="Centre of pressure outside the feet [cm], rms.")] = None,
    max_carried: Annotated[float | None, typer.Option(help="Time carried by something not shown [s].")] = None,
    max_flight: Annotated[float | None, typer.Option(help="Error of the gravity in flight [%].")] = None,
    max_drift: Annotated[float | None, typer.Option(help="Change of angular momentum in flight [%].")] = None,
    max_torque: Annotated[
        float | None, typer.Option(help="Joint torque [% of strength], in 99% of the frames.")
    ] = None,
    max_leap: Annotated[float | None, typer.Option(help="Acceleration from frame to frame [m/s^2].")] = None,
    max_jitter: Annotated[float | None, typer.Option(help="Jitter [mm], rms.")] = None,
    max_jerk: Annotated[float | None, typer.Option(help="Jerk [m/s^3], in 95% of the frames.")] = None,
    figure: clips.WhichFigure = 0,
    units: clips.Units = None,
    up: clips.Up = None,
    rate: clips.Rate = None,
    clean: Annotated[
        bool, typer.Option("--clean", help="Ask for clean motion too: no skate, float, sinking or jitter.")
    ] = False,
    frames: Annotated[bool, typer.Option("--frames", help="With --json: the measures of every frame, too.")] = False,
    as_json: Json = False,
    many: FolderRun = ONE_MOTION,
) -> None:
    """Check whether a motion is physically possible, and how clean it is; or all motions of a folder.

    Exit code 0: possible; 1: not possible, or with --clean not clean; 2: the file cannot be read. Of a folder or a
    pattern: 0 where all are; 130: stopped by Ctrl-C (with --table rows are kept, and the same command goes on).
    """
    from counterpoise.spacetime.check import CheckTuning, check_motion

    check_targets({plot: (".png", ".pdf", ".svg")})
    given: dict[str, Any] = {
        "friction": friction, "smooth": smooth, "max_skate": max_skate, "max_penetration": max_penetration,
        "max_float": max_float, "max_limit": max_limit, "max_force": max_force, "max_lean": max_lean,
        "max_balance": max_balance,
        "max_carried": max_carried, "max_flight": max_flight, "max_drift": max_drift, "max_torque": max_torque,
        "max_leap": max_leap, "max_jitter": max_jitter, "max_jerk": max_jerk, "floor": clips.floor_from(floor),
    }  # fmt: skip
    tuning = CheckTuning(**given_only(given))
    options, holds = clips.reading_options(units, up, rate), clips.holds_from(hold)
    if is_many(source):
        only_for_one(plot=plot, hold=hold, frames=frames, set=set_)
        check_targets({many.table: (".csv",)})
        files, _ = clips_in(source)
        fixed = {"character": figure_name, "reading": given_only(options), "tuning": given_only(given)}
        run_task("check", files, fixed, "clean" if clean else "possible", many, as_json)
        return
    only_for_many(table=many.table, jobs=many.jobs, engine=many.engine != ONE_MOTION.engine)
    with bar(as_json) as show:
        began = time.monotonic()

        def progress(now: Progress) -> bool:
            late = time.monotonic() - began > _PROGRESS_DELAY
            return show(now) if late else not show.stopped

        motion = clips.motion_of_source(source, figure_name, set_, figure, options)
        report = check_motion(motion, holds=holds, tuning=tuning, progress=progress)
    if plot is not None:
        from counterpoise.render.check_plot import plot_check

        plot_check(report, plot)
    if as_json:
        say_json(report.to_json(frames=frames))
    else:
        _print(report)
        if plot is not None:
            say(f"wrote {plot}")
    if not report.possible or (clean and not report.clean):
        raise typer.Exit(1)


def _print(report: CheckReport) -> None:
    from rich.markup import escape
    from rich.table import Table

    title = f"{report.motion or 'motion'} on {report.character} ({report.height:.2f} m, {report.mass:.3g} kg): "
    title += f"{len(report.frames.times)} frames"
    title += f", {len(report.contacts)} contacts, {len(report.flights)} flights"
    table = Table("", "", "measured", "allowed", "worst", "when [s]", "where", title=escape(title))
    physics = [f for f in report.findings if f.physics]
    for f in [*physics, *(f for f in report.findings if not f.physics)]:
        if physics and f.name == next((g.name for g in report.findings if not g.physics), None):
            table.add_section()
        span = f"{f.start:.2f}-{f.end:.2f}" if f.start == f.start else ""
        mark = "[green]ok[/]" if f.ok else "[bold red]x[/]"
        numbers = (f"{clips.short(f.value)} {f.unit}", clips.short(f.limit), clips.short(f.worst))
        table.add_row(f.name, mark, *numbers, span, escape(f.where))
    say(table)
    say(escape(report.verdict))
