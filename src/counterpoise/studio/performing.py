"""Performing: a live figure jumps as wished, or performs a motion of the scene; it stands before and after."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterpoise.character.character import Character
from counterpoise.control.basic import Controller
from counterpoise.control.perform import Perform, with_reserve
from counterpoise.control.perform.jump_plan import JumpWish
from counterpoise.control.perform.perform import PerformMemory
from counterpoise.control.perform.plan_of_motion import plan_of_motion
from counterpoise.control.perform.plan_store import plan_jump
from counterpoise.control.perform.planned_motion import PlannedMotion, plan_of_result
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.progress import Progress, Watch
from counterpoise.scene.scene import scene_from_text
from counterpoise.studio.jump_wishes import first_jump, jump_sliders, with_wish
from counterpoise.studio.tuning import OWN, Slider

WAIT = 0.1  # [s] of standing before it begins, at least
PlanKey = JumpWish | tuple[str, int]  # a jump, or a motion of the scene with the number of its frames


@dataclass(frozen=True, eq=False)
class NewPlan:
    """A plan, and a note where it is not quite what was asked for."""

    motion: PlannedMotion
    note: str = ""
    wish: JumpWish | None = None  # of a jump, as it was planned


class Performing:
    """What a live figure does when it is told to. Plans are kept for the next time."""

    def __init__(self, kind: str, character: Character, stand: Controller) -> None:
        self.kind, self.character, self.stand = kind, character, stand
        self.wish = first_jump(character)
        self.plans: dict[PlanKey, PlannedMotion] = {}
        self.wanted: PlanKey | None = None  # what is being planned
        self.stage = "stands"

    def key(self, motion: str, number: int) -> PlanKey:
        """Returns what has to be planned: the jump that is wished for, or the motion on the timeline."""
        return self.wish if self.kind == "jump" else (motion, number)

    def begin(self, plan: PlannedMotion) -> Perform:
        """Returns the controller that performs a plan from now on."""
        self.stage, self.wanted = "performs", None
        return Perform(plan, WAIT)

    def next(self, controller: Controller, memory: Any) -> Controller:
        """Returns the controller for the next picture: after a performance it stands, after a fall it gets up."""
        if not isinstance(controller, Perform) or not isinstance(memory, PerformMemory):
            return controller
        if memory.stage == "fallen":
            self.stage = f"fell: {memory.cause}"
            return self.stand
        if controller.is_done(memory):
            self.stage = "stands"
            return self.stand
        return controller

    @property
    def sliders(self) -> tuple[Slider, ...]:
        """The wishes for a jump; a motion of the scene has none."""
        return jump_sliders(self.wish, self.character, OWN) if self.kind == "jump" else ()

    def tune(self, name: str, value: float | str) -> None:
        """Sets a wish for the next jump."""
        self.wish = with_wish(self.wish, name, value)


# -- in the worker ----------------------------------------------------------------------------------------------------
def plan_for_jump(tell: Watch, character: Character, wish: JumpWish) -> NewPlan:
    """Plans a jump, or reads its plan from the disk."""
    tell(Progress("planning the jump", 0.0))
    plan = plan_jump(character, wish, watch=tell)
    return NewPlan(plan.motion, plan.note, plan.wish)


def plan_for_keys(tell: Watch, text: str, folder: Path, source: str, motion: str) -> NewPlan:
    """Optimises a motion of keys with strength in reserve, and plans its performance."""
    stunt = scene_from_text(text, folder, source).motion(motion).stunt
    if stunt is None or len(stunt.keys) < 2:
        raise BadValue("a performance needs two keys at least: pose the figure at another time")
    tell(Progress("optimising with strength in reserve", 0.0))
    result = with_reserve(stunt).optimize(callback=tell)
    if result.status == "stopped" or not result.ok:
        why = "; ".join(str(v) for v in result.violations[:2]) or result.status
        raise BadValue(f"this motion cannot be performed with strength in reserve: {why}")
    return NewPlan(plan_of_result(result))


def plan_for_clip(tell: Watch, motion: Motion) -> NewPlan:
    """Finds the contacts of a take, and plans its performance."""
    tell(Progress("finding contacts", 0.0))
    return NewPlan(plan_of_motion(motion))
