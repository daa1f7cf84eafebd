"""The verb that lets a simulated body walk."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.output import bar, draw, end_stopped, save_run, say, say_json, written, written_suffixes
from counterpoise.cli.simulating import Figure, Pushes
from counterpoise.errors import BadValue
from counterpoise.phrases import check_targets, figure_from, push_from

if TYPE_CHECKING:
    from counterpoise.control.walk import GaitCycle
    from counterpoise.measure import Gait
    from counterpoise.simulate.recording import Recording

_SETTLED = 0.4  # share of the time after which the walk is measured


@app.command()
def walk(
    speed: Annotated[float | None, typer.Option(help="[m/s]; else the usual speed of the body and the style.")] = None,
    step: Annotated[float | None, typer.Option(help="Length of a step [m].")] = None,
    time: Annotated[float | None, typer.Option(help="Duration of a step [s].")] = None,
    height: Annotated[float | None, typer.Option(help="By how much the swinging sole rises [m].")] = None,
    style: Annotated[
        str, typer.Option(help="normal, fast, slow, sad, proud, sneaking, limping, marching, bouncy, or a clip's file.")
    ] = "normal",
    heading: Annotated[float, typer.Option(min=-360.0, max=360.0, help="Direction [deg], to the left.")] = 0.0,
    lean: Annotated[
        float, typer.Option(min=-60.0, max=60.0, help="Of the trunk forward [deg], beyond the style's.")
    ] = 0.0,
    figure: Figure = "human",
    set_: Set = None,
    push: Pushes = None,
    seed: Annotated[
        int | None, typer.Option(help="Start from a small random pose and velocity; else from rest.", min=0)
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", "-t", help="How long [s].")] = 10.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Save the recording (.npz), or its motion: .bvh, .glb, ...")
    ] = None,
    video: Annotated[Path | None, typer.Option("--video", help="Film it (.mp4, .gif, .webp).")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw a filmstrip (.png).")] = None,
    as_json: Json = False,
) -> None:
    """Let a simulated figure start, walk, and be measured. A style may be a captured walk (.bvh, .glb, ...).

    Exit code 0: it walks to the end; 1: it fell; 2: bad input.
    """
    from counterpoise.control.walk import Walk
    from counterpoise.simulate.loop import check_seconds, simulate
    from counterpoise.simulate.start import disturbed_start

    check_targets({out: written_suffixes(), video: (".mp4", ".gif", ".webp"), png: (".png",)})
    check_seconds(seconds)
    character = figure_from(figure, set_)
    controller = Walk(
        speed, step, time, height, _style(style, character), math.radians(heading), math.radians(lean)
    )  # fmt: skip
    controller.begin(character)
    pushes = [push_from(text, seconds) for text in push or ()]
    start = None if seed is None else disturbed_start(character, seed)
    with bar(as_json) as report:
        recording = simulate(
            character, controller, seconds, disturbances=pushes, start=start, seed=seed or 0,
            progress=report,
        )  # fmt: skip
        if out is not None:
            save_run(recording, out)
        draw(recording, video, png, report)
    _show(recording, math.radians(heading), written({"recording": out, "video": video, "filmstrip": png}), as_json)


def _style(given: str, character: Any) -> str | GaitCycle:
    """Returns the name of a style, or the gait of a clip's file."""
    from counterpoise.control.walk import STYLES, gait_from
    from counterpoise.motion.files.hub import read_motion

    if given in STYLES or not Path(given).suffix:
        return given
    return gait_from(read_motion(given, character=character))


def _show(recording: Recording, heading: float, files: dict[str, str], as_json: bool) -> None:
    """Prints how it walks, and ends with exit code 1 where it fell."""
    from counterpoise.measure import fell, gait

    fall = fell(recording)
    causes = [str(c) for c in recording.notes.get("cause", ()) if isinstance(c, str) and c]
    walks = not fall and not causes and recording.status == "finished"
    found: Gait | None = None
    try:
        found = gait(recording, _SETTLED * recording.duration, heading) if walks else None
    except BadValue:
        found = None  # too short a walk to be measured
    if as_json:
        say_json(
            {
                "figure": recording.character.name, "seconds": recording.duration, "status": recording.status,
                "walks": walks, "fell_at": fall.time, "fell_how": fall.reason or None,
                "cause": causes[-1] if causes else None, "gait": None if found is None else vars(found),
                "fingerprint": recording.fingerprint(), "files": files,
            }
        )  # fmt: skip
    else:
        _print(recording, found, walks, fall.reason or (causes[-1] if causes else ""), files)
    if recording.status == "interrupted":
        end_stopped()
    if not walks:
        raise typer.Exit(1)


def _print(recording: Recording, found: Gait | None, walks: bool, reason: str, files: dict[str, str]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False, title=f"{recording.character.name}, {recording.duration:g} s")
    table.add_row("walks", "yes" if walks else f"no; {escape(reason)}")
    if found is not None:
        table.add_row("speed", f"{found.speed:.2f} m/s; {100.0 * found.drift:.0f} cm beside the line at most")
        table.add_row(
            "steps",
            f"{found.step_length:.2f} m long, {found.step_time:.2f} s, the sole rises {found.step_height:.3f} m",
        )
        table.add_row(
            "feet", f"land {found.heel_strike:.0f} deg toe up, leave {found.toe_off:.0f} deg heel up; double support "
            f"{100.0 * found.double_support:.0f} %, slip {100.0 * found.slip:.2f} cm/s",
        )  # fmt: skip
        table.add_row(
            "body", f"stance knee {found.stance_knee:.2f} rad, CoM {100.0 * found.com_amplitude:.1f} cm up and down"
        )
    for kind, path in files.items():
        table.add_row(kind, escape(path))
    say(table)
