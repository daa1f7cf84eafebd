"""Avoiding: the moves of a dodge put into wishes and memories of a body that stands or walks."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from counterpoise.character.snapshot import Snapshot
from counterpoise.control.locomotion.around import body_radius, way_around
from counterpoise.control.locomotion.dodge import Dodge, DodgeTuning, choose_dodge, is_over
from counterpoise.control.locomotion.hazards import Hazard
from counterpoise.control.locomotion.locomotion_state import LocomotionMemory
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import FootState, WalkMemory
from counterpoise.control.walk.walker import watched
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.control.walk.wishes import Wishes
from counterpoise.quick import altered

LOOKS = 0.02  # [s] between two looks at what flies
LATEST = 0.5  # share of a swing until which a walking body can still lunge with this step


def avoid(
    snapshot: Snapshot, seen: SeenBody, wishes: Wishes, memory: LocomotionMemory, hazards: tuple[Hazard, ...],
    body: WalkingBody, t: DodgeTuning,
) -> tuple[Wishes, LocomotionMemory]:  # fmt: skip
    """Returns the wishes and the memory of a body that keeps out of the way of hazards."""
    now = snapshot.time
    dodge = memory.dodge
    if dodge is not None and is_over(dodge, now, body, t):
        dodge = None
        memory = altered(memory, dodge=None)
    if dodge is None and now - memory.looked >= LOOKS - 1e-9:
        can = _can(memory)
        heading = memory.walk.heading
        moving = seen.velocity[:2] if memory.doing != "stand" else np.zeros(2)
        dodge = choose_dodge(snapshot, moving, heading, hazards, can, body, t) if can else None
        memory = altered(memory, looked=now, dodge=dodge)
        if dodge is not None and dodge.kind == "step":
            memory = _lunge(snapshot, seen, memory, dodge, wishes, body, t)
    dodge = memory.dodge
    if dodge is not None and dodge.kind == "step":
        ahead, left = _speeds(dodge, body, t)
        return wishes._replace(speed=wishes.speed + ahead, aside=left), memory
    if dodge is not None and dodge.kind == "brake" and now < dodge.until:
        return wishes._replace(speed=0.0, aside=0.0), memory
    if dodge is not None and memory.doing == "step" and now < dodge.until:
        return wishes._replace(lower=t.walk_duck * body.hips_height, lean=wishes.lean + t.walk_lean), memory
    offset, stops, memory = way_around(seen, wishes, memory, hazards, now, body, body_radius(snapshot.character))
    if offset != 0.0 or stops:
        wishes = wishes._replace(heading=wishes.heading + offset, speed=0.0 if stops else wishes.speed)
    return wishes, memory


def dodge_tuning(walk: WalkTuning, memory: LocomotionMemory, t: DodgeTuning) -> WalkTuning:
    """Returns the tuning of the walk: in a dodge steps may be wide, and the first of them is long."""
    if memory.dodge is None or memory.dodge.kind != "step":
        return walk
    return _wide_steps(walk, t, memory.walk.steps == memory.dodge.steps and memory.walk.phase != "stand")


@lru_cache(maxsize=16)
def _wide_steps(walk: WalkTuning, t: DodgeTuning, first: bool) -> WalkTuning:
    fastest = max(2.0 * t.step_speed, walk.fastest_aside)
    return replace(
        walk,
        fastest_aside=fastest,
        fastest_back=max(2.0 * t.step_speed, walk.fastest_back),
        catch_step=t.step_time if first else walk.catch_step,
    )


def _can(memory: LocomotionMemory) -> tuple[str, ...]:
    """Returns which moves a body can make now: in a step only to the side of the foot that swings."""
    if memory.doing == "stand":
        return () if memory.stand.fallen else ("step", "duck")
    m = memory.walk
    if memory.doing != "step" or m.time is None or m.phase == "fallen":
        return ()
    if m.phase in ("stand", "shift"):
        return ("step",)
    brakes = ("low", "brake") if m.speed > 0.0 else ("low",)
    swung = m.time - m.lifted if m.phase == "single" else 0.0
    if swung > LATEST * (swung + m.left):
        return brakes
    return (*brakes, "right" if m.stance == 0 else "left")


def _speeds(dodge: Dodge, body: WalkingBody, t: DodgeTuning) -> tuple[float, float]:
    """Returns the speed of a step aside, forward and to the left [m/s]."""
    speed = t.step_speed * body.leg_speed
    return speed * dodge.way[0], speed * dodge.way[1]


def _lunge(
    snapshot: Snapshot, seen: SeenBody, memory: LocomotionMemory, dodge: Dodge, wishes: Wishes, body: WalkingBody,
    t: DodgeTuning,
) -> LocomotionMemory:  # fmt: skip
    """Returns the memory of a body that throws itself aside: it lifts the foot on that side at once."""
    ahead, left = _speeds(dodge, body, t)
    m = memory.walk
    if memory.doing == "step" and m.phase in ("single", "double"):
        m = altered(m, catches=True, aside=left)
        return altered(memory, walk=m, dodge=dodge._replace(steps=m.steps))
    if memory.doing == "stand":
        m = altered(watched(m, snapshot, seen), torque=memory.stand.torque)
    begun = _lifted(m, seen, 1 if dodge.way[1] > 0.0 else 0, body)
    begun = altered(begun, speed=wishes.speed + ahead, aside=left, catches=True)
    return altered(memory, doing="step", walk=begun, dodge=dodge._replace(steps=0))


def _lifted(m: WalkMemory, seen: SeenBody, stance: int, body: WalkingBody) -> WalkMemory:
    """Returns the memory of a step that begins now, without a shift of the weight."""
    assert m.time is not None
    double = FIRST_DOUBLE * body.leg_time
    return altered(
        m, phase="single", stance=stance, began=m.time - double, lifted=m.time, double=double, left=body.leg_time,
        lift_pitch=float(seen.pitch[1 - stance]), steps=0, last_speed=None, started=seen.com[:2].copy(),
        line=seen.com[:2].copy(), trim=0.0, feet=(FootState(), FootState()),
    )  # fmt: skip


FIRST_DOUBLE = 0.16  # [leg times] that count as gone when the foot is lifted
