"""Little torque: chosen joints passive, or all unknowns small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.objectives.base import DiagonalRows, Objective, Rows, Unknown, check_weight
from counterpoise.objectives.footing import body_weight

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance


@dataclass(frozen=True, eq=False)
class MinimumTorque(Objective):
    """S tau = 0 (eq. 3.31): as a level of its own it makes joints passive, among others it makes them lazy."""

    on: ClassVar[Unknown] = "torque"
    joints: Sequence[str] | None = None  # all joints where nothing is said
    relative: bool = False  # torques as shares of their limits instead of [N m]
    weight: float = 1.0
    name: str = "minimum torque"

    def __post_init__(self) -> None:
        check_weight(self)
        if isinstance(self.joints, str):
            object.__setattr__(self, "joints", (self.joints,))

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        who = snapshot.character
        dofs = joint_dofs(who, self.joints)
        S = np.zeros((len(dofs), who.nv))
        limit = who.torque_limit[dofs]
        S[np.arange(len(dofs)), dofs] = 1.0 / np.where(limit > 0.0, limit, 1.0) if self.relative else 1.0
        return Rows(S, np.zeros(len(dofs)), "torque")


@dataclass(frozen=True, eq=False)
class SmallForces(Objective):
    """lambda = 0: contact forces no larger than the rest needs, in body weights."""

    on: ClassVar[Unknown] = "multiplier"
    weight: float = 1.0
    name: str = "small forces"

    def __post_init__(self) -> None:
        check_weight(self)

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        k = 0 if stance is None else len(stance.force_limit)
        return Rows(np.eye(k) / body_weight(snapshot.character), np.zeros(k), "multiplier")


@dataclass(frozen=True, eq=False)
class SmallAccelerations(Objective):
    """a = 0: the regularisation of section 3.4, for accelerations."""

    weight: float = 1.0
    name: str = "small accelerations"

    def __post_init__(self) -> None:
        check_weight(self)

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> DiagonalRows:
        nv = snapshot.character.nv
        return DiagonalRows(np.zeros(nv), np.ones(nv))


def joint_dofs(character: Character, joints: Sequence[str] | None) -> Array:
    """Rows of v of the named joints; of all but the root's where none is named."""
    if joints is None:
        return np.arange(character.root_dofs.stop, character.nv)
    return np.concatenate(
        [np.arange(character.nv)[character.joint(name).dofs] for name in joints] or [np.empty(0, int)]
    )
