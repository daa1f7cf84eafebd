"""Steps that catch a fall: when a step is one, and which foot of a standing body takes the first one."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.support import support_of
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.step_plan import plan_step
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import FootState, WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.control.walk.wishes import StepShape, usual_time
from counterpoise.quick import altered

NEAR_GROUND = 0.03  # [leg lengths] a foot whose lowest point is higher than this does not carry, nor will it soon


def is_tipping(snapshot: Snapshot, seen: SeenBody, body: WalkingBody, margin: float) -> bool:
    """Returns whether the capture point is outside the support by more than a margin [leg lengths]."""
    points = snapshot.contact_position
    bearing = np.zeros(len(points), bool)
    highest = float(seen.over.min()) + NEAR_GROUND * body.hips_height
    for leg in body.legs:  # a foot on its heel or on its edge will lie flat in a moment: its whole sole counts
        bearing[leg.points] = seen.over[leg.points].min() < highest
    if bearing.sum() < 3:
        return True
    return support_of(points, bearing).outside(seen.capture) > margin * body.hips_height


def usual_cost(m: WalkMemory, body: WalkingBody, t: WalkTuning) -> float:
    """Returns what the plan of a usual step may cost; on a turn, and where only steps correct the body, it is more."""
    turns = abs(m.turn) * body.leg_time / t.turn_rate
    return t.catch_cost * (t.alone_catch if body.feet_alone else 1.0 + (t.turn_catch - 1.0) * turns)


def catch_cost(m: WalkMemory, shape: StepShape, body: WalkingBody, t: WalkTuning) -> float:
    """Returns the cost from which a step is one to catch a fall: an error grows as exp(omega T), its cost twice so."""
    usual = usual_time(t.usual_speed * body.leg_speed, body, t)
    longer = 1.0 if body.feet_alone else math.exp(body.omega * (shape.time - usual))
    return longer * usual_cost(m, body, t)


def catch_step(
    m: WalkMemory, seen: SeenBody, shape: StepShape, snapshot: Snapshot, body: WalkingBody, t: WalkTuning
) -> WalkMemory:
    """Returns the memory of a step that begins now, with the foot whose plan of two steps costs less.

    A push may go on: the capture point is taken to move on for a while as it moves now.
    """
    assert m.time is not None
    far = t.foresight * body.leg_time * m.drift
    seen = seen._replace(capture=seen.capture + far, com=seen.com + np.array([far[0], far[1], 0.0]))
    best, least = m, float("inf")
    for stance in range(2):
        begun = begun_step(m, seen, shape, stance)
        cost = _cost_of_two(begun, seen, shape, snapshot.character, t)
        if cost < least:
            best, least = begun, cost
    return best


def begun_step(m: WalkMemory, seen: SeenBody, shape: StepShape, stance: int) -> WalkMemory:
    """Returns the memory of a first step that begins now, on the foot `stance`."""
    assert m.time is not None
    return altered(
        m, phase="single", stance=stance, began=m.time - shape.double, lifted=m.time, double=shape.double,
        left=shape.time - shape.double, lift_pitch=float(seen.pitch[1 - stance]), steps=0, last_speed=None,
        started=seen.com[:2].copy(), line=seen.com[:2].copy(), trim=0.0, feet=(FootState(), FootState()),
    )  # fmt: skip


def _cost_of_two(m: WalkMemory, seen: SeenBody, shape: StepShape, character: Character, t: WalkTuning) -> float:
    """Returns what this step and the next one cost."""
    assert m.time is not None
    plan = plan_step(m, seen, shape, m.heading, character, 0.0, t)
    stance, new = m.stance, 1 - m.stance
    flat, ankle = seen.flat.copy(), seen.ankle.copy()
    flat[new], ankle[new, :2] = plan.foothold, plan.foothold
    ankle[stance, :2] = flat[stance]
    com = np.array([*plan.landing_com, seen.com[2]])
    after = seen._replace(
        com=com, capture=plan.landing_capture, flat=flat, ankle=ankle, ankle_velocity=np.zeros((2, 3))
    )
    landed = altered(m, phase="double", stance=new, time=m.time + plan.left, began=m.time + plan.left, spin=None)
    return plan.cost + plan_step(landed, after, shape, m.heading, character, 0.0, t).cost
