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


def asked_jump(given: LiveJump | None, now: float, memory: LocomotionMemory) -> LocomotionMemory:
    """Returns the memory with the jump that is asked for now.

    A jump is done once. It is done again where it was not asked for in between, or another one is asked for.
    """
    asked = given(now) if callable(given) else given
    if asked is not None and not isinstance(asked, Jump):
        raise BadValue(f"Locomotion.jump is a Jump, or a function of time that returns one or None; got {asked!r}")
    if memory.jump is not None:
        return memory
    if asked is None:
        return memory if memory.last_jump is None else altered(memory, last_jump=None)
    return memory if asked.wish == memory.last_jump else altered(memory, jump=asked, last_jump=asked.wish)


def waits_to_jump(memory: LocomotionMemory) -> bool:
    """Returns whether a jump was asked for, or an edge asks for one, that is not done yet."""
    return memory.jump is not None or memory.edge_jump is not None


def before_jump(wishes: Wishes) -> Wishes:
    """Returns the wishes of a body that is to jump: it stops, with its feet side by side."""
    return wishes._replace(speed=0.0, aside=0.0, even=True)


def can_jump(memory: LocomotionMemory, seen: SeenBody, body: WalkingBody) -> bool:
    """Returns whether a jump can begin: it stands on both feet, side by side."""
    even = is_even(seen, memory.walk.heading, body)
    return waits_to_jump(memory) and memory.doing == "stand" and not memory.stand.fallen and even


def leap(snapshot: Snapshot, memory: LocomotionMemory) -> Action:
    """Returns the action of a body that jumps. Where the jump is over, it stands by the law of locomotion.

    A jump onto an edge comes first: it stands in front of it.
    """
    jump = memory.leap or memory.edge_jump or memory.jump
    assert jump is not None
    inner = jump.begin(snapshot.character) if memory.jumping is None else memory.jumping
    action = jump.act(snapshot, inner)
    inner = action.memory
    stage = inner.inner.stage
    notes = {**action.notes, "phase": "fallen" if stage == "fallen" else "jump", "steps": float(memory.walk.steps)}
    after = altered(memory, doing="jump", leap=jump, jumping=inner)
    if stage == "stand" and inner.done + 1 >= jump.times:
        stand = StandMemory(time=snapshot.time, torque=action.torque)
        done = {"edge_jump": None} if jump is memory.edge_jump else {"jump": None}
        walk = WalkMemory(ground=memory.walk.ground)
        after = altered(memory, doing="stand", leap=None, jumping=None, stand=stand, walk=walk, **done)
    return Action(action.torque, after, notes)
