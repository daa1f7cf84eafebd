"""Where a performance is in its plan: the phase, the clock, and how the plan lies in the world."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.perform.layout import AS_PLANNED, PlanPlacement, fit_layout, followed, laid
from counterpoise.control.perform.planned_motion import PlannedMotion
from counterpoise.control.perform.tuning import PerformTuning
from counterpoise.control.standing_body import standing_body

SHORTEST_FALL = 0.004  # [s] below this the clock is no longer stretched
SAME_GROUND = 0.004  # [standing CoM heights] a ground nearer to the planned one than this is the planned one
BEFORE_LANDING = 1e-4  # [s] the clock waits this much before a landing that is late
_NONE = np.zeros(1, bool)  # broadcast over all points


@dataclass(frozen=True, eq=False)
class PlanProgress:
    """The state of a performance between two ticks."""

    time: float  # [s]
    clock: float = 0.0  # [s] time in the plan
    phase: int = 0
    speed: float = 1.0  # of the clock
    layout: PlanPlacement = AS_PLANNED
    base: float = 0.0  # [m] by which the whole plan is higher, because the body stands higher
    rise: float = 0.0  # [m] how much higher than planned the ground is: `base`, and what was found at landing
    rate: float = 0.0  # [m/s] of the CoM upwards, at the last tick
    event: str = ""  # what happened at this tick
    late: float = 0.0  # [s] since a landing was due
    begins: float = 0.0  # [s] the clock at which it began, or went on after steps
    settling: float = 0.0  # [s] for which the clock has waited there
    early: Flags = field(default_factory=lambda: _NONE)  # (p,) points that have landed before their time
    bearing: Flags = field(default_factory=lambda: _NONE)  # (parts,) that have been felt to bear since they landed
    found: Array = field(default_factory=lambda: np.zeros(1))  # (parts,) [m] their ground above the planned one


def advance(
    now: PlanProgress, plan: PlannedMotion, snapshot: Snapshot, force: Array | None, tuning: PerformTuning
) -> PlanProgress:
    """Returns the progress at this tick: the clock goes on, phases follow the clock and what really touches.

    `force` is that of the world on every body, (nbody, 3) [N], as far as it is known.
    """
    dt = snapshot.time - now.time
    rate = float(snapshot.momentum[5]) / snapshot.character.mass
    if now.clock == now.begins and not _is_settled(now, plan, snapshot, tuning):
        held = replace(now, time=snapshot.time, speed=0.0, settling=now.settling + dt, rate=rate)
        return _with_ground(_laid(held, plan, snapshot, dt, tuning), plan, snapshot, force, tuning)
    speed = _clock_speed(now, plan, snapshot, rate, tuning)
    moved = replace(now, time=snapshot.time, clock=now.clock + dt * speed, speed=speed, event="")
    if plan.flies(now.phase):
        moved = _in_flight(moved, plan, snapshot, dt, now.rate, tuning)
    else:
        moved = _on_ground(moved, plan, snapshot, tuning)
    if not plan.flies(moved.phase):
        moved = _laid(moved, plan, snapshot, dt, tuning)
    return replace(_with_ground(moved, plan, snapshot, force, tuning), rate=rate)


def _with_ground(
    now: PlanProgress, plan: PlannedMotion, snapshot: Snapshot, force: Array | None, tuning: PerformTuning
) -> PlanProgress:
    """Returns the progress with the ground of parts that begin to bear: where they are then.

    Plans are made for points; real hands and knees are round, so that they bear a little higher or lower.
    """
    on = plan.parts_of(plan.pushing[now.phase] | now.early) & ~plan.grips
    known = now.bearing & on
    if force is None or (known == on).all():
        return replace(now, bearing=known)
    bears = on & ~known & (plan.loads(force) > tuning.felt_load * snapshot.character.weight)
    if not bears.any():
        return replace(now, bearing=known)
    lowest = plan.lowest_of_parts(heights(plan, now.phase, snapshot) - now.rise, force)
    near = np.abs(lowest) < tuning.ground_error * standing_body(snapshot.character).height
    return replace(now, bearing=known | bears, found=np.where(bears & near, lowest, now.found))


def _is_settled(now: PlanProgress, plan: PlannedMotion, snapshot: Snapshot, tuning: PerformTuning) -> bool:
    """Returns whether the clock may leave the start: the CoM is where the plan has it, or it has waited long enough."""
    goal, t = plan.at(now.begins, now.phase), tuning
    moves = float(np.linalg.norm(goal.com[1])) > t.standing_speed
    if moves or now.settling >= t.settle_time or not plan.held[now.phase].any():
        return True
    away = snapshot.com[:2] - laid(goal, now.layout, 1.0).com[0, :2]
    speed = float(np.linalg.norm(snapshot.momentum[3:])) / snapshot.character.mass
    near = math.hypot(*away) < t.settle_error * standing_body(snapshot.character).height
    return near and speed < t.settle_speed


def first_progress(plan: PlannedMotion, snapshot: Snapshot, tuning: PerformTuning) -> PlanProgress:
    """Returns the progress at the start: the plan lies where the planted feet are, on the height of their ground."""
    on = plan.held[0]
    if not on.any():
        return PlanProgress(snapshot.time)
    gap = float(heights(plan, 0, snapshot)[on].mean())
    base = gap if abs(gap) > tuning.base_height and not plan.grips.any() else 0.0
    layout = AS_PLANNED if plan.grips.any() else _fit(plan, 0.0, 0, snapshot, 0.0, base, tuning)
    return PlanProgress(snapshot.time, layout=layout, base=base, rise=base)


def resumed_progress(
    before: PlanProgress, plan: PlannedMotion, clock: float, snapshot: Snapshot, tuning: PerformTuning
) -> PlanProgress:
    """Returns the progress of a plan that goes on at a time, after steps: it lies where the feet are then."""
    phase = plan.phase_at(clock)
    layout = _fit(plan, clock, phase, snapshot, before.layout.yaw, before.rise, tuning)
    return PlanProgress(
        snapshot.time, clock, phase, layout=layout, base=before.base, rise=before.rise, begins=clock, event="goes on"
    )


def _clock_speed(
    now: PlanProgress, plan: PlannedMotion, snapshot: Snapshot, rate: float, tuning: PerformTuning
) -> float:
    """Returns the speed of the clock: in flight such that the planned landing falls on the real one."""
    phase = now.phase
    if not plan.flies(phase) or phase + 1 >= plan.phases:
        return 1.0
    g = snapshot.character.gravity
    landing = plan.at(plan.ends[phase + 1], phase).com
    fall = rate * rate + 2.0 * g * (float(snapshot.com[2]) - landing[0, 2] - now.layout.shift[2])
    end_rate = math.copysign(math.sqrt(max(fall, 0.0)), landing[1, 2])  # hands may land while the body still rises
    left = (rate - end_rate) / g
    if left < SHORTEST_FALL:
        return 1.0
    return min(max((plan.ends[phase + 1] - now.clock) / left, tuning.slowest), tuning.fastest)


def _in_flight(
    now: PlanProgress, plan: PlannedMotion, snapshot: Snapshot, dt: float, rate: float, tuning: PerformTuning
) -> PlanProgress:
    """Returns the progress in a flight: the next phase begins when the feet land, early or late.

    `rate` is that of the CoM upwards `dt` [s] ago.
    """
    phase, t = now.phase, tuning
    acceleration = (float(snapshot.momentum[5]) / snapshot.character.mass - rate) / dt if dt > 0.0 else -math.inf
    if phase + 1 >= plan.phases:
        return now
    begins, lands = plan.ends[phase], plan.ends[phase + 1]
    done = (now.clock - begins) / (lands - begins)
    height = standing_body(snapshot.character).height
    gap = float(heights(plan, phase + 1, snapshot)[plan.held[phase + 1]].min()) - now.base
    falling = snapshot.momentum[5] < 0.0
    felt = acceleration > (t.felt - 1.0) * snapshot.character.gravity and done > t.felt_from and falling
    felt = felt and gap < t.felt_height * height  # farther up it is something that the body grazes in passing
    low = (done > t.early and gap < t.touch_height * height) or (done >= 1.0 and gap < t.late_height * height)
    if felt or low:
        rise = now.base + (gap if felt and abs(gap) > SAME_GROUND * height else 0.0)
        found = replace(now, phase=phase + 1, clock=float(lands), rise=rise, late=0.0, event="landing")
        return replace(found, layout=_fit(plan, found.clock, phase + 1, snapshot, now.layout.yaw, rise, t))
    if done >= 1.0:
        held = float(lands) - BEFORE_LANDING  # the pose of landing
        return replace(now, clock=held, speed=0.0, late=now.late + dt)
    return now


def _on_ground(now: PlanProgress, plan: PlannedMotion, snapshot: Snapshot, tuning: PerformTuning) -> PlanProgress:
    """Returns the progress with contact: the clock leads from phase to phase; parts may land a little early."""
    if now.phase + 1 >= plan.phases:
        return now
    if now.clock >= plan.ends[now.phase + 1] - 1e-9:
        phase = now.phase + 1
        return replace(now, phase=phase, event="take-off" if plan.flies(phase) else "", early=_NONE)
    soon = plan.pushing[now.phase + 1] & ~plan.pushing[now.phase]
    if not soon.any() or now.clock < plan.ends[now.phase + 1] - tuning.early_time:
        return now
    low = (
        heights(plan, now.phase + 1, snapshot) - now.rise
        < tuning.touch_height * standing_body(snapshot.character).height
    )
    return replace(now, early=now.early | (soon & low))


def _laid(now: PlanProgress, plan: PlannedMotion, snapshot: Snapshot, dt: float, tuning: PerformTuning) -> PlanProgress:
    """Returns the progress with the plan's place following that of the planted feet."""
    if now.event == "landing":
        return now
    goal = _fit(plan, now.clock, now.phase, snapshot, now.layout.yaw, now.rise, tuning)
    return replace(now, layout=followed(now.layout, goal, 1.0 - math.exp(-dt / tuning.follow_time)))


def _fit(
    plan: PlannedMotion, clock: float, phase: int, snapshot: Snapshot, yaw: float, rise: float,
    tuning: PerformTuning,
) -> PlanPlacement:  # fmt: skip
    """Returns the layout in which the points that are held in a phase, and stay, are where they are now."""
    on = plan.lays[phase]
    planned = plan.at(clock, phase).points[0][on]
    spread = tuning.yaw_spread * standing_body(snapshot.character).height
    return fit_layout(planned, snapshot.contact_position[on], plan.part[on], yaw, spread, rise)


def heights(plan: PlannedMotion, phase: int, snapshot: Snapshot) -> Array:
    """Returns the height of every contact point above the surface of its part in a phase, (p,) [m]."""
    surfaces = plan.surfaces[phase]
    origin, normal = np.array([s.origin for s in surfaces]), np.array([s.normal for s in surfaces])
    away = snapshot.contact_position - origin[plan.part]
    return np.asarray((away * normal[plan.part]).sum(axis=1))
