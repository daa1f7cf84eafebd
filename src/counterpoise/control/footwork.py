"""Footwork: when heel and ball of each foot stand, and a reference whose feet stand still where they stand.

Captured feet creep, tremble and turn while they carry weight, heels rise while the ball stays, and both feet may
shuffle at once. A part of a foot stands while it is low and does not travel. One foot always stands: where both
shuffle, one goes after the other. The poses are then fitted anew, so that parts that stand keep their place, level on
the ground, and parts that go clear it (`spacetime.fix.feet`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_contact_places
from counterpoise.control.feet import spells, toe_points
from counterpoise.control.reference_shaping import STEP, close_loop
from counterpoise.motion.contacts import foot_markers, windows_of
from counterpoise.motion.motion import Motion
from counterpoise.motion.retarget.links import rest_facing
from counterpoise.motion.retarget.soles import Sole, sole_of
from counterpoise.spacetime.fix.feet import GroundPlan, place_feet, plan_ground

MOVING_SPEED = 0.06  # [m/s] over the ground: a foot that is faster may be travelling ...
TRAVEL = 0.01  # [m] ... and is, if it gets farther than this
STEP_LENGTH = 0.04  # [m] a foot that comes down nearer to where it stood has made no step ...
LOW_LIFT = 0.015  # [m] ... if it was not lifted higher than this
HEEL_RISE, BALL_RISE = 0.02, 0.04  # [m] a heel or ball that never gets higher is not raised while the rest stands
SHORTEST_RISE = 0.08  # [s] of a heel or ball, and between two of them
SHORTEST_STANCE = 0.06  # [s] a foot that stands for a shorter time does not stand
SHORTEST_SWING = 0.15  # [s] a foot that goes while the other waits takes at least this long
OVERLAP = 0.25  # [s] for which both feet stand when the weight goes from one to the other
LONGEST_SHUFFLE = 0.4  # [s] for which both feet may go at once, if they are low, and are sent one after the other ...
TURN_TIME = 0.6  # [s] ... and, if they slide for longer, of each turn
SHUFFLE_HEIGHT = 0.03  # [m] a foot lower than this shuffles; a higher one flies
CLEARANCE = 0.02  # [m] of feet in the air, for legs of 0.9 m
EXACT = 1e-3  # [m] feet nearer to their places than this are not fitted anew


@dataclass(frozen=True, eq=False)
class Footwork:
    """What the feet of a motion do, every STEP from its start."""

    motion: Motion  # with feet that stand still
    standing: Flags  # (n, p) contact points that keep their place
    bearing: Flags  # (n, p) contact points that may press: the ball while the heel is up, and toes, as well


def find_footwork(character: Character, motion: Motion, lift_height: float) -> Footwork | None:
    """Returns the footwork of a motion on level ground; None where heel and ball of the feet are not known.

    A foot `lift_height` [m] above the ground is lifted, unless it stays low and comes down where it was.
    """
    at = anatomy_of(character)
    soles = tuple(sole_of(at, foot, rest_facing(at)) for foot in character.feet)
    markers = foot_markers(at)
    if len({sole.limb for sole in soles} & {marker.foot for marker in markers}) < len(soles):
        return None
    times = np.linspace(motion.start, motion.end, max(round(motion.duration / STEP), 2) + 1)
    poses = motion.sample(times).q
    points = np.stack([take_contact_places(character, q) for q in poses])
    heel, ball = _standing_parts(soles, points, lift_height)
    low = _lowest(soles, points)
    _keep_a_foot(heel, ball, low)
    _overlap(heel, ball)
    _keep_the_last(heel, ball, low)
    flags = np.zeros((len(times), len(markers)), bool)
    for k, marker in enumerate(markers):
        for i, sole in enumerate(soles):
            if sole.limb == marker.foot:
                flags[:, k] = (heel if marker.part == "heel" else ball)[:, i]
    ground = plan_ground(character, times, poses, windows_of(times, markers, flags), 0.0, CLEARANCE)
    count = points.shape[1]
    standing = ground.stands[:, :count]
    bearing = standing | np.concatenate(
        [ball[:, i : i + 1] & sole.ball[None, :] for i, sole in enumerate(soles)], axis=1
    )
    flat = np.concatenate([np.repeat((heel & ball)[:, i : i + 1], len(s.bodies), 1) for i, s in enumerate(soles)], 1)
    kept = standing & ~(flat & toe_points(character))
    if _needs_fit(points, ground, standing):
        fitted = place_feet(character, poses, STEP, ground)
        if motion.loop:
            close_loop(motion, poses, fitted)
        motion = replace(motion, times=times, poses=fitted)
    return Footwork(motion, kept, bearing)


def _standing_parts(soles: Sequence[Sole], points: Array, lift_height: float) -> tuple[Flags, Flags]:
    """Returns when heel and ball of every foot stand, (n, feet) each, from the places of all points, (n, p, 3)."""
    n = len(points)
    heel, ball = np.zeros((n, len(soles)), bool), np.zeros((n, len(soles)), bool)
    first = 0
    for i, sole in enumerate(soles):
        own = points[:, first : first + len(sole.bodies)]
        first += len(sole.bodies)
        stands = _stands(own[:, :, 2].min(axis=1), own[:, :, :2].mean(axis=1), lift_height)
        for part, least, out in ((sole.heel, HEEL_RISE, heel), (sole.ball, BALL_RISE, ball)):
            out[:, i] = stands & ~_raised(own[:, part, 2].min(axis=1), lift_height, least)
        neither = stands & ~heel[:, i] & ~ball[:, i]  # heel and ball take turns
        ball[neither, i] = True
    return heel, ball


def _stands(heights: Array, places: Array, lift_height: float) -> Flags:
    """Returns when a foot stands, (n,), from the height of its lowest point (n,) and its place over the ground (n, 2).

    A stance that ends with a low lift goes on where the foot comes down near the place where it stood.
    """
    lifted: Flags = heights > lift_height
    fast: Flags = np.linalg.norm(np.gradient(places, STEP, axis=0), axis=1) > MOVING_SPEED
    for first, last in spells(fast):
        if np.linalg.norm(places[min(last, len(places) - 1)] - places[max(first - 1, 0)]) > TRAVEL:
            lifted[first:last] = True
    stands: Flags = ~lifted
    _drop_short(stands, SHORTEST_STANCE)
    stances = spells(stands)
    for k in range(1, len(stances)):
        (start, first), (last, end) = stances[k - 1], stances[k]
        near = (
            np.linalg.norm(np.median(places[start:first], axis=0) - np.median(places[last:end], axis=0)) < STEP_LENGTH
        )
        if near and heights[first:last].max() < LOW_LIFT:
            stands[first:last] = True
            stances[k] = (start, end)
    return stands


def _raised(heights: Array, lift_height: float, least: float) -> Flags:
    """Returns when a part is raised, (n,): for at least SHORTEST_RISE, and by at least `least` [m] at some time."""
    raised: Flags = heights > lift_height
    for first, last in spells(raised):
        if heights[first:last].max() < least:
            raised[first:last] = False
    _drop_short(raised, SHORTEST_RISE)
    lowered: Flags = ~raised
    _drop_short(lowered, SHORTEST_RISE)
    return ~lowered


def _drop_short(flags: Flags, shortest: float) -> None:
    """Removes, in place, spells of flags (n,) that are shorter than `shortest` [s], except at the ends."""
    for first, last in spells(flags):
        if last - first < round(shortest / STEP) and first > 0 and last < len(flags):
            flags[first:last] = False


def _keep_a_foot(heel: Flags, ball: Flags, low: Array) -> None:
    """Changes when heels and balls stand, in place, so that low feet do not all go at once.

    The foot that stands again first goes first; the others wait for it where they are, and go then. Where all of them
    slide for long, they go by turns.
    """
    shortest = round(SHORTEST_SWING / STEP)
    in_air: Flags = ~np.asarray((heel | ball).any(axis=1))
    for first, last in spells(in_air):
        if _flies(low, first, last):
            continue
        if last == len(heel) or first == 0:  # the clip begins or ends here: all feet stand where they are
            heel[first:last] = ball[first:last] = True
            continue
        if last - first > round(LONGEST_SHUFFLE / STEP):
            for turn, start in enumerate(range(first, last, round(TURN_TIME / STEP))):
                stay = np.arange(heel.shape[1]) != turn % heel.shape[1]
                rows = slice(start, min(start + round(TURN_TIME / STEP), last))
                heel[rows, stay] = ball[rows, stay] = True
            continue
        stood = np.flatnonzero(heel[first - 1] | ball[first - 1]).tolist()
        stands_next = np.flatnonzero(heel[last] | ball[last]).tolist()
        leader = stands_next[0] if stands_next else -1
        for i in stood:
            if i != leader or len(stood) == 1:
                heel[first:last, i], ball[first:last, i] = heel[first - 1, i], ball[first - 1, i]
                if i != leader:
                    heel[last : last + shortest, i] = ball[last : last + shortest, i] = False


def _lowest(soles: Sequence[Sole], points: Array) -> Array:
    """Returns the height of the lowest point of every foot, (n, feet) [m]."""
    ends = np.cumsum([len(sole.bodies) for sole in soles]).tolist()
    return np.stack([points[:, e - len(s.bodies) : e, 2].min(axis=1) for s, e in zip(soles, ends, strict=True)], axis=1)


def _flies(low: Array, first: int, last: int) -> bool:
    """Returns whether every foot gets too high for a shuffle."""
    return bool(low[first:last].min(axis=1).max() > SHUFFLE_HEIGHT)


def _keep_the_last(heel: Flags, ball: Flags, low: Array) -> None:
    """Changes when heels and balls stand, in place: the last feet that stood wait for the next ones."""
    in_air: Flags = ~np.asarray((heel | ball).any(axis=1))
    for first, last in spells(in_air):
        if first > 0 and not _flies(low, first, last):
            heel[first:last], ball[first:last] = heel[first - 1], ball[first - 1]


def _overlap(heel: Flags, ball: Flags) -> None:
    """Changes when heels and balls stand, in place: a foot that comes down takes over before the others leave."""
    least, shortest = round(OVERLAP / STEP), round(SHORTEST_SWING / STEP)
    n = len(heel)
    for now in range(1, n):
        stood = heel[now - 1] | ball[now - 1]
        landing = (heel[now] | ball[now]) & ~stood
        later = min(now + least, n - 1)
        if not landing.any() or (stood & (heel[now] | ball[now]) & (heel[later] | ball[later])).any():
            continue
        for i in np.flatnonzero(stood).tolist():
            end = now + least
            goes = not (heel[now : end + 1, i] | ball[now : end + 1, i]).all()
            heel[now:end, i] |= heel[now - 1, i]
            ball[now:end, i] |= ball[now - 1, i]
            if goes:
                heel[end : end + shortest, i] = ball[end : end + shortest, i] = False


def _needs_fit(points: Array, ground: GroundPlan, standing: Flags) -> bool:
    """Returns whether a point that stands is not at its place, or one that goes is lower than planned."""
    count = points.shape[1]
    off = np.linalg.norm(points - ground.places[:, :count], axis=2)
    below = ground.places[:, :count, 2] - points[:, :, 2]
    return bool((off[standing] > EXACT).any() or (below[~standing] > EXACT).any())
