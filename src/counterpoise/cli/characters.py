"""The verb that lists the figures of the library, or the parts of one: characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.output import say, say_json
from counterpoise.phrases import figure_from

if TYPE_CHECKING:
    from counterpoise.character.character import Character


@app.command()
def characters(
    name: Annotated[str | None, typer.Argument(help="One figure, or an .xml/.urdf file, to see its parts.")] = None,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """List the figures of the library, or the parts of one."""
    if name is None:
        _show_library(as_json)
    else:
        _show_figure(figure_from(name, set_), as_json)


def _show_library(as_json: bool) -> None:
    from rich.table import Table

    from counterpoise.character.library import character
    from counterpoise.character.library import characters as entries

    rows: list[dict[str, Any]] = []
    for entry in entries():
        figure = character(entry.name)
        rows.append(
            {"name": entry.name, "summary": entry.summary, "dof": figure.nv, "mass": round(figure.mass, 3),
             "height": round(figure.height, 3), "feet": len(figure.feet), "parameters": entry.parameters}
        )  # fmt: skip
    if as_json:
        say_json(rows)
        return
    table = Table("name", "DOF", "mass [kg]", "height [m]", "feet", "what it is", "parameters")
    for r in rows:
        table.add_row(
            r["name"], str(r["dof"]), f"{r['mass']:.1f}", f"{r['height']:.2f}", str(r["feet"]), r["summary"],
            ", ".join(f"{k}={v}" for k, v in r["parameters"].items()),
        )  # fmt: skip
    say(table)


def _show_figure(figure: Character, as_json: bool) -> None:
    from rich.table import Table

    joints: list[dict[str, Any]] = [
        {
            "name": j.name,
            "kind": j.kind,
            "moves": j.body,
            "torque_limit": float(max(figure.torque_limit[j.dofs], default=0.0)),
        }
        for j in figure.joints
    ]
    feet = [{"name": f.name, "side": f.side, "points": [p.name for p in f.points]} for f in figure.feet]
    if as_json:
        say_json(
            {
                "name": figure.name,
                "mass": figure.mass,
                "height": figure.height,
                "dof": figure.nv,
                "root": figure.root,
                "segments": list(figure.segments),
                "joints": joints,
                "feet": feet,
                "hands": list(figure.hands),
                "guessed": list(figure.roles.guessed),
            }
        )
        return
    say(f"{figure.name}: {figure.mass:.2f} kg, {figure.height:.3f} m, {figure.nv} DOF, root {figure.root or 'none'}")
    table = Table("joint", "kind", "moves", "torque limit [N m]")
    for joint in joints:
        table.add_row(joint["name"], joint["kind"], joint["moves"], f"{joint['torque_limit']:.1f}")
    say(table)
    for foot in feet:
        say(f"{foot['name']} stands on {', '.join(foot['points'])}")
    for guess in figure.roles.guessed:
        say(f"guessed: {guess}")
