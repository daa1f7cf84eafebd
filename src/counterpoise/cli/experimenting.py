"""The verbs of the published experiments: experiment list, experiment run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from counterpoise.cli.app import Json, VerbApp, app
from counterpoise.cli.output import bar, say, say_json
from counterpoise.errors import BadValue

experiment = VerbApp(
    name="experiment", help="Run the published experiments, the papers' claims beside what is measured.",
    no_args_is_help=True, add_completion=False, rich_markup_mode=None,
)  # fmt: skip
app.add_typer(experiment, name="experiment")


@experiment.command("list")
def list_(
    name: Annotated[str | None, typer.Argument(help="One experiment, to see its settings.")] = None,
    as_json: Json = False,
) -> None:
    """List the experiments, or the settings of one."""
    from rich.table import Table

    from counterpoise.experiments import experiments, find_experiment

    known = experiments() if name is None else {name: find_experiment(name)}
    if as_json:
        rows = [
            {"name": e.name, "summary": e.summary, "source": e.source, "settings": e.parameters} for e in known.values()
        ]
        say_json(rows)
    elif name is None:
        table = Table("name", "what is shown", "source")
        for e in known.values():
            table.add_row(e.name, e.summary, e.source)
        say(table)
    else:
        table = Table("setting", "default", "unit", "what it is", title=f"{name}: {known[name].summary}")
        for setting, p in known[name].parameters.items():
            table.add_row(setting, _short(p["default"]), p["unit"], p["words"])
        say(table)


@experiment.command()
def run(
    name: Annotated[str, typer.Argument(help="An experiment's name; see `experiment list`.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="One of its settings, e.g. seconds=5. May be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for plots, filmstrip, video and recordings.")
    ] = None,
    video: Annotated[bool, typer.Option("--video/--no-video", help="Film it.")] = True,
    as_json: Json = False,
) -> None:
    """Run an experiment and print each claim beside what was measured; exit code 1 when one does not hold."""
    from counterpoise.experiments import find_experiment, run_experiment

    given = _pairs(set_)
    find_experiment(name).with_settings(given)  # raises errors before any work is done
    folder = out if out is not None else Path(f"counterpoise-{name}")
    with bar(as_json) as progress:
        report = run_experiment(name, folder, given, progress, video)
    if as_json:
        say_json(report.as_json())
    else:
        _show(report)
    if not report.outcome.holds:
        raise typer.Exit(1)


def _show(report: Any) -> None:
    from rich.table import Table

    e = report.experiment
    table = Table("claim", "measured", "holds", title=f"{e.name}: {e.summary} ({e.source})", show_lines=True)
    for claim in report.outcome.claims:
        table.add_row(claim.text, claim.measured, "yes" if claim.holds else "NO")
    say(table)
    for what, path in report.files.items():
        say(f"  {path}  {what}")


def _pairs(texts: list[str] | None) -> dict[str, str]:
    out = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise BadValue(f"--set takes NAME=VALUE, such as seed=5; got {text!r}")
        out[name] = value
    return out


def _short(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(f"{v:g}" for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
