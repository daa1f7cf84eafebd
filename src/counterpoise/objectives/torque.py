"""MinimumTorque and RelaxedJoints make joints passive; SmallForces and SmallAccelerations regularise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from counterpoise.arrays import Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.objectives.base import DiagonalRows, Objective, Rows, Unknown, check_weight
from counterpoise.objectives.footing import force_unit
from counterpoise.objectives.writing import RELAXED, Record

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance


@dataclass(frozen=True, eq=False)
class MinimumTorque(Objective):
    """S tau = 0 (eq. 3.31): in a level of its own it makes joints passive; beside other objectives it saves torque."""

    on: ClassVar[Unknown] = "torque"
    joints: Sequence[str] | None = None  # None: all joints
    relative: bool = False  # True: torques divided by their limits, instead of [N m]
    weight: float = 1.0
    name: str = "minimum torque"

    def __post_init__(self) -> None:
        check_weight(self)
        if isinstance(self.joints, str):
            object.__setattr__(self, "joints", (self.joints,))

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        character = snapshot.character
        dofs = joint_dofs(character, self.joints)
        S = np.zeros((len(dofs), character.nv))
        limit = character.torque_limit[dofs]
        S[np.arange(len(dofs)), dofs] = 1.0 / np.where(limit > 0.0, limit, 1.0) if self.relative else 1.0
        return Rows(S, np.zeros(len(dofs)), "torque")


@dataclass(frozen=True, eq=False)
class RelaxedJoints(Objective):
    """Joints move as gravity and the rest of the body move them, without torque: M_i a = -h_i, divided by M_ii.

    These are MinimumTorque's rows on accelerations, which the compiled solver takes. They are exact as long as nothing
    that the joints carry touches the world. `damping` is felt on top of the model's own: a_i = ... - damping v_i.
    """

    joints: Sequence[str]  # of the relaxed limb: shoulder, elbow, wrist
    damping: float = 0.0  # [1/s]
    weight: float = 1.0
    name: str = "relaxed joints"

    def __post_init__(self) -> None:
        check_weight(self)
        if isinstance(self.joints, str):
            object.__setattr__(self, "joints", (self.joints,))
        object.__setattr__(self, "joints", tuple(self.joints))
        if not self.joints or not 0.0 <= self.damping < np.inf:
            raise BadValue(
                f"{self.name!r}: name at least one joint, and a damping >= 0 [1/s]; got {self.joints!r}, "
                f"{self.damping!r}"
            )

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        dofs = relaxed_dofs(snapshot.character, tuple(self.joints))
        inertia = snapshot.M[dofs, dofs]
        return Rows(snapshot.M[dofs] / inertia[:, None], -self.damping * snapshot.v[dofs] - snapshot.h[dofs] / inertia)

    def record(self, snapshot: Snapshot, stance: Stance | None, beta: float) -> Record | None:
        dofs = relaxed_dofs(snapshot.character, tuple(self.joints)).tolist()
        numbers = [RELAXED, beta, float(len(dofs))]
        for i, v in zip(dofs, snapshot.v[dofs].tolist(), strict=True):
            numbers += (float(i), -self.damping * v)
        return tuple(numbers)


@kept_with_character
def relaxed_dofs(character: Character, joints: tuple[str, ...]) -> Ints:
    """Returns the rows of v of the named joints; raises BadValue where the root is among them."""
    dofs = joint_dofs(character, joints)
    if len(dofs) and dofs.min() < character.root_dofs.stop:
        root = character.joints[0].name
        raise BadValue(f"the root has no torque that could be left out: name joints other than {root!r}")
    return dofs


@dataclass(frozen=True, eq=False)
class SmallForces(Objective):
    """lambda = 0 [body weights]: contact forces are no larger than the other objectives need."""

    on: ClassVar[Unknown] = "multiplier"
    weight: float = 1.0
    name: str = "small forces"

    def __post_init__(self) -> None:
        check_weight(self)

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        k = 0 if stance is None else len(stance.force_limit)
        return Rows(np.eye(k) / force_unit(snapshot.character), np.zeros(k), "multiplier")


@dataclass(frozen=True, eq=False)
class SmallAccelerations(Objective):
    """a = 0: the regularisation of accelerations (section 3.4)."""

    weight: float = 1.0
    name: str = "small accelerations"

    def __post_init__(self) -> None:
        check_weight(self)

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> DiagonalRows:
        nv = snapshot.character.nv
        return DiagonalRows(np.zeros(nv), np.ones(nv))


def joint_dofs(character: Character, joints: Sequence[str] | None) -> Ints:
    """Returns the rows of v of the named joints; None: of all joints but the root's."""
    if joints is None:
        return np.arange(character.root_dofs.stop, character.nv)
    return np.concatenate(
        [np.arange(character.nv)[character.joint(name).dofs] for name in joints] or [np.empty(0, int)]
    )
