"""Cycle: the end of the motion is its beginning again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterpoise.errors import BadValue
from counterpoise.spacetime.optimize.requirements.base import Requirement, RowContext
from counterpoise.spacetime.optimize.rows.base import RowBlock
from counterpoise.spacetime.optimize.rows.cycle import SamePoseRows
from counterpoise.spacetime.optimize.rows.speed import SeamRows


@dataclass(frozen=True, eq=False)
class Cycle(Requirement):
    """The end is the beginning again, moved on by `travel` (x, y) [m]; velocities agree too."""

    travel: Sequence[float | None] = (None, None)  # None: free

    closes_cycle: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.travel) != 2:
            raise BadValue(f"a cycle's travel is (x, y) [m], None where free; got {self.travel!r}")

    def rows(self, context: RowContext) -> list[RowBlock]:
        e, layout, last = context.evaluation, context.layout, context.evaluation.frames.knots - 1
        return [
            SamePoseRows(e, layout, self.travel, 0, last),
            SeamRows(e, layout, np.array([0]), np.array([last]), "cycle's velocity"),
        ]
