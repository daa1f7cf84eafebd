"""What a walker makes of the ground that it sees: planes under its feet, the next foothold, and its speed.

Where the ground that is felt (felt_feet.py) is not the one that is seen, the difference is expected at the next
foothold as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.footholds import ROUGHNESS, find_foothold
from counterpoise.control.walk.planes import FLAT_GROUND, STEEPEST, ground_height, is_set, plane_at, sole_plane
from counterpoise.control.walk.seen import SeenBody, see
from counterpoise.control.walk.step_plan import StepPlan, plan_step
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import SIGN, WalkingBody, walking_body
from counterpoise.control.walk.wishes import StepShape, Wishes
from counterpoise.kernels import kernel
from counterpoise.objectives.obstacles import Obstacles
from counterpoise.quick import altered
from counterpoise.terrain import Terrain

FELT_SLOPE = 0.3  # share of the slope that is felt and was not seen, that is expected on the way to the next foothold
FELT_TREND = 0.5  # share of the rise from the last foot to this one that is expected on the way to the next foothold
LEAST_BACK = 0.3  # [m] of that way, at least
LEAST_CAPTURE = 0.1  # [leg lengths] of the capture point ahead of the stance foot, when the rear foot leaves
LEAST_INSIDE = 0.0  # [leg lengths] of it, beside the stance foot towards the rear one: beyond, it would fall sideways
REAR_SHARE = 0.8  # largest share of the rear foot in the centre of pressure while it pushes ...
PUSH_ROOM = 1.4  # [half widths of a sole] beside the line between the feet that is used for it
PUSH_FROM = 0.3  # of the double support that is over at most while it pushes
LEAST_PUSH = 0.15  # ... and the least
PUSH_INSIDE, PUSH_GAIN = 0.015, 0.5  # [leg lengths] of the capture point beside the leading foot then, and its gain
REAR_TIME = 0.25  # [leg times] in which the centre of pressure goes there
LONGEST_PUSH = 4.0  # [leg times] for which the rear leg pushes until then
SHORTER = 0.5  # of the usual step: where the step after is shorter, balance is prepared for it, down to this
STAIR = 0.08  # [leg lengths] of a step up or down from which that is done: before it, it has to come near
HALTED, HALTED_SHARE = 0.2, 0.05  # of the speed asked for: a slower body has come to a halt, and dares a high step
LEAST_ACROSS = 0.35  # [widths] between feet that are put beside each other's line
LAST_CHOICE = 0.35  # [leg times] before the landing, the foothold is no longer changed
SAME_WISH = 0.02  # [m] that the pendulum's wish may move before another foothold is looked for
DEEP = 0.38  # [leg lengths] below the stance foot: the hips go down for ground so deep when it is chosen, not before
HIGHEST, DEEPEST = 0.62, 1.2  # [leg lengths] of a step up, and of a step down
RIM = 0.36  # [ankle heights] that a foot's body reaches beyond its points
LOOK_AHEAD, LOOK_STEP = 1.7, 0.1  # [leg lengths] that it looks ahead for steps, and between two looks
BROKEN, BROKEN_SPEED = 3, 0.27  # edges ahead, as of stepping stones, to the speed [sqrt(leg x g)] over them
GAP_WIDTH = 0.8  # [leg lengths] ground that comes back within this is a gap, not a step
# A higher step takes longer: the foot must rise before it goes forward, and the hips go up on one leg that starts bent.
RISES = np.array([0.045, 0.10, 0.18, 0.32, 0.55, 1.1])  # [leg lengths] of a step, to ...
SPEEDS = np.array([0.60, 0.33, 0.19, 0.13, 0.10, 0.10])  # [sqrt(leg x g)] ... the speed with which a step up is taken
FALL_SPEEDS = np.array([0.60, 0.30, 0.13, 0.13, 0.10, 0.10])  # [sqrt(leg x g)] the same of a step down
# Quick steps leave an error of balance less time to grow; a higher step takes the foot longer.
LONG_RISES = np.array([0.08, 0.2, 0.5])  # [leg lengths] of a step up or down, to ...
LONGEST_STEPS = np.array([1.8, 2.33, 3.0])  # [leg times] ... the longest time of a step
EVEN = 0.02  # [leg lengths, or slope] of ground that counts as level
SLOPES = np.array([0.03, 0.09, 0.18, 0.30, 0.60])  # of a hill, to ...
SLOPE_SPEEDS = np.array([0.60, 0.30, 0.25, 0.21, 0.15])  # [sqrt(leg x g)] ... the speed on it


@kept_with_character
def soles_of(character: Character) -> Array:
    """Returns heel, ball and front, ahead of the ankle, and half width of both feet, (2, 4) [m]."""
    body = walking_body(character)
    return np.array([[leg.heel_at, leg.ball_at, leg.front_at, leg.half_width] for leg in body.legs])


@kept_with_character
def foot_of_points(character: Character) -> Ints:
    """Returns (p,): 0 for contact points of the left foot, 1 for those of the right one."""
    out = np.zeros(len(character.contact_points), np.int64)
    out[walking_body(character).legs[1].points] = 1
    return out


def ground_under_feet(snapshot: Snapshot, terrain: Terrain) -> Array:
    """Returns the planes of a terrain under both feet, (2, 5)."""
    seen = see(snapshot, walking_body(snapshot.character), FLAT_GROUND)
    out = np.empty((2, 5))
    for i, sole in enumerate(soles_of(snapshot.character)):
        sole_plane(seen.ankle[i, 0], seen.ankle[i, 1], float(seen.yaw[i]), sole, terrain.obstacles, out[i])
    return out


def over_real_ground(
    seen: SeenBody, m: WalkMemory, snapshot: Snapshot, terrain: Terrain, body: WalkingBody
) -> SeenBody:
    """Returns what is seen, with the heights of a swinging foot over the ground that is really under it."""
    if m.phase != "single":
        return seen
    i = 1 - m.stance
    over, low = seen.over.copy(), seen.low.copy()
    low[i] = _heights_over(snapshot.contact_position, body.legs[i].points, float(m.felt[0]), terrain.obstacles, over)
    return seen._replace(over=over, low=low)


@kernel
def _heights_over(points: Array, which: Ints, felt: float, ground: Obstacles, over: Array) -> float:
    """Fills the heights of points over the ground under each of them. Returns the least [m]."""
    room, low = np.empty(3), np.inf
    for j in which:
        over[j] = points[j, 2] - felt - ground_height(points[j, 0], points[j, 1], ground, room)
        low = min(low, over[j])
    return low


def with_care(wishes: Wishes, m: WalkMemory, place: Sequence[float], terrain: Terrain, body: WalkingBody) -> Wishes:
    """Returns the wishes with the lower speed, and the shorter steps, with which the ground ahead can be walked.

    `place` (2,) is where it looks from, along the heading.
    """
    unit = body.hips_height
    x, y = place
    rise, fall, slope, edges = _steps_ahead(
        x, y, m.heading, LOOK_AHEAD * unit, LOOK_STEP * unit, GAP_WIDTH * unit, terrain.obstacles
    )
    most = min(
        np.interp(rise / unit, RISES, SPEEDS), np.interp(fall / unit, RISES, FALL_SPEEDS),
        np.interp(slope, SLOPES, SLOPE_SPEEDS),
    )  # fmt: skip
    rise = max(rise, fall)
    if edges >= BROKEN:
        most = min(most, BROKEN_SPEED)
    longest = float(np.interp(rise / unit, LONG_RISES, LONGEST_STEPS)) * body.leg_time
    if max(rise / unit, slope) < EVEN and edges == 0:
        longest = math.inf
    return wishes._replace(speed=min(wishes.speed, float(most) * body.leg_speed), longest=min(wishes.longest, longest))


def with_felt_care(wishes: Wishes, m: WalkMemory, body: WalkingBody) -> Wishes:
    """Returns the wishes with the lower speed for a slope that is felt and not seen."""
    slope = math.hypot(float(m.felt[1]), float(m.felt[2]))
    most = float(np.interp(slope, SLOPES, SLOPE_SPEEDS)) * body.leg_speed
    return wishes if wishes.speed <= most else wishes._replace(speed=most)


@kernel
def _steps_ahead(
    x: float, y: float, heading: float, far: float, step: float, gap: float, ground: Obstacles
) -> tuple[float, float, float, int]:
    """Returns the highest step up and down on the way, the steepest slope between steps, and how many edges there are.

    Gaps are left out, but for their edges.
    """
    room = np.empty(3)
    c, s = math.cos(heading), math.sin(heading)
    width = int(gap / step) + 1
    count = int(far / step) + 3 + width
    z = np.empty(count + width)
    for k in range(count + width):
        at = (k - 3 - width) * step
        z[k] = ground_height(x + c * at, y + s * at, ground, room)
    rise, fall, slope, edges = 0.0, 0.0, 0.0, 0
    for k in range(width, count - 1):
        change = abs(z[k + 1] - z[k])
        if change > 0.6 * step:
            edges += 1
        for n in range(2, 1 + width):
            change = min(change, abs(z[k + n] - z[k]), abs(z[k + 1 - n] - z[k + 1]))
        if z[k + 1] > z[k]:
            rise = max(rise, change)
        else:
            fall = max(fall, change)
        if k + 4 < count:
            steepest = 0.0
            for n in range(k, k + 4):
                steepest = max(steepest, abs(z[n + 1] - z[n]))
            if steepest < 0.6 * step:
                slope = max(slope, abs(z[k + 4] - z[k]) / (4.0 * step))
    return rise, fall, slope, edges


# -- footholds --------------------------------------------------------------------------------------------------------


def plan_on_ground(
    m: WalkMemory, seen: SeenBody, shape: StepShape, landing: float, terrain: Terrain | None, character: Character,
    dt: float, t: WalkTuning,
) -> tuple[WalkMemory, StepPlan]:  # fmt: skip
    """Returns the plan of a step over the ground that is seen, and the memory with the foothold that was chosen."""
    plan = plan_step(m, seen, shape, landing, character, dt, t)
    if terrain is None:
        if not is_set(m.felt):
            return m, plan
        return m, plan._replace(ground=_expected(np.array([*plan.foothold, 0.0, 0.0, 0.0]), m, seen, None))
    if m.phase == "double" and _waits(m, seen, plan, walking_body(character)):
        assert m.time is not None
        rear = _rear_pressure(m, seen, walking_body(character))
        pressure = m.pressure + (rear - m.pressure) * min(dt / (REAR_TIME * walking_body(character).leg_time), 1.0)
        m = altered(m, began=max(m.began + dt, m.time - PUSH_FROM * m.double))  # time to go over remains
        plan = plan._replace(reference=pressure, pressure=pressure)
    plane = np.empty(5)
    body, soles = walking_body(character), soles_of(character)
    swing = 1 - m.stance
    if m.phase == "single" and _chooses(m, plan, body):
        m = _choose(m, seen, shape, plan, landing, terrain, body, soles, t)
    if m.phase == "single" and math.isnan(m.chosen[0]) and not math.isnan(m.free[0]):
        rough = sole_plane(plan.foothold[0], plan.foothold[1], landing, soles[swing], terrain.obstacles, plane)
        if rough > ROUGHNESS:  # the wish has drifted over an edge: where it was when it was last looked at, it fits
            m = altered(m, chosen=np.array([*m.free, 0.0, 0.0, shape.length]))
    if m.phase == "single" and not math.isnan(m.chosen[0]):
        free = plan.cost  # of balance; a place that is given costs more, and is no fall
        usual = shape
        if abs(float(m.ground[swing, 2] - seen.base[m.stance])) > STAIR * body.hips_height:
            usual = shape._replace(length=min(shape.length, max(float(m.chosen[4]), SHORTER * shape.length)))
        plan = plan_step(m, seen, usual, landing, character, dt, t, m.chosen, careful=True)
        plan = plan._replace(cost=min(free, plan.cost))
    rough = sole_plane(plan.foothold[0], plan.foothold[1], landing, soles[swing], terrain.obstacles, plane)
    deep = plane[2] < seen.base[m.stance] - m.felt[0] - DEEP * body.hips_height
    if m.phase == "double" and (
        rough > ROUGHNESS or deep
    ):  # no foot will be put there: its place is chosen when it leaves
        plane = np.array([*plan.foothold, seen.base[m.stance] - m.felt[0], 0.0, 0.0])
    elif rough > ROUGHNESS or plane[3] ** 2 + plane[4] ** 2 > STEEPEST**2:  # it lands on an edge
        plane[3:] = 0.0
    return m, plan._replace(ground=_expected(plane, m, seen, terrain))


def _chooses(m: WalkMemory, plan: StepPlan, body: WalkingBody) -> bool:
    """Returns whether a foothold is to be looked for: there is none, or the pendulum wants another one in time."""
    if math.isnan(m.free[0]):
        return True
    return plan.left > LAST_CHOICE * body.leg_time and float(np.hypot(*(plan.foothold - m.free))) > SAME_WISH


def _waits(m: WalkMemory, seen: SeenBody, plan: StepPlan, body: WalkingBody) -> bool:
    """Returns whether the rear leg still has to push: the body would not come over the leading foot."""
    assert m.time is not None
    late = m.time - m.feet[m.stance].landed > LONGEST_PUSH * body.leg_time
    ahead, inside = (plan.leaving_capture / body.hips_height).tolist()
    speed = math.cos(m.heading) * float(seen.velocity[0]) + math.sin(m.heading) * float(seen.velocity[1])
    return ahead < LEAST_CAPTURE and inside > LEAST_INSIDE and speed < m.speed and not late


def _rear_pressure(m: WalkMemory, seen: SeenBody, body: WalkingBody) -> Array:
    """Returns a centre of pressure (2,) that brings the body forward over its leading foot, and not sideways.

    Beside the leading foot the capture point stays where it is; so far back as both feet can push then.
    """
    side, front = SIGN[1 - m.stance], seen.flat[m.stance]
    d = np.array([math.cos(m.heading), math.sin(m.heading)])
    left = side * np.array([-d[1], d[0]])  # towards the rear foot
    inside = float((seen.capture - front) @ left)
    rear, wide = (float((seen.flat[1 - m.stance] - front) @ v) for v in (d, left))
    across = inside + PUSH_GAIN * (inside - PUSH_INSIDE * body.hips_height)
    share = min(max((across + PUSH_ROOM * body.legs[m.stance].half_width) / max(wide, 1e-3), LEAST_PUSH), REAR_SHARE)
    return np.asarray(front + share * rear * d + min(max(across, 0.0), wide) * left)


def _choose(
    m: WalkMemory, seen: SeenBody, shape: StepShape, plan: StepPlan, landing: float, terrain: Terrain,
    body: WalkingBody, soles: Array, t: WalkTuning,
) -> WalkMemory:  # fmt: skip
    """Returns the memory with the foothold that is best now; NaN: where the pendulum wants it."""
    swing, unit = 1 - m.stance, body.hips_height
    d = np.array([math.cos(landing), math.sin(landing)])
    ahead = float((plan.landing_com - seen.flat[m.stance]) @ d) + body.hips_ahead + t.longest_reach * unit * 0.75
    reach = np.array(
        [min(t.longest_reach * unit, ahead), t.backward_reach * unit, HIGHEST * unit, DEEPEST * unit,
         LEAST_ACROSS * shape.width]
    )  # fmt: skip
    lines = np.array([0.0, 0.0])
    lines[swing] = SIGN[swing] * shape.width
    out = np.zeros(5)
    level = math.nan if math.isnan(m.free[0]) else float(m.ground[swing, 2]) - float(m.felt[0])
    origin = np.array([*seen.flat[m.stance], seen.base[m.stance] - m.felt[0]])
    found = find_foothold(
        swing, plan.foothold, origin, landing, lines, shape.length, reach, m.chosen, level, soles,
        RIM * body.legs[swing].ankle_height, _rise_share(m), terrain.obstacles, out,
    )  # fmt: skip
    moved = found and float(np.hypot(*(out[:2] - plan.foothold))) > 1e-6
    return altered(m, free=plan.foothold, chosen=out if moved else ANYWHERE)


def _rise_share(m: WalkMemory) -> float:
    """Returns the share of the cost of high steps that counts: less where it has come to a halt before one."""
    slow = m.last_speed is not None and m.last_speed < HALTED * m.speed
    return HALTED_SHARE if slow else 1.0


def _expected(plane: Array, m: WalkMemory, seen: SeenBody, terrain: Terrain | None) -> Array:
    """Returns a plane that is seen, moved by what was felt under the stance foot."""
    if not m.felt.any():
        return plane
    out = plane.copy()
    away = plane[:2] - seen.flat[m.stance]
    slope = FELT_SLOPE * m.felt[1:]
    out[2] += m.felt[0] + float(slope @ away)
    if terrain is None:  # what rose or fell from the last foot to this one goes on so, in part
        rear = m.left_ground if m.phase == "single" else m.ground[1 - m.stance]
        back = seen.flat[m.stance] - (rear[:2] if m.phase == "single" else seen.flat[1 - m.stance])
        far = max(float(np.hypot(*back)), LEAST_BACK)
        rise = float(seen.base[m.stance]) - plane_at(rear, *(seen.flat[m.stance] - back))
        out[2] += FELT_TREND * rise * float(back @ away) / far**2
    out[3:] += slope
    return out


NOWHERE = np.full(2, np.nan)
NOWHERE.flags.writeable = False
ANYWHERE = np.full(5, np.nan)
ANYWHERE.flags.writeable = False
