"""Session: a simulation in several stretches; controller, disturbances, world and body may change between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_contact_places
from counterpoise.character.state import State
from counterpoise.control.basic import Controller, Passive
from counterpoise.errors import BadValue
from counterpoise.simulate.disturbances import Disturbance, check_disturbances
from counterpoise.simulate.loop import Progress, Run, check_seconds
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.start import standing_start
from counterpoise.simulate.world import World, build_stage


class Session:
    """One character in a world, simulated stretch by stretch. `controller`, `disturbances`, `world` and `character` may
    be set between stretches; the motion continues from its current state.

        session = cp.Session(human, cp.Stand())
        session.advance(1.0)
        session.disturbances = [cp.Push("thorax", (250, 0, 0), session.time + 0.1, 0.1)]
        session.controller = replace(session.controller, height=0.8)
        session.advance(2.0)
        session.character = human.rescaled({"arms": 1.5})
        session.advance(2.0)

    A stretch may be as short as one control tick. A controller of the same type keeps its memory; one of another type
    starts with new memory. A new body must have the same joints. It takes over pose and velocity, with its feet where
    they were.
    """

    def __init__(
        self,
        character: Character,
        controller: Controller | None = None,
        *,
        world: World | None = None,
        disturbances: Sequence[Disturbance] = (),
        start: State | None = None,
        seed: int = 0,
    ) -> None:
        self.world = world if world is not None else World()
        self.controller: Controller = controller if controller is not None else Passive()
        self.disturbances: Sequence[Disturbance] = disturbances
        self.seed = seed
        self.recordings: list[Recording] = []  # one for each stretch
        self._character = character
        given = standing_start(character, self.world) if start is None else start
        self._state = character.state(given.q, given.v, given.time)
        self._memory: Any = None
        self._memory_of: Controller | None = None  # the controller that the memory belongs to
        self._warm_start: Array | None = None  # the last accelerations, from which MuJoCo's solver starts

    @property
    def character(self) -> Character:
        """The character; it may be replaced by one with the same joints."""
        return self._character

    @character.setter
    def character(self, other: Character) -> None:
        old = self._character
        if other.joint_names != old.joint_names or other.nq != old.nq:
            raise BadValue(
                f"{other.name!r} has other joints than {old.name!r}: only proportions may change while it moves "
                "(character.rescaled(...)); start a new Session for another figure"
            )
        q = self._state.q.copy()
        if other.feet and other.floating and other.joints[0].kind == "free":
            before, after = take_contact_places(old, q), take_contact_places(other, q)
            q[:2] += (before - after).mean(axis=0)[:2]
            q[2] += before[:, 2].min() - after[:, 2].min()
        self._state = other.state(q, self._state.v, self._state.time)
        self._character, self._warm_start = other, None
        if self._memory_of is not None:
            carry = getattr(self._memory_of, "carry", None)
            self._memory = self._memory_of.begin(other) if carry is None else carry(self._memory, other)

    @property
    def state(self) -> State:
        """The current pose and velocity."""
        return self._state

    @property
    def time(self) -> float:
        """Simulated time so far [s]."""
        return self._state.time

    def advance(self, seconds: float, progress: Progress | None = None) -> Recording:
        """Simulates the next `seconds`. Returns the recording of this stretch, which is also added to `recordings`."""
        check_seconds(seconds)
        check_disturbances(self.disturbances, (self._character,))
        if self._memory_of is None or type(self._memory_of) is not type(self.controller):
            self._memory = self.controller.begin(self._character)
        stage = build_stage(self.world, (self._character,))
        run = Run(stage, [self.controller], self.disturbances, [self._state], seconds, self.seed, [self._memory])
        if self._warm_start is not None and len(self._warm_start) == len(run.data.qacc_warmstart):
            run.data.qacc_warmstart[:] = self._warm_start
        recording = run.run(progress)
        self._memory, self._memory_of = run.drivers[0].memory, self.controller
        self._warm_start = run.data.qacc_warmstart.copy()
        self._state = recording.state(-1)
        self.recordings.append(recording)
        return recording
