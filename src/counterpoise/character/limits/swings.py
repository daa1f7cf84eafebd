"""Ball limits in an animator's numbers: swings and twist in degrees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.limits.ball import BallLimit
from counterpoise.character.limits.cones import cone_from_corners


def swing_cone(
    axis: Sequence[float],
    corners: Sequence[tuple[float, float]],
    twist: tuple[float, float],
    side: float = 1.0,
    rest: tuple[float, float] | None = None,
) -> BallLimit:
    """A ball limit from corners (pitch, roll) in degrees: the bone swung forward by pitch, then outward by roll.

    For a bone along -z pitch carries it forward, for one along +z the trunk bows forward. `side` is +1 for the left
    limb and -1 for the right; `twist` in degrees is meant for the left and is mirrored for the right.
    """
    axis_ = np.asarray(axis, float)
    directions = np.array([swung(axis_, pitch, roll * side) for pitch, roll in corners])
    normals, offsets = cone_from_corners(directions)
    return ball_limit(axis_, normals, offsets, twist, side, rest)


def ball_limit(
    axis: ArrayLike,
    normals: Array,
    offsets: Array,
    twist: tuple[float, float],
    side: float = 1.0,
    rest: tuple[float, float] | None = None,
) -> BallLimit:
    """A ball limit from its cone's faces; `twist` [deg] and `rest` (pitch, roll) [deg] are mirrored for side -1."""
    low, high = np.radians(twist) * side
    middle = np.array([1.0, 0, 0, 0])
    if rest is not None:
        middle = _swing_quaternion(np.asarray(axis, float), rest[0], rest[1] * side)
    return BallLimit(np.asarray(axis, float), middle, normals, offsets, (min(low, high), max(low, high)))


def swung(axis: Array, pitch: float, roll: float) -> Array:
    """The bone direction after swinging it forward by `pitch` and to the left by `roll` [deg]."""
    p, r = np.radians(pitch), np.radians(roll)
    along, forward, left = axis, np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    if abs(axis @ forward) > 0.9:  # a bone lying fore and aft (a tail): pitch lifts it
        forward = np.array([0, 0, 1.0])
    elif abs(axis @ left) > 0.9:  # a bone lying sideways (a wing): roll lifts it
        left = np.array([0, 0, 1.0])
    return np.cos(r) * (np.cos(p) * along + np.sin(p) * forward) + np.sin(r) * left


def _swing_quaternion(axis: Array, pitch: float, roll: float) -> Array:
    end = swung(axis, pitch, roll)
    q = np.concatenate(([1.0 + axis @ end], np.cross(axis, end)))
    return q / np.linalg.norm(q)


def oval(forward: float, back: float, side: float) -> list[tuple[float, float]]:
    """Corners of an oval cone: how far the bone may swing forward, backward and to each side [deg]."""
    d = 0.71
    return [
        (forward, 0), (d * forward, d * side), (0, side), (-d * back, d * side),
        (-back, 0), (-d * back, -d * side), (0, -side), (d * forward, -d * side),
    ]  # fmt: skip
