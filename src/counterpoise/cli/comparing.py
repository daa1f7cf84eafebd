"""The verb `compare`: two motions in one picture, and how far they are apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli import clips
from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.output import bar, ended, say, say_json, written
from counterpoise.errors import BadValue
from counterpoise.phrases import check_targets, props_from, size_from

if TYPE_CHECKING:
    from counterpoise.measure.difference import MotionDifference
    from counterpoise.motion.motion import Motion
    from counterpoise.progress import Reporter
    from counterpoise.render.scene import DrawnScene

Second = Annotated[str, typer.Argument(metavar="CLIP", help="The other motion, as the first.")]
_PICTURES, _VIDEOS = (".png", ".jpg"), (".mp4", ".gif", ".webp")


@app.command()
def compare(
    first: clips.Clip,
    second: Second,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Draw both: .png, a filmstrip; .mp4, .gif, .webp, a video.")
    ] = None,
    overlay: Annotated[
        bool, typer.Option("--overlay", help="The second as a line figure over the first, not beside it.")
    ] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Plot the differences (.png, .pdf, .svg).")] = None,
    figure_name: clips.FigureName = None,
    set_: Set = None,
    terrain: clips.TerrainFile = None,
    count: Annotated[int, typer.Option(min=1, max=200, help="Moments in a filmstrip.")] = 8,
    size: Annotated[str, typer.Option(metavar="WIDTHxHEIGHT", help="Pixels of one figure's picture.")] = "",
    fps: Annotated[float, typer.Option(min=0.01, max=1000.0, help="Frames a second.")] = 30.0,
    speed: Annotated[float, typer.Option(min=0.001, max=1e6, help="Playback speed; 0.25 is slow motion.")] = 1.0,
    azimuth: Annotated[float, typer.Option(help="Direction of the camera [deg].")] = -60.0,
    elevation: Annotated[
        float, typer.Option(min=-90.0, max=90.0, help="Angle of the camera above the ground [deg].")
    ] = 12.0,
    units: clips.Units = None,
    up: clips.Up = None,
    rate: clips.Rate = None,
    as_json: Json = False,
) -> None:
    """Show two motions side by side or one over the other, and say how far they are apart.

    Each begins at its own start. Exit code 0: compared; 2: a file cannot be read; 130: stopped by Ctrl-C, with what was
    drawn.
    """
    from counterpoise.measure.difference import compare_motions

    check_targets({out: (*_PICTURES, *_VIDEOS), plot: (".png", ".pdf", ".svg")})
    if out is None and (terrain is not None or size):
        raise BadValue(f"{'--size' if terrain is None else '--terrain'} is for the picture: name it with --out")
    options = clips.reading_options(units, up, rate)
    pair = [clips.motion_of_source(source, figure_name, set_, 0, options) for source in (first, second)]
    names = short_names(first, second)
    difference = compare_motions(pair[0], pair[1])
    if plot is not None:
        from counterpoise.render.difference_plot import plot_difference

        plot_difference(difference, plot, names)
    if out is not None:
        angles = {"azimuth": azimuth, "elevation": elevation}
        with bar(as_json) as report:
            draw_pair(
                pair[0], pair[1], out, report, names=names, way="over" if overlay else "beside",
                props=props_from(terrain), count=count, fps=fps, speed=speed, size=size, **angles,
            )  # fmt: skip
    files = written({"picture": out, "plot": plot})
    if as_json:
        say_json(_as_json(difference, (first, second), files))
    else:
        _print(difference, names, files)
    if out is not None:
        ended(report)


def draw_pair(
    first: Motion, second: Motion, out: Path, report: Reporter, *, names: tuple[str, str], way: str = "beside",
    props: DrawnScene | None = None, count: int = 8, fps: float = 30.0, speed: float = 1.0, size: str = "",
    **angles: Any,
) -> None:  # fmt: skip
    """Draws two motions into a filmstrip or a video, by the suffix."""
    from counterpoise.render.comparison import HALF, PANEL, Comparison, comparison_picture, comparison_video
    from counterpoise.render.sources import take_of

    comparison = Comparison(take_of(first, props=props), take_of(second, props=props), way, names)
    if out.suffix.lower() in _VIDEOS:
        comparison_video(
            comparison, out, fps=fps, speed=speed, size=size_from(size, HALF),
            progress=report, **angles,
        )  # fmt: skip
    else:
        comparison_picture(comparison, out, count=count, size=size_from(size, PANEL), **angles)


def short_names(first: str, second: str) -> tuple[str, str]:
    """Returns names for labels: those of the files, with their folders or suffixes where they would be the same."""
    for name in (lambda path: path.stem, lambda path: path.name, str):
        a, b = name(Path(first)), name(Path(second))
        if a != b:
            return a, b
    return "A", "B"


def _as_json(difference: MotionDifference, sources: tuple[str, str], files: dict[str, str]) -> dict[str, Any]:
    place, turn = difference.worst_place(), difference.worst_turn()
    same = bool(difference.bodies)
    return {
        "inputs": list(sources), "durations": list(difference.durations), "bodies": list(difference.bodies),
        "rms_distance": difference.rms_place if same else None, "rms_angle": difference.rms_turn if same else None,
        "worst_distance": {"value": place[0], "body": place[1], "time": place[2]} if same else None,
        "worst_angle": {"value": turn[0], "body": turn[1], "time": turn[2]} if same else None,
        "worst_com": float(difference.com.max()), "files": files,
    }  # fmt: skip


def _print(difference: MotionDifference, names: tuple[str, str], files: dict[str, str]) -> None:
    import numpy as np
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "rms", "largest", "where", escape("when [s]"), title=escape(f"{names[0]} and {names[1]}"))
    if difference.bodies:
        place, turn = difference.worst_place(), difference.worst_turn()
        table.add_row(
            escape("distance [cm]"),
            f"{100 * difference.rms_place:.2f}",
            f"{100 * place[0]:.2f}",
            escape(place[1]),
            f"{place[2]:.2f}",
        )
        degrees = f"{np.degrees(difference.rms_turn):.2f}", f"{np.degrees(turn[0]):.2f}"
        table.add_row(escape("angle [deg]"), *degrees, escape(turn[1]), f"{turn[2]:.2f}")
    com = difference.com
    when = f"{difference.times[int(np.argmax(com))]:.2f}"
    table.add_row(escape("CoM [cm]"), f"{100 * np.sqrt(np.mean(com**2)):.2f}", f"{100 * com.max():.2f}", "", when)
    say(table)
    a, b = difference.durations
    say(f"{a:.2f} s and {b:.2f} s; compared over {difference.times[-1]:.2f} s, {len(difference.bodies)} bodies in both")
    if not difference.bodies:
        say("No body has the same name in both: --character retargets both onto one figure.")
    for path in files.values():
        say(escape(f"wrote {path}"))
