"""`check` and `fix` of folders and patterns: a sweep over their files, with a table, on processes or a cluster."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from counterpoise.cli.output import bar, say, say_json
from counterpoise.errors import BadFile, BadValue

Engine = Annotated[str, typer.Option(help="For folders: processes, serial, ray, or ray://HOST:PORT.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="For folders: processes; all cores by default.")]
TableFile = Annotated[
    Path | None, typer.Option("--table", metavar="FILE.csv", help="For folders: write a row a file, and go on there.")
]
SHOWN_FILES = 40  # of a long table


def is_many(source: str) -> bool:
    """Returns whether a source is a folder or a pattern, and not one motion."""
    return Path(source).is_dir() or (glob.has_magic(source) and not Path(source).exists())


def only_for_one(**given: Any) -> None:
    """Refuses options that have no meaning for many files."""
    for flag, value in given.items():
        if value:
            raise BadValue(f"--{flag.replace('_', '-')} is for one motion, not for a folder of them")


def only_for_many(**given: Any) -> None:
    """Refuses options that have no meaning for one motion."""
    for flag, value in given.items():
        if value:
            raise BadValue(f"--{flag.replace('_', '-')} is for a folder of motions; this is one motion")


def clips_in(source: str) -> tuple[list[str], str]:
    """Returns the motion files of a folder (with its subfolders) or a pattern, and the folder that they are in."""
    from counterpoise.fleet.planning import find_clips

    found, top = find_clips(source)
    if not found:
        raise BadFile(f"no motion files in {source!r}", path=source)
    return [str(path) for path in found], str(top)


def run_task(
    task: str, files: list[str], fixed: dict[str, Any], wanted: str, table_file: Path | None, engine: str,
    jobs: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Runs a task for every file, shows the table and ends the verb.

    Exit code 0: the column `wanted` is true for every file; 1: for some it is not, or they failed; 130: stopped.
    """
    from counterpoise.fleet import sweep

    with bar(as_json) as report:
        table = sweep(
            task, {"file": files}, fixed=fixed | {"home": os.getcwd()}, jobs=jobs, engine=engine, out=table_file,
            progress=lambda done, count: report.report(f"{task}ing files", done / max(count, 1)),
        )  # fmt: skip
    rows = list(table)
    failed = sum(row.get("error") is not None for row in rows)
    good = sum(row.get(wanted) is True for row in rows)
    if as_json:
        named = {"rows": rows, "files": len(files), "good": good, "failed": failed, "complete": table.complete}
        say_json(named | ({"table": str(table_file)} if table_file is not None else {}))
    else:
        _show(rows, wanted)
        say(f"{len(rows)} of {len(files)} files: {good} {wanted.replace('_', ' ')}, {failed} failed")
        if table_file is not None:
            say(f"wrote {table_file}" if table.complete else "stopped: the same command does the rest")
    if not table.complete:
        raise typer.Exit(130)
    if good < len(rows):
        raise typer.Exit(1)


def _show(rows: list[dict[str, Any]], wanted: str) -> None:
    """Prints what is wrong, or all of it where that is short."""
    from rich.markup import escape
    from rich.table import Table

    few = len(rows) <= SHOWN_FILES
    shown = Table("file", wanted.replace("_", " "), "")
    for row in rows:
        fine = row.get(wanted) is True
        if few or not fine:
            note = row.get("error") or row.get("verdict") or row.get("output") or ""
            shown.add_row(escape(str(row["file"])), "[green]yes[/]" if fine else "[bold red]no[/]", escape(str(note)))
        if shown.row_count >= SHOWN_FILES:
            break
    if shown.row_count:
        say(shown)


__all__ = ["Engine", "Jobs", "TableFile", "clips_in", "is_many", "only_for_many", "only_for_one", "run_task"]
