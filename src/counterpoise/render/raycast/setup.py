"""What is computed once a picture: bounds and outlines of the solids, their lists by screen tile and by light cell."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import fast_kernel
from counterpoise.render.raycast.tables import (
    AXES,
    BOX,
    CAPSULE,
    CASTS_SHADOW,
    CELLS,
    CHECKED,
    CONE,
    CORE,
    CYLINDER,
    ELLIPSOID,
    EMISSIVE,
    EXTENT,
    EYE,
    FAR,
    FLAGS,
    KIND,
    LIGHT,
    OUTLINE,
    POSITION,
    RADIUS,
    REACH,
    ROTATION,
    SIZE,
    SPHERE,
    TILE,
    WIDEST,
    Flag,
    Int,
)
from counterpoise.render.raycast.vectors import along, into, outof


@fast_kernel
def prepare(S: Array, I: Ints, V: Array) -> None:
    """Writes the bounding boxes, occlusion cores, local eyes and outlines seen from the light into S."""
    axis = np.empty((3, 3))
    pixel = np.sqrt(along(V, AXES, V[AXES], V[AXES + 1], V[AXES + 2]))
    for i in range(len(S)):
        kind = I[i, KIND]
        if I[i, FLAGS] & EMISSIVE:  # lines and markers are never thinner than a pixel and a half
            x, y, z = S[i, POSITION] - V[0], S[i, POSITION + 1] - V[1], S[i, POSITION + 2] - V[2]
            least = 0.75 * pixel * np.sqrt(x * x + y * y + z * z)
            S[i, SIZE] = max(S[i, SIZE], least)
            S[i, SIZE + 1] = max(S[i, SIZE + 1], least) if kind == CYLINDER else S[i, SIZE + 1]
        s0, s1, s2 = S[i, SIZE], S[i, SIZE + 1], S[i, SIZE + 2]
        e0, e1, e2 = s0, s1, s2
        if kind == SPHERE:
            e1, e2 = s0, s0
        elif kind == CAPSULE:
            e1, e2 = s0, s0 + s1
        elif kind in (CYLINDER, CONE):
            e1, e2 = s0, s1
        S[i, EXTENT], S[i, EXTENT + 1], S[i, EXTENT + 2] = e0, e1, e2
        thin = min(e0, e1, e2)
        round_kind = kind in (SPHERE, CAPSULE, ELLIPSOID)
        S[i, RADIUS] = max(e0, e1, e2) if round_kind else np.sqrt(e0 * e0 + e1 * e1 + e2 * e2)
        ball = min(thin, 0.25)
        share = 0.75 if kind == ELLIPSOID else 1.0
        for j in range(3):
            S[i, CORE + j] = share * (S[i, EXTENT + j] - ball)
        darkens = I[i, FLAGS] & CASTS_SHADOW and not I[i, FLAGS] & CHECKED
        S[i, CORE + 3] = ball if darkens else 0.0
        cx, cy, cz = S[i, POSITION], S[i, POSITION + 1], S[i, POSITION + 2]
        x, y, z = cx - V[0], cy - V[1], cz - V[2]
        S[i, EYE], S[i, EYE + 1], S[i, EYE + 2] = x, y, z
        S[i, EYE + 6] = x * x + y * y + z * z
        x, y, z = into(S, i, x, y, z)
        S[i, EYE + 3], S[i, EYE + 4], S[i, EYE + 5] = -x, -y, -z
        o = OUTLINE
        for j in range(3):
            S[i, o + j] = along(V, LIGHT + 3 * j, cx, cy, cz)
            for k in range(3):
                axis[j, k] = along(V, LIGHT + 3 * j, S[i, ROTATION + k], S[i, ROTATION + 3 + k], S[i, ROTATION + 6 + k])
        if kind == ELLIPSOID:  # covariance of the outline, inverted; and the slope of the chord's middle
            m00 = m01 = m11 = l0 = l1 = 0.0
            for k in range(3):
                w = S[i, SIZE + k] ** 2
                m00 += axis[0, k] * axis[0, k] * w
                m01 += axis[0, k] * axis[1, k] * w
                m11 += axis[1, k] * axis[1, k] * w
                l0 += axis[2, k] * axis[0, k] * w
                l1 += axis[2, k] * axis[1, k] * w
            det = m00 * m11 - m01 * m01
            a, b, c = m11 / det, -m01 / det, m00 / det
            S[i, o + 3], S[i, o + 4], S[i, o + 5] = a, b, c
            S[i, o + 6], S[i, o + 7], S[i, o + 8] = l0 * a + l1 * b, l0 * b + l1 * c, thin
        elif kind == BOX:  # normals and half widths of the three strips whose intersection is the outline
            for k in range(3):
                nx, ny = -axis[1, k], axis[0, k]
                length = np.sqrt(nx * nx + ny * ny)
                width = 1e9
                if length > 1e-9:
                    nx, ny = nx / length, ny / length
                    width = 0.0
                    for j in range(3):
                        width += abs(nx * axis[0, j] + ny * axis[1, j]) * S[i, SIZE + j]
                S[i, o + 3 + 3 * k], S[i, o + 4 + 3 * k], S[i, o + 5 + 3 * k] = nx, ny, width
        else:
            S[i, o + 3], S[i, o + 4], S[i, o + 5] = axis[0, 2], axis[1, 2], axis[2, 2]


@fast_kernel
def on_screen(S: Array, I: Ints, V: Array, width: int, height: int, darkening: Flag, bounds: Ints) -> None:
    """Writes the first and last tile column and row where each solid may be seen, or may darken what is seen."""
    across, down = (width + TILE - 1) // TILE, (height + TILE - 1) // TILE
    r0, r1, r2 = V[AXES], V[AXES + 1], V[AXES + 2]
    u0, u1, u2 = V[AXES + 3], V[AXES + 4], V[AXES + 5]
    f0, f1, f2 = V[AXES + 6], V[AXES + 7], V[AXES + 8]
    pixel = r0 * r0 + r1 * r1 + r2 * r2  # a pixel is as high as it is wide
    wx, wy, wz = (r1 * u2 - r2 * u1) / pixel, (r2 * u0 - r0 * u2) / pixel, (r0 * u1 - r1 * u0) / pixel
    fx, fy = (f0 * r0 + f1 * r1 + f2 * r2) / pixel, (f0 * u0 + f1 * u1 + f2 * u2) / pixel
    for i in range(len(S)):
        bounds[i, 0], bounds[i, 1], bounds[i, 2], bounds[i, 3] = 1, 0, 1, 0
        margin = 0.0
        if darkening:
            if S[i, CORE + 3] == 0.0:
                continue
            margin = V[REACH] * S[i, CORE + 3]
        x0, x1, y0, y1 = FAR, -FAR, FAR, -FAR
        behind = 0
        for corner in range(8):
            a, b, c = outof(
                S,
                i,
                (S[i, EXTENT] + margin) * (1.0 if corner & 1 else -1.0),
                (S[i, EXTENT + 1] + margin) * (1.0 if corner & 2 else -1.0),
                (S[i, EXTENT + 2] + margin) * (1.0 if corner & 4 else -1.0),
            )
            px, py, pz = S[i, EYE] + a, S[i, EYE + 1] + b, S[i, EYE + 2] + c
            z = px * wx + py * wy + pz * wz
            if z < 1e-4:
                behind += 1
                continue
            x = (px * r0 + py * r1 + pz * r2) / (pixel * z) - fx
            y = (px * u0 + py * u1 + pz * u2) / (pixel * z) - fy
            x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
        if behind == 8:
            continue
        if behind > 0:
            x0, x1, y0, y1 = 0.0, float(width), 0.0, float(height)
        if x1 < -1.0 or y1 < -1.0 or x0 > width or y0 > height:
            continue
        bounds[i, 0] = int(max(x0 - 1.0, 0.0)) // TILE
        bounds[i, 1] = min(across - 1, int(min(max(x1, 0.0) + 1.0, 1e6)) // TILE)
        bounds[i, 2] = int(max(y0 - 1.0, 0.0)) // TILE
        bounds[i, 3] = min(down - 1, int(min(max(y1, 0.0) + 1.0, 1e6)) // TILE)


@fast_kernel
def grid_cell(place: float) -> int:
    """Returns the cell of a place along one side of the light's grid; beyond its ends, the last one."""
    return int(max(0.0, min(CELLS - 1.0, place)))


@fast_kernel
def under_light(S: Array, I: Ints, V: Array, bounds: Ints, frame: Array) -> None:
    """Writes the cells of a grid across the light that each solid may shade; `frame` is the grid's corner and scale.

    The grid covers the small solids. A solid that reaches beyond it, such as a hill, is listed in the cells at its rim;
    points beyond the grid use these cells.
    """
    count, inverse = 0.0, 0.0
    for i in range(len(S)):
        if I[i, FLAGS] & CASTS_SHADOW:
            count, inverse = count + 1.0, inverse + 1.0 / S[i, RADIUS]
    large = 8.0 * count / max(inverse, 1e-9)  # eight times the harmonic mean
    low_x, low_y, high_x, high_y = FAR, FAR, -FAR, -FAR
    for i in range(len(S)):
        if I[i, FLAGS] & CASTS_SHADOW and S[i, RADIUS] <= large:
            r = S[i, RADIUS] + V[WIDEST]
            low_x, high_x = min(low_x, S[i, OUTLINE] - r), max(high_x, S[i, OUTLINE] + r)
            low_y, high_y = min(low_y, S[i, OUTLINE + 1] - r), max(high_y, S[i, OUTLINE + 1] + r)
    frame[0], frame[1] = low_x, low_y
    frame[2], frame[3] = CELLS / max(high_x - low_x, 1e-9), CELLS / max(high_y - low_y, 1e-9)
    for i in range(len(S)):
        bounds[i, 0], bounds[i, 1], bounds[i, 2], bounds[i, 3] = 1, 0, 1, 0
        if I[i, FLAGS] & CASTS_SHADOW:
            r = S[i, RADIUS] + V[WIDEST]
            for axis in range(2):
                middle, low, scale = S[i, OUTLINE + axis], frame[axis], frame[2 + axis]
                bounds[i, 2 * axis] = grid_cell((middle - r - low) * scale)
                bounds[i, 2 * axis + 1] = grid_cell((middle + r - low) * scale)


@fast_kernel
def cell_lists(bounds: Ints, across: Int, start: Ints) -> Ints:
    """Returns the members of all cells in one array; those of cell k are start[k]:start[k+1]."""
    start[:] = 0
    for i in range(len(bounds)):
        for ty in range(bounds[i, 2], bounds[i, 3] + 1):
            for tx in range(bounds[i, 0], bounds[i, 1] + 1):
                start[ty * across + tx + 1] += 1
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    members = np.empty(start[-1], np.int64)
    place = start.copy()
    for i in range(len(bounds)):
        for ty in range(bounds[i, 2], bounds[i, 3] + 1):
            for tx in range(bounds[i, 0], bounds[i, 1] + 1):
                members[place[ty * across + tx]] = i
                place[ty * across + tx] += 1
    return members
