"""Jump: plans a jump by spacetime optimisation, performs it, and stands again; as often as asked.

A plan is kept with the body and on disk, by what was asked and for which body: the second time it costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.perform.jump_plan import JumpPlanTuning, JumpWish
from counterpoise.control.perform.perform import Perform, PerformMemory
from counterpoise.control.perform.plan_store import JumpPlan, is_planned, plan_jump
from counterpoise.control.perform.tuning import PerformTuning
from counterpoise.errors import BadValue

MOST_TIMES = 1000  # jumps in a row


@dataclass(frozen=True, eq=False)
class JumpMemory:
    """What one tick leaves for the next."""

    plan: JumpPlan
    perform: Perform
    inner: PerformMemory
    done: int = 0  # jumps that are over


@dataclass(frozen=True, eq=False)
class Jump:
    """Jumps where it stands, `times` times, and stands in between and afterwards.

    `height` is how far the CoM rises above its height in standing [m], over the higher of the two grounds. `forward`
    and `side` (to the left) are where it lands [m], `twist` how far it turns to the left [deg]. `onto` is the height of
    the ground that it lands on above the one it starts from [m], negative for a jump down. `style` is "plain", "tuck",
    "scissor" or "split". A jump that its strength does not allow is planned as high as it can be; `notes` of the
    recording say so.
    """

    height: float = 0.3
    twist: float = 0.0
    forward: float = 0.0
    side: float = 0.0
    style: str = "plain"
    onto: float = 0.0
    times: int = 1
    wait: float = 0.3  # [s] of standing before each jump, at least
    rate: float = 500.0  # [Hz]
    tuning: PerformTuning = field(default_factory=PerformTuning)
    planning: JumpPlanTuning = field(default_factory=JumpPlanTuning)

    def __post_init__(self) -> None:
        _ = self.wish
        if not (isinstance(self.times, int) and 1 <= self.times <= MOST_TIMES):
            raise BadValue(f"times is how often it jumps, 1 to {MOST_TIMES}; got {self.times!r}")
        if not (self.wait >= 0.0 and self.rate > 0.0):
            raise BadValue(f"wait is not negative and rate is positive; got {self.wait!r}, {self.rate!r}")

    @property
    def wish(self) -> JumpWish:
        """What is asked of the plan."""
        return JumpWish(self.height, self.forward, self.side, self.twist, self.style, self.onto)

    def is_planned(self, character: Character) -> bool:
        """Returns whether its plan is kept with a body: then it begins at once."""
        return is_planned(character, self.wish, self.planning)

    def begin(self, character: Character) -> JumpMemory:
        plan = plan_jump(character, self.wish, self.planning)
        perform = Perform(plan.motion, self.wait, self.rate, self.tuning)
        return JumpMemory(plan, perform, perform.begin(character))

    def act(self, snapshot: Snapshot, memory: JumpMemory) -> Action:
        if memory.done + 1 < self.times and memory.perform.is_done(memory.inner):
            inner = memory.perform.begin(snapshot.character)
            memory = replace(memory, inner=inner, done=memory.done + 1)
        action = memory.perform.act(snapshot, memory.inner)
        notes = {**action.notes, "jump": float(memory.done + 1)}
        if memory.plan.note:
            notes["plan"] = memory.plan.note
        return Action(action.torque, replace(memory, inner=action.memory), notes)

    def is_done(self, memory: JumpMemory) -> bool:
        """Returns whether the last jump is over and the body stands calmly again."""
        return memory.done + 1 >= self.times and memory.perform.is_done(memory.inner)
