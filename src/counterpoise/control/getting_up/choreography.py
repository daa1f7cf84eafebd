"""What a lying body does until it kneels: rolling over to the front, then drawing the knees under the hips.

Bends are degrees; `near` is the side that it rolls towards. The poses of rolling were found by a random search in
simulation on starts on the back (see docs/getting_up.md); all others are written by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.control.bracing.humanoid import BodyBends, LimbBends, posed
from counterpoise.control.getting_up.lying import Lying, LyingKey

_FLAT = LimbBends((90.0, 0.0, 0.0), 25.0, (5.0, 0.0, 0.0), 8.0, -20.0, 30.0)
_OVERHEAD = LimbBends((137.0, 0.0, 0.0), 20.0, (5.0, 0.0, 0.0), 8.0, -20.0, 30.0)
_HIPS_UP = LimbBends((137.0, 0.0, 0.0), 20.0, (5.0, 85.0, 0.0), 80.0, -30.0, 60.0)
_SIT_BACK = LimbBends((130.0, 0.0, 0.0), 10.0, (5.0, 125.0, 0.0), 142.0, -36.0, 62.0)
_SIT_UP = LimbBends((5.0, 60.0, 0.0), 20.0, (5.0, 108.0, 0.0), 142.0, -36.0, 62.0)

ARMS_OUT = BodyBends(_FLAT, _FLAT, nod=-20.0)
ARMS_OVERHEAD = BodyBends(_OVERHEAD, _OVERHEAD, nod=-20.0)
HIPS_UP = BodyBends(_HIPS_UP, _HIPS_UP, nod=-20.0)
SIT_BACK = BodyBends(_SIT_BACK, _SIT_BACK, bend=15.0, nod=-20.0)
SIT_UP = BodyBends(_SIT_UP, _SIT_UP, bend=10.0)


STRAIGHT = BodyBends(LimbBends((40.0, 0.0, 0.0)), LimbBends((40.0, 0.0, 0.0)), nod=10.0)
WIND_UP = BodyBends(
    LimbBends((149.0, 0.0, 0.0), 10.0, (1.0, 94.0, 10.0), 88.0),
    LimbBends((55.0, 20.0, 0.0), 28.0, (21.0, 110.0, -5.0), 90.0),
    bend=-10.0, twist=28.0, nod=29.0, look=28.0,
)  # fmt: skip
SWING = BodyBends(
    LimbBends((160.0, 0.0, 0.0), 10.0, (32.0, 97.0, 13.0), 56.0),
    LimbBends((-45.0, -2.0, 0.0), 0.0, (-12.0, 100.0, -33.0), 54.0),
    bend=-3.0, twist=0.0, nod=-20.0, look=0.0,
)  # fmt: skip
TURN = BodyBends(
    LimbBends((134.0, 0.0, 0.0), 10.0, (28.0, 54.0, -3.0), 0.0),
    LimbBends((-31.0, 44.0, 0.0), 2.0, (-7.0, 52.0, 11.0), 95.0),
    bend=-10.0, twist=21.0, nod=30.0, look=21.0,
)  # fmt: skip
OVER = BodyBends(
    LimbBends((150.0, 0.0, 0.0), 10.0, (0.0, 0.0, 0.0), 10.0),
    LimbBends((60.0, 40.0, 0.0), 30.0, (10.0, 20.0, 0.0), 30.0),
    nod=-20.0,
)  # fmt: skip


@dataclass(frozen=True)
class LyingTimes:
    """Seconds of each movement on the ground, for a body whose hips are 1 m high."""

    arms_out: float = 0.73
    overhead: float = 0.52
    hips_up: float = 1.25
    sit_back: float = 0.83
    sit_up: float = 0.83
    rest: float = 0.31  # on the heels, and on hands and knees
    kneel: float = 0.83
    straighten: float = 0.62  # on the back
    wait: float = 0.31  # before rolling
    wind_up: float = 0.52
    swing: float = 0.28
    turn: float = 0.50
    stay: float = 0.16  # in that pose
    over: float = 0.44
    side_turn: float = 1.04  # the same from a side
    side_over: float = 0.83


@kept_with_character
def kneeling_keys(character: Character, kneel: bytes, times: LyingTimes) -> tuple[LyingKey, ...]:
    """Returns the keys from lying on the front to kneeling; `kneel` are the bytes of the plan's first pose."""
    last = np.frombuffer(kneel).copy()
    pace = _pace(character)
    steps: tuple[tuple[Array, float], ...] = (
        (posed(character, ARMS_OUT), times.arms_out),
        (posed(character, ARMS_OVERHEAD), times.overhead),
        (posed(character, HIPS_UP), times.hips_up),
        (posed(character, SIT_BACK), times.sit_back),
        (posed(character, SIT_BACK), times.rest),
        (posed(character, SIT_UP), times.sit_up),
        (last, times.kneel),
        (last, times.rest),
    )
    return tuple(LyingKey(pose, pace * seconds) for pose, seconds in steps)


@kept_with_character
def rolling_keys(character: Character, lies: Lying, near: str, times: LyingTimes) -> tuple[LyingKey, ...]:
    """Returns the keys that turn a body from its back or a side to its front, towards its `near` side."""
    t, pace = times, _pace(character)
    steps: tuple[tuple[BodyBends, float], ...] = ((TURN, t.turn), (TURN, t.stay), (OVER, t.over), (OVER, t.rest))
    if lies != "back":
        steps = ((TURN, t.side_turn), (TURN, t.stay), (OVER, t.side_over), (OVER, t.rest))
    else:
        first = ((STRAIGHT, t.straighten), (STRAIGHT, t.wait), (WIND_UP, t.wind_up), (SWING, t.swing))
        steps = (*first, *steps)
    return tuple(LyingKey(posed(character, bends, near), pace * seconds) for bends, seconds in steps)


def _pace(character: Character) -> float:
    return float(character.snapshot().position(character.root)[2]) ** 0.5
