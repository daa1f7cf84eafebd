"""Rows that keep the parts of a body off the solids of a terrain."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.objectives.obstacles import Obstacles, field_top, lowest_point

NEARBY = 1.0  # [m] parts farther than this from a box are not compared with it
UNDERSIDE = -0.5  # z of a normal below which a face lies underneath a box: nothing gets there


@inner_kernel
def _separating_face(
    x: Array, R: Array, centre: Array, axes: Array, radius: float, box: Array, normal: Array, point: Array
) -> float:
    """Returns the distance between a part and the face of a box that lies between them; fills that face's normal.

    It is the largest distance along a normal of a face. Inside of the box it is negative: the way out.
    """
    best, b0, b1, b2 = -np.inf, 0.0, 0.0, 1.0
    for i in range(3):
        for side in (-1.0, 1.0):
            n0, n1, n2 = side * box[3 + i], side * box[6 + i], side * box[9 + i]
            if n2 < UNDERSIDE:
                continue
            lowest_point(n0, n1, n2, x, R, centre, axes, radius, point)
            away = n0 * (point[0] - box[0]) + n1 * (point[1] - box[1]) + n2 * (point[2] - box[2]) - box[12 + i]
            if away > best:
                best, b0, b1, b2 = away, n0, n1, n2
    normal[0], normal[1], normal[2] = b0, b1, b2
    return best


@kernel
def _distance(
    k: int, x: Array, R: Array, centre: Array, axes: Array, radius: float, obstacles: Obstacles, normal: Array,
    face: Array, point: Array,
) -> float:  # fmt: skip
    """Returns how far a part is from solid k (the boxes, the fields, then the floor); inf where it is far away.

    Fills the normal of the nearest face, and a place on that face.
    """
    floor, boxes, fields, data = obstacles
    c0 = x[0] + R[0, 0] * centre[0] + R[0, 1] * centre[1] + R[0, 2] * centre[2]
    c1 = x[1] + R[1, 0] * centre[0] + R[1, 1] * centre[1] + R[1, 2] * centre[2]
    c2 = x[2] + R[2, 0] * centre[0] + R[2, 1] * centre[1] + R[2, 2] * centre[2]
    if k < len(boxes):
        box = boxes[k]
        for i in range(3):
            along = (c0 - box[0]) * box[3 + i] + (c1 - box[1]) * box[6 + i] + (c2 - box[2]) * box[9 + i]
            if abs(along) > box[12 + i] + NEARBY:
                return np.inf
        away = _separating_face(x, R, centre, axes, radius, box, normal, point)
    else:
        height = floor
        normal[0], normal[1], normal[2] = 0.0, 0.0, 1.0
        if k < len(boxes) + len(fields):
            height = field_top(c0, c1, fields[k - len(boxes)], data, normal)
            if height == -np.inf:
                return np.inf
        n0, n1, n2 = normal[0], normal[1], normal[2]
        lowest_point(n0, n1, n2, x, R, centre, axes, radius, point)
        away = n0 * (point[0] - c0) + n1 * (point[1] - c1) + n2 * (point[2] - height)
    n0, n1, n2 = normal[0], normal[1], normal[2]
    lowest_point(n0, n1, n2, x, R, centre, axes, radius, point)
    for i in range(3):
        face[i] = point[i] - away * normal[i]
    return away


@kernel
def obstacle_rows(
    body: Ints, centre: Array, axes: Array, radius: Array, obstacles: Obstacles, position: Array, rotation: Array,
    velocity: Array, drift: Array, com: Array, motion: Array, ancestors: Array, ref_position: Array,
    ref_rotation: Array, moved: Array, with_reference: bool, d: float, settle: float, margin: float, near: float,
) -> tuple[Array, Array]:  # fmt: skip
    """Rows -n.p'' <= bound of the parts and faces whose bound on the acceleration is below `near`; see Clearance."""
    solids, nv = len(obstacles.boxes) + len(obstacles.fields) + 1, len(motion)
    most, bend = len(body) * solids, d * settle
    point, other, n, face = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    which, arm, normal, right = np.empty(most, np.int64), np.empty((most, 3)), np.empty((most, 3)), np.empty(most)
    count = 0
    for i in range(len(body)):
        k = body[i]
        x, R, v, a = position[k], rotation[k], velocity[k], drift[k]
        for solid in range(solids):
            away = _distance(solid, x, R, centre[i], axes[i], radius[i], obstacles, n, face, point)
            if away == np.inf:
                continue
            stop = margin
            if with_reference:
                lowest_point(n[0], n[1], n[2], ref_position[k], ref_rotation[k], centre[i], axes[i], radius[i], other)
                there = 0.0
                for m in range(3):
                    there += n[m] * (other[m] + moved[m] - face[m])
                stop = min(margin, there - margin)
            e = away - stop
            lowest_point(n[0], n[1], n[2], x, R, centre[i], axes[i], 0.0, point)  # without the ball
            r0, r1, r2 = point[0] - com[0], point[1] - com[1], point[2] - com[2]
            u0, u1, u2 = v[3] + v[1] * r2 - v[2] * r1, v[4] + v[2] * r0 - v[0] * r2, v[5] + v[0] * r1 - v[1] * r0
            speed = -(n[0] * u0 + n[1] * u1 + n[2] * u2)
            allowed, slope = e / settle, 1.0 / settle
            if e > 0.0:
                allowed = np.sqrt(2.0 * d * e + bend * bend) - bend
                slope = d / (allowed + bend)
            bound = (allowed - speed) / settle - slope * speed
            if bound >= near:
                continue
            own = n[0] * (a[3] + a[1] * r2 - a[2] * r1 + v[1] * u2 - v[2] * u1)  # n.p'' at a = 0
            own += n[1] * (a[4] + a[2] * r0 - a[0] * r2 + v[2] * u0 - v[0] * u2)
            own += n[2] * (a[5] + a[0] * r1 - a[1] * r0 + v[0] * u1 - v[1] * u0)
            which[count], right[count] = k, bound + own
            arm[count, 0], arm[count, 1], arm[count, 2] = r0, r1, r2
            normal[count, 0], normal[count, 1], normal[count, 2] = n[0], n[1], n[2]
            count += 1
    A = np.zeros((count, nv))
    for row in range(count):
        r0, r1, r2 = arm[row, 0], arm[row, 1], arm[row, 2]
        for j in range(nv):
            if ancestors[which[row], j] != 0.0:
                c = motion[j]
                A[row, j] = -(
                    normal[row, 0] * (c[3] + c[1] * r2 - c[2] * r1)
                    + normal[row, 1] * (c[4] + c[2] * r0 - c[0] * r2)
                    + normal[row, 2] * (c[5] + c[0] * r1 - c[1] * r0)
                )
    return A, right[:count]
