"""Steps that catch a fall in a performance: when they begin, who takes them, and where the plan goes on afterwards.

Where no planned contact can bring the capture point back over the support, a `Stand` that may step takes the body over.
It steps, and goes back into a pose of the plan, laid where its feet are then: the next one in which the plan stands
quietly on both feet. From there the plan goes on. What lies between is left out, and counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.perform.layout import PlanPlacement, laid
from counterpoise.control.perform.planned_motion import PlannedMotion, PlannedState
from counterpoise.control.perform.tuning import PerformTuning
from counterpoise.control.stand import Stand, StandMemory
from counterpoise.control.stand_steps import StepsTaken
from counterpoise.control.standing_body import standing_body
from counterpoise.control.support import support_of
from counterpoise.control.walk.catching_steps import begin_steps
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.errors import CounterpoiseError
from counterpoise.motion.contacts import runs
from counterpoise.objectives.footing import foot_table
from counterpoise.terrain import Terrain

NEAR_GROUND = (
    0.03  # [standing CoM heights] a foot whose lowest point is higher than this above the lowest bears nothing
)
LEAST_LEG = 0.3  # [standing CoM heights] of the CoM above the feet, for the capture point
SAME_HEIGHT = 1e-3  # [m] ground this near to z = 0 is level ground


@dataclass(frozen=True, eq=False)
class CatchSteps:
    """The steps that catch a fall: the controller that takes them, its memory, and where the plan goes on."""

    controller: Stand
    memory: StandMemory
    joins: float | None  # [s] time of the plan at which it goes on; None: it does not

    @property
    def stage(self) -> Literal["step", "return", "stand"]:
        """Whether it steps, goes back into the plan's pose, or stands in it."""
        taken: StepsTaken = self.memory.taken
        return "step" if taken.walk is not None else "return" if taken.way is not None else "stand"

    @property
    def cause(self) -> str:
        """Why the steps did not help; empty where they did."""
        if not self.memory.fallen:
            return ""
        taken: StepsTaken = self.memory.taken
        return "it lost its balance after a step" if taken.walk is None else taken.walk.cause or "it fell as it stepped"

    def act(self, snapshot: Snapshot) -> tuple[Action, CatchSteps]:
        """Returns the action of one tick and the steps after it."""
        action = self.controller.act(snapshot, self.memory)
        return action, replace(self, memory=action.memory)


def catch_steps(
    snapshot: Snapshot, rate: float, terrain: Terrain | None, plan: PlannedMotion, joins: float | None,
    layout: PlanPlacement,
) -> CatchSteps:  # fmt: skip
    """Returns steps that begin now, after which the plan goes on at the time `joins` [s]; None: it does not.

    `layout` is where the plan lies now.
    """
    q: Array | None = None
    if joins is not None:
        q = laid(plan.at(joins, plan.phase_at(joins)), layout, 1.0).q
    elif plan.held[-1, : len(snapshot.character.contact_points)].all():
        q = laid(plan.at(plan.duration, plan.phases - 1), layout, 1.0).q
    controller = Stand(reference=q, rate=rate, terrain=terrain, step=True)
    taken = StepsTaken(walk=begin_steps(snapshot, None, terrain))
    memory = replace(controller.begin(snapshot.character), time=snapshot.time, taken=taken)
    return CatchSteps(controller, memory, joins)


def next_quiet(plan: PlannedMotion, clock: float, feet: int, t: PerformTuning) -> float | None:
    """Returns the next time [s] at which a plan stands quietly on all its feet, for a while or until its end.

    The first `feet` contact points are those of the feet. None: there is no such time.
    """
    times = np.concatenate(
        [np.linspace(plan.ends[k], plan.ends[k + 1], plan.first[k + 1] - plan.first[k]) for k in range(plan.phases)]
    )
    phase = np.repeat(np.arange(plan.phases), np.diff(plan.first))
    on_feet: Flags = np.asarray(plan.held[:, :feet].all(axis=1))
    on_more: Flags = np.asarray(plan.pushing[:, feet:].any(axis=1))
    stands: Flags = on_feet & ~on_more
    slow: Flags = np.asarray(np.linalg.norm(plan.com[:, 1], axis=1) < t.quiet_speed)
    for first, last in runs(stands[phase] & slow & np.asarray(times >= clock)):
        ends = plan.duration if last == len(times) else float(times[last])
        if ends - times[first] >= t.quiet_time or last == len(times):
            return float(times[first])
    return None


@kept_with_character
def can_step(character: Character) -> bool:
    """Returns whether the body can walk."""
    try:
        walking_body(character)
    except CounterpoiseError:
        return False
    return True


def is_level(plan: PlannedMotion, phase: int, rise: float) -> bool:
    """Returns whether the plan stands on the level ground at z = 0 in a phase."""
    return all(
        abs(float(np.asarray(surface.origin)[2]) + rise) < SAME_HEIGHT and float(surface.normal[2]) > 1.0 - 1e-6
        for surface in plan.surfaces[phase][:2]
    )


def is_lost(snapshot: Snapshot, t: PerformTuning, goal: PlannedState) -> bool:
    """Returns whether the capture point is so far from the plan's, outside the support, that the next planned foothold
    does not catch the fall either, and a step is possible."""
    body = standing_body(snapshot.character)
    pace = math.sqrt(max(float(goal.com[0, 2] - snapshot.contact_position[:, 2].min()), LEAST_LEG * body.height))
    pace /= math.sqrt(body.gravity)
    velocity = snapshot.momentum[3:5] / snapshot.character.mass
    error = snapshot.com[:2] - goal.com[0, :2] + pace * (velocity - goal.com[1, :2])
    return math.hypot(*error) > t.lost_margin * body.height and is_tipping(snapshot, t)


def is_tipping(
    snapshot: Snapshot, t: PerformTuning, goal: PlannedState | None = None, pushing: Flags | None = None
) -> bool:
    """Returns whether the capture point has left the support so far that only a step helps, and a step is possible: the
    legs have caught the fall of the landing.

    With a plan's state it must also be farther outside than in the plan.
    """
    body, mass = standing_body(snapshot.character), snapshot.character.mass
    points = snapshot.contact_position
    bearing = points[:, 2] < points[:, 2].min() + NEAR_GROUND * body.height
    if bearing.sum() < 3:  # a foot on its toes or on its heel: its sole will lie flat in a moment
        foot = foot_table(snapshot.character).foot_of
        bearing = np.isin(foot, foot[bearing])
    margin = t.step_margin * body.height
    if float(snapshot.com[2] - points[:, 2].min()) < t.step_height * body.height:
        return False
    if float(snapshot.momentum[5]) < -t.step_sinking * mass * math.sqrt(body.gravity * body.height):
        return False
    out = _outside(points, bearing, snapshot.com, snapshot.momentum[3:] / mass, body.height, body.gravity)
    if out <= margin:
        return False
    if goal is None or pushing is None:
        return True
    planned = _outside(goal.points[0], pushing, goal.com[0], goal.com[1], body.height, body.gravity)
    return out > max(planned, 0.0) + margin


def _outside(points: Array, bearing: Flags, com: Array, velocity: Array, height: float, gravity: float) -> float:
    """Returns how far the capture point is outside the support [m]; negative inside."""
    if bearing.sum() < 3:
        return -math.inf
    above = max(float(com[2] - points[bearing, 2].mean()), LEAST_LEG * height)
    place = com[:2] + velocity[:2] * math.sqrt(above / gravity)
    return support_of(points, bearing).outside(place)
