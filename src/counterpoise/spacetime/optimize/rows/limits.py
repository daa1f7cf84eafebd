"""Ball joints inside their limits."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.limits import BallLimit, fill_ball_rows
from counterpoise.kernels import kernel
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.rows.base import RowBlock


class BallLimitRows(RowBlock):
    """Ball joints stay inside their swing cones and twist ranges (hinges do so by bounds on their coefficients)."""

    def __init__(self, e: MotionEvaluation, choice: Array) -> None:
        """`choice` (rows, 3): frame, ball, row of the ball."""
        self.name = "joint limits"
        character = e.character
        dofs = np.arange(character.nv, dtype=np.int64)
        q, at, axis, rest, normals, offsets, faces, twist = character.limits.ball_tables(dofs)
        self.tables = (q, axis, rest, normals, offsets, faces, twist)
        self.choice = np.ascontiguousarray(choice, np.int64).reshape(-1, 3)
        self.ball_v = at
        self.frame = self.choice[:, 0].copy()
        self.low, self.high = np.full(len(self.choice), -np.inf), np.zeros(len(self.choice))
        names = list(character.limits.balls)
        self.labels = tuple(f"{names[b]} {_row_name(character.limits.balls[names[b]], r)}" for _, b, r in self.choice)
        n = len(self.choice)
        own = at[self.choice[:, 1]][:, None] + np.arange(3)  # dofs of each row's ball
        self.columns = e.columns(self.frame, dofs)[np.arange(n)[:, None], own]
        self._g, self._value = np.empty((n, 3)), np.empty(n)

    def pattern(self) -> tuple[Ints, Ints]:
        rows = np.broadcast_to(np.arange(len(self.frame))[:, None, None], self.columns.shape)
        return rows.ravel().astype(np.int64), self.columns.ravel()

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        _limit_rows(e.q, self.choice, *self.tables, self._value, self._g)
        return self._value.copy()

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        _limit_rows(e.q, self.choice, *self.tables, self._value, self._g)
        rotation = np.searchsorted(e.layout.rotation_v, self.ball_v)
        J = e.blocks[self.frame, rotation[self.choice[:, 1]], 0]
        g = np.einsum("ni,nij->nj", self._g, J)
        out[:] = (g[:, :, None] * e.frames.B[self.frame, 0][:, None, :]).ravel()


def _row_name(limit: BallLimit, row: int) -> str:
    faces = len(limit.offsets)
    return f"swing {row}" if row < faces else ("twist low", "twist high")[row - faces]


@kernel
def _limit_rows(
    q: Array, choice: Ints, ball_q: Ints, axis: Array, rest: Array, normals: Array, offsets: Array,
    faces: Ints, twist: Array, value: Array, gradient: Array,
) -> None:  # fmt: skip
    """Writes the value and gradient (by the ball's tangent) of chosen rows (frame, ball, row of the ball)."""
    most = 0
    for b in range(len(ball_q)):
        most = max(most, faces[b + 1] - faces[b] + 2)
    values, slopes = np.empty(most), np.empty((most, 3))
    last_frame, last_ball = -1, -1
    for n in range(len(choice)):
        i, b, r = choice[n, 0], choice[n, 1], choice[n, 2]
        if i != last_frame or b != last_ball:
            s, t = faces[b], faces[b + 1]
            fill_ball_rows(
                q[i, ball_q[b] : ball_q[b] + 4], axis[b], rest[b], normals[s:t], offsets[s:t], twist[b, 0], twist[b, 1],
                values[: t - s + 2], slopes[: t - s + 2],
            )  # fmt: skip
            last_frame, last_ball = i, b
        value[n] = values[r]
        gradient[n] = slopes[r]
