"""Angles about axes, one after the other, and the rotation they make: q = q_1(a_1) q_2(a_2) q_3(a_3).

A rotation has two solutions for three angles, (a, b, c) and (a + 180, 180 - b, c + 180). `angles_of` stays with the
solution it began with, frame by frame, and adds whole turns, so that curves in other programs are continuous.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array

_GIMBAL_LOCK = 1e-7  # cosine of the middle angle below which only the sum (or difference) of the outer two is known


def rotation_of(axes: Sequence[int], degrees: Array) -> Array:
    """Returns quaternions (..., 4) of angles (..., k) about the axes, in this order; identity without axes."""
    half = np.radians(0.5 * np.asarray(degrees, dtype=np.float64))
    cos, sin = np.cos(half), np.sin(half)
    out: Array | None = None
    for k, which in enumerate(axes):
        turn = np.zeros((*half.shape[:-1], 4))
        turn[..., 0], turn[..., 1 + which] = cos[..., k], sin[..., k]
        out = turn if out is None else spatial.multiply(out, turn)
    if out is None:
        out = np.broadcast_to(spatial.IDENTITY, (*half.shape[:-1], 4)).copy()
    return out


def angles_of(axes: Sequence[int], rotations: Array) -> Array:
    """Returns angles (f, ..., 3) [deg] about three axes, in this order, of rotations (f, ..., 4), continuous in f.

    With i, j, k the axes and s = +1 where they are in cyclic order, R = R_i(a) R_j(b) R_k(c) has R_ik = s sin b,
    R_jk / R_kk = -s tan a and R_ij / R_ii = -s tan c.
    """
    i, j, k = axes
    s = 1.0 if (j - i) % 3 == 1 else -1.0
    R = spatial.to_matrix(rotations)
    cos = np.hypot(R[..., i, i], R[..., i, j])
    b = np.arctan2(s * R[..., i, k], cos)
    a = np.arctan2(-s * R[..., j, k], R[..., k, k])
    c = np.arctan2(-s * R[..., i, j], R[..., i, i])
    locked = cos < _GIMBAL_LOCK
    if locked.any():  # keep the last known c, and compute a from it
        known = np.where(locked, 0, np.arange(len(R)).reshape(-1, *[1] * (locked.ndim - 1)))
        c = np.take_along_axis(np.where(locked, 0.0, c), np.maximum.accumulate(known, axis=0), axis=0)
        rest = np.arctan2(s * R[..., k, j], R[..., j, j])  # a + s c for b = 90 degrees, a - s c for -90
        a = np.where(locked, rest - np.where(b > 0.0, s, -s) * c, a)
    angles = np.stack([a, b, c], axis=-1)
    other = np.stack([a + np.pi, np.pi - b, c + np.pi], axis=-1)
    jumps = _apart(angles[1:], other[:-1]) < _apart(angles[1:], angles[:-1])
    first = np.zeros((1, *jumps.shape[1:]), dtype=np.int64)
    swapped = np.cumsum(np.concatenate([first, jumps]), axis=0) % 2 == 1
    return np.degrees(np.unwrap(np.where(swapped[..., None], other, angles), axis=0))


def _apart(a: Array, b: Array) -> Array:
    """Returns a distance of two sets of angles that ignores whole turns."""
    return np.sum(1.0 - np.cos(a - b), axis=-1)
