"""Facing: which way a body faces at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.character.character import Character
from counterpoise.features import AxisComponent, Goal
from counterpoise.features.goal import Start
from counterpoise.spacetime.optimize.moments import Time, check_time, seconds
from counterpoise.spacetime.optimize.requirements.goals import GoalRequirement


@dataclass(frozen=True, eq=False)
class Facing(GoalRequirement):
    """A body's x axis points to `yaw` [rad] about the vertical at a time, seen from above."""

    time: Time
    yaw: float
    body: str | None = None  # None: the root
    name: str = ""

    def __post_init__(self) -> None:
        check_time(self.time, "the time of a facing")

    def check(self, character: Character) -> None:
        if self.body is not None:
            character.body_id(self.body)

    @property
    def when(self) -> Time:
        return self.time

    def goals(self, character: Character, start: Start) -> list[Goal]:
        """Returns the goal it stands for: the x axis has no component across the way asked for."""
        across = (-float(np.sin(self.yaw)), float(np.cos(self.yaw)), 0.0)
        return [Goal(AxisComponent(self.body or character.root, (1.0, 0.0, 0.0), across), np.zeros(1))]

    def label(self, goal: Goal) -> str:
        return self.name or f"facing at {seconds(self.time):g} s"
