"""Edges of the ground that are too high for a step: it stops in front of one and jumps onto it."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.locomotion.locomotion_state import LocomotionMemory
from counterpoise.control.perform.jump import Jump
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.control.walk.wishes import Wishes
from counterpoise.quick import altered
from counterpoise.terrain import Terrain

LOOK_EVERY = 0.1  # [s]
LOOK, SAMPLE = 2.5, 0.02  # [leg lengths] ahead, and between the places that are looked at
ASIDE = 0.15  # [leg lengths] to both sides
UP = 0.37, 0.65  # [leg lengths] of edges that are jumped onto: 0.34 to 0.6 m for a person
ROOM = 0.9  # [leg lengths] of level ground behind the edge
LEVEL = 0.03  # [leg lengths] by which ground in front of it and behind it is uneven, at most
STOP = 0.33  # [leg lengths] from the middle of the soles to the edge, where it is to stop, ...
NEAR, FAR = 0.27, 0.41  # [leg lengths] ... and where it can jump
CLOSE = 0.05  # [leg lengths] before that place at which it stops
SLOWS = 1.0  # [1/s] speed by the distance that is left
SLOWEST = 0.06  # [sqrt(leg x g)] on the last steps to it
RISE = 0.11  # [leg lengths] of the CoM above the higher ground
FORWARD = 0.65  # [leg lengths] of the jump
FINE = 0.01  # [m] to which heights are rounded: the same jump is planned once


def edge_ahead(middle: Array, base: float, heading: float, terrain: Terrain, body: WalkingBody) -> Array:
    """Returns the first high edge ahead, (2,): its place along the heading, and its height [m]; NaN without one.

    It is square to the heading, and the ground before and behind it is level.
    """
    unit = body.hips_height
    d, n = np.array([math.cos(heading), math.sin(heading)]), np.array([-math.sin(heading), math.cos(heading)])
    along = np.arange(0.0, LOOK + ROOM, SAMPLE) * unit
    lines = middle + np.array([0.0, -ASIDE, ASIDE])[:, None, None] * unit * n + along[:, None] * d
    height = terrain.height(lines[..., 0], lines[..., 1]) - base
    step = height[0, 2:] - height[0, :-2]
    found = np.flatnonzero(step[: int(LOOK / SAMPLE)] > UP[0] * unit)
    if not len(found):
        return np.full(2, np.nan)
    k = int(found[0])
    before, behind = height[:, : k + 1], height[:, k + 3 : k + 3 + int(ROOM / SAMPLE)]
    rise = float(behind[0, 0])
    even = np.abs(before).max() < LEVEL * unit and np.abs(behind - rise).max() < LEVEL * unit
    if not (even and UP[0] * unit < rise < UP[1] * unit):
        return np.full(2, np.nan)
    return np.array([float(middle @ d) + along[k + 1], rise])


def at_edges(
    snapshot: Snapshot, wishes: Wishes, memory: LocomotionMemory, terrain: Terrain, body: WalkingBody
) -> tuple[Wishes, LocomotionMemory]:
    """Returns the wishes of a body that comes to a high edge, and the memory with its jump where it is there."""
    heading, unit = memory.walk.heading, body.hips_height
    middle = snapshot.contact_position[:, :2].mean(axis=0)
    if snapshot.time - memory.looked_ahead >= LOOK_EVERY:
        base = float(terrain.height(float(middle[0]), float(middle[1])))
        memory = altered(memory, looked_ahead=snapshot.time, edge=edge_ahead(middle, base, heading, terrain, body))
    if math.isnan(memory.edge[0]) or wishes.speed <= 0.0:
        return wishes, memory
    away = float(memory.edge[0] - middle @ np.array([math.cos(heading), math.sin(heading)]))
    if memory.doing == "stand" and NEAR * unit < away < FAR * unit:
        onto = round(float(memory.edge[1]) / FINE) * FINE
        jump = Jump(round(RISE * unit, 2), forward=round(FORWARD * unit, 2), onto=round(onto, 3))
        return wishes, altered(memory, jump=jump)
    left = away - STOP * unit
    if (NEAR - STOP) * unit < left < CLOSE * unit:
        return wishes._replace(speed=0.0, aside=0.0, even=True), memory
    least = math.copysign(SLOWEST * body.leg_speed, left)
    speed = min(max(SLOWS * left, least), wishes.speed) if left > 0.0 else max(SLOWS * left, -0.2 * body.leg_speed)
    return wishes._replace(speed=speed), memory
