"""Options that several verbs share: the source of a clip, its ground, and what it holds on to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from counterpoise.errors import BadValue
from counterpoise.phrases import figure_from, number_from, source_from

if TYPE_CHECKING:
    from counterpoise.character.character import Character
    from counterpoise.motion.motion import Motion
    from counterpoise.simulate.recording import Recording
    from counterpoise.spacetime.check.support import HeldBody

HIGHEST_RATE = 10_000.0  # [1/s] of the frames of a file

Clip = Annotated[
    str,
    typer.Argument(metavar="CLIP", help="A motion file (bvh, amc, fbx, glb, npz, ...), a recording, or a reference."),
]
FigureName = Annotated[
    str | None,
    typer.Option("--character", "-c", help="Retarget onto a figure of the library, or an .xml/.urdf file, first."),
]
Friction = Annotated[float | None, typer.Option(min=0.0, max=100.0, help="Of the ground.")]
Floor = Annotated[
    str | None, typer.Option(metavar="HEIGHT|fit", help="Where the ground is [m]; fit: where the feet stand.")
]
Holding = Annotated[
    list[str] | None,
    typer.Option(
        "--hold", metavar="BODY[@START+DURATION]", help="Holds on to something that is not shown. May be repeated."
    ),
]
WhichFigure = Annotated[int, typer.Option(help="Which figure of a recording, from 0.")]
Units = Annotated[str | None, typer.Option(help="The file's units: m, cm, inch, ..., or metres a unit.")]
Up = Annotated[str | None, typer.Option(help="The file's up axis: y, z, ...")]
Rate = Annotated[
    float | None, typer.Option(min=0.001, max=HIGHEST_RATE, help="The file's frames a second, if it does not say.")
]

TerrainFile = Annotated[
    str | None,
    typer.Option("--terrain", metavar="FILE.toml", help="Draw this terrain, or what this stunt stands on and holds."),
]


def motion_of_source(
    source: str, figure_name: str | None, set_: list[str] | None, figure: int, options: dict[str, Any]
) -> Motion:
    """Returns the motion that a source names: a file of any format, a recording, or a reference motion."""
    from counterpoise.character.character import Character
    from counterpoise.simulate.recording import Recording

    character = chosen_figure(figure_name, set_)
    found = source_from(source, character, **options)
    if isinstance(found, Character):
        raise BadValue(f"{source!r} is a figure, not a motion")
    if isinstance(found, Recording):
        return _recorded(found, character, figure)
    if figure != 0:
        raise BadValue(f"--figure is for recordings of several figures; {source!r} has one, number 0")
    return found


def chosen_figure(figure_name: str | None, set_: list[str] | None) -> Character | None:
    """Returns the figure to retarget onto, if one is named."""
    if set_ and figure_name is None:
        raise BadValue("--set is for the figure to retarget onto: name it with --character")
    return figure_from(figure_name, set_) if figure_name is not None else None


def _recorded(recording: Recording, character: Character | None, figure: int) -> Motion:
    """The motion of one figure of a recording, retargeted if another character is given."""
    check_figure(recording, figure)
    motion = recording.motion_of(figure)
    if character is None:
        return motion
    from counterpoise.motion.retarget.transfer import retarget

    return retarget(motion, character)


def check_figure(recording: Recording, figure: int) -> None:
    if not 0 <= figure < len(recording.figures):
        raise BadValue(f"this recording has {len(recording.figures)} figure(s), counted from 0; got {figure}")


def reading_options(units: str | None, up: str | None, rate: float | None) -> dict[str, Any]:
    """Returns the options of `read_motion`: units as a word or as metres a unit, up axis, rate."""
    size: str | float | None = units
    if units is not None:
        try:
            size = float(units)
        except ValueError:
            size = units
    return {"units": size, "up": up, "rate": rate}


def floor_from(text: str | None) -> float | Literal["fit"] | None:
    """Reads HEIGHT or fit."""
    if text is None:
        return None
    return "fit" if text == "fit" else number_from(text, "--floor")


def holds_from(texts: list[str] | None) -> list[HeldBody]:
    """Several BODY or BODY@START+DURATION."""
    return [_hold(text) for text in texts or ()]


def _hold(text: str) -> HeldBody:
    from counterpoise.spacetime.check.support import HeldBody

    body, at, when = text.partition("@")
    if not at:
        return HeldBody(body)
    start, plus, duration = when.partition("+")
    if not plus:
        raise BadValue(f"--hold takes BODY or BODY@START+DURATION, such as hand_left@0+1.2; got {text!r}")
    begin = number_from(start, "a hold's start")
    return HeldBody(body, begin, begin + number_from(duration, "a hold's duration"))


def short(value: float) -> str:
    """Returns a number as text for a table: two significant digits, or a whole number above a hundred."""
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.2g}" if value >= 0.01 or value == 0.0 else "<0.01"
