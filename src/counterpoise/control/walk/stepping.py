"""When and where the next foot lands: all times are tried, the best place for each is a formula (plan/pendulum.py).

All places are in the frame of the heading: x forward, y to the left, from the ankle of the stance foot.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import inner_kernel, kernel, lean_kernel
from counterpoise.plan.pendulum import LEAST_TIME, capture_after

TIMES = 33  # moments of landing that are tried
REFINEMENTS = 12  # of the best of them, by golden sections
GOLDEN = 0.6180339887498949
LEAST_WAY = 1e-6  # [m]


class StepWish(NamedTuple):
    """What is asked of a landing, and what the legs can do; metres from the stance ankle, x forward, y to the left."""

    x: float  # of the foot that lands
    y: float
    capture_x: float  # of the capture point then, from that foot
    capture_y: float
    side: float  # +1: the left foot swings, -1: the right
    near: float  # least and largest x
    far: float
    narrow: float  # least and largest distance to its side
    wide: float
    hip_x: float  # of the swinging leg's hip at the landing
    hip_y: float
    reach: float  # from that hip
    clear: float  # x, ahead or behind, at which a foot may cross to the other side of the stance foot
    crossed: float  # largest distance on that other side
    push: float = 0.0  # by which the capture point may be farther back, for every metre that the step is longer


class StepCosts(NamedTuple):
    """Weights of what a landing costs."""

    time: float  # [1/s^2]
    along: float  # [1/m^2] of the place
    across: float
    capture: float  # of the capture point
    late: float  # [1/s^2] of a foot that cannot be there so soon
    cross: float  # of a step to the other side of the stance foot


@kernel
def choose_step(
    xi: Array, pressure: Array, omega: float, left: Array, wish: StepWish, swing: Array, w: StepCosts, out: Array
) -> None:
    """Fills the best landing: time left [s], place (2), cost, and the capture point then (2).

    `pressure` (2, 2) is the centre of pressure now and at the landing. `left` is the least, usual and longest time
    left. `swing` is where the swinging foot is (2), its velocity (2), its largest acceleration and mean speed. Where
    the capture point will be beyond the stance foot, steps that cross before it or behind it are tried too.
    """
    low, high = left[0], max(left[2], left[0] + LEAST_TIME)
    beyond = wish.side * capture_after(xi[1], pressure[0, 1], pressure[1, 1], left[1], omega) < 0.0
    best, least, way = low, np.inf, 0
    for cross in range(-1, 2):
        if cross != 0 and not beyond:
            continue
        for k in range(TIMES):
            T = low + (high - low) * k / (TIMES - 1)
            cost = _landing(T, cross, xi, pressure, omega, left[1], wish, swing, w, out)
            if cost < least:
                best, least, way = T, cost, cross
    gap = (high - low) / (TIMES - 1)
    a, b = max(low, best - gap), min(high, best + gap)
    for _ in range(REFINEMENTS):
        c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
        at_c = _landing(c, way, xi, pressure, omega, left[1], wish, swing, w, out)
        if at_c < _landing(d, way, xi, pressure, omega, left[1], wish, swing, w, out):
            b = d
        else:
            a = c
    _landing(0.5 * (a + b), way, xi, pressure, omega, left[1], wish, swing, w, out)


@lean_kernel
def least_time(way: float, speed: float, most: float) -> float:
    """Returns the least time [s] from a speed to rest at a place `way` [m] ahead, at accelerations up to `most`."""
    brake = 0.5 * speed * speed / most
    if speed > 0.0 and brake > way:  # it goes too far and comes back
        return speed / most + 2.0 * math.sqrt((brake - way) / most)
    return (2.0 * math.sqrt(most * way + 0.5 * speed * speed) - speed) / most


@inner_kernel
def _landing(
    T: float, cross: int, xi: Array, pressure: Array, omega: float, usual: float, wish: StepWish, swing: Array,
    w: StepCosts, out: Array,
) -> float:  # fmt: skip
    """Returns the cost of a landing after the time T at the place that is best then. Fills it into `out`.

    `cross` is 1 for a step that crosses before the stance foot, -1 behind it, 0 for one to its own side.
    """
    ahead_x = capture_after(xi[0], pressure[0, 0], pressure[1, 0], T, omega)
    ahead_y = capture_after(xi[1], pressure[0, 1], pressure[1, 1], T, omega)
    stay = 1.0 - wish.push
    aim_x, aim_y = ahead_x - wish.capture_x - wish.push * wish.x, ahead_y - wish.capture_y - wish.push * wish.y
    share = w.capture * stay
    x = (w.along * wish.x + share * aim_x) / (w.along + share * stay)
    y = wish.side * (w.across * wish.y + share * aim_y) / (w.across + share * stay)
    near, far, narrow, wide = wish.near, wish.far, wish.narrow, wish.wide
    cost = w.time * (T - usual) ** 2
    if cross != 0:
        narrow, wide = -wish.crossed, 0.0
        near, far = (max(near, wish.clear), max(far, wish.clear)) if cross > 0 else (near, -wish.clear)
        cost += w.cross
    x, y = min(max(x, near), far), wish.side * min(max(y, narrow), wide)
    away_x, away_y = x - wish.hip_x, y - wish.hip_y
    distance = math.sqrt(away_x * away_x + away_y * away_y)
    if distance > wish.reach:
        x, y = wish.hip_x + away_x * wish.reach / distance, wish.hip_y + away_y * wish.reach / distance
    cost += w.along * (x - wish.x) ** 2 + w.across * (y - wish.y) ** 2
    cost += w.capture * ((aim_x - stay * x) ** 2 + (aim_y - stay * y) ** 2)
    away_x, away_y = x - swing[0], y - swing[1]
    distance = math.sqrt(away_x * away_x + away_y * away_y)
    towards = (away_x * swing[2] + away_y * swing[3]) / max(distance, LEAST_WAY)
    if cross != 0 and abs(swing[0]) < wish.clear:  # around the stance foot: first ahead or back, then across
        distance, towards = abs(away_x) + abs(away_y), 0.0
    late = max(least_time(distance, towards, swing[4]), distance / swing[5]) - T  # [s] it cannot be there so soon
    if late > 0.0:
        cost += w.late * late * late
    out[0], out[1], out[2], out[3], out[4], out[5] = T, x, y, cost, ahead_x, ahead_y
    return cost
