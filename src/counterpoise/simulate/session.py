"""Session: a simulation in several stretches; controller, disturbances, world and body may change between them.

Model and data of the physics stay the same from stretch to stretch, so that many short stretches are the same run as
one long one, at the same cost. They are built anew where the world or the body is replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_body_poses, take_contact_places, take_snapshot
from counterpoise.character.state import State
from counterpoise.control.basic import Controller
from counterpoise.errors import BadValue
from counterpoise.progress import Watch, watching
from counterpoise.simulate.disturbances import Disturbance, check_disturbances
from counterpoise.simulate.driver import one_controller_each
from counterpoise.simulate.loop import Run, check_seconds
from counterpoise.simulate.props import Prop, write_velocity
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.run_log import RunLog
from counterpoise.simulate.start import start_states
from counterpoise.simulate.world import World, build_stage

DEFAULT_KEEP = 10.0  # [s] of recording: about 35 MB for a human
ROWS_PER_BLOCK = 256  # steps whose memory is released or used again at once


class Session:
    """One character in a world, or several, simulated stretch by stretch. `controller`, `disturbances`, `world` and
    `character` may be set between stretches; the motion continues from its current state.

        session = cp.Session(human, cp.Stand())
        session.advance(1.0)
        session.disturbances = [cp.Push("thorax", (250, 0, 0), session.time + 0.1, 0.1)]
        session.controller = replace(session.controller, height=0.8)
        session.advance(2.0)
        session.character = human.rescaled({"arms": 1.5})
        session.advance(2.0)

    Stretches may have any length, such as the frames of a game: together they are, to the last bit, the same as one
    `simulate`. Rows of the last `keep` seconds are kept (None: all of them), so memory does not grow.

    A controller of the same type keeps its memory. One of another type starts with the memory that its
    `take_over(character, snapshot, previous_controller, previous_memory)` returns, if it has this method, or else with
    `begin(character)`. A new body must have the same joints. It takes over pose and velocity, with its feet where they
    were.

    Of several characters, `controllers` and `states` are lists; `controller`, `character` and `state` are the first's.
    """

    def __init__(
        self,
        character: Character | Sequence[Character],
        controller: Controller | Sequence[Controller] | None = None,
        *,
        world: World | None = None,
        disturbances: Sequence[Disturbance] = (),
        start: State | Sequence[State] | None = None,
        seed: int = 0,
        keep: float | None = DEFAULT_KEEP,
    ) -> None:
        if keep is not None and not (np.isfinite(keep) and keep >= 0.0):
            raise BadValue(f"keep is how many seconds of recording are kept, or None for all; got {keep!r}")
        self.world = world if world is not None else World()
        self._figures = [character] if isinstance(character, Character) else list(character)
        if not self._figures:
            raise BadValue("there is no figure to simulate")
        self.controllers: list[Controller] = one_controller_each(controller, len(self._figures))
        self.disturbances: Sequence[Disturbance] = disturbances
        self.seed, self.keep = seed, keep
        self._states = start_states(start, self._figures, self.world)  # where the next run starts
        self._remainder = Fraction(0)  # seconds asked for and not simulated yet
        self._memories: list[Any] = [None] * len(self._figures)
        self._memories_of: list[Controller | None] = [None] * len(self._figures)  # controllers that they belong to
        self._run: Run | None = None  # the present world and body
        self._platform: tuple[World, float, Array, Array] | None = None  # of the run before: world, start, q, v
        self._props: tuple[World, tuple[Prop, ...]] | None = None  # of the run before: its world, as they are now
        self._past: list[Recording] = []  # of worlds and bodies before, oldest first

    # -- reading ------------------------------------------------------------------------------------------------------
    @property
    def state(self) -> State:
        """The current pose and velocity."""
        return self._states[0] if self._run is None else self._run.state()

    @property
    def states(self) -> list[State]:
        """The current pose and velocity of every character."""
        return [self._run.state(k) if self._run is not None else state for k, state in enumerate(self._states)]

    @property
    def controller(self) -> Controller:
        """What drives the character; it may be replaced by any other."""
        return self.controllers[0]

    @controller.setter
    def controller(self, other: Controller) -> None:
        self.controllers[0] = other

    @property
    def memory(self) -> Any:
        """What the last tick of the controller left for the next; None before the first stretch."""
        return self._memories[0] if self._run is None else self._run.drivers[0].memory

    @property
    def time(self) -> float:
        """Simulated time so far [s]: the start, and a whole number of physics steps."""
        return self._states[0].time if self._run is None else self._run.time_of(self._run.steps)

    @property
    def props(self) -> tuple[Prop, ...]:
        """The props of the world as they are now."""
        if self._run is not None and self._run.stage.world is self.world:
            return self._run.props()
        return self._props[1] if self._props is not None and self._props[0] is self.world else self.world.props

    @property
    def remainder(self) -> float:
        """Seconds asked for and not simulated yet, at most half a physics step. Negative: simulated ahead."""
        return float(self._remainder)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies in the order of `poses` and `matrices`, root first."""
        return self.character.segments

    def poses(self) -> Array:
        """The current pose of every body in the world, (bodies, 7): x, y, z [m], then the quaternion w, x, y, z."""
        return take_body_poses(self.character, self.state.q)

    def matrices(self) -> Array:
        """The current pose of every body as a matrix, (bodies, 4, 4), that takes points of the body to the world."""
        poses = self.poses()
        out = np.zeros((len(poses), 4, 4))
        out[:, :3, :3], out[:, :3, 3], out[:, 3, 3] = spatial.to_matrix(poses[:, 3:]), poses[:, :3], 1.0
        return out

    @property
    def recordings(self) -> list[Recording]:
        """What is kept, oldest first: one recording for each world and body so far. They are copies."""
        now = [] if self._run is None else [self._run.recording(self._run.log.first, self._run.log.first_warm_start)]
        return [*self._past, *now]

    # -- changing -----------------------------------------------------------------------------------------------------
    @property
    def character(self) -> Character:
        """The character; it may be replaced by one with the same joints."""
        return self._figures[0]

    @character.setter
    def character(self, other: Character) -> None:
        self.change_body(other)

    def change_body(self, other: Character, figure: int = 0) -> None:
        """Goes on with another body: pose and velocity stay, with the feet where they were. `figure` counts from 0."""
        old = self._figures[figure]
        if other.joint_names != old.joint_names or other.nq != old.nq:
            raise BadValue(
                f"{other.name!r} has other joints than {old.name!r}: only proportions may change while it moves "
                "(character.rescaled(...)); start a new Session for another figure"
            )
        self._end_run()
        state = self._states[figure]
        q = state.q.copy()
        if other.feet and other.floating and other.joints[0].kind == "free":
            before, after = take_contact_places(old, q), take_contact_places(other, q)
            q[:2] += (before - after).mean(axis=0)[:2]
            q[2] += before[:, 2].min() - after[:, 2].min()
        self._states[figure] = other.state(q, state.v, state.time)
        self._figures[figure] = other
        previous = self._memories_of[figure]
        if previous is not None:
            carry = getattr(previous, "carry", None)
            before = self._memories[figure]
            self._memories[figure] = previous.begin(other) if carry is None else carry(before, other)

    def throw(self, prop: Prop) -> None:
        """Puts another prop into the world, where it flies from its place on."""
        self.world = replace(self.world, props=(*self.props, prop))

    def advance(self, seconds: float, progress: Watch | None = None) -> Recording:
        """Simulates the next `seconds`, rounded to whole physics steps. Returns the recording of this stretch.

        What the rounding leaves over is counted exactly and added to the next stretch.
        """
        check_seconds(seconds)
        check_disturbances(self.disturbances, self._figures, len(self.world.props))
        run = self._ready_run()
        timestep = Fraction(run.timestep)
        asked = self._remainder + Fraction(float(seconds))
        steps = round(asked / timestep)
        self._remainder = asked - steps * timestep
        if self.keep is not None:
            run.log.keep = max(steps, round(self.keep / run.timestep))
        run.disturbances = self.disturbances
        first, warm_start = run.steps, run.data.qacc_warmstart.copy()
        try:
            with watching(progress) as reporter:
                run.run(steps, reporter)
        except BaseException:  # an error of the controller or a disturbance: the session stays where it came to
            self._stop()
            raise
        recording = run.recording(first, warm_start)
        for driver in run.drivers:
            driver.forget(run.log.first)
        if run.status != "finished":
            self._stop()
        return recording

    def _ready_run(self) -> Run:
        """The run of the present world, body and controller; a new one only where world or body were replaced."""
        if self._run is not None and self._run.stage.world is not self.world:
            self._end_run()
        if self._run is None:
            for k, memory in enumerate(self._memories):
                self._take_memory(k, memory)
            self._run = self._new_run()
            return self._run
        for k, driver in enumerate(self._run.drivers):
            if self.controllers[k] is not self._memories_of[k]:
                self._take_memory(k, driver.memory)
                driver.change_controller(self.controllers[k], self._memories[k], self._run.steps, self._run.timestep)
        return self._run

    def _take_memory(self, figure: int, memory: Any) -> None:
        """Gets a controller's first memory: the given one, where it belongs to a controller of the same type."""
        controller, previous = one_controller_each(self.controllers[figure], 1)[0], self._memories_of[figure]
        if type(previous) is not type(controller):
            character, take_over = self._figures[figure], getattr(controller, "take_over", None)
            if previous is None or take_over is None:
                memory = controller.begin(character)
            else:
                memory = take_over(character, take_snapshot(character, self.states[figure]), previous, memory)
        self.controllers[figure] = self._memories_of[figure] = controller
        self._memories[figure] = memory

    def _new_run(self) -> Run:
        """A run from the current state on. Platform and props move on where only the body was replaced; a platform also
        where another world shares it."""
        stage = build_stage(self.world, self._figures)
        log = RunLog(stage.model, ROWS_PER_BLOCK)
        run = Run(stage, self.controllers, self._memories, self._states, log, self.seed)
        if self._props is not None and self._props[0] is self.world:
            for prop, there in zip(self._props[1], stage.props, strict=True):
                run.qpos[there.qpos] = [*prop.place, *prop.turn]
                write_velocity(prop, there, run.qvel)
        if self._platform is not None and self._platform[0].platform is self.world.platform:
            _, run.platform_start, run.qpos[stage.platform_qpos], run.qvel[stage.platform_dofs] = self._platform
        return run

    def _stop(self) -> None:
        """Ends a run that was interrupted or diverged; the seconds that are missing are not made up for."""
        self._remainder = Fraction(0)
        self._end_run()

    def _end_run(self) -> None:
        """Keeps the state, the memory and the recording of the run, and lets go of its model and data."""
        run, self._run = self._run, None
        if run is None:
            return
        self._states = [run.state(k) for k in range(len(self._figures))]
        self._memories = [driver.memory for driver in run.drivers]
        q, v = run.log.final_state(run.steps, run.data)
        stage = run.stage
        self._props = (stage.world, run.props())
        self._platform = (stage.world, run.platform_start, q[stage.platform_qpos].copy(), v[stage.platform_dofs].copy())
        if run.steps > run.log.first:
            self._past.append(run.recording(run.log.first, run.log.first_warm_start))
        if self.keep is not None:
            self._past = [one for one in self._past if one.time[-1] >= self._states[0].time - self.keep]
