"""Require: any goal, at an instant or over a stretch of time, as a constraint or as a cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Ints
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.features.goal import Goal, MakesGoals, Start
from counterpoise.spacetime.optimize.moments import Time, check_time, seconds
from counterpoise.spacetime.optimize.requirements.base import RowContext
from counterpoise.spacetime.optimize.requirements.goals import GoalRequirement


@dataclass(frozen=True, eq=False)
class Require(GoalRequirement):
    """A goal holds at `start`, or at all knots from `start` to `end`: `Require(Reach("hand_left", place), 0.8)`.

    `goal` is a `Goal` of any feature, or one of posing's constructors: `Reach`, `Pin`, `Orient`, `Aim`, `Balanced`,
    `AboveGround` ... What they keep "as it is at the start" is taken from the first guess at `start`. With `soft` the
    goal is a cost, soft / 2 times its squared error, instead of a constraint.
    """

    goal: MakesGoals
    start: Time
    end: Time | None = None  # None: at `start` only
    soft: float | None = None  # weight of the cost; None: exact
    name: str = ""

    def __post_init__(self) -> None:
        check_time(self.start, "the start of a requirement")
        if self.end is not None:
            check_time(self.end, "the end of a requirement")
        if not hasattr(self.goal, "goals"):
            raise BadValue(
                f"Require takes a Goal, or a constructor of one such as Reach or Pin; got {type(self.goal).__name__}"
            )
        if self.soft is not None and not (np.isfinite(self.soft) and self.soft > 0.0):
            raise BadValue(f"a soft requirement has a positive weight; got {self.soft!r}")

    def check(self, character: Character) -> None:
        self.goal.goals(character, Start(character, character.neutral))

    @property
    def when(self) -> Time:
        return self.start

    @property
    def slack_price(self) -> float | None:
        return self.soft

    def goals(self, character: Character, start: Start) -> Sequence[Goal]:
        return self.goal.goals(character, start)

    def instants(self) -> Sequence[Time]:
        return (self.start,) if self.end is None else ()

    def frames(self, context: RowContext) -> Ints:
        return super().frames(context) if self.end is None else context.knots_between(self.start, self.end)

    def label(self, goal: Goal) -> str:
        when = f"at {seconds(self.start):g} s" if self.end is None else f"from {seconds(self.start):g} s"
        return self.name or f"{goal.name} {when}"
