"""Steering: from a place to go to, or a way along places, to a speed and a heading."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.errors import BadValue

ARRIVED = 0.3  # [leg lengths] a body this near to its goal stops ...
AGAIN = 0.8  # [leg lengths] ... and goes again where it is farther away than this
PASSED = 0.7  # [leg lengths] and a place on the way this near is behind it
SLOW_DOWN = 0.2  # [1/leg time] speed by the distance that is left
NOT_AHEAD = 1.2  # [rad] a goal farther aside than this makes it turn before it goes


def way_of(given: ArrayLike) -> Array:
    """Returns the places of a way, (n, 2) [m]. Raises BadValue where it is none."""
    way = np.atleast_2d(np.asarray(given, float))
    if way.ndim != 2 or way.shape[1] != 2 or not len(way) or not np.isfinite(way).all():
        raise BadValue(
            f"`to` is a place (x, y), several of them, or a function of time that returns one; got {given!r}"
        )
    return way


def steer(
    place: Array, heading: float, way: Array, reached: int, speed: float, body: WalkingBody
) -> tuple[float, float, int]:
    """Returns speed and heading towards the next place of a way, and how many lie behind: all, where it is there.

    `place` (2,) is where the body would come to rest, its capture point. `speed` [m/s] is the one that is asked for; it
    slows down before the last place.
    """
    unit, last = body.hips_height, len(way) - 1
    while reached < last and float(np.hypot(*(way[reached] - place))) < PASSED * unit:
        reached += 1
    away = way[min(reached, last)] - place
    left = float(np.hypot(*away))
    if reached >= last:
        reached = last + 1 if left < (ARRIVED if reached == last else AGAIN) * unit else last
        if reached > last:
            return 0.0, heading, reached
        speed = min(speed, SLOW_DOWN / body.leg_time * left)
    wanted = math.atan2(float(away[1]), float(away[0]))
    aside = abs(math.remainder(wanted - heading, 2.0 * math.pi))
    return (speed * max(math.cos(aside), 0.0) if aside < NOT_AHEAD else 0.0), wanted, reached
