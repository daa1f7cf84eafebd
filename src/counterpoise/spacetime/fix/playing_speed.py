"""The speed at which a motion is played, as its flights show it: a body in slow motion falls too slowly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterpoise.motion.motion import Motion
from counterpoise.spacetime.check.report import CheckReport

AGREEMENT = 0.15  # flights whose speeds differ by more than this from the usual one do not agree
USUAL_SPEEDS = (0.25, 1.0 / 3.0, 0.5, 2.0 / 3.0, 0.75, 4.0 / 3.0, 1.5, 2.0, 3.0, 4.0)
USUAL_ERROR = 0.05  # a speed as near to a usual one as this is the usual one


class PlayingSpeed(NamedTuple):
    """How fast a motion is played, relative to its true speed."""

    speed: float  # 1 where nothing shows another speed
    flights: int  # that show it
    words: str  # one sentence; empty where nothing is wrong

    @property
    def wrong(self) -> bool:
        return self.speed != 1.0


def playing_speed(report: CheckReport) -> PlayingSpeed:
    """Returns the speed that the flights of a checked motion show.

    It counts where gravity in flight is beyond the limit of the check, and all flights agree. Speeds near those of
    wrong frame rates (a half, two thirds, twice, ...) are taken as these.
    """
    speeds = [(f.speed, f.end - f.start) for f in report.flights if np.isfinite(f.speed)]
    if not speeds or report.finding("flight").ok:
        return PlayingSpeed(1.0, len(speeds), "")
    speed = sorted(speeds, key=lambda one: one[1])[-1][0]  # of the longest flight
    if any(abs(one / speed - 1.0) > AGREEMENT for one, _ in speeds):
        return PlayingSpeed(1.0, len(speeds), "Its flights fall at different speeds: no playing speed fits them all.")
    usual = min(USUAL_SPEEDS, key=lambda one: abs(one / speed - 1.0))
    speed = usual if abs(usual / speed - 1.0) < USUAL_ERROR else float(speed)
    told = f"{1.0 / speed:.2g} times too slowly" if speed < 1.0 else f"{speed:.2g} times too fast"
    count = "its flight shows" if len(speeds) == 1 else f"its {len(speeds)} flights show"
    return PlayingSpeed(speed, len(speeds), f"The motion is played {told}, as {count}.")


def at_true_speed(motion: Motion, speed: PlayingSpeed) -> Motion:
    """Returns the motion at its true speed, with as many frames a second as before."""
    return motion.retimed(1.0 / speed.speed).resampled(motion.rate) if speed.wrong else motion
