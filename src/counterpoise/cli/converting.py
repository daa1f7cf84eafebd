"""The verb that converts motion files: convert."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from counterpoise.cli import clips
from counterpoise.cli.app import Json, Set, app, in_flags
from counterpoise.cli.output import bar, ended, say, say_json
from counterpoise.errors import BadValue
from counterpoise.phrases import figure_from

if TYPE_CHECKING:
    from counterpoise.fleet import Conversion

_MAX_ROWS = 40  # of a table that also lists the files without problems


@app.command()
def convert(
    inputs: Annotated[
        list[str], typer.Argument(metavar="IN...", help="Motion files or recordings: files, folders, 'globs'.")
    ],
    out: Annotated[str, typer.Argument(metavar="OUT", help="A file, or a folder (with --to).")],
    to: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="bvh, glb, gltf, usda, csv, npz, ...: into a folder.")
    ] = None,
    figure_name: Annotated[
        str | None,
        typer.Option("--character", "-c", help="Retarget onto a figure of the library, or an .xml/.urdf file."),
    ] = None,
    set_: Set = None,
    rate: Annotated[
        float | None, typer.Option(min=0.001, max=clips.HIGHEST_RATE, help="Frames a second to write.")
    ] = None,
    frames: Annotated[
        str | None, typer.Option(metavar="FIRST:LAST", help="Frames of the input, both included; 10: or :200 too.")
    ] = None,
    bodies: Annotated[
        list[str] | None, typer.Option("--bodies", metavar="NAME,NAME,...", help="Only these segments.")
    ] = None,
    units: Annotated[
        str | None, typer.Option(help="The input's units: m, cm, mm, inch, ft, cmu, or metres a unit.")
    ] = None,
    up: Annotated[str | None, typer.Option(help="The input's up axis: x, y, z, -x, ...")] = None,
    source_rate: Annotated[
        float | None,
        typer.Option(
            min=0.001, max=clips.HIGHEST_RATE, help="The input's frames a second, if it does not say, or says wrong."
        ),
    ] = None,
    out_units: Annotated[str | None, typer.Option(help="Units of a BVH to write (m unless it was BVH before).")] = None,
    out_up: Annotated[str | None, typer.Option(help="Up axis of a BVH to write (y unless it was BVH before).")] = None,
    figure: Annotated[
        str | None, typer.Option(help="Which figure of a recording, from 0, or the root's name in a BVH of several.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, max=1024, help="Processes; all cores by default.")
    ] = None,
    engine: Annotated[str, typer.Option(help="processes, or ray and ray://HOST:PORT for a cluster.")] = "processes",
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")] = False,
    as_json: Json = False,
) -> None:
    """Convert motion files and recordings, many at once.

    Exit code 0: done; 1: some of several files failed; 2: bad input, or the only file failed; 130: stopped by Ctrl-C.
    """
    from counterpoise.fleet import convert_files

    if set_ and figure_name is None:
        raise BadValue("--set is for the figure to retarget onto: name it with --character")
    with bar(as_json) as report:
        done = convert_files(
            inputs, out, to=to, character=figure_from(figure_name, set_) if figure_name is not None else None,
            rate=rate, frames=_frames(frames), bodies=_names(bodies), units=_units(units), up=up,
            source_rate=source_rate, out_units=_units(out_units), out_up=out_up, figure=figure,
            jobs=jobs, force=force, engine=engine,
            progress=report,
        )  # fmt: skip
    if as_json:
        _show_json(done)
    else:
        _show(done)
    ended(report, (2 if len(done.files) == 1 else 1) if done.of("failed") else 0)


def _frames(text: str | None) -> tuple[int | None, int | None] | None:
    if text is None:
        return None
    first, colon, last = text.partition(":")
    if not colon or not (first or last) or not all(part == "" or part.isdecimal() for part in (first, last)):
        raise BadValue(f"--frames takes FIRST:LAST, such as 10:200, 10: or :200; got {text!r}")
    begin, end = (int(part) if part else None for part in (first, last))
    if begin is not None and end is not None and end < begin:
        raise BadValue(f"--frames go from first to last; got {text!r}")
    return begin, end


def _names(texts: list[str] | None) -> list[str] | None:
    names = [name.strip() for text in texts or () for name in text.split(",") if name.strip()]
    if texts and not names:
        raise BadValue("--bodies takes NAME,NAME,...; none is given")
    return names or None


def _units(text: str | None) -> str | float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return text


def _show(done: Conversion) -> None:
    from rich.markup import escape
    from rich.table import Table

    if len(done.files) == 1:
        (one,) = done.files
        for guess in one.remarks:
            print(f"note: {guess}", file=sys.stderr)
        if one.status == "done":
            say(escape(f"wrote {one.output}: {one.frames} frames at {one.rate:g}/s"))
        else:
            print(
                f"counterpoise: {one.input} {one.status}: {_why(one.why) or 'Ctrl-C'}",
                file=sys.stderr,
            )
        return
    few = len(done.files) <= _MAX_ROWS
    table = Table("file", "result", "frames", title=f"{done} in {done.seconds:.1f} s")
    for one in done.files:
        if one.status == "done" and few:
            table.add_row(escape(str(one.input)), escape(str(one.output)), f"{one.frames} at {one.rate:g}/s")
        elif one.status in ("failed", "skipped"):
            table.add_row(escape(str(one.input)), escape(f"{one.status.upper()}: {_why(one.why)}"), "")
    say(table if table.row_count else str(table.title))


def _why(message: str) -> str:
    """A reason with the flags of this verb; the rate that a reader speaks of is that of the input."""
    return in_flags(message, rate="--source-rate")


def _show_json(done: Conversion) -> None:
    rows: dict[str, list[dict[str, object]]] = {"done": [], "failed": [], "skipped": [], "stopped": []}
    for one in done.files:
        row: dict[str, object] = {"input": str(one.input), "output": str(one.output)}
        if one.status == "done":
            remarks = list(one.remarks)
            # "told" is the earlier name of the remarks, for programs that read it
            row |= {"frames": one.frames, "rate": one.rate, "remarks": remarks, "told": remarks}
        elif one.why:
            row["why"] = _why(one.why)
        rows[one.status].append(row)
    say_json({**rows, "seconds": done.seconds, "interrupted": done.interrupted})
