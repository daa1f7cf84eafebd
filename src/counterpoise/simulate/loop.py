"""The simulation loop: the one place where the physics is stepped (replay repeats it as a check).

Each step writes down the state, asks the controllers whose tick is due, applies their torques, the platform's forces
and the disturbances, writes down these inputs, and lets MuJoCo step. Nothing else acts on the physics, so the recorded
inputs are enough to repeat the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.state import State
from counterpoise.control.basic import Controller
from counterpoise.errors import BadValue
from counterpoise.simulate.disturbances import Disturbance, check_disturbances
from counterpoise.simulate.driver import Driver, one_controller_each, steps_per_tick
from counterpoise.simulate.reading import is_sound
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.run_log import RunLog
from counterpoise.simulate.springs import Spring
from counterpoise.simulate.start import start_states
from counterpoise.simulate.world import PLATFORM_ORDER, Stage, World, build_stage

Progress = Callable[[float], None]  # called with the simulated seconds so far
STEPS_PER_PROGRESS = 50  # steps between two calls of the progress function


def simulate(
    character: Character | Sequence[Character],
    controller: Controller | Sequence[Controller] | None = None,
    seconds: float = 5.0,
    *,
    world: World | None = None,
    disturbances: Sequence[Disturbance] = (),
    start: State | Sequence[State] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Recording:
    """Simulates one character, or several in one world. Returns the recording of everything that happened.

    Without a controller the joints are passive. `start` defaults to the neutral pose, at rest, on the ground. `seed` is
    written into the recording. Ctrl-C stops the run and keeps what was done.
    """
    figures = (character,) if isinstance(character, Character) else tuple(character)
    if not figures:
        raise BadValue("there is no figure to simulate")
    controllers = one_controller_each(controller, len(figures))
    check_seconds(seconds)
    for figure in figures:
        if figure.nv == 0:
            raise BadValue(f"{figure.name!r} has nothing that moves: add segments before simulating it")
    check_disturbances(disturbances, figures)
    place = world if world is not None else World()
    stage = build_stage(place, figures)
    states = start_states(start, figures, place)
    return Run(stage, controllers, disturbances, states, seconds, seed).run(progress)


def check_seconds(seconds: float) -> None:
    """Refuses a duration that is not a positive number."""
    if not (np.isfinite(seconds) and seconds > 0.0):
        raise BadValue(f"seconds must be a positive number; got {seconds!r}")


@dataclass(slots=True)
class _BoundDisturbance:
    """A disturbance with the parts of MuJoCo's state that it reads and writes, as views."""

    disturbance: Disturbance
    body: int  # in the world's model
    pose: tuple[Array, Array, Array]  # origin, rotation and CoM of the body
    wrench: Array  # (6,) [force; torque about the CoM] applied to the body


class Run:
    """One stretch of simulation: a stage, its controllers and disturbances, stepped and recorded."""

    def __init__(
        self,
        stage: Stage,
        controllers: Sequence[Controller],
        disturbances: Sequence[Disturbance],
        states: Sequence[State],
        seconds: float,
        seed: int,
        memories: Sequence[Any] | None = None,
    ) -> None:
        self.stage, self.seed = stage, seed
        self.model, self.data = stage.model, mujoco.MjData(stage.model)
        self.timestep = float(stage.model.opt.timestep)
        self.steps = max(1, round(seconds / self.timestep))
        self.start_time = states[0].time
        self.qpos, self.qvel = self.data.qpos, self.data.qvel  # views of MuJoCo's arrays
        self.applied, self.external = self.data.qfrc_applied, self.data.xfrc_applied
        for place, state in zip(stage.places, states, strict=True):
            self.qpos[place.qpos], self.qvel[place.dofs] = state.q, state.v
        if memories is None:
            memories = [c.begin(f) for f, c in zip(stage.figures, controllers, strict=True)]
        self.drivers = [
            Driver(figure, controller, steps_per_tick(controller.rate, self.timestep), memory, np.zeros(figure.nv))
            for figure, controller, memory in zip(stage.figures, controllers, memories, strict=True)
        ]
        self.disturbances = [self._bound(one) for one in disturbances]
        self.log = RunLog(self.model, self.steps + 1)

    def run(self, progress: Progress | None) -> Recording:
        """Steps to the end, or until the run diverges or is interrupted. Returns the recording."""
        status, done = "finished", 0
        try:
            for k in range(self.steps):
                if not self._step(k):
                    status = "diverged"
                    break
                done = k + 1
                if progress is not None and (k % STEPS_PER_PROGRESS == 0 or done == self.steps):
                    progress(done * self.timestep)
        except KeyboardInterrupt:
            status = "interrupted"
        return self._recording(done, status)

    def _step(self, k: int) -> bool:
        """One physics step. Returns whether the new state is sound; if not, the state before it is the last row."""
        now = self.start_time + k * self.timestep
        self.log.write_state(k, self.qpos, self.qvel)
        mujoco.mj_step1(self.model, self.data)  # positions, contacts and bias forces of this state
        self._control(k, now)
        self._drive_platform(now)
        self._disturb(k, now)
        self.log.torque[k] = self.applied
        if self.stage.world.integrator == "rk4":
            mujoco.mj_step(self.model, self.data)  # all four stages, with the same inputs
        else:
            mujoco.mj_step2(self.model, self.data)
        if not is_sound(self.qpos, self.qvel):
            return False
        self._read_contacts(k)
        return True

    def _control(self, k: int, now: float) -> None:
        """Asks the controllers whose tick is due; between its ticks a controller's torque is held."""
        for driver, place in zip(self.drivers, self.stage.places, strict=True):
            if k % driver.steps_per_tick == 0:
                driver.tick(State(self.qpos[place.qpos], self.qvel[place.dofs], now))
            self.applied[place.dofs] = driver.torque

    def _drive_platform(self, now: float) -> None:
        """Applies the forces that bring the platform onto its path within one step.

        The velocity after the step is v+ = (x(t + dt) - x) / dt; the forces are those of inverse dynamics,
        f = M (v+ - v) / dt + h.
        """
        platform = self.stage.world.platform
        if platform is None:
            return
        m, d, dt = self.model, self.data, self.timestep
        q, v = self.stage.platform_qpos, self.stage.platform_dofs
        wanted = platform.pose(now + dt - self.start_time)[PLATFORM_ORDER]
        acceleration, force = np.zeros(m.nv), np.zeros(m.nv)
        acceleration[v] = ((wanted - self.qpos[q]) / dt - self.qvel[v]) / dt
        mujoco.mj_mulM(m, d, force, acceleration)
        self.applied[v] = force[v] + d.qfrc_bias[v]

    def _disturb(self, k: int, now: float) -> None:
        """Applies the wrenches of all disturbances that act now, and writes them down."""
        if not self.disturbances:
            return
        self.external[:] = 0.0
        for one in self.disturbances:
            wrench = self._wrench(one, now)
            if wrench is not None:
                one.wrench += wrench
        self.log.external[k] = self.external

    def _wrench(self, one: _BoundDisturbance, now: float) -> Array | None:
        given = one.disturbance
        if not isinstance(given, Spring):
            return given.wrench(now, *one.pose)
        velocity = np.empty(6)  # a spring has damping: it needs the velocity of its body too
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_XBODY, one.body, velocity, 0)
        return given.wrench(now, *one.pose, velocity)

    def _bound(self, one: Disturbance) -> _BoundDisturbance:
        d = self.data
        body = self.stage.places[one.figure].bodies.start + self.stage.figures[one.figure].body_id(one.body) - 1
        pose = (d.xpos[body], d.xmat[body].reshape(3, 3), d.xipos[body])
        return _BoundDisturbance(one, body, pose, self.external[body])

    def _read_contacts(self, k: int) -> None:
        self.log.read_contacts(k, self.data)

    def _recording(self, done: int, status: str) -> Recording:
        """The recording of the first `done` steps."""
        rows, first, world, log = done + 1, self.drivers[0], self.stage.world, self.log
        log.close(done, self.qpos, self.qvel)
        return Recording(
            figures=self.stage.figures,
            places=self.stage.places,
            model=self.model,
            time=self.start_time + self.timestep * np.arange(rows, dtype=np.float64),
            qpos=log.qpos[:rows].copy(),
            qvel=log.qvel[:rows].copy(),
            torque=log.torque[:rows].copy(),
            external=log.external[:rows].copy(),
            contacts=log.contacts(done),
            ticks=np.array(first.ticks, float),
            notes=first.note_columns(),
            tick_seconds=np.array(first.seconds, float),
            meta={
                "status": status,
                "seed": self.seed,
                "controllers": [type(driver.controller).__name__ for driver in self.drivers],
                "clamped": [driver.clamped for driver in self.drivers],
                "ground": world.ground,
                "friction": world.friction,
                "tilt": list(world.tilt),
                "platform": world.platform is not None,
            },
        )
