"""A jump within locomotion: it comes to stand with its feet side by side, jumps by `Jump`, and goes on."""

from __future__ import annotations

from collections.abc import Callable

from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.locomotion.locomotion_state import LocomotionMemory
from counterpoise.control.perform.jump import Jump
from counterpoise.control.stand import StandMemory
from counterpoise.control.walk.schedule import is_even
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.control.walk.wishes import Wishes
from counterpoise.errors import BadValue
from counterpoise.quick import altered

LiveJump = Jump | Callable[[float], Jump | None]  # a jump, or a function of time [s] that returns one or None


def with_jump(
    given: LiveJump | None, now: float, wishes: Wishes, memory: LocomotionMemory
) -> tuple[Wishes, LocomotionMemory]:
    """Returns the wishes of a body that is to jump, and the memory with that jump.

    A jump is done once. It is done again where it was not asked for in between, or another one is asked for.
    """
    asked = given(now) if callable(given) else given
    if asked is not None and not isinstance(asked, Jump):
        raise BadValue(f"Locomotion.jump is a Jump, or a function of time that returns one or None; got {asked!r}")
    if asked is None:
        if memory.last_jump is not None and memory.jump is None:
            memory = altered(memory, last_jump=None)
    elif asked.wish != memory.last_jump and memory.jump is None:
        memory = altered(memory, jump=asked, last_jump=asked.wish)
    if memory.jump is not None:
        wishes = wishes._replace(speed=0.0, aside=0.0, even=True)
    return wishes, memory


def can_jump(memory: LocomotionMemory, seen: SeenBody, body: WalkingBody) -> bool:
    """Returns whether the jump can begin: it stands on both feet, side by side."""
    even = is_even(seen, memory.walk.heading, body)
    return memory.jump is not None and memory.doing == "stand" and not memory.stand.fallen and even


def leap(snapshot: Snapshot, memory: LocomotionMemory) -> Action:
    """Returns the action of a body that jumps. Where the jump is over, it stands by the law of locomotion."""
    jump = memory.jump
    assert jump is not None
    inner = jump.begin(snapshot.character) if memory.jumping is None else memory.jumping
    action = jump.act(snapshot, inner)
    inner = action.memory
    stage = inner.inner.stage
    notes = {**action.notes, "phase": "fallen" if stage == "fallen" else "jump", "steps": float(memory.walk.steps)}
    after = altered(memory, doing="jump", jumping=inner)
    if stage == "stand" and inner.done + 1 >= jump.times:
        stand = StandMemory(time=snapshot.time, torque=action.torque)
        walk = WalkMemory(ground=memory.walk.ground)
        after = altered(memory, doing="stand", jump=None, jumping=None, stand=stand, walk=walk)
    return Action(action.torque, after, notes)
