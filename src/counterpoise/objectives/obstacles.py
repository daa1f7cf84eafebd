"""Obstacles: the solids of a terrain as tables, and compiled questions to them and to the shapes of bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel, kernel, lean_kernel


class Obstacles(NamedTuple):
    """What bodies keep off: a floor, boxes and height fields."""

    floor: float  # z of the plane below all [m]
    boxes: Array  # (k, 15) centre, rotation row by row, half edges [m]
    fields: Array  # (f, 7) least x and y, cell along x and y [m], rows, columns, first entry in data
    data: Array  # heights of all fields [m]


PARALLEL = 1e-12  # sine of the angle below which a vertical line never meets a face


@inner_kernel
def box_top(x: float, y: float, box: Array, normal: Array) -> float:
    """Returns where a vertical line leaves a box upwards, z, and fills the normal there; -inf where it misses.

    Along the line, p = (x, y, z), each pair of faces bounds z: |R_i . (p - c)| <= h_i.
    """
    low, high, face, sign = -np.inf, np.inf, 2, 1.0
    for i in range(3):
        along = box[9 + i]  # R[2, i]: how the line moves along the box's axis i
        offset = (x - box[0]) * box[3 + i] + (y - box[1]) * box[6 + i] - box[2] * along
        if abs(along) < PARALLEL:
            if abs(offset) > box[12 + i]:
                return -np.inf
            continue
        side = 1.0 if along > 0.0 else -1.0
        first, last = (-side * box[12 + i] - offset) / along, (side * box[12 + i] - offset) / along
        low = max(low, first)
        if last < high:
            high, face, sign = last, i, side
    if low > high:
        return -np.inf
    for k in range(3):
        normal[k] = sign * box[3 + 3 * k + face]
    return high


@inner_kernel
def field_top(x: float, y: float, field: Array, data: Array, normal: Array) -> float:
    """Returns the height of a field at a place and fills its normal; -inf outside of it.

    A cell is two triangles, divided from its corner of least x and y to the opposite one.
    """
    x0, y0, dx, dy = field[0], field[1], field[2], field[3]
    rows, columns, first = int(field[4]), int(field[5]), int(field[6])
    u, v = (x - x0) / dx, (y - y0) / dy
    if not (u >= 0.0 and v >= 0.0 and u <= columns - 1 and v <= rows - 1):
        return -np.inf
    c, r = min(int(u), columns - 2), min(int(v), rows - 2)
    u, v = u - c, v - r
    at = first + r * columns + c
    z00, z10, z01, z11 = data[at], data[at + 1], data[at + columns], data[at + columns + 1]
    if u >= v:
        sx, sy = z10 - z00, z11 - z10
    else:
        sx, sy = z11 - z01, z01 - z00
    length = np.sqrt((sx / dx) ** 2 + (sy / dy) ** 2 + 1.0)
    normal[0], normal[1], normal[2] = -sx / dx / length, -sy / dy / length, 1.0 / length
    return z00 + sx * u + sy * v


@kernel
def highest(
    xs: Array, ys: Array, obstacles: Obstacles, height: Array, normal: Array, which: Ints
) -> None:  # fmt: skip
    """Fills height, normal and number of the highest solid over each place: -1 the floor, then boxes, then fields."""
    floor, boxes, fields, data = obstacles
    found = np.empty(3)
    for i in range(len(xs)):
        height[i], which[i] = floor, -1
        normal[i, 0], normal[i, 1], normal[i, 2] = 0.0, 0.0, 1.0
        for k in range(len(boxes) + len(fields)):
            if k < len(boxes):
                z = box_top(xs[i], ys[i], boxes[k], found)
            else:
                z = field_top(xs[i], ys[i], fields[k - len(boxes)], data, found)
            if z > height[i]:
                height[i], which[i] = z, k
                normal[i, 0], normal[i, 1], normal[i, 2] = found[0], found[1], found[2]


@lean_kernel
def lowest_point(
    n0: float, n1: float, n2: float, x: Array, R: Array, centre: Array, axes: Array, radius: float, out: Array
) -> None:
    """Writes the world point of what is about a corner that is lowest along a normal."""
    m0 = R[0, 0] * n0 + R[1, 0] * n1 + R[2, 0] * n2
    m1 = R[0, 1] * n0 + R[1, 1] * n1 + R[2, 1] * n2
    m2 = R[0, 2] * n0 + R[1, 2] * n1 + R[2, 2] * n2
    e0 = axes[0, 0] * m0 + axes[1, 0] * m1 + axes[2, 0] * m2
    e1 = axes[0, 1] * m0 + axes[1, 1] * m1 + axes[2, 1] * m2
    e2 = axes[0, 2] * m0 + axes[1, 2] * m1 + axes[2, 2] * m2
    size = np.sqrt(e0 * e0 + e1 * e1 + e2 * e2)
    s = 1.0 / size if size > 0.0 else 0.0
    l0 = centre[0] - s * (axes[0, 0] * e0 + axes[0, 1] * e1 + axes[0, 2] * e2)
    l1 = centre[1] - s * (axes[1, 0] * e0 + axes[1, 1] * e1 + axes[1, 2] * e2)
    l2 = centre[2] - s * (axes[2, 0] * e0 + axes[2, 1] * e1 + axes[2, 2] * e2)
    out[0] = x[0] + R[0, 0] * l0 + R[0, 1] * l1 + R[0, 2] * l2 - radius * n0
    out[1] = x[1] + R[1, 0] * l0 + R[1, 1] * l1 + R[1, 2] * l2 - radius * n1
    out[2] = x[2] + R[2, 0] * l0 + R[2, 1] * l1 + R[2, 2] * l2 - radius * n2
