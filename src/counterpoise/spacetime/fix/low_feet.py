"""Low, slow feet are candidates for standing: each is planted where that costs little, or steps where it does not.

Contacts that are found by speed leave out feet that creep: a foot that is down for a moment of a run, one that
shuffles, the heel just before it rests, the toes just before they leave. In a fixed motion all of these would slide. So
every part of a foot that is low and slow is a candidate. Planting costs how far the foot has to be moved. Next to a
stance that is known, candidates join it as far as they are near its place. Others are stances of their own; where one
place would not do, a stance is split into two where that leaves the least to move, with a short step between (`steps`).

What is low depends on what carries the body. Captured ground is not level to the centimetre, and a foot that stumbles
or runs is down for a tenth of a second. Where a body has to be carried and no foot is at the ground, it stands on its
lower foot, even if that is some centimetres up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.motion.contacts import (
    REFERENCE_LEG,
    ContactWindow,
    FootMarker,
    flags_of,
    foot_markers,
    leg_length,
    marker_paths,
    runs,
    windows_of,
)
from counterpoise.motion.retarget.soles import Sole, led_feet
from counterpoise.spacetime.fix.steps import FARTHEST, join_or_step, plant_cost
from counterpoise.spacetime.fix.tuning import FixTuning

MIN_LOAD = 0.2  # [body weights] a body that needs less is in the air
CARRIED_LOAD = 0.5  # [body weights] a body that needs more stands on its lower foot, if on nothing else
LONGEST_INTERRUPTION = 0.08  # [s] in which a low foot may be faster
SHORTEST = 0.08  # [s] shorter stances are left out
TURN_LEVER = 0.1  # [m/rad] a foot that turns counts as one that moves by this


@dataclass(frozen=True, eq=False)
class _Foot:
    """One foot: which parts may stand, and where it would stand, by frame."""

    heel: Flags  # (n,)
    ball: Flags  # (n,)
    place: Array  # (n, 3) [m, m, m] where the front of the foot is or would be if it were flat, and its heading x lever


def plant_low_feet(
    character: Character, times: Array, poses: Array, placed: Array, contacts: Sequence[ContactWindow], load: Array,
    floor: float, tuning: FixTuning,
) -> tuple[ContactWindow, ...]:  # fmt: skip
    """Returns the contacts with all low, slow feet planted that can be.

    `poses` (n, nq) are as captured, and show speeds; `placed` (n, nq) have the feet of `contacts` on the ground, and
    show heights. `load` (n,) is the upward force that each frame needs [body weights].
    """
    at = anatomy_of(character)
    markers = foot_markers(at)
    flags = flags_of(times, markers, contacts)
    size = leg_length(at) / REFERENCE_LEG
    captured, seen = body_frames(character, poses), body_frames(character, placed)
    paths = marker_paths(markers, *captured)
    heights = marker_paths(markers, *seen)[:, :, 2] - floor - np.array([m.height for m in markers])
    ground = _ground_under(heights, markers, flags, load, size, tuning)
    low, slow = heights < ground + tuning.low * size, _speeds(times, paths) < tuning.slow * size
    carried = load >= MIN_LOAD
    out = flags.copy()
    for sole, (heel, ball) in led_feet(at, markers, flags):
        column = {m.part: k for k, m in enumerate(markers) if m.foot == sole.limb}
        if "ball" not in column or "heel" not in column:
            continue
        mine = [column["heel"], column["ball"]]
        new_heel = heel | _closed(times, low[:, mine[0]] & carried, slow[:, mine[0]])
        new_ball = ball | _closed(times, low[:, mine[1]] & carried, slow[:, mine[1]])
        front = paths[:, mine[1]]
        if sole.toes.any():
            front, heights_of_tips = (_tips(sole, frames) for frames in (captured, seen))
            low_tips = heights_of_tips[:, 2] < floor + ground[:, mine[1]] + tuning.low * size
            new_ball |= _closed(times, low_tips & carried, _speeds(times, front[:, None])[:, 0] < tuning.slow * size)
        may_stand = _Foot(new_heel, new_ball, _places(paths[:, mine[0]], front, new_ball))
        foot = _stances(times, may_stand, heel | ball, size, tuning)
        near = heights[:, mine].min(axis=1) < ground[:, mine[1]] + tuning.low * size
        stands = join_or_step(times, foot.heel, foot.ball, near, foot.place, tuning.plant_reach * size, tuning)
        out[:, mine] = np.stack(stands, axis=1)
    return tuple(windows_of(times, markers, out))


def _ground_under(
    heights: Array, markers: Sequence[FootMarker], flags: Flags, load: Array, size: float, tuning: FixTuning
) -> Array:
    """Returns the height (n, markers) above the floor on which each part of a foot may stand [m].

    It is 0, but for the lower foot of a body that has to be carried while no foot is at the ground: that foot's own.
    """
    out = np.zeros_like(heights)
    feet = dict.fromkeys(m.foot for m in markers)
    if not feet:
        return out
    columns = [[k for k, m in enumerate(markers) if m.foot == foot] for foot in feet]
    lowest = np.stack([heights[:, mine].min(axis=1) for mine in columns], axis=1)
    alone = (load >= CARRIED_LOAD) & ~flags.any(axis=1) & (lowest.min(axis=1) >= tuning.low * size)
    alone &= lowest.min(axis=1) < tuning.raised_ground * size
    for k, mine in enumerate(columns):
        here = alone & (lowest.argmin(axis=1) == k)
        out[np.ix_(here, mine)] = lowest[here, k, None]
    return out


def _speeds(times: Array, paths: Array) -> Array:
    """Returns horizontal speeds (n, p) of paths (n, p, 3) [m/s]."""
    return np.asarray(np.linalg.norm(np.gradient(paths[:, :, :2], times, axis=0), axis=-1))


def _tips(sole: Sole, frames: tuple[Array, Array]) -> Array:
    """Returns the mean place (n, 3) of the tips of the toes, which leave last [m]."""
    bodies, local = sole.bodies[sole.toes], sole.locals[sole.toes]
    return np.asarray((frames[0][:, bodies] + spatial.rotate(frames[1][:, bodies], local)).mean(axis=1))


def _closed(times: Array, low: Flags, slow: Flags) -> Flags:
    """Returns the frames (n,) that are low and slow, with those short interruptions in which it is low but faster."""
    out = low & slow
    for first, last in runs(low & ~slow):
        inner = first > 0 and last < len(low) and out[first - 1] and out[last]
        if inner and times[last] - times[first - 1] < LONGEST_INTERRUPTION:
            out[first:last] = True
    return out


def _places(heel: Array, front: Array, front_stands: Flags) -> Array:
    """Returns (n, 3): the place of the front, seen from the heel where only that stands, and the heading x lever."""
    way = front[:, :2] - heel[:, :2]
    heading = np.unwrap(np.arctan2(way[:, 1], way[:, 0]))
    length = float(np.median(np.linalg.norm(front - heel, axis=1)))
    flat = heel[:, :2] + length * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    return np.column_stack([np.where(front_stands[:, None], front[:, :2], flat), TURN_LEVER * heading])


def _stances(times: Array, foot: _Foot, known: Flags, size: float, tuning: FixTuning) -> _Foot:
    """Returns the foot with stances that need one place each.

    `known` (n,) are the stances found before: candidates next to one join it as far as they are near its place. Those
    that are not are stances of their own, split where one place would not do.
    """
    step = float(np.median(np.diff(times)))
    gap, shortest = max(1, round(0.5 * tuning.step_time / step)), max(2, round(SHORTEST / step))
    reach = tuning.plant_reach * size
    stands, free = known.copy(), (foot.heel | foot.ball) & ~known
    cores = runs(known)
    places = [np.median(foot.place[a:b], axis=0) for a, b in cores]
    end = 0  # of the stance before, and of the step after it
    for k, (first, last) in enumerate(cores):
        near = free & (np.linalg.norm(foot.place - places[k], axis=1) <= FARTHEST * reach)
        until = cores[k + 1][0] - 2 * gap if k + 1 < len(cores) else len(near)
        a, b = first, last
        while a > end and near[a - 1]:
            a -= 1
        while b < until and near[b]:
            b += 1
        stands[a:b] = True
        end = b + 2 * gap
    waiting = runs(free & ~_near(stands, 2 * gap))
    while waiting:
        first, last = waiting.pop()
        if last - first < shortest:
            continue
        if plant_cost(foot.place[first:last]) <= reach:
            stands[first:last] = True
        elif last - first >= 2 * (gap + shortest):
            middle = first + _best_cut(foot.place[first:last], gap + shortest)
            waiting += [(first, middle - gap), (middle + gap, last)]
    return _Foot(foot.heel & stands, foot.ball & stands, foot.place)


def _near(flags: Flags, frames: int) -> Flags:
    """Returns the frames (n,) that are within so many frames of a flag."""
    spread = np.convolve(flags, np.ones(2 * frames + 1))  # "same" would be longer than a clip of few frames
    return np.asarray(spread[frames : frames + len(flags)] > 0.5)


def _best_cut(path: Array, margin: int) -> int:
    """Returns where to cut a path (n, 3), `margin` frames from its ends: both parts are then nearest to their means."""
    n = len(path)
    count = np.arange(1, n + 1)[:, None]
    total, squares = np.cumsum(path, axis=0), np.cumsum(path**2, axis=0)
    before = (squares - total**2 / count).sum(axis=1)
    rest = np.maximum(n - count, 1)
    after = (squares[-1] - squares - (total[-1] - total) ** 2 / rest).sum(axis=1)
    at = np.arange(margin, n - margin)
    return int(at[np.argmin((before + after)[at - 1])])
