"""What the experiments with `Locomotion` share: one run from a random start, its heading, its landings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.snapshot import Snapshot
from counterpoise.character.state import State
from counterpoise.control.basic import Action, Controller
from counterpoise.control.locomotion import Locomotion
from counterpoise.experiments.base import Lab
from counterpoise.experiments.walking import how_it_fell
from counterpoise.simulate.loop import simulate
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.start import disturbed_start
from counterpoise.spatial import to_matrix

STRIDE = 1.1  # [s] of a walk; a wish comes at a random moment of it
WALKS = 5.0  # [s] from standing until it walks steadily
RUNS = 10.0  # [s] from standing until it runs steadily
STANDING_SPEED = 0.1  # [m/s] of the CoM: slower, it stands


def go(lab: Lab, name: str, seed: int, controller: Locomotion, seconds: float, **more: Any) -> tuple[Recording, str]:
    """Returns a run of a person from a disturbed start, and how it fell; empty where it did not."""
    human = character("human")
    recording = lab.simulate(name, human, controller, seconds, start=disturbed_start(human, seed), seed=seed, **more)
    return recording, how_it_fell(recording)


@dataclass(eq=False)
class Continued:
    """A controller that begins with a memory, and keeps that of its last tick."""

    controller: Controller
    memory: Any = None

    @property
    def rate(self) -> float:
        return self.controller.rate

    def begin(self, character: Character) -> Any:
        return self.controller.begin(character) if self.memory is None else self.memory

    def act(self, snapshot: Snapshot, memory: Any) -> Action:
        action = self.controller.act(snapshot, memory)
        self.memory = action.memory
        return action


@lru_cache(maxsize=64)
def under_way(speed: float, seed: int, until: float, figure: str = "human") -> tuple[State, Any, str]:
    """Returns the state and the memory of a body that has gone at a speed from a disturbed start until a time [s].

    Also how it fell; empty where it did not. Several trials go on from there.
    """
    body, going = character(figure), Continued(Locomotion(speed))
    recording = simulate(body, going, until, start=disturbed_start(body, seed), seed=seed)
    if recording.status == "interrupted":
        raise KeyboardInterrupt
    last = body.state(recording.positions()[-1], recording.velocities()[-1], float(recording.time[-1]))
    return last, going.memory, how_it_fell(recording)


def go_on(
    lab: Lab, name: str, seed: int, speed: float, at: float, controller: Locomotion, seconds: float, **more: Any
) -> tuple[Recording, str]:
    """Returns what a person does from a time `at` [s] on that has gone at a speed before, and how it fell."""
    state, memory, fell = under_way(speed, seed, at)
    human, going = character("human"), Continued(controller, memory)
    recording = lab.simulate(name, human, going, seconds, start=state, seed=seed, **more)
    return recording, fell or how_it_fell(recording)


def a_moment(seed: int, earliest: float) -> tuple[float, float]:
    """Returns a random moment within one stride after the earliest [s], and a side: 1 left, -1 right."""
    rng = np.random.default_rng(seed)
    return earliest + STRIDE * float(rng.uniform()), 1.0 if rng.uniform() < 0.5 else -1.0


def yaws(recording: Recording) -> Array:
    """Returns the direction of the hips at every row, without leaps [rad]."""
    forward = np.array([to_matrix(q)[:2, 0] for q in recording.positions()[:, 3:7]])
    return np.unwrap(np.arctan2(forward[:, 1], forward[:, 0]))


def landings(recording: Recording, first: float, last: float) -> int:
    """Returns how many times a foot lands between two times [s], by the force of the ground."""
    a, b = recording.row_at(first), recording.row_at(last)
    weight = recording.character.weight
    on = [measure.loaded(load[:, 2], weight, recording.time) for load in measure.foot_forces(recording).values()]
    return int(sum(np.sum(~foot[a:b] & foot[a + 1 : b + 1]) for foot in on))


def steps_taken(recording: Recording) -> int:
    """Returns how many steps were taken. `notes["steps"]` counts those since it last stood, and begins anew."""
    return int(np.count_nonzero(np.diff(np.nan_to_num(recording.notes["steps"])) > 0.0))


def stands_from(recording: Recording, after: float) -> float:
    """Returns when the CoM comes to rest for good [s], after a time; infinity where it still moves at the end."""
    com, time = measure.com(recording)[:, :2], recording.time
    apart = max(1, round(0.1 / recording.timestep))
    speed = np.linalg.norm(com[apart:] - com[:-apart], axis=1) / (time[apart:] - time[:-apart])
    moving = np.flatnonzero(speed >= STANDING_SPEED)
    if len(moving) and moving[-1] + 1 >= len(speed):
        return math.inf
    return max(after, float(time[moving[-1] + 1]) if len(moving) else after)


def speed_between(recording: Recording, first: float, last: float) -> float:
    """Returns the mean speed of the CoM over the ground between two times [m/s]."""
    way = measure.com(recording)[recording.row_at(first) : recording.row_at(last) + 1, :2]
    return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum()) / (last - first)
