"""The loop: the door to mj_step (replay is its check).

Each step: read the state, ask the controllers whose time has come, clamp their torques, drive the platform, add the
disturbances, record, step. Nothing else reaches the physics, so the recording's inputs are all there is to replay.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_snapshot
from counterpoise.character.state import State
from counterpoise.control.basic import Action, Controller, Passive
from counterpoise.errors import BadValue
from counterpoise.simulate.disturbances import Disturbance, check_disturbances
from counterpoise.simulate.reading import clamp_torques, gather_contacts, sound
from counterpoise.simulate.recording import Contacts, Recording
from counterpoise.simulate.springs import Spring
from counterpoise.simulate.world import PLATFORM_ORDER, Stage, World, build_stage

Progress = Callable[[float], None]  # called with simulated seconds


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
    """Simulate one figure, or several in one world, and record everything.

    `start` defaults to the neutral pose, at rest, on the ground. `seed` reaches controllers that ask for chance
    (through their memory) and is written into the recording. Ctrl-C stops cleanly and keeps what was done.
    """
    figures = (character,) if isinstance(character, Character) else tuple(character)
    if not figures:
        raise BadValue("there is no figure to simulate")
    controllers = _one_each(controller, len(figures))
    if not (np.isfinite(seconds) and seconds > 0.0):
        raise BadValue(f"seconds must be a positive number; got {seconds!r}")
    for figure in figures:
        if figure.nv == 0:
            raise BadValue(f"{figure.name!r} has nothing that moves: add segments before simulating it")
    check_disturbances(disturbances, figures)
    place = world if world is not None else World()
    stage = build_stage(place, figures)
    states = _starts(start, figures, place)
    return Run(stage, controllers, disturbances, states, seconds, seed).run(progress)


@dataclass
class _Driver:
    """One figure's controller between ticks."""

    figure: Character
    controller: Controller
    every: int  # physics steps between ticks
    memory: Any
    torque: Array
    clamped: int = 0  # joint-ticks beyond the torque limits
    ticks: list[float] = field(default_factory=list)
    notes: list[dict[str, float | str]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def tick(self, state: State) -> None:
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


@dataclass(slots=True)
class _Placed:
    """A disturbance and what it reads and writes of the simulation: views of MuJoCo's own arrays."""

    disturbance: Disturbance
    body: int
    where: tuple[Array, Array, Array]  # origin, rotation and CoM of the body
    wrench: Array  # (6,) that acts on it


_ROOM = 1024  # contacts kept before longer lists are made


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
        self.disturbances = [self._placed(one) for one in disturbances]
        self.dt = float(stage.model.opt.timestep)
        self.steps = max(1, round(seconds / self.dt))
        self.drivers = [
            _Driver(figure, control, _every(control.rate, self.dt), memory, np.zeros(figure.nv))
            for figure, control, memory in zip(
                stage.figures,
                controllers,
                [c.begin(f) for f, c in zip(stage.figures, controllers, strict=True)] if memories is None else memories,
                strict=True,
            )
        ]
        for place, state in zip(stage.places, states, strict=True):
            self.data.qpos[place.qpos] = state.q
            self.data.qvel[place.dofs] = state.v
        rows, m = self.steps + 1, self.model
        self.time0 = states[0].time
        self.qpos, self.qvel = np.zeros((rows, m.nq)), np.zeros((rows, m.nv))
        self.torque, self.external = np.zeros((rows, m.nv)), np.zeros((rows, m.nbody, 6))
        self.contact_count, self.contacts = np.zeros(rows, np.int64), 0  # of each row, and of all so far
        self.contact_bodies = np.empty((_ROOM, 2), np.int32)
        self.contact_point, self.contact_force = np.empty((_ROOM, 3)), np.empty((_ROOM, 3))
        self.geom_body = np.array(m.geom_bodyid, np.int32)
        self.begun = -1  # the last row whose state was written

    def run(self, progress: Progress | None) -> Recording:
        """Step to the end, or until it diverges or is interrupted."""
        status, done = "finished", 0
        try:
            for k in range(self.steps):
                if not self._step(k):
                    status = "diverged"
                    break
                done = k + 1
                if progress is not None and (k % 50 == 0 or done == self.steps):
                    progress(done * self.dt)
        except KeyboardInterrupt:
            status = "interrupted"
        return self._recording(done, status)

    def _step(self, k: int) -> bool:
        """One physics step; False when its result is not finite (the state before it is the last that counts)."""
        m, d = self.model, self.data
        qpos, qvel = d.qpos, d.qvel
        self.qpos[k], self.qvel[k] = qpos, qvel
        self.begun = k
        now = self.time0 + k * self.dt
        mujoco.mj_step1(m, d)
        for driver, place in zip(self.drivers, self.stage.places, strict=True):
            if k % driver.every == 0:
                driver.tick(State(qpos[place.qpos], qvel[place.dofs], now))
            d.qfrc_applied[place.dofs] = driver.torque
        if self.stage.world.platform is not None:
            self._drive_platform(now)
        if self.disturbances:
            d.xfrc_applied[:] = 0.0
            for one in self.disturbances:
                self._disturb(one, now)
            self.external[k] = d.xfrc_applied
        self.torque[k] = d.qfrc_applied
        if self.stage.world.integrator == "rk4":
            mujoco.mj_step(m, d)
        else:
            mujoco.mj_step2(m, d)
        if not sound(qpos, qvel):
            return False
        self._read_contacts(k)
        return True

    def _drive_platform(self, now: float) -> None:
        """Forces that bring the platform exactly onto its path in one step: v+ = (x(t + dt) - x) / dt."""
        m, d, dt = self.model, self.data, self.dt
        platform = self.stage.world.platform
        assert platform is not None
        q, v = self.stage.platform_qpos, self.stage.platform_dofs
        wanted = platform.pose(now + dt - self.time0)[PLATFORM_ORDER]
        acceleration, force = np.zeros(m.nv), np.zeros(m.nv)
        acceleration[v] = ((wanted - d.qpos[q]) / dt - d.qvel[v]) / dt
        mujoco.mj_mulM(m, d, force, acceleration)
        d.qfrc_applied[v] = force[v] + d.qfrc_bias[v]

    def _placed(self, one: Disturbance) -> _Placed:
        d = self.data
        body = self.stage.places[one.figure].bodies.start + self.stage.figures[one.figure].body_id(one.body) - 1
        where = (d.xpos[body], d.xmat[body].reshape(3, 3), d.xipos[body])
        return _Placed(one, body, where, d.xfrc_applied[body])

    def _disturb(self, one: _Placed, now: float) -> None:
        given = one.disturbance
        if isinstance(given, Spring):
            velocity = np.empty(6)
            mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_XBODY, one.body, velocity, 0)
            wrench = given.wrench(now, *one.where, velocity)
        else:
            wrench = given.wrench(now, *one.where)
        if wrench is not None:
            one.wrench += wrench

    def _read_contacts(self, k: int) -> None:
        d = self.data
        if d.ncon == 0:
            return
        contact, first = d.contact, self.contacts
        if first + d.ncon > len(self.contact_point):
            self._make_room(first + d.ncon)
        count = gather_contacts(
            contact.efc_address, contact.dim, contact.frame, contact.geom, contact.pos, d.efc_force, self.geom_body,
            first, self.contact_bodies, self.contact_point, self.contact_force,
        )  # fmt: skip
        self.contact_count[k] = count
        self.contacts = first + count

    def _make_room(self, rows: int) -> None:
        """Longer lists of contacts: twice as long, or as asked."""
        rows = max(rows, 2 * len(self.contact_point))
        for name in ("contact_bodies", "contact_point", "contact_force"):
            old = getattr(self, name)
            new = np.empty((rows, old.shape[1]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)

    def _recording(self, done: int, status: str) -> Recording:
        rows = done + 1
        if self.begun < done:  # a step cut short leaves its own first state as the last row
            self.qpos[done], self.qvel[done] = self.data.qpos, self.data.qvel
        self.torque[done:], self.external[done:] = 0.0, 0.0
        starts = np.concatenate([[0], np.cumsum(np.where(np.arange(rows) < done, self.contact_count[:rows], 0))])
        used = slice(int(starts[-1]))
        bodies, point = self.contact_bodies[used].copy(), self.contact_point[used].copy()
        force = self.contact_force[used].copy()
        first = self.drivers[0]
        world = self.stage.world
        return Recording(
            figures=self.stage.figures,
            places=self.stage.places,
            model=self.model,
            time=self.time0 + self.dt * np.arange(rows, dtype=np.float64),
            qpos=self.qpos[:rows].copy(),
            qvel=self.qvel[:rows].copy(),
            torque=self.torque[:rows].copy(),
            external=self.external[:rows].copy(),
            contacts=Contacts(starts.astype(np.int64), bodies, point, force),
            ticks=np.array(first.ticks, float),
            notes=_columns(first.notes),
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


def _columns(notes: Sequence[dict[str, float | str]]) -> dict[str, NDArray[Any]]:
    """Per-tick dictionaries as arrays: numbers as floats (NaN where a tick said nothing), words as text."""
    names = sorted({name for note in notes for name in note})
    out: dict[str, NDArray[Any]] = {}
    for name in names:
        values = [note.get(name) for note in notes]
        if any(isinstance(value, str) for value in values):
            out[name] = np.array(["" if value is None else str(value) for value in values])
        else:
            out[name] = np.array([np.nan if value is None else float(value) for value in values])
    return out


def _every(rate: float, dt: float) -> int:
    if not (np.isfinite(rate) and rate > 0.0):
        raise BadValue(f"a controller's rate must be positive [Hz]; got {rate!r}")
    return max(1, round(1.0 / (rate * dt)))


def _one_each(controller: Controller | Sequence[Controller] | None, count: int) -> list[Controller]:
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


def _starts(start: State | Sequence[State] | None, figures: Sequence[Character], world: World) -> list[State]:
    if start is None:
        return [standing_start(figure, world) for figure in figures]
    given = [start] if isinstance(start, State) else list(start)
    if len(given) != len(figures):
        raise BadValue(f"{len(figures)} figures need {len(figures)} start states; got {len(given)}")
    return [figure.state(s.q, s.v, s.time) for figure, s in zip(figures, given, strict=True)]


def standing_start(figure: Character, world: World) -> State:
    """The neutral pose at rest, raised so that on tilted ground no contact point is below it."""
    if not any(world.tilt) or not figure.floating or not figure.feet:
        return figure.state()
    points = take_snapshot(figure, figure.state()).contact_position
    lift = max(world.height_at(p[0], p[1]) - p[2] for p in points)
    q = figure.neutral.copy()
    if figure.joints[0].kind == "free":
        q[2] += lift
    else:
        q[figure.joint("root_z").qpos] += lift
    return figure.state(q)
