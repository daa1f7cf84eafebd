"""The plan of the next steps of a body in a scene: [steps_ahead] says how it moves and what is asked of it.

[steps_ahead]
velocity = [0.9, -0.5]   # [m/s] of the body, which stands otherwise
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterpoise.errors import unknown_name
from counterpoise.plan import PlanCosts
from counterpoise.scene.contents import MAIN, SceneCharacter
from counterpoise.scene.controllers import read_values
from counterpoise.spacetime.stunt.reading import Table

if TYPE_CHECKING:
    from counterpoise.character.character import Character
    from counterpoise.plan import FootstepPlan


@dataclass(frozen=True)
class SceneSteps:
    """A body that moves at a velocity, and the steps that are asked of it."""

    character: str
    velocity: tuple[float, float]  # [m/s] over the ground
    speed: float  # [m/s] asked for
    aside: float  # [m/s] asked for, to the left
    heading: float | None  # [rad]; None: that of the feet
    steps: int
    costs: PlanCosts


def read_steps(top: Table, characters: Mapping[str, SceneCharacter]) -> SceneSteps | None:
    """Reads the table [steps_ahead]; None where there is none."""
    table = top.table("steps_ahead", "[steps_ahead]")
    if table is None:
        return None
    owner = table.text("character", "a character of the scene") or MAIN
    if owner not in characters:
        with table.at("character"):
            raise unknown_name("character of the scene", owner, characters)
    velocity = table.numbers("velocity", "[x, y] of the body in m/s", (2,)) or [0.0, 0.0]
    speed, aside = (table.number(key, "m/s") or 0.0 for key in ("speed", "aside"))
    heading = table.number("heading", "degrees to the left")
    steps = table.value("steps", "2 or 3")
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or steps < 1):
        raise table.fault("steps", f"steps is how many are planned, such as 3; got {steps!r}")
    costs = table.table("costs", "[steps_ahead.costs]")
    table.done()
    return SceneSteps(
        owner, (velocity[0], velocity[1]), speed, aside, None if heading is None else float(np.radians(heading)),
        steps or 3, PlanCosts() if costs is None else read_values(costs, PlanCosts()),
    )  # fmt: skip


def plan_steps(asked: SceneSteps, character: Character) -> FootstepPlan:
    """Returns the plan of the next steps."""
    from counterpoise.control.walk.steps_ahead import steps_ahead

    rest = character.state()
    v = np.array(rest.v)
    v[:2] = asked.velocity
    shot = character.snapshot(character.state(rest.q, v))
    return steps_ahead(shot, asked.speed, asked.aside, asked.heading, asked.steps, costs=asked.costs)


def plan_words(plan: FootstepPlan) -> list[str]:
    """Returns the steps of a plan, one line each."""
    rows = zip(plan.feet, plan.footholds, plan.landing_times, strict=True)
    return [
        f"{('left', 'right')[foot]} foot lands at {place[0]:.2f}, {place[1]:.2f} m after {time:.2f} s"
        for foot, place, time in rows
    ]
