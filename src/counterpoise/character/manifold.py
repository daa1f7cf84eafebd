"""Differences and steps of poses on the manifold, for many poses at once (MuJoCo's conventions)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import BALL, FREE
from counterpoise.kernels import for_reading, inner_kernel, kernel


def difference(layout: Ints, nv: int, start: ArrayLike, end: ArrayLike) -> Array:
    """Tangents (..., nv) from poses to poses; leading axes broadcast."""
    first, last = np.asarray(start, float), np.asarray(end, float)
    if first.ndim == 1 and first.shape == last.shape:
        return batch_difference(layout, nv, for_reading(first[None]), for_reading(last[None]))[0]
    a, b = np.broadcast_arrays(first, last)
    shape = a.shape[:-1]
    flat_a, flat_b = (for_reading(one).reshape(-1, one.shape[-1]) for one in (a, b))
    return batch_difference(layout, nv, flat_a, flat_b).reshape((*shape, nv))


def integrate(layout: Ints, pose: ArrayLike, tangent: ArrayLike) -> Array:
    """Poses (..., nq) reached from poses along tangents; leading axes broadcast."""
    q, v = np.asarray(pose, float), np.asarray(tangent, float)
    if q.ndim == v.ndim == 1:
        return batch_integrate(layout, np.ascontiguousarray(q)[None], np.ascontiguousarray(v)[None])[0]
    shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    flat_q = np.ascontiguousarray(np.broadcast_to(q, (*shape, q.shape[-1]))).reshape(-1, q.shape[-1])
    flat_v = np.ascontiguousarray(np.broadcast_to(v, (*shape, v.shape[-1]))).reshape(-1, v.shape[-1])
    return batch_integrate(layout, flat_q, flat_v).reshape((*shape, q.shape[-1]))


@kernel
def batch_difference(layout: Ints, nv: int, start: Array, end: Array) -> Array:
    out = np.zeros((len(start), nv))
    for n in range(len(start)):
        for j in range(len(layout)):
            kind, q, v = layout[j, 0], layout[j, 1], layout[j, 2]
            if kind == FREE:
                for k in range(3):
                    out[n, v + k] = end[n, q + k] - start[n, q + k]
                turn_between(start[n, q + 3 : q + 7], end[n, q + 3 : q + 7], out[n, v + 3 : v + 6])
            elif kind == BALL:
                turn_between(start[n, q : q + 4], end[n, q : q + 4], out[n, v : v + 3])
            else:
                out[n, v] = end[n, q] - start[n, q]
    return out


@kernel
def batch_integrate(layout: Ints, pose: Array, tangent: Array) -> Array:
    out = pose.copy()
    for n in range(len(pose)):
        for j in range(len(layout)):
            kind, q, v = layout[j, 0], layout[j, 1], layout[j, 2]
            if kind == FREE:
                for k in range(3):
                    out[n, q + k] += tangent[n, v + k]
                turn_by(out[n, q + 3 : q + 7], tangent[n, v + 3 : v + 6])
            elif kind == BALL:
                turn_by(out[n, q : q + 4], tangent[n, v : v + 3])
            else:
                out[n, q] += tangent[n, v]
    return out


@inner_kernel
def turn_between(a: Array, b: Array, out: Array) -> None:
    """log(a^-1 b), of the two signs of b the nearer."""
    w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    x = a[0] * b[1] - a[1] * b[0] - a[2] * b[3] + a[3] * b[2]
    y = a[0] * b[2] + a[1] * b[3] - a[2] * b[0] - a[3] * b[1]
    z = a[0] * b[3] - a[1] * b[2] + a[2] * b[1] - a[3] * b[0]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = np.sqrt(x * x + y * y + z * z)
    scale = 2.0 * np.arctan2(sine, w) / sine if sine > 1e-12 else 2.0 / w
    out[0], out[1], out[2] = scale * x, scale * y, scale * z


@inner_kernel
def turn_by(q: Array, turn: Array) -> None:
    """q <- q exp(turn), normalised."""
    angle = np.sqrt(turn[0] ** 2 + turn[1] ** 2 + turn[2] ** 2)
    scale = np.sin(0.5 * angle) / angle if angle > 1e-8 else 0.5 - angle * angle / 48.0
    w, x, y, z = np.cos(0.5 * angle), scale * turn[0], scale * turn[1], scale * turn[2]
    a, b, c, d = q[0], q[1], q[2], q[3]
    q[0] = a * w - b * x - c * y - d * z
    q[1] = a * x + b * w + c * z - d * y
    q[2] = a * y - b * z + c * w + d * x
    q[3] = a * z + b * y - c * x + d * w
    size = np.sqrt(q[0] ** 2 + q[1] ** 2 + q[2] ** 2 + q[3] ** 2)
    for k in range(4):
        q[k] /= size
