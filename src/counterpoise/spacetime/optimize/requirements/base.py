"""Requirement: something a motion must fulfil besides keys and contacts. Each kind is one file of this room."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character

if TYPE_CHECKING:
    from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
    from counterpoise.spacetime.optimize.layout import Layout
    from counterpoise.spacetime.optimize.moments import Time
    from counterpoise.spacetime.optimize.rows.base import RowBlock
    from counterpoise.spacetime.optimize.starting_point import StartingPoint

TIME_SLACK = 1e-9  # [s] knots this near to the ends of a stretch of time belong to it


@dataclass(frozen=True, eq=False)
class RowContext:
    """What a requirement needs to write its rows: the motion's timeline, its frames and its variables."""

    start: StartingPoint
    evaluation: MotionEvaluation
    layout: Layout

    @property
    def character(self) -> Character:
        return self.evaluation.character

    def frame_at(self, time: Time) -> int:
        """Returns the frame at an instant that the requirement has named in `instants`."""
        return self.start.instant_frame(time)

    def guess_at(self, time: Time) -> Array:
        """Returns the pose (nq,) of the first guess at a time."""
        return self.start.guess_at(time)

    def knots_between(self, start: Time, end: Time | None) -> Ints:
        """Returns the knots from `start` to `end` (None: to the end of the motion)."""
        from counterpoise.spacetime.optimize.moments import seconds

        t = self.start.knot_times
        last = np.inf if end is None else seconds(end)
        return np.flatnonzero((t >= seconds(start) - TIME_SLACK) & (t <= last + TIME_SLACK)).astype(np.int64)


class Requirement(ABC):
    """A condition on the motion. `rows` writes it as constraints; `instants` names times that need a frame."""

    closes_cycle: ClassVar[bool] = False  # whether it makes the last pose the first one again

    def check(self, character: Character) -> None:
        """Raises where it names something the character does not have."""
        return

    def instants(self) -> Sequence[Time]:
        """Returns the instants at which its rows look at the motion, besides the knots."""
        return ()

    @property
    def slack_price(self) -> float | None:
        """Weight of the cost that stands for it where it is no constraint; None: it is one."""
        return None

    @abstractmethod
    def rows(self, context: RowContext) -> list[RowBlock]:
        """Returns its rows."""
