"""The objectives of a run: those of a walk, with the CoM led along all three axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.control.run.run_tuning import RunTuning
from counterpoise.control.walk.gait_cycle import GaitCycle, made_cycle
from counterpoise.control.walk.walk_objectives import WalkObjectives, walk_objectives
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.features import ComPosition
from counterpoise.objectives import Setpoint


@dataclass(frozen=True, eq=False)
class RunObjectives:
    """The objectives of a body without their references."""

    walk: WalkObjectives
    com: Setpoint  # along x, y and z
    cycle: GaitCycle


@kept_with_character
def run_objectives(character: Character, t: RunTuning) -> RunObjectives:
    """Returns the objectives of a run."""
    weight = t.whole_body.com_weight / walking_body(character).hips_height ** 2
    com = Setpoint(ComPosition(), np.zeros(3), stiffness=0.0, damping=0.0, weight=weight, name="com")
    return RunObjectives(walk_objectives(character, t.whole_body), com, made_cycle(character, t.style))
