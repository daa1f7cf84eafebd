"""Routine: one controller after the other; each begins when the one before is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action, Controller
from counterpoise.errors import BadValue
from counterpoise.terrain import Terrain

Item = Controller | tuple[Controller, float]


@dataclass(frozen=True, eq=False)
class RoutineMemory:
    """What one tick leaves for the next."""

    memories: tuple[Any, ...]  # of the items
    at: int = 0  # the item that is done now
    since: float | None = None  # [s] when it began


@dataclass(frozen=True, eq=False)
class Routine:
    """Does its items in order: `Routine([Jump(onto=0.3), Jump(twist=180), (Stand(), 1.0), Jump(onto=-0.3)])`.

    An item is a controller that knows when it is done (`Jump`, `Perform`), or a pair of any controller and the seconds
    it acts. The last item acts on. All plans are made before the first begins.
    """

    items: Sequence[Item]
    rate: float = 500.0  # [Hz]

    def __post_init__(self) -> None:
        if not self.items:
            raise BadValue("a routine needs at least one item")
        for number, item in enumerate(self.items, start=1):
            controller, seconds = _parts(item)
            if not isinstance(controller, Controller):
                raise BadValue(f"item {number} of a routine is a controller, or (controller, seconds); got {item!r}")
            if seconds is not None and not seconds > 0.0:
                raise BadValue(f"item {number} of a routine acts for a positive time [s]; got {seconds!r}")
            last = number == len(self.items)
            if seconds is None and not last and not hasattr(controller, "is_done"):
                raise BadValue(
                    f"item {number} of a routine, {type(controller).__name__}, never ends: give (controller, seconds)"
                )

    def begin(self, character: Character) -> RoutineMemory:
        return RoutineMemory(tuple(_parts(item)[0].begin(character) for item in self.items))

    def act(self, snapshot: Snapshot, memory: RoutineMemory) -> Action:
        if memory.since is None:
            memory = replace(memory, since=snapshot.time)
        if memory.at + 1 < len(self.items) and self._is_over(snapshot.time, memory):
            memory = replace(memory, at=memory.at + 1, since=snapshot.time)
        controller, own = _parts(self.items[memory.at])[0], memory.memories[memory.at]
        action = controller.act(snapshot, own)
        memories = (*memory.memories[: memory.at], action.memory, *memory.memories[memory.at + 1 :])
        return Action(action.torque, replace(memory, memories=memories), {**action.notes, "item": memory.at + 1.0})

    def is_done(self, memory: RoutineMemory) -> bool:
        """Returns whether the last item is done."""
        controller = _parts(self.items[-1])[0]
        done = getattr(controller, "is_done", None)
        return memory.at + 1 == len(self.items) and done is not None and bool(done(memory.memories[-1]))

    def on_terrain(self, terrain: Terrain) -> Routine:
        """Returns the routine with items that know the terrain, where they have use for it."""
        items: list[Item] = []
        for item in self.items:
            controller, seconds = _parts(item)
            knowing = getattr(controller, "on_terrain", None)
            controller = controller if knowing is None else knowing(terrain)
            items.append(controller if seconds is None else (controller, seconds))
        return replace(self, items=items)

    def _is_over(self, time: float, memory: RoutineMemory) -> bool:
        controller, seconds = _parts(self.items[memory.at])
        assert memory.since is not None
        if seconds is not None:
            return time >= memory.since + seconds - 1e-9
        return bool(controller.is_done(memory.memories[memory.at]))  # type: ignore[attr-defined]


def _parts(item: Item) -> tuple[Controller, float | None]:
    return item if isinstance(item, tuple) else (item, None)
