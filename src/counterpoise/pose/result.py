"""Pose: a solved pose, with the report on its goals and constraints."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.restore import ACTIVE_TOLERANCE

Status = Literal["solved", "unreachable", "infeasible", "out_of_time"]


@dataclass(frozen=True, eq=False)
class Pose:
    """A pose that holds its constraints, as near to its goals as possible, with a report.

    `solved`: every goal within tolerance. `unreachable`: the best pose found. `infeasible`: constraints contradict each
    other or the limits (`conflict` names them) and q is the pose that breaks them least. `out_of_time`: stopped early,
    constraints held. Residuals and violations are computed when they are first read.
    """

    character: Character
    q: Array  # (nq,)
    status: Status
    iterations: int
    restarts: int
    seconds: float  # [s]
    objective: float
    conflict: tuple[str, ...]
    problem: PoseProblem

    def __post_init__(self) -> None:
        self.q.flags.writeable = False

    @cached_property
    def residuals(self) -> dict[str, float]:
        """Size of the error of every goal, by name [m, rad]."""
        return self.problem.residuals(self.q)

    @cached_property
    def violations(self) -> dict[str, float]:
        """How far every constraint is from holding, by name [m, rad]."""
        return self.problem.violations(self.q)

    @cached_property
    def active_limits(self) -> tuple[str, ...]:
        """Names of the joint limits that are active."""
        limits = self.character.limits
        return tuple(limits.names[i] for i in np.flatnonzero(limits.values(self.q) > -ACTIVE_TOLERANCE))

    def __bool__(self) -> bool:
        return self.status == "solved"

    def __repr__(self) -> str:
        worst = max(self.residuals.items(), key=lambda kv: kv[1], default=("no goals", 0.0))
        return (
            f"Pose({self.status}: {worst[0]} {worst[1]:.2g}, {self.iterations} iterations, {1e3 * self.seconds:.2f} ms)"
        )

    @property
    def motion(self) -> Motion:
        """The pose as a motion of one frame, for files and pictures."""
        return Motion(self.character, np.zeros(1), self.q[None], name="pose")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as a motion file of one frame (.npz)."""
        self.motion.save(path)
