"""Paths that were recorded with the pointer: kept with the scene until a person has bodies follow them.

[[recorded_path]]
body = "hand_left"
times = [0.0, 0.4, 0.9]
points = [[0.1, 0.3, 0.9], [0.3, 0.3, 1.1], [0.2, 0.2, 1.4]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterpoise.pose.paths.path import Path
from counterpoise.scene.contents import SceneCharacter
from counterpoise.scene.surroundings import owner_of_table
from counterpoise.spacetime.stunt.reading import Table


@dataclass(frozen=True, eq=False)
class SceneRecordedPath:
    """A path that a body of a character may follow; `index` counts the tables [[recorded_path]]."""

    character: str
    path: Path
    index: int


def read_recorded_paths(top: Table, characters: Mapping[str, SceneCharacter]) -> tuple[SceneRecordedPath, ...]:
    """Returns the paths of [[recorded_path]]; a body has one at most."""
    out: list[SceneRecordedPath] = []
    for i, table in enumerate(top.tables("recorded_path")):
        owner = owner_of_table(table, characters)
        body = table.text("body", "the body that follows the path", required=True)
        times = table.value("times", "seconds, one for each point", required=True)
        points = table.value("points", "places [x, y, z] in metres", required=True)
        point = table.numbers("point", "[x, y, z] in the body's frame, in metres", (3,)) or (0.0, 0.0, 0.0)
        table.done()
        assert body is not None
        with table.at("body"):
            characters[owner].character.body_id(body)
        if any((one.character, one.path.body) == (owner, body) for one in out):
            raise table.fault("body", f"there are two recorded paths of {body!r}: remove one")
        with table.at("points"):
            out.append(SceneRecordedPath(owner, Path.through(body, points, times=times, point=point), i))
    return tuple(out)


def recorded_path_of(paths: Sequence[SceneRecordedPath], body: str, character: str) -> SceneRecordedPath | None:
    """Returns the recorded path of a body; None where it has none."""
    return next((one for one in paths if (one.character, one.path.body) == (character, body)), None)
