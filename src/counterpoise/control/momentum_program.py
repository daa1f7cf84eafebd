"""AccelerationProgram: the accelerations of MomentumBalance, from one linear system.

    accelerations   min sum_j w_j (a_j - a_des_j)^2 + |A a - b|^2   subject to   C a = d                  (2009, eq. 13)
    by the system   [Q -C^T; C eps] [a; lambda] = [u; d],   Q = diag(w) + A^T A,   u = w a_des + A^T b    (2008, app. D)

The tiny eps lets rows of C repeat each other, as those of a foot with many points do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.triangular import backward, factor, forward
from counterpoise.kernels import kernel
from counterpoise.objectives import Rows, momentum_scale

SYSTEM_RIDGE = 1e-11  # eps, relative to the largest pivot


@dataclass(frozen=True, eq=False)
class AccelerationProgram:
    """The rows of one optimisation (2009, eq. 13)."""

    snapshot: Snapshot
    weight: Array  # (nv,) of tracking
    target: Array  # (nv,) accelerations of tracking
    C: Array  # (k, nv) support feet: C a = d
    d: Array  # (k,)
    A: Array  # (m, nv) soft objectives, times the roots of their weights
    b: Array  # (m,)
    linear: Rows | None = None
    angular: Rows | None = None

    def with_linear(self, rate: Array, weight: float) -> AccelerationProgram:
        """Returns the program with |L'_des - (R a + r)|^2 on the axes given, x y or x y z (eq. 7)."""
        return replace(self, linear=self._rows(slice(3, 3 + len(rate)), rate, "linear", weight))

    def with_angular(self, rate: Array, weight: float) -> AccelerationProgram:
        """Returns the program with |H'_des - (S a + s)|^2 (eq. 10)."""
        return replace(self, angular=self._rows(slice(0, 3), rate, "angular", weight))

    def _rows(self, part: slice, rate: Array, kind: str, weight: float) -> Rows:
        scale = np.sqrt(weight) / momentum_scale(self.snapshot.character, kind)
        return Rows(self.snapshot.momentum_matrix[part] * scale, (rate - self.snapshot.momentum_drift[part]) * scale)

    def solve(self) -> Array:
        """Returns the accelerations theta''*, (nv,)."""
        parts = [(self.A, self.b), *((r.A, r.b) for r in (self.linear, self.angular) if r is not None)]
        A, b = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
        return solve_accelerations(self.weight, self.target, A, b, self.C, self.d)[0]

    def rates(self, a: Array) -> tuple[Array, Array]:
        """Returns L' and H' under accelerations, (3,) each."""
        rate = self.snapshot.momentum_matrix @ a + self.snapshot.momentum_drift
        return rate[3:], rate[:3]


@kernel
def solve_accelerations(weight: Array, target: Array, A: Array, b: Array, C: Array, d: Array) -> tuple[Array, Array]:
    """Returns accelerations (n,) and the multipliers (k,) of C a = d; every weight is positive."""
    n, m, k = len(weight), len(b), len(d)
    Q = np.zeros((n, n))
    u = np.empty(n)
    for i in range(n):
        u[i] = weight[i] * target[i]
    for r in range(m):
        for i in range(n):
            if A[r, i] != 0.0:
                u[i] += A[r, i] * b[r]
                for j in range(i + 1):
                    Q[i, j] += A[r, i] * A[r, j]
    for i in range(n):
        Q[i, i] += weight[i]
    factor(Q)
    x = u.copy()
    forward(Q, x)  # x = L^-1 u
    multipliers = np.zeros(k)
    if k > 0:
        Y = np.empty((k, n))  # rows: L^-1 C^T
        for r in range(k):
            Y[r] = C[r]
            forward(Q, Y[r])
        S = np.zeros((k, k))
        largest = 0.0
        for r in range(k):
            for s in range(r + 1):
                total = 0.0
                for j in range(n):
                    total += Y[r, j] * Y[s, j]
                S[r, s] = total
            largest = max(largest, S[r, r])
            total = d[r]
            for j in range(n):
                total -= Y[r, j] * x[j]
            multipliers[r] = total
        for r in range(k):
            S[r, r] += SYSTEM_RIDGE * largest + 1e-300
        factor(S)
        forward(S, multipliers)
        backward(S, multipliers)
        for r in range(k):
            for j in range(n):
                x[j] += Y[r, j] * multipliers[r]
    backward(Q, x)
    return x, multipliers
