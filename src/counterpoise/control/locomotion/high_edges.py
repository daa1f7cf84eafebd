"""Edges of the ground that are too high for a step: it stops in front of one and jumps onto it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.locomotion.leaps import before_jump
from counterpoise.control.locomotion.locomotion_state import LocomotionMemory
from counterpoise.control.perform.jump import Jump
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.control.walk.wishes import Wishes
from counterpoise.errors import BadValue
from counterpoise.quick import altered
from counterpoise.terrain import Terrain


@dataclass(frozen=True)
class EdgeTuning:
    """How it comes to an edge that is too high for a step, and jumps. Lengths are in leg lengths (0.93 m for a person).

    Speeds are in sqrt(leg length x g), 3.0 m/s for a person.
    """

    look_every: float = 0.1  # [s]
    look: float = 2.5  # ahead
    sample: float = 0.02  # between the places that are looked at
    aside: float = 0.15  # of the line, to both sides, that is looked at
    lowest: float = 0.37  # edge that is jumped onto: 0.34 m for a person ...
    highest: float = 0.65  # ... to 0.6 m
    room: float = 0.9  # of level ground behind the edge
    level: float = 0.03  # by which ground in front of it and behind it is uneven, at most
    stop: float = 0.33  # from the middle of the soles to the edge, where it is to stop, ...
    near: float = 0.27  # ... and between which ...
    far: float = 0.41  # ... it can jump
    close: float = 0.05  # before that place at which it stops
    slow_down: float = 1.0  # [1/s] speed by the distance that is left
    slowest: float = 0.06  # speed on the last steps to it
    backward: float = 0.2  # speed with which it goes back from an edge that is too near, at most
    rise: float = 0.11  # of the CoM above the higher ground
    forward: float = 0.65  # of the jump
    fine: float = 0.01  # [m] to which heights are rounded: the same jump is planned once

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0.0 < value < math.inf:
                raise BadValue(f"EdgeTuning.{name} is a positive number; got {value!r}")
        for name, less, more in (("near", self.near, self.stop), ("stop", self.stop, self.far)):
            if less >= more:
                raise BadValue(f"EdgeTuning: near < stop < far; got {name} = {less!r} and {more!r} after it")


def edge_ahead(middle: Array, base: float, heading: float, terrain: Terrain, body: WalkingBody, t: EdgeTuning) -> Array:
    """Returns the first high edge ahead, (2,): its place along the heading, and its height [m]; NaN without one.

    It is square to the heading, and the ground before and behind it is level.
    """
    unit = body.hips_height
    d, n = np.array([math.cos(heading), math.sin(heading)]), np.array([-math.sin(heading), math.cos(heading)])
    along = np.arange(0.0, t.look + t.room, t.sample) * unit
    lines = middle + np.array([0.0, -t.aside, t.aside])[:, None, None] * unit * n + along[:, None] * d
    height = terrain.height(lines[..., 0], lines[..., 1]) - base
    step = height[0, 2:] - height[0, :-2]
    found = np.flatnonzero(step[: int(t.look / t.sample)] > t.lowest * unit)
    if not len(found):
        return np.full(2, np.nan)
    k = int(found[0])
    before, behind = height[:, : k + 1], height[:, k + 3 : k + 3 + int(t.room / t.sample)]
    rise = float(behind[0, 0])
    even = np.abs(before).max() < t.level * unit and np.abs(behind - rise).max() < t.level * unit
    if not (even and t.lowest * unit < rise < t.highest * unit):
        return np.full(2, np.nan)
    return np.array([float(middle @ d) + along[k + 1], rise])


def jump_onto(rise: float, body: WalkingBody, t: EdgeTuning) -> Jump:
    """Returns the jump onto an edge of a height [m]. Heights are rounded: the same jump is planned once."""
    unit, onto = body.hips_height, round(rise / t.fine) * t.fine
    return Jump(round(t.rise * unit, 2), forward=round(t.forward * unit, 2), onto=round(onto, 3))


def at_edges(
    snapshot: Snapshot, wishes: Wishes, memory: LocomotionMemory, terrain: Terrain, body: WalkingBody, t: EdgeTuning,
    plans: bool = True,
) -> tuple[Wishes, LocomotionMemory]:  # fmt: skip
    """Returns the wishes of a body that comes to a high edge, and the memory with its jump where it is there.

    With `plans=False` it stands before the edge until the jump is planned elsewhere.
    """
    heading, unit = memory.walk.heading, body.hips_height
    middle = snapshot.contact_position[:, :2].mean(axis=0)
    if snapshot.time - memory.looked_ahead >= t.look_every:
        base = float(terrain.height(float(middle[0]), float(middle[1])))
        memory = altered(memory, looked_ahead=snapshot.time, edge=edge_ahead(middle, base, heading, terrain, body, t))
    if math.isnan(memory.edge[0]) or wishes.speed <= 0.0:
        return wishes, memory
    away = float(memory.edge[0] - middle @ np.array([math.cos(heading), math.sin(heading)]))
    if memory.doing == "stand" and t.near * unit < away < t.far * unit:
        jump = jump_onto(float(memory.edge[1]), body, t)
        if plans or jump.is_planned(snapshot.character):
            return wishes, altered(memory, edge_jump=jump)
        return before_jump(wishes), memory
    left = away - t.stop * unit
    if (t.near - t.stop) * unit < left < t.close * unit:
        return before_jump(wishes), memory
    if left > 0.0:
        return wishes._replace(speed=min(max(t.slow_down * left, t.slowest * body.leg_speed), wishes.speed)), memory
    return wishes._replace(speed=max(t.slow_down * left, -t.backward * body.leg_speed)), memory
