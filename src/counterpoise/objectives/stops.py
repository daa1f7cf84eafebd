"""Joint stops: limits kept by braking in time, as far as the torques can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.kernels import kernel
from counterpoise.objectives.base import Array, Objective, Rows, check_weight

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance

Ints = NDArray[np.int64]
NEAR = 400.0  # [rad/s^2] bounds above this are not worth a row: no posture asks for more


@dataclass(frozen=True, eq=False)
class JointStops(Objective):
    """For every limit g(q) <= 0 with e = -g left and speed g' towards it: never faster than can be braked in time.

    The speed allowed is u(e) = sqrt(2 d e + (d s)^2) - d s: far away the sqrt(2 d e) from which the deceleration
    g'^2 / 2e = d stops in time, near the stop e/s, which goes on beyond it and leads back; u u' <= d everywhere.
    Keeping g' <= u means

        g'' <= (u - g')/s - u'(e) g',       g'' = dg/dq a + drift,

    one-sided rows: only what exceeds them is an error. Hinges, swing cones and twists alike; `top_speed` bounds the
    speed of every joint the same way.
    """

    at_most: ClassVar[bool] = True
    deceleration: float = 300.0  # d [rad/s^2]
    settle: float = 0.02  # s [s]
    margin: float = 0.01  # [rad] how far before the limit the stop lies
    top_speed: float | None = 25.0  # [rad/s]
    weight: float = 1.0
    name: str = "joint stops"

    def __post_init__(self) -> None:
        check_weight(self)
        if not (self.deceleration > 0.0 and self.settle > 0.0 and self.margin >= 0.0):
            raise BadValue(
                f"{self.name!r} needs deceleration > 0, settle > 0, margin >= 0; got {self.deceleration!r}, "
                f"{self.settle!r}, {self.margin!r}"
            )
        if self.top_speed is not None and not self.top_speed > 0.0:
            raise BadValue(f"{self.name!r}: top_speed is positive, or None; got {self.top_speed!r}")

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        who = snapshot.character
        values, columns, gradient = _limits(who, snapshot.q)
        top = np.inf if self.top_speed is None else self.top_speed
        A, b, close = _stop_rows(
            values, columns, gradient, snapshot.v, who.root_dofs.stop, self.deceleration, self.settle, self.margin, top
        )
        if len(close) and close[-1] >= 2 * len(who.limits.range_qpos):
            b[: len(close)] -= self._drift(snapshot, close, columns, gradient)
        return Rows(A, b, at_most=True)

    def _drift(self, snapshot: Snapshot, close: Ints, columns: Ints, gradient: Array) -> Array:
        """(d/dt dg/dq) v of the close rows: zero for hinges, by a difference along the motion for ball joints."""
        who, step = snapshot.character, 1e-5
        ahead = _limits(who, who.integrate(snapshot.q, step * snapshot.v))[2][close]
        change = (ahead - gradient[close]) / step
        out: Array = np.einsum("rk,rk->r", change, snapshot.v[np.maximum(columns[close], 0)])
        return out


def _limits(who: Character, q: Array) -> tuple[Array, Ints, Array]:
    """g (rows,), and its gradient as up to three columns (-1: none) and entries a row."""
    values, compact, columns = who.limits._evaluate(q)
    return values, columns, compact


@kernel
def _stop_rows(
    values: Array, columns: Ints, gradient: Array, v: Array, root: int, d: float, settle: float, margin: float,
    top_speed: float,
) -> tuple[Array, Array, Ints]:  # fmt: skip
    """Rows whose bound is near, those of joints at speed, and which limits the first of them are."""
    n, nv = len(values), len(v)
    bend = d * settle
    bound = np.empty(n)
    count = 0
    for i in range(n):
        speed = 0.0
        for k in range(3):
            if columns[i, k] >= 0:
                speed += gradient[i, k] * v[columns[i, k]]
        e = -values[i] - margin
        allowed, slope = e / settle, 1.0 / settle
        if e > 0.0:
            allowed = np.sqrt(2.0 * d * e + bend * bend) - bend
            slope = d / (allowed + bend)
        bound[i] = (allowed - speed) / settle - slope * speed
        if bound[i] < NEAR:
            count += 1
    fast = 0
    for j in range(root, nv):
        if abs(v[j]) > 0.5 * top_speed:
            fast += 1
    A, b, close = np.zeros((count + fast, nv)), np.empty(count + fast), np.empty(count, np.int64)
    row = 0
    for i in range(n):
        if bound[i] < NEAR:
            for k in range(3):
                if columns[i, k] >= 0:
                    A[row, columns[i, k]] += gradient[i, k]
            b[row], close[row] = bound[i], i
            row += 1
    for j in range(root, nv):
        if abs(v[j]) > 0.5 * top_speed:
            A[row, j] = 1.0 if v[j] > 0.0 else -1.0
            b[row] = (top_speed - abs(v[j])) / settle
            row += 1
    return A, b, close
