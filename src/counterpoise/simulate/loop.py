"""The simulation loop: the one place where the physics is stepped (replay repeats it as a check).

Each step writes down the state, asks the controllers whose tick is due, applies their torques, the platform's forces
and the disturbances, writes down these inputs, and lets MuJoCo step. Nothing else acts on the physics, so the recorded
inputs are enough to repeat the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import SnapshotReader
from counterpoise.character.state import State, state_of
from counterpoise.control.basic import Controller
from counterpoise.errors import BadValue
from counterpoise.progress import Reporter, Watch, watching
from counterpoise.simulate.disturbances import Disturbance, check_disturbances
from counterpoise.simulate.driver import Driver, count_clamped, note_columns, one_controller_each, steps_per_tick
from counterpoise.simulate.props import Prop, describe_props, prop_now, write_velocity
from counterpoise.simulate.recording import Recording, terrain_meta
from counterpoise.simulate.run_log import RunLog
from counterpoise.simulate.springs import Spring
from counterpoise.simulate.start import start_states
from counterpoise.simulate.world import PLATFORM_ORDER, Stage, World, build_stage, has_same_dynamics

MOST_SECONDS = 3600.0  # [s] of one recording, which is several gigabytes for a human
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
    progress: Watch | None = None,
) -> Recording:
    """Simulates one character, or several in one world. Returns the recording of everything that happened.

    Without a controller the joints are passive. `start` defaults to the neutral pose, at rest, on the ground. `seed` is
    written into the recording. Ctrl-C, or a falsy answer of `progress`, stops the run and keeps what was done.
    """
    figures = (character,) if isinstance(character, Character) else tuple(character)
    if not figures:
        raise BadValue("there is no figure to simulate")
    controllers = one_controller_each(controller, len(figures))
    check_seconds(seconds)
    for figure in figures:
        if figure.nv == 0:
            raise BadValue(f"{figure.name!r} has nothing that moves: add segments before simulating it")
    check_disturbances(disturbances, figures, len(world.props) if world is not None else 0)
    place = world if world is not None else World()
    stage = build_stage(place, figures)
    steps = max(1, round(seconds / place.timestep))
    with watching(progress) as reporter:
        memories = [one.begin(figure) for one, figure in zip(controllers, figures, strict=True)]
        run = Run(stage, controllers, memories, start_states(start, figures, place), RunLog(stage.model, steps), seed)
        run.disturbances = disturbances
        run.run(steps, reporter)
    return run.recording(0, None, over=True)


def check_seconds(seconds: float) -> None:
    """Refuses a duration that is not a positive number, or longer than a recording can be."""
    if not (np.isfinite(seconds) and seconds > 0.0):
        raise BadValue(f"seconds must be a positive number; got {seconds!r}")
    if seconds > MOST_SECONDS:
        raise BadValue(
            f"seconds = {seconds:g} is too long for one recording: at most {MOST_SECONDS:g} s. A Session may go on for "
            "any time: it keeps the last seconds only"
        )


@dataclass(slots=True)
class _BoundDisturbance:
    """A disturbance with the parts of MuJoCo's state that it reads and writes, as views."""

    disturbance: Disturbance
    body: int  # in the world's model
    pose: tuple[Array, Array, Array]  # origin, rotation and CoM of the body
    wrench: Array  # (6,) [force; torque about the CoM] applied to the body


class Run:
    """A stage under its controllers and disturbances, stepped and recorded. It may be continued at any time."""

    def __init__(
        self,
        stage: Stage,
        controllers: Sequence[Controller],
        memories: Sequence[Any],
        states: Sequence[State],
        log: RunLog,
        seed: int,
    ) -> None:
        self.stage, self.log, self.seed = stage, log, seed
        self.model, self.data = stage.model, mujoco.MjData(stage.model)
        self.timestep = float(stage.model.opt.timestep)
        self.start_time = self.platform_start = states[0].time  # [s] of step 0; of the platform's own motion
        self.steps, self.status = 0, "finished"  # complete steps so far; how the last stretch ended
        self.qpos, self.qvel = self.data.qpos, self.data.qvel  # views of MuJoCo's arrays
        self.applied, self.external = self.data.qfrc_applied, self.data.xfrc_applied
        for place, state in zip(stage.places, states, strict=True):
            self.qpos[place.qpos], self.qvel[place.dofs] = state.q, state.v
        for prop, there in zip(stage.world.props, stage.props, strict=True):
            write_velocity(prop, there, self.qvel)
        self.drivers = [
            Driver(
                figure,
                controller,
                steps_per_tick(controller.rate, self.timestep),
                memory,
                np.zeros(figure.nv),
                terrain=stage.world.terrain,
            )
            for figure, controller, memory in zip(stage.figures, controllers, memories, strict=True)
        ]
        self._disturbances: list[_BoundDisturbance] = []
        self._places = [(place.qpos, place.dofs) for place in stage.places]
        self._first_bodies = [place.bodies.start for place in stage.places]
        self._all_stages = stage.world.integrator == "rk4"
        self._plain = stage.world.platform is None
        alone = len(stage.figures) == 1 and has_same_dynamics(stage.model, stage.figures[0].model)
        self._reader = SnapshotReader(stage.figures[0], stage.model, self.data) if alone else None

    @property
    def disturbances(self) -> list[Disturbance]:
        return [one.disturbance for one in self._disturbances]

    @disturbances.setter
    def disturbances(self, disturbances: Sequence[Disturbance]) -> None:
        self.external[:] = 0.0
        self._disturbances = [self._bound(one) for one in disturbances]
        self._plain = self.stage.world.platform is None and not self._disturbances

    def time_of(self, step: int) -> float:
        """The simulated time before a step [s]; of `steps`, the time now."""
        return self.start_time + step * self.timestep

    def state(self, figure: int = 0) -> State:
        """The state of one figure after the last complete step."""
        q, v = self.log.final_state(self.steps, self.data)
        place = self.stage.places[figure]
        return State(q[place.qpos], v[place.dofs], self.time_of(self.steps))

    def props(self) -> tuple[Prop, ...]:
        """The props as they are after the last complete step."""
        q, v = self.log.final_state(self.steps, self.data)
        return tuple(
            prop_now(prop, there, q, v) for prop, there in zip(self.stage.world.props, self.stage.props, strict=True)
        )

    def run(self, steps: int, reporter: Reporter) -> None:
        """Makes `steps` steps, or fewer if the run diverges or is interrupted; `status` says which."""
        self.status, first, last = "finished", self.steps, self.steps + steps
        try:
            for k in range(first, last):
                if not self._step(k):
                    self.status = "diverged"
                    break
                self.steps = k + 1
                if (k - first) % STEPS_PER_PROGRESS == 0 or self.steps == last:
                    done = self.steps - first
                    go_on = reporter.report("simulating", done / steps, f"{done * self.timestep:.3f} s")
                    if not go_on and self.steps < last:
                        self.status = "interrupted"
                        break
        except KeyboardInterrupt:
            self.status = "interrupted"
            reporter.interrupt()

    def _step(self, k: int) -> bool:
        """One physics step. Returns whether the new state is sound; if not, the state before it is the last row."""
        model, data, log = self.model, self.data, self.log
        log.begin_row(k, data)
        if self._plain and not self._is_due(k):  # nothing needs to know the positions of this state
            log.write_row(self.qpos, self.qvel, self.applied)
            mujoco.mj_step(model, data)
        else:
            now = self.time_of(k)
            mujoco.mj_step1(model, data)  # positions, contacts and bias forces of this state
            self._control(k, now)
            if not self._plain:
                self._drive_platform(now)
                self._disturb(now)
            log.write_row(self.qpos, self.qvel, self.applied)
            if self._all_stages:
                mujoco.mj_step(model, data)  # all four stages, with the same inputs
            else:
                mujoco.mj_step2(model, data)
        return log.finish_row(self.qpos, self.qvel, data)

    def _is_due(self, k: int) -> bool:
        """Returns whether a controller has a tick before this step."""
        for driver in self.drivers:  # noqa: SIM110 (twice as fast as `any`, a thousand times a second)
            if driver.is_due(k):
                return True
        return False

    def _control(self, k: int, now: float) -> None:
        """Asks the controllers whose tick is due; between its ticks a controller's torque is held."""
        contacts = self.log.last_contacts()
        for driver, (q, v), first in zip(self.drivers, self._places, self._first_bodies, strict=True):
            if driver.is_due(k):
                driver.tick(k, state_of(self.qpos[q], self.qvel[v], now), self._reader, contacts, first)
            self.applied[v] = driver.torque

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
        wanted = platform.pose(now + dt - self.platform_start)[PLATFORM_ORDER]
        acceleration, force = np.zeros(m.nv), np.zeros(m.nv)
        acceleration[v] = ((wanted - self.qpos[q]) / dt - self.qvel[v]) / dt
        mujoco.mj_mulM(m, d, force, acceleration)
        self.applied[v] = force[v] + d.qfrc_bias[v]

    def _disturb(self, now: float) -> None:
        """Applies the wrenches of all disturbances that act now, and writes them down."""
        if not self._disturbances:
            return
        self.external[:] = 0.0
        for one in self._disturbances:
            wrench = self._wrench(one, now)
            if wrench is not None:
                one.wrench += wrench
        self.log.write_external(self.external)

    def _wrench(self, one: _BoundDisturbance, now: float) -> Array | None:
        given = one.disturbance
        if not isinstance(given, Spring):
            return given.wrench(now, *one.pose)
        velocity = np.empty(6)  # a spring has damping: it needs the velocity of its body too
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_XBODY, one.body, velocity, 0)
        return given.wrench(now, *one.pose, velocity)

    def _bound(self, one: Disturbance) -> _BoundDisturbance:
        d = self.data
        prop = one.prop if isinstance(one, Spring) else None
        if prop is not None:
            body = self.stage.props[prop].body
        else:
            body = self.stage.places[one.figure].bodies.start + self.stage.figures[one.figure].body_id(one.body) - 1
        pose = (d.xpos[body], d.xmat[body].reshape(3, 3), d.xipos[body])
        return _BoundDisturbance(one, body, pose, self.external[body])

    def recording(self, first: int, warm_start: Array | None, over: bool = False) -> Recording:
        """The recording from step `first` on, before which `qacc_warmstart` was `warm_start`.

        If the run is `over`, it makes no more steps.
        """
        rows, world = self.log.rows(first, self.steps, self.data, over), self.stage.world
        ticks = [driver.ticks_since(first) for driver in self.drivers]
        return Recording(
            figures=self.stage.figures,
            places=self.stage.places,
            model=self.model,
            time=self.start_time + self.timestep * np.arange(first, self.steps + 1, dtype=np.float64),
            qpos=rows.qpos,
            qvel=rows.qvel,
            torque=rows.torque,
            external=rows.external,
            contacts=rows.contacts,
            ticks=np.array([tick.time for tick in ticks[0]], float),
            notes=note_columns(ticks[0]),
            tick_seconds=np.array([tick.seconds for tick in ticks[0]], float),
            meta=terrain_meta(world)
            | ({"props": describe_props(world.props, self.stage.props)} if world.props else {})
            | {
                "status": self.status,
                "seed": self.seed,
                "controllers": [type(driver.controller).__name__ for driver in self.drivers],
                "clamped": [count_clamped(one) for one in ticks],
                "ground": world.ground,
                "friction": world.friction,
                "tilt": list(world.tilt),
                "platform": world.platform is not None,
            },
            warm_start=None if warm_start is None or not warm_start.any() else warm_start.copy(),
        )
