"""What a user asks of a motion: keys to pass through, parts of the body that touch the world, preferences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.character.character import Character
from counterpoise.defaults import PLANNED_FRICTION
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.motion import Motion
from counterpoise.motion.poses import Sample
from counterpoise.objectives.surface import LEVEL, Surface
from counterpoise.spacetime.optimize.moments import RATE, Time, check_time, seconds
from counterpoise.spacetime.optimize.requirements.base import Requirement
from counterpoise.spacetime.optimize.tuning import ImpactTuning
from counterpoise.terrain import Terrain

How = Literal["flat", "heel", "toe", "point", "bar"]
HOWS = ("flat", "heel", "toe", "point", "bar")
Landing = Literal["still", "impact"]
LANDINGS = ("still", "impact")  # what begins to touch is at rest then, or meets the ground moving
Ground: TypeAlias = Surface | Callable[[float], Surface]


class MovingPoses(Protocol):
    """Something that has poses and velocities over time: a Motion, or an optimised Result."""

    @property
    def end(self) -> float: ...

    def sample(self, t: float) -> Sample: ...


@dataclass(frozen=True, eq=False)
class Key:
    """The pose to pass through at a time: the whole body, or the joints in `only`.

    `root=False` leaves place and facing free. A `soft` key is a cost of that weight instead of a constraint. `rest`
    asks the body (the joints named) to be still at that instant, `velocity` to move like that; both are exact even
    where the pose is soft. `Key.from_motion` takes pose and velocity from another motion, so that motions chain.
    """

    time: Time
    pose: ArrayLike  # (nq,)
    only: Sequence[str] | None = None  # joints that count; None: all
    root: bool = True  # whether the root's place and facing count
    soft: float | None = None  # weight of the cost; None: exact
    rest: bool = False
    name: str = ""
    velocity: ArrayLike | None = None  # (nv,) of the body, as in a State; None: free

    def __post_init__(self) -> None:
        check_time(self.time, "a key's time")
        if self.rest and self.velocity is not None:
            raise BadValue(f"{self.label} is at rest and has a velocity: keep one of them")
        if self.soft is not None and not (np.isfinite(self.soft) and self.soft > 0.0):
            raise BadValue(f"a soft key has a positive weight; got {self.soft!r}")

    @classmethod
    def from_motion(
        cls, time: Time, source: MovingPoses, at: float | None = None, *, only: Sequence[str] | None = None,
        root: bool = True, soft: float | None = None, name: str = "",
    ) -> Key:  # fmt: skip
        """Returns the pose and velocity of a motion, a clip or an optimised result at `at` [s] (None: at its end)."""
        sample = source.sample(source.end if at is None else at)
        return cls(time, np.array(sample.q), only, root, soft, False, name, np.array(sample.v))

    @property
    def label(self) -> str:
        return self.name or f"key {seconds(self.time):g} s"

    @property
    def whole(self) -> bool:
        """Whether it says all there is to say about the pose."""
        return self.only is None and self.root and self.soft is None

    @property
    def whole_state(self) -> bool:
        """Whether it says all there is to say about pose and velocity."""
        return self.whole and (self.rest or self.velocity is not None)


@dataclass(frozen=True, eq=False)
class Touch:
    """A part of the body that the world holds from `start` to `end`.

    `how`: a foot `flat`, on its `heel` or its `toe`; a body `point`; a hand round a `bar` that it may turn about. Where
    `place` is None the optimiser chooses the spot on the surface; it then stays put. A foot's place is the middle of
    its sole (of its heel's or toes' edge). On a bar the torque about the bar's axis is at most `torque`, across it at
    most `grip`. A flat foot that leaves rolls over its toes before, and one that comes from the air touches with them
    first, unless `roll` and `land` say otherwise.
    """

    part: str  # a foot, a hand or any body
    start: Time
    end: Time
    how: How = "flat"
    place: ArrayLike | None = None  # [m] (x, y) on the surface or (x, y, z) in the world
    facing: float | None = None  # [rad] of a flat foot; None: free
    surface: Ground = LEVEL
    friction: float = PLANNED_FRICTION
    point: ArrayLike | None = None  # [m] (3,) or (k, 3) in the body's frame; for `point` and `bar`
    axis: ArrayLike = (0.0, 1.0, 0.0)  # of the bar, world
    torque: float = 10.0  # [N m] about the bar
    grip: float = 30.0  # [N m] across the bar
    most: float | None = None  # [N] largest force; None: no bound
    sole: float = 1.0  # share of a flat foot's sole, about its middle, on which forces act: less leaves a reserve
    name: str = ""
    roll: float | None = None  # [s] before it leaves in which a flat foot rolls over its toes; None: where it can
    land: float | None = None  # [s] after it has touched in which it is on its toes; None: where it comes from the air

    def __post_init__(self) -> None:
        check_time(self.start, f"the start of {self.part!r}'s contact")
        check_time(self.end, f"the end of {self.part!r}'s contact")
        if self.how not in HOWS:
            raise unknown_name("way of touching", str(self.how), HOWS)
        if not seconds(self.start) < seconds(self.end):
            raise BadValue(
                f"the contact of {self.part!r} ends after it starts; got {seconds(self.start):g} s to "
                f"{seconds(self.end):g} s"
            )
        if self.how == "bar" and self.place is None:
            raise BadValue(f"a hand on a bar needs place=(x, y, z), where on the bar it holds; {self.part!r} has none")
        if self.place is not None and np.shape(self.place) not in ((2,), (3,)):
            raise BadValue(f"the place of {self.label!r} is (x, y) or (x, y, z) [m]; got {self.place!r}")
        rolls = [0.0 if r is None else r for r in (self.roll, self.land)]
        if not (min(rolls) >= 0.0 and sum(rolls) < seconds(self.end) - seconds(self.start)):
            raise BadValue(
                f"the roll and land of {self.label!r} are parts of its time [s], 0 or more; got {self.roll!r} and "
                f"{self.land!r}"
            )
        if max(rolls) > 0.0 and self.how != "flat":
            raise BadValue(f"only a flat foot rolls over its toes; {self.label!r} is {self.how!r}")
        if not 0.0 < self.sole <= 1.0:
            raise BadValue(f"the sole of a contact is a share from 0 to 1; got {self.sole!r}")
        for label in ("friction", "torque", "grip"):
            value = getattr(self, label)
            if not (np.isfinite(value) and value >= 0.0):
                raise BadValue(f"a contact's {label} is a number >= 0; got {value!r}")

    @property
    def label(self) -> str:
        return self.name or f"{self.part} {self.how}"


@dataclass(frozen=True)
class Taste:
    """Which of all possible motions is preferred: weights of the cost."""

    smooth: float = 1.0  # integral of squared accelerations [rad^2/s^4 s]
    root_place: float = 0.1  # share of it for the root's place [per m^2]
    root_turn: float = 1.0  # and for its rotation
    heft: float = 1.0  # joints count as the inertia they carry to this power; 0: all alike
    near: float = 0.0  # integral of squared distance from the initial or reference motion [rad^2 s]
    posture: float = 100.0  # likewise from the neutral pose, upright: joints count as the inertia they carry
    force: float = 1e-4  # of contact forces, in body weights: shares them out among points
    joints: Mapping[str, float] = field(default_factory=dict)  # share of `smooth` and `near` by joint

    def __post_init__(self) -> None:
        for name in ("smooth", "root_place", "root_turn", "heft", "near", "posture", "force"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise BadValue(f"Taste.{name} is a number >= 0; got {value!r}")
        if self.smooth == 0.0 and self.near == 0.0:
            raise BadValue("a motion needs a preference: smooth or near above 0")


@dataclass(frozen=True, eq=False)
class MotionRequest:
    """Everything asked of a motion; `optimize_motion` explains each part."""

    character: Character
    keys: tuple[Key, ...]
    contacts: tuple[Touch, ...]
    duration: Time
    requirements: tuple[Requirement, ...] = ()
    reference: Motion | None = None
    taste: Taste = field(default_factory=Taste)
    rate: float = RATE
    fine: tuple[tuple[float, float, float], ...] = ()
    clear: tuple[str, ...] | None = None
    terrain: Terrain | None = None
    landing: Landing = "still"
    impact: ImpactTuning = field(default_factory=ImpactTuning)


def check_request(request: MotionRequest) -> None:
    """Raises where a name is unknown or nothing says where the motion starts."""
    character = request.character
    if request.reference is not None and request.reference.character.joint_names != character.joint_names:
        raise BadValue(
            f"the reference is for {request.reference.character.name!r}: retarget it to {character.name!r} first"
        )
    if request.landing not in LANDINGS:
        raise unknown_name("landing", str(request.landing), LANDINGS)
    if request.reference is None and not request.keys:
        raise BadValue("a motion needs at least one key, or a reference to start from")
    for key in request.keys:
        character.check_pose(key.pose, key.label)
        if key.velocity is not None:
            v = np.asarray(key.velocity, float)
            if v.shape != (character.nv,) or not np.isfinite(v).all():
                raise BadValue(
                    f"the velocity of {key.label} has one finite number for each of {character.nv} degrees of freedom "
                    f"of {character.name!r}; got {key.velocity!r}"
                )
        for name in key.only or ():
            character.joint(name)
    for touch in request.contacts:
        if touch.how in ("flat", "heel", "toe"):
            character.foot(touch.part)
        else:
            character.body_id(touch.part)
    for requirement in request.requirements:
        requirement.check(character)
