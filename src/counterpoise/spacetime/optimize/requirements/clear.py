"""Clear: bodies stay above a height for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Ints
from counterpoise.character.character import Character
from counterpoise.features import Goal, PlaneDistance
from counterpoise.features.goal import Start
from counterpoise.spacetime.optimize.moments import Time, check_time
from counterpoise.spacetime.optimize.requirements.base import RowContext
from counterpoise.spacetime.optimize.requirements.goals import GoalRequirement
from counterpoise.spacetime.optimize.spheres import spheres_on


@dataclass(frozen=True, eq=False)
class Clear(GoalRequirement):
    """The shapes of bodies (a foot's points) stay above `height` [m] from `start` to `end`: over a box, a hurdle."""

    bodies: Sequence[str]
    height: float
    start: Time = 0.0
    end: Time | None = None  # None: to the end
    name: str = ""

    def __post_init__(self) -> None:
        check_time(self.start, "the start of a clearance")
        if self.end is not None:
            check_time(self.end, "the end of a clearance")

    @property
    def when(self) -> Time:
        return self.start

    def instants(self) -> Sequence[Time]:
        return ()

    def frames(self, context: RowContext) -> Ints:
        return context.knots_between(self.start, self.end)

    def goals(self, character: Character, start: Start) -> list[Goal]:
        """Returns a goal for every sphere that stands for the bodies' shapes: its centre above height + radius."""
        plane = (0.0, 0.0, float(self.height))
        return [
            Goal(
                PlaneDistance(b.body, plane, (0.0, 0.0, 1.0), b.position), low=np.array([b.radius]),
                name=self.name or f"{b.name} above {self.height:g} m",
            )
            for b in spheres_on(character, self.bodies)
        ]  # fmt: skip
