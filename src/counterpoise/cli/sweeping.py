"""The verb `sweep`: a function or task run for every combination of parameters; one table."""

from __future__ import annotations

import glob
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from counterpoise.cli.app import Json, app
from counterpoise.cli.output import bar, end_stopped, say, say_json
from counterpoise.errors import BadFile, BadValue, unknown_name
from counterpoise.files import one_line

_ENTRIES = ("run", "over", "fixed", "repeats", "seed", "out")
_SHOWN_ROWS = 20  # of a long table


@app.command()
def sweep(
    source: Annotated[Path, typer.Argument(metavar="SWEEP", help="A sweep (.toml): run, [over], repeats, seed.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The table (.csv; .parquet beside it).")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, max=1024, help="Processes; all cores by default.")
    ] = None,
    engine: Annotated[str, typer.Option(help="processes, serial, ray, or ray://HOST:PORT.")] = "processes",
    as_json: Json = False,
) -> None:
    """Run a function for every combination of parameters and write one table.

    Started again, it does only the rows that are missing. Exit code 0: every row has a result; 1: some have an error;
    2: the sweep cannot be read; 130: stopped by Ctrl-C (finished rows are kept).
    """
    from counterpoise.fleet import sweep as run_sweep

    asked = read_sweep(source)
    target = out if out is not None else Path(asked.get("out", source.with_suffix(".csv")))
    with bar(as_json) as report:
        table = run_sweep(
            asked["run"], asked["over"], repeats=asked.get("repeats", 1), seed=asked.get("seed", 0),
            fixed=asked.get("fixed", {}), jobs=jobs, engine=engine, out=target,
            progress=report,
        )  # fmt: skip
    errors = sum(cell is not None for cell in table.column("error")) if "error" in table.columns else 0
    if as_json:
        say_json({"rows": list(table), "errors": errors, "complete": table.complete, "file": str(target)})
    else:
        _show(table, errors, target)
    if not table.complete:
        end_stopped()
    if errors:
        raise typer.Exit(1)


def read_sweep(source: Path) -> dict[str, Any]:
    """Reads a sweep from TOML: run = "module:function", "file.py:function" or a task; [over] and [fixed] tables."""
    try:
        data = tomllib.loads(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadFile(f"no file {str(source)!r}", path=str(source)) from None
    except (OSError, UnicodeDecodeError, RecursionError, tomllib.TOMLDecodeError) as error:
        raise BadFile(f"{str(source)!r} is not a sweep: {one_line(error)}", path=str(source)) from None
    for name in data:
        if name not in _ENTRIES:
            raise unknown_name("entry", name, _ENTRIES, str(source))
    if not isinstance(data.get("run"), str):
        raise BadValue(
            f'{str(source)!r} needs run = "module:function", "file.py:function", "check", "fix", "optimize" or "scene"'
        )
    if not isinstance(data.get("over"), dict) or not data["over"]:
        raise BadValue(f"{str(source)!r} needs a table [over] with lists of values")
    if not isinstance(data.get("fixed", {}), dict):
        raise BadValue(f"{str(source)!r}: [fixed] is a table of parameters; got {data['fixed']!r}")
    if not isinstance(data.get("out", ""), str):
        raise BadValue(f"{str(source)!r}: out is the name of a .csv file; got {data['out']!r}")
    home, run = source.resolve().parent, data["run"]
    if run.partition(":")[0].endswith(".py"):
        data["run"] = str(home / run)
    for name in ("scene", "stunt"):  # a file beside the sweep
        given = data.get("fixed", {}).get(name)
        if isinstance(given, str) and not {"\n", "="} & set(given):  # else a text
            data["fixed"][name] = str(home / given)
    _check_document(run, data.get("fixed", {}), source)
    data["over"] = {name: _files(values, home) if name == "file" else values for name, values in data["over"].items()}
    return data


def _check_document(run: str, fixed: dict[str, Any], source: Path) -> None:
    """Reads the scene or stunt that every row changes, so that a bad one is refused before the rows."""
    if run not in ("scene", "optimize"):
        return
    from counterpoise.scene import read_scene
    from counterpoise.spacetime.stunt.stunt import read_stunt

    name, read = ("scene", read_scene) if run == "scene" else ("stunt", read_stunt)
    if not isinstance(fixed.get(name), str):
        raise BadValue(f'{str(source)!r} needs a table [fixed] with {name} = "file.toml"; got {fixed.get(name)!r}')
    read(fixed[name])


def _files(given: Any, home: Path) -> list[str]:
    """Returns the files that names and patterns such as clips/*.bvh stand for, from the folder of the sweep."""
    found: list[str] = []
    if not isinstance(given, str) and not (isinstance(given, list) and all(isinstance(one, str) for one in given)):
        raise BadValue(f"[over] file is a list of files and patterns in quotes; got {given!r}")
    for text in [given] if isinstance(given, str) else given:
        names = (
            sorted(glob.glob(str(home / str(text)), recursive=True))
            if glob.has_magic(str(text))
            else [str(home / text)]
        )
        if not names:
            raise BadFile(f"no file matches {text!r}", path=str(text))
        found += names
    return found


def _show(table: Any, errors: int, target: Path) -> None:
    from rich.markup import escape
    from rich.table import Table

    shown = Table(*(escape(name) for name in table.columns))
    for row in table.rows[:_SHOWN_ROWS]:
        shown.add_row(*("" if c is None else f"{c:.4g}" if isinstance(c, float) else escape(str(c)) for c in row))
    say(shown)
    more = f", the first {_SHOWN_ROWS} shown" if len(table) > _SHOWN_ROWS else ""
    failed = f"; {errors} with an error" if errors else ""
    say(f"{len(table)} rows{more}{failed}")
    if table.complete:
        say(escape(f"wrote {target}"))
    else:
        say("stopped: the same command does the rest")
