"""Hands, knees, a back: parts that carry the body where its feet do not. They are brought to the ground, and stay.

Shapes of a captured skeleton are estimates, and whole arms may sit centimetres off their place, so that a body on its
hands stands on nothing. A part is taken for one that carries where the feet cannot give what a frame needs, and it
could: it is the lowest of its limb, within what a check grants to such parts (`CheckTuning.touch`), and slow. Only
parts that really take load away are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow, runs
from counterpoise.spacetime.check.frames import frames_of_motion
from counterpoise.spacetime.check.support import HELD, OTHER_PART, GroundSupport, HeldBody, find_support
from counterpoise.spacetime.check.tuning import CheckTuning
from counterpoise.spacetime.fix.outside import split_needed
from counterpoise.spacetime.fix.steps import plant_cost
from counterpoise.spacetime.fix.tuning import FixTuning


@dataclass(frozen=True)
class OtherPartsTuning:
    """When a part that is no foot carries the body."""

    helped: float = 0.5  # share of the residual without other parts: one that is larger is not helped by them
    force: float = 0.1  # [body weights] a part with a smaller force does not carry
    gap: float = 0.1  # [s] a shorter interruption is none
    shortest: float = 0.1  # [s] of a stretch in which a part carries


@dataclass(frozen=True, eq=False)
class CarryingParts:
    """Which points that belong to no foot carry the body, and where those stay that rest."""

    carries: Flags  # (n, p) must be on the ground, and may press
    rests: Flags  # (n, p) ... and stays ...
    places: Array  # (n, p, 3) ... here [m]: the lowest point of the ball about the point


def find_carrying_parts(
    motion: Motion, contacts: tuple[ContactWindow, ...], holds: Sequence[HeldBody], floor: float, checks: CheckTuning,
    tuning: FixTuning, own: OtherPartsTuning | None = None,
) -> CarryingParts:  # fmt: skip
    """Returns the points of other parts than feet that carry the body of a motion whose feet are in place."""
    t, known = own or OtherPartsTuning(), CheckTuning()
    frames = frames_of_motion(motion, checks.smooth)
    sure = replace(checks, floor=floor)
    doubted = replace(sure, touch=known.touch, touch_speed=known.touch_speed)
    near = find_support(motion, frames, contacts, holds, doubted)
    nothing = np.zeros(near.bearing.shape, dtype=bool)
    none = CarryingParts(nothing, nothing, near.places)
    if not (near.bearing & (near.foot == OTHER_PART)).any():
        return none
    feet = find_support(motion, frames, contacts, holds, sure)
    held = np.asarray(near.foot == HELD)
    alone, _ = split_needed(frames, feet.places, feet.blurred, held, sure.friction)
    missing = np.linalg.norm(alone, axis=1)
    if not (missing > tuning.give_up_residual).any():
        return none
    lowest = _lowest_of_limbs(motion.character, near)
    press = feet.blurred | (near.blurred & lowest)
    helped, force = split_needed(frames, near.places, press, held, sure.friction)
    useful = (missing > tuning.give_up_residual) & (np.linalg.norm(helped, axis=1) < t.helped * missing)
    carries = lowest & useful[:, None] & (force[:, :, 2] > t.force) & ~feet.bearing
    return _runs(near, carries, frames.rate, floor, tuning.plant_reach, t)


def _lowest_of_limbs(character: Character, support: GroundSupport) -> Flags:
    """Returns (n, p): the lowest point of every limb and of the trunk, where it may press and belongs to no foot."""
    able = support.bearing & (support.foot == OTHER_PART)
    limb = _limbs(character)[support.bodies]
    out = np.zeros_like(able)
    for name in np.unique(limb):
        heights = np.where(able & (limb == name), support.heights, np.inf)
        lowest = heights.argmin(axis=1)
        some = np.isfinite(heights.min(axis=1))
        out[np.flatnonzero(some), lowest[some]] = True
    return out


def _limbs(character: Character) -> Ints:
    """Returns a number (bodies,) for the arm or leg that a body belongs to, with hand or foot; 0 for the trunk."""
    sides: dict[str, int] = {}
    out = np.zeros(character.model.nbody, np.int64)
    for name, bodies in anatomy_of(character).limbs.items():
        kind, _, side = name.partition("_")
        upper = {"hand": "arm", "foot": "leg"}.get(kind, kind)
        if upper in ("arm", "leg"):
            out[list(bodies)] = sides.setdefault(upper + side, len(sides) + 1)
    for body in range(1, len(out)):  # fingers belong to the arm they hang on
        out[body] = out[body] or out[int(character.model.body_parentid[body])]
    return out


def _runs(
    support: GroundSupport, carries: Flags, rate: float, floor: float, reach: float, t: OtherPartsTuning
) -> CarryingParts:
    """Returns lasting stretches, body by body: in each the same point carries, and rests where it hardly moves."""
    out, rests, places = np.zeros_like(carries), np.zeros_like(carries), support.places.copy()
    for body in np.unique(support.bodies[carries.any(axis=0)]):
        mine: Ints = np.flatnonzero((support.bodies == body) & (support.foot == OTHER_PART))
        some: Flags = np.asarray(carries[:, mine].any(axis=1))
        for first, last in runs(~some):
            if first > 0 and last < len(some) and last - first <= t.gap * rate:
                some[first:last] = True
        for first, last in runs(some):
            if last - first < t.shortest * rate:
                continue
            p = int(mine[carries[first:last, mine].sum(axis=0).argmax()])
            out[first:last, p] = True
            path = support.places[first:last, p]
            if plant_cost(path * np.array([1.0, 1.0, 0.0])) <= reach:
                rests[first:last, p] = True
                places[first:last, p, :2] = np.median(path[:, :2], axis=0)
            places[first:last, p, 2] = floor
    return CarryingParts(out, rests, places)
