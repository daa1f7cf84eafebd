"""Where a ray meets a solid or a triangle mesh, in the frame of the solid; and the normal there."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Ints
from counterpoise.kernels import fast_kernel
from counterpoise.render.raycast.tables import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, FAR, LEAF, SPHERE, Flag, Meshes


@fast_kernel
def slab(
    sx: float, sy: float, sz: float, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float
) -> tuple[float, float]:
    """Returns where a ray enters and leaves a centred box; it misses the box when the first exceeds the second."""
    ix = 1.0 / (dx if abs(dx) > 1e-14 else 1e-14)
    iy = 1.0 / (dy if abs(dy) > 1e-14 else 1e-14)
    iz = 1.0 / (dz if abs(dz) > 1e-14 else 1e-14)
    near = max(-ox * ix - abs(ix) * sx, -oy * iy - abs(iy) * sy, -oz * iz - abs(iz) * sz)
    far = min(-ox * ix + abs(ix) * sx, -oy * iy + abs(iy) * sy, -oz * iz + abs(iz) * sz)
    return near, far


@fast_kernel
def hit_solid(
    kind: int,
    sx: float,
    sy: float,
    sz: float,
    ox: float,
    oy: float,
    oz: float,
    dx: float,
    dy: float,
    dz: float,
) -> float:
    """Returns the distance along a unit ray to the first point of a solid, FAR if missed; the origin lies outside."""
    if kind == CAPSULE:
        a = dx * dx + dy * dy
        end = oz
        if a > 1e-14:
            b = ox * dx + oy * dy
            disc = b * b - a * (ox * ox + oy * oy - sx * sx)
            if disc < 0.0:
                return FAR
            t = (-b - np.sqrt(disc)) / a
            end = oz + t * dz
            if -sy <= end <= sy:
                return t if t > 0.0 else FAR
        cz = oz - (sy if end > 0.0 else -sy)
        b = ox * dx + oy * dy + cz * dz
        disc = b * b - (ox * ox + oy * oy + cz * cz - sx * sx)
        if disc < 0.0:
            return FAR
        t = -b - np.sqrt(disc)
        return t if t > 0.0 else FAR
    if kind == SPHERE:
        b = ox * dx + oy * dy + oz * dz
        disc = b * b - (ox * ox + oy * oy + oz * oz - sx * sx)
        if disc < 0.0:
            return FAR
        t = -b - np.sqrt(disc)
        return t if t > 0.0 else FAR
    if kind == ELLIPSOID:
        ux, uy, uz = dx / sx, dy / sy, dz / sz
        px, py, pz = ox / sx, oy / sy, oz / sz
        a = ux * ux + uy * uy + uz * uz
        b = ux * px + uy * py + uz * pz
        disc = b * b - a * (px * px + py * py + pz * pz - 1.0)
        if disc < 0.0:
            return FAR
        t = (-b - np.sqrt(disc)) / a
        return t if t > 0.0 else FAR
    if kind == BOX:
        near, far = slab(sx, sy, sz, ox, oy, oz, dx, dy, dz)
        return near if near <= far and near > 0.0 else FAR
    if kind == CYLINDER:
        best = FAR
        a = dx * dx + dy * dy
        if a > 1e-14:
            b = ox * dx + oy * dy
            disc = b * b - a * (ox * ox + oy * oy - sx * sx)
            if disc < 0.0:
                return FAR
            t = (-b - np.sqrt(disc)) / a
            if t > 0.0 and abs(oz + t * dz) <= sy:
                best = t
        if abs(dz) > 1e-14:
            t = ((sy if dz < 0.0 else -sy) - oz) / dz
            if 0.0 < t < best:
                x, y = ox + t * dx, oy + t * dy
                if x * x + y * y <= sx * sx:
                    best = t
        return best
    if kind == CONE:  # radius sx at z = -sy, apex at z = +sy
        best = FAR
        k = sx / (2.0 * sy)
        w = sy - oz
        a = dx * dx + dy * dy - k * k * dz * dz
        b = ox * dx + oy * dy + k * k * w * dz
        disc = b * b - a * (ox * ox + oy * oy - k * k * w * w)
        if disc >= 0.0 and abs(a) > 1e-14:
            root = np.sqrt(disc)
            for sign in (-1.0, 1.0):
                t = (-b + sign * root) / a
                if 0.0 < t < best and abs(oz + t * dz) <= sy:
                    best = t
        if dz > 1e-14:
            t = (-sy - oz) / dz
            if 0.0 < t < best:
                x, y = ox + t * dx, oy + t * dy
                if x * x + y * y <= sx * sx:
                    best = t
        return best
    return FAR


@fast_kernel
def solid_normal(
    kind: int, sx: float, sy: float, sz: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Returns the outward normal, not normalised, at a point of the surface."""
    if kind == CAPSULE:
        return x, y, z - max(-sy, min(sy, z))
    if kind == ELLIPSOID:
        return x / (sx * sx), y / (sy * sy), z / (sz * sz)
    if kind == BOX:
        qx, qy, qz = abs(x) / sx, abs(y) / sy, abs(z) / sz
        if qx >= qy and qx >= qz:
            return x, 0.0, 0.0
        if qy >= qz:
            return 0.0, y, 0.0
        return 0.0, 0.0, z
    if kind == CYLINDER:
        if (x * x + y * y) / (sx * sx) > abs(z) / sy:
            return x, y, 0.0
        return 0.0, 0.0, z
    if kind == CONE:
        if z < -sy * 0.9999:
            return 0.0, 0.0, -1.0
        return x, y, np.sqrt(x * x + y * y) * sx / (2.0 * sy)
    return x, y, z


@fast_kernel
def hit_mesh(
    meshes: Meshes,
    which: int,
    ox: float,
    oy: float,
    oz: float,
    dx: float,
    dy: float,
    dz: float,
    any_hit: Flag,
    stack: Ints,
) -> tuple[float, int, float, float]:
    """Returns distance, triangle and barycentric coordinates of the first triangle, or of any with `any_hit`."""
    first, count = meshes.spans[which, 0], meshes.spans[which, 1]
    root, leaves = meshes.spans[which, 2], meshes.spans[which, 3]
    C, B = meshes.corners, meshes.boxes
    ix = 1.0 / (dx if abs(dx) > 1e-14 else 1e-14)
    iy = 1.0 / (dy if abs(dy) > 1e-14 else 1e-14)
    iz = 1.0 / (dz if abs(dz) > 1e-14 else 1e-14)
    best, triangle, best_u, best_v = FAR, -1, 0.0, 0.0
    stack[0] = 0
    height = 1
    while height > 0:
        height -= 1
        node = stack[height]
        box = root + node
        ax, bx = (B[box, 0] - ox) * ix, (B[box, 3] - ox) * ix
        ay, by = (B[box, 1] - oy) * iy, (B[box, 4] - oy) * iy
        az, bz = (B[box, 2] - oz) * iz, (B[box, 5] - oz) * iz
        near = max(min(ax, bx), min(ay, by), min(az, bz))
        far = min(max(ax, bx), max(ay, by), max(az, bz))
        if near > far or far < 0.0 or near > best:
            continue
        if node < leaves:
            one = root + 2 * node + 1  # the nearer child goes on top: it is examined first
            behind = (B[one, 0] + B[one, 3] - B[one + 1, 0] - B[one + 1, 3]) * dx
            behind += (B[one, 1] + B[one, 4] - B[one + 1, 1] - B[one + 1, 4]) * dy
            behind += (B[one, 2] + B[one, 5] - B[one + 1, 2] - B[one + 1, 5]) * dz
            far_child = 1 if behind > 0.0 else 2
            stack[height] = 2 * node + far_child
            stack[height + 1] = 2 * node + 3 - far_child
            height += 2
            continue
        begin = (node - leaves) * LEAF
        for k in range(first + begin, first + min(begin + LEAF, count)):
            cx, cy, cz = C[k, 0, 0], C[k, 0, 1], C[k, 0, 2]
            e1x, e1y, e1z = C[k, 1, 0] - cx, C[k, 1, 1] - cy, C[k, 1, 2] - cz
            e2x, e2y, e2z = C[k, 2, 0] - cx, C[k, 2, 1] - cy, C[k, 2, 2] - cz
            px, py, pz = dy * e2z - dz * e2y, dz * e2x - dx * e2z, dx * e2y - dy * e2x
            det = e1x * px + e1y * py + e1z * pz
            if abs(det) < 1e-18:
                continue
            qx, qy, qz = ox - cx, oy - cy, oz - cz
            u = (qx * px + qy * py + qz * pz) / det
            if u < 0.0 or u > 1.0:
                continue
            rx, ry, rz = qy * e1z - qz * e1y, qz * e1x - qx * e1z, qx * e1y - qy * e1x
            v = (dx * rx + dy * ry + dz * rz) / det
            if v < 0.0 or u + v > 1.0:
                continue
            t = (e2x * rx + e2y * ry + e2z * rz) / det
            if 1e-9 < t < best:
                best, triangle, best_u, best_v = t, k, u, v
                if any_hit:
                    return best, triangle, best_u, best_v
    return best, triangle, best_u, best_v
