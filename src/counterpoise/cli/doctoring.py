"""The verbs that look after the installation: doctor, warmup."""

from __future__ import annotations

from dataclasses import asdict

import typer

from counterpoise.cli.app import Json, app
from counterpoise.cli.output import bar, ended, say, say_json

_MARKS = {"ok": "[green]ok[/]", "missing": "-", "broken": "[bold red]x[/]"}


@app.command()
def doctor(as_json: Json = False) -> None:
    """Tell what works on this machine, and the cure for what does not.

    Exit code 0: all that is needed works (extras may be missing); 1: something is broken.
    """
    from counterpoise.experiments.doctor import examine

    found = examine()
    if as_json:
        say_json([asdict(one) for one in found])
    else:
        from rich.markup import escape
        from rich.table import Table

        table = Table("", "", "what", "cure", title="counterpoise on this machine")
        for one in found:
            table.add_row(one.name, _MARKS[one.state], escape(one.detail), escape(one.cure))
        say(table)
    if any(one.state == "broken" for one in found):
        raise typer.Exit(1)


@app.command()
def warmup(as_json: Json = False) -> None:
    """Compile everything that verbs need now, once; later runs start at once. Ctrl-C keeps what is compiled.

    Exit code 0: done; 130: stopped by Ctrl-C.
    """
    from counterpoise.experiments.warming import warm_up

    with bar(as_json) as report:
        done = warm_up(lambda part, share: report.report("compiling", share))
    if as_json:
        say_json({"compiled": list(done.kernels)})
    else:
        say(f"{len(done.kernels)} kernels compiled" if done.kernels else "everything was compiled already")
    ended(report)
