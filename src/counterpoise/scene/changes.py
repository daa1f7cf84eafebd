"""What changes while a scene is simulated: [[change]] has a time, other proportions, other options of its controller.

[[change]]
time = 8.0
lengths = { arms = 1.3 }
controller = { speed = 0.6 }
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from counterpoise.character.character import Character
from counterpoise.errors import unknown_name
from counterpoise.scene.contents import MAIN, SceneCharacter, SceneController
from counterpoise.scene.controllers import read_options
from counterpoise.simulate import Session
from counterpoise.spacetime.stunt.reading import Table, is_number


@dataclass(frozen=True, eq=False)
class SceneChange:
    """From a time on a character has another body, or its controller other options."""

    index: int
    character: str
    time: float  # [s]
    body: Character | None  # with other proportions; factors count from the body of the scene
    options: Mapping[str, Any]  # of its controller, by the names of its fields


def read_changes(
    top: Table, characters: Mapping[str, SceneCharacter], controllers: Mapping[str, SceneController]
) -> tuple[SceneChange, ...]:
    """Returns the changes of [[change]] in the order of their times."""
    out = []
    for index, table in enumerate(top.tables("change")):
        owner = table.text("character", "a character of the scene") or MAIN
        if owner not in characters:
            with table.at("character"):
                raise unknown_name("character of the scene", owner, characters)
        time = table.number("time", "seconds, above 0", required=True, low=1e-9)
        lengths, masses = _factors(table, "lengths"), _factors(table, "masses")
        driven = next((one for one in controllers.values() if one.character == owner), None)
        if driven is None:
            raise table.fault(
                None, f"the character {owner!r} has no controller: nothing is simulated that could change"
            )
        inner = table.table("controller", "controller")
        options = {} if inner is None else read_options(inner, driven)
        table.done()
        assert time is not None
        if not (lengths or masses or options):
            raise table.fault(None, "a change has lengths, masses or controller, such as lengths = { arms = 1.3 }")
        with table.at("lengths" if lengths else "masses"):
            body = characters[owner].character.rescaled(lengths, masses) if lengths or masses else None
        out.append(SceneChange(index, owner, time, body, options))
    return tuple(sorted(out, key=lambda one: one.time))


def make_change(session: Session, figure: int, change: SceneChange) -> None:
    """Does to a figure of a session, counted from 0, what a change says."""
    if change.body is not None:
        session.change_body(change.body, figure)
    if change.options:
        session.controllers[figure] = replace(session.controllers[figure], **change.options)  # type: ignore[type-var]


def _factors(table: Table, key: str) -> dict[str, float]:
    inner = table.table(key, f"the table {key!r}")
    if inner is None:
        return {}
    for name, value in inner.data.items():
        if not is_number(value):
            raise inner.fault(name, f"{name} is a factor, such as 1.3; got {value!r}")
    return {name: float(value) for name, value in inner.data.items()}
