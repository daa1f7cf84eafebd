"""The phases of a run and what ends them: a stance ends after its time, a flight where a foot lands."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.character.character import Character
from counterpoise.control.run.run_plan import RunShape, stance_time
from counterpoise.control.run.run_state import PARTS, RunMemory, Swing
from counterpoise.control.run.run_tuning import RunTuning
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.walk_state import FootState
from counterpoise.control.walk.walking_body import SIGN, WalkingBody, walking_body
from counterpoise.quick import altered

TOUCH = 0.0022  # [leg lengths] a foot with a point lower than this has landed ...
LEAST_SWUNG = 0.5  # [leg times] ... where it has swung for longer than this
LEAST_FLOWN = 0.2  # [leg times] ... or, in a hop on one leg, has flown for longer, and the body falls
LATE_STANCE = 0.6  # of a stance: from then on the other foot may land before take-off
LIFTED = 0.01  # [leg lengths] a stance foot that is higher than this has left the ground
STEADY = 0.03  # [sqrt(leg x g)] the trim is learnt where the speed is this near to the one asked for


def next_run_phase(m: RunMemory, seen: SeenBody, shape: RunShape, character: Character, t: RunTuning) -> RunMemory:
    """Returns the memory with the phase of this tick."""
    assert m.time is not None
    body = walking_body(character)
    now, unit = m.time, body.hips_height
    other = next_foot(m, t)
    gone = now - m.began
    least = (LEAST_FLOWN if t.hops else LEAST_SWUNG) * body.leg_time
    touches = seen.low[other] < TOUCH * unit and now - m.swings[other].lifted > least
    if m.phase == "flight":
        return _land(m, seen, shape, character, t) if touches and not (t.hops and seen.velocity[2] > 0.0) else m
    if touches and not t.hops and gone > LATE_STANCE * m.duration:
        return _land(_leave(m, seen), seen, shape, character, t)
    if gone >= m.duration - 1e-9 or (gone > 0.5 * m.duration and seen.low[m.stance] > LIFTED * unit):
        landing = min(shape.landing, float(seen.com[2]))
        return altered(_leave(m, seen), phase="flight", landing=landing)
    return m


def next_foot(m: RunMemory, t: RunTuning) -> int:
    """Returns the foot that lands next."""
    return m.stance if t.hops else 1 - m.stance


def _leave(m: RunMemory, seen: SeenBody) -> RunMemory:
    """The stance foot leaves the ground."""
    assert m.time is not None
    swings = list(m.swings)
    swings[m.stance] = Swing(m.time, float(seen.pitch[m.stance]), seen.ankle[m.stance, :2].copy())
    return altered(m, swings=(swings[0], swings[1]))


def _land(m: RunMemory, seen: SeenBody, shape: RunShape, character: Character, t: RunTuning) -> RunMemory:
    """The next foot has landed."""
    assert m.time is not None
    body = walking_body(character)
    new = next_foot(m, t)
    d = np.array([math.cos(m.heading), math.sin(m.heading)])
    went = float((seen.com[:2] - m.started) @ d) / max(m.time - m.began, 1e-3)
    trim = m.trim
    if m.steps > 2 and abs(m.asked - m.speed) < STEADY * body.leg_speed and m.last_speed is not None:
        error = m.speed - 0.5 * (went + m.last_speed)
        most = t.trim_limit * body.leg_speed
        trim = min(max(trim + t.trim * error, -most), most)
    late = m.late
    if m.phase == "flight" and m.steps > 0:
        most = t.late_limit * body.leg_time
        late += t.learning * (min(max(m.time - m.due, -most), most) - late)
    pitch = float(seen.pitch[new])
    feet = list(m.feet)
    feet[new] = FootState(m.time, True, m.time, goal_pitch=pitch)
    duration = stance_time(float(seen.com[2]), float(seen.velocity[2]), shape, character, t)
    return altered(
        m, phase="stance", stance=new, began=m.time, duration=duration, feet=(feet[0], feet[1]),
        started=seen.com[:2].copy(), steps=m.steps + 1, trim=trim, last_speed=went, shift=np.zeros(2), late=late,
    )  # fmt: skip


def measure_added(m: RunMemory, seen: SeenBody, dt: float, body: WalkingBody, t: RunTuning) -> RunMemory:
    """Returns the memory with what the last tick added to the CoM's velocity beyond the model.

    Where a part of the stance is over, its mean goes into what is expected of the next stances.
    """
    assert m.time is not None
    c, s = math.cos(m.heading), math.sin(m.heading)
    off, missing = seen.velocity[:2] - m.expected, m.missing
    if m.part >= 0:
        across = SIGN[m.stance] * (c * off[1] - s * off[0])
        missing = missing + np.array([c * off[0] + s * off[1], across, dt])
    part = -1 if m.phase != "stance" else min(int((m.time - m.began) / m.duration * PARTS), PARTS - 1)
    if part == m.part:
        return altered(m, missing=missing)
    added = m.added
    if m.part >= 0 and m.steps > 0 and missing[2] > 0.0:
        most = t.added_limit * body.leg_speed**2 / body.hips_height
        added = added.copy()
        added[:, m.part] += t.learning * (np.clip(missing[:2] / missing[2], -most, most) - added[:, m.part])
    return altered(m, part=part, missing=np.zeros(3), added=added)
