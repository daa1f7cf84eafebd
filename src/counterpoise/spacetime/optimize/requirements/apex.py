"""Apex: how high a flight goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import unknown_name
from counterpoise.spacetime.aggregate.kernels import momentum_batch
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.moments import Time, check_time
from counterpoise.spacetime.optimize.requirements.base import Requirement, RowContext
from counterpoise.spacetime.optimize.rows.base import RowBlock, SplineRows


@dataclass(frozen=True, eq=False)
class Apex(Requirement):
    """In a flight that goes on at `time` the CoM's highest point is at `height` [m] (at least or at most, if said)."""

    time: Time
    height: float
    sense: Literal["equal", "at least", "at most"] = "equal"
    name: str = ""

    def __post_init__(self) -> None:
        check_time(self.time, "the time of an apex")
        if self.sense not in ("equal", "at least", "at most"):
            raise unknown_name("sense of an apex", str(self.sense), ("equal", "at least", "at most"))

    def instants(self) -> Sequence[Time]:
        return (self.time,)

    def rows(self, context: RowContext) -> list[RowBlock]:
        low = -np.inf if self.sense == "at most" else self.height
        high = np.inf if self.sense == "at least" else self.height
        frame = context.frame_at(self.time)
        return [ApexRow(context.evaluation, context.layout, self.name or "apex", frame, low, high)]


class ApexRow(SplineRows):
    """z + z'^2 / 2g of the CoM: the height it will reach, or has come from, in free flight."""

    def __init__(self, e: MotionEvaluation, layout: Layout, name: str, frame: int, low: float, high: float) -> None:
        self.name, self.frame = name, np.array([frame], np.int64)
        self.low, self.high = np.array([low]), np.array([high])
        self.prepare(e, layout, np.arange(e.character.nv), timed=True)

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        speed, _, _ = self._vertical_speed(e)
        return np.array([e.kinematics(self.frame).com[0, 2] + speed**2 / (2.0 * e.character.gravity)])

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        """By the pose through z and z', by the velocity through z'."""
        speed, by_pose, by_velocity = self._vertical_speed(e)
        k = speed / e.character.gravity
        J = e.kinematics(self.frame).com_jacobian[0, 2]
        self.write(e, out, (J + k * by_pose)[None], (k * by_velocity)[None])

    def _vertical_speed(self, e: MotionEvaluation) -> tuple[float, Array, Array]:
        """z' of the CoM with its derivatives by pose and velocity: the momentum's, divided by the mass."""
        nv, i = e.character.nv, int(self.frame[0])
        H, Hq, Hv = np.zeros((1, 6)), np.zeros((1, 6, nv)), np.zeros((1, 6, nv))
        none = np.zeros((1, 3))
        momentum_batch(e.tables, e.q[i : i + 1], e.v[i : i + 1], none, none, H, Hq, Hv)
        mass = e.character.mass
        return float(H[0, 5]) / mass, np.asarray(Hq[0, 5] / mass), np.asarray(Hv[0, 5] / mass)
