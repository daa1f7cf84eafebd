"""JointStops: joints brake in time before their limits, as far as their torques allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.limits import fill_ball_rows
from counterpoise.character.manifold import turn_by
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.objectives.base import Objective, Rows, check_weight
from counterpoise.quick import quick

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance

LARGEST_BOUND = 400.0  # [rad/s^2] a row with a larger bound is left out: no posture asks for so much
DRIFT_STEP = 1e-5  # [s] of the difference that gives a ball joint's drift


@dataclass(frozen=True, eq=False)
class JointStops(Objective):
    """Keeps the speed g' towards every limit g(q) <= 0 so low that the joint can brake in time.

    With e = -g the distance left, the largest speed allowed is u(e) = sqrt(2 d e + (d s)^2) - d s. Far from the limit
    it is sqrt(2 d e), from which the deceleration d stops the joint in time. Near the limit it is e/s, and beyond the
    limit it is negative, so that the joint returns. u u' <= d everywhere. g' <= u is kept by

        g'' <= (u - g')/s - u'(e) g',       g'' = dg/dq a + drift,

    one-sided rows: only an excess is an error. Hinges, swing cones and twists have the same rows. `top_speed` bounds
    the speed of every joint in the same way.
    """

    at_most: ClassVar[bool] = True
    deceleration: float = 300.0  # d [rad/s^2]
    settle: float = 0.02  # s [s]
    margin: float = 0.01  # [rad] how far before the limit the stop lies
    top_speed: float | None = 25.0  # [rad/s] of every joint; None: no bound
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
        limits, root = snapshot.character.limits, snapshot.character.root_dofs.stop
        A, b = stop_rows(
            snapshot.q, snapshot.v, root, limits.range_qpos, limits.range_dof, limits.range_low,
            limits.range_high, limits.ball_q, limits.ball_v, limits.ball_axis, limits.ball_rest, limits.ball_normals,
            limits.ball_offsets, limits.ball_faces, limits.ball_twist, self.deceleration, self.settle, self.margin,
            np.inf if self.top_speed is None else self.top_speed,
        )  # fmt: skip
        return quick(Rows, A=A, b=b, on="acceleration", at_most=True)


@kernel
def _bound(value: float, speed: float, d: float, settle: float, margin: float) -> float:
    """Returns the largest g'' that keeps g' <= u(e)."""
    bend, e = d * settle, -value - margin
    allowed, slope = e / settle, 1.0 / settle
    if e > 0.0:
        allowed = np.sqrt(2.0 * d * e + bend * bend) - bend
        slope = d / (allowed + bend)
    return (allowed - speed) / settle - slope * speed


@inner_kernel
def _unit_ball(pose: Array, at: int, q: Array) -> None:
    """Copies the quaternion of a ball joint to `q`, with length one."""
    size = 0.0
    for k in range(4):
        size += pose[at + k] ** 2
    for k in range(4):
        q[k] = pose[at + k] / np.sqrt(size)


@kernel
def stop_rows(
    pose: Array, v: Array, root: int, range_q: Ints, range_v: Ints, low: Array, high: Array, ball_q: Ints, ball_v: Ints,
    axis: Array, rest: Array, normals: Array, offsets: Array, face_start: Ints, twist: Array, d: float, settle: float,
    margin: float, top_speed: float,
) -> tuple[Array, Array]:  # fmt: skip
    """Returns A and b of the limits that are near and of the joints above half their top speed.

    The drift (d/dt dg/dq) v is zero for hinges; for ball joints it is a finite difference along the motion.
    """
    hinges, nv = len(range_q), len(v)
    n = 2 * hinges + len(offsets) + 2 * len(ball_q)
    bound, close, gradient, count = np.empty(n), np.zeros(n, np.bool_), np.empty((n, 3)), 0
    for i in range(hinges):
        x, speed = pose[range_q[i]], v[range_v[i]]
        bound[2 * i] = _bound(low[i] - x, -speed, d, settle, margin)
        bound[2 * i + 1] = _bound(x - high[i], speed, d, settle, margin)
        for r in range(2 * i, 2 * i + 2):
            close[r] = bound[r] < LARGEST_BOUND
            count += close[r]
    row = 2 * hinges
    values, ahead, q = np.empty(n - row), np.empty((n - row, 3)), np.empty(4)
    for j in range(len(ball_q)):
        start, end = face_start[j], face_start[j + 1]
        faces, w, near = end - start + 2, v[ball_v[j] : ball_v[j] + 3], False
        _unit_ball(pose, ball_q[j], q)
        fill_ball_rows(
            q, axis[j], rest[j], normals[start:end], offsets[start:end], twist[j, 0], twist[j, 1], values[:faces],
            gradient[row : row + faces],
        )  # fmt: skip
        for i in range(faces):
            g = gradient[row + i]
            bound[row + i] = _bound(values[i], g[0] * w[0] + g[1] * w[1] + g[2] * w[2], d, settle, margin)
            close[row + i] = bound[row + i] < LARGEST_BOUND
            near |= close[row + i]
        if near:
            q[:] = pose[ball_q[j] : ball_q[j] + 4]
            turn_by(q, DRIFT_STEP * w)
            _unit_ball(q, 0, q)
            fill_ball_rows(
                q, axis[j], rest[j], normals[start:end], offsets[start:end], twist[j, 0], twist[j, 1], values[:faces],
                ahead[:faces],
            )  # fmt: skip
            for i in range(faces):
                if close[row + i]:
                    count += 1
                    for k in range(3):
                        bound[row + i] -= (ahead[i, k] - gradient[row + i, k]) / DRIFT_STEP * w[k]
        row += faces
    for j in range(root, nv):
        count += abs(v[j]) > 0.5 * top_speed
    A, b, row = np.zeros((count, nv)), np.empty(count), 0
    for i in range(2 * hinges):
        if close[i]:
            A[row, range_v[i // 2]], b[row] = 1.0 if i % 2 else -1.0, bound[i]
            row += 1
    i = 2 * hinges
    for j in range(len(ball_q)):
        for _ in range(face_start[j + 1] - face_start[j] + 2):
            if close[i]:
                for k in range(3):
                    A[row, ball_v[j] + k] = gradient[i, k]
                b[row] = bound[i]
                row += 1
            i += 1
    for j in range(root, nv):
        if abs(v[j]) > 0.5 * top_speed:
            A[row, j] = 1.0 if v[j] > 0.0 else -1.0
            b[row] = (top_speed - abs(v[j])) / settle
            row += 1
    return A, b
