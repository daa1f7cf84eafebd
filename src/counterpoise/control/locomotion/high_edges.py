"""Edges of the ground that are too high for a step: it stops in front of one and jumps onto it, or down from it."""

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
    least_drop: float = 0.37  # edge that is jumped down from: 0.34 m for a person ...
    most_drop: float = 1.13  # ... to 1.05 m
    room_below: float = 1.3  # of level ground behind it
    drop_stop: float = 0.19  # from the middle of the soles to that edge, where it is to stop, ...
    drop_near: float = 0.125  # ... and between which ...
    drop_far: float = 0.25  # ... it can jump: the toes are at 0.1
    drop_rise: float = 0.13  # of the CoM in a jump down
    drop_forward: float = 1.02  # of a jump down
    fine: float = 0.01  # [m] to which heights are rounded: the same jump is planned once

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0.0 < value < math.inf:
                raise BadValue(f"EdgeTuning.{name} is a positive number; got {value!r}")
        for near, stop, far in (("near", "stop", "far"), ("drop_near", "drop_stop", "drop_far")):
            if not getattr(self, near) < getattr(self, stop) < getattr(self, far):
                given = ", ".join(f"{name} = {getattr(self, name)!r}" for name in (near, stop, far))
                raise BadValue(f"EdgeTuning: {near} < {stop} < {far}; got {given}")

    def places(self, rise: float) -> tuple[float, float, float]:
        """Returns how far from an edge the middle of the soles is to be before a jump: least, best and most."""
        return (self.near, self.stop, self.far) if rise > 0.0 else (self.drop_near, self.drop_stop, self.drop_far)

    def jump(self, rise: float, unit: float) -> Jump:
        """Returns the jump onto an edge, or down from it; `unit` is the leg length [m]."""
        height, forward = (self.rise, self.forward) if rise > 0.0 else (self.drop_rise, self.drop_forward)
        onto = round(round(rise / self.fine) * self.fine, 3)
        return Jump(round(height * unit, 2), forward=round(forward * unit, 2), onto=onto)


def edge_ahead(middle: Array, base: float, heading: float, terrain: Terrain, body: WalkingBody, t: EdgeTuning) -> Array:
    """Returns the first high edge ahead, (2,): its place along the heading, and the height of the ground behind it,
    negative where it goes down [m]; NaN without one.

    It is square to the heading, and the ground before and behind it is level.
    """
    unit = body.hips_height
    d, n = np.array([math.cos(heading), math.sin(heading)]), np.array([-math.sin(heading), math.cos(heading)])
    along = np.arange(0.0, t.look + max(t.room, t.room_below), t.sample) * unit
    lines = middle + np.array([0.0, -t.aside, t.aside])[:, None, None] * unit * n + along[:, None] * d
    height = terrain.height(lines[..., 0], lines[..., 1]) - base
    step = (height[0, 2:] - height[0, :-2])[: int(t.look / t.sample)] / unit
    found = np.flatnonzero((step > t.lowest) | (step < -t.least_drop))
    if not len(found):
        return np.full(2, np.nan)
    k = int(found[0])
    up = bool(step[k] > 0.0)
    room, low, high = (t.room, t.lowest, t.highest) if up else (t.room_below, t.least_drop, t.most_drop)
    before, behind = height[:, : k + 1], height[:, k + 3 : k + 3 + int(room / t.sample)]
    rise = float(behind[0, 0])
    even = np.abs(before).max() < t.level * unit and np.abs(behind - rise).max() < t.level * unit
    if not (even and low * unit < (rise if up else -rise) < high * unit):
        return np.full(2, np.nan)
    return np.array([float(middle @ d) + along[k + 1], rise])


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
    near, stop, far = (share * unit for share in t.places(float(memory.edge[1])))
    if memory.doing == "stand" and near < away < far:
        jump = t.jump(float(memory.edge[1]), unit)
        if plans or jump.is_planned(snapshot.character):
            return wishes, altered(memory, edge_jump=jump)
        return before_jump(wishes), memory
    left = away - stop
    if near - stop < left < t.close * unit:
        return before_jump(wishes), memory
    if left > 0.0:
        return wishes._replace(speed=min(max(t.slow_down * left, t.slowest * body.leg_speed), wishes.speed)), memory
    return wishes._replace(speed=max(t.slow_down * left, -t.backward * body.leg_speed)), memory
