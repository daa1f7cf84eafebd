"""Live: a controller runs at real speed, pulled and pushed by the pointer; its poses are kept for baking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.state import State
from counterpoise.control.locomotion import Locomotion
from counterpoise.control.perform import Perform, PlannedMotion
from counterpoise.control.walk import Walk
from counterpoise.errors import BadValue, unknown_name
from counterpoise.scene.changes import SceneChange, make_change
from counterpoise.simulate import Prop, Push, Session, Spring, World, aimed
from counterpoise.simulate.disturbances import Disturbance
from counterpoise.simulate.recording import Recording
from counterpoise.studio.efforts import efforts_of_torques
from counterpoise.studio.going import Going, HeldKeys
from counterpoise.studio.jump_wishes import jump_sliders, with_wish
from counterpoise.studio.jumping import Jumping
from counterpoise.studio.live_controllers import ACTING, FIRST, LiveFigure
from counterpoise.studio.messages import Three
from counterpoise.studio.performing import Performing
from counterpoise.studio.prop_paths import platform_box
from counterpoise.studio.tuning import JUMP, OWN, Slider, sliders_of, tuned
from counterpoise.studio.wishes import wish_sliders

FRAME = 1.0 / 60.0  # [s] of real time between pictures
PULL_STIFFNESS = 800.0  # [N/m] of the spring between pointer and body
PULL_DAMPING = 60.0  # [N s/m]
PULL_LIMIT = 250.0  # [N]
PROP_FREQUENCY = 20.0  # [rad/s] of a prop at that spring
PROP_RATIO = 0.7  # damping ratio, likewise
KEEP_ROWS = 0.5  # [s] of the session's own recording; poses for baking are kept apart
KEEP_POSES = 120.0  # [s] of poses for baking ...
SLACK = 4.0  # [s] ... and so much more at most: older ones are dropped together
ARRIVED = 0.35  # [m] from where it was sent to, at which a walker stops
MOST_THROWN = 12  # props that were thrown; the oldest vanish
SAME_TIME = 1e-9  # [s] moments nearer than this are one
FLOOR = -1  # number of a moving floor among the props that are drawn

STEERS = ("speed", "heading")  # wishes that take the place of keys and of a place to go to
LEVEL_WISHES = {"heading": 0.0}  # wishes that are never left open, and what they are instead


def forces_on(recording: Recording, figure: int = 0) -> Array:
    """Returns where forces act on a figure in the last step, and the forces, (n, 6) [m, N]; none within the figure."""
    contacts, span = recording.contacts, recording.places[figure].bodies
    last = contacts.at(len(recording.time) - 2)
    bodies = contacts.bodies[last]
    mine = (bodies >= span.start) & (bodies < span.stop)
    outer = mine[:, 0] != mine[:, 1]
    sign = np.where(mine[outer, 1], 1.0, -1.0)
    return np.hstack([contacts.point[last][outer], contacts.force[last][outer] * sign[:, None]])


def prop_poses(props: Sequence[Prop]) -> Array:
    """Returns where props are, (k, 7): place [m], quaternion w x y z."""
    return np.array([[*prop.place, *prop.turn] for prop in props]).reshape(-1, 7)


class LiveRun:
    """One live simulation of the figure that is shown, and of the others of the scene. `advance` is called once a
    picture. What is steered, tuned and baked is the first figure."""

    def __init__(
        self,
        controller: str,
        figures: Sequence[LiveFigure],
        world: World,
        changes: Sequence[tuple[int, SceneChange]] = (),
    ) -> None:
        first = figures[0]
        self.changes = list(changes)  # of figures, that are still to come
        self.other_bodies = False  # whether a figure has another body than in the scene
        self.figures, self.character, self.name = tuple(figures), first.character, controller
        starts = [State(np.array(one.q), np.zeros(one.character.nv)) for one in figures]
        made = first.controller
        self.going: Going | None = None  # how a Locomotion is steered
        self.jumping: Jumping | None = None  # and how it jumps
        if isinstance(made, Locomotion):
            self.going = Going(self.character, starts[0])
            self.jumping = Jumping(self.character)
            made = self.jumping.begin(self.going.begin(made))
        self.performing = Performing(controller, self.character, made) if controller in ACTING else None
        controllers = [made, *(one.controller for one in figures[1:])]
        self.session = Session(
            [one.character for one in figures], controllers, world=world, start=starts, keep=KEEP_ROWS
        )
        self.speed, self.paused = 1.0, False
        self.playhead = 0.0  # [s] of the timeline, at which it began
        self.times: list[float] = [0.0]
        self.poses: list[Array] = [np.array(first.q)]
        self.other_poses: list[list[Array]] = [[np.array(one.q)] for one in figures[1:]]
        self.arrows = np.empty((0, 6))  # place [m], force [N]
        self.efforts = np.zeros(len(self.character.segments))  # of the joint of each body, 1: all its strength
        self.walk_target: tuple[float, float] | None = None  # [m] where a walker was sent to
        self._walk_speed: Any = FIRST["walk"]["speed"]  # of the walker when it is on its way
        self._pull: Spring | None = None
        self._pulled_prop: int | None = None  # the number of the prop that is pulled
        self._pushes: list[Push] = []
        self._own_props = len(world.props)  # of the scene; those after them were thrown
        self.known_props: dict[int, Prop] = dict(enumerate(world.props))  # all that there were, by number
        self._numbers = tuple(self.known_props)  # of those that are there
        if world.platform is not None:
            self.known_props[FLOOR] = platform_box(world.platform, 0.0)
        self.prop_rows = [self._prop_row()]
        self.effort_rows = [self.efforts.astype(np.float32)]

    def advance(self) -> None:
        """Simulates one picture's time and keeps the poses it came to."""
        if self.paused:
            return
        now = self.session.time
        self._pushes = [push for push in self._pushes if push.start + push.duration > now]
        acting: list[Disturbance] = [*self._pushes]
        pull = self._pull_now()
        if pull is not None:
            acting.append(pull)
        self.session.disturbances = acting
        self._steer()
        recording = self._stretch(FRAME * self.speed)
        if len(recording.time) > 1:
            self.arrows = forces_on(recording)
            self.efforts = efforts_of_torques(self.character, recording.torques()[-2])  # the last row has no inputs
        states = self.session.states
        self.times.append(self.session.time)
        for kept, state in zip((self.poses, *self.other_poses), states, strict=True):
            kept.append(np.array(state.q))
        self.prop_rows.append(self._prop_row())
        self.effort_rows.append(self.efforts.astype(np.float32))
        most = round(KEEP_POSES / FRAME)
        if len(self.times) > most + round(SLACK / FRAME):
            del self.times[:-most], self.prop_rows[:-most], self.effort_rows[:-most]
            used = {number for there, _ in self.prop_rows for number in there}
            self.known_props = {number: prop for number, prop in self.known_props.items() if number in used}
            for rows in (self.poses, *self.other_poses):
                del rows[:-most]

    def _stretch(self, seconds: float) -> Recording:
        """Simulates the next seconds; changes of the scene happen at their times. Returns the last recording."""
        session = self.session
        while self.changes and self.changes[0][1].time < session.time + session.remainder + seconds - SAME_TIME:
            figure, change = self.changes.pop(0)
            before = change.time - session.time - session.remainder
            if before > SAME_TIME:
                session.advance(before)
                seconds -= before
            make_change(session, figure, change)
            if change.body is not None:
                self._take_body(figure, change.body)
        return session.advance(seconds)

    def _take_body(self, figure: int, body: Character) -> None:
        """Goes on with another body of a figure; plans that were made for the old one are forgotten."""
        now = replace(self.figures[figure], character=body)
        self.figures = (*self.figures[:figure], now, *self.figures[figure + 1 :])
        self.other_bodies = True
        if figure == 0:
            self.character = body
            if self.going is not None:
                self.going.character = body
            if self.jumping is not None:
                self.jumping.take_body(body)
            if self.performing is not None:
                self.performing.character, self.performing.plans, self.performing.wanted = body, {}, None

    # -- props --------------------------------------------------------------------------------------------------------
    @property
    def props(self) -> tuple[Prop, ...]:
        """The loose bodies as they are now: those of the scene, then those that were thrown."""
        return self.session.props

    @property
    def drawn_props(self) -> tuple[Prop, ...]:
        """The loose bodies, and a moving floor as one more box."""
        platform = self.session.world.platform
        return self.props if platform is None else (*self.props, platform_box(platform, self.session.time))

    def _prop_row(self) -> tuple[tuple[int, ...], Array]:
        """Returns numbers and poses of what is drawn."""
        numbers = self._numbers if self.session.world.platform is None else (*self._numbers, FLOOR)
        return numbers, prop_poses(self.drawn_props)

    @property
    def thrown(self) -> int:
        """How many props were thrown and are still there."""
        return len(self._numbers) - self._own_props

    def throw(self, prop: Prop, target: Array, speed: float) -> None:
        """Throws a prop at a target. When there are many, the one that was thrown first vanishes."""
        thrown = aimed(prop, target, speed, self.session.world.gravity)
        now = self.props
        own, kept = self._own_props, slice(max(self._own_props, len(now) - MOST_THROWN + 1), None)
        self.session.world = replace(self.session.world, props=(*now[:own], *now[kept], thrown))
        number = max((*self.known_props, *self._numbers), default=-1) + 1
        self.known_props[number] = thrown
        self._numbers = (*self._numbers[:own], *self._numbers[kept], number)

    def clear_thrown(self) -> None:
        """Takes away what was thrown."""
        self.session.world = replace(self.session.world, props=self.props[: self._own_props])
        self._numbers = self._numbers[: self._own_props]

    # -- acting -------------------------------------------------------------------------------------------------------
    def perform(self, plan: PlannedMotion) -> None:
        """Performs a plan from where the figure stands; one that does not begin in standing starts in its own pose."""
        if self.performing is None:
            raise BadValue("only jump and perform act on demand: choose one of them, then press Live")
        perform: Perform = self.performing.begin(plan)
        if perform.starts_at_once(self.character):
            ready = perform.ready(self.character)
            states = [State(ready.q, ready.v, self.session.time), *self.session.states[1:]]
            world = replace(self.session.world, props=self.props)
            characters = [one.character for one in self.figures]
            self.session = Session(characters, self.session.controllers, world=world, start=states, keep=KEEP_ROWS)
        self.session.controller = perform

    # -- going --------------------------------------------------------------------------------------------------------
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
        """Turns a walker towards where it was sent, and stops it there; ends a performance that is over."""
        walker = self.session.controller
        if self.performing is not None:
            self.session.controller = self.performing.next(walker, self.session.memory)
            return
        if isinstance(walker, Locomotion) and self.going is not None:
            going = self.going.next(walker, FRAME * self.speed, self.session.state)
            self.session.controller = going if self.jumping is None else self.jumping.next(going, self.session.memory)
            return
        if self.walk_target is None or not isinstance(walker, Walk):
            return
        away = np.array(self.walk_target) - self.session.state.q[:2]
        if np.linalg.norm(away) < ARRIVED:
            self.session.controller = replace(walker, speed=0.0)
            self.walk_target = None
            return
        self.session.controller = replace(walker, speed=self._walk_speed, heading=float(np.arctan2(away[1], away[0])))

    def pull(self, body: str, point: tuple[float, ...], target: Array, figure: int = 0) -> None:
        """Ties a body of a figure to the pointer with a spring."""
        self._body(body, figure)
        place = (float(target[0]), float(target[1]), float(target[2]))
        at = (point[0], point[1], point[2])
        self._pulled_prop = None
        self._pull = Spring(body, at, place, PULL_STIFFNESS, PULL_DAMPING, PULL_LIMIT, figure=figure)

    def pull_prop(self, index: int, point: Three, target: Three) -> None:
        """Ties a prop to the pointer with a spring that fits its mass; `index` is as props are drawn."""
        if not 0 <= index < len(self._numbers):
            raise BadValue(f"there is no loose prop {index} in this run; there are {len(self._numbers)}")
        stiffness = self.props[index].mass * PROP_FREQUENCY**2
        damping = 2.0 * PROP_RATIO * stiffness / PROP_FREQUENCY
        self._pulled_prop = self._numbers[index]
        self._pull = Spring("", point, target, stiffness, damping, PULL_LIMIT, prop=index)

    def _pull_now(self) -> Spring | None:
        """Returns the spring to the pointer; props that vanish count anew, and one that vanished is let go."""
        if self._pull is None or self._pulled_prop is None:
            return self._pull
        if self._pulled_prop not in self._numbers:
            self.let_go()
            return None
        index = self._numbers.index(self._pulled_prop)
        if index != self._pull.prop:
            self._pull = replace(self._pull, prop=index)
        return self._pull

    def let_go(self) -> None:
        self._pull = self._pulled_prop = None

    def push(self, body: str, force: tuple[float, float, float], duration: float, figure: int = 0) -> None:
        """Pushes a body of a figure from now on."""
        self._body(body, figure)
        self._pushes.append(Push(body, force, self.session.time, duration, figure=figure))

    @property
    def acts(self) -> tuple[str, str]:
        """What it does on demand, and how that goes; empty where it does nothing on demand."""
        if self.jumping is not None:
            return "jump", self.jumping.stage
        return ("", "") if self.performing is None else (self.performing.kind, self.performing.stage)

    def _body(self, body: str, figure: int) -> None:
        """Refuses a body that no figure of the run has."""
        if not 0 <= figure < len(self.figures):
            raise BadValue(f"there is no figure {figure} in this run; there are {len(self.figures)} (counted from 0)")
        self.figures[figure].character.body_id(body)

    def steer(self, keys: HeldKeys) -> None:
        """Steers a Locomotion by keys that are held."""
        if not isinstance(self.session.controller, Locomotion) or self.going is None:
            raise BadValue("keys steer locomotion only: choose locomotion, then press Live")
        self.session.controller = self.going.hold(self.session.controller, keys, self.session.state)

    @property
    def sliders(self) -> tuple[Slider, ...]:
        """What the page shows of the controller: its wishes, its own numbers, its tuning tables."""
        controller = self.session.controller
        if self.performing is not None:
            tables = tuple(one for one in sliders_of(self.performing.stand) if one.table != OWN)
            return (*self.performing.sliders, *tables)
        if not isinstance(controller, Locomotion):
            return sliders_of(controller)
        tables = tuple(one for one in sliders_of(controller) if one.table != OWN)
        wishes = wish_sliders(controller, self.character)
        jump = () if self.jumping is None else jump_sliders(self.jumping.wish, self.character, JUMP)
        return (*wishes, *jump, *tables)

    def tune(self, table: str, name: str, value: float | bool | None) -> None:
        """Sets a number of the controller or of its tuning table; it acts from the next tick on."""
        controller = self.session.controller
        if self.jumping is not None and table == JUMP and value is not None:
            self._known(name, is_choice=False, table=JUMP)
            self.jumping.wish = with_wish(self.jumping.wish, name, float(value))
            return
        if isinstance(controller, Locomotion) and self.going is not None and table == OWN:
            self._known(name, is_choice=False)
            wish: dict[str, Any] = {name: value if value is not None else LEVEL_WISHES.get(name)}
            changed = replace(controller, **wish)
            self.session.controller = self.going.asked(changed) if name in STEERS else changed
            return
        if value is None:
            raise BadValue(f"{name} is a number; only wishes of locomotion may be left open")
        if self.performing is not None and table == OWN:
            self._known(name, is_choice=False)
            self.performing.tune(name, float(value))
            return
        if self.performing is not None:
            stand, changed_stand = self.performing.stand, tuned(self.performing.stand, table, name, value)
            self.performing.stand = changed_stand
            if controller is stand:
                self.session.controller = changed_stand
            return
        self.session.controller = tuned(controller, table, name, value)

    def choose(self, name: str, value: str, table: str = OWN) -> None:
        """Sets a choice of the controller, or of its jump."""
        slider = self._known(name, is_choice=True, table=table)
        if value not in slider.choices:
            raise unknown_name(name, value, slider.choices)
        if self.jumping is not None and table == JUMP:
            self.jumping.wish = with_wish(self.jumping.wish, name, value)
            return
        if self.performing is not None:
            self.performing.tune(name, value)
            return
        self.session.controller = replace(self.session.controller, **{name: value})  # type: ignore[type-var]

    def _known(self, name: str, is_choice: bool, table: str = OWN) -> Slider:
        """Returns the slider of a wish, or the choice, by its name."""
        known = {one.name: one for one in self.sliders if one.table == table and bool(one.choices) == is_choice}
        if name not in known:
            raise unknown_name("choice" if is_choice else "wish", name, known, self.name)
        return known[name]

    def tilt(self, roll: float, pitch: float) -> None:
        """Tilts the ground [deg]."""
        if self.session.world.terrain is not None:
            raise BadValue("terrain cannot be tilted: remove it from the scene, or put a ramp into it")
        self.session.world = replace(self.session.world, tilt=(roll, pitch), props=self.props)

    @property
    def time(self) -> float:
        return self.session.time
