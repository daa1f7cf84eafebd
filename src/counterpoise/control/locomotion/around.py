"""The way around: where something stands in the way, or comes along it slowly, another heading is taken.

A few headings are tried. For each the body is led along it for some seconds, turning as fast as it does; the heading
nearest to the one that is asked for whose way is free is taken. Where none is free, it stops.
"""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.shapes import rods_of
from counterpoise.control.locomotion.hazards import Hazard
from counterpoise.control.locomotion.locomotion_state import LocomotionMemory
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.control.walk.wishes import Wishes
from counterpoise.quick import altered

LOOKS = 0.1  # [s] between two looks
SECONDS = 3.0  # that are looked ahead
SAMPLE = 0.1  # [s]
HEADINGS = tuple(math.radians(angle) for k in range(0, 100, 10) for angle in ((k, -k) if k else (0,)))
TURN_RATE = 0.2  # [rad per leg time] at which it turns on the way
APART = 0.13  # [leg lengths] between the body and what stands there
CROWDED = 12.0  # cost of a way that comes nearer than this, by leg lengths
STOP_COST = 2.0  # of standing still
FAITHFUL = 0.3  # cost of another heading than at the last look [1/rad]


@kept_with_character
def body_radius(character: Character) -> float:
    """Returns the radius of the upright cylinder about a standing body [m]."""
    rest = character.snapshot()
    middle = rest.com[:2]
    found = [
        float(np.hypot(*(rest.position(rod.body, point)[:2] - middle))) + rod.radius
        for name in character.segments
        for rod in rods_of(character, name)
        for point in (rod.start, rod.end)
    ]
    return max(found)


def way_around(
    seen: SeenBody, wishes: Wishes, memory: LocomotionMemory, hazards: tuple[Hazard, ...], now: float,
    body: WalkingBody, radius: float,
) -> tuple[float, bool, LocomotionMemory]:  # fmt: skip
    """Returns by how much another heading is taken than the one asked for [rad], and whether it stops."""
    if wishes.speed <= 0.0:
        free = memory.offset == 0.0 and not memory.stops
        return 0.0, False, memory if free else altered(memory, offset=0.0, stops=False)
    if now - memory.looked_around < LOOKS - 1e-9:
        return memory.offset, memory.stops, memory
    times = np.arange(SAMPLE, SECONDS, SAMPLE)
    there = [(one.at(now + times)[:, :2], one.radius) for one in hazards if one.is_seen(now)]
    offset, stops = _best_way(seen, wishes, memory, there, times, body, radius)
    return offset, stops, altered(memory, offset=offset, stops=stops, looked_around=now)


def _best_way(
    seen: SeenBody, wishes: Wishes, memory: LocomotionMemory, there: list[tuple[Array, float]], times: Array,
    body: WalkingBody, radius: float,
) -> tuple[float, bool]:  # fmt: skip
    """Returns the offset of the heading whose way is the best, and whether standing still is better."""
    speed = max(wishes.speed, float(np.hypot(seen.velocity[0], seen.velocity[1])))
    unit, place = body.hips_height, seen.com[:2]
    best, least = 0.0, math.inf
    for offset in HEADINGS:
        way = place + _way(memory.walk.heading, wishes.heading + offset, speed, times, body)
        cost = abs(offset) + FAITHFUL * abs(offset - memory.offset) + _crowding(way, there, radius, unit)
        if cost < least:
            best, least = offset, cost
    still = np.repeat(place[None], len(times), axis=0)
    stops = least > STOP_COST + _crowding(still, there, radius, unit) - (0.5 if memory.stops else 0.0)
    return best, stops


def _way(heading: float, wanted: float, speed: float, times: Array, body: WalkingBody) -> Array:
    """Returns the way, (n, 2) [m], of a body that turns to another heading while it walks."""
    away = math.remainder(wanted - heading, 2.0 * math.pi)
    rate = TURN_RATE / body.leg_time
    angle = heading + np.sign(away) * np.minimum(rate * times, abs(away))
    step = speed * SAMPLE
    return step * np.stack([np.cumsum(np.cos(angle)), np.cumsum(np.sin(angle))], axis=1)


def _crowding(way: Array, there: list[tuple[Array, float]], radius: float, unit: float) -> float:
    """Returns what it costs that a way comes too near to something; soon counts as much as late."""
    total = 0.0
    for place, size in there:
        gap = np.hypot(*(way - place).T) - size - radius
        total += CROWDED * max(APART - float(gap.min()) / unit, 0.0)
    return total
