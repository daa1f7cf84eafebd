"""The objectives of a performance in their two levels: planted points, then everything else by weight."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.perform.follow_points import FollowPoints
from counterpoise.control.perform.layout import laid
from counterpoise.control.perform.planned_motion import PlannedMotion, PlannedState
from counterpoise.control.perform.progress import PlanProgress
from counterpoise.control.perform.tuning import PerformTuning
from counterpoise.control.standing_body import standing_body
from counterpoise.features import ComPosition
from counterpoise.objectives import Clearance, Contact, JointStops, Momentum, Objective, Setpoint, TrackPose

LEAST_LEG = 0.2  # [standing CoM heights] of the CoM above the feet, for the capture point in the air


class PerformObjectives(NamedTuple):
    """The objectives of a performance without their references."""

    contact: Contact
    com: Setpoint  # over the ground
    height: Setpoint
    momentum: Momentum
    track: TrackPose  # with contact
    flight: TrackPose  # in the air
    stops: JointStops
    clear: Clearance  # of parts that the plan does not use


def perform_levels(
    snapshot: Snapshot, goal: PlannedState, now: PlanProgress, plan: PlannedMotion, pushing: Flags, down: Flags,
    feet: int, tuning: PerformTuning,
) -> tuple[tuple[Objective, ...], ...]:  # fmt: skip
    """Returns the levels of one tick. `pushing` are the points that bear now, `down` those that touch, (p,) each.

    The first `feet` points are those of the feet.
    """
    t = tuning
    own = perform_objectives(plan.character, t)
    joints = {"reference": goal.q, "velocity": goal.v, "acceleration": goal.a}
    if plan.flies(now.phase):
        landing = _landing_points(snapshot, goal, now, plan, feet, t)
        return (own.contact,), (own.flight.aimed(**joints), own.stops, landing)
    place = {"value": goal.com[0], "velocity": goal.com[1], "acceleration": goal.com[2]}
    landed = now.phase >= plan.last_stance
    level: tuple[Objective, ...] = (
        own.com.aimed(**place, weight=t.landed_com_weight if landed else t.com_weight),
        own.height.aimed(**place),
        own.momentum.aimed(value=goal.spin[0], rate=goal.spin[1]),
        own.track.aimed(**joints),
        own.stops,
    )
    if landed:
        level = (*level, own.clear)
    swinging = (plan.lands[now.phase] & ~pushing) | (pushing & ~down)
    if swinging.any():
        points = goal.points
        if not pushing[feet:].any():  # hands hold the body up: a foot is put where it is planned
            points = lead_swing(snapshot, goal, plan.time_to_landing(now.phase, now.clock), feet, t)
        level = (*level, FollowPoints(swinging, points, t.feet_stiffness, t.feet_limit, t.swing_weight))
    return (own.contact,), level


def carried(goal: PlannedState, snapshot: Snapshot, feet: int) -> PlannedState:
    """Returns the plan's state in flight, moved and set in motion with the real CoM.

    Of the contact points only the first ones, `feet` in number, move with it: hands reach for fixed places.
    """
    shift, velocity = snapshot.com - goal.com[0], snapshot.momentum[3:] / snapshot.character.mass - goal.com[1]
    q, v, points = goal.q.copy(), goal.v.copy(), goal.points.copy()
    q[:3] += shift
    v[:3] += velocity
    points[0, :feet] += shift
    points[1, :feet] += velocity
    points[2, :feet] += np.array([0.0, 0.0, -snapshot.character.gravity]) - goal.com[2]
    return goal._replace(q=q, v=v, points=points)


def _landing_points(
    snapshot: Snapshot, goal: PlannedState, now: PlanProgress, plan: PlannedMotion, feet: int, t: PerformTuning
) -> FollowPoints:
    """Returns the objective that leads the points that land next, moved by the capture point's error."""
    phase = now.phase
    span = float(plan.ends[phase + 1] - plan.ends[phase])
    begins = min(t.lead_from * span, max(span - t.lead_least, 0.0))
    near = min(max((float(now.clock - plan.ends[phase]) - begins) / (t.lead_time * span), 0.0), 1.0)
    points = goal.points.copy()
    planned = laid(plan.at(now.clock, phase), now.layout, 1.0)  # what follows the landing is not stretched
    points[0, :feet, :2] += near * _lead(snapshot, planned, t)
    return FollowPoints(
        plan.landing_soon(phase, t.soon), points, t.feet_stiffness, t.feet_limit, t.flight_feet_weight * near
    )


def lead_swing(snapshot: Snapshot, goal: PlannedState, left: Array, feet: int, t: PerformTuning) -> Array:
    """Returns where swinging points are led while other feet bear, (3, p, 3).

    Those that land soon are moved by the error of the capture point: what feedback cannot bring back over the present
    support is caught by the next one. `left` (p,) [s] is how long it takes until they land; the first `feet` points are
    those of the feet.
    """
    near = np.clip((t.swing_lead_from - left[:feet]) / t.swing_lead_time, 0.0, 1.0)
    if not near.any():
        return goal.points
    points = goal.points.copy()
    error = snapshot.com[:2] - goal.com[0, :2]
    points[0, :feet, :2] += near[:, None] * _lead(snapshot, goal, t, error)
    return points


def _lead(snapshot: Snapshot, planned: PlannedState, t: PerformTuning, place: Array | float = 0.0) -> Array:
    """Returns how far landing points are moved over the ground, (2,) [m]: the velocity's error over omega, and that of
    the CoM's `place` (2,) [m]."""
    character = snapshot.character
    height = standing_body(character).height
    above = max(float(planned.com[0, 2] - planned.points[0][:, 2].mean()), LEAST_LEG * height)
    error = snapshot.momentum[3:5] / character.mass - planned.com[1, :2]
    move = t.lead * (place + error / math.sqrt(character.gravity / above))
    return np.asarray(move * min(1.0, t.lead_limit * height / max(math.hypot(*move), 1e-9)))


@kept_with_character
def perform_objectives(character: Character, t: PerformTuning) -> PerformObjectives:
    """Returns the objectives without their references."""
    origin, com = np.zeros(3), ComPosition()
    height = standing_body(character).height
    return PerformObjectives(
        Contact(stiffness=t.contact_stiffness),
        Setpoint(com, origin, stiffness=t.com_stiffness, axes="xy", weight=t.com_weight, name="com"),
        Setpoint(com, origin, stiffness=t.height_stiffness, axes="z", weight=t.height_weight, name="height"),
        Momentum("angular", gain=t.momentum_gain, weight=t.momentum_weight),
        TrackPose(None, t.joint_stiffness, root_weight=t.root_weight),
        TrackPose(None, t.flight_stiffness, root_weight=t.flight_root_weight),
        JointStops(t.stop_deceleration, t.stop_settle, top_speed=None, weight=t.stop_weight),
        Clearance(margin=t.clear_margin * height, weight=t.clear_weight / height**2),
    )
