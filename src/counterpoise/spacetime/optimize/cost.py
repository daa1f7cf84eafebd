"""The cost of a motion: squared accelerations, distance from a reference, soft keys, forces; with its Gauss-Newton
Hessian.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import kernel
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.frames import WIDTH
from counterpoise.spacetime.optimize.layout import Layout

HESSIAN_FLOOR = 1e-6  # added to the Hessian's diagonal, so that no direction is quite free


class MotionCost:
    """f = 1/2 integral (w |a|^2 + n |x - x0|^2) + soft keys + forces; quadrature by the trapezium rule at the knots."""

    def __init__(
        self, e: MotionEvaluation, layout: Layout, weights: Array, goal: Array, near: Array,
        soft: list[tuple[int, Ints, Array, float]], prices: Array,
    ) -> None:  # fmt: skip
        """`weights` (nv,); `near`, `goal` (knots, nv): weights of coordinates that the curve should be near, and these;
        `prices` (size,) of squares of the variables beside the curve.
        """
        self.layout, self.weights, self.near, self.goal, self.soft = layout, weights, near, goal, soft
        self.prices = prices
        self.nv, self.knots = e.character.nv, e.frames.knots
        self.share = np.zeros(self.knots)  # of the phase's duration that each knot stands for
        for p in e.timeline.phases:
            at = np.flatnonzero(e.frames.phase[: self.knots] == p.index)
            h = np.diff(p.breaks)
            self.share[at[:-1]] += 0.5 * h
            self.share[at[1:]] += 0.5 * h
        self.group = np.arange(self.nv, dtype=np.int64)  # first dof of the rotation a dof belongs to
        self.size = np.ones(self.nv, np.int64)
        self.rotation = np.full(self.nv, -1, np.int64)
        for k, v in enumerate(e.layout.rotation_v):
            self.group[v : v + 3], self.size[v : v + 3], self.rotation[v : v + 3] = v, 3, k
        self._make_pattern()

    def _make_pattern(self) -> None:
        """Lower triangle: coefficient with coefficients up to W - 1 before it, within one number or rotation."""
        c, nv = self.layout.coefficients, self.nv
        self.position = np.full((c, nv, WIDTH, 3), -1, np.int64)
        rows, cols, count = [], [], 0
        for d in range(nv):
            for e in range(int(self.size[d])):
                other = int(self.group[d]) + e
                for lag in range(WIDTH):
                    if lag == 0 and other > d:
                        continue
                    own = np.arange(lag, c)
                    self.position[own, d, lag, e] = count + np.arange(len(own))
                    rows.append(own * nv + d)
                    cols.append((own - lag) * nv + other)
                    count += len(own)
        self._spline_entries = count
        rest = np.arange(c * nv, self.layout.size)
        self.rows = np.concatenate([*rows, rest]).astype(np.int64)
        self.cols = np.concatenate([*cols, rest]).astype(np.int64)
        self.constant = np.zeros(len(self.rows))
        self.constant[count:] = self.prices[c * nv :]
        diagonal = self.rows == self.cols
        self.constant[diagonal] += HESSIAN_FLOOR

    def with_price(self, slacks: Sequence[slice], price: float) -> MotionCost:
        """Returns the cost in which squares of some variables beside the curve have another price."""
        other = copy(self)
        other.prices, other.constant = self.prices.copy(), self.constant.copy()
        for own in slacks:
            other.prices[own] = price
            shift = len(self.constant) - self.layout.size
            other.constant[own.start + shift : own.stop + shift] = price + HESSIAN_FLOOR
        return other

    def _residual_near(self, e: MotionEvaluation, X: Array) -> Array:
        f = e.frames
        at = np.einsum("iw,iwd->id", f.B[: self.knots, 0], X[f.first[: self.knots, None] + np.arange(WIDTH)])
        return np.asarray(at - self.goal)

    def value(self, e: MotionEvaluation, x: Array) -> float:
        """f."""
        X = x[: self.layout.coefficients * self.nv].reshape(-1, self.nv)
        w = (self.share * e.T[: self.knots])[:, None]
        total = 0.5 * float((w * self.weights * e.a[: self.knots] ** 2).sum())
        if self.near.any():
            total += 0.5 * float((w * self.near * self._residual_near(e, X) ** 2).sum())
        for frame, dofs, target, weight in self.soft:
            r = self._key_residual(e, X, frame, dofs, target)
            total += 0.5 * weight * float(r @ r)
        rest = x[self.layout.coefficients * self.nv :]
        total += 0.5 * float((self.prices[self.layout.coefficients * self.nv :] * rest) @ rest)
        return total

    def _key_residual(self, e: MotionEvaluation, X: Array, frame: int, dofs: Ints, target: Array) -> Array:
        f = e.frames
        return np.asarray(f.B[frame, 0] @ X[f.first[frame] : f.first[frame] + WIDTH][:, dofs] - target)

    def gradient(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        """df/dx, exact."""
        c = self.layout.coefficients * self.nv
        out[c:] = self.prices[c:] * x[c:]
        G = np.zeros((self.layout.coefficients, self.nv))
        by_T = np.zeros(len(self.layout.moments) - 1)
        f, k = e.frames, self.knots
        pull = np.zeros((k, self.nv))
        if self.near.any():
            X = x[:c].reshape(-1, self.nv)
            pull = self._residual_near(e, X) * self.near
            squares = 0.5 * self.share * (pull * self._residual_near(e, X)).sum(axis=1)
            np.add.at(by_T, f.phase[:k], squares)
        _gradient(
            e.a,
            pull,
            self.weights,
            self.share,
            e.T,
            f.first,
            f.B,
            f.phase,
            e.blocks,
            self.group,
            self.rotation,
            k,
            G,
            by_T,
        )
        for frame, dofs, target, weight in self.soft:
            r = self._key_residual(e, x[:c].reshape(-1, self.nv), frame, dofs, target)
            for m in range(WIDTH):
                G[f.first[frame] + m, dofs] += weight * f.B[frame, 0, m] * r
        out[:c] = G.ravel()
        at = self.layout.moments
        for p in range(len(by_T)):
            if at[p + 1] >= 0:
                out[at[p + 1]] += by_T[p]
            if at[p] >= 0:
                out[at[p]] -= by_T[p]

    def hessian(self, e: MotionEvaluation, factor: float, out: Array) -> None:
        """factor x J^T W J in the pattern's order; second derivatives of accelerations are left out."""
        out[:] = self.constant
        f, k = e.frames, self.knots
        by_T = np.zeros(len(self.layout.moments) - 1)
        _hessian(
            e.a, self.weights, self.near, self.share, e.T, f.first, f.B, f.phase, e.blocks, self.group, self.size,
            self.rotation, k, self.position, out, by_T,
        )  # fmt: skip
        for frame, dofs, _, weight in self.soft:
            for m in range(WIDTH):
                for n in range(m + 1):
                    at = self.position[f.first[frame] + m, dofs, m - n, dofs - self.group[dofs]]
                    out[at] += weight * f.B[frame, 0, m] * f.B[frame, 0, n]
        c = self.layout.coefficients * self.nv
        at = self.layout.moments
        for p in range(len(by_T)):
            for end in (p, p + 1):
                if at[end] >= 0:
                    out[self._spline_entries + at[end] - c] += by_T[p]
        out *= factor


@kernel
def _gradient(
    a: Array, pull: Array, weights: Array, share: Array, T: Array, first: Ints, B: Array, phase: Ints,
    blocks: Array, group: Ints, rotation: Ints, knots: int, G: Array, by_T: Array,
) -> None:  # fmt: skip
    nv, width = a.shape[1], B.shape[2]
    for i in range(knots):
        w, r1 = share[i] * T[i], 1.0 / T[i]
        total = 0.0
        for d in range(nv):
            total += weights[d] * a[i, d] * a[i, d]
            k = rotation[d]
            if k < 0:
                gx, gy, gz = 0.0, 0.0, weights[d] * a[i, d]
            else:
                o = group[d]
                e = d - o
                gx, gy, gz = 0.0, 0.0, 0.0
                for m in range(3):
                    wa = weights[o + m] * a[i, o + m]
                    gx += wa * blocks[i, k, 2, m, e]
                    gy += wa * blocks[i, k, 3, m, e]
                    gz += wa * blocks[i, k, 0, m, e]
            gx += pull[i, d]
            for m in range(width):
                G[first[i] + m, d] += w * (gx * B[i, 0, m] + r1 * (gy * B[i, 1, m] + r1 * gz * B[i, 2, m]))
        by_T[phase[i]] += -1.5 * share[i] * total


@kernel
def _hessian(
    a: Array, weights: Array, near: Array, share: Array, T: Array, first: Ints, B: Array, phase: Ints,
    blocks: Array, group: Ints, size: Ints, rotation: Ints, knots: int, position: Ints,
    out: Array, by_T: Array,
) -> None:  # fmt: skip
    nv, width = a.shape[1], B.shape[2]
    jac = np.empty((3, 3, width))  # component of a, dof, coefficient
    for i in range(knots):
        w, r1 = share[i] * T[i], 1.0 / T[i]
        total = 0.0
        d = 0
        while d < nv:
            n = size[d]
            k = rotation[d]
            for m in range(n):
                total += weights[d + m] * a[i, d + m] * a[i, d + m]
                for e in range(n):
                    if k < 0:
                        gx, gy, gz = 0.0, 0.0, 1.0
                    else:
                        gx, gy, gz = blocks[i, k, 2, m, e], blocks[i, k, 3, m, e], blocks[i, k, 0, m, e]
                    for c in range(width):
                        jac[m, e, c] = gx * B[i, 0, c] + r1 * (gy * B[i, 1, c] + r1 * gz * B[i, 2, c])
            for e in range(n):
                for f in range(n):
                    for c in range(width):
                        for b in range(c + 1):
                            at = position[first[i] + c, d + e, c - b, f]
                            if at >= 0:
                                s = 0.0
                                for m in range(n):
                                    s += weights[d + m] * jac[m, e, c] * jac[m, f, b]
                                if e == f:
                                    s += near[i, d + e] * B[i, 0, c] * B[i, 0, b]
                                out[at] += w * s
            d += n
        by_T[phase[i]] += 2.25 * share[i] * total * r1
