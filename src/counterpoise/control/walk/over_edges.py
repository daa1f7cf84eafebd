"""A swinging foot over edges: toe and heel pass above what stands on the way.

It rises in front of an edge before it goes on, and goes on behind an edge before it sinks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.control.walk.planes import ground_height, plane_at
from counterpoise.kernels import kernel
from counterpoise.objectives.obstacles import Obstacles

SAMPLES = 13  # places on the way to the foothold
SOON = 0.26  # [s] of its way that the foot looks ahead
FACE = 0.035  # [m] above the foothold's plane: ground that is lower is part of it
RISE_SPEED = 0.9  # [m/s] with which a foot rises in front of an edge
REACTION = 0.04  # [s] before it rises


class Obstruction(NamedTuple):
    """What stands on the way of a swinging foot."""

    height: float  # [m] z of the highest ground that it meets soon; -inf: none
    speed: float  # [m/s] along its way, with which it may go on; inf: any


@kernel
def obstruction(
    ankle: Array, speed: Array, goal: Array, yaw: float, extent: Array, low: float, clearance: float, plane: Array,
    left: Array, ground: Obstacles,
) -> tuple[float, float]:  # fmt: skip
    """Returns the numbers of an Obstruction.

    `extent` (3,) is how far the foot reaches behind and before its ankle, and to each side; `low` is z of its lowest
    point, `plane` that of its foothold and `left` the one that it left.
    """
    room = np.empty(3)
    x, y = goal[0] - ankle[0], goal[1] - ankle[1]
    far = math.sqrt(x * x + y * y)
    c, s = math.cos(yaw), math.sin(yaw)
    rate = max((speed[0] * x + speed[1] * y) / max(far, 1e-6), 0.0)
    ahead = rate * SOON + 0.02
    height, most = -np.inf, np.inf
    for k in range(SAMPLES):
        share = k / (SAMPLES - 1)
        way = share * far
        top, riser = -np.inf, -np.inf
        for i in range(3):
            u = extent[0] if i == 0 else (extent[1] if i == 1 else 0.5 * (extent[0] + extent[1]))
            for j in range(2):
                v = extent[2] if j == 0 else -extent[2]
                px = ankle[0] + share * x + c * u - s * v
                py = ankle[1] + share * y + s * u + c * v
                z = ground_height(px, py, ground, room)
                over = z - plane_at(plane, px, py)
                higher = z > plane_at(left, px, py) + FACE
                if over > FACE or (higher and k < SAMPLES - 3 and over > -FACE):
                    top = max(top, z)
                    if higher:
                        riser = max(riser, z)
        if way <= ahead:
            height = max(height, top)
        rise = riser + 0.5 * clearance - low
        if rise > 0.0 and k > 0:
            most = min(most, max(way - 0.02, 0.0) / (rise / RISE_SPEED + REACTION))
    return height, most
