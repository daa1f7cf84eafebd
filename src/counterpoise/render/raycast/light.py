"""How much of the light and of the sky reaches the points that a batch of rays met.

Shadows are in closed form. Seen along a directional light each solid is a flat outline. A point at signed distance d
from that outline, with the solid a distance t towards the light, is lit by smoothstep((1 + d / (s t)) / 2), with s the
tangent of the light's half angle. Ambient occlusion is that of a ball swept over the solid's core box, taken where it
is nearest.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import fast_kernel
from counterpoise.render.raycast.intersections import hit_mesh, slab
from counterpoise.render.raycast.setup import grid_cell
from counterpoise.render.raycast.tables import (
    BOX,
    CAPSULE,
    CELLS,
    CORE,
    CYLINDER,
    ELLIPSOID,
    KIND,
    LIGHT,
    LIGHT_ANGLE,
    LIT,
    MESH,
    NORMAL,
    OPEN,
    OUTLINE,
    PLANE,
    POINT,
    POSITION,
    RADIUS,
    REACH,
    SHARPEST,
    SIZE,
    SOLID,
    SPHERE,
    WHICH,
    WIDEST,
    Int,
    Meshes,
)
from counterpoise.render.raycast.vectors import along, into, outof


@fast_kernel
def lit_rays(
    n: Int,
    rays: Array,
    met: Ints,
    S: Array,
    I: Ints,
    meshes: Meshes,
    V: Array,
    start: Ints,
    members: Ints,
    frame: Array,
    stack: Ints,
) -> None:
    """Writes the share of the key light, 0 to 1, that reaches the point each ray met."""
    any_hit = np.bool_(True)  # any triangle in the way is enough
    for j in range(n):
        own, plane = met[j, SOLID], met[j, PLANE]
        rays[j, LIT] = 0.0
        nx, ny, nz = rays[j, NORMAL], rays[j, NORMAL + 1], rays[j, NORMAL + 2]
        if (own < 0 and plane < 0) or along(V, LIGHT + 6, nx, ny, nz) <= 0.0:
            continue
        step = 0.5 * V[SHARPEST]
        x, y, z = rays[j, POINT] + step * nx, rays[j, POINT + 1] + step * ny, rays[j, POINT + 2] + step * nz
        pu, pv = along(V, LIGHT, x, y, z), along(V, LIGHT + 3, x, y, z)
        cell = grid_cell((pv - frame[1]) * frame[3]) * CELLS + grid_cell((pu - frame[0]) * frame[2])
        pl = along(V, LIGHT + 6, x, y, z)
        share = 1.0
        for m in range(start[cell], start[cell + 1]):
            i = members[m]
            kind = I[i, KIND]
            o = OUTLINE
            qu, qv, t = pu - S[i, o], pv - S[i, o + 1], S[i, o + 2] - pl
            reach = S[i, RADIUS] + V[WIDEST]
            if (i == own and kind != MESH) or t < -S[i, RADIUS] or qu * qu + qv * qv > reach * reach:
                continue
            d = 0.0
            if kind in (CAPSULE, CYLINDER):
                au, av, al = S[i, o + 3], S[i, o + 4], S[i, o + 5]
                flat = au * au + av * av
                s = (qu * au + qv * av) / flat if flat > 1e-9 else 0.0
                half = S[i, SIZE + 1]
                s = max(-half, min(half, s))
                t += s * al
                qu -= s * au
                qv -= s * av
                d = np.sqrt(qu * qu + qv * qv) - S[i, SIZE]
                if kind == CYLINDER and flat > 1e-9:  # an end seen at an angle is flatter than a round one
                    d = max(d, abs(qu * au + qv * av) / np.sqrt(flat) - S[i, SIZE] * abs(al))
            elif kind == SPHERE:
                d = np.sqrt(qu * qu + qv * qv) - S[i, SIZE]
            elif kind == ELLIPSOID:
                t += S[i, o + 6] * qu + S[i, o + 7] * qv
                rho = np.sqrt(S[i, o + 3] * qu * qu + 2.0 * S[i, o + 4] * qu * qv + S[i, o + 5] * qv * qv)
                d = (1.0 - 1.0 / rho) * np.sqrt(qu * qu + qv * qv) if rho > 1e-6 else -S[i, o + 8]
            elif kind in (BOX, MESH):
                vx, vy, vz = into(S, i, x - S[i, POSITION], y - S[i, POSITION + 1], z - S[i, POSITION + 2])
                lx, ly, lz = into(S, i, V[LIGHT + 6], V[LIGHT + 7], V[LIGHT + 8])
                if kind == MESH:
                    which = I[i, WHICH]
                    _, triangle, _, _ = hit_mesh(meshes, which, vx, vy, vz, lx, ly, lz, any_hit, stack)
                    if triangle >= 0:
                        share = 0.0
                        break
                    continue
                for k in range(o + 3, o + 12, 3):
                    strip = abs(qu * S[i, k] + qv * S[i, k + 1]) - S[i, k + 2]
                    d = strip if k == o + 3 else max(d, strip)
                if d > V[WIDEST]:
                    continue
                grow = max(d, 0.0) + 1e-6  # the box grown by d touches the ray there
                near, far = slab(
                    S[i, SIZE] + grow, S[i, SIZE + 1] + grow, S[i, SIZE + 2] + grow, vx, vy, vz, lx, ly, lz
                )
                t = max(near, 1e-6) if far > 3e-6 else -1.0
            else:
                continue
            if t <= 0.0:
                continue
            width = max(V[SHARPEST], min(V[WIDEST], V[LIGHT_ANGLE] * t))
            if d >= width:
                continue
            if d <= -width:
                share = 0.0
                break
            w = 0.5 + 0.5 * d / width
            share = min(share, w * w * (3.0 - 2.0 * w))
        rays[j, LIT] = share


@fast_kernel
def open_rays(n: Int, rays: Array, met: Ints, S: Array, V: Array, members: Ints, begin: int, end: int) -> None:
    """Writes the share of the sky, 0 to 1, that solids near the point each ray met leave free."""
    for j in range(n):
        own = met[j, SOLID]
        x, y, z = rays[j, POINT], rays[j, POINT + 1], rays[j, POINT + 2]
        nx, ny, nz = rays[j, NORMAL], rays[j, NORMAL + 1], rays[j, NORMAL + 2]
        rays[j, OPEN] = 1.0
        if own < 0 and met[j, PLANE] < 0:
            continue
        share = 1.0
        for m in range(begin, end):
            i = members[m]
            if i == own:
                continue
            ball = S[i, CORE + 3]
            limit = V[REACH] * ball
            vx, vy, vz = x - S[i, POSITION], y - S[i, POSITION + 1], z - S[i, POSITION + 2]
            far = S[i, RADIUS] + limit
            if vx * vx + vy * vy + vz * vz > far * far:
                continue
            a, b, c = into(S, i, vx, vy, vz)
            a = max(-S[i, CORE], min(S[i, CORE], a)) - a
            b = max(-S[i, CORE + 1], min(S[i, CORE + 1], b)) - b
            c = max(-S[i, CORE + 2], min(S[i, CORE + 2], c)) - c
            square = max(a * a + b * b + c * c, ball * ball)
            if square >= limit * limit:
                continue
            wx, wy, wz = outof(S, i, a, b, c)
            lean = 0.52 + 1.48 * (wx * nx + wy * ny + wz * nz) / np.sqrt(square)
            if lean <= 0.0:
                continue
            fade = 1.0 - square / (limit * limit)
            share *= 1.0 - 0.75 * min(1.0, 0.5 * lean) * ball * ball / square * fade * fade
        rays[j, OPEN] = share
