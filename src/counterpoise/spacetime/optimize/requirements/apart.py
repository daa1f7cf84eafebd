"""Apart: parts of the body keep off each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.shapes import Rod
from counterpoise.errors import BadValue
from counterpoise.spacetime.optimize.moments import Time, check_time
from counterpoise.spacetime.optimize.requirements.base import Requirement, RowContext
from counterpoise.spacetime.optimize.rods import rod_pairs
from counterpoise.spacetime.optimize.rows.apart import ApartPlan
from counterpoise.spacetime.optimize.rows.base import RowBlock

REACH = 0.3  # [m] pairs nearer than this in the first guess have rows from the start
REACH_NAMED = 1.0  # [m] and pairs that were named


@dataclass(frozen=True, eq=False)
class Apart(Requirement):
    """Bodies keep off others (None: all off all, but neighbours) from `start` to `end`: arms off the legs in a tuck."""

    bodies: Sequence[str] | None = None
    others: Sequence[str] | None = None
    room: float = 0.0  # [m] between them
    start: Time = 0.0
    end: Time | None = None  # None: to the end
    name: str = ""

    def __post_init__(self) -> None:
        check_time(self.start, "the start of keeping apart")
        if self.end is not None:
            check_time(self.end, "the end of keeping apart")
        both = sorted(set(self.bodies or ()) & set(self.others or ()))
        if both:
            raise BadValue(f"a body cannot be kept apart from itself; {', '.join(both)} is on both sides")

    def check(self, character: Character) -> None:
        for name in (*(self.bodies or ()), *(self.others or ())):
            character.body_id(name)

    def plan(self, context: RowContext) -> ApartPlan:
        """Returns the pairs of rods to keep apart, at knots where no exact key fixes the pose."""
        e = context.evaluation
        on = np.zeros(e.frames.knots, bool)
        on[context.knots_between(self.start, self.end)] = True
        on &= (e.frames.s[: e.frames.knots] > 0.0) | (e.frames.phase[: e.frames.knots] == 0)  # a seam counts once
        on[context.start.fixed_knots] = False
        pairs = rod_pairs(e.character, self.bodies, self.others)
        ends = [[*self._ends(context, a), *self._ends(context, b)] for a, b in pairs]
        room = np.array([a.radius + b.radius + self.room for a, b in pairs])
        labels = tuple(f"{a.body} and {b.body}" for a, b in pairs)
        return ApartPlan(self.name or "apart", labels, np.array(ends, np.int64).reshape(-1, 4), room, on)

    def rows(self, context: RowContext) -> list[RowBlock]:
        plan = self.plan(context)
        reach = REACH if self.bodies is None else REACH_NAMED
        return [plan.rows(context.evaluation, context.layout, plan.known(()), reach, np.inf)]

    @staticmethod
    def _ends(context: RowContext, rod: Rod) -> tuple[int, int]:
        e, body = context.evaluation, context.character.body_id(rod.body)
        return e.point(body, np.array(rod.start)), e.point(body, np.array(rod.end))
