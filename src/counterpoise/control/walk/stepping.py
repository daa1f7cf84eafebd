"""The pendulum of a walk in closed form: where the capture point goes, and when and where the next foot lands.

The CoM c at constant height follows c'' = omega^2 (c - p) for a centre of pressure p. Its capture point
xi = c + c'/omega obeys xi' = omega (xi - p), whatever c does. While p moves from p0 to p1 in the time T,

    xi(T) = p1 + r/omega + (xi(0) - p0 - r/omega) exp(omega T),     r = (p1 - p0)/T,

exactly. A walk repeats itself where xi has the same place, seen from the stance foot, at the end of every step.
All places are in the frame of the heading: x forward, y to the left, from the ankle of the stance foot.
"""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import kernel

TIMES = 33  # moments of landing that are tried
REFINEMENTS = 12  # of the best of them, by golden sections
GOLDEN = 0.6180339887498949
LEAST_TIME = 1e-6  # [s]


@kernel
def capture_after(xi: float, p0: float, p1: float, T: float, omega: float) -> float:
    """Returns where the capture point is after the time T in which the centre of pressure goes from p0 to p1."""
    if T < LEAST_TIME:
        return xi
    r = (p1 - p0) / (T * omega)
    return p1 + r + (xi - p0 - r) * math.exp(omega * T)


@kernel
def capture_before(xi: float, p0: float, p1: float, T: float, omega: float) -> float:
    """Returns where the capture point was before that time: the inverse of `capture_after`."""
    if T < LEAST_TIME:
        return xi
    r = (p1 - p0) / (T * omega)
    return p0 + r + (xi - p1 - r) * math.exp(-omega * T)


@kernel
def periodic_capture(
    step: complex, width: float, side: float, turn: float, first: float, last: float, double: float, single: float,
    omega: float,
) -> complex:  # fmt: skip
    """Returns where the capture point is, from the foot that lands, in a steady walk: forward + 1j x left [m].

    Every step goes by `step` (forward + 1j x left) and by `width` to the side of the foot that lands, `side` +1 for the
    left one, and turns the heading by `turn` [rad]. In every step the centre of pressure goes from `last` on the rear
    foot to `first` on the leading foot, in the time `double`, and on to `last`, in the time `single`; both are
    distances ahead of the ankle along the foot. Places are seen from the heading at the landing.
    """
    e1, u1, v1 = _shares(double, omega)
    e2, u2, v2 = _shares(single, omega)
    back = complex(math.cos(turn), -math.sin(turn))
    kept = back * (e2 * e1)
    rolled = e2 * (u1 * (last * back - step) + v1 * first) + u2 * first + v2 * last
    along = (back * rolled - step) / (1.0 - kept)
    across = 1j * width * (back * (e2 * u1) - 1.0) / (1.0 + kept)
    return along + side * across


@kernel
def _shares(T: float, omega: float) -> tuple[float, float, float]:
    """Returns the factors of xi, p0 and p1 in `capture_after`."""
    return (
        capture_after(1.0, 0.0, 0.0, T, omega),
        capture_after(0.0, 1.0, 0.0, T, omega),
        capture_after(0.0, 0.0, 1.0, T, omega),
    )


@kernel
def choose_step(
    xi: Array, pressure: Array, omega: float, left: Array, wish: Array, swing: Array, weights: Array, out: Array
) -> None:
    """Fills the best landing: time left [s], place (2), cost, and the capture point then (2).

    `pressure` (2, 2) is the centre of pressure now and at the landing. `left` is the least, usual and longest time
    left. `wish` holds the place of the next foot (2), the capture point seen from it at the landing (2), the sign of
    the swinging side, and the least distance across, then least and largest distance along. `swing` is where the
    swinging foot is (2) and its highest mean speed. `weights` are those of the time, the place along and across, and
    of the capture point along and across.
    """
    low, high = left[0], max(left[2], left[0] + LEAST_TIME)
    best, least = low, np.inf
    for k in range(TIMES):
        T = low + (high - low) * k / (TIMES - 1)
        cost = _landing(T, xi, pressure, omega, left[1], wish, swing, weights, out)
        if cost < least:
            best, least = T, cost
    gap = (high - low) / (TIMES - 1)
    a, b = max(low, best - gap), min(high, best + gap)
    for _ in range(REFINEMENTS):
        c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
        at_c = _landing(c, xi, pressure, omega, left[1], wish, swing, weights, out)
        if at_c < _landing(d, xi, pressure, omega, left[1], wish, swing, weights, out):
            b = d
        else:
            a = c
    _landing(0.5 * (a + b), xi, pressure, omega, left[1], wish, swing, weights, out)


@kernel
def _landing(
    T: float, xi: Array, pressure: Array, omega: float, usual: float, wish: Array, swing: Array, w: Array, out: Array
) -> float:  # fmt: skip
    """Returns the cost of a landing after the time T at the place that is best then. Fills it into `out`."""
    cost = w[0] * (T - usual) ** 2
    far, push = 0.0, wish[9] if len(wish) > 9 else 0.0
    for k in range(2):
        ahead = capture_after(xi[k], pressure[0, k], pressure[1, k], T, omega)
        stay = 1.0 - push
        aim = ahead - wish[2 + k] - push * wish[k]
        place = (w[1 + k] * wish[k] + w[3 + k] * stay * aim) / (w[1 + k] + w[3 + k] * stay * stay)
        side, low, high = (1.0, wish[6], wish[7]) if k == 0 else (wish[4], wish[5], wish[8])
        place = side * min(max(side * place, low), high)
        cost += w[1 + k] * (place - wish[k]) ** 2 + w[3 + k] * (aim - stay * place) ** 2
        far += (place - swing[k]) ** 2
        out[1 + k], out[4 + k] = place, ahead
    late = math.sqrt(far) / swing[2] - T  # [s] the foot cannot be there so soon
    if late > 0.0:
        cost += w[5] * late * late
    out[0], out[3] = T, cost
    return cost
