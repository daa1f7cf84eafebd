"""Velocity: how fast the root or the centre of mass moves at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.spacetime.aggregate.kernels import momentum_batch
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.moments import Time, check_time, seconds
from counterpoise.spacetime.optimize.requirements.base import Requirement, RowContext
from counterpoise.spacetime.optimize.rows.base import RowBlock, SplineRows
from counterpoise.spacetime.optimize.rows.speed import SPEED_SCALE


@dataclass(frozen=True, eq=False)
class Velocity(Requirement):
    """The centre of mass, or the root, moves with `velocity` [m/s] at a time: a run-up. None leaves a direction free.

    `within` [m/s] is the tolerance.
    """

    time: Time
    velocity: Sequence[float | None]
    body: str = "com"  # or "root"
    within: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        check_time(self.time, "the time of a velocity")
        if len(self.velocity) != 3 or all(c is None for c in self.velocity):
            raise BadValue(f"a velocity is (x, y, z) [m/s], None where free, not all None; got {self.velocity!r}")
        if any(c is not None and not np.isfinite(c) for c in self.velocity):
            raise BadValue(f"a velocity has finite numbers, None where free; got {self.velocity!r}")
        if self.body not in ("com", "root"):
            raise BadValue(f"a velocity is that of the 'com' or of the 'root'; got {self.body!r}")
        if not self.within >= 0.0:
            raise BadValue(f"within is a speed >= 0 [m/s]; got {self.within!r}")

    def check(self, character: Character) -> None:
        if not character.floating:
            raise BadValue(f"{character.name!r} is fixed to the world: its root has no velocity")

    def instants(self) -> Sequence[Time]:
        return (self.time,)

    def rows(self, context: RowContext) -> list[RowBlock]:
        name = self.name or f"{self.body} velocity at {seconds(self.time):g} s"
        axes = np.array([k for k in range(3) if self.velocity[k] is not None], np.int64)
        values = np.array([float(c) for c in self.velocity if c is not None])
        frame = context.frame_at(self.time)
        bounds = values - self.within, values + self.within
        return [VelocityRows(context.evaluation, context.layout, name, frame, axes, bounds, self.body == "com")]


class VelocityRows(SplineRows):
    """Components of the velocity of the centre of mass (momentum over mass), or of the root, times SPEED_SCALE."""

    def __init__(
        self, e: MotionEvaluation, layout: Layout, name: str, frame: int, axes: Ints, bounds: tuple[Array, Array],
        com: bool,
    ) -> None:  # fmt: skip
        self.name, self.axes, self.com = name, axes, com
        self.frame = np.full(len(axes), frame, np.int64)
        self.low, self.high = SPEED_SCALE * bounds[0], SPEED_SCALE * bounds[1]
        self.labels = tuple("xyz"[k] for k in axes)
        self.prepare(e, layout, np.arange(e.character.nv), timed=True)

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return self._velocity(e)[0]

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        _, by_pose, by_velocity = self._velocity(e)
        self.write(e, out, by_pose, by_velocity)

    def _velocity(self, e: MotionEvaluation) -> tuple[Array, Array, Array]:
        """The components, and their derivatives by pose and velocity (rows, nv)."""
        i, nv = int(self.frame[0]), e.character.nv
        if not self.com:
            return (SPEED_SCALE * e.v[i, self.axes], np.zeros((len(self.axes), nv)),
                    SPEED_SCALE * np.eye(nv)[self.axes])  # fmt: skip
        H, Hq, Hv = np.zeros((1, 6)), np.zeros((1, 6, nv)), np.zeros((1, 6, nv))
        none, scale = np.zeros((1, 3)), SPEED_SCALE / e.character.mass
        momentum_batch(e.tables, e.q[i : i + 1], e.v[i : i + 1], none, none.copy(), H, Hq, Hv)
        own = 3 + self.axes
        return scale * H[0, own], scale * Hq[0, own], scale * Hv[0, own]
