"""Live: a controller runs at real speed, pulled and pushed by the pointer; its poses are kept for baking."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.state import State
from counterpoise.control import Balance, HoldPose, MomentumBalance, Passive, Stand
from counterpoise.control.basic import Controller
from counterpoise.control.locomotion import Locomotion
from counterpoise.control.walk import Walk
from counterpoise.errors import BadValue, unknown_name
from counterpoise.simulate import Push, Session, Spring, World
from counterpoise.simulate.disturbances import Disturbance
from counterpoise.studio.going import Going, HeldKeys
from counterpoise.studio.tuning import OWN, Slider, sliders_of, tuned
from counterpoise.studio.wishes import wish_sliders

FRAME = 1.0 / 60.0  # [s] of real time between pictures
PULL_STIFFNESS = 800.0  # [N/m] of the spring between pointer and body
PULL_DAMPING = 60.0  # [N s/m]
PULL_LIMIT = 250.0  # [N]
KEEP_ROWS = 0.5  # [s] of the session's own recording; poses for baking are kept apart
KEEP_POSES = 120.0  # [s] of poses for baking
FIRST: dict[str, dict[str, Any]] = {  # what a controller is made with
    "get up": {"recover": True},
    "walk": {"speed": 0.6},  # [m/s] from which it stops safely
}
ARRIVED = 0.35  # [m] from where it was sent to, at which a walker stops

STEERS = ("speed", "heading")  # wishes that take the place of keys and of a place to go to
LEVEL_WISHES = {"heading": 0.0}  # wishes that are never left open, and what they are instead

CONTROLLERS: dict[str, tuple[type[Any], str]] = {  # name on the page -> class, what it does
    "stand": (Stand, "stands, takes pushes and comes back"),
    "get up": (Stand, "stands; after a fall it braces itself and gets up again"),
    "walk": (Walk, "walks; click on the ground to send it there"),
    "locomotion": (Locomotion, "stands, walks and runs; click on the ground, or hold W A S D or arrows, Shift to run"),
    "momentum": (MomentumBalance, "balances by linear and angular momentum"),
    "balance": (Balance, "balances by the classic objectives"),
    "hold": (HoldPose, "joint springs hold the pose"),
    "passive": (Passive, "a rag doll"),
}


def make_controller(name: str, pose: Array) -> Controller:
    """Returns a controller by its name on the page, for a body that begins in `pose`."""
    if name not in CONTROLLERS:
        raise unknown_name("controller", name, CONTROLLERS)
    kind = CONTROLLERS[name][0]
    names = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    made: Controller = kind(**FIRST.get(name, {}))
    if "reference" in names and name == "stand":
        made = replace(made, reference=pose)  # type: ignore[type-var]
    elif "pose" in names:
        made = replace(made, pose=pose)  # type: ignore[type-var]
    return made


def efforts_of(character: Character, torque: Array) -> Array:
    """Returns how much of its strength the joint of each body uses, (bodies,): the largest of its axes."""
    limit = np.asarray(character.torque_limit)
    share = np.divide(np.abs(torque), limit, out=np.zeros(len(limit)), where=limit > 0.0)
    out = np.zeros(len(character.segments))
    index = {name: i for i, name in enumerate(character.segments)}
    for joint in character.joints:
        if joint.nv and joint.kind != "free":
            out[index[joint.body]] = float(share[joint.dofs].max())
    return out


class LiveRun:
    """One live simulation. `advance` is called once a picture."""

    def __init__(self, character: Character, controller: str, q: Array, world: World) -> None:
        self.character, self.name = character, controller
        start, made = State(np.array(q), np.zeros(character.nv)), make_controller(controller, q)
        self.going: Going | None = None  # how a Locomotion is steered
        if isinstance(made, Locomotion):
            self.going = Going(character, start)
            made = self.going.begin(made)
        self.session = Session(character, made, world=world, start=start, keep=KEEP_ROWS)
        self.speed, self.paused = 1.0, False
        self.times: list[float] = [0.0]
        self.poses: list[Array] = [np.array(q)]
        self.arrows = np.empty((0, 6))  # place [m], force [N]
        self.efforts = np.zeros(len(character.segments))  # of the joint of each body, 1: all its strength
        self.walk_target: tuple[float, float] | None = None  # [m] where a walker was sent to
        self._walk_speed: Any = FIRST["walk"]["speed"]  # of the walker when it is on its way
        self._pull: Spring | None = None
        self._pushes: list[Push] = []

    def advance(self) -> None:
        """Simulates one picture's time and keeps the pose it came to."""
        if self.paused:
            return
        now = self.session.time
        self._pushes = [push for push in self._pushes if push.start + push.duration > now]
        acting: list[Disturbance] = [*self._pushes]
        if self._pull is not None:
            acting.append(self._pull)
        self.session.disturbances = acting
        self._steer()
        recording = self.session.advance(FRAME * self.speed)
        contacts = recording.contacts
        if len(recording.time) > 1:
            last = contacts.at(len(recording.time) - 2)
            sign = np.where(contacts.bodies[last][:, 1] > contacts.bodies[last][:, 0], 1.0, -1.0)
            self.arrows = np.hstack([contacts.point[last], contacts.force[last] * sign[:, None]])
        self.efforts = efforts_of(self.character, recording.torques()[-1]) if len(recording.time) else self.efforts
        self.times.append(self.session.time)
        self.poses.append(np.array(self.session.state.q))
        most = round(KEEP_POSES / FRAME)
        if len(self.times) > 2 * most:
            del self.times[:-most], self.poses[:-most]

    def walk_to(self, x: float, y: float) -> None:
        """Sends a walker to a place on the ground."""
        if isinstance(self.session.controller, Locomotion) and self.going is not None:
            self.session.controller = self.going.to(self.session.controller, x, y)
            return
        if not isinstance(self.session.controller, Walk):
            raise BadValue("only a walker is sent to a place: choose walk or locomotion, then press Live")
        if self.session.controller.speed != 0.0:
            self._walk_speed = self.session.controller.speed
        self.walk_target = (x, y)

    def _steer(self) -> None:
        """Turns a walker towards where it was sent, and stops it there."""
        walker = self.session.controller
        if isinstance(walker, Locomotion) and self.going is not None:
            self.session.controller = self.going.next(walker, FRAME * self.speed, self.session.state)
            return
        if self.walk_target is None or not isinstance(walker, Walk):
            return
        away = np.array(self.walk_target) - self.session.state.q[:2]
        if np.linalg.norm(away) < ARRIVED:
            self.session.controller = replace(walker, speed=0.0)
            self.walk_target = None
            return
        self.session.controller = replace(walker, speed=self._walk_speed, heading=float(np.arctan2(away[1], away[0])))

    def pull(self, body: str, point: tuple[float, ...], target: Array) -> None:
        """Ties a body to the pointer with a spring."""
        self.character.body_id(body)
        place = (float(target[0]), float(target[1]), float(target[2]))
        at = (point[0], point[1], point[2])
        self._pull = Spring(body, at, place, PULL_STIFFNESS, PULL_DAMPING, PULL_LIMIT)

    def let_go(self) -> None:
        self._pull = None

    def push(self, body: str, force: tuple[float, float, float], duration: float) -> None:
        """Pushes a body from now on."""
        self.character.body_id(body)
        self._pushes.append(Push(body, force, self.session.time, duration))

    def steer(self, keys: HeldKeys) -> None:
        """Steers a Locomotion by keys that are held."""
        if not isinstance(self.session.controller, Locomotion) or self.going is None:
            raise BadValue("keys steer locomotion only: choose locomotion, then press Live")
        self.session.controller = self.going.hold(self.session.controller, keys, self.session.state)

    @property
    def sliders(self) -> tuple[Slider, ...]:
        """What the page shows of the controller: its wishes, its own numbers, its tuning tables."""
        controller = self.session.controller
        if not isinstance(controller, Locomotion):
            return sliders_of(controller)
        tables = tuple(one for one in sliders_of(controller) if one.table != OWN)
        return (*wish_sliders(controller, self.character), *tables)

    def tune(self, table: str, name: str, value: float | bool | None) -> None:
        """Sets a number of the controller or of its tuning table; it acts from the next tick on."""
        controller = self.session.controller
        if isinstance(controller, Locomotion) and self.going is not None and table == OWN:
            self._known(name, is_choice=False)
            wish: dict[str, Any] = {name: value if value is not None else LEVEL_WISHES.get(name)}
            changed = replace(controller, **wish)
            self.session.controller = self.going.asked(changed) if name in STEERS else changed
            return
        if value is None:
            raise BadValue(f"{name} is a number; only wishes of locomotion may be left open")
        self.session.controller = tuned(controller, table, name, value)

    def choose(self, name: str, value: str) -> None:
        """Sets a choice of the controller."""
        slider = self._known(name, is_choice=True)
        if value not in slider.choices:
            raise unknown_name(name, value, slider.choices)
        self.session.controller = replace(self.session.controller, **{name: value})  # type: ignore[type-var]

    def _known(self, name: str, is_choice: bool) -> Slider:
        """Returns the slider of a wish, or the choice, by its name."""
        known = {one.name: one for one in self.sliders if one.table == OWN and bool(one.choices) == is_choice}
        if name not in known:
            raise unknown_name("choice" if is_choice else "wish", name, known, self.name)
        return known[name]

    def tilt(self, roll: float, pitch: float) -> None:
        """Tilts the ground [deg]."""
        if self.session.world.terrain is not None:
            raise BadValue("terrain cannot be tilted: remove it from the scene, or put a ramp into it")
        self.session.world = replace(self.session.world, tilt=(roll, pitch))

    @property
    def time(self) -> float:
        return self.session.time
