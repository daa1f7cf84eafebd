"""Compiled places of body-fixed points, rotations of bodies, and their Jacobians, over many frames at once."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import swift_kernel
from counterpoise.spacetime.aggregate.tables import Tables

_FREE, _BALL, _SLIDE, _HINGE = 0, 1, 2, 3  # kinds of links


@swift_kernel
def places_batch(tables: Tables, q: Array, v: Array, bodies: Ints, points: Array, P: Array, V: Array, J: Array) -> None:
    """World place P (n, k, 3), velocity V (n, k, 3) and Jacobian J (n, k, 3, nv) of points (k, 3) fixed in bodies (k,).

    A degree of freedom moves the point by axis x (point - origin), a slide by its axis; only ancestors do.
    """
    links, frames = tables.links, tables.body_frame
    R, o = np.empty((len(links) + 1, 9)), np.empty((len(links) + 1, 3))
    for t in range(len(q)):
        link_frames(tables, q[t], R, o)
        for i in range(len(bodies)):
            link, f = tables.body_link[bodies[i]], frames[bodies[i]]
            x, y, z = points[i, 0], points[i, 1], points[i, 2]
            x, y, z = (
                f[9] + f[0] * x + f[1] * y + f[2] * z,
                f[10] + f[3] * x + f[4] * y + f[5] * z,
                f[11] + f[6] * x + f[7] * y + f[8] * z,
            )
            if link >= 0:
                r = R[link]
                x, y, z = (
                    o[link, 0] + r[0] * x + r[1] * y + r[2] * z,
                    o[link, 1] + r[3] * x + r[4] * y + r[5] * z,
                    o[link, 2] + r[6] * x + r[7] * y + r[8] * z,
                )
            P[t, i, 0], P[t, i, 1], P[t, i, 2] = x, y, z
            V[t, i, :] = 0.0
            J[t, i, :, :] = 0.0
            while link >= 0:
                kind, j, r = links[link, 1], links[link, 3], R[link]
                dx, dy, dz = x - o[link, 0], y - o[link, 1], z - o[link, 2]
                if kind == _FREE:
                    for k in range(3):
                        J[t, i, k, j + k] = 1.0
                        V[t, i, k] += v[t, j + k]
                elif kind == _BALL:
                    for k in range(3):
                        a, b, c = r[k], r[3 + k], r[6 + k]
                        _put(b * dz - c * dy, c * dx - a * dz, a * dy - b * dx, v[t], j + k, V[t, i], J[t, i])
                elif kind == _SLIDE:
                    _put(r[2], r[5], r[8], v[t], j, V[t, i], J[t, i])
                else:
                    a, b, c = r[2], r[5], r[8]
                    _put(b * dz - c * dy, c * dx - a * dz, a * dy - b * dx, v[t], j, V[t, i], J[t, i])
                link = links[link, 0]


@swift_kernel
def turns_batch(tables: Tables, q: Array, v: Array, bodies: Ints, M: Array, W: Array, J: Array) -> None:
    """Rotation M (n, k, 3, 3), world angular velocity W (n, k, 3) and its Jacobian J (n, k, 3, nv) of bodies (k,)."""
    links, frames = tables.links, tables.body_frame
    R, o = np.empty((len(links) + 1, 9)), np.empty((len(links) + 1, 3))
    for t in range(len(q)):
        link_frames(tables, q[t], R, o)
        for i in range(len(bodies)):
            link, f = tables.body_link[bodies[i]], frames[bodies[i]]
            for row in range(3):
                for k in range(3):
                    if link < 0:
                        M[t, i, row, k] = f[3 * row + k]
                    else:
                        r = R[link]
                        M[t, i, row, k] = r[3 * row] * f[k] + r[3 * row + 1] * f[3 + k] + r[3 * row + 2] * f[6 + k]
            W[t, i, :] = 0.0
            J[t, i, :, :] = 0.0
            while link >= 0:
                kind, j, r = links[link, 1], links[link, 3], R[link]
                if kind == _BALL:
                    for k in range(3):
                        _put(r[k], r[3 + k], r[6 + k], v[t], j + k, W[t, i], J[t, i])
                elif kind == _HINGE:
                    _put(r[2], r[5], r[8], v[t], j, W[t, i], J[t, i])
                link = links[link, 0]


@swift_kernel
def _put(x: float, y: float, z: float, v: Array, j: int, V: Array, J: Array) -> None:
    """Column j of a Jacobian, and its share of the velocity."""
    J[0, j], J[1, j], J[2, j] = x, y, z
    V[0] += x * v[j]
    V[1] += y * v[j]
    V[2] += z * v[j]


@swift_kernel
def link_frames(tables: Tables, q: Array, R: Array, o: Array) -> None:
    """Rotations (9) and origins (3) of all links in the world; the rows after the last are the world's own."""
    links, numbers = tables.links, tables.numbers
    turn, r = np.empty(9), np.empty(9)
    last = len(links)
    for k in range(9):
        R[last, k] = 1.0 if k % 4 == 0 else 0.0
    o[last, :] = 0.0
    for i in range(last):
        up, kind, at = links[i, 0] if links[i, 0] >= 0 else last, links[i, 1], links[i, 2]
        f = numbers[i]
        for k in range(3):
            o[i, k] = o[up, k] + R[up, 3 * k] * f[9] + R[up, 3 * k + 1] * f[10] + R[up, 3 * k + 2] * f[11]
        if kind == _FREE:
            for k in range(9):
                R[i, k] = R[up, k]
            for k in range(3):
                o[i, k] += q[at + k]
            continue
        _product(R[up], f, r)
        if kind == _BALL:
            w, x, y, z = q[at], q[at + 1], q[at + 2], q[at + 3]
            two = 2.0 / (w * w + x * x + y * y + z * z)
            turn[0], turn[1], turn[2] = 1.0 - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y)
            turn[3], turn[4], turn[5] = two * (x * y + w * z), 1.0 - two * (x * x + z * z), two * (y * z - w * x)
            turn[6], turn[7], turn[8] = two * (x * z - w * y), two * (y * z + w * x), 1.0 - two * (x * x + y * y)
            _product(r, turn, R[i])
            continue
        away = q[at] - f[12]
        cos, sin = (1.0, 0.0) if kind == _SLIDE else (np.cos(away), np.sin(away))
        for k in range(0, 9, 3):
            R[i, k] = r[k] * cos + r[k + 1] * sin
            R[i, k + 1] = r[k + 1] * cos - r[k] * sin
            R[i, k + 2] = r[k + 2]
        if kind == _SLIDE:
            for k in range(3):
                o[i, k] += r[3 * k + 2] * away


@swift_kernel
def _product(a: Array, b: Array, out: Array) -> None:
    for i in range(0, 9, 3):
        for k in range(3):
            out[i + k] = a[i] * b[k] + a[i + 1] * b[3 + k] + a[i + 2] * b[6 + k]
