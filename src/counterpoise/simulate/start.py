"""The states a simulation starts from."""

from __future__ import annotations

from collections.abc import Sequence

from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_snapshot
from counterpoise.character.state import State
from counterpoise.errors import BadValue
from counterpoise.simulate.world import World


def standing_start(character: Character, world: World) -> State:
    """The neutral pose at rest, raised so that no contact point is below tilted ground."""
    if not any(world.tilt) or not character.floating or not character.feet:
        return character.state()
    points = take_snapshot(character, character.state()).contact_position
    return lifted(character, character.state(), max(world.height_at(p[0], p[1]) - p[2] for p in points))


def lifted(character: Character, state: State, height: float) -> State:
    """The state with the root raised by `height` [m]."""
    q = state.q.copy()
    root = character.joints[0]
    up = root.qpos.start + 2 if root.kind == "free" else character.joint("root_z").qpos.start
    q[up] += height
    return character.state(q, state.v)


def start_states(start: State | Sequence[State] | None, figures: Sequence[Character], world: World) -> list[State]:
    """One start state for each figure: those given, or standing ones."""
    if start is None:
        return [standing_start(figure, world) for figure in figures]
    given = [start] if isinstance(start, State) else list(start)
    if len(given) != len(figures):
        raise BadValue(f"{len(figures)} figures need {len(figures)} start states; got {len(given)}")
    return [figure.state(s.q, s.v, s.time) for figure, s in zip(figures, given, strict=True)]
