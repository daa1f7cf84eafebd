"""Kernels of `take_stance`: which contact points touch and push, where they are held, and their friction cones.

A surface is a row of 24 numbers (`Surface.state_row`): origin 0-2, rotation 3-11, velocity 12-14, angular velocity
15-17, acceleration 18-20, angular acceleration 21-23.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.kernels import inner_kernel, inner_kernel_with_arrays, kernel

NO_LIMIT = 1e30  # [N] upper bound of a force without a limit


@kernel
def fill_stance(
    position: Array, jacobian: Array, foot_of: Ints, surfaces: Array, raised: Flags, loose: Flags, was_touching: Flags,
    was_held: Flags, was_share: Array, was_planted: Array, dt: float, first: bool, reach: float, leave: float,
    rise: float, fall: float, lose: float, slip: float, friction: float, strength: float, bilateral: bool,
    touching: Flags, held: Flags, share: Array, planted: Array, height: Array, goal: Array, goal_v: Array,
    goal_a: Array, basis: Array, G: Array, limit: Array,
) -> None:  # fmt: skip
    """Fills the arrays of a Stance and of its memory: all arguments from `touching` on."""
    p, feet = len(position), len(surfaces)
    local = np.empty((p, 3))
    down = np.zeros(feet, np.bool_)  # a point of the foot touches
    leaving = np.zeros(feet, np.bool_)  # a raised point of the foot still pushes
    for i in range(p):
        foot = foot_of[i]
        _to_surface(surfaces[foot], position[i], local[i])
        height[i] = local[i, 2]
        touching[i] = bilateral or height[i] < (leave if was_touching[i] else reach)
        wanted = 1.0 if touching[i] and not raised[i] else 0.0
        share[i] = wanted if first else _ramp(was_share[i], wanted, dt, rise, fall if touching[i] else lose)
        down[foot] |= touching[i]
        leaving[foot] |= raised[i] and share[i] > 0.0
    for i in range(p):
        foot = foot_of[i]
        held[i] = down[foot] and not loose[i] and (leaving[foot] or not raised[i])
        _plant(local[i], was_planted[i], held[i] and was_held[i] and not first, slip, planted[i])
        _carry(surfaces[foot], planted[i], goal[i], goal_v[i], goal_a[i])
        if bilateral:
            _free_axes(surfaces[foot], i, basis[i], limit)
        else:
            _cone(surfaces[foot], i, friction, share[i] * strength, basis[i], limit)
        _generalised(jacobian[i], basis[i], i, G)


@kernel
def fill_points(
    position: Array, jacobian: Array, surfaces: Array, share: Array, friction: float, strength: float, in_place: bool,
    height: Array, planted: Array, goal: Array, goal_v: Array, goal_a: Array, basis: Array, G: Array, limit: Array,
) -> bool:  # fmt: skip
    """Fills the arrays of a Stance whose points have a surface each, a share of their force, and a goal.

    If `in_place`, the goals are the places below the points on their surfaces, which they move with. Returns whether
    all numbers are finite and all shares between 0 and 1.
    """
    sound = True
    for i in range(len(position)):
        sound &= 0.0 <= share[i] <= 1.0
        _to_surface(surfaces[i], position[i], planted[i])
        height[i] = planted[i, 2]
        if in_place:
            planted[i, 2] = 0.0
            _carry(surfaces[i], planted[i], goal[i], goal_v[i], goal_a[i])
        else:
            _to_surface(surfaces[i], goal[i], planted[i])
        for k in range(3):
            sound &= np.isfinite(goal[i, k]) and np.isfinite(goal_v[i, k]) and np.isfinite(goal_a[i, k])
        _cone(surfaces[i], i, friction, share[i] * strength, basis[i], limit)
        _generalised(jacobian[i], basis[i], i, G)
    return sound


@inner_kernel
def _to_surface(s: Array, place: Array, local: Array) -> None:
    """Fills `local` with a place in the frame of a surface."""
    r0, r1, r2 = place[0] - s[0], place[1] - s[1], place[2] - s[2]
    for k in range(3):
        local[k] = s[3 + k] * r0 + s[6 + k] * r1 + s[9 + k] * r2


@inner_kernel
def _ramp(share: float, wanted: float, dt: float, rise: float, fall: float) -> float:
    """Returns the share of its force a point may use now: it goes towards `wanted` within `rise` or `fall` seconds."""
    if wanted > share:
        return min(1.0, share + dt / rise)
    return max(max(0.0, share - dt / fall), wanted)


@kernel
def _plant(local: Array, was_planted: Array, stays: bool, slip: float, planted: Array) -> None:
    """Fills `planted` with the place where a point is held, in the plane of its surface.

    A point that stays is held where it was. Where it has slid farther than `slip`, that place is drawn after it.
    """
    if stays:
        x, y = local[0] - was_planted[0], local[1] - was_planted[1]
        distance = np.sqrt(x * x + y * y)
        pull = 0.0 if distance <= slip else 1.0 - slip / distance
        planted[0], planted[1] = was_planted[0] + pull * x, was_planted[1] + pull * y
    else:
        planted[0], planted[1] = local[0], local[1]
    planted[2] = 0.0


@inner_kernel_with_arrays
def _carry(s: Array, planted: Array, goal: Array, goal_v: Array, goal_a: Array) -> None:
    """Fills place, velocity and acceleration, in the world, of a place that is fixed on a moving surface."""
    r = np.empty(3)
    for k in range(3):
        r[k] = s[3 + 3 * k] * planted[0] + s[4 + 3 * k] * planted[1]
        goal[k] = s[k] + r[k]
    w0, w1, w2 = s[15], s[16], s[17]
    u0, u1, u2 = w1 * r[2] - w2 * r[1], w2 * r[0] - w0 * r[2], w0 * r[1] - w1 * r[0]
    goal_v[0], goal_v[1], goal_v[2] = s[12] + u0, s[13] + u1, s[14] + u2
    a0, a1, a2 = s[21], s[22], s[23]
    goal_a[0] = s[18] + a1 * r[2] - a2 * r[1] + w1 * u2 - w2 * u1
    goal_a[1] = s[19] + a2 * r[0] - a0 * r[2] + w2 * u0 - w0 * u2
    goal_a[2] = s[20] + a0 * r[1] - a1 * r[0] + w0 * u1 - w1 * u0


@inner_kernel
def _cone(s: Array, point: int, friction: float, strength: float, basis: Array, limit: Array) -> None:
    """Fills the four edges of a point's friction cone, in the world, and their upper bounds."""
    across = friction / np.sqrt(2.0)
    for e in range(4):
        x = across if e < 2 else -across
        y = across if e % 2 == 0 else -across
        limit[4 * point + e] = strength
        for k in range(3):
            basis[k, e] = s[3 + 3 * k] * x + s[4 + 3 * k] * y + s[5 + 3 * k] * 1.0


@inner_kernel
def _free_axes(s: Array, point: int, basis: Array, limit: Array) -> None:
    """Fills the three axes of a point that can push and pull, in the world; their bounds are no limits."""
    for e in range(3):
        limit[3 * point + e] = NO_LIMIT
        for k in range(3):
            basis[k, e] = s[3 + 3 * k + e]


@inner_kernel
def _generalised(jacobian: Array, basis: Array, point: int, G: Array) -> None:
    """Fills the columns of G = J^T V of one point."""
    edges = basis.shape[1]
    for e in range(edges):
        for j in range(jacobian.shape[1]):
            total = 0.0
            for k in range(3):
                total += jacobian[k, j] * basis[k, e]
            G[j, edges * point + e] = total
