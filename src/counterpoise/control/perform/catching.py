"""Steps that catch a fall at the end of a performance: when they begin, and who takes them.

After the last planned contact nothing but the feet can bring the capture point back over the support. Where it leaves
the support, `Locomotion` takes the body over, steps, and stands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.perform.planned_motion import PlannedMotion, PlannedState
from counterpoise.control.perform.tuning import PerformTuning
from counterpoise.control.standing_body import standing_body
from counterpoise.control.support import support_of
from counterpoise.control.walk.seen import see
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.errors import CounterpoiseError
from counterpoise.terrain import Terrain

if TYPE_CHECKING:
    from counterpoise.control.locomotion.locomotion import Locomotion
    from counterpoise.control.locomotion.locomotion_state import LocomotionMemory

NEAR_GROUND = (
    0.03  # [standing CoM heights] a foot whose lowest point is higher than this above the lowest bears nothing
)
LEAST_LEG = 0.3  # [standing CoM heights] of the CoM above the feet, for the capture point
SAME_HEIGHT = 1e-3  # [m] ground this near to z = 0 is level ground
CROUCHED = WalkTuning(fallen=0.45)  # a body that has just landed has its hips low


@dataclass(frozen=True, eq=False)
class CatchSteps:
    """The steps that catch a fall: the controller that takes them, and its memory."""

    controller: Locomotion
    memory: LocomotionMemory

    @property
    def stands(self) -> bool:
        """Whether the steps are over and the body stands."""
        return self.memory.doing == "stand" and not self.memory.stand.fallen

    @property
    def cause(self) -> str:
        """Why the steps did not help; empty where they did."""
        if self.memory.doing == "stand":
            return "it lost its balance after a step" if self.memory.stand.fallen else ""
        return self.memory.walk.cause

    def act(self, snapshot: Snapshot) -> tuple[Action, CatchSteps]:
        """Returns the action of one tick and the steps after it."""
        action = self.controller.act(snapshot, self.memory)
        return action, replace(self, memory=action.memory)


def catch_steps(snapshot: Snapshot, rate: float, terrain: Terrain | None) -> CatchSteps:
    """Returns steps that begin now. The body goes on facing where its feet face."""
    from counterpoise.control.locomotion.locomotion import Locomotion  # here, because it jumps by `Jump`, a performance
    from counterpoise.control.locomotion.locomotion_state import LocomotionMemory

    yaw = see(snapshot, walking_body(snapshot.character)).yaw
    heading = math.atan2(float(np.sin(yaw).sum()), float(np.cos(yaw).sum()))
    controller = Locomotion(heading=heading, rate=rate, terrain=terrain, tuning=CROUCHED)
    return CatchSteps(controller, LocomotionMemory(doing="step"))


@kept_with_character
def can_step(character: Character) -> bool:
    """Returns whether the body can walk."""
    try:
        walking_body(character)
    except CounterpoiseError:
        return False
    return True


def is_level(plan: PlannedMotion, rise: float) -> bool:
    """Returns whether the plan ends on the level ground at z = 0."""
    return all(
        abs(float(np.asarray(surface.origin)[2]) + rise) < SAME_HEIGHT and float(surface.normal[2]) > 1.0 - 1e-6
        for surface in plan.surfaces[-1][:2]
    )


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
