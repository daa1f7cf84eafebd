"""The phases of a walk and what ends them: standing, shift of the weight, double support, single support."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.control.support import support_of
from counterpoise.control.walk.catch_step import usual_cost
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.step_plan import first_capture, spun_capture
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import FootState, WalkMemory
from counterpoise.control.walk.walking_body import SIGN, WalkingBody, walking_body
from counterpoise.control.walk.wishes import StepShape, Wishes
from counterpoise.quick import altered

TOUCH = 0.0022  # [leg lengths] a swinging foot with a point lower than this has landed ...
EARLY_TOUCH = 0.04  # [leg lengths] or one that bears and is this near to the plane of its foothold, ...
NEAR_FOOTHOLD = 0.15  # [leg lengths] from its foothold, where it lies on higher ground
LEAST_SWUNG = 0.4  # [leg times] ... where it has swung for longer than this ...
LATE_SHARE = 0.35  # ... and less than this share of the swing is left,
LAST_MOMENT = 0.4  # [leg times] or less than this time
LONG_SWUNG = 1.7  # [leg times] or it has swung for longer than this
FLAT_PITCH = 0.03  # [rad] feet that start to walk are flatter than this
HEEL_PITCH = -0.05  # [rad] a foot that lands with its toe higher than this lands on its heel
TURNED = 0.02  # [rad] a heading this near to the one asked for is reached
EVEN = 0.06  # [leg lengths] feet that are to be side by side are no farther apart along the heading
SQUARE = 0.35  # [rad] feet that are turned from the heading by more than this take another step
STEADY = 0.02  # [sqrt(leg x g)] the trim is learnt where the speed is this near to the one asked for
WILD = 0.1  # [sqrt(leg x g)] a step whose speed is off by more than this tells nothing about the trim


def next_phase(
    m: WalkMemory, seen: SeenBody, wishes: Wishes, shape: StepShape, character: Character, t: WalkTuning
) -> WalkMemory:
    """Returns the memory with the phase of this tick."""
    assert m.time is not None
    now, body = m.time, walking_body(character)
    away = abs(math.remainder(wishes.heading - m.heading, 2.0 * math.pi))
    stays = wishes.stays and away < (t.least_turn if m.phase in ("stand", "shift") else TURNED)
    if wishes.even and m.phase in ("stand", "shift"):
        stays = stays and is_even(seen, m.heading, body)
    if m.phase == "stand":
        return _begin_shift(m, seen) if not stays and _is_calm(m, seen, body, t) else m
    if m.phase == "shift":
        if stays:
            return altered(m, phase="stand", began=now)
        across = _across(seen.flat[m.stance] - seen.capture, m.heading) * SIGN[m.stance]
        near = t.shift_near * shape.width
        early = False
        if body.feet_alone:  # as in a steady walk: nothing corrects it before the next foot lands
            near = min(near, shape.width / (1.0 + math.exp(body.omega * shape.time)))
        else:
            early = now - m.began < t.calm_time * body.leg_time
            early = early or _is_behind(m, seen, first_capture(shape, m.stance, character, t), body, t)
        if (across < near and not early) or now - m.began > t.longest_shift * body.leg_time:
            return _first_lift(m, seen, shape)
        return m
    if m.phase == "double":
        if now - m.began >= m.double - 1e-9 or (m.catches and _is_pulled(m, seen, body, t)):
            if stays and _can_stop(m, seen, shape, character, t, EVEN if wishes.even else t.stop_stagger):
                return altered(m, phase="stand", began=now, speed=0.0, aside=0.0, turn=0.0, trim=0.0)
            return altered(m, phase="single", lifted=now, lift_pitch=float(seen.pitch[1 - m.stance]))
        return m
    swung = now - m.lifted
    height = seen.low[1 - m.stance] / body.hips_height
    low = -EARLY_TOUCH < height < (EARLY_TOUCH if seen.bears[1 - m.stance] else TOUCH)
    if m.ground[1 - m.stance, 2] - m.left_ground[2] > EARLY_TOUCH * body.hips_height:  # a step up: not on its way up
        far = float(np.hypot(*(seen.ankle[1 - m.stance, :2] - m.foothold)))
        last = bool(seen.bears[1 - m.stance]) and m.left < LAST_MOMENT * body.leg_time
        low = low and (far < NEAR_FOOTHOLD * body.hips_height or last)
    soon = m.left < LATE_SHARE * (swung + m.left) or m.left < LAST_MOMENT * body.leg_time
    if low and swung > LEAST_SWUNG * body.leg_time and (soon or swung > LONG_SWUNG * body.leg_time):
        return _land(m, seen, wishes, shape, body, t)
    highest = float(seen.low[1 - m.stance])
    return altered(m, highest=highest) if highest > m.highest else m


def _is_pulled(m: WalkMemory, seen: SeenBody, body: WalkingBody, t: WalkTuning) -> bool:
    """Returns whether the rear leg is so long that it would pull the hips down: its foot leaves at once."""
    rear = 1 - m.stance
    return float(np.linalg.norm(seen.hip[rear] - seen.ankle[rear])) > t.catch_length * body.legs[rear].longest


def _is_calm(m: WalkMemory, seen: SeenBody, body: WalkingBody, t: WalkTuning) -> bool:
    """Returns whether it stands calmly, or has stood for long enough."""
    assert m.time is not None
    slow = float(np.linalg.norm(seen.velocity)) < t.calm_speed * body.leg_speed
    flat = bool((np.abs(seen.pitch) < FLAT_PITCH).all() and (seen.low < TOUCH * body.hips_height).all())
    stood = m.time - m.began
    return (slow and flat and stood > t.calm_time * body.leg_time) or stood > t.longest_calm * body.leg_time


def _is_behind(m: WalkMemory, seen: SeenBody, wanted: float, body: WalkingBody, t: WalkTuning) -> bool:
    """Returns whether the capture point is too far behind its place `wanted`, ahead of the stance ankle [m]."""
    d = np.array([math.cos(m.heading), math.sin(m.heading)])
    short = wanted - float((seen.capture - seen.flat[m.stance]) @ d)
    return math.copysign(short, m.speed * short) > t.shift_behind * body.hips_height if m.speed else False


def _begin_shift(m: WalkMemory, seen: SeenBody) -> WalkMemory:
    """The weight goes over to the foot that is farther ahead; where both are even, to the left one."""
    assert m.time is not None
    d = np.array([math.cos(m.heading), math.sin(m.heading)])
    ahead = float((seen.flat[1] - seen.flat[0]) @ d)
    return altered(m, phase="shift", began=m.time, stance=1 if ahead > 0.02 else 0)


def _first_lift(m: WalkMemory, seen: SeenBody, shape: StepShape) -> WalkMemory:
    assert m.time is not None
    return altered(
        m, phase="single", began=m.time - shape.double, lifted=m.time, double=shape.double,
        left=shape.time - shape.double, lift_pitch=float(seen.pitch[1 - m.stance]), steps=0, last_speed=None,
        started=seen.com[:2].copy(), line=seen.com[:2].copy(), trim=0.0,
    )  # fmt: skip


def _land(
    m: WalkMemory, seen: SeenBody, wishes: Wishes, shape: StepShape, body: WalkingBody, t: WalkTuning
) -> WalkMemory:
    """The swinging foot has landed: it is the stance foot of the step that begins."""
    assert m.time is not None
    asked, lift_trim = wishes.speed, m.lift_trim
    if wishes.height is not None and wishes.terrain is None and not m.catches:
        most = 0.5 * wishes.height
        lift_trim = min(max(lift_trim + t.lift_trim * (wishes.height - m.highest), -most), most)
    new = 1 - m.stance
    d = np.array([math.cos(m.heading), math.sin(m.heading)])
    went = float((seen.com[:2] - m.started) @ d) / max(m.time - m.began, 1e-3)
    trim = m.trim if asked != 0.0 else 0.0
    steady = abs(asked - m.speed) < STEADY * body.leg_speed
    if not math.isnan(m.chosen[0]):  # its length was given by the ground
        trim, steady = 0.5 * trim, False
    last, went_before = m.last_speed, m.last_speed is not None and not math.isnan(m.last_speed)
    if last is not None and went_before and m.steps > 2 and asked != 0.0 and steady and math.isinf(m.longest):
        error = m.speed - 0.5 * (went + last)
        if abs(error) < WILD * body.leg_speed:
            most = t.trim_limit * body.leg_speed
            trim = min(max(trim + t.trim * error, -most), most)
    if wishes.terrain is None and abs(asked) < abs(m.speed) and not steady:
        known: float | None = math.nan  # it slows down: this step and the next tell nothing about the trim
    else:
        known = went if last is None or went_before else None
    took = t.catch_step * body.leg_time if m.catches else m.longest
    longest = t.calmer_step * took if took < t.most_step * body.leg_time else math.inf
    still = 0.5 * usual_cost(m, body, t)
    pitch = float(seen.pitch[new])
    foot = FootState(m.time, pitch < HEEL_PITCH, m.time, goal_pitch=pitch)
    feet = (foot, m.feet[1]) if new == 0 else (m.feet[0], foot)
    return altered(
        m, phase="double", stance=new, began=m.time, double=shape.double, feet=feet, started=seen.com[:2].copy(),
        steps=m.steps + 1, catches=m.catches and m.cost > still, trim=trim, last_speed=known,
        highest=0.0, lift_trim=lift_trim, longest=longest,
    )  # fmt: skip


def _can_stop(
    m: WalkMemory, seen: SeenBody, shape: StepShape, character: Character, t: WalkTuning, most: float
) -> bool:
    """Returns whether it can stand where it is: feet side by side and the capture point between them.

    `most` [leg lengths] is how far apart they may be along the heading.
    """
    body = walking_body(character)
    if max(abs(m.speed), abs(m.aside)) > t.stop_speed * body.leg_speed:
        return False
    if m.catches or m.longest < math.inf:  # it catches a fall, or has just done so
        return _is_caught(m, seen, character, t, most)
    if max(abs(math.remainder(float(yaw) - m.heading, 2.0 * math.pi)) for yaw in seen.yaw) > SQUARE:
        return False
    d = np.array([math.cos(m.heading), math.sin(m.heading)])
    apart = _stagger(seen, m.heading)
    middle = seen.flat.mean(axis=0)
    off = seen.capture - middle
    leg = body.legs[m.stance]
    ahead = float(off @ d)
    low, high = 0.5 * (leg.heel_at - apart), 0.5 * apart + 0.8 * leg.ball_at
    inside = low < ahead < high and abs(_across(off, m.heading)) < 0.4 * shape.width
    return apart < most * body.hips_height and inside


def _is_caught(m: WalkMemory, seen: SeenBody, character: Character, t: WalkTuning, most: float) -> bool:
    """Returns whether a body that catches a fall stands: its feet may be wide apart, but must carry it where they are.

    The capture point counts that is moved by the angular momentum: a trunk that still turns has to be stopped.
    """
    body = walking_body(character)
    apart = seen.flat[0] - seen.flat[1]
    wide = abs(_across(apart, m.heading))
    if _stagger(seen, m.heading) > most * body.hips_height or wide > t.stop_wide * body.hips_height:
        return False
    if max(abs(math.remainder(float(yaw) - m.heading, 2.0 * math.pi)) for yaw in seen.yaw) > SQUARE:
        return False
    corners = np.zeros((8, 3))
    for i, leg in enumerate(body.legs):
        c, s = math.cos(seen.yaw[i]), math.sin(seen.yaw[i])
        for k, (x, side) in enumerate(
            ((leg.heel_at, -1.0), (leg.heel_at, 1.0), (leg.front_at, -1.0), (leg.front_at, 1.0))
        ):
            y = side * leg.half_width
            corners[4 * i + k, :2] = seen.flat[i, 0] + c * x - s * y, seen.flat[i, 1] + s * x + c * y
    support = support_of(corners, np.ones(8, bool))
    return support.outside(spun_capture(m, seen, character)) < -t.stop_inside * body.hips_height


def is_even(seen: SeenBody, heading: float, body: WalkingBody) -> bool:
    """Returns whether the feet are side by side."""
    return _stagger(seen, heading) < EVEN * body.hips_height


def _stagger(seen: SeenBody, heading: float) -> float:
    """Returns how far one foot is ahead of the other along a heading [m]."""
    d = np.array([math.cos(heading), math.sin(heading)])
    return abs(float((seen.flat[1] - seen.flat[0]) @ d))


def _across(v: Array, heading: float) -> float:
    """Returns the part of a vector to the left of the heading."""
    return float(-math.sin(heading) * v[0] + math.cos(heading) * v[1])
