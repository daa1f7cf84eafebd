"""What a batch of rays meets first, and the normals there."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import fast_kernel
from counterpoise.render.raycast.intersections import hit_mesh, hit_solid, solid_normal
from counterpoise.render.raycast.tables import (
    AXES,
    COLOUR,
    DIRECTION,
    DISTANCE,
    EYE,
    FAR,
    FLAGS,
    FLAT,
    KIND,
    MESH,
    NORM,
    NORMAL,
    ON_TOP,
    PLANE,
    POINT,
    RADIUS,
    SIZE,
    SOLID,
    TRIANGLE,
    WEIGHTS,
    WHICH,
    Int,
    Meshes,
)
from counterpoise.render.raycast.vectors import into, outof


@fast_kernel
def trace_rays(
    n: Int,
    rays: Array,
    met: Ints,
    points: Array,
    S: Array,
    I: Ints,
    meshes: Meshes,
    V: Array,
    planes: Array,
    seen: Ints,
    begin: int,
    end: int,
    stack: Ints,
) -> None:
    """Writes what the rays through picture points (n, 2) meet first in each of the three layers."""
    any_hit = np.bool_(False)
    for j in range(n):
        px, py = points[j, 0], points[j, 1]
        gx = V[AXES + 6] + px * V[AXES] + py * V[AXES + 3]
        gy = V[AXES + 7] + px * V[AXES + 1] + py * V[AXES + 4]
        gz = V[AXES + 8] + px * V[AXES + 2] + py * V[AXES + 5]
        norm = 1.0 / np.sqrt(gx * gx + gy * gy + gz * gz)
        dx, dy, dz = gx * norm, gy * norm, gz * norm
        rays[j, DIRECTION], rays[j, DIRECTION + 1], rays[j, DIRECTION + 2] = dx, dy, dz
        rays[j, NORM] = norm
        for layer in range(3):
            rays[j, DISTANCE + layer] = FAR
            met[j, SOLID + layer] = -1
        for m in range(begin, end):
            i = seen[m]
            b = S[i, EYE] * dx + S[i, EYE + 1] * dy + S[i, EYE + 2] * dz
            if S[i, EYE + 6] - b * b > S[i, RADIUS] * S[i, RADIUS]:
                continue
            lx, ly, lz = into(S, i, dx, dy, dz)
            triangle, u, v = -1, 0.0, 0.0
            ox, oy, oz = S[i, EYE + 3], S[i, EYE + 4], S[i, EYE + 5]
            if I[i, KIND] == MESH:
                t, triangle, u, v = hit_mesh(meshes, I[i, WHICH], ox, oy, oz, lx, ly, lz, any_hit, stack)
            else:
                t = hit_solid(I[i, KIND], S[i, SIZE], S[i, SIZE + 1], S[i, SIZE + 2], ox, oy, oz, lx, ly, lz)
            layer = 2 if I[i, FLAGS] & ON_TOP else (1 if S[i, COLOUR + 3] < 1.0 else 0)
            if t < rays[j, DISTANCE + layer]:
                rays[j, DISTANCE + layer] = t
                rays[j, WEIGHTS + 2 * layer], rays[j, WEIGHTS + 2 * layer + 1] = u, v
                met[j, SOLID + layer], met[j, TRIANGLE + layer] = i, triangle
        met[j, PLANE] = -1
        for k in range(len(planes)):
            cosine = planes[k, 3, 0] * dx + planes[k, 3, 1] * dy + planes[k, 3, 2] * dz
            if cosine < -1e-9:
                t = planes[k, 3, 0] * (planes[k, 0, 0] - V[0])
                t += planes[k, 3, 1] * (planes[k, 0, 1] - V[1]) + planes[k, 3, 2] * (planes[k, 0, 2] - V[2])
                t /= cosine
                if 0.0 < t < 0.9998 * rays[j, DISTANCE]:  # a solid level with the ground wins
                    rays[j, DISTANCE] = t
                    met[j, SOLID], met[j, PLANE] = -1, k
        t = rays[j, DISTANCE]
        rays[j, POINT], rays[j, POINT + 1], rays[j, POINT + 2] = V[0] + t * dx, V[1] + t * dy, V[2] + t * dz


@fast_kernel
def normal_rays(n: Int, rays: Array, met: Ints, S: Array, I: Ints, meshes: Meshes, planes: Array) -> None:
    """Writes the world normals of what the rays met, in each layer."""
    N = meshes.normals
    for j in range(n):
        dx, dy, dz = rays[j, DIRECTION], rays[j, DIRECTION + 1], rays[j, DIRECTION + 2]
        for layer in range(3):
            i, t = met[j, SOLID + layer], rays[j, DISTANCE + layer]
            if i < 0:
                continue
            lx, ly, lz = into(S, i, dx, dy, dz)
            x, y, z = S[i, EYE + 3] + t * lx, S[i, EYE + 4] + t * ly, S[i, EYE + 5] + t * lz
            if I[i, KIND] == MESH:
                k, u, v = (
                    met[j, TRIANGLE + layer],
                    rays[j, WEIGHTS + 2 * layer],
                    rays[j, WEIGHTS + 2 * layer + 1],
                )
                w = 1.0 - u - v
                a = N[k, 0, 0] * w + N[k, 1, 0] * u + N[k, 2, 0] * v
                b = N[k, 0, 1] * w + N[k, 1, 1] * u + N[k, 2, 1] * v
                c = N[k, 0, 2] * w + N[k, 1, 2] * u + N[k, 2, 2] * v
                if a * lx + b * ly + c * lz > 0.0:
                    a, b, c = -a, -b, -c
            else:
                a, b, c = solid_normal(I[i, KIND], S[i, SIZE], S[i, SIZE + 1], S[i, SIZE + 2], x, y, z)
            scale = 1.0 / np.sqrt(a * a + b * b + c * c + 1e-300)
            a, b, c = outof(S, i, a * scale, b * scale, c * scale)
            k = NORMAL + 3 * layer
            rays[j, k], rays[j, k + 1], rays[j, k + 2] = a, b, c
            if layer == 0:
                rays[j, FLAT], rays[j, FLAT + 1] = x, y
        k = met[j, PLANE]
        if k >= 0:
            for axis in range(3):
                rays[j, NORMAL + axis] = planes[k, 3, axis]
