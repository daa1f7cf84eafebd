"""Compiled places of body-fixed points, rotations of bodies, and their Jacobians, over many frames at once.

Frames of links come from the pass that the aggregate force uses too (`link_kernels`), eight poses at a time.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.spacetime.aggregate.lanes import (
    LANES,
    ORIGIN,
    Vec,
    cross,
    lane,
    lanes_from,
    nine,
    plus,
    product,
    turned,
)
from counterpoise.spacetime.aggregate.link_kernels import link_rows, links_outward
from counterpoise.spacetime.aggregate.tables import (
    BALL,
    FIRST_V,
    FREE,
    HINGE,
    KIND,
    PARENT,
    SLIDE,
    LinkTables,
)


@kernel
def places_batch(
    tables: LinkTables, q: Array, v: Array, bodies: Ints, points: Array, P: Array, V: Array, J: Array
) -> None:
    """Writes place P (n, k, 3), velocity V (n, k, 3) and Jacobian J (n, k, 3, nv) of points (k, 3) of bodies (k,).

    All are in world axes. A degree of freedom moves a point by axis x (point - origin), a slide by its axis. Only those
    between the root and the body move it.
    """
    n, links = len(q), tables.links
    S, R, origin = link_rows(tables), np.empty((len(links) + 1, ORIGIN + 3)), np.zeros((1, 3))
    for block in range(0, n, LANES):
        first, width = lanes_from(block, n)
        links_outward(tables, q, v, v, origin, first, width, S, False)
        for t in range(width):
            _take_frames(S, t, R)
            speeds = v[first + t]
            for i in range(len(bodies)):
                link, f = tables.body_link[bodies[i]], tables.body_frame[bodies[i]]
                r, speed, jacobian = R[link + 1], V[first + t, i], J[first + t, i]
                place = _moved(r, _moved(f, (points[i, 0], points[i, 1], points[i, 2])))
                for k in range(3):
                    P[first + t, i, k] = place[k]
                    speed[k] = 0.0
                jacobian[:, :] = 0.0
                while link >= 0:
                    kind, j, r = links[link, KIND], links[link, FIRST_V], R[link + 1]
                    if kind == FREE:
                        for k in range(3):
                            jacobian[k, j + k] = 1.0
                            speed[k] += speeds[j + k]
                    else:
                        arm = (place[0] - r[ORIGIN], place[1] - r[ORIGIN + 1], place[2] - r[ORIGIN + 2])
                        if kind == BALL:
                            for k in range(3):
                                _put_column(cross(_axis(r, k), arm), speeds[j + k], j + k, speed, jacobian)
                        elif kind == SLIDE:
                            _put_column(_axis(r, 2), speeds[j], j, speed, jacobian)
                        else:
                            _put_column(cross(_axis(r, 2), arm), speeds[j], j, speed, jacobian)
                    link = links[link, PARENT]


@kernel
def turns_batch(tables: LinkTables, q: Array, v: Array, bodies: Ints, M: Array, W: Array, J: Array) -> None:
    """Writes rotation M (n, k, 3, 3), angular velocity W (n, k, 3) and its Jacobian J (n, k, 3, nv) of bodies (k,)."""
    n, links = len(q), tables.links
    S, R, origin = link_rows(tables), np.empty((len(links) + 1, ORIGIN + 3)), np.zeros((1, 3))
    for block in range(0, n, LANES):
        first, width = lanes_from(block, n)
        links_outward(tables, q, v, v, origin, first, width, S, False)
        for t in range(width):
            _take_frames(S, t, R)
            speeds = v[first + t]
            for i in range(len(bodies)):
                link, local = tables.body_link[bodies[i]], nine(tables.body_frame[bodies[i]])
                spin, jacobian = W[first + t, i], J[first + t, i]
                rotation = product(nine(R[link + 1]), local)
                for row in range(3):
                    spin[row] = 0.0
                    for k in range(3):
                        M[first + t, i, row, k] = rotation[3 * row + k]
                jacobian[:, :] = 0.0
                while link >= 0:
                    kind, j, r = links[link, KIND], links[link, FIRST_V], R[link + 1]
                    if kind == BALL:
                        for k in range(3):
                            _put_column(_axis(r, k), speeds[j + k], j + k, spin, jacobian)
                    elif kind == HINGE:
                        _put_column(_axis(r, 2), speeds[j], j, spin, jacobian)
                    link = links[link, PARENT]


@inner_kernel
def _take_frames(S: Array, t: int, R: Array) -> None:
    """Copies rotation (9) and origin (3) of the world and all links of frame t, so that they lie close together."""
    for i in range(len(R)):
        s, r = S[i], R[i]
        for k in range(ORIGIN + 3):
            r[k] = s[lane(k, t)]


@inner_kernel
def _moved(r: Array, p: Vec) -> Vec:
    """Returns a point given in a frame of rotation (9) and origin (3)."""
    return plus((r[ORIGIN], r[ORIGIN + 1], r[ORIGIN + 2]), turned(nine(r), p))


@inner_kernel
def _axis(r: Array, k: int) -> Vec:
    """Returns axis k of a link."""
    return (r[k], r[k + 3], r[k + 6])


@inner_kernel
def _put_column(column: Vec, rate: float, j: int, velocity: Array, jacobian: Array) -> None:
    """Writes column j of a Jacobian and adds its share of the velocity."""
    for k in range(3):
        jacobian[k, j] = column[k]
        velocity[k] += rate * column[k]
