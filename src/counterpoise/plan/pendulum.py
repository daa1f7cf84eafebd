"""The pendulum of a walk in closed form: where the capture point and the CoM go.

The CoM c at constant height follows c'' = omega^2 (c - p) for a centre of pressure p. Its capture point
xi = c + c'/omega obeys xi' = omega (xi - p), and eta = c - c'/omega obeys eta' = omega (p - eta), whatever c
does. While p moves from p0 to p1 in the time T,

    xi(T)  = p1 + r/omega + (xi(0)  - p0 - r/omega) exp(omega T),     r = (p1 - p0)/T,
    eta(T) = p1 - r/omega + (eta(0) - p0 + r/omega) exp(-omega T),    c = (xi + eta)/2,

exactly. A walk repeats itself where xi has the same place, seen from the stance foot, at the end of every step.
"""

from __future__ import annotations

import math

from counterpoise.arrays import Array
from counterpoise.kernels import inner_kernel, kernel, lean_kernel

LEAST_TIME = 1e-6  # [s]


@lean_kernel
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


@inner_kernel
def pendulum_shares(T: float, omega: float, out: Array) -> None:
    """Fills the factors of xi, p0 and p1 in `capture_after`, and their derivatives by T, (6,).

    With -omega they are those of eta.
    """
    if T < LEAST_TIME:
        out[0], out[1], out[2], out[3], out[4], out[5] = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
        return
    e = math.exp(omega * T)
    q = (e - 1.0) / (omega * T)
    rate = (e - q) / T
    out[0], out[1], out[2] = e, q - e, 1.0 - q
    out[3], out[4], out[5] = omega * e, rate - omega * e, -rate
