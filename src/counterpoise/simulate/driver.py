"""One character's controller during a run: its ticks, its memory, and torques kept within the joints' limits."""

from __future__ import annotations

import time as clock
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot, SnapshotReader, take_snapshot
from counterpoise.character.state import State
from counterpoise.character.tables import tables_of
from counterpoise.control.basic import Action, Controller, Passive
from counterpoise.errors import BadValue
from counterpoise.simulate.reading import clamp_torques, measure_forces
from counterpoise.terrain import Terrain

StepContacts = tuple[NDArray[np.int32], Array, Array]  # bodies (k, 2), places and forces (k, 3) of a step's contacts


class TickNotes(NamedTuple):
    """What one control tick left behind."""

    step: int
    time: float  # [s]
    notes: dict[str, float | str]  # of the controller, and "clamped": how many torques were beyond their limits
    seconds: float  # wall-clock time it took


@dataclass
class Driver:
    """A controller between its ticks, with the notes of the ticks that are kept."""

    figure: Character
    controller: Controller
    steps_per_tick: int
    memory: Any
    torque: Array  # (nv,) clamped, as applied until the next tick
    first_step: int = 0  # the step of the controller's first tick
    ticks: deque[TickNotes] = field(default_factory=deque)
    terrain: Terrain | None = None

    def __post_init__(self) -> None:
        self.controller = knowing_terrain(self.controller, self.terrain)

    def is_due(self, step: int) -> bool:
        return (step - self.first_step) % self.steps_per_tick == 0

    def tick(
        self, step: int, state: State, reader: SnapshotReader | None = None, contacts: StepContacts | None = None,
        first_body: int = 1,
    ) -> None:  # fmt: skip
        """Asks the controller for its action, and keeps its torques within the limits of the joints.

        `reader` reads the snapshot from the simulation, where that has the same dynamics as the figure alone.
        `contacts` are those of the last step, in which the figure's first body is number `first_body`.
        """
        began = clock.perf_counter()
        snapshot = take_snapshot(self.figure, state) if reader is None else reader.read(state)
        if contacts is not None:
            measure_contact_forces(snapshot, contacts, first_body)
        action = self.controller.act(snapshot, self.memory)
        if not isinstance(action, Action):
            raise BadValue(f"{type(self.controller).__name__}.act must return an Action; got {type(action).__name__}")
        self.memory = action.memory
        torque, limit = np.asarray(action.torque, float), self.figure.torque_limit
        fits = torque.shape == limit.shape
        over = clamp_torques(torque, limit, self.figure.root_dofs.stop, self.torque) if fits else -1
        if over < 0:
            raise BadValue(
                f"{type(self.controller).__name__} gave torques of shape {torque.shape} or not finite at "
                f"t = {state.time:.4f} s; {self.figure.name!r} needs {self.figure.nv} finite numbers"
            )
        notes = {**action.notes, "clamped": float(over)}
        self.ticks.append(TickNotes(step, state.time, notes, clock.perf_counter() - began))

    def change_controller(self, controller: Controller, memory: Any, step: int, timestep: float) -> None:
        """Goes on with another controller from a step on.

        It has its first tick at once, except where its type and rate are those of the one before: then the ticks go on
        in their rhythm.
        """
        steps = steps_per_tick(controller.rate, timestep)
        if type(controller) is not type(self.controller) or steps != self.steps_per_tick:
            self.first_step, self.steps_per_tick = step, steps
        self.controller, self.memory = knowing_terrain(controller, self.terrain), memory

    def forget(self, before: int) -> None:
        """Drops the notes of the ticks before a step."""
        while self.ticks and self.ticks[0].step < before:
            self.ticks.popleft()

    def ticks_since(self, step: int) -> list[TickNotes]:
        """The kept ticks from a step on."""
        recent = list(takewhile(lambda tick: tick.step >= step, reversed(self.ticks)))
        return recent[::-1]


def knowing_terrain(controller: Controller, terrain: Terrain | None) -> Controller:
    """Returns the controller with knowledge of the terrain it is on, where it has use for it.

    Such a controller has a method `on_terrain(terrain)` that returns it.
    """
    on_terrain = getattr(controller, "on_terrain", None)
    return controller if terrain is None or on_terrain is None else on_terrain(terrain)


def measure_contact_forces(snapshot: Snapshot, contacts: StepContacts, first_body: int) -> None:
    """Adds the forces that a step's contacts had on the figure to a snapshot that was made just now."""
    places, tables = snapshot.contact_position, tables_of(snapshot.character)
    on_point, on_body = np.empty(places.shape), np.empty(snapshot.body_position.shape)
    measure_forces(*contacts, first_body, places, tables.point_body, on_point, on_body)
    fields = snapshot.__dict__  # of a frozen value that nobody has seen yet
    fields["contact_force"], fields["body_force"] = on_point, on_body


def count_clamped(ticks: Sequence[TickNotes]) -> int:
    """Torques beyond their limits, summed over joints and ticks."""
    return int(sum(float(tick.notes["clamped"]) for tick in ticks))


def note_columns(ticks: Sequence[TickNotes]) -> dict[str, NDArray[Any]]:
    """Returns the notes of ticks by name: numbers as floats (NaN where a tick has none), words as text."""
    notes = [tick.notes for tick in ticks]
    out: dict[str, NDArray[Any]] = {}
    for name in sorted(set().union(*notes)):
        values = [note.get(name) for note in notes]
        if any(issubclass(kind, str) for kind in set(map(type, values))):
            out[name] = np.array(["" if value is None else str(value) for value in values])
        else:
            out[name] = np.array(values, float)  # None becomes NaN
    return out


def steps_per_tick(rate: float, timestep: float) -> int:
    """Physics steps from one tick of a controller to the next, for its rate [Hz]."""
    if not (np.isfinite(rate) and rate > 0.0):
        raise BadValue(f"a controller's rate must be positive [Hz]; got {rate!r}")
    return max(1, round(1.0 / (rate * timestep)))


def one_controller_each(controller: Controller | Sequence[Controller] | None, count: int) -> list[Controller]:
    """A list of `count` controllers: those given, the same one for all, or passive ones."""
    if controller is None:
        return [Passive()] * count
    if isinstance(controller, Sequence):
        if len(controller) != count:
            raise BadValue(f"{count} figures need {count} controllers; got {len(controller)}")
        return list(controller)
    if not isinstance(controller, Controller):
        raise BadValue(
            f"a controller has `rate`, `begin(character)` and `act(snapshot, memory)`; got {type(controller).__name__}"
        )
    return [controller] * count
