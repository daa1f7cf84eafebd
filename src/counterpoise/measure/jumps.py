"""Jumps in a recording: every flight with its height, way, turn and spread, and how it landed.

A flight is a stretch without ground contact. Lengths, speeds and times below are in proportion to the body, so that a
chicken is judged like a person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.track import point_path
from counterpoise.control.standing_body import standing_body
from counterpoise.errors import MissingRole
from counterpoise.measure.balance import STANDING_LOAD, foot_forces, gravity_of, ground_force, weight_of
from counterpoise.simulate.recording import Recording

SHORTEST_FLIGHT = 0.06  # [s] times the body's pace; shorter stretches without contact are bounces
LONGEST_GRAZE = 0.02  # [s] a contact shorter than this does not end a flight
NO_LOAD = 1e-3  # [body weights] a ground force below this is none
LANDING_TIME = 0.3  # [s] times the pace: so long a landing lasts, at least
PEAK_WINDOW = 0.01  # [s] over which the force of a landing is averaged
STEP = 0.028  # [body heights] a foot that moves farther than this after touch-down has stepped (5 cm for a person)
STILL_SPEED = 0.02  # [sqrt(g CoM height)] of the CoM of a body that stands still (6 cm/s for a person)
STILL_TIME = 0.3  # [s] times the pace: so long it is still, at least
NO_SOLE = 1e-3  # [m] soles smaller than this have no heading
STANDING_SHARE = 0.8  # [standing CoM heights] a CoM lower than this above the feet does not stand


@dataclass(frozen=True)
class JumpFlight:
    """One flight of a recording. Way and turn are seen from where the body stood and faced before it."""

    takeoff: float  # [s] when the last foot leaves the ground
    landing: float | None  # [s] when the ground is touched again; None: not before the recording ends
    rise: float  # [m] of the CoM above its standing height, over the higher of the grounds it left and landed on
    forward: float  # [m] of the middle of the feet, from standing to standing
    side: float  # [m] to the left
    turn: float  # [deg] of the feet to the left, full turns counted
    clearance: float  # [m] largest height of the lowest contact point above the higher of the two grounds
    spread: float  # [m] largest distance between the middles of two feet in the air
    reach: (
        float  # [m] smallest distance in the air between the CoM and the foot farthest from it; a tuck makes it small
    )
    peak: float  # [body weights] largest ground force of the landing, averaged over 10 ms
    steps: int  # feet that moved after touch-down
    stood: float | None  # [s] from landing until it stands still; None: it does not


def jumps(recording: Recording, figure: int = 0) -> tuple[JumpFlight, ...]:
    """Returns the flights of a figure, in order.

    Headings are those of the feet: how their soles lie, not where they stand, so that a step or a turn of the trunk
    counts for nothing. Full turns are counted by the root, which means little for a body that turns head over heels.
    """
    body = recording.figures[figure]
    if not body.feet:
        raise MissingRole(f"{body.name!r} has no feet, so it cannot be said to jump")
    course = _course(recording, figure)
    spans = _flights(course)
    return tuple(
        _flight(course, span, spans[i - 1][1] if i else 0, spans[i + 1][0] if i + 1 < len(spans) else None)
        for i, span in enumerate(spans)
    )


@dataclass(frozen=True, eq=False)
class _Course:
    """What is read from a recording, row by row."""

    time: Array  # (n,) [s]
    com: Array  # (n, 3)
    feet: Array  # (f, n, 3) middles of the soles
    lowest: Array  # (n,) height of the lowest contact point
    soles: Array  # (p, n, 2) contact points, seen from the middle of their foot
    turn: Array  # (n,) [rad] of the root from the neutral pose's heading
    load: Array  # (n,) [body weights] ground force
    loaded: Flags  # (f, n) whether a foot bears weight
    still: Flags  # (n,) whether a still stretch begins here
    neutral: Array  # (p, 2) contact points of the neutral pose, seen from the middle of their foot
    size: float  # [m] standing height of the CoM
    pace: float  # sqrt of it, 1 for a CoM at 1 m
    height: float  # [m] of the body


def _course(recording: Recording, figure: int) -> _Course:
    body, track = recording.figures[figure], recording.track(figure)
    size, weight = standing_body(body).height, weight_of(recording, figure)
    paths = [[point_path(body, track, p.body, p.position) for p in foot.points] for foot in body.feet]
    feet = np.array([np.mean(points, axis=0) for points in paths])
    lowest = np.min([path[:, 2] for points in paths for path in points], axis=0)
    soles = np.array(
        [path[:, :2] - middle[:, :2] for points, middle in zip(paths, feet, strict=True) for path in points]
    )
    root = track.rotations[:, body.body_id(body.root)]
    away = root @ body.snapshot().rotation(body.root).T
    turn = np.unwrap(np.arctan2(away[:, 1, 0] - away[:, 0, 1], away[:, 0, 0] + away[:, 1, 1]))
    load = np.linalg.norm(ground_force(recording, figure), axis=1) / weight
    load[-1] = load[-2] if len(load) > 1 else load[-1]  # the last row has no step, so no forces
    loaded = np.array([f[:, 2] > STANDING_LOAD * weight for f in foot_forces(recording, figure).values()])
    speed = np.linalg.norm(track.momentum[:, 3:], axis=1) / body.mass
    pace = math.sqrt(size)
    calm = speed < STILL_SPEED * math.sqrt(gravity_of(recording) * size)
    calm &= (track.com[:, 2] - lowest > STANDING_SHARE * size) & (load > NO_LOAD)
    stands = body.snapshot().contact_position[:, :2]
    ends = np.cumsum([0, *(len(foot.points) for foot in body.feet)])
    neutral = np.concatenate([stands[i:j] - stands[i:j].mean(axis=0) for i, j in pairwise(ends)])
    return _Course(
        recording.time, track.com, feet, lowest, soles, turn, load, loaded,
        _lasting(calm, round(STILL_TIME * pace / recording.timestep)), neutral, size, pace, body.height,
    )  # fmt: skip


def _lasting(flags: Flags, rows: int) -> Flags:
    """Returns where a stretch of at least `rows` true flags begins or goes on for that long."""
    out = np.zeros(len(flags), bool)
    count = 0
    for i in range(len(flags) - 1, -1, -1):
        count = count + 1 if flags[i] else 0
        out[i] = count >= rows
    return out


def _flights(course: _Course) -> list[tuple[int, int]]:
    """Returns the first row in the air and the first row after it of every flight; bounces are left out."""
    step = float(course.time[1] - course.time[0]) if len(course.time) > 1 else 1.0
    air = course.load < NO_LOAD
    edges = np.flatnonzero(np.diff(np.concatenate([[False], air, [False]]).astype(np.int8)))
    spans: list[tuple[int, int]] = []
    for first, after in edges.reshape(-1, 2).tolist():
        if spans and (first - spans[-1][1]) * step < LONGEST_GRAZE * course.pace:
            spans[-1] = (spans[-1][0], after)
        else:
            spans.append((first, after))
    return [s for s in spans if s[0] > 0 and (s[1] - s[0]) * step >= SHORTEST_FLIGHT * course.pace]


def _flight(c: _Course, span: tuple[int, int], before: int, following: int | None) -> JumpFlight:
    """Returns one flight; `before` is the row of the landing before it, `following` that of the next take-off."""
    first, after = span
    landed = after < len(c.time)
    end = len(c.time) if following is None else following
    start = before + int(np.argmax(c.still[before:first])) if c.still[before:first].any() else before
    still = c.still[after:end]
    rest = after + int(np.argmax(still)) if still.any() else None
    judged = rest if rest is not None else max(min(end, len(c.time)) - 1, first)
    way = c.feet[:, judged, :2].mean(axis=0) - c.feet[:, start, :2].mean(axis=0)
    facing = _heading(c, start)
    ground = max(float(c.lowest[first]), float(c.lowest[after]) if landed else -math.inf)
    return JumpFlight(
        takeoff=float(c.time[first]),
        landing=float(c.time[after]) if landed else None,
        rise=float(c.com[first:after, 2].max()) - ground - c.size,
        forward=float(way[0] * math.cos(facing) + way[1] * math.sin(facing)),
        side=float(way[1] * math.cos(facing) - way[0] * math.sin(facing)),
        turn=math.degrees(_turned(c, start, judged)),
        clearance=float(c.lowest[first:after].max()) - ground,
        spread=_spread(c.feet[:, first:after]),
        reach=float(np.linalg.norm(c.feet[:, first:after] - c.com[first:after], axis=2).max(axis=0).min()),
        peak=_peak(c, after, end if rest is None else min(max(rest, after + _rows(c, LANDING_TIME * c.pace)), end)),
        steps=_steps(c, after, end if following is None or rest is None else rest + 1),
        stood=None if rest is None else float(c.time[rest] - c.time[after]),
    )


def _heading(c: _Course, row: int) -> float:
    """Returns the heading of the feet in a row [rad]; 0 is that of the neutral pose."""
    return _fit(c.neutral, c.soles[:, row], float(c.turn[row]))


def _turned(c: _Course, start: int, end: int) -> float:
    """Returns how far the feet have turned between two rows [rad]; the root tells how many full turns that was."""
    return _fit(c.soles[:, start], c.soles[:, end], float(c.turn[end] - c.turn[start]))


def _fit(before: Array, after: Array, near: float) -> float:
    """Returns the angle by which points (p, 2) are turned, of all full turns the one next to `near` [rad].

    Feet of single points have no heading of their own: then it is `near`.
    """
    along, across = (before * after).sum(), (before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]).sum()
    if math.hypot(along, across) < NO_SOLE**2:
        return near
    return near + math.remainder(math.atan2(across, along) - near, 2.0 * math.pi)


def _spread(feet: Array) -> float:
    return max((float(np.linalg.norm(a - b, axis=1).max()) for a, b in combinations(feet, 2)), default=0.0)


def _peak(c: _Course, first: int, end: int) -> float:
    """Returns the largest load from row `first` on, averaged over PEAK_WINDOW."""
    if first >= end:
        return 0.0
    rows = _rows(c, PEAK_WINDOW)
    load = np.concatenate([np.zeros(rows - 1), c.load[first:end]])
    return float(np.convolve(load, np.full(rows, 1.0 / rows), "valid").max())


def _rows(c: _Course, seconds: float) -> int:
    """Returns how many rows a time has, at least one."""
    return max(1, round(seconds / float(c.time[1] - c.time[0])))


def _steps(c: _Course, first: int, end: int) -> int:
    """Returns how many feet moved along the ground after they touched down."""
    count = 0
    for foot, loaded in zip(c.feet, c.loaded, strict=True):
        down = np.flatnonzero(loaded[first:end])
        if len(down):
            path = foot[first + down[0] : end, :2]
            count += bool(np.linalg.norm(path - path[0], axis=1).max() > STEP * c.height)
    return count
