"""TorqueLimit and Effort: how hard joints may work, and what their work costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.spacetime.optimize.requirements.base import Requirement, RowContext
from counterpoise.spacetime.optimize.rows.base import RowBlock
from counterpoise.spacetime.optimize.rows.torque import TorquePlan


@dataclass(frozen=True, eq=False)
class TorqueLimit(Requirement):
    """No joint of `joints` (None: of all) works harder than `share` of its strength, or than `limit` [N m].

    An `optional` limit is given up where no motion within it is found.
    """

    joints: Sequence[str] | None = None
    limit: float | None = None
    share: float = 1.0
    optional: bool = False

    def __post_init__(self) -> None:
        for label, value in (("limit", self.limit), ("share", self.share)):
            if value is not None and not (np.isfinite(value) and value > 0.0):
                raise BadValue(f"a torque's {label} is a positive number; got {value!r}")

    def rows(self, context: RowContext) -> list[RowBlock]:
        """Returns none: torques are variables of the motion, bounded (see `plan_torques`)."""
        return []


@dataclass(frozen=True, eq=False)
class Effort(Requirement):
    """The work of some joints (None: of all) costs: weight x the integral of (torque / strength)^2."""

    joints: Sequence[str] | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weight) and self.weight > 0.0):
            raise BadValue(f"an effort's weight is a positive number; got {self.weight!r}")

    def rows(self, context: RowContext) -> list[RowBlock]:
        """Returns none: torques are variables of the motion with a cost (see `plan_torques`)."""
        return []


def plan_torques(character: Character, requirements: Sequence[Requirement]) -> TorquePlan | None:
    """Gathers what limits and efforts ask for; returns None where there are none."""
    bound, effort = np.full(character.nv, np.inf), np.zeros(character.nv)
    strength = np.where(character.torque_limit > 0.0, character.torque_limit, 1.0)
    strength = np.where(np.isfinite(strength), strength, 1.0)
    asked = np.zeros(character.nv, bool)
    for one in requirements:
        if not isinstance(one, (TorqueLimit, Effort)):
            continue
        every = [j.name for j in character.joints if j.kind != "free"]
        for name in every if one.joints is None else one.joints:
            joint = character.joint(name)
            if joint.kind == "free":
                raise BadValue(f"{name!r} is the free root, which has no motor; name joints such as 'knee_left'")
            asked[joint.dofs] = True
            if isinstance(one, Effort):
                effort[joint.dofs] += one.weight
            else:
                most = one.share if one.limit is None else one.limit / strength[joint.dofs]
                bound[joint.dofs] = np.minimum(bound[joint.dofs], most)
    dofs = np.flatnonzero(asked).astype(np.int64)
    return TorquePlan(dofs, strength[dofs], bound[dofs], effort[dofs]) if len(dofs) else None
