"""Goals of the feet: a swinging foot on its way to its foothold, and a foot that rolls over its ball."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.ground_line import GroundLine
from counterpoise.control.walk.over_edges import Obstruction, obstruction
from counterpoise.control.walk.planes import is_level, plane_at
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.step_plan import StepPlan
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import SIGN, WalkingBody, WalkingLeg
from counterpoise.kernels import inner_kernel, kernel, lean_kernel
from counterpoise.objectives.base import smooth_kernel, smooth_step
from counterpoise.terrain import Terrain

PHASE_STEP = 0.01  # of a swing, for the rates of its path
STIFFNESS = 28.5  # [1/leg time^2] of the height of a swinging foot
DAMPING = 10.5  # [1/leg time]
SOFT_START = 0.26  # [leg times] in which a foot that leaves the ground may begin to sink
LAND_FROM, LAND_TO = 0.84, 1.03  # shares of a swing between which the foot is put down
LAND_DEPTH = 1.3  # of its late clearance: it is aimed a little below the ground
EARLY = 0.06  # [leg times] before the landing at which the foot is at its place
EASY_FALL = 0.05  # [leg lengths] to lower ground for which the foot needs no time of its own, ...
SINK_SPEED = 0.5  # [sqrt(leg x g)] ... and the speed with which it sinks to the rest
SHORTEST = 0.2  # [leg times] in which it goes there
PASSED = 0.8  # of the distance at which a foot may cross: from there on it does
BESIDE = 0.2  # of the distance that feet keep across: a foot nearer than this has crossed, over uneven ground, ...
BESIDE_LEVEL = 0.8  # ... and on level ground
PASSING = 0.4  # [soles] behind the stance ankle: there a foot that passes it must be on its own side
ROUNDING = 0.36  # [ankle heights] radius of the sole's edges
CLEAR = 0.03  # [leg lengths] of the lowest point of a foot over an edge
OVER_EDGE = 0.9  # [leg times] in which a foot that has been held back goes on and lands
HOLD_BACK = 7.7  # [1/leg time] with which a foot is held back in front of an edge
DEEP, DEEP_HURRY = 0.03, 2.0  # [leg lengths, 1/leg time] a late foot that is higher than this sinks faster
LARGEST_BEND = 0.5  # [rad] of a swinging foot's ankle: its stop is beyond
HURRY = 7.7  # [1/leg time] with which a late foot is put down


class SwingGoal(NamedTuple):
    """What a swinging foot shall do now."""

    acceleration: Array  # (3,) of the ankle [m/s^2]
    pitch: float  # [rad]
    pitch_rate: float  # [rad/s]
    roll: float = 0.0  # [rad]
    waits: bool = False  # it is held back by an edge, and needs more time


def swing_goal(
    m: WalkMemory, seen: SeenBody, plan: StepPlan, landing: float, strike: float, lift: float, late: float,
    hurried: bool, snapshot: Snapshot, terrain: Terrain | None, body: WalkingBody, t: WalkTuning,
) -> SwingGoal:  # fmt: skip
    """Returns the goal of the swinging foot. Its sole rises by `lift` and stays `late` high until shortly before it
    lands [m], at a pitch of `strike` [rad] toe up and the heading `landing` [rad]."""
    assert m.time is not None
    i = 1 - m.stance
    leg, clock = body.legs[i], body.leg_time
    g = body.leg_speed**2 / body.hips_height
    place, speed = seen.ankle[i], seen.ankle_velocity[i]
    swung, left = m.time - m.lifted, plan.left
    whole = swung + max(left, 1e-2 * clock)
    # at heel strike the ankle is behind where it will be when the foot is flat
    shift = leg.heel_at * (1.0 - math.cos(strike)) - leg.ankle_height * math.sin(strike)
    goal = plan.foothold + shift * np.array([math.cos(landing), math.sin(landing)])
    uneven = terrain is not None or not (is_level(m.left_ground) and is_level(plan.ground))
    passes = 1.0 if uneven else _passes(goal, place, seen.flat[m.stance], landing, SIGN[i], body, t)
    if passes == 1.0:
        beside = BESIDE if uneven else BESIDE_LEVEL
        goal = _around(goal, place, seen.flat[m.stance], landing, SIGN[i], beside, body, t)
    at = np.array([*plan.foothold, plane_at(plan.ground, plan.foothold[0], plan.foothold[1]), *plan.ground[3:]])
    early = EARLY * clock
    if uneven:  # it sinks to lower ground when it is over it
        early += max(float(m.left_ground[2] - at[2]) - EASY_FALL * body.hips_height, 0.0) / (
            SINK_SPEED * body.leg_speed
        )
    time = max(left - early, SHORTEST * clock)
    acceleration = np.empty(3)
    acceleration[:2] = 6.0 * (goal - place[:2]) / time**2 - 4.0 * speed[:2] / time
    if passes < 1.0:  # first to its own side, then ahead
        acceleration[:2] += _sideways(goal - place[:2], speed[:2], landing, time, max(passes * time, SHORTEST * clock))
    line = GroundLine(m.left_ground, at, landing, place, speed)
    u = min(swung / whole, 1.0)
    after, before = min(u + PHASE_STEP, 1.0), max(u - PHASE_STEP, 0.0)
    span = (after - before) * whole
    goal_height, rate, pitch, turn = swing_profile(
        u, after, before, span, m.lift_pitch, strike, lift, late, leg.ankle_height, leg.heel_at, leg.ball_at
    )
    lies, roll, ground, climb, waits = 0.0, 0.0, 0.0, 0.0, False
    if not (is_level(m.left_ground) and is_level(plan.ground)):
        ground, climb = line.height(u), line.climb()
        lies, roll = line.pitch(u), line.roll(u)
    if terrain is not None:
        edge = _edge(snapshot, seen, i, goal, time, landing, at, m.left_ground, terrain, body)
        if edge.height > ground:
            ground, climb = edge.height, edge.rate
        if edge.speed < math.inf:
            waits = left < OVER_EDGE * clock
            acceleration[:2] = _held_back(acceleration[:2], goal - place[:2], speed[:2], edge.speed, clock)
        higher = at[2] - m.left_ground[2] > EASY_FALL * body.hips_height  # on its way up its toes must pass an edge
        knee = snapshot.body_position[snapshot.character.model.dof_bodyid[leg.knee]]
        least = shin_lean(knee, place, float(seen.yaw[i])) - LARGEST_BEND - lies
        if pitch < least and not higher:
            goal_height += ankle_above(leg, least) - ankle_above(leg, pitch)
            pitch, turn = least, 0.0
    goal_height, rate = goal_height + ground, rate + climb
    if left > (t.catch_land if hurried else 1.5 * t.least_left) * clock:
        wanted = STIFFNESS / clock**2 * (goal_height - place[2]) + DAMPING / clock * (rate - speed[2])
        acceleration[2] = wanted * (smooth_step(swung / (SOFT_START * clock)) if wanted < 0.0 else 1.0)
    else:
        deep = DEEP_HURRY / clock * max(float(seen.low[i]) - DEEP * body.hips_height, 0.0)
        deep = t.catch_hurry / clock * max(float(seen.low[i]), 0.0) if hurried else deep
        acceleration[2] = (2.0 if hurried else 1.0) * HURRY / clock * (-t.land_speed * body.leg_speed - deep - speed[2])
    largest = (t.catch_limit if hurried else t.foot_limit) * g
    clamp_row(acceleration, largest)
    return SwingGoal(acceleration, pitch + lies, turn, roll, waits)


@kernel
def clamp_row(row: Array, largest: float) -> None:
    """Brings the numbers of a row between -largest and largest."""
    for k in range(len(row)):
        row[k] = min(max(row[k], -largest), largest)


@kernel
def swing_profile(
    u: float, after: float, before: float, span: float, lift_pitch: float, strike: float, lift: float, late: float,
    ankle_height: float, heel_at: float, ball_at: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Returns height and pitch of a swinging foot over level ground, each with its rate [m, m/s, rad, rad/s].

    `u` is the share of its swing, `after` and `before` are shares around it that are `span` [s] apart.
    """
    pitch, first, last = (
        _swing_pitch(u, lift_pitch, strike),
        _swing_pitch(before, lift_pitch, strike),
        _swing_pitch(after, lift_pitch, strike),
    )
    height = ankle_over(pitch, ankle_height, heel_at, ball_at) + _sole_height(u, lift, late)
    low = ankle_over(first, ankle_height, heel_at, ball_at) + _sole_height(before, lift, late)
    high = ankle_over(last, ankle_height, heel_at, ball_at) + _sole_height(after, lift, late)
    return height, (high - low) / span, pitch, (last - first) / span


@inner_kernel
def _swing_pitch(u: float, lift_pitch: float, strike: float) -> float:
    """Returns the pitch of a swinging foot at a share of its swing [rad]."""
    return lift_pitch * (1.0 - smooth_kernel(u / 0.6)) - strike * smooth_kernel((u - 0.55) / 0.4)


@inner_kernel
def _sole_height(u: float, lift: float, late: float) -> float:
    """Returns the height of a swinging sole at a share of its swing [m]."""
    arch = lift * 6.75 * u * (1.0 - u) ** 2 if u < 1.0 else 0.0
    down = smooth_kernel((u - LAND_FROM) / (LAND_TO - LAND_FROM))
    return arch + (late * smooth_kernel(u / 0.3) - LAND_DEPTH * late * down)


def _edge(
    snapshot: Snapshot, seen: SeenBody, i: int, goal: Array, time: float, yaw: float, plane: Array, left: Array,
    terrain: Terrain, body: WalkingBody,
) -> Obstruction:  # fmt: skip
    """Returns what stands on the way of a swinging foot."""
    leg = body.legs[i]
    rim = ROUNDING * leg.ankle_height
    extent = np.array([leg.heel_at - rim, leg.front_at + rim, leg.half_width + 0.5 * rim])
    found = obstruction(
        seen.ankle[i], seen.ankle_velocity[i], snapshot.contact_position[leg.points], goal, time, yaw, extent,
        CLEAR * body.hips_height, plane, left, terrain.obstacles,
    )  # fmt: skip
    return Obstruction(*found)


def _held_back(wanted: Array, way: Array, speed: Array, most: float, clock: float) -> Array:
    """Returns the acceleration of a foot that must not be faster than `most` along its way [m/s^2]."""
    far = float(np.hypot(*way))
    if far < 1e-3:
        return wanted
    d = way / far
    excess = float(wanted @ d) - HOLD_BACK / clock * (most - float(speed @ d))
    return wanted - d * max(excess, 0.0)


def _passes(
    goal: Array, place: Array, stance: Array, heading: float, side: float, body: WalkingBody, t: WalkTuning
) -> float:
    """Returns after which share of its way a foot passes the stance foot; 1 where it is on its own side already.

    On a curve the outer foot begins its swing behind the stance foot, and even beyond it, seen along the heading of its
    landing. It must be beside the stance leg when it passes.
    """
    c, s = math.cos(heading), math.sin(heading)
    x, y = float(place[0] - stance[0]), float(place[1] - stance[1])
    along, own = c * x + s * y, side * (c * y - s * x)
    x, y = float(goal[0] - stance[0]), float(goal[1] - stance[1])
    goal_along, goal_own = c * x + s * y, side * (c * y - s * x)
    wide = t.feet_apart * (body.legs[0].half_width + body.legs[1].half_width)
    if own >= wide or goal_own < own or not along < 0.0 < goal_along:
        return 1.0
    near = PASSING * (body.legs[0].front_at - body.legs[0].heel_at)
    return max(-along - near, 0.0) / (goal_along - along)


def _sideways(way: Array, speed: Array, heading: float, time: float, sooner: float) -> Array:
    """Returns the acceleration that takes a foot across its way `sooner` [s] than along it, beside that for `time`."""
    c, s = math.cos(heading), math.sin(heading)
    across, rate = float(c * way[1] - s * way[0]), float(c * speed[1] - s * speed[0])
    more = 6.0 * across * (1.0 / sooner**2 - 1.0 / time**2) - 4.0 * rate * (1.0 / sooner - 1.0 / time)
    return np.array([-s * more, c * more])


def _around(
    goal: Array, place: Array, stance: Array, heading: float, side: float, beside: float, body: WalkingBody,
    t: WalkTuning,
) -> Array:  # fmt: skip
    """Returns the goal of a swinging foot, or a place on its way there that keeps it off the stance foot.

    A foot that crosses to the other side first goes ahead (or back), and one that comes back from there first goes to
    its own side.
    """
    c, s = math.cos(heading), math.sin(heading)
    x, y = float(place[0] - stance[0]), float(place[1] - stance[1])
    along, own = c * x + s * y, side * (c * y - s * x)
    x, y = float(goal[0] - stance[0]), float(goal[1] - stance[1])
    goal_along, goal_own = c * x + s * y, side * (c * y - s * x)
    wide = t.feet_apart * (body.legs[0].half_width + body.legs[1].half_width)
    sole = body.legs[0].front_at - body.legs[0].heel_at
    clear = PASSED * t.cross_clear * sole
    if min(own, goal_own) >= wide or max(own, goal_own) <= 0.0:
        return goal
    if goal_own < own:  # it crosses
        if math.copysign(along, along * goal_along) < clear:  # not past the stance foot yet, on the side of its goal
            goal_own = max(goal_own, wide)
    elif own < beside * wide and abs(along) < clear + sole:  # it comes back
        goal_along = math.copysign(max(abs(goal_along), clear), along)
    elif beside <= BESIDE and along < clear < goal_along:  # on a narrow way: around the stance foot
        goal_own = max(goal_own, wide)
    x, y = goal_along, side * goal_own
    return stance + np.array([c * x - s * y, s * x + c * y])


def ankle_above(leg: WalkingLeg, pitch: float) -> float:
    """Returns the height of the ankle over the lowest of heel and ball at a pitch [m]; the sole's edges are round."""
    return ankle_over(pitch, leg.ankle_height, leg.heel_at, leg.ball_at)


@lean_kernel
def ankle_over(pitch: float, ankle_height: float, heel_at: float, ball_at: float) -> float:
    """Returns the same as `ankle_above`."""
    r = ROUNDING * ankle_height
    c, s = (ankle_height - r) * math.cos(pitch), math.sin(pitch)
    return r + c + max(heel_at * s, ball_at * s)


def rolling_pitch(snapshot: Snapshot, seen: SeenBody, i: int, length: float, body: WalkingBody) -> float:
    """Returns the pitch of a foot on its ball at which its leg has a length [m].

    Hip, ankle and ball make a triangle.
    """
    leg = body.legs[i]
    return pitch_on_ball(
        snapshot.contact_position, leg.ball, seen.hip[i], float(seen.yaw[i]), length, leg.ball_at, leg.ankle_height
    )


@kernel
def shin_lean(knee: Array, ankle: Array, yaw: float) -> float:
    """Returns by how much a shin leans forward from the vertical, along a yaw [rad]."""
    x, y, z = knee[0] - ankle[0], knee[1] - ankle[1], knee[2] - ankle[2]
    return math.atan2(math.cos(yaw) * x + math.sin(yaw) * y, z)


@kernel
def pitch_on_ball(
    points: Array, ball: Ints, hip: Array, yaw: float, length: float, ball_at: float, ankle_height: float
) -> float:
    """Returns the pitch of a foot on its ball at which its leg has a length."""
    away = np.zeros(3)
    for j in ball:
        for k in range(3):
            away[k] += points[j, k]
    for k in range(3):
        away[k] = hip[k] - away[k] / len(ball)
    c, s = math.cos(yaw), math.sin(yaw)
    along, across, up = c * away[0] + s * away[1], c * away[1] - s * away[0], away[2]
    distance = math.hypot(along, up)
    arm = math.hypot(ball_at, ankle_height)
    cosine = (arm**2 + distance**2 - (length**2 - across**2)) / (2.0 * arm * distance)
    beta = math.acos(min(max(cosine, -1.0), 1.0))
    return math.atan2(ankle_height, -ball_at) - (math.atan2(up, along) + beta)
