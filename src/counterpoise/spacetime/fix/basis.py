"""The deviation of a fixed motion from the original: cubic B-splines in time, and how a check sees them.

A deviation d(t) = sum_k B_k(t) x_k of every degree of freedom has few knots a second, so it is smooth, and fast details
of the captured motion are kept. A check reads poses, velocities and accelerations from local fits (`check.frames`).
These are linear in the deviation, so each B_k has its own c0, c1 and 2 c2 at every frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.check.frames import fit_reach, fit_weights

ORDER = 4  # number of cubic splines that are not zero at a frame


@dataclass(frozen=True, eq=False)
class Basis:
    """Splines over frames. Frame f depends on coefficients first[f] ... first[f] + width - 1."""

    step: float  # [s] between frames
    per: int  # frames from knot to knot
    coefficients: int
    edge: int  # coefficients at each end of `width` on which a frame depends only through the local fit
    width: int
    first: Ints  # (n,)
    value: Array  # (n, width) B_k
    bend: Array  # (n, width) second time derivative of B_k
    seen: Array  # (3, n, width) c0, c1, 2 c2 of B_k

    def deviation(self, x: Array, frames: slice) -> Array:
        """Returns d (frames, dofs) for coefficients x (coefficients, dofs)."""
        return _combine(self.value[frames], self.first[frames], x)

    def bending(self, x: Array, frames: slice) -> Array:
        """Returns the second time derivative of d (frames, dofs)."""
        return _combine(self.bend[frames], self.first[frames], x)

    def touched(self, first: int, last: int) -> slice:
        """Returns the frames that depend on the coefficients first ... last - 1."""
        reached = np.flatnonzero((self.first + self.width > first) & (self.first < last))
        return slice(int(reached[0]), int(reached[-1]) + 1)


def basis_of(count: int, step: float, knots: float, smooth: float) -> Basis:
    """Returns splines with about `knots` knots a second over `count` frames `step` [s] apart, for fits of `smooth`."""
    per = max(1, round(1.0 / (knots * step)))
    reach = fit_reach(smooth, step) if smooth > 0.0 else 1
    edge = -(-reach // per)
    intervals = -(-max(count - 1, 1) // per)
    coefficients = intervals + 3 + 2 * edge
    width = ORDER + 2 * edge
    at = np.minimum(np.arange(count) // per, intervals - 1)
    s = np.arange(count) / per - at
    value, bend = np.zeros((count, width)), np.zeros((count, width))
    value[:, edge : edge + ORDER] = _cubic(s)
    bend[:, edge : edge + ORDER] = _cubic_bend(s) / (per * step) ** 2
    seen = np.zeros((3, count, width))
    first = at.astype(np.int64)
    if smooth <= 0.0:
        seen[0], seen[2] = value, bend
        seen[1, :, edge : edge + ORDER] = _cubic_rate(s) / (per * step)
        return Basis(step, per, coefficients, edge, width, first, value, bend, seen)
    offsets = np.arange(-reach, reach + 1)
    weights = fit_weights(count, offsets, step, smooth)
    frames = np.arange(count)
    for k, offset in enumerate(offsets):
        near = np.clip(frames + offset, 0, count - 1)
        shift = first[near] - first
        for by in np.unique(shift):
            on = np.flatnonzero(shift == by)
            low, high = max(0, by), min(width, width + by)
            seen[:, on, low:high] += weights[:, on, k, None] * value[near[on], low - by : high - by]
    seen[0] += value * (1.0 - weights[0].sum(axis=1))[:, None]  # fits read differences to the frame itself
    for c in (1, 2):
        seen[c] -= value * weights[c].sum(axis=1)[:, None]
    return Basis(step, per, coefficients, edge, width, first, value, bend, seen)


def _combine(weights: Array, first: Ints, x: Array) -> Array:
    out = np.zeros((len(weights), x.shape[1]))
    for k in range(weights.shape[1]):
        out += weights[:, k, None] * x[first + k]
    return out


def _cubic(s: Array) -> Array:
    r = 1.0 - s
    return np.stack(
        [r**3 / 6.0, (3.0 * s**3 - 6.0 * s**2 + 4.0) / 6.0, (3.0 * r**3 - 6.0 * r**2 + 4.0) / 6.0, s**3 / 6.0], axis=1
    )


def _cubic_rate(s: Array) -> Array:
    r = 1.0 - s
    return np.stack([-(r**2) / 2.0, (3.0 * s**2 - 4.0 * s) / 2.0, (4.0 * r - 3.0 * r**2) / 2.0, s**2 / 2.0], axis=1)


def _cubic_bend(s: Array) -> Array:
    r = 1.0 - s
    return np.stack([r, 3.0 * s - 2.0, 3.0 * r - 2.0, s], axis=1)
