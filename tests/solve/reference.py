"""An independent judge of strict hierarchies: one interior-point program a level, then exact locking.

Nothing here is shared with the solver: programs go to clarabel, null spaces come from singular values. A level's
interior point names the active rows; the level is then solved once more as an equality-constrained least-squares
problem, which is kept when it is feasible and no worse.
"""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import null_space

from counterpoise.arrays import Array

TOLERANCE = 1e-9


@dataclass
class Reference:
    x: Array
    residuals: Array
    trusted: bool  # every program ended as solved, and its active rows gave a feasible point no worse


def interior_point(A: Array, b: Array, C: Array, low: Array, high: Array) -> tuple[Array, Array, bool]:
    """min ||A w - b||^2 with low <= C w <= high: w, duals (positive at low ends), solved to full accuracy."""
    m, n = A.shape
    below, above = np.isfinite(low), np.isfinite(high)
    P = sp.diags(np.concatenate([np.zeros(n), np.ones(m)]), format="csc")
    pad = np.zeros((len(C), m))
    rows = np.hstack([C, pad])
    K = sp.csc_matrix(np.vstack([np.hstack([A, -np.eye(m)]), rows[above], -rows[below]]))
    rhs = np.concatenate([b, high[above], -low[below]])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter, settings.max_threads = False, 200, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(m), clarabel.NonnegativeConeT(len(rhs) - m)]
    done = clarabel.DefaultSolver(P, np.zeros(n + m), K, rhs, cones, settings).solve()
    duals = np.zeros(len(C))
    z = np.array(done.z)[m:]
    duals[above] -= z[: above.sum()]
    duals[below] += z[above.sum() :]
    return np.array(done.x)[:n], duals, "Solved" in str(done.status)


def reference(levels: list[tuple[Array, Array]], C: Array, low: Array, high: Array) -> Reference:
    """Lexicographic least squares for rows of like size (scale first); `C` holds all constraints as rows."""
    n = C.shape[1]
    equal = low == high
    x = np.linalg.lstsq(C[equal], low[equal], rcond=None)[0] if equal.any() else np.zeros(n)
    Z = _null(C[equal])
    trusted = True
    residuals = []
    for A, b in levels:
        free = ~equal
        moves = np.linalg.norm(C @ Z, axis=1) > 1e-9
        use = free & moves
        if Z.shape[1] and np.abs(A @ Z).max(initial=0.0) > 1e-10:
            w, duals, solved = interior_point(
                A @ Z, b - A @ x, (C @ Z)[use], low[use] - C[use] @ x, high[use] - C[use] @ x
            )
            trusted &= solved
            x = x + Z @ w
            x, locked, sure = _polish(A, b, C, low, high, x, Z, np.flatnonzero(use), duals)
            trusted &= sure
            equal = equal.copy()
            equal[locked] = True
            Z = Z @ _null(np.vstack([A @ Z, C[locked] @ Z]))
        residuals.append(float(np.linalg.norm(A @ x - b)))
    return Reference(x, np.array(residuals), trusted)


def _polish(
    A: Array, b: Array, C: Array, low: Array, high: Array, x: Array, Z: Array, index: NDArray[np.int64], duals: Array
) -> tuple[Array, NDArray[np.int64], bool]:
    """Take rows with positive duals as equalities and solve again; of several thresholds the best feasible point."""
    residual = np.linalg.norm(A @ x - b)
    scale = np.linalg.norm(A.T @ (A @ x - b)) + 1e-300
    if residual <= 1e-9 * (np.linalg.norm(b) + 1.0):
        return x, np.zeros(0, np.int64), True
    slack = np.minimum(C[index] @ x - low[index], high[index] - C[index] @ x)
    close = slack < 1e-5 * (1.0 + np.abs(x).max())
    best, kept, sure = x, index[(np.abs(duals) > 1e-7 * scale) & close], False
    for threshold in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
        hold = index[(np.abs(duals) > threshold * scale) & close]
        ends = np.where(C[hold] @ x - low[hold] < high[hold] - C[hold] @ x, low[hold], high[hold])
        y = x + Z @ np.linalg.lstsq(C[hold] @ Z, ends - C[hold] @ x, rcond=1e-11)[0] if len(hold) else x
        N = Z @ _null(C[hold] @ Z)
        if N.shape[1]:
            y = y + N @ np.linalg.lstsq(A @ N, b - A @ y, rcond=1e-11)[0]
        value = C @ y
        feasible = max((low - value).max(initial=0.0), (value - high).max(initial=0.0)) <= TOLERANCE
        good = np.linalg.norm(A @ y - b)
        if (
            feasible
            and good <= residual * (1.0 + 1e-7)
            and (not sure or good < np.linalg.norm(A @ best - b) * (1 - 1e-12))
        ):
            best, kept, sure = y, hold, True
    return best, kept, sure


def _null(A: Array) -> Array:
    if not A.size or np.abs(A).max() < 1e-13:
        return np.eye(A.shape[1])
    return null_space(A, rcond=1e-11)
