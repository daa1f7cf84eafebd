"""Fitting the splines behind curves: coefficients of vectors, and angular velocities at the keys of rotations."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_banded

from counterpoise import spatial
from counterpoise.arrays import Array, Flags
from counterpoise.errors import unknown_name

End: TypeAlias = Literal["free", "natural", "rest"] | ArrayLike
"""How a curve ends: `free` (velocity read from the four nearest keys), `natural` (no acceleration), `rest`
(no velocity), or a velocity."""

Ends: TypeAlias = Literal["free", "natural", "rest", "periodic"] | tuple[End, End]
"""One word for both ends, or a pair (start, end)."""

END_WORDS = ("free", "natural", "rest")
PADDING = 26  # keys; the influence of a key on a cubic spline falls by 0.268 per key, so 0.268^26 = 1e-15
NEWTON_STEPS = 20  # at most, for the angular velocities at the keys ...
HALVINGS = 6  # ... each shortened at most this often ...
SHORTER = 0.4  # ... by this factor
CONVERGED = 1e-11  # residual of the angular acceleration, of its scale, at which the search ends
SMOOTH = 1e-8  # residual below which the angular acceleration counts as continuous


def fit_vectors(times: Array, values: Array, ends: Ends) -> tuple[Array, Array]:
    """Returns knots (m,) and cubic coefficients (m - 1, 4, d), lowest power first, for values (n, d)."""
    n, d = values.shape
    if n == 1:
        coefficients = np.zeros((1, 4, d))
        coefficients[0, 0] = values[0]
        return np.array([times[0], times[0] + 1.0]), coefficients
    if d == 0:
        return times.copy(), np.zeros((n - 1, 4, 0))
    if isinstance(ends, str) and ends == "periodic":
        closed = np.concatenate([values[:-1], values[:1]])
        spline = CubicSpline(times, closed, bc_type="periodic")
    else:
        start, end = _end_pair(ends)
        first = _vector_end(start, times[:4] - times[0], values[:4])
        last = _vector_end(end, times[:-5:-1] - times[-1], values[:-5:-1])
        spline = CubicSpline(times, values, bc_type=(first, last))
    return times.copy(), np.ascontiguousarray(np.moveaxis(spline.c[::-1], 0, 1))


def fit_rotations(times: Array, keys: Array, ends: Ends) -> tuple[Array, Array, Array, Flags]:
    """Returns knots (m,), bases (m - 1, k, 4), turnings (m - 1, 4, 3 k) and smoothness (k,) for keys (n, k, 4)."""
    n, k = keys.shape[:2]
    if n == 1 or k == 0:
        knots = np.array([times[0], times[0] + 1.0]) if n == 1 else times.copy()
        bases = keys.copy() if n == 1 else keys[:-1].copy()
        return knots, bases, np.zeros((len(bases), 4, 3 * k)), np.ones(k, dtype=bool)
    if isinstance(ends, str) and ends == "periodic":
        wide_times, wide, first = pad_periodically(times, keys)
        _, _, turnings, smooth = fit_rotations(wide_times, wide, "natural")
        return times.copy(), keys[:-1].copy(), turnings[first : first + n - 1].copy(), smooth
    start, end = _end_pair(ends)
    h = np.diff(times)[:, None, None]  # (n - 1, 1, 1)
    rho = spatial.difference(keys[:-1], keys[1:])  # (n - 1, k, 3)
    w, smooth = _continuous_rates(
        h,
        rho,
        _rotation_end(start, times[:4] - times[0], keys[:4]),
        _rotation_end(end, times[:-5:-1] - times[-1], keys[:-5:-1]),
    )
    u = _apply(spatial.right_jacobian_inverse(rho), w[1:])  # r' on arrival
    turnings = np.stack(
        [
            np.zeros_like(rho),
            w[:-1],
            3.0 * rho / h**2 - (2.0 * w[:-1] + u) / h,
            (w[:-1] + u) / h**2 - 2.0 * rho / h**3,
        ],
        axis=1,
    )
    return times.copy(), keys[:-1].copy(), turnings.reshape(n - 1, 4, 3 * k), smooth


def pad_periodically(times: Array, keys: Array) -> tuple[Array, Array, int]:
    """Returns keys repeated to both sides until the outer ends no longer matter, and where the first copy starts."""
    period, n = times[-1] - times[0], len(times) - 1
    copies = -(-PADDING // n)
    wide_times = np.concatenate([times[:-1] + period * c for c in range(-copies, copies + 1)])
    wide = np.concatenate([keys[:-1]] * (2 * copies + 1))
    return wide_times, spatial.align_signs(wide), copies * n


def _continuous_rates(h: Array, rho: Array, start: Array | None, end: Array | None) -> tuple[Array, Flags]:
    """Returns angular velocities w (n, k, 3) at the keys with continuous angular acceleration, and where found (k,).

    On segment i, with u = Jr(rho)^-1 w_(i+1), the accelerations at its start and end are
        6 rho/h^2 - (4 w_i + 2 u)/h     and     -6 rho/h^2 + (2 Jr(rho) w_i + 4 w_(i+1))/h + N(rho, u),
    with N quadratic in u. Equal accelerations at inner keys, and None (no acceleration) or a velocity at each
    end, are n equations, solved by Newton's method on a block tridiagonal matrix.
    """
    n, k = len(rho) + 1, rho.shape[1]
    J, K = spatial.right_jacobian(rho), spatial.right_jacobian_inverse(rho)
    h2 = h[..., None]

    def arrival(w: Array) -> tuple[Array, Array]:
        return _bend(rho, _apply(K, w[1:]))

    def residual(w: Array, bend: Array) -> Array:
        leaving = 6.0 * rho / h**2 - (4.0 * w[:-1] + 2.0 * _apply(K, w[1:])) / h
        arriving = -6.0 * rho / h**2 + (2.0 * _apply(J, w[:-1]) + 4.0 * w[1:]) / h + bend
        out = np.empty_like(w)
        out[1:-1] = arriving[:-1] - leaving[1:]
        out[0] = -leaving[0] if start is None else w[0] - start
        out[-1] = arriving[-1] if end is None else w[-1] - end
        return out

    def newton_step(res: Array, slope: Array) -> Array:
        diagonal, above, below = np.zeros((n, k, 3, 3)), np.zeros((n, k, 3, 3)), np.zeros((n, k, 3, 3))
        eye = np.eye(3)
        diagonal[:-1] += 4.0 / h2 * eye
        diagonal[1:] += 4.0 / h2 * eye + slope @ K
        above[:-1], below[1:] = 2.0 / h2 * K, 2.0 / h2 * J
        if start is not None:
            diagonal[0], above[0] = eye, 0.0
        if end is not None:
            diagonal[-1], below[-1] = eye, 0.0
        rows = np.concatenate([below, diagonal, above], axis=-1).swapaxes(0, 1)  # (k, n, 3, 9)
        bands = np.zeros((11, k * n, 3))  # band 5 + row - column
        for row in range(3):
            for column in range(9):
                offset = column - 3  # column of the matrix, from the block's own first
                into = np.zeros(k * n)
                source = rows[:, :, row, column].reshape(-1)
                shift = offset // 3  # -1, 0 or 1 blocks away
                if shift == 0:
                    into = source
                elif shift == 1:
                    into[1:] = source[:-1]
                else:
                    into[:-1] = source[1:]
                bands[5 + row - offset, :, offset % 3] = into
        flat = solve_banded((5, 5), bands.reshape(11, -1), res.swapaxes(0, 1).reshape(-1))
        return flat.reshape(k, n, 3).swapaxes(0, 1)

    w = np.zeros((n, k, 3))
    scale = 1.0 + np.abs(rho / h**2).max(axis=(0, 2))  # (k,)
    bend, slope = arrival(w)
    res = residual(w, bend)
    size = np.abs(res).max(axis=(0, 2))
    for _ in range(NEWTON_STEPS):
        if np.all(size <= CONVERGED * scale):
            break
        step, length = newton_step(res, slope), np.ones((1, k, 1))
        for _ in range(HALVINGS):
            trial = w - length * step
            bend, slope = arrival(trial)
            res = residual(trial, bend)
            new = np.abs(res).max(axis=(0, 2))
            worse = ~(new < size) & (size > CONVERGED * scale)
            if not worse.any():
                break
            length[0, worse] *= SHORTER
        better = new < size
        if not better.any():
            break
        w = np.where(better[:, None], trial, w)
        bend, slope = arrival(w)
        res = residual(w, bend)
        size = np.abs(res).max(axis=(0, 2))
    return w, size <= SMOOTH * scale


def _bend(r: Array, u: Array) -> tuple[Array, Array]:
    """Returns N(r, u) = d/dt[Jr(r)] u along r' = u, and its derivative by u."""
    _, c, db, dc = (x[..., None] for x in spatial.exp_coefficients(np.sum(r * r, axis=-1)))
    along = np.sum(r * u, axis=-1, keepdims=True)
    n = np.cross(r, u)
    o = np.cross(r, n)
    value = along * (dc * o - db * n) + c * np.cross(u, n)
    R, U = spatial.skew(r), spatial.skew(u)
    c, db, dc, along = (x[..., None] for x in (c, db, dc, along))
    slope = (dc[..., 0] * o - db[..., 0] * n)[..., :, None] * r[..., None, :]
    slope = slope + along * (dc * (R @ R) - db * R) + c * (U @ R - spatial.skew(n))
    return value, slope


def _apply(matrices: Array, vectors: Array) -> Array:
    return (matrices @ vectors[..., None])[..., 0]


def _end_pair(ends: Ends) -> tuple[End, End]:
    start, end = (ends, ends) if isinstance(ends, str) else ends
    for one in (start, end):
        if isinstance(one, str) and one not in END_WORDS:
            raise unknown_name("end condition", one, (*END_WORDS, "periodic"))
    return start, end


def _vector_end(end: End, times: Array, values: Array) -> tuple[Literal[1, 2], Array]:
    """Returns the end as a condition (order of the derivative, its value); times and values run inwards from it."""
    if isinstance(end, str):
        if end == "natural":
            return 2, np.zeros(values.shape[1])
        return 1, np.zeros(values.shape[1]) if end == "rest" else _slope(times, values)
    velocity = np.broadcast_to(np.asarray(end, dtype=np.float64).reshape(-1), values.shape[1:])
    return 1, velocity.copy()


def _rotation_end(end: End, times: Array, keys: Array) -> Array | None:
    """Returns the angular velocity (k, 3) at an end, or None for no acceleration; times and keys run inwards."""
    if isinstance(end, str):
        if end == "natural":
            return None
        if end == "rest":
            return np.zeros((keys.shape[1], 3))
        turned = np.cumsum(spatial.difference(keys[:-1], keys[1:]), axis=0)  # this sum does not wrap at pi
        direct = spatial.difference(keys[:1], keys[1:])
        far = np.linalg.norm(direct - turned, axis=-1, keepdims=True) > 1.0
        r = np.where(far, turned, direct)
        return _slope(times, np.concatenate([np.zeros_like(r[:1]), r]))
    return np.broadcast_to(np.asarray(end, dtype=np.float64), (keys.shape[1], 3))


def _slope(times: Array, values: Array) -> Array:
    """Returns the derivative at times[0] of the polynomial through up to four points (Lagrange)."""
    out = np.zeros(values.shape[1:])
    for j in range(1, len(times)):
        others = [m for m in range(1, len(times)) if m != j]
        weight = np.prod([(times[0] - times[m]) / (times[j] - times[m]) for m in others]) / (times[j] - times[0])
        out = out + weight * (values[j] - values[0])
    return out
