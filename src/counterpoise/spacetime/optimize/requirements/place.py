"""Place: a point of a body, or the centre of mass, is somewhere at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.features import Components, ComPosition, Feature, Goal, PointPosition
from counterpoise.features.goal import Start
from counterpoise.spacetime.optimize.moments import Time, check_time, seconds
from counterpoise.spacetime.optimize.requirements.goals import GoalRequirement


@dataclass(frozen=True, eq=False)
class Place(GoalRequirement):
    """A body's point is at `position` at a time; None leaves a coordinate free. `within` [m] is the tolerance."""

    body: str  # "com" for the centre of mass
    time: Time
    position: Sequence[float | None]
    point: ArrayLike = (0.0, 0.0, 0.0)  # [m] in the body's frame
    within: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        check_time(self.time, f"the time of {self.body!r}'s place")
        if len(self.position) != 3 or all(c is None for c in self.position):
            raise BadValue(f"a place is (x, y, z), None where free, not all None; got {self.position!r}")
        if self.within < 0.0:
            raise BadValue(f"within is a distance >= 0; got {self.within!r}")

    def check(self, character: Character) -> None:
        if self.body != "com":
            character.body_id(self.body)

    @property
    def when(self) -> Time:
        return self.time

    def goals(self, character: Character, start: Start) -> list[Goal]:
        """Returns the goal it stands for: the coordinates asked for, each within its tolerance."""
        axes = tuple(k for k in range(3) if self.position[k] is not None)
        values = np.array([float(c) for c in self.position if c is not None])
        x, y, z = (float(c) for c in np.asarray(self.point, float))
        whole: Feature = ComPosition() if self.body == "com" else PointPosition(self.body, (x, y, z))
        return [Goal(Components(whole, axes), low=values - self.within, high=values + self.within)]

    def label(self, goal: Goal) -> str:
        return self.name or f"{self.body} at {seconds(self.time):g} s"
