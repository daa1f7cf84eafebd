"""The verbs that draw: render, plot."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from counterpoise.cli import clips
from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.output import bar, plain, say, say_json
from counterpoise.errors import BadValue
from counterpoise.phrases import check_targets, props_from, size_from, source_from

LATE = 1e-6  # [s] a moment may lie this far outside of what is drawn


class CameraMode(StrEnum):
    """What the camera of a video or a filmstrip does."""

    track = "track"
    fixed = "fixed"


@app.command()
def render(
    source: Annotated[
        str, typer.Argument(help="A motion file (bvh, glb, npz, ...), a recording, a reference motion, or a figure.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help=".png: a still or filmstrip; .mp4, .gif, .webp: a video.")],
    figure_name: Annotated[
        str | None,
        typer.Option(
            "--character", "-c", help="The figure that performs a reference motion, or to retarget a file onto."
        ),
    ] = None,
    set_: Set = None,
    terrain: clips.TerrainFile = None,
    time: Annotated[float | None, typer.Option(help="A still at this time [s] (else a filmstrip).")] = None,
    count: Annotated[int, typer.Option(min=1, max=200, help="Pictures in a filmstrip.")] = 8,
    smooth: Annotated[
        bool | None,
        typer.Option(
            "--smooth/--shapes",
            help="A smooth body (persons have it), or the physics' shapes, which are drawn four times as fast.",
        ),
    ] = None,
    strobe: Annotated[bool, typer.Option("--strobe", help="Draw all moments of a filmstrip in one place.")] = False,
    size: Annotated[
        str, typer.Option(metavar="WIDTHxHEIGHT", help="Pixels of a picture (of one panel in a filmstrip).")
    ] = "",
    fps: Annotated[float, typer.Option(min=0.01, max=1000.0, help="Frames a second.")] = 30.0,
    speed: Annotated[float, typer.Option(min=0.001, max=1e6, help="Playback speed; 0.25 is slow motion.")] = 1.0,
    camera: Annotated[CameraMode, typer.Option(help="Follow the figure or keep still.")] = CameraMode.track,
    azimuth: Annotated[
        float, typer.Option(help="Direction of the camera [deg]: 0 from the front, 90 from the figure's left.")
    ] = -60.0,
    elevation: Annotated[
        float, typer.Option(min=-90.0, max=90.0, help="Angle of the camera above the ground [deg].")
    ] = 12.0,
    forces: Annotated[
        bool, typer.Option("--forces/--no-forces", help="Draw CoM, CoP and force arrows of a recording.")
    ] = True,
    trail: Annotated[
        list[str] | None, typer.Option("--trail", help="Draw the path of a body, or of com. May be repeated.")
    ] = None,
    units: clips.Units = None,
    up: clips.Up = None,
    rate: clips.Rate = None,
) -> None:
    """Draw a recording or a motion: a still, a filmstrip or a video."""
    from counterpoise.render import filmstrip, still
    from counterpoise.render import video as film
    from counterpoise.render.sources import take_of

    check_targets({out: (".png", ".jpg", ".mp4", ".gif", ".webp")})
    options = clips.reading_options(units, up, rate)
    subject = source_from(source, clips.chosen_figure(figure_name, set_), **options)
    film_wanted = out.suffix.lower() in (".mp4", ".gif", ".webp")
    overlays: dict[str, Any] = {"props": props_from(terrain), "smooth": smooth}
    if not isinstance(subject, _character_type()):
        overlays |= {"trails": tuple(trail or ())}
        if not forces:
            overlays |= {"com": False, "cop": False, "forces": False}
    take = take_of(subject, **overlays)
    if time is not None and not take.times[0] - LATE <= time <= take.times[-1] + LATE:
        raise BadValue(f"--time {time:g} s is not in {source!r}: {take.times[0]:g} to {take.times[-1]:g} s")
    angles: dict[str, Any] = {"azimuth": azimuth, "elevation": elevation}
    with bar(False) as report:
        if film_wanted:
            film(
                take, out, fps=fps, speed=speed, size=size_from(size, (960, 540)), camera=camera.value,
                progress=report, **angles,
            )  # fmt: skip
        elif time is not None or isinstance(subject, _character_type()):
            still(take, time=time, path=out, size=size_from(size, (960, 720)), **angles)
        else:
            chosen = size_from(size, (0, 0))
            filmstrip(
                take, count=count, path=out, mode="strobe" if strobe else "panels",
                size=chosen if chosen[0] else None, **angles,
            )  # fmt: skip
    say(f"wrote {out}")


@app.command()
def plot(
    source: clips.Clip,
    what: Annotated[
        list[str] | None, typer.Argument(help="Quantities: com, cop, torque:knee_left, ... (see --list).")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help=".png, .pdf or .svg.")] = Path("plot.png"),
    figure: Annotated[int, typer.Option(help="Which figure, when there are several.")] = 0,
    list_: Annotated[bool, typer.Option("--list", help="List what can be plotted.")] = False,
    figure_name: clips.FigureName = None,
    set_: Set = None,
    units: clips.Units = None,
    up: clips.Up = None,
    rate: clips.Rate = None,
    as_json: Json = False,
) -> None:
    """Plot anything in a recording over time, or how a motion moves."""
    from counterpoise.render.plots import curves, plot_recording, plottable
    from counterpoise.simulate import Recording

    if not (list_ or as_json):
        check_targets({out: (".png", ".pdf", ".svg")})
    options = clips.reading_options(units, up, rate)
    rec: Any = source_from(source, clips.chosen_figure(figure_name, set_), **options)
    if isinstance(rec, Recording):
        clips.check_figure(rec, figure)
    elif isinstance(rec, _character_type()):
        raise BadValue(f"{source!r} is a figure, not a motion")
    if list_:
        names = plottable(rec, figure)
        if as_json:
            say_json(names)
        else:
            for name, text in names.items():
                print(f"{name:28} {text}")
        return
    wanted = what or (["com", "ground_force"] if isinstance(rec, Recording) else ["com", "com_velocity"])
    if as_json:
        panels = [curves(rec, name, figure) for name in wanted]
        say_json(
            {
                p.title: {"unit": p.unit, "time": p.time.tolist(), **{k: plain(v) for k, v in p.lines.items()}}
                for p in panels
            }
        )
        return
    plot_recording(rec, *wanted, path=out, figure=figure)
    say(f"wrote {out}")


def _character_type() -> type:
    from counterpoise.character.character import Character

    return Character
