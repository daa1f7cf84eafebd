"""Requirements that are goals: features with values to hold at an instant or over a stretch of time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from counterpoise.arrays import Ints
from counterpoise.character.character import Character
from counterpoise.features.goal import Goal, Start
from counterpoise.spacetime.optimize.moments import Time
from counterpoise.spacetime.optimize.requirements.base import Requirement, RowContext
from counterpoise.spacetime.optimize.rows.base import RowBlock
from counterpoise.spacetime.optimize.rows.feature import goal_rows


class GoalRequirement(Requirement):
    """Holds its goals at `when`, or at all knots of a stretch of time where `frames` says so."""

    @property
    @abstractmethod
    def when(self) -> Time:
        """The instant at which it holds, or its stretch begins."""

    @abstractmethod
    def goals(self, character: Character, start: Start) -> Sequence[Goal]:
        """Returns the goals it stands for; `start` is the first guess at `when`."""

    def instants(self) -> Sequence[Time]:
        return (self.when,)

    def frames(self, context: RowContext) -> Ints:
        """Returns the frames at which the goals hold."""
        return np.array([context.frame_at(self.when)], np.int64)

    def label(self, goal: Goal) -> str:
        """Returns the name of a goal's rows in reports."""
        return goal.name

    def rows(self, context: RowContext) -> list[RowBlock]:
        e, frames = context.evaluation, self.frames(context)
        goals = self.goals(e.character, Start(e.character, context.guess_at(self.when)))
        return [goal_rows(e, context.layout, goal, frames, self.label(goal)) for goal in goals]
