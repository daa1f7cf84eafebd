"""A swinging foot over the ground that is seen: toe and heel pass above what stands on the way.

The way is the one that the foot will go, sampled in time. At every sample the ground under the whole foot says how high
the sole must be there; now it must be so high that it can still rise to each of them in time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.control.walk.planes import ground_height, plane_at
from counterpoise.kernels import kernel
from counterpoise.objectives.obstacles import Obstacles

SAMPLES = 16  # moments on the way to the foothold
RISE_SPEED = 1.0  # [m/s] with which a foot rises in front of an edge
FALL_SPEED = 1.0  # [m/s] with which it sinks behind one
EASY = 0.05  # [m] of a rise for which it does not wait, ...
STEP = 0.08  # [m] ... unless the ground is higher by this than where it left
BACK_SPEED = 0.3  # [m/s] with which it goes back from a wall that its front touches
REACTION = 0.04  # [s] before it rises
NEAR, FAR = 0.03, 0.15  # [m] from the foothold: nearer, the ground is the foothold's; farther, all of it is cleared
FACE = 0.035  # [m] ground that is higher than the line from the last place to the foothold by this has edges


class Obstruction(NamedTuple):
    """What stands on the way of a swinging foot."""

    height: float  # [m] z of the ground that the foot has to be above now, where its ankle is
    rate: float  # [m/s] with which that height changes
    speed: float  # [m/s] along its way, with which it may go on; inf: any; negative: it must go back
    low: float  # [m] z of the sole where its ankle is, were it as steep as the ground


@kernel
def obstruction(
    ankle: Array, speed: Array, points: Array, goal: Array, time: float, yaw: float, extent: Array, clearance: float,
    plane: Array, left: Array, ground: Obstacles,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Returns the numbers of an Obstruction.

    `points` (n, 3) are those of the foot, `extent` (3,) is how far it reaches behind and before its ankle, and to each
    side. It goes to `goal` (2,) in a `time` [s]. `plane` is that of its foothold and `left` the one that it left.
    """
    room = np.empty(3)
    x, y = goal[0] - ankle[0], goal[1] - ankle[1]
    far = math.sqrt(x * x + y * y)
    if far < 1e-6:
        return -np.inf, 0.0, np.inf, -np.inf
    x, y = x / far, y / far
    whole = math.sqrt((goal[0] - left[0]) ** 2 + (goal[1] - left[1]) ** 2)
    c, s = math.cos(yaw), math.sin(yaw)
    rate = speed[0] * x + speed[1] * y
    height, here, change, most, low = -np.inf, -np.inf, 0.0, np.inf, np.inf
    for k in range(SAMPLES):
        u = k / (SAMPLES - 1)
        at = u * time
        way = far * u * u * (3.0 - 2.0 * u) + rate * time * u * (1.0 - u) ** 2
        rest = far - way
        share = 1.0 - min(max(rest / max(whole, 1e-6), 0.0), 1.0)
        along_x, along_y = left[3] + (plane[3] - left[3]) * share, left[4] + (plane[4] - left[4]) * share
        if k == 0:  # the sole's height where the ankle is, were it as steep as the ground
            for j in range(len(points)):
                off = along_x * (points[j, 0] - ankle[0]) + along_y * (points[j, 1] - ankle[1])
                low = min(low, points[j, 2] - off)
        if rest < NEAR:
            continue
        top = -np.inf
        for i in range(3):
            a = extent[0] if i == 0 else (extent[1] if i == 1 else 0.5 * (extent[0] + extent[1]))
            for j in range(2):
                b = extent[2] if j == 0 else -extent[2]
                dx, dy = c * a - s * b, s * a + c * b
                z = ground_height(ankle[0] + way * x + dx, ankle[1] + way * y + dy, ground, room)
                top = max(top, z - along_x * dx - along_y * dy)
        over = top - left[2] - (plane[2] - left[2]) * share
        near = min((rest - NEAR) / (FAR - NEAR), 1.0)
        needed = top + near * clearance * min(max(over / FACE, 0.0), 1.0)
        if k == 0:
            height, here = needed, needed
        elif needed - RISE_SPEED * at > height:
            height, change = needed - RISE_SPEED * at, RISE_SPEED
        if k == 1 and change == 0.0:
            change = min(max((needed - here) / at, -FALL_SPEED), RISE_SPEED)
        slow = needed - low
        px, py = ankle[0] + way * x, ankle[1] + way * y
        higher = top - plane_at(left, px, py)  # than the ground that it comes from
        if slow > (EASY if higher < STEP else 0.5 * clearance) and over > FACE and higher > FACE:
            if k == 0:  # its front would be in the wall, were it level
                most = -BACK_SPEED
            most = min(most, max(way - 0.02, 0.0) / (slow / RISE_SPEED + REACTION))
    return height, change, most, low
