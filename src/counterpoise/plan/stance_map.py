"""The horizontal motion of a runner over one stance: exact for a point mass over a given vertical path.

The force acts along the line from the centre of pressure p to the CoM, so

    x'' = f / z (x - p),

with the specific force f and the height z of the bounce. The equation is linear in x, x' and p: one integration gives
the map of a whole stance. p moves at constant speed from p0 to p1.

A body is no point: while its limbs swing, its angular momentum changes, and the force misses the CoM. What this adds to
x'' is nearly the same in every step. It enters as a function of the stance's share, constant over each of some equal
parts, that a controller measures as it runs.
"""

from __future__ import annotations

from counterpoise.arrays import Array
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.plan.bounce import bounce_height, bump_force

MAP_STEPS = 16  # of the integration, by the fourth-order method of Runge and Kutta


@kernel
def stance_map(
    bump: Array, T: float, u0: float, z: float, rate: float, g: float, added: Array, side: float, out: Array
) -> None:
    """Fills the map (2, 6) from (x, x', p0, p1, 1, 1) at a share u0 of the stance to x and x' at take-off.

    The last two columns are what `added` (2, parts), along and across, adds to place and speed [m, m/s]; across it
    changes its sign with the side of the foot.
    """
    out[:] = 0.0
    out[0, 0] = out[1, 1] = 1.0
    left = T * (1.0 - u0)
    if left <= 0.0:
        return
    h = left / MAP_STEPS
    for k in range(MAP_STEPS):
        s0, s1 = k / MAP_STEPS, (k + 1.0) / MAP_STEPS
        sm = 0.5 * (s0 + s1)
        k0, km, k1 = (
            _stiffness(bump, T, u0, z, rate, g, s0),
            _stiffness(bump, T, u0, z, rate, g, sm),
            _stiffness(bump, T, u0, z, rate, g, s1),
        )
        along, across = _mean(added[0], u0, s0, s1), side * _mean(added[1], u0, s0, s1)
        for c in range(6):
            p0 = pm = p1 = 0.0
            if c == 2:
                p0, pm, p1 = 1.0 - s0, 1.0 - sm, 1.0 - s1
            elif c == 3:
                p0, pm, p1 = s0, sm, s1
            a = 0.0
            if c == 4:
                a = along
            elif c == 5:
                a = across
            x, v = out[0, c], out[1, c]
            x1, v1 = v, k0 * (x - p0) + a
            x2, v2 = v + 0.5 * h * v1, km * (x + 0.5 * h * x1 - pm) + a
            x3, v3 = v + 0.5 * h * v2, km * (x + 0.5 * h * x2 - pm) + a
            x4, v4 = v + h * v3, k1 * (x + h * x3 - p1) + a
            out[0, c] = x + h / 6.0 * (x1 + 2.0 * x2 + 2.0 * x3 + x4)
            out[1, c] = v + h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)


@kernel
def _stiffness(bump: Array, T: float, u0: float, z: float, rate: float, g: float, s: float) -> float:
    """Returns f/z at a share s of what is left of the stance [1/s^2]."""
    u = u0 + (1.0 - u0) * s
    return bump_force(bump[0], bump[1], u) / bounce_height(bump[0], bump[1], T, u0, z, rate, u, g)


@inner_kernel
def _mean(added: Array, u0: float, s0: float, s1: float) -> float:
    """Returns the mean of what is added between the shares s0 and s1 of what is left of the stance."""
    parts = len(added)
    low, high = (u0 + (1.0 - u0) * s0) * parts, (u0 + (1.0 - u0) * s1) * parts
    total = 0.0
    for k in range(parts):
        total += added[k] * max(min(high, k + 1.0) - max(low, 1.0 * k), 0.0)
    return total / (high - low)


@kernel
def steady_lead(steady: Array, speed: float, first: float, last: float) -> float:
    """Returns how far ahead of the CoM a foot lands that leaves the speed as it was.

    The centre of pressure goes from `first` to `last`, seen from the foot [m].
    """
    push = steady[1, 2] * first + steady[1, 3] * last + steady[1, 4]
    return (speed * (1.0 - steady[1, 1]) - push) / (steady[1, 2] + steady[1, 3])


@kernel
def steady_sway(steady: Array, width: float, flight: float, out: Array) -> None:
    """Fills the sway of a run whose footprints are `width` apart: speed to the left and place of the CoM, from the
    middle, at the landing of the left foot [m/s, m]. Half a stride later both have changed their sign."""
    push, shift = 0.5 * width * (steady[1, 2] + steady[1, 3]), 0.5 * width * (steady[0, 2] + steady[0, 3])
    # speed at take-off: the other way; place at the next landing: on the other side
    a, b, c, d = steady[1, 1] + 1.0, steady[1, 0], steady[0, 1] - flight, steady[0, 0] + 1.0
    det = a * d - b * c
    out[0], out[1] = (b * shift - d * push) / det, (c * push - a * shift) / det
