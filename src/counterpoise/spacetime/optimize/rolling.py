"""Feet that roll over their toes: before they leave the ground, and after they have touched it from the air.

A flat contact is cut in two: flat and on the toes. Where the user says nothing this is done for feet with toes, and the
leg is drawn straight as it leaves: both belong to the sense of posture (`Taste.posture`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.spacetime.optimize.holds import toes_of
from counterpoise.spacetime.optimize.moments import TIME_TOLERANCE, Moment, Time, seconds
from counterpoise.spacetime.optimize.request import Key, MotionRequest, Touch

ROLL_SECONDS = 0.15  # before a foot leaves
LAND_SECONDS = 0.08  # after it has touched
SHORTEST_STANCE = 0.3  # [s] a foot that stands for less stays flat unless it is told to roll
LARGEST_SHARE = 0.4  # of a foot's time on the ground that each roll may take
SAME_EVENT = 0.05  # [s] a contact that changes this near to a roll's beginning is where it begins
TOE_ANGLE = np.radians(40.0)  # of the toes as the foot leaves
ANKLE_ANGLE = np.radians(25.0)  # of the ankle
KNEE_SHARE = 0.1  # of the knee's range that it is bent then
TURNING = ("hinge", "universal")  # joints with angles
LEAVING_WEIGHT = 3.0  # weight of these angles, times that of the posture


@dataclass(frozen=True, eq=False)
class RollingFeet:
    """The contacts of a request with its rolls, and keys for the legs that leave."""

    contacts: tuple[Touch, ...]
    keys: tuple[Key, ...] = ()
    by_itself: bool = False  # whether any of it was not asked for
    cut: tuple[Touch, ...] = ()  # contacts that are parts of one that was cut


def with_rolling_feet(request: MotionRequest, duration: Time) -> RollingFeet:
    """Returns the contacts with those that roll cut in two. A cut is free where the foot's leaving or coming is."""
    cuts = _Cuts(request.contacts)
    contacts: list[Touch] = []
    leaving: list[tuple[Touch, Time]] = []
    by_itself, cut = False, list[Touch]()
    for touch in request.contacts:
        roll = _roll_off(request, touch, duration)
        land = _roll_on(request, touch)
        by_itself |= (touch.roll is None and roll > 0.0) or (touch.land is None and land > 0.0)
        start, end, first = touch.start, touch.end, len(contacts)
        if land > 0.0:
            start = cuts.at(touch, touch.start, land)
            contacts.append(_on_toes(touch, touch.start, start, "landing on its toes"))
        if roll > 0.0:
            end = cuts.at(touch, touch.end, -roll)
            if touch.roll is None:
                leaving.append((touch, end))
        flat = replace(touch, start=start, end=end, roll=0.0, land=0.0, name=touch.label)
        contacts.append(flat if land > 0.0 or roll > 0.0 else touch)
        if roll > 0.0:
            contacts.append(_on_toes(touch, end, touch.end, "on its toes"))
        if len(contacts) > first + 1:
            cut += contacts[first:]
    return RollingFeet(tuple(contacts), tuple(_leaving_keys(request, leaving)), by_itself, tuple(cut))


def without_rolls(request: MotionRequest) -> MotionRequest:
    """Returns the request with feet that roll only where it was asked for."""
    own = [
        replace(c, roll=0.0 if c.roll is None else c.roll, land=0.0 if c.land is None else c.land)
        for c in request.contacts
    ]
    return replace(request, contacts=tuple(own))


def _roll_off(request: MotionRequest, touch: Touch, duration: Time) -> float:
    """Returns how long a foot rolls before it leaves [s]. One that stands to the end does not leave."""
    if seconds(touch.end) >= seconds(duration) - TIME_TOLERANCE:
        return 0.0
    if touch.roll is not None:
        return touch.roll
    goes_on = any(_same_part(touch, o) and _same_time(o.start, touch.end) for o in request.contacts)
    return 0.0 if goes_on or not _may_roll(request, touch) else min(ROLL_SECONDS, LARGEST_SHARE * _stance(touch))


def _roll_on(request: MotionRequest, touch: Touch) -> float:
    """Returns how long a foot that comes from the air stands on its toes first [s]."""
    begin = seconds(touch.start)
    if begin <= TIME_TOLERANCE:
        return 0.0
    if touch.land is not None:
        return touch.land
    held = any(
        seconds(o.start) < begin - TIME_TOLERANCE and seconds(o.end) > begin - SAME_EVENT for o in request.contacts
    )
    return 0.0 if held or not _may_roll(request, touch) else min(LAND_SECONDS, LARGEST_SHARE * _stance(touch))


def _may_roll(request: MotionRequest, touch: Touch) -> bool:
    """Whether a foot rolls by itself: a flat one with toes of its own, in a motion with a sense of posture."""
    if touch.how != "flat" or request.taste.posture == 0.0 or request.reference is not None:
        return False
    character = request.character
    return _stance(touch) >= SHORTEST_STANCE and toes_of(character, character.foot(touch.part)) is not None


def _stance(touch: Touch) -> float:
    return seconds(touch.end) - seconds(touch.start)


def _same_part(touch: Touch, other: Touch) -> bool:
    return other is not touch and other.part == touch.part


def _same_time(one: Time, two: Time) -> bool:
    return abs(seconds(one) - seconds(two)) <= SAME_EVENT


def _on_toes(touch: Touch, start: Time, end: Time, what: str) -> Touch:
    return replace(
        touch, start=start, end=end, how="toe", roll=0.0, land=0.0, sole=1.0, name=f"{touch.label} {what}", facing=None,
        place=None,
    )  # fmt: skip


class _Cuts:
    """The times at which contacts are cut: one for both feet, and none close to another change of contacts."""

    def __init__(self, contacts: Sequence[Touch]) -> None:
        self.events: list[Time] = [t for c in contacts for t in (c.start, c.end)]

    def at(self, touch: Touch, event: Time, after: float) -> Time:
        """Returns the cut so many seconds after an event that begins or ends a contact."""
        t = seconds(event) + after
        inside = [
            e for e in self.events if all(abs(seconds(e) - seconds(b)) > SAME_EVENT for b in (touch.start, touch.end))
        ]
        near = [e for e in inside if abs(seconds(e) - t) <= SAME_EVENT]
        if near:
            return min(near, key=lambda e: abs(seconds(e) - t))
        cut: Time = t
        if isinstance(event, Moment):
            kind = "land" if after > 0.0 else "roll"
            cut = Moment(t, name=f"{kind} {seconds(event):g}", minor=True)
        self.events.append(cut)
        return cut


# -- legs that leave -------------------------------------------------------------------------------------------------


def _leaving_keys(request: MotionRequest, leaving: Sequence[tuple[Touch, Time]]) -> list[Key]:
    """Returns soft keys that draw legs straight as their feet leave, unless a key of the user is near."""
    out = []
    for touch, cut in leaving:
        pose, joints = leaving_leg(request.character, touch.part)
        said = [k for k in request.keys if k.only is None or set(k.only) & set(joints)]
        if any(seconds(cut) - TIME_TOLERANCE <= seconds(k.time) <= seconds(touch.end) + SAME_EVENT for k in said):
            continue
        weight = LEAVING_WEIGHT * request.taste.posture
        out.append(Key(touch.end, pose, only=joints, soft=weight, name=f"{touch.label} leaves"))
    return out


def leaving_leg(character: Character, part: str) -> tuple[Array, tuple[str, ...]]:
    """Returns a pose with a leg as it pushes off: toes bent, ankle stretched, knee nearly straight; and its joints."""
    foot = character.foot(part)
    toes = toes_of(character, foot)
    body = character.body_id(foot.body)
    assert toes is not None
    tip = next(p for p in foot.points if character.body_id(p.body) == toes)
    rises = character.snapshot().jacobian(tip.body, tip.position)[2]  # of the tip, with each degree of freedom
    pose, limits = character.neutral.copy(), character.limits
    ranges = {int(d): (a, b) for d, a, b in zip(limits.range_dof, limits.range_low, limits.range_high, strict=True)}
    names = []
    knee = int(character.model.body_parentid[body])
    for moved, angle in ((toes, TOE_ANGLE), (body, -ANKLE_ANGLE), (knee, None)):
        for joint in (j for j in character.joints if character.body_id(j.body) == moved and j.kind in TURNING):
            k = int(np.argmax(np.abs(rises[joint.dofs])))
            q, (low, high) = joint.qpos.start + k, ranges.get(joint.dofs.start + k, (-np.inf, np.inf))
            if angle is not None:
                pose[q] = np.clip(pose[q] + angle * np.sign(rises[joint.dofs][k]), low, high)
            elif np.isfinite([low, high]).all():
                pose[q] += KNEE_SHARE * (high - pose[q] if high - pose[q] > pose[q] - low else low - pose[q])
            names.append(joint.name)
    return pose, tuple(names)
