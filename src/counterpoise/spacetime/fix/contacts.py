"""Contacts as a fix needs them: the toes that still push when a foot was last found standing stay where they are.

Contacts found by speed end early and begin late: at take-off the toes still carry the body, a landing foot has its toes
down before it rests, and a foot that pivots slowly was let go. A stance is therefore lengthened, at either end, for as
long as ball and toes are still (or already) where they are in the stance, and the body needs to be carried.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.motion.contacts import (
    ContactWindow,
    flags_of,
    foot_markers,
    leg_length,
    marker_paths,
    runs,
    windows_of,
)
from counterpoise.motion.retarget.soles import led_feet

STAYS = 0.02  # [m] (of a leg of 0.9 m) a point nearer than this to where it stood has not left
SLOW = 0.35  # [m/s] and one that is faster has not arrived
ARRIVES, LEAVES = 0.5, 0.3  # [m/s] what is faster than this was not seen standing for good reason
LONGEST = 0.15  # [s] a stance grows by at most this at either end
CARRIED = 0.2  # body weights: a body that needs less is in the air


def lengthen_contacts(
    who: Character, times: Array, poses: Array, contacts: Sequence[ContactWindow], load: Array
) -> tuple[ContactWindow, ...]:
    """The contacts with the ball's lengthened; `load` (n,) is the upward force each frame needs [body weights]."""
    at = anatomy_of(who)
    markers = foot_markers(at)
    flags = flags_of(times, markers, contacts)
    places, turns = body_frames(who, poses)
    size = leg_length(at) / 0.9
    stays = STAYS * size
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    most = round(LONGEST / step)
    for sole, (heel, ball) in led_feet(at, markers, flags):
        column = next((k for k, m in enumerate(markers) if (m.foot, m.part) == (sole.limb, "ball")), None)
        fore = sole.toes if sole.toes.any() else sole.ball
        if column is None or not fore.any():
            continue
        path = places[:, sole.bodies[fore]] + spatial.rotate(turns[:, sole.bodies[fore]], sole.locals[fore])
        speed = np.linalg.norm(np.gradient(path, times, axis=0), axis=-1).max(axis=1) if len(times) > 1 else np.zeros(1)
        grown = ball.copy()
        for first, last in runs(heel | ball):
            down = np.flatnonzero(ball[first:last]) + first
            if len(down) == 0:
                continue
            for edge, way in ((int(down[0]), -1), (int(down[-1]), 1)):
                near = path[down[: most + 1] if way < 0 else down[-most - 1 :]]
                home = np.median(near, axis=0)
                f = edge + way
                while 0 <= f < len(times) and abs(f - edge) <= most and not ball[f]:
                    away = np.linalg.norm(path[f] - home, axis=-1).max()
                    if away > stays or speed[f] > SLOW * size or load[f] < CARRIED:
                        break
                    grown[f] = True
                    f += way
        flags[:, column] = grown
        behind = next((k for k, m in enumerate(markers) if (m.foot, m.part) == (sole.limb, "heel")), None)
        if behind is not None:
            for first, last in runs(~heel & grown):  # a flat foot that pivots lies flat
                flat = first > 0 and last < len(times) and heel[first - 1] and heel[last]
                if flat and not ball[first:last].all() and last - first <= 2 * most:
                    flags[first:last, behind] = True
    return tuple(windows_of(times, markers, flags))


def widen_contacts(
    who: Character, times: Array, poses: Array, first: Sequence[ContactWindow], second: Sequence[ContactWindow]
) -> tuple[ContactWindow, ...]:
    """The first contacts, and of the second what joins two of the first, or is no faster than a foot that arrives."""
    at = anatomy_of(who)
    markers = foot_markers(at)
    now, more = flags_of(times, markers, first), flags_of(times, markers, second)
    paths = marker_paths(markers, *body_frames(who, poses))
    speeds = np.linalg.norm(np.gradient(paths, times, axis=0), axis=-1) / (leg_length(at) / 0.9)
    step = float(np.median(np.diff(times)))
    some, near = max(1, round(LONGEST / step)), 1.5 * STAYS * leg_length(at) / 0.9
    for k in range(len(markers)):
        path, speed, seen = paths[:, k], speeds[:, k], now[:, k].copy()
        for a, b in runs(more[:, k] & ~seen):
            leaves, arrives = a > 0 and bool(seen[a - 1]), b < len(times) and bool(seen[b])
            homes = [np.median(path[max(0, a - some) : a], axis=0)] if leaves else []
            homes += [np.median(path[b : b + some], axis=0)] if arrives else []
            if not homes:
                continue
            away = np.max([np.linalg.norm(path[a:b] - home, axis=-1) for home in homes], axis=0)
            if leaves and arrives:
                now[a:b, k] = away.max() < near
            else:
                now[a:b, k] = (speed[a:b] < (ARRIVES if arrives else LEAVES)) & (away < near)
    return tuple(windows_of(times, markers, now))


def within_reach(
    who: Character, times: Array, poses: Array, contacts: Sequence[ContactWindow], highest: float
) -> tuple[ContactWindow, ...]:
    """The contacts of feet whose lowest point is, as a rule, below `highest` [m]: others stand on what is not shown."""
    at = anatomy_of(who)
    markers = foot_markers(at)
    places, turns = body_frames(who, poses)
    lowest: dict[str, Array] = {}
    for sole, _ in led_feet(at, markers, np.zeros((len(times), len(markers)), dtype=bool)):
        points = places[:, sole.bodies] + spatial.rotate(turns[:, sole.bodies], sole.locals)
        lowest[sole.limb] = points[:, :, 2].min(axis=1)
    kept = []
    for window in contacts:
        here = (times >= window.start - 1e-9) & (times <= window.end + 1e-9)
        if window.foot not in lowest or not here.any() or float(np.median(lowest[window.foot][here])) < highest:
            kept.append(window)
    return tuple(kept)
