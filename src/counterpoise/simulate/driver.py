"""One character's controller during a run: its ticks, its memory, and torques kept within the joints' limits."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_snapshot
from counterpoise.character.state import State
from counterpoise.control.basic import Action, Controller, Passive
from counterpoise.errors import BadValue
from counterpoise.simulate.reading import clamp_torques


@dataclass
class Driver:
    """A controller between its ticks, with all it has noted so far."""

    figure: Character
    controller: Controller
    steps_per_tick: int
    memory: Any
    torque: Array  # (nv,) clamped, as applied until the next tick
    clamped: int = 0  # torques beyond their limits, summed over joints and ticks
    ticks: list[float] = field(default_factory=list)  # [s]
    notes: list[dict[str, float | str]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # wall-clock time of each tick

    def tick(self, state: State) -> None:
        """Asks the controller for its action, and keeps its torques within the limits of the joints."""
        began = clock.perf_counter()
        action = self.controller.act(take_snapshot(self.figure, state), self.memory)
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
        self.clamped += over
        self.ticks.append(state.time)
        self.notes.append({**action.notes, "clamped": float(over)})
        self.seconds.append(clock.perf_counter() - began)

    def note_columns(self) -> dict[str, NDArray[Any]]:
        """Returns the notes of all ticks by name: numbers as floats (NaN where a tick has none), words as text."""
        names = sorted({name for note in self.notes for name in note})
        out: dict[str, NDArray[Any]] = {}
        for name in names:
            values = [note.get(name) for note in self.notes]
            if any(isinstance(value, str) for value in values):
                out[name] = np.array(["" if value is None else str(value) for value in values])
            else:
                out[name] = np.array([np.nan if value is None else float(value) for value in values])
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
