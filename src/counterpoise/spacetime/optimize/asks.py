"""What a user asks of a motion: keys to pass through, parts of the body that touch the world, and wishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.character.character import Character
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.motion import Motion
from counterpoise.objectives.surface import LEVEL, Surface
from counterpoise.spacetime.optimize.moments import RATE, Moment, Time, seconds

How = Literal["flat", "heel", "toe", "point", "bar"]
HOWS = ("flat", "heel", "toe", "point", "bar")
Ground: TypeAlias = Surface | Callable[[float], Surface]


def _check_time(time: Any, what: str) -> None:
    if not isinstance(time, Moment) and not (isinstance(time, (int, float)) and np.isfinite(time)):
        raise BadValue(f"{what} is a time in seconds or a Moment; got {time!r}")


@dataclass(frozen=True, eq=False)
class Key:
    """The pose to pass through at a time: the whole body, or the joints in `only`.

    `root=False` leaves place and facing free. A `soft` key is a wish of that weight, not a must. `rest` asks the body
    (the joints named) to be still at that instant.
    """

    time: Time
    pose: ArrayLike  # (nq,)
    only: Sequence[str] | None = None  # joints that count; None: all
    root: bool = True  # whether the root's place and facing count
    soft: float | None = None  # weight of a wish; None: exact
    rest: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        _check_time(self.time, "a key's time")
        if self.soft is not None and not (np.isfinite(self.soft) and self.soft > 0.0):
            raise BadValue(f"a soft key has a positive weight; got {self.soft!r}")

    @property
    def label(self) -> str:
        return self.name or f"key {seconds(self.time):g} s"

    @property
    def whole(self) -> bool:
        """Whether it says all there is to say about the pose."""
        return self.only is None and self.root and self.soft is None


@dataclass(frozen=True, eq=False)
class Touch:
    """A part of the body that the world holds from `start` to `end`.

    `how`: a foot `flat`, on its `heel` or its `toe`; a body `point`; a hand round a `bar` that it may turn about. Where
    `place` is None the optimiser chooses the spot on the surface; it then stays put. A foot's place is the middle of
    its sole (of its heel's or toes' edge). On a bar the torque about the bar's axis is at most `torque`, across it at
    most `grip`.
    """

    part: str  # a foot, a hand or any body
    start: Time
    end: Time
    how: How = "flat"
    place: ArrayLike | None = None  # [m] (x, y) on the surface or (x, y, z) in the world
    facing: float | None = None  # [rad] of a flat foot; None: free
    surface: Ground = LEVEL
    friction: float = 0.8
    point: ArrayLike | None = None  # [m] (3,) or (k, 3) in the body's frame; for `point` and `bar`
    axis: ArrayLike = (0.0, 1.0, 0.0)  # of the bar, world
    torque: float = 10.0  # [N m] about the bar
    grip: float = 30.0  # [N m] across the bar
    most: float | None = None  # [N] largest force; None: no bound
    name: str = ""

    def __post_init__(self) -> None:
        _check_time(self.start, f"the start of {self.part!r}'s contact")
        _check_time(self.end, f"the end of {self.part!r}'s contact")
        if self.how not in HOWS:
            raise unknown_name("way of touching", str(self.how), HOWS)
        if not seconds(self.start) < seconds(self.end):
            raise BadValue(
                f"the contact of {self.part!r} ends after it starts; got {seconds(self.start):g} s to "
                f"{seconds(self.end):g} s"
            )
        if self.how == "bar" and self.place is None:
            raise BadValue(f"a hand on a bar needs place=(x, y, z), where on the bar it holds; {self.part!r} has none")
        for label in ("friction", "torque", "grip"):
            value = getattr(self, label)
            if not (np.isfinite(value) and value >= 0.0):
                raise BadValue(f"a contact's {label} is a number >= 0; got {value!r}")

    @property
    def label(self) -> str:
        return self.name or f"{self.part} {self.how}"


@dataclass(frozen=True, eq=False)
class Place:
    """A body's point is at `position` at a time; None leaves a coordinate free. `within` [m] gives it room."""

    body: str  # "com" for the centre of mass
    time: Time
    position: Sequence[float | None]
    point: ArrayLike = (0.0, 0.0, 0.0)  # [m] in the body's frame
    within: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        _check_time(self.time, f"the time of {self.body!r}'s place")
        if len(self.position) != 3 or all(c is None for c in self.position):
            raise BadValue(f"a place is (x, y, z), None where free, not all None; got {self.position!r}")
        if self.within < 0.0:
            raise BadValue(f"within is a distance >= 0; got {self.within!r}")


@dataclass(frozen=True, eq=False)
class Facing:
    """A body faces `yaw` [rad] about the vertical at a time, as its x axis tells."""

    time: Time
    yaw: float
    body: str | None = None  # None: the root
    name: str = ""

    def __post_init__(self) -> None:
        _check_time(self.time, "the time of a facing")


@dataclass(frozen=True, eq=False)
class Apex:
    """In a flight that goes on at `time` the CoM's highest point is at `height` [m] (at least or at most, if said)."""

    time: Time
    height: float
    sense: Literal["equal", "at least", "at most"] = "equal"
    name: str = ""

    def __post_init__(self) -> None:
        _check_time(self.time, "the time of an apex")
        if self.sense not in ("equal", "at least", "at most"):
            raise unknown_name("sense of an apex", str(self.sense), ("equal", "at least", "at most"))


@dataclass(frozen=True, eq=False)
class Clear:
    """The shapes of bodies (a foot's points) stay above `height` [m] from `start` to `end`: over a box, a hurdle."""

    bodies: Sequence[str]
    height: float
    start: Time = 0.0
    end: Time | None = None  # None: to the end
    name: str = ""

    def __post_init__(self) -> None:
        _check_time(self.start, "the start of a clearance")
        if self.end is not None:
            _check_time(self.end, "the end of a clearance")


@dataclass(frozen=True, eq=False)
class Apart:
    """Bodies keep off others (None: all off all, but neighbours) from `start` to `end`: arms off the legs in a tuck."""

    bodies: Sequence[str] | None = None
    others: Sequence[str] | None = None
    room: float = 0.0  # [m] between them
    start: Time = 0.0
    end: Time | None = None  # None: to the end
    name: str = ""

    def __post_init__(self) -> None:
        _check_time(self.start, "the start of keeping apart")
        if self.end is not None:
            _check_time(self.end, "the end of keeping apart")
        both = sorted(set(self.bodies or ()) & set(self.others or ()))
        if both:
            raise BadValue(f"a body cannot be kept apart from itself; {', '.join(both)} is on both sides")


@dataclass(frozen=True, eq=False)
class TorqueLimit:
    """No joint of `joints` (None: of all) works harder than `share` of its strength, or than `limit` [N m]."""

    joints: Sequence[str] | None = None
    limit: float | None = None
    share: float = 1.0

    def __post_init__(self) -> None:
        for label, value in (("limit", self.limit), ("share", self.share)):
            if value is not None and not (np.isfinite(value) and value > 0.0):
                raise BadValue(f"a torque's {label} is a positive number; got {value!r}")


@dataclass(frozen=True, eq=False)
class Effort:
    """The work of some joints (None: of all) counts: weight x the integral of (torque / strength)^2."""

    joints: Sequence[str] | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weight) and self.weight > 0.0):
            raise BadValue(f"an effort's weight is a positive number; got {self.weight!r}")


@dataclass(frozen=True, eq=False)
class Cycle:
    """The end is the beginning again, moved on by `travel` (x, y) [m]; velocities agree too."""

    travel: Sequence[float | None] = (None, None)  # None: as far as it likes

    def __post_init__(self) -> None:
        if len(self.travel) != 2:
            raise BadValue(f"a cycle's travel is (x, y) [m], None where free; got {self.travel!r}")


Wish: TypeAlias = Place | Facing | Apex | Clear | Apart | TorqueLimit | Effort | Cycle


@dataclass(frozen=True)
class Taste:
    """What among possible motions is preferred: weights of the objective."""

    smooth: float = 1.0  # integral of squared accelerations [rad^2/s^4 s]
    root_place: float = 0.1  # share of it for the root's place [per m^2]
    root_turn: float = 1.0  # and for its rotation
    heft: float = 1.0  # joints count as the inertia they carry to this power; 0: all alike
    near: float = 0.0  # integral of squared distance from the initial or reference motion [rad^2 s]
    force: float = 1e-4  # of contact forces, in body weights: shares them out among points
    joints: Mapping[str, float] = field(default_factory=dict)  # share of `smooth` and `near` by joint

    def __post_init__(self) -> None:
        for name in ("smooth", "root_place", "root_turn", "heft", "near", "force"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise BadValue(f"Taste.{name} is a number >= 0; got {value!r}")
        if self.smooth == 0.0 and self.near == 0.0:
            raise BadValue("a motion needs a preference: smooth or near above 0")


@dataclass(frozen=True, eq=False)
class Asks:
    """Everything a motion is asked for; `optimize_motion` says what each is."""

    character: Character
    keys: tuple[Key, ...]
    contacts: tuple[Touch, ...]
    duration: Time
    wishes: tuple[Wish, ...] = ()
    reference: Motion | None = None
    taste: Taste = field(default_factory=Taste)
    rate: float = RATE
    fine: tuple[tuple[float, float, float], ...] = ()
    clear: tuple[str, ...] | None = None
