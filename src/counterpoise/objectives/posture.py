"""Posture: every joint drawn to a pose or along a motion (de Lasa 2011, eq. 4.1; Macchietto 2009, eq. 11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.motion import Motion
from counterpoise.objectives.base import DiagonalRows, Objective, check_weight, numbers
from counterpoise.objectives.writing import add_posture

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance

PerJoint = float | Mapping[str, float]


@dataclass(frozen=True, eq=False)
class TrackPose(Objective):
    """a = k_p (q_r - q) + k_v (v_r - v) + a_r for each joint, ball joints and the root on their manifolds.

    `stiffness`, `damping` and `weights` are one number for all joints or numbers by joint name, whole or by its
    beginning ("shoulder" is both of them); "" stands for the joints not named. Weights multiply squares, as `weight`
    does. The root follows the reference's orientation with `root_weight` and its place with a hundredth of it.
    """

    posture: ClassVar[bool] = True
    reference: ArrayLike | Motion | None = None  # a pose (nq,), a Motion sampled at the snapshot's time, None: neutral
    stiffness: PerJoint = 100.0  # k_p [1/s^2]
    damping: PerJoint | None = None  # k_v [1/s]; 2 sqrt(k_p) where nothing is said
    weights: PerJoint = 1.0
    root_weight: float = 0.1
    shift: float = 0.0  # [s] added to the time at which a Motion is sampled
    speed: float = 1.0  # of the reference's clock: its velocity and acceleration are scaled to fit
    weight: float = 1.0
    name: str = "posture"
    velocity: ArrayLike | None = None  # (nv,) of a reference pose; None: at rest
    acceleration: ArrayLike | None = None  # (nv,) of a reference pose

    def __post_init__(self) -> None:
        check_weight(self)
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
        who = snapshot.character
        self._check(who)
        k_p, k_v, weight = self._gains(who)
        q, v, a = self.sample(who, snapshot.time)
        wanted = k_p * who.difference(snapshot.q, q)
        wanted += k_v * (v - snapshot.v)
        wanted += a
        return DiagonalRows(wanted, weight)

    def add(self, snapshot: Snapshot, weight: Array, pull: Array, alpha: float) -> DiagonalRows:
        """The rows, their weights times `alpha` added to a level's (nv,) weights and weighted targets."""
        who = snapshot.character
        self._check(who)
        k_p, k_v, own = self._gains(who)
        q, v, a = self.sample(who, snapshot.time)
        target = np.empty(len(k_p))
        add_posture(weight, pull, alpha, who.layout, snapshot.q, q, snapshot.v, v, a, k_p, k_v, own, target)
        return DiagonalRows(target, own)

    @cached_property
    def _key(self) -> Any:
        return _key(self.stiffness), _key(self.damping), _key(self.weights), self.root_weight

    def sample(self, character: Character, time: float) -> tuple[Array, Array, Array]:
        """The reference's q, v, a at a time of the simulation."""
        given, rest = self.reference, _zeros(character)
        if isinstance(given, Motion):
            if self.speed == 0.0:
                return given.sample(self.shift).q, rest, rest
            s = given.sample(time * self.speed + self.shift)
            return s.q, s.v * self.speed, s.a * self.speed**2
        q: Any = character.neutral if given is None else given
        v: Any = rest if self.velocity is None else self.velocity
        a: Any = rest if self.acceleration is None else self.acceleration
        return q, v, a

    def _gains(self, who: Character) -> tuple[Array, Array, Array]:
        """k_p, k_v and weights of every row, kept with the body: a controller may make a new objective each tick."""
        kept = self.__dict__.get("_kept_gains")
        if kept is not None and kept[0] is who:
            return kept[1]
        key = self._key
        known: dict[Any, tuple[Array, Array, Array]] = who.__dict__.setdefault("_posture_gains", {})
        found = known.get(key)
        if found is None:
            k_p = per_dof(who, self.stiffness, self.name)
            k_v = 2.0 * np.sqrt(k_p) if self.damping is None else per_dof(who, self.damping, self.name)
            weight = per_dof(who, self.weights, self.name)
            root = who.root_dofs.stop
            weight[:root] = self.root_weight
            places = [v for j in who.joints for v in _places(j) if v < root]
            weight[places] *= 0.01
            if len(known) > 64:
                known.clear()
            found = known[key] = (k_p, k_v, weight)
        self.__dict__["_kept_gains"] = (who, found)
        return found

    def _check(self, who: Character) -> None:
        if isinstance(self.reference, Motion):
            if self.reference.character is not who and self.reference.character.joint_names != who.joint_names:
                raise BadValue(
                    f"this motion is for {self.reference.character.name!r}, whose joints differ from {who.name!r}'s"
                )
            return
        if self.reference is not None and np.shape(self.reference) != (who.nq,):
            raise BadValue(
                f"a reference pose of {who.name!r} has {who.nq} numbers; got shape {np.shape(self.reference)}"
            )
        for what, given in (("velocity", self.velocity), ("acceleration", self.acceleration)):
            if given is not None and np.shape(given) != (who.nv,):
                raise BadValue(f"a reference's {what} of {who.name!r} has {who.nv} numbers; got {np.shape(given)}")


def _zeros(who: Character) -> Array:
    found = who.__dict__.get("_no_velocity")
    if found is None:
        found = who.__dict__["_no_velocity"] = np.zeros(who.nv)
    return found


def _key(given: PerJoint | None) -> Any:
    return tuple(given.items()) if isinstance(given, Mapping) else given


def _places(joint: Any) -> range:
    """Rows of v that move a root about: a free joint's first three, a slide's one."""
    if joint.kind == "free":
        return range(joint.dofs.start, joint.dofs.start + 3)
    return range(joint.dofs.start, joint.dofs.stop) if joint.kind == "slide" else range(0)


def per_dof(character: Character, given: PerJoint, what: str = "gains") -> Array:
    """One number for every row of v from one number, or from numbers by joint name or its beginning."""
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
