"""All limits of a character together, as rows g(q) <= 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.character.limits.ball import BallLimit
from counterpoise.character.limits.kernels import fill_limit_rows
from counterpoise.errors import BadValue
from counterpoise.kernels import for_reading


class JointLimits:
    """Every limit of a character as rows g(q) <= 0, evaluated together.

    `names` are the names of the rows: `knee_left.low`, `hip_left.swing2`, `hip_left.twist_high`. The arrays `range_...`
    and `ball_...` are what kernels read.
    """

    def __init__(
        self,
        nq: int,
        nv: int,
        ranges: Sequence[tuple[str, int, int, float, float]],
        balls: Sequence[tuple[str, int, int, BallLimit]],
    ) -> None:
        """`ranges`: (name, qpos address, dof address, low, high); `balls`: (name, qpos address, dof address, limit)."""
        self.nq, self.nv = nq, nv
        self.balls = {name: limit for name, _, _, limit in balls}
        self._ball_address = {name: (q, v) for name, q, v, _ in balls}
        self.range_qpos = np.array([q for _, q, _, _, _ in ranges], np.int64)
        self.range_dof = np.array([v for _, _, v, _, _ in ranges], np.int64)
        self.range_low = np.array([low for *_, low, _ in ranges], float)
        self.range_high = np.array([high for *_, high in ranges], float)
        self.ball_q = np.array([q for _, q, _, _ in balls], np.int64)
        self.ball_v = np.array([v for _, _, v, _ in balls], np.int64)
        limits = [limit for *_, limit in balls]
        self.ball_axis = np.array([b.axis for b in limits], float).reshape(-1, 3)
        self.ball_rest = np.array([b.rest for b in limits], float).reshape(-1, 4)
        self.ball_normals = np.concatenate([b.normals for b in limits] or [np.empty((0, 3))])
        self.ball_offsets = np.concatenate([b.offsets for b in limits] or [np.empty(0)])
        # where the faces of each ball begin among the normals and offsets
        self.ball_faces = np.cumsum([0] + [len(b.offsets) for b in limits]).astype(np.int64)
        self.ball_twist = np.array([b.twist for b in limits], float).reshape(-1, 2)
        names = [f"{name}.{end}" for name, *_ in ranges for end in ("low", "high")]
        for name, _, _, limit in balls:
            names += [f"{name}.swing{i}" for i in range(len(limit.offsets))]
            names += [f"{name}.twist_low", f"{name}.twist_high"]
        self.names = tuple(names)

    def __len__(self) -> int:
        return len(self.names)

    def values(self, q: ArrayLike) -> Array:
        """g(q), (rows,): negative inside, zero on the limit [rad or m]."""
        return self.evaluate(q)[0]

    def jacobian(self, q: ArrayLike) -> Array:
        """dg/dv, (rows, nv): the gradient of every row in the tangent space."""
        values, compact, columns = self.evaluate(q)
        dense = np.zeros((len(values), self.nv))
        rows = np.arange(len(values))
        for k in range(3):
            used = columns[:, k] >= 0
            dense[rows[used], columns[used, k]] = compact[used, k]
        return dense

    def violation(self, q: ArrayLike) -> Array:
        """max(g, 0), (rows,)."""
        return np.maximum(self.values(q), 0.0)

    def gradient(self, q: ArrayLike) -> Array:
        """Gradient of `violation`, (rows, nv): that of g where it is positive, zero elsewhere."""
        return self.jacobian(q) * (self.values(q) > 0.0)[:, None]

    def ball_rows(self, dofs: set[int]) -> Ints:
        """Indices of the rows of ball joints whose dofs are among `dofs`."""
        found: list[int] = []
        row = 2 * len(self.range_qpos)
        for j in range(len(self.ball_v)):
            count = int(self.ball_faces[j + 1] - self.ball_faces[j]) + 2
            if int(self.ball_v[j]) in dofs:
                found += range(row, row + count)
            row += count
        return np.array(found, np.int64)

    def ball_tables(self, dofs: Ints) -> tuple[Ints, Ints, Array, Array, Array, Array, Ints, Array]:
        """The ball limits whose joints are among `dofs` (sorted), as arrays for kernels.

        They are: qpos address, place among `dofs`, axis, rest, normals, offsets, first face of each, twist.
        """
        place = {int(v): i for i, v in enumerate(dofs)}
        chosen = [j for j in range(len(self.ball_v)) if int(self.ball_v[j]) in place]
        spans = [slice(int(self.ball_faces[j]), int(self.ball_faces[j + 1])) for j in chosen]
        normals = np.concatenate([self.ball_normals[s] for s in spans] or [np.empty((0, 3))])
        offsets = np.concatenate([self.ball_offsets[s] for s in spans] or [np.empty(0)])
        faces = np.cumsum([0] + [s.stop - s.start for s in spans]).astype(np.int64)
        at = np.array([place[int(self.ball_v[j])] for j in chosen], np.int64)
        rows = np.array(chosen, np.int64)
        return (
            self.ball_q[rows],
            at,
            self.ball_axis[rows],
            self.ball_rest[rows],
            normals,
            offsets,
            faces,
            self.ball_twist[rows],
        )

    def rows_at(self, q: Array, rows: Ints, dofs: Ints) -> tuple[Array, Array]:
        """Some rows g(q) and their gradients over some dofs (sorted), without building the whole Jacobian."""
        values, compact, columns = self.evaluate(q)
        dense = np.zeros((len(rows), len(dofs)))
        place = np.searchsorted(dofs, columns[rows])  # a ball's three dofs are all there or none
        for k in range(3):
            dense[np.arange(len(rows)), place[:, k]] = compact[rows, k]
        return values[rows], dense

    def worst(self, q: ArrayLike) -> tuple[str, float]:
        """The most violated row and by how much (negative: the nearest to being violated)."""
        values = self.values(q)
        if len(values) == 0:
            return "", -np.inf
        return self.names[int(np.argmax(values))], float(values.max())

    def clamp(self, q: ArrayLike) -> Array:
        """The pose with every joint brought inside its limits."""
        out = np.array(q, float)
        out[self.range_qpos] = np.clip(out[self.range_qpos], self.range_low, self.range_high)
        for name, limit in self.balls.items():
            address = self._ball_address[name][0]
            out[address : address + 4] = limit.clamp(out[address : address + 4])
        return out

    def evaluate(self, q: ArrayLike) -> tuple[Array, Array, Ints]:
        """g(q) (rows,), the nonzero entries of its gradient (rows, 3), and their dofs (rows, 3), -1 for none."""
        pose = np.ascontiguousarray(q, dtype=float)
        if pose.shape != (self.nq,):
            raise BadValue(f"a pose has {self.nq} numbers; got shape {pose.shape}", shape=pose.shape)
        return fill_limit_rows(
            for_reading(pose),
            self.range_qpos,
            self.range_dof,
            self.range_low,
            self.range_high,
            self.ball_q,
            self.ball_v,
            self.ball_axis,
            self.ball_rest,
            self.ball_normals,
            self.ball_offsets,
            self.ball_faces,
            self.ball_twist,
        )
