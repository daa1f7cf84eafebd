"""The verb that asks whether a motion is possible: check."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.telling import bar, say, say_json
from counterpoise.errors import BadValue, unknown_name
from counterpoise.phrases import check_targets, figure_from, number_from

if TYPE_CHECKING:
    from counterpoise.motion.motion import Motion
    from counterpoise.spacetime.check import CheckReport
    from counterpoise.spacetime.check_support import Hold

_PATIENCE = 2.0  # [s] before a progress bar appears


@app.command()
def check(
    source: Annotated[
        str,
        typer.Argument(metavar="CLIP", help="A motion file (bvh, amc, glb, npz, ...), a recording, or a reference."),
    ],
    figure_name: Annotated[
        str | None,
        typer.Option("--character", "-c", help="Retarget onto a figure of the library, or an .xml/.urdf file, first."),
    ] = None,
    set_: Set = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help=".png, .pdf or .svg: all of it.")] = None,
    friction: Annotated[float | None, typer.Option(help="Of the ground.")] = None,
    floor: Annotated[
        str | None, typer.Option(metavar="HEIGHT|fit", help="Where the ground is [m]; fit: where the feet stand.")
    ] = None,
    hold: Annotated[
        list[str] | None,
        typer.Option("--hold", metavar="BODY[@START+DURATION]", help="Hangs on to what is not shown. May be repeated."),
    ] = None,
    smooth: Annotated[float | None, typer.Option(help="Smoothing before forces are read [s].")] = None,
    max_skate: Annotated[float | None, typer.Option(help="[cm/s] rms.")] = None,
    max_penetration: Annotated[float | None, typer.Option(help="[cm] at worst.")] = None,
    max_float: Annotated[float | None, typer.Option(help="[cm] in 95% of the frames.")] = None,
    max_limit: Annotated[float | None, typer.Option(help="Beyond joint limits [deg].")] = None,
    max_force: Annotated[float | None, typer.Option(help="From nowhere [% of body weight], rms.")] = None,
    max_balance: Annotated[float | None, typer.Option(help="Centre of pressure beyond the feet [cm], rms.")] = None,
    max_flight: Annotated[float | None, typer.Option(help="In flight [% of body weight], rms.")] = None,
    max_drift: Annotated[float | None, typer.Option(help="Of angular momentum in flight [%].")] = None,
    max_torque: Annotated[float | None, typer.Option(help="[% of strength] in 99% of the frames.")] = None,
    max_jitter: Annotated[float | None, typer.Option(help="[mm] rms.")] = None,
    max_jerk: Annotated[float | None, typer.Option(help="[m/s^3] in 95% of the frames.")] = None,
    figure: Annotated[int, typer.Option(help="Which figure of a recording, from 0.")] = 0,
    units: Annotated[str | None, typer.Option(help="The file's units: m, cm, inch, ..., or metres a unit.")] = None,
    up: Annotated[str | None, typer.Option(help="The file's up axis: y, z, ...")] = None,
    rate: Annotated[float | None, typer.Option(help="The file's frames a second, where it does not tell.")] = None,
    frames: Annotated[bool, typer.Option("--frames", help="With --json: every frame's numbers too.")] = False,
    as_json: Json = False,
) -> None:
    """Is this motion physically possible? Exit code 0: yes, 1: no by the thresholds, 2: it cannot be read."""
    from counterpoise.spacetime.check import CheckTuning, check_motion

    check_targets({plot: (".png", ".pdf", ".svg")})
    if set_ and figure_name is None:
        raise BadValue("--set is for the figure to retarget onto: name it with --character")
    said: dict[str, Any] = {
        "friction": friction, "smooth": smooth, "max_skate": max_skate, "max_penetration": max_penetration,
        "max_float": max_float, "max_limit": max_limit, "max_force": max_force, "max_balance": max_balance,
        "max_flight": max_flight, "max_drift": max_drift, "max_torque": max_torque, "max_jitter": max_jitter,
        "max_jerk": max_jerk,
        "floor": floor if floor is None or floor == "fit" else number_from(floor, "--floor"),
    }  # fmt: skip
    tuning = CheckTuning(**{k: v for k, v in said.items() if v is not None})
    options: dict[str, Any] = {"units": _number_or_word(units), "up": up, "rate": rate}
    holds = [_hold(text) for text in hold or ()]
    with bar(as_json) as tell:
        began = time.monotonic()

        def progress(share: float) -> None:
            if time.monotonic() - began > _PATIENCE:
                tell("checking", share)

        motion = motion_of_source(source, figure_name, set_, figure, options)
        report = check_motion(motion, holds=holds, tuning=tuning, progress=progress)
    if plot is not None:
        from counterpoise.render.check_plot import plot_check

        plot_check(report, plot)
    if as_json:
        say_json(report.to_json(frames=frames))
    else:
        _tell(report)
        if plot is not None:
            say(f"wrote {plot}")
    if not report.ok:
        raise typer.Exit(1)


def motion_of_source(
    source: str, figure_name: str | None, set_: list[str] | None, figure: int, options: dict[str, Any]
) -> Motion:
    """The motion a word on the command line means: a file of any format, a recording, or a reference motion."""
    from counterpoise.motion import reference_motion, reference_motions
    from counterpoise.motion.files.hub import read_motion

    who = figure_from(figure_name, set_) if figure_name is not None else None
    path = Path(source)
    if not path.suffix and not path.exists():
        names = [reference.name for reference in reference_motions()]
        if source not in names:
            raise unknown_name("motion file or reference motion", source, names)
        return reference_motion(source, who if who is not None else figure_from("human", None))
    if path.suffix.lower() == ".npz":
        from counterpoise.files import open_archive

        with open_archive(source, "recording or motion") as archive:
            recorded = "model_mjb" in archive.names
        if recorded:
            return _recorded(source, who, figure)
    return read_motion(source, who, skip_rest_frame=True, **options)


def _recorded(source: str, who: Any, figure: int) -> Motion:
    from counterpoise.simulate import Recording

    recording = Recording.load(source)
    if not 0 <= figure < len(recording.figures):
        raise BadValue(f"this recording has {len(recording.figures)} figure(s), counted from 0; got {figure}")
    motion = recording.motion_of(figure)
    if who is None:
        return motion
    from counterpoise.motion.retarget import retarget

    return retarget(motion, who)


def _hold(text: str) -> Hold:
    from counterpoise.spacetime.check_support import Hold

    body, at, when = text.partition("@")
    if not at:
        return Hold(body)
    start, plus, duration = when.partition("+")
    if not plus:
        raise BadValue(f"--hold takes BODY or BODY@START+DURATION, such as hand_left@0+1.2; got {text!r}")
    begin = number_from(start, "a hold's start")
    return Hold(body, begin, begin + number_from(duration, "a hold's duration"))


def _number_or_word(text: str | None) -> str | float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return text


def _tell(report: CheckReport) -> None:
    from rich.markup import escape
    from rich.table import Table

    title = f"{report.motion or 'motion'} on {report.character}: {len(report.frames.times)} frames"
    title += f", {len(report.contacts)} contacts, {len(report.flights)} flights"
    table = Table("", "", "measured", "allowed", "worst", "when [s]", "where", title=escape(title))
    for f in report.findings:
        span = f"{f.start:.2f}-{f.end:.2f}" if f.start == f.start else ""
        mark = "[green]ok[/]" if f.ok else "[bold red]x[/]"
        numbers = (f"{_short(f.value)} {f.unit}", _short(f.limit), _short(f.worst))
        table.add_row(f.name, mark, *numbers, span, escape(f.where))
    say(table)
    say(escape(report.verdict))


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.2g}" if value >= 0.01 or value == 0.0 else "<0.01"
