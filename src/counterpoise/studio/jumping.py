"""Jumping on the way: a live `Locomotion` goes on, or stands before an edge, while the worker plans its jump."""

from __future__ import annotations

from dataclasses import replace

from counterpoise.character.character import Character
from counterpoise.control.locomotion import Locomotion
from counterpoise.control.locomotion.locomotion_state import LocomotionMemory
from counterpoise.control.perform.jump import Jump
from counterpoise.control.perform.jump_plan import JumpWish
from counterpoise.control.perform.plan_store import JumpPlan, is_planned, keep_plan
from counterpoise.studio.jump_wishes import first_jump
from counterpoise.studio.performing import NewPlan

GOES, PLANS, JUMPS, FELL = "goes", "is planned", "jumps", "fell"  # stages, as the page says them


class Jumping:
    """The jumps of a live Locomotion: those that are asked for, and those onto edges that are too high for a step."""

    def __init__(self, character: Character) -> None:
        self.character, self.wish = character, first_jump(character)
        self.asked: JumpWish | None = None  # by hand, and not begun yet
        self.planning: JumpWish | None = None  # in the worker
        self.refused: set[JumpWish] = set()  # edges before which it stands: no jump was found for them
        self.stage = GOES

    def begin(self, controller: Locomotion) -> Locomotion:
        """Returns the controller that leaves planning to others."""
        return replace(controller, plans=False)

    def ask(self) -> None:
        """Asks for the jump of the wishes."""
        self.asked = self.wish

    def take_body(self, character: Character) -> None:
        """Goes on with another body, for which everything is planned again."""
        self.character, self.planning, self.refused = character, None, set()

    def to_plan(self, controller: Locomotion, memory: LocomotionMemory | None) -> JumpWish | None:
        """Returns the jump that has to be planned now: the one that is asked for, or the one onto the edge ahead."""
        if self.planning is not None or memory is None:
            return None
        ahead = controller.jump_ahead(memory, self.character)
        if ahead is None:
            self.refused.clear()
        for wish in (self.asked, None if ahead is None else ahead.wish):
            if wish is not None and wish not in self.refused and not is_planned(self.character, wish):
                return wish
        return None

    def found(self, plan: NewPlan | None) -> None:
        """Takes what the worker found; None: nothing, so that it is not tried again at once."""
        wish, self.planning = self.planning, None
        if wish is None:
            return
        if plan is not None:
            keep_plan(self.character, wish, JumpPlan(plan.motion, plan.wish or wish, plan.note))
            return
        self.refused.add(wish)
        if self.asked == wish:
            self.asked = None
            self.refused.discard(wish)

    def next(self, controller: Locomotion, memory: LocomotionMemory | None) -> Locomotion:
        """Returns the controller for the next picture: it jumps once what was asked for is planned."""
        if memory is None:
            return controller
        jumps = memory.doing == "jump" or memory.jump is not None
        fell = memory.jumping is not None and memory.jumping.inner.stage == "fallen"
        self.stage = FELL if fell else JUMPS if jumps else PLANS if self.planning is not None else GOES
        given = controller.jump
        if isinstance(given, Jump):
            over = memory.jump is None and memory.last_jump == given.wish
            return replace(controller, jump=None) if over else controller
        if self.asked is None or memory.last_jump is not None or not is_planned(self.character, self.asked):
            return controller
        wish, self.asked = self.asked, None
        jump = Jump(wish.height, wish.twist, wish.forward, wish.side, wish.style)
        return replace(controller, jump=jump)
