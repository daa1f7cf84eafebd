"""Planes under feet, for kernels: (5,) rows of a place x, y, the height there, and the slopes along x and y.

Level ground at z = 0 is a row of zeros, and heights over it are heights over z = 0 to the bit.
"""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.objectives import LEVEL, Surface
from counterpoise.objectives.obstacles import Obstacles, box_top, field_top

FLAT_GROUND = np.zeros((2, 5))  # under both feet
FLAT_GROUND.flags.writeable = False
ROWS = 4  # of samples along a sole: heel, two between, ball
STEEPEST = 0.7  # slope of ground that a foot is put on: 35 degrees
CLOSE = 0.2  # of the height at which a point has no force: below it has its whole force


@kernel
def plane_at(plane: Array, x: float, y: float) -> float:
    """Returns the height of a plane at a place [m]."""
    return plane[2] + plane[3] * (x - plane[0]) + plane[4] * (y - plane[1])


@kernel
def differ(one: Array, other: Array) -> bool:
    """Returns whether two rows differ."""
    found = False
    for k in range(len(one)):
        found |= one[k] != other[k]
    return found


@kernel
def is_set(row: Array) -> bool:
    """Returns whether a number of a row is not zero."""
    found = False
    for k in range(len(row)):
        found |= row[k] != 0.0
    return found


@kernel
def is_level(plane: Array) -> bool:
    """Returns whether a plane is level at z = 0."""
    return plane[2] == 0.0 and plane[3] == 0.0 and plane[4] == 0.0


@kernel
def hold_points(
    position: Array, held: Flags, was_held: Flags, was_planted: Array, left_rolls: bool, right_rolls: bool, which: Ints,
    planes: Array, over: Array, near: float, share: Array, planted: Array, part: Array,
) -> bool:  # fmt: skip
    """Fills where contact points are held (p, 3), on the planes of their feet, and their shares of the force (p,).

    A point that was held stays where it was, unless its foot rolls. Above its plane it has less force, and none where
    it is not `near`: force that is planned before a point touches strikes it into the ground.
    `which` (p,) is the foot of each point. Returns whether a plane is not level at z = 0.
    """
    for i in range(len(position)):
        rolls = right_rolls if which[i] else left_rolls
        stays = len(was_held) > 0 and was_held[i] and held[i] and not rolls
        for k in range(2):
            planted[i, k] = was_planted[i, k] if stays else position[i, k]
        planted[i, 2] = plane_at(planes[which[i]], planted[i, 0], planted[i, 1])
        part[i] = share[i] * min(max((near - over[i]) / (near - CLOSE * near), 0.0), 1.0)
    uneven = False
    for i in range(2):
        for k in range(5):
            uneven |= planes[i, k] != 0.0
    return uneven


@inner_kernel
def slopes_along(plane: Array, yaw: float) -> tuple[float, float]:
    """Returns the slopes of a plane along a direction and to the left of it."""
    c, s = math.cos(yaw), math.sin(yaw)
    return c * plane[3] + s * plane[4], c * plane[4] - s * plane[3]


@kernel
def foot_angles(plane: Array, yaw: float) -> tuple[float, float]:
    """Returns pitch and roll [rad] of a foot that lies along a plane and points along a yaw."""
    ahead, left = slopes_along(plane, yaw)
    return 0.0 - math.atan(ahead), math.atan(left / math.sqrt(1.0 + ahead * ahead))


def surface_of(plane: Array) -> Surface:
    """Returns a plane as the surface that a footing takes."""
    x, y, z, along_x, along_y = plane.tolist()
    if along_x == 0.0 and along_y == 0.0:
        return LEVEL if z == 0.0 else Surface((0.0, 0.0, z))
    return Surface.tilted((-along_x, -along_y, 1.0), (x, y, z))


@inner_kernel
def ground_height(x: float, y: float, ground: Obstacles, normal: Array) -> float:
    """Returns the height of the ground at a place [m]; `normal` (3,) is room to work in."""
    floor, boxes, fields, data = ground
    height = floor
    for k in range(len(boxes)):
        height = max(height, box_top(x, y, boxes[k], normal))
    for k in range(len(fields)):
        height = max(height, field_top(x, y, fields[k], data, normal))
    return height


@kernel
def sole_plane(x: float, y: float, yaw: float, sole: Array, ground: Obstacles, plane: Array) -> float:
    """Fills the plane on which a sole rests whose ankle is above a place. Returns how far ground is below it [m].

    `sole` is heel, ball and front, ahead of the ankle, and half width [m]. The plane fits the ground between heel and
    ball in the sense of least squares, and lies on its highest points.
    """
    room, z = np.empty(3), np.empty((ROWS, 2))
    c, s = math.cos(yaw), math.sin(yaw)
    middle, spread = 0.5 * (sole[0] + sole[1]), 0.0
    mean, ahead, left = 0.0, 0.0, 0.0
    for i in range(ROWS):
        u = sole[0] + (sole[1] - sole[0]) * i / (ROWS - 1)
        for j in range(2):
            v = sole[3] if j == 0 else -sole[3]
            z[i, j] = ground_height(x + c * u - s * v, y + s * u + c * v, ground, room)
            mean += z[i, j] / (2 * ROWS)
            ahead += (u - middle) * z[i, j]
            left += v * z[i, j]
        spread += 2.0 * (u - middle) ** 2
    ahead, left = ahead / spread, left / (2 * ROWS * sole[3] ** 2)
    high, low = -np.inf, np.inf
    for i in range(ROWS):
        u = sole[0] + (sole[1] - sole[0]) * i / (ROWS - 1)
        for j in range(2):
            v = sole[3] if j == 0 else -sole[3]
            off = z[i, j] - mean - ahead * (u - middle) - left * v
            high, low = max(high, off), min(low, off)
    if high - low < 1e-9:  # one face: no slopes from rounding
        high, low = 0.0, 0.0
        ahead = ahead if abs(ahead) > 1e-9 else 0.0
        left = left if abs(left) > 1e-9 else 0.0
    plane[0], plane[1], plane[2] = x, y, mean + high - ahead * middle
    plane[3], plane[4] = c * ahead - s * left, s * ahead + c * left
    return high - low
