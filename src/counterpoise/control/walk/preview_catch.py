"""A walk that was pushed hard may look several steps ahead (`WalkTuning.preview_cost`): its foot lands when and where a
plan of three has it. Off by default: the plan of one step survives as many pushes (docs/planner.md)."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.step_plan import StepPlan, spun_capture
from counterpoise.control.walk.steps_ahead import leg_frame, plan_start, plan_wish
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.control.walk.wishes import StepShape, Wishes
from counterpoise.plan import FootstepPlan, LegFrame, PlanCosts, build_plan, solve_plan
from counterpoise.quick import altered

STEPS = 3
CATCH_COSTS = PlanCosts(time=1.0, late=20000.0, reach=4000.0, limit=10000.0)  # what legs cannot do is not planned
LONGEST_SWING = 2.0  # [leg times] after which a foot that has not landed is put down where it is
SURPRISE = 1.3  # a plan that has become dearer by this factor, and by SURPRISE_COST, is made anew
SURPRISE_COST = 0.3
BETTER = 0.75  # [cost of the last plan's steps] a plan with other crossings is taken below this
COMMITTED = 0.16  # [leg times] before its landing, from when a foot keeps its place
GIVE_UP = 0.1  # [leg times] in which a foot that is late gives up its place
SPIN_TIME = 1.0  # [leg times] for which trunk and arms help: the centre of pressure may be asked for beyond the sole
SHIFT_SHARE = 0.7  # of the feedback of the centre of pressure that goes on until the landing
LARGEST_SHIFT = 0.25  # [soles]


def looks_ahead(m: WalkMemory, plan: StepPlan, wishes: Wishes, t: WalkTuning) -> bool:
    """Returns whether this tick plans several steps: a walk goes on, a fall is being caught, and one step does not
    suffice. A body that is to stay is caught better by the plan of one step (docs/planner.md)."""
    return not wishes.stays and m.catches and (m.preview is not None or plan.cost > t.preview_cost)


def preview_step(
    m: WalkMemory, seen: SeenBody, shape: StepShape, landing: float, plan: StepPlan, character: Character, dt: float,
    t: WalkTuning,
) -> tuple[WalkMemory, StepPlan]:  # fmt: skip
    """Returns the plan of the present step as the first of three, and the memory with the plan of all of them."""
    assert m.time is not None
    now, body, swing = m.time, walking_body(character), 1 - m.stance
    swung = None if m.phase == "double" else now - m.lifted
    if swung is not None and swung > LONGEST_SWING * body.leg_time:
        return altered(m, preview=None), plan
    clock = body.leg_time
    if swung is not None and m.preview is not None and m.preview.feet[0] == swing and m.left < COMMITTED * clock:
        return m, _put_down(m, seen, plan, dt, clock, t)
    if m.preview is None:
        m = altered(m, alarmed=now)
    frame = leg_frame(character, t)
    if swung is not None and now - m.alarmed > SPIN_TIME * clock:
        plan = plan._replace(pressure=_on_sole(plan.pressure, seen, m.stance, frame))
    shift = np.zeros(2)
    if swung is not None:
        shift = SHIFT_SHARE * (plan.pressure - plan.reference)
        most = LARGEST_SHIFT * float(frame.soles[m.stance, 2] - frame.soles[m.stance, 0])
        shift *= min(1.0, most / max(float(np.hypot(*shift)), 1e-9))
    start = plan_start(
        seen, m.stance, spun_capture(m, seen, character), plan.reference + shift, max(now - m.began, 0.0), swung,
        plan.double_left if swung is None else 0.0, shift,
    )  # fmt: skip
    last = m.preview
    problem = build_plan(frame, start, plan_wish(shape, landing), STEPS, CATCH_COSTS, last, dt)
    if last is None or last.feet[0] != swing or (swung is not None and last.problem.steps[0, 3] > 0.0):
        found = solve_plan(problem, last)  # a push, a landing, or a foot that leaves
    else:
        found = solve_plan(problem, last, anew=False)
        if found.cost > SURPRISE * last.cost + SURPRISE_COST:
            found = _better(found, solve_plan(problem, last))
    first = StepPlan(
        plan.double_left, float(found.x[0]), found.footholds[0], found.landing_com[0], found.landing_capture[0],
        plan.reference, plan.pressure, plan.cost, plan.leaving_capture, plan.ground,
    )  # fmt: skip
    return altered(m, preview=found), first


def _on_sole(pressure: Array, seen: SeenBody, stance: int, frame: LegFrame) -> Array:
    """Returns the nearest place on the sole of the stance foot."""
    yaw = float(seen.yaw[stance])
    c, s = math.cos(yaw), math.sin(yaw)
    x, y = (pressure - seen.flat[stance]).tolist()
    heel, _, front, half = frame.soles[stance].tolist()
    along, across = min(max(c * x + s * y, heel), front), min(max(c * y - s * x, -half), half)
    return seen.flat[stance] + np.array([c * along - s * across, s * along + c * across])


def _put_down(m: WalkMemory, seen: SeenBody, plan: StepPlan, dt: float, clock: float, t: WalkTuning) -> StepPlan:
    """Returns the plan of a foot that is about to land: it no longer changes its place.

    One that is late (its leg may be too short, or the other one in its way) comes down where it is.
    """
    place, least = m.foothold, t.least_left * clock
    if m.left <= least:
        place = place + min(dt / (GIVE_UP * clock), 1.0) * (seen.ankle[1 - m.stance, :2] - place)
    return plan._replace(left=max(m.left - dt, least), foothold=place)


def _better(old: FootstepPlan, new: FootstepPlan) -> FootstepPlan:
    """Returns the new plan where it crosses as the old one does, or is much cheaper."""
    same = bool((old.ways == new.ways).all())
    return new if same or new.cost < BETTER * old.cost else old
