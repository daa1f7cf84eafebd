"""`check` and `fix` of folders and patterns: a sweep over their files, with a table, on processes or a cluster."""

from __future__ import annotations

import functools
import glob
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from counterpoise.cli.output import bar, end_stopped, say, say_json
from counterpoise.errors import BadFile, BadValue

SHOWN_FILES = 40  # of a long table


@dataclass(frozen=True)
class FolderRun:
    """The options that `check` and `fix` have for folders and patterns."""

    table: Annotated[
        Path | None,
        typer.Option("--table", metavar="FILE.csv", help="For folders: write a row a file, and go on there."),
    ] = None
    engine: Annotated[str, typer.Option(help="For folders: processes, serial, ray, or ray://HOST:PORT.")] = "processes"
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, max=1024, help="For folders: processes; all cores by default.")
    ] = None


ONE_MOTION = FolderRun()  # no option for folders is given


def takes_folders(verb: Callable[..., None]) -> Callable[..., None]:
    """Gives a verb the options of `FolderRun`, which it gets as its argument `many`."""
    hints = get_type_hints(verb, include_extras=True)
    options = get_type_hints(FolderRun, include_extras=True)
    own = [p for p in inspect.signature(verb).parameters.values() if p.name != "many"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(FolderRun, name), annotation=kind)
        for name, kind in options.items()
    ]

    @functools.wraps(verb)
    def with_options(**given: Any) -> None:
        many = FolderRun(**{name: given.pop(name) for name in options})
        verb(**given, many=many)

    shown = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name]) for p in own] + added
    made: Any = with_options
    made.__signature__ = inspect.Signature(shown)
    made.__annotations__ = {p.name: p.annotation for p in shown} | {"return": None}
    del made.__wrapped__
    return with_options


def is_many(source: str) -> bool:
    """Returns whether a source is a folder or a pattern, and not one motion."""
    if not source:
        raise BadValue("the source is an empty text; give a file, a folder or a motion's name")
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


def given_only(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options that have a value."""
    return {name: value for name, value in options.items() if value is not None}


def run_task(task: str, files: list[str], fixed: dict[str, Any], wanted: str, many: FolderRun, as_json: bool) -> None:
    """Runs a task for every file, shows the table and ends the verb.

    Exit code 0: the column `wanted` is true for every file; 1: for some it is not, or they failed; 130: stopped.
    """
    from counterpoise.fleet import sweep

    table_file = many.table
    with bar(as_json) as report:
        table = sweep(
            task, {"file": files}, fixed=fixed | {"home": os.getcwd()}, jobs=many.jobs, engine=many.engine,
            out=table_file, progress=lambda p: report.report(f"{task}ing files", p.share),
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
        end_stopped()
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
