"""The verb that lets a simulated body stand, go, turn, be pushed and go to a place."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.output import bar, draw, save_run, say, say_json, written, written_suffixes
from counterpoise.cli.simulating import Figure, Pushes
from counterpoise.errors import BadValue
from counterpoise.phrases import check_targets, figure_from, push_from

if TYPE_CHECKING:
    from counterpoise.simulate.recording import Recording


@app.command()
def go(
    speed: Annotated[float | None, typer.Option(help="Forward [m/s]; negative: backward. Else 0, or as usual.")] = None,
    aside: Annotated[float, typer.Option(help="To the left [m/s]; negative: to the right.")] = 0.0,
    heading: Annotated[float, typer.Option(help="That it faces [deg], to the left.")] = 0.0,
    to: Annotated[
        list[str] | None, typer.Option(help="A place to go to, X,Y [m]. Several: one after the other.")
    ] = None,
    hip_height: Annotated[float | None, typer.Option(help="Of the hips in mid-stance [m].")] = None,
    width: Annotated[float | None, typer.Option(help="Between the ankles [m].")] = None,
    style: Annotated[str, typer.Option(help="normal, fast, slow, sad, proud, sneaking, ...")] = "normal",
    figure: Figure = "human",
    set_: Set = None,
    push: Pushes = None,
    seed: Annotated[
        int | None, typer.Option(help="Start from a small random pose and velocity; else from rest.", min=0)
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", "-t", help="How long [s].")] = 8.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Save the recording (.npz), or its motion: .bvh, .glb, ...")
    ] = None,
    video: Annotated[Path | None, typer.Option("--video", help="Film it (.mp4, .gif, .webp).")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw a filmstrip (.png).")] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", help="Draw the next three steps, as planned at --plan-at (.png, .svg, .pdf)."),
    ] = None,
    plan_at: Annotated[
        float | None, typer.Option(help="Time of that plan [s]; else the end of the first push, or half of the time.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Let a simulated figure stand, walk in any direction, turn, go to places, and step when it is pushed.

    Exit code 0: it is on its feet at the end; 1: it fell; 2: bad input.
    """
    from counterpoise.control.locomotion import Locomotion
    from counterpoise.simulate.loop import simulate
    from counterpoise.simulate.start import disturbed_start

    check_targets(
        {out: written_suffixes(), video: (".mp4", ".gif", ".webp"), png: (".png",), plan: (".png", ".svg", ".pdf")}
    )
    character = figure_from(figure, set_)
    places = [_place(text) for text in to or ()]
    controller = Locomotion(
        (speed, aside) if speed is not None else ((0.0, aside) if aside else None), math.radians(heading),
        width=width, hip_height=hip_height, style=style, to=places or None,
    )  # fmt: skip
    controller.begin(character)
    start = None if seed is None else disturbed_start(character, seed)
    pushes = [push_from(text) for text in push or ()]
    if plan_at is None:
        plan_at = min((one.start + one.duration for one in pushes), default=0.5 * seconds)
    elif plan is None:
        raise BadValue("--plan-at is the time of a plan: name its picture too, --plan plan.png")
    if plan is not None and not 0.0 <= plan_at <= seconds:
        raise BadValue(f"--plan-at is a time from 0 to {seconds:g} s; got {plan_at:g}")
    with bar(as_json) as report:
        recording = simulate(
            character, controller, seconds, disturbances=pushes, start=start, seed=seed or 0, progress=report
        )
        if out is not None:
            save_run(recording, out)
        draw(recording, video, png, report)
    if plan is not None:
        _draw_plan(recording, plan_at, speed or 0.0, aside, math.radians(heading), plan)
    _show(recording, written({"recording": out, "video": video, "filmstrip": png, "plan": plan}), as_json)


def _draw_plan(recording: Recording, time: float, speed: float, aside: float, heading: float, path: Path) -> None:
    """Draws the steps that are planned at a time of a recording."""
    from counterpoise.control.walk.steps_ahead import steps_ahead
    from counterpoise.render.plan_plot import plot_plan

    snapshot = recording.character.snapshot(recording.state(recording.row_at(time)))
    plot_plan(steps_ahead(snapshot, speed, aside, heading), path)


def _place(text: str) -> tuple[float, float]:
    try:
        x, y = (float(part) for part in text.split(","))
    except ValueError:
        raise BadValue(f"--to takes a place X,Y in metres, such as 3,1.5; got {text!r}") from None
    if not (math.isfinite(x) and math.isfinite(y)):
        raise BadValue(f"--to takes a place X,Y in metres, such as 3,1.5; got {text!r}")
    return x, y


def _show(recording: Recording, files: dict[str, str], as_json: bool) -> None:
    """Prints where it is at the end, and ends with exit code 1 where it fell."""
    from counterpoise.measure import com, fell

    fall = fell(recording)
    phases = [str(phase) for phase in recording.notes["phase"]]
    up = not fall and "fallen" not in phases and recording.status == "finished"
    steps = float(np.nanmax(recording.notes["steps"]))
    x, y = com(recording)[-1, :2].tolist()
    doing = "stands" if phases[-1] == "stand" else "steps"
    if as_json:
        say_json(
            {
                "figure": recording.character.name, "seconds": recording.duration, "status": recording.status,
                "on_its_feet": up, "fell_at": fall.time, "fell_how": fall.reason or None, "doing": doing,
                "place": [x, y], "steps": steps, "fingerprint": recording.fingerprint(), "files": files,
            }
        )  # fmt: skip
    else:
        from rich.markup import escape
        from rich.table import Table

        table = Table(show_header=False, title=f"{recording.character.name}, {recording.duration:g} s")
        table.add_row("on its feet", "yes" if up else f"no; {escape(fall.reason or 'it fell')}")
        table.add_row("at the end", f"{doing} at {x:.2f}, {y:.2f} m; {steps:.0f} steps since it last stood")
        for kind, path in files.items():
            table.add_row(kind, escape(path))
        say(table)
    if recording.status == "interrupted":
        raise typer.Exit(130)
    if not up:
        raise typer.Exit(1)
