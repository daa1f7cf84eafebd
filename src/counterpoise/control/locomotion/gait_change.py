"""From a walk to a run or to hops on one leg, and back: when one can take over from the other, with which memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from counterpoise.control.run.run_state import RunMemory
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.errors import unknown_name

Gait = Literal["auto", "walk", "run", "hop_left", "hop_right"]
LiveGait = Gait | Callable[[float], Gait]  # a gait, or a function of time [s]
GAITS: tuple[Gait, ...] = ("auto", "walk", "run", "hop_left", "hop_right")
HOPS: tuple[Gait, ...] = ("hop_left", "hop_right")  # by the foot that hops: left 0, right 1

RUN_FROM = 0.62  # [sqrt(leg x g)] speeds above this are run: 1.9 m/s for a person
TAKE_OFF = 0.53  # [sqrt(leg x g)] of the walk from which a run begins: 1.6 m/s for a person, ...
SLOW_TAKE_OFF = 0.9  # ... or this share of the speed asked for, where that is slower
SWUNG = (0.35, 0.75)  # shares of single support between which a run takes over
FIRST_AHEAD = 0.06  # [leg lengths] of the CoM before the stance foot then, at most: later its push is too short
HOP_FROM = 0.13  # [sqrt(leg x g)] of the walk from which hops begin: 0.4 m/s for a person ...
HOP_FASTEST = 0.23  # [sqrt(leg x g)] ... and at most: 0.7 m/s
HOP_AHEAD = (-0.08, 0.08)  # [leg lengths] of the CoM before the foot that is to hop, when it takes over
STANCE = (0.25, 0.6)  # shares of a stance between which a walk takes over
STOPPING = 0.5  # of the run's speed with which a walk begins that is to stop: it brakes with its first step
LEFT = 0.7  # [leg times] until the first step of that walk lands
USUAL_STEPS = 3  # it goes on as a walk that is under way


def gait_named(given: Any) -> Gait:
    """Returns a gait. Raises an error with the known ones where it is none."""
    if given not in GAITS:
        raise unknown_name("gait", given, GAITS, "Locomotion")
    gait: Gait = given
    return gait


def can_run(m: WalkMemory, seen: SeenBody, asked: float, body: WalkingBody) -> bool:
    """Returns whether a run can take over now: in single support of a quick walk. `asked` [m/s] is its speed."""
    if m.phase != "single" or m.time is None or m.catches:
        return False
    swung = m.time - m.lifted
    share = swung / max(swung + m.left, 1e-3)
    quick = float(np.hypot(*seen.velocity[:2])) > min(TAKE_OFF * body.leg_speed, SLOW_TAKE_OFF * asked)
    x, y = (seen.com[:2] - seen.flat[m.stance]).tolist()
    ahead = math.cos(m.heading) * x + math.sin(m.heading) * y
    return quick and SWUNG[0] <= share <= SWUNG[1] and ahead < FIRST_AHEAD * body.hips_height


def can_hop(m: WalkMemory, seen: SeenBody, foot: int, body: WalkingBody) -> bool:
    """Returns whether hops on one foot can take over now: in single support of that foot, with the CoM over it."""
    if m.phase != "single" or m.time is None or m.catches or m.stance != foot:
        return False
    if float(np.hypot(*seen.velocity[:2])) > HOP_FASTEST * body.leg_speed:
        return False
    swung = m.time - m.lifted
    x, y = (seen.com[:2] - seen.flat[foot]).tolist()
    ahead = (math.cos(m.heading) * x + math.sin(m.heading) * y) / body.hips_height
    return SWUNG[0] <= swung / max(swung + m.left, 1e-3) <= SWUNG[1] and HOP_AHEAD[0] < ahead < HOP_AHEAD[1]


def can_walk(m: RunMemory, seen: SeenBody, body: WalkingBody, fastest: float) -> bool:
    """Returns whether a walk can take over now: one foot on the ground, and slow enough. `fastest` [sqrt(leg x g)]."""
    if m.phase != "stance" or m.time is None:
        return False
    speed = float(np.hypot(*seen.velocity[:2]))
    return STANCE[0] <= (m.time - m.began) / m.duration <= STANCE[1] and speed <= fastest * body.leg_speed


def walk_after(m: RunMemory, seen: SeenBody, now: float, stops: bool, body: WalkingBody) -> WalkMemory:
    """Returns the memory of a walk in single support that continues a run in stance: its first steps catch the body.

    `stops`: it is to stand.
    """
    other = m.swings[1 - m.stance]
    place = seen.com[:2].copy()
    lifted = max(other.lifted, now - LEFT * body.leg_time)
    speed = STOPPING * m.speed if stops else m.speed
    return WalkMemory(
        time=m.time, phase="single", stance=m.stance, began=lifted, lifted=lifted, double=0.0, lift_pitch=other.pitch,
        feet=m.feet, pressure=seen.flat[m.stance].copy(), foothold=place, left=LEFT * body.leg_time, planted=m.planted,
        held=m.held, speed=speed, turn=m.turn, heading=m.heading, line=place, started=place, stride=m.stride,
        steps=USUAL_STEPS, solver=m.solver, torque=m.torque, catches=True,
    )  # fmt: skip
