"""The numbers of a Snapshot in one array: one allocation a tick, and one argument for the kernels that read them.

M (nv, nv) | h (nv) | com (3) | momentum (6) | momentum_drift (6) | momentum_matrix (6, nv) | motion_vectors (nv, 6)
| body_position (nbody, 3) | body_rotation (nbody, 3, 3) | body_com (nbody, 3) | body_velocity (nbody, 6)
| body_drift (nbody, 6) | contact_position (p, 3) | contact_velocity (p, 3) | contact_drift (p, 3)
| contact_jacobian (p, 3, nv)
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from counterpoise.arrays import Array
from counterpoise.kernels import inner_kernel_with_arrays

Shape = tuple[int, ...]


class SnapshotParts(NamedTuple):
    """Views of the parts of a snapshot, for kernels."""

    M: Array
    h: Array
    com: Array
    momentum: Array
    momentum_drift: Array
    momentum_matrix: Array
    motion_vectors: Array
    body_position: Array
    body_rotation: Array  # (nbody, 9) here
    body_com: Array
    body_velocity: Array
    body_drift: Array
    contact_position: Array
    contact_velocity: Array
    contact_drift: Array
    contact_jacobian: Array


class PartPlace(NamedTuple):
    """Where a part is in the array, and its shape."""

    start: int
    stop: int
    shape: Shape


def layout_snapshot(nv: int, nbody: int, points: int) -> dict[str, PartPlace]:
    """Returns the place of every part by its name, in order."""
    shapes: tuple[Shape, ...] = (
        (nv, nv), (nv,), (3,), (6,), (6,), (6, nv), (nv, 6),
        (nbody, 3), (nbody, 3, 3), (nbody, 3), (nbody, 6), (nbody, 6),
        (points, 3), (points, 3), (points, 3), (points, 3, nv),
    )  # fmt: skip
    out: dict[str, PartPlace] = {}
    start = 0
    for name, shape in zip(SnapshotParts._fields, shapes, strict=True):
        out[name] = PartPlace(start, start + prod(shape), shape)
        start += prod(shape)
    return out


@inner_kernel_with_arrays
def snapshot_parts(flat: Array, nv: int, nbody: int, points: int) -> SnapshotParts:
    """Returns views of all parts."""
    n, b, p = nv, nbody, points
    e0 = n * n
    e1 = e0 + n
    e2, e3, e4 = e1 + 3, e1 + 9, e1 + 15
    e5 = e4 + 6 * n
    e6 = e5 + 6 * n
    e7 = e6 + 3 * b
    e8 = e7 + 9 * b
    e9 = e8 + 3 * b
    e10 = e9 + 6 * b
    e11 = e10 + 6 * b
    e12, e13, e14 = e11 + 3 * p, e11 + 6 * p, e11 + 9 * p
    return SnapshotParts(
        flat[:e0].reshape(n, n), flat[e0:e1], flat[e1:e2], flat[e2:e3], flat[e3:e4], flat[e4:e5].reshape(6, n),
        flat[e5:e6].reshape(n, 6), flat[e6:e7].reshape(b, 3), flat[e7:e8].reshape(b, 9), flat[e8:e9].reshape(b, 3),
        flat[e9:e10].reshape(b, 6), flat[e10:e11].reshape(b, 6), flat[e11:e12].reshape(p, 3),
        flat[e12:e13].reshape(p, 3), flat[e13:e14].reshape(p, 3), flat[e14:].reshape(p, 3, n),
    )  # fmt: skip
