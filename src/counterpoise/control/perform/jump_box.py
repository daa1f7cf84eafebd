"""The box that a jump lands on, or leaves: as terrain, for a body that starts at the origin."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.control.perform.jump_plan import JumpWish
from counterpoise.errors import BadValue
from counterpoise.terrain import Box, Terrain

ONTO_SHARE, OFF_SHARE = 0.55, 0.05  # of the way between the toes at the start and the heels at landing: the edge
DEPTH, WIDTH = 3.0, 3.0  # [m] of a box


def jump_terrain(character: Character, wish: JumpWish, times: int = 1) -> Terrain | None:
    """Returns the box of a jump with `onto`: in front of the feet, or below them for a jump down; None without one.

    It lies along the way of the jump. For several jumps in a row there is one box for each, like stairs.
    """
    if wish.onto == 0.0:
        return None
    if times > 1 and wish.twist % 360.0 != 0.0:
        raise BadValue(f"several jumps on boxes go one way; got a twist of {wish.twist:g} deg between them")
    soles = character.snapshot().contact_position[:, :2]
    middle = soles.mean(axis=0)
    distance = math.hypot(wish.forward, wish.side)
    if distance <= 0.0:
        raise BadValue(f"a jump with onto = {wish.onto:g} m needs a way to go: give forward or side")
    way = np.array([wish.forward, wish.side]) / distance
    reach = _reach(soles, middle, way)
    gap = distance - reach[0] - reach[1]
    if gap <= 0.0:
        least = reach[0] + reach[1]
        raise BadValue(
            f"the feet of {character.name!r} need more than {least:.2f} m between the two grounds; got {distance:g} m"
        )
    share = ONTO_SHARE if wish.onto > 0.0 else OFF_SHARE
    edge = reach[0] + share * gap  # [m] along the way, from the middle of the soles
    yaw = math.degrees(math.atan2(way[1], way[0]))
    boxes = []
    for i in range(times):
        if wish.onto > 0.0:
            near, height = edge + i * distance, (i + 1) * wish.onto
            center = middle + way * (near + 0.5 * DEPTH)
            boxes.append(Box((float(center[0]), float(center[1])), (DEPTH, WIDTH), height, yaw))
        else:
            far, height = edge + i * distance, (times - i) * -wish.onto
            depth = DEPTH + i * distance
            center = middle + way * (far - 0.5 * depth)
            boxes.append(Box((float(center[0]), float(center[1])), (depth, WIDTH), height, yaw))
    return Terrain(boxes)


def _reach(soles: Array, middle: Array, way: Array) -> tuple[float, float]:
    """Returns how far the soles reach along the way and against it, from their middle [m]."""
    along = (soles - middle) @ way
    return float(along.max()), float(-along.min())
