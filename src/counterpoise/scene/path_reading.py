"""Motions made of paths and goals: bodies follow curves, or reach for places, while the scene's constraints hold.

[motions.drawn]
[[motions.drawn.path]]
body = "hand_left"
points = [[0.3, 0.3, 1.0], [0.5, 0.2, 1.3], [0.3, 0.4, 1.4]]
duration = 2.0
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.motion import Motion
from counterpoise.pose import solve_pose
from counterpoise.pose.animate import animate
from counterpoise.pose.constraints import PoseConstraint
from counterpoise.pose.goals import Aim, CenterOfMass, Orient, PoseGoal, Reach
from counterpoise.pose.paths.path import Path
from counterpoise.progress import Watch
from counterpoise.spacetime.stunt.reading import Table

GOALS: dict[str, Callable[..., PoseGoal]] = {
    "reach": Reach, "orient": Orient, "aim": Aim, "center_of_mass": CenterOfMass,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ScenePaths:
    """Paths that bodies follow, and goals that count in every frame; without paths, one pose."""

    paths: tuple[Path, ...]
    goals: tuple[PoseGoal, ...]
    rate: float = 60.0  # [1/s] of frames


def read_paths(table: Table, character: Character) -> ScenePaths | None:
    """Reads the tables [[path]] and [[goal]] of a motion; None where it has none."""
    paths, goals = [], []
    for one in table.tables("path"):
        path = _made(one, Path.through, "path")
        with one.at("body"):
            character.body_id(path.body)
        paths.append(path)
    for one in table.tables("goal"):
        kind = one.text("kind", f"one of {', '.join(GOALS)}", required=True, choices=tuple(GOALS))
        assert kind is not None
        goal = _made(one, GOALS[kind], f"goal {kind!r}")
        with one.at(None):
            goal.goals(character, None)
        goals.append(goal)
    if not paths and not goals:
        return None
    rate = table.number("rate", "frames a second, above 0", low=1e-3)
    return ScenePaths(tuple(paths), tuple(goals), rate or 60.0)


def _made(table: Table, kind: Callable[..., Any], label: str) -> Any:
    """Returns a path or a goal with the entries of a table, by the names of its arguments."""
    given = {}
    for name in inspect.signature(kind).parameters:
        value = table.value(name, "")
        if value is not None:
            given[name] = value
    table.label = f"this [[{label.split()[0]}]]"
    table.done()
    with table.at(None):
        try:
            return kind(**given)
        except (TypeError, ValueError) as error:
            raise BadValue(f"this {label} cannot be read: {error}") from None


def followed_paths(
    made: ScenePaths, character: Character, constraints: list[PoseConstraint], progress: Watch | None = None
) -> Motion:
    """Returns the motion in which bodies follow the paths; without paths, the pose that meets the goals."""
    if made.paths:
        return animate(character, made.paths, constraints, made.goals, rate=made.rate, progress=progress)
    return solve_pose(character, made.goals, constraints).motion
