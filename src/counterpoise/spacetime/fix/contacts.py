"""Contacts as a fix needs them: stances lengthened while the toes still push.

Contacts that are found by speed end early and begin late. At take-off the toes still carry the body, a landing foot has
its toes down before it rests, and a foot that pivots slowly counts as moving. A stance is therefore lengthened at each
end for as long as ball and toes are where they are in the stance, and the body needs to be carried.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
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
from counterpoise.spacetime.fix.tuning import FixTuning

REFERENCE_LEG = 0.9  # [m] the length of leg for which the following distances and speeds are given
MAX_SHIFT = 0.02  # [m] a point further than this from its place in the stance has left
MAX_WIDENED_SHIFT = 0.03  # [m] the same for contacts found a second time
MAX_SPEED = 0.35  # [m/s] a faster point has left, or has not arrived
MAX_ARRIVAL_SPEED, MAX_DEPARTURE_SPEED = 0.5, 0.3  # [m/s] of contacts found a second time
MIN_LOAD = 0.2  # [body weights] a body that needs less is in the air


def lengthen_contacts(
    character: Character,
    times: Array,
    poses: Array,
    contacts: Sequence[ContactWindow],
    load: Array,
    tuning: FixTuning,
) -> tuple[ContactWindow, ...]:
    """Returns the contacts with lengthened stances; `load` (n,) is the upward force each frame needs [body weights]."""
    at = anatomy_of(character)
    markers = foot_markers(at)
    flags = flags_of(times, markers, contacts)
    places, turns = body_frames(character, poses)
    size = leg_length(at) / REFERENCE_LEG
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    longest = round(tuning.longest_extension / step)
    for sole, (heel, ball) in led_feet(at, markers, flags):
        column = next((k for k, m in enumerate(markers) if (m.foot, m.part) == (sole.limb, "ball")), None)
        front = sole.toes if sole.toes.any() else sole.ball
        if column is None or not front.any():
            continue
        path = places[:, sole.bodies[front]] + spatial.rotate(turns[:, sole.bodies[front]], sole.locals[front])
        speed = np.linalg.norm(np.gradient(path, times, axis=0), axis=-1).max(axis=1) if len(times) > 1 else np.zeros(1)
        may_stand = (speed <= MAX_SPEED * size) & (load >= MIN_LOAD)
        flags[:, column] = _lengthen_ball(path, heel, ball, may_stand, MAX_SHIFT * size, longest)
    return tuple(windows_of(times, markers, flags))


def _lengthen_ball(path: Array, heel: Flags, ball: Flags, may_stand: Flags, shift: float, longest: int) -> Flags:
    """Returns the frames (n,) in which the ball stands, lengthened by at most `longest` frames at each end.

    `path` (n, points, 3) are the places of the front of the foot; a frame is added while all are within `shift`.
    """
    longer = ball.copy()
    for first, last in runs(heel | ball):
        down = np.flatnonzero(ball[first:last]) + first
        if len(down) == 0:
            continue
        for edge, way in ((int(down[0]), -1), (int(down[-1]), 1)):
            near: Ints = down[: longest + 1] if way < 0 else down[-longest - 1 :]
            stance = np.median(path[near], axis=0)
            f = edge + way
            while 0 <= f < len(path) and abs(f - edge) <= longest and not ball[f]:
                if np.linalg.norm(path[f] - stance, axis=-1).max() > shift or not may_stand[f]:
                    break
                longer[f] = True
                f += way
    return longer


def widen_contacts(
    character: Character,
    times: Array,
    poses: Array,
    first: Sequence[ContactWindow],
    second: Sequence[ContactWindow],
    tuning: FixTuning,
) -> tuple[ContactWindow, ...]:
    """Returns the first contacts, with those parts of the second that connect two of them or extend one slowly."""
    at = anatomy_of(character)
    markers = foot_markers(at)
    now, more = flags_of(times, markers, first), flags_of(times, markers, second)
    paths = marker_paths(markers, *body_frames(character, poses))
    size = leg_length(at) / REFERENCE_LEG
    speeds = np.linalg.norm(np.gradient(paths, times, axis=0), axis=-1) / size
    step = float(np.median(np.diff(times)))
    near = max(1, round(tuning.longest_extension / step))
    for k in range(len(markers)):
        path, speed, stands = paths[:, k], speeds[:, k], now[:, k].copy()
        for a, b in runs(more[:, k] & ~stands):
            leaves, arrives = a > 0 and bool(stands[a - 1]), b < len(times) and bool(stands[b])
            stances = [np.median(path[max(0, a - near) : a], axis=0)] if leaves else []
            stances += [np.median(path[b : b + near], axis=0)] if arrives else []
            if not stances:
                continue
            shift = np.max([np.linalg.norm(path[a:b] - stance, axis=-1) for stance in stances], axis=0)
            if leaves and arrives:
                now[a:b, k] = shift.max() < MAX_WIDENED_SHIFT * size
            else:
                fastest = MAX_ARRIVAL_SPEED if arrives else MAX_DEPARTURE_SPEED
                now[a:b, k] = (speed[a:b] < fastest) & (shift < MAX_WIDENED_SHIFT * size)
    return tuple(windows_of(times, markers, now))


def within_reach(
    character: Character, times: Array, poses: Array, contacts: Sequence[ContactWindow], highest: float
) -> tuple[ContactWindow, ...]:
    """Returns the contacts of feet whose lowest point has a median height below `highest` [m].

    The other feet stand on something that is not shown.
    """
    lowest = _lowest_points(character, times, poses)
    kept = []
    for window in contacts:
        here = _during(times, window)
        if window.foot not in lowest or not here.any() or float(np.median(lowest[window.foot][here])) < highest:
            kept.append(window)
    return tuple(kept)


def standing_heights(character: Character, times: Array, poses: Array, contacts: Sequence[ContactWindow]) -> Array:
    """Returns the height of the lowest point of every foot in every frame in which it stands (frames,) [m]."""
    lowest = _lowest_points(character, times, poses)
    stands: dict[str, Flags] = {}
    for window in contacts:
        if window.foot in lowest:
            stands[window.foot] = stands.get(window.foot, np.zeros(len(times), dtype=bool)) | _during(times, window)
    return np.concatenate([np.zeros(0), *(lowest[foot][flags] for foot, flags in stands.items())])


def _lowest_points(character: Character, times: Array, poses: Array) -> dict[str, Array]:
    """Returns the height (n,) of the lowest point of the sole of every foot [m]."""
    at = anatomy_of(character)
    markers = foot_markers(at)
    places, turns = body_frames(character, poses)
    out: dict[str, Array] = {}
    for sole, _ in led_feet(at, markers, np.zeros((len(times), len(markers)), dtype=bool)):
        points = places[:, sole.bodies] + spatial.rotate(turns[:, sole.bodies], sole.locals)
        out[sole.limb] = points[:, :, 2].min(axis=1)
    return out


def _during(times: Array, window: ContactWindow) -> Flags:
    return np.asarray((times >= window.start - 1e-9) & (times <= window.end + 1e-9))
