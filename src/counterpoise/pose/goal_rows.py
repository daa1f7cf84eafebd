"""Which goals the compiled rows evaluate (points and orientations); all others are evaluated by their features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterpoise.arrays import Ints
from counterpoise.character.character import Character
from counterpoise.features import BodyOrientation, PointPosition
from counterpoise.features.goal import Goal
from counterpoise.pose.core import CompiledGoals


def is_point(goal: Goal) -> bool:
    return type(goal.feature) is PointPosition


def is_orientation(goal: Goal) -> bool:
    return type(goal.feature) is BodyOrientation


def is_compiled(goal: Goal) -> bool:
    """Whether the compiled rows can evaluate it."""
    return is_point(goal) or is_orientation(goal)


def in_row_order(goals: Sequence[Goal]) -> list[Goal]:
    """Returns the goals in the order of an evaluation's rows: points, orientations, then the others."""
    points = [g for g in goals if is_point(g)]
    turns = [g for g in goals if is_orientation(g)]
    return points + turns + [g for g in goals if not is_compiled(g)]


def row_count(goal: Goal, character: Character) -> int:
    """Returns how many rows a goal with a target has."""
    if is_compiled(goal):
        return 3
    return int(goal.feature.difference(goal.aim, goal.aim).shape[-1])


def row_starts(goals: Sequence[Goal], character: Character) -> Ints:
    """Returns the first row of each goal (in row order), and the end."""
    return np.cumsum([0, *(row_count(g, character) for g in in_row_order(goals))]).astype(np.int64)


def compiled_goals(character: Character, goals: Sequence[Goal], equalities: Sequence[Goal]) -> CompiledGoals:
    """Gathers the points and orientations among goals and equalities."""
    points = [*filter(is_point, goals), *filter(is_point, equalities)]
    turns = [*filter(is_orientation, goals), *filter(is_orientation, equalities)]
    goal_points, goal_turns = sum(map(is_point, goals)), sum(map(is_orientation, goals))
    wanted = np.repeat([i < goal_points for i in range(len(points))] + [i < goal_turns for i in range(len(turns))], 3)
    return CompiledGoals(
        point_body=np.array([character.body_id(_point(g).body) for g in points], np.int64),
        point_place=np.array([_point(g).point for g in points], float).reshape(-1, 3),
        point_target=np.array([g.target for g in points], float).reshape(-1, 3),
        point_weight=np.array([g.weight for g in points], float),
        turn_body=np.array([character.body_id(_orientation(g).body) for g in turns], np.int64),
        turn_target=np.array([g.target for g in turns], float).reshape(-1, 4),
        turn_weight=np.array([g.weight for g in turns], float),
        goal_points=goal_points,
        goal_turns=goal_turns,
        goal_rows=np.flatnonzero(wanted),
        equality_rows=np.flatnonzero(~wanted.astype(bool)),
    )


def _point(goal: Goal) -> PointPosition:
    assert isinstance(goal.feature, PointPosition)
    return goal.feature


def _orientation(goal: Goal) -> BodyOrientation:
    assert isinstance(goal.feature, BodyOrientation)
    return goal.feature
