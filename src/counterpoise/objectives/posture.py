"""TrackPose: every joint follows a pose or a motion (de Lasa 2011, eq. 4.1; Macchietto 2009, eq. 11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.joints import Joint
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.motion import Motion
from counterpoise.objectives.base import DiagonalRows, Objective, check_weight, numbers
from counterpoise.objectives.writing import add_posture
from counterpoise.quick import quick

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance

PerJoint = float | Mapping[str, float]
Hashed = float | tuple[tuple[str, float], ...] | None  # the same, hashable
PLACE_SHARE = 0.01  # of `root_weight`: the weight of the root's place


@dataclass(frozen=True, eq=False)
class TrackPose(Objective):
    """a = k_p (q_r - q) + k_v (v_r - v) + a_r for each joint, ball joints and the root on their manifolds.

    `stiffness`, `damping` and `weights` are one number for all joints, or numbers by joint name or by the beginning of
    joint names ("shoulder" is both shoulders); "" is for all other joints. Weights multiply squared errors, as `weight`
    does. The root follows the reference's orientation with `root_weight` and its place with a hundredth of it.
    """

    posture: ClassVar[bool] = True
    reference: ArrayLike | Motion | None = None  # a pose (nq,), a Motion sampled at the snapshot's time, None: neutral
    stiffness: PerJoint = 100.0  # k_p [1/s^2]
    damping: PerJoint | None = None  # k_v [1/s]; None: critical, 2 sqrt(k_p)
    weights: PerJoint = 1.0
    root_weight: float = 0.1  # of the root's orientation, relative to 1 of every joint
    shift: float = 0.0  # [s] added to the time at which a Motion is sampled
    speed: float = 1.0  # of the reference's clock: its velocity and acceleration are scaled to fit
    weight: float = 1.0
    name: str = "posture"
    velocity: ArrayLike | None = None  # (nv,) of a reference pose; None: at rest
    acceleration: ArrayLike | None = None  # (nv,) of a reference pose

    def __post_init__(self) -> None:
        check_weight(self)
        _ = self._key  # found now, so that `aimed` copies it
        for what, given in (("stiffness", self.stiffness), ("damping", self.damping), ("weights", self.weights)):
            values = list(given.values()) if isinstance(given, Mapping) else [0.0 if given is None else given]
            if not all(0.0 <= float(v) < np.inf for v in values):
                raise BadValue(f"{self.name!r}: {what} are numbers >= 0; got {given!r}")
        if not 0.0 <= self.root_weight < np.inf:
            raise BadValue(f"{self.name!r}: root_weight is a number >= 0; got {self.root_weight!r}")
        if self.reference is not None and not isinstance(self.reference, Motion):
            object.__setattr__(self, "reference", numbers(self.reference, "a reference pose"))
        for what in ("velocity", "acceleration"):
            given = getattr(self, what)
            if given is not None:
                if isinstance(self.reference, Motion):
                    raise BadValue(f"{self.name!r}: a Motion brings its own {what}; give one with a pose only")
                object.__setattr__(self, what, numbers(given, f"a reference's {what}"))

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> DiagonalRows:
        character = snapshot.character
        self.check(character)
        k_p, k_v, weight = self.gains(character)
        q, v, a = self.sample(character, snapshot.time)
        wanted = k_p * character.difference(snapshot.q, q)
        wanted += k_v * (v - snapshot.v)
        wanted += a
        return DiagonalRows(wanted, weight)

    def add(self, snapshot: Snapshot, weight: Array, pull: Array, alpha: float) -> DiagonalRows:
        """Adds the rows, times `alpha`, to a level's weights and weighted targets, (nv,) each. Returns the rows."""
        character = snapshot.character
        self.check(character)
        k_p, k_v, own = self.gains(character)
        q, v, a = self.sample(character, snapshot.time)
        target = np.empty(len(k_p))
        add_posture(weight, pull, alpha, character.layout, snapshot.q, q, snapshot.v, v, a, k_p, k_v, own, target)
        return quick(DiagonalRows, target=target, weight=own, on="acceleration", at_most=False)

    def sample(self, character: Character, time: float) -> tuple[Array, Array, Array]:
        """Returns the reference's q, v, a at a time of the simulation."""
        given, rest = self.reference, no_velocity(character)
        if isinstance(given, Motion):
            if self.speed == 0.0:
                return given.sample(self.shift).q, rest, rest
            s = given.sample(time * self.speed + self.shift)
            return s.q, s.v * self.speed, s.a * self.speed**2
        q: Any = character.neutral if given is None else given
        v: Any = rest if self.velocity is None else self.velocity
        a: Any = rest if self.acceleration is None else self.acceleration
        return q, v, a

    def gains(self, character: Character) -> tuple[Array, Array, Array]:
        """Returns k_p, k_v and the weights of every row, (nv,) each."""
        return posture_gains(character, self._key, self.root_weight, self.name)

    @cached_property
    def _key(self) -> GainsKey:
        return GainsKey(hashed(self.stiffness), hashed(self.damping), hashed(self.weights))

    def check(self, character: Character) -> None:
        """Raises BadValue where the reference does not fit the character."""
        name = character.name
        if isinstance(self.reference, Motion):
            given = self.reference.character
            if given is not character and given.joint_names != character.joint_names:
                raise BadValue(f"this motion is for {given.name!r}, whose joints differ from {name!r}'s")
            return
        if self.reference is not None and _count(self.reference) != (character.nq,):
            raise BadValue(
                f"a reference pose of {name!r} has {character.nq} numbers; got shape {np.shape(self.reference)}"
            )
        for what, rate in (("velocity", self.velocity), ("acceleration", self.acceleration)):
            if rate is not None and _count(rate) != (character.nv,):
                raise BadValue(f"a reference's {what} of {name!r} has {character.nv} numbers; got {np.shape(rate)}")


def _count(given: ArrayLike) -> tuple[int, ...]:
    """Returns the shape of numbers."""
    return given.shape if type(given) is np.ndarray else np.shape(given)


class GainsKey:
    """The gains of a posture as the key of a table. Its hash is computed once: there may be dozens of joints."""

    def __init__(self, stiffness: Hashed, damping: Hashed, weights: Hashed) -> None:
        self.parts = stiffness, damping, weights
        self._hash = hash(self.parts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GainsKey) and self.parts == other.parts

    def __reduce__(self) -> Any:
        return GainsKey, self.parts  # hashes of names differ from process to process


@kept_with_character
def posture_gains(character: Character, gains: GainsKey, root_weight: float, name: str) -> tuple[Array, Array, Array]:
    """Returns k_p, k_v and the weights of every row of a posture, (nv,) each."""
    stiffness, damping, weights = gains.parts
    k_p = per_dof(character, unhashed(stiffness), name)
    k_v = 2.0 * np.sqrt(k_p) if damping is None else per_dof(character, unhashed(damping), name)
    weight = per_dof(character, unhashed(weights), name)
    root = character.root_dofs.stop
    weight[:root] = root_weight
    weight[[v for joint in character.joints for v in place_dofs(joint) if v < root]] *= PLACE_SHARE
    return k_p, k_v, weight


@kept_with_character
def no_velocity(character: Character) -> Array:
    return np.zeros(character.nv)


def hashed(given: PerJoint | None) -> Hashed:
    """Returns numbers by joint name as pairs, so that they can be the key of a table."""
    return tuple(given.items()) if isinstance(given, Mapping) else given


def unhashed(given: Hashed) -> PerJoint:
    """Returns pairs as numbers by joint name again."""
    assert given is not None
    return dict(given) if isinstance(given, tuple) else given


def place_dofs(joint: Joint) -> range:
    """Returns the rows of v that move the joint's body without turning it: a free joint's first three, a slide's."""
    if joint.kind == "free":
        return range(joint.dofs.start, joint.dofs.start + 3)
    return range(joint.dofs.start, joint.dofs.stop) if joint.kind == "slide" else range(0)


def per_dof(character: Character, given: PerJoint, what: str = "gains") -> Array:
    """Returns a number for every row of v, (nv,), from one number or from numbers by joint name or its beginning."""
    if not isinstance(given, Mapping):
        return np.full(character.nv, float(given))
    names = character.joint_names
    out = np.full(character.nv, float(given.get("", 1.0)))
    used = {""}
    for joint in character.joints:
        fits = [key for key in given if key and joint.name.startswith(key)]
        if fits:
            best = max(fits, key=len)
            out[joint.dofs] = float(given[best])
            used.update(fits)
    for key in given:
        if key not in used:
            raise unknown_name(f"joint (for {what})", key, names, character.name)
    return out
