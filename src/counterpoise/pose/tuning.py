"""The numbers of the posing method."""

from __future__ import annotations

import time
from dataclasses import dataclass

from counterpoise.errors import BadValue


@dataclass(frozen=True)
class PoseTuning:
    """Numbers of the method; the defaults suit figures of human size."""

    tolerance: float = 1e-4  # [m, rad]: a goal is reached
    iterations: int = 60  # from one start
    damping: float = 0.1  # first damping, relative to the objective
    restarts: int = 60  # spread-out starts tried when stuck
    patience: int = 18  # iterations from a spread-out start
    seconds: float | None = None  # [s] a limit by the clock; None: the iterations alone decide
    settle: int = 6  # iterations spent on the posture once the goals are reached
    flat: float = 1e-7  # relative decrease of the objective below which a descent ends

    def out_of_time(self, began: float, next_takes: float = 0.0) -> bool:
        """Whether the limit by the clock, if there is one, has passed since `began` (time.perf_counter).

        Also where it would pass during what comes next, which takes about `next_takes` [s].
        """
        return self.seconds is not None and time.perf_counter() - began + next_takes > self.seconds


def check_tuning(rules: PoseTuning) -> PoseTuning:
    """Returns the tuning; raises where its numbers are out of range."""
    if not (
        rules.tolerance > 0
        and rules.iterations > 0
        and rules.restarts >= 0
        and (rules.seconds is None or rules.seconds > 0)
    ):
        raise BadValue(f"posing needs positive tolerance, iterations and seconds, restarts >= 0; got {rules}")
    return rules
