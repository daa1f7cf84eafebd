"""MinimumTorque makes joints passive; SmallForces and SmallAccelerations regularise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.objectives.base import DiagonalRows, Objective, Rows, Unknown, check_weight
from counterpoise.objectives.footing import force_unit

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


def joint_dofs(character: Character, joints: Sequence[str] | None) -> Array:
    """Returns the rows of v of the named joints; None: of all joints but the root's."""
    if joints is None:
        return np.arange(character.root_dofs.stop, character.nv)
    return np.concatenate(
        [np.arange(character.nv)[character.joint(name).dofs] for name in joints] or [np.empty(0, int)]
    )
