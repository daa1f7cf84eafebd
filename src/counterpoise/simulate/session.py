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
from counterpoise.simulate.start import standing_start
from counterpoise.simulate.world import MOST_PROPS, World, build_stage

DEFAULT_KEEP = 10.0  # [s] of recording: about 35 MB for a human
ROWS_PER_BLOCK = 256  # steps whose memory is released or used again at once


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

    Stretches may have any length, such as the frames of a game: together they are, to the last bit, the same as one
    `simulate`. Rows of the last `keep` seconds are kept (None: all of them), so memory does not grow.

    A controller of the same type keeps its memory. One of another type starts with the memory that its
    `take_over(character, snapshot, previous_controller, previous_memory)` returns, if it has this method, or else with
    `begin(character)`. A new body must have the same joints. It takes over pose and velocity, with its feet where they
    were.
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
        keep: float | None = DEFAULT_KEEP,
    ) -> None:
        if keep is not None and not (np.isfinite(keep) and keep >= 0.0):
            raise BadValue(f"keep is how many seconds of recording are kept, or None for all; got {keep!r}")
        self.world = world if world is not None else World()
        self.controller: Controller = one_controller_each(controller, 1)[0]
        self.disturbances: Sequence[Disturbance] = disturbances
        self.seed, self.keep = seed, keep
        self._character = character
        given = standing_start(character, self.world) if start is None else start
        self._state = character.state(given.q, given.v, given.time)  # where the next run starts
        self._remainder = Fraction(0)  # seconds asked for and not simulated yet
        self._memory: Any = None
        self._memory_of: Controller | None = None  # the controller that the memory belongs to
        self._run: Run | None = None  # the present world and body
        self._platform: tuple[World, float, Array, Array] | None = None  # of the run before: world, start, q, v
        self._props: tuple[World, tuple[Prop, ...]] | None = None  # of the run before: its world, as they are now
        self._past: list[Recording] = []  # of worlds and bodies before, oldest first

    # -- reading ------------------------------------------------------------------------------------------------------
    @property
    def state(self) -> State:
        """The current pose and velocity."""
        return self._state if self._run is None else self._run.state()

    @property
    def time(self) -> float:
        """Simulated time so far [s]: the start, and a whole number of physics steps."""
        return self._state.time if self._run is None else self._run.time_of(self._run.steps)

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
        return self._character.segments

    def poses(self) -> Array:
        """The current pose of every body in the world, (bodies, 7): x, y, z [m], then the quaternion w, x, y, z."""
        return take_body_poses(self._character, self.state.q)

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
        return self._character

    @character.setter
    def character(self, other: Character) -> None:
        old = self._character
        if other.joint_names != old.joint_names or other.nq != old.nq:
            raise BadValue(
                f"{other.name!r} has other joints than {old.name!r}: only proportions may change while it moves "
                "(character.rescaled(...)); start a new Session for another figure"
            )
        self._end_run()
        q = self._state.q.copy()
        if other.feet and other.floating and other.joints[0].kind == "free":
            before, after = take_contact_places(old, q), take_contact_places(other, q)
            q[:2] += (before - after).mean(axis=0)[:2]
            q[2] += before[:, 2].min() - after[:, 2].min()
        self._state = other.state(q, self._state.v, self._state.time)
        self._character = other
        if self._memory_of is not None:
            carry = getattr(self._memory_of, "carry", None)
            self._memory = self._memory_of.begin(other) if carry is None else carry(self._memory, other)

    def throw(self, prop: Prop, most: int = MOST_PROPS) -> None:
        """Puts another prop into the world, where it flies from its place on. Of more than `most` the oldest vanish."""
        self.world = replace(self.world, props=(*self.props, prop)[-most:])

    def advance(self, seconds: float, progress: Watch | None = None) -> Recording:
        """Simulates the next `seconds`, rounded to whole physics steps. Returns the recording of this stretch.

        What the rounding leaves over is counted exactly and added to the next stretch.
        """
        check_seconds(seconds)
        check_disturbances(self.disturbances, (self._character,))
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
        run.drivers[0].forget(run.log.first)
        if run.status != "finished":
            self._stop()
        return recording

    def _ready_run(self) -> Run:
        """The run of the present world, body and controller; a new one only where world or body were replaced."""
        if self._run is not None and self._run.stage.world is not self.world:
            self._end_run()
        if self._run is None:
            self._take_memory(self._memory)
            self._run = self._new_run()
        elif self.controller is not self._memory_of:
            driver = self._run.drivers[0]
            self._take_memory(driver.memory)
            driver.change_controller(self.controller, self._memory, self._run.steps, self._run.timestep)
        return self._run

    def _take_memory(self, memory: Any) -> None:
        """Gets the controller's first memory: the given one, where it belongs to a controller of the same type."""
        controller, previous = one_controller_each(self.controller, 1)[0], self._memory_of
        if type(previous) is not type(controller):
            take_over = getattr(controller, "take_over", None)
            if previous is None or take_over is None:
                memory = controller.begin(self._character)
            else:
                memory = take_over(self._character, take_snapshot(self._character, self.state), previous, memory)
        self.controller = self._memory_of = controller
        self._memory = memory

    def _new_run(self) -> Run:
        """A run from the current state on. Platform and props move on where only the body was replaced; a platform also
        where another world shares it."""
        stage = build_stage(self.world, (self._character,))
        log = RunLog(stage.model, ROWS_PER_BLOCK)
        run = Run(stage, [self.controller], [self._memory], [self._state], log, self.seed)
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
        self._state, self._memory = run.state(), run.drivers[0].memory
        q, v = run.log.final_state(run.steps, run.data)
        stage = run.stage
        self._props = (stage.world, run.props())
        self._platform = (stage.world, run.platform_start, q[stage.platform_qpos].copy(), v[stage.platform_dofs].copy())
        if run.steps > run.log.first:
            self._past.append(run.recording(run.log.first, run.log.first_warm_start))
        if self.keep is not None:
            self._past = [one for one in self._past if one.time[-1] >= self._state.time - self.keep]
