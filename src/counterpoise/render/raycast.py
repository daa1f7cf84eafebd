"""The ray caster: one picture from tables of solids, planes and triangle meshes, compiled with numba.

All kernels live in this one file because numba's cache does not follow calls across files. A picture is
made in three passes: bin the solids into screen tiles and into a grid seen from the light; cast one ray a
pixel; cast more wherever neighbouring pixels disagree. Nothing is random: the same scene, the same bytes.

Shadows are closed form. Seen along a directional light each solid is a flat outline. A point at signed
distance d from that outline, with the solid a distance t towards the light, is lit by
smoothstep((1 + d / (s t)) / 2), s the tangent of the light's half angle. Ambient occlusion is that of a
ball swept over the solid's core box, taken where it is nearest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterpoise.kernels import fast_kernel

SPHERE, CAPSULE, CYLINDER, ELLIPSOID, BOX, CONE, MESH = range(7)
CASTS_SHADOW, EMISSIVE, ON_TOP, CHECKED = 1, 2, 4, 8
TILE = 16  # [pixels]
LEAF = 4  # triangles in a leaf of a mesh's tree
CELLS = 64  # the light's grid is CELLS x CELLS
FAR = 1e30

Array = np.ndarray[Any, Any]
Int = int | np.integer[Any]
Flag = bool | np.bool_


# Columns of the table of solids, one row each: one array keeps calls cheap and a row together in memory.
SIZE, POSITION, ROTATION, COLOUR = 0, 3, 6, 15  # half sizes as in MuJoCo; world pose; linear rgb and alpha
EXTENT, RADIUS, CORE = 19, 22, 23  # half sizes of the bounding box; bounding sphere; core box and ball
EYE = 27  # centre minus eye in the world (3), eye in the solid's frame (3), squared distance
OUTLINE = 34  # centre in light coordinates (3), then the outline seen from the light (9)
COLUMNS = 46
KIND, FLAGS, WHICH = 0, 1, 2  # columns of the table of integers; WHICH is the mesh, -1 for none
# Numbers of the view: eye (3); one pixel right, one down, eye to the centre of the first pixel (9); two axes
# across the light and towards it (9); linear colours (7 x 3); and single numbers.
ORIGIN, AXES, LIGHT, LOOK = 0, 3, 12, 21
KEY, SKY, BOUNCE, GROUND_LIGHT, GROUND_DARK, HORIZON, ZENITH = range(LOOK, LOOK + 21, 3)
LIGHT_ANGLE = 42  # tangent of the half angle of the light
WIDEST, SHARPEST = 43, 44  # half widths of the widest and the sharpest penumbra [m]
REACH = 45  # of ambient occlusion, in radii of the occluder
SHINE, RIM = 46, 47  # strength of the highlight, and of the light on grazing surfaces
HAZE = 48  # distance at which the ground is half lost in the backdrop [m]
SQUARE = 49  # edge of a square of the checker [m]
CONTRAST = 50  # how much darker the dark squares of a height field are
NUMBERS = 51
# A batch of rays, the work of one tile: what each met in three layers (the solid world, the nearest
# see-through surface, the nearest marker) and what light falls there. Kernels loop over a batch inside,
# since numba counts references to every array of a call.
DIRECTION, NORM, POINT, LIT, OPEN = 0, 3, 4, 7, 8
DISTANCE, WEIGHTS, NORMAL, FLAT = (
    9,
    12,
    18,
    27,
)  # three layers each: 1, 2, 3 columns; FLAT: local x, y of the first
RAY_COLUMNS = 29
SOLID, TRIANGLE, PLANE = 0, 3, 6  # integers of a ray: solid and triangle in each layer, -1 for none
RAY_INTEGERS = 7
BATCH = TILE * TILE
PLANES = 1024  # tags of what was met: 1 + solid, -1 - plane, -PLANES - solid where it is checkered


class Meshes(NamedTuple):
    """Triangles of all meshes, each sorted under an implicit binary tree of boxes."""

    corners: Array  # (m, 3, 3)
    normals: Array  # (m, 3, 3) at the corners
    boxes: Array  # (k, 6) low and high corners of tree nodes
    spans: Array  # (meshes, 4) first triangle, triangles, first node, first leaf


# ---------------------------------------------------------------- intersections, in the frame of the solid


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
    """Distance along a unit ray to the first point of a solid, FAR if missed; the origin lies outside."""
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
def slab(
    sx: float, sy: float, sz: float, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float
) -> tuple[float, float]:
    """Where a ray enters and leaves a centred box; it misses when the first exceeds the second."""
    ix = 1.0 / (dx if abs(dx) > 1e-14 else 1e-14)
    iy = 1.0 / (dy if abs(dy) > 1e-14 else 1e-14)
    iz = 1.0 / (dz if abs(dz) > 1e-14 else 1e-14)
    near = max(-ox * ix - abs(ix) * sx, -oy * iy - abs(iy) * sy, -oz * iz - abs(iz) * sz)
    far = min(-ox * ix + abs(ix) * sx, -oy * iy + abs(iy) * sy, -oz * iz + abs(iz) * sz)
    return near, far


@fast_kernel
def solid_normal(
    kind: int, sx: float, sy: float, sz: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Outward normal, not normalised, at a point of the surface."""
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
    stack: Array,
) -> tuple[float, int, float, float]:
    """Distance, triangle and barycentric coordinates of the first (or any) triangle."""
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
            one = root + 2 * node + 1  # the nearer child is looked at first: it goes on top
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


# ---------------------------------------------------------------- frames


@fast_kernel
def into(S: Array, i: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A world vector in the frame of solid i."""
    return (
        S[i, ROTATION] * x + S[i, ROTATION + 3] * y + S[i, ROTATION + 6] * z,
        S[i, ROTATION + 1] * x + S[i, ROTATION + 4] * y + S[i, ROTATION + 7] * z,
        S[i, ROTATION + 2] * x + S[i, ROTATION + 5] * y + S[i, ROTATION + 8] * z,
    )


@fast_kernel
def outof(S: Array, i: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A vector in the frame of solid i in the world."""
    return (
        S[i, ROTATION] * x + S[i, ROTATION + 1] * y + S[i, ROTATION + 2] * z,
        S[i, ROTATION + 3] * x + S[i, ROTATION + 4] * y + S[i, ROTATION + 5] * z,
        S[i, ROTATION + 6] * x + S[i, ROTATION + 7] * y + S[i, ROTATION + 8] * z,
    )


@fast_kernel
def along(V: Array, row: int, x: float, y: float, z: float) -> float:
    """Product of a vector with three numbers of the view."""
    return V[row] * x + V[row + 1] * y + V[row + 2] * z


# ---------------------------------------------------------------- what is worked out once a picture


@fast_kernel
def prepare(S: Array, I: Array, V: Array) -> None:
    """Fill the bounding boxes, occlusion proxies, local eyes and outlines seen from the light."""
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
def on_screen(S: Array, I: Array, V: Array, width: int, height: int, darkening: Flag, bounds: Array) -> None:
    """First and last tile columns and rows where each solid may be seen, or may darken what is seen."""
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
def under_light(S: Array, I: Array, V: Array, bounds: Array, frame: Array) -> None:
    """Cells of a grid across the light that each solid may shade; `frame` is the grid's corner and scale.

    The grid covers the small solids. What reaches beyond it, a floor or a hill, is kept in the cells at its
    rim, where points beyond it look.
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
def grid_cell(place: float) -> int:
    """The cell of a place along one side of the light's grid; beyond its ends, the last one."""
    return int(max(0.0, min(CELLS - 1.0, place)))


@fast_kernel
def cell_lists(bounds: Array, across: Int, start: Array) -> Array:
    """Members of every cell one after another in one array; those of cell k lie in start[k]:start[k+1]."""
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


# ---------------------------------------------------------------- light


@fast_kernel
def lit_rays(
    n: Int,
    rays: Array,
    met: Array,
    S: Array,
    I: Array,
    meshes: Meshes,
    V: Array,
    start: Array,
    members: Array,
    frame: Array,
    stack: Array,
) -> None:
    """The share of the key light that reaches the point each ray met, 0 to 1."""
    some = np.bool_(True)  # any triangle in the way will do
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
                    _, triangle, _, _ = hit_mesh(meshes, which, vx, vy, vz, lx, ly, lz, some, stack)
                    if triangle >= 0:
                        share = 0.0
                        break
                    continue
                for k in range(o + 3, o + 12, 3):
                    strip = abs(qu * S[i, k] + qv * S[i, k + 1]) - S[i, k + 2]
                    d = strip if k == o + 3 else max(d, strip)
                if d > V[WIDEST]:
                    continue
                grow = max(d, 0.0) + 1e-6  # grown by d the box touches the ray: where, tells how far it is
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
def open_rays(n: Int, rays: Array, met: Array, S: Array, V: Array, members: Array, begin: int, end: int) -> None:
    """The share of the sky that the point each ray met sees past the solids near it, 0 to 1."""
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


@fast_kernel
def checker(u: float, v: float, wu: float, wv: float) -> float:
    """A unit checker averaged over a box of half widths wu, wv: 0 to 1."""
    u, v, wu, wv = 0.5 * u, 0.5 * v, 0.5 * max(wu, 1e-6), 0.5 * max(wv, 1e-6)
    a = abs(u - wu - np.floor(u - wu) - 0.5) - abs(u + wu - np.floor(u + wu) - 0.5)
    b = abs(v - wv - np.floor(v - wv) - 0.5) - abs(v + wv - np.floor(v + wv) - 0.5)
    return 0.5 - 0.5 * (0.5 * a / wu) * (0.5 * b / wv)


# ---------------------------------------------------------------- a batch of rays


@fast_kernel
def trace_rays(
    n: Int,
    rays: Array,
    met: Array,
    points: Array,
    S: Array,
    I: Array,
    meshes: Meshes,
    V: Array,
    planes: Array,
    seen: Array,
    begin: int,
    end: int,
    stack: Array,
) -> None:
    """What the rays through picture points (n, 2) meet first in each of the three layers."""
    some = np.bool_(False)
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
                t, triangle, u, v = hit_mesh(meshes, I[i, WHICH], ox, oy, oz, lx, ly, lz, some, stack)
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
                if 0.0 < t < 0.9998 * rays[j, DISTANCE]:  # a solid flush with the ground is seen
                    rays[j, DISTANCE] = t
                    met[j, SOLID], met[j, PLANE] = -1, k
        t = rays[j, DISTANCE]
        rays[j, POINT], rays[j, POINT + 1], rays[j, POINT + 2] = V[0] + t * dx, V[1] + t * dy, V[2] + t * dz


@fast_kernel
def normal_rays(n: Int, rays: Array, met: Array, S: Array, I: Array, meshes: Meshes, planes: Array) -> None:
    """World normals of what the rays met, in each layer."""
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


@fast_kernel
def floor_mix(rays: Array, j: int, V: Array, planes: Array, k: int) -> float:
    """The floor's checker where ray j meets plane k, averaged over the pixel's footprint."""
    scale = 1.0 / V[SQUARE]
    dx, dy, dz = rays[j, DIRECTION], rays[j, DIRECTION + 1], rays[j, DIRECTION + 2]
    nx, ny, nz = planes[k, 3, 0], planes[k, 3, 1], planes[k, 3, 2]
    ax, ay, az = planes[k, 1, 0] * scale, planes[k, 1, 1] * scale, planes[k, 1, 2] * scale
    bx, by, bz = planes[k, 2, 0] * scale, planes[k, 2, 1] * scale, planes[k, 2, 2] * scale
    qx, qy, qz = (
        rays[j, POINT] - planes[k, 0, 0],
        rays[j, POINT + 1] - planes[k, 0, 1],
        rays[j, POINT + 2] - planes[k, 0, 2],
    )
    # how far the point on the ground moves for one pixel right and one pixel down
    level = 1.0 / (nx * dx + ny * dy + nz * dz)
    right = along(V, AXES, nx, ny, nz) * level
    down = along(V, AXES + 3, nx, ny, nz) * level
    rx, ry, rz = V[AXES] - right * dx, V[AXES + 1] - right * dy, V[AXES + 2] - right * dz
    ex, ey, ez = V[AXES + 3] - down * dx, V[AXES + 4] - down * dy, V[AXES + 5] - down * dz
    stretch = 0.5 * rays[j, DISTANCE] * rays[j, NORM]
    wu = (abs(rx * ax + ry * ay + rz * az) + abs(ex * ax + ey * ay + ez * az)) * stretch
    wv = (abs(rx * bx + ry * by + rz * bz) + abs(ex * bx + ey * by + ez * bz)) * stretch
    return checker(qx * ax + qy * ay + qz * az, qx * bx + qy * by + qz * bz, wu, wv)


@fast_kernel
def shade_rays(
    n: Int, rays: Array, met: Array, S: Array, I: Array, V: Array, planes: Array, colours: Array, tags: Array
) -> None:
    """Linear colours (n, 3) seen along the rays, and numbers (n,) that tell what was met."""
    for j in range(n):
        dx, dy, dz = rays[j, DIRECTION], rays[j, DIRECTION + 1], rays[j, DIRECTION + 2]
        best, what, plane = rays[j, DISTANCE], met[j, SOLID], met[j, PLANE]
        # the backdrop: at the horizon the colour into which the ground fades
        rise = max(0.0, min(1.0, dz * 1.6))
        rise = rise * (2.0 - rise)
        hr = V[HORIZON] + (V[ZENITH] - V[HORIZON]) * rise
        hg = V[HORIZON + 1] + (V[ZENITH + 1] - V[HORIZON + 1]) * rise
        hb = V[HORIZON + 2] + (V[ZENITH + 2] - V[HORIZON + 2]) * rise
        r, g, b = hr, hg, hb
        tag = 0
        if what >= 0 or plane >= 0:
            nx, ny, nz = rays[j, NORMAL], rays[j, NORMAL + 1], rays[j, NORMAL + 2]
            facing = -(nx * dx + ny * dy + nz * dz)
            shine, rim = V[SHINE], V[RIM]
            haze = best / V[HAZE]
            haze = haze * haze
            haze = haze * haze / (1.0 + haze * haze)
            glow = False
            if plane >= 0:
                mix = floor_mix(rays, j, V, planes, plane)
                r = V[GROUND_DARK] + (V[GROUND_LIGHT] - V[GROUND_DARK]) * mix
                g = V[GROUND_DARK + 1] + (V[GROUND_LIGHT + 1] - V[GROUND_DARK + 1]) * mix
                b = V[GROUND_DARK + 2] + (V[GROUND_LIGHT + 2] - V[GROUND_DARK + 2]) * mix
                shine = rim = 0.0
                tag = -1 - plane
            else:
                r, g, b = S[what, COLOUR], S[what, COLOUR + 1], S[what, COLOUR + 2]
                glow = I[what, FLAGS] & EMISSIVE != 0
                tag = 1 + what
                if I[what, FLAGS] & CHECKED:
                    pixel = np.sqrt(along(V, AXES, V[AXES], V[AXES + 1], V[AXES + 2]))
                    w = 0.5 * best * rays[j, NORM] * pixel / (V[SQUARE] * max(0.15, abs(facing)))
                    mix = checker(rays[j, FLAT] / V[SQUARE], rays[j, FLAT + 1] / V[SQUARE], w, w)
                    mix = 1.0 - V[CONTRAST] * mix
                    r, g, b = r * mix, g * mix, b * mix
                    shine = rim = 0.0
                    tag = -PLANES - what
                haze *= 0.6
            if glow:
                tone = 0.72 + 0.33 * facing
                r, g, b = r * tone, g * tone, b * tone
            else:
                lit, free = rays[j, LIT], rays[j, OPEN]
                key = max(along(V, LIGHT + 6, nx, ny, nz), 0.0) * lit * (0.6 + 0.4 * free)
                sky = 0.5 + 0.5 * nz
                r *= key * V[KEY] + free * (V[BOUNCE] + (V[SKY] - V[BOUNCE]) * sky)
                g *= key * V[KEY + 1] + free * (V[BOUNCE + 1] + (V[SKY + 1] - V[BOUNCE + 1]) * sky)
                b *= key * V[KEY + 2] + free * (V[BOUNCE + 2] + (V[SKY + 2] - V[BOUNCE + 2]) * sky)
                if shine > 0.0 or rim > 0.0:
                    ax, ay, az = V[LIGHT + 6] - dx, V[LIGHT + 7] - dy, V[LIGHT + 8] - dz
                    half = max(ax * nx + ay * ny + az * nz, 0.0) / np.sqrt(ax * ax + ay * ay + az * az)
                    for _ in range(5):
                        half = half * half
                    edge = 1.0 - facing
                    add = shine * half * lit + rim * edge * edge * edge * free * sky
                    r, g, b = r + add, g + add, b + add
            r, g, b = r + (hr - r) * haze, g + (hg - g) * haze, b + (hb - b) * haze
        for layer in range(1, 3):
            i, t = met[j, SOLID + layer], rays[j, DISTANCE + layer]
            if i < 0 or (layer == 1 and t >= best):
                continue
            k = NORMAL + 3 * layer
            nx, ny, nz = rays[j, k], rays[j, k + 1], rays[j, k + 2]
            facing = -(nx * dx + ny * dy + nz * dz)
            cover = S[i, COLOUR + 3]
            if layer == 1:
                tone = 0.675 + 0.3 * max(0.0, along(V, LIGHT + 6, nx, ny, nz)) + 0.125 * nz
                edge = 1.0 - max(facing, 0.0)
                cover = min(1.0, cover * (0.8 + 1.1 * edge * edge))
            else:
                tone = 0.72 + 0.33 * facing
                if t > min(best, rays[j, DISTANCE + 1]):
                    cover *= 0.8
            r += (S[i, COLOUR] * tone - r) * cover
            g += (S[i, COLOUR + 1] * tone - g) * cover
            b += (S[i, COLOUR + 2] * tone - b) * cover
            tag += (1 + i) << (16 * layer)
        colours[j, 0], colours[j, 1], colours[j, 2] = min(r, 1.0), min(g, 1.0), min(b, 1.0)
        tags[j] = tag


# ---------------------------------------------------------------- one picture


@fast_kernel
def cast_picture(
    S: Array,
    I: Array,
    meshes: Meshes,
    V: Array,
    planes: Array,
    samples: Array,
    tone: Array,
    dither: float,
    out: Array,
) -> None:
    """Fill `out` (height, width, 3) bytes; `samples` (k, 2) are the extra points of a pixel on an edge."""
    height, width = out.shape[0], out.shape[1]
    across, down = (width + TILE - 1) // TILE, (height + TILE - 1) // TILE
    prepare(S, I, V)
    bounds = np.empty((len(S), 4), np.int64)
    seen_start, near_start = np.empty(across * down + 1, np.int64), np.empty(across * down + 1, np.int64)
    on_screen(S, I, V, width, height, np.bool_(False), bounds)
    seen = cell_lists(bounds, across, seen_start)
    on_screen(S, I, V, width, height, np.bool_(True), bounds)
    near = cell_lists(bounds, across, near_start)
    frame, light_start = np.empty(4), np.empty(CELLS * CELLS + 1, np.int64)
    under_light(S, I, V, bounds, frame)
    light = cell_lists(bounds, np.int64(CELLS), light_start)
    stack = np.empty(128, np.int64)
    first, first_tags = np.empty((height, width, 3), np.float32), np.empty((height, width), np.int64)
    rays, met = np.empty((BATCH, RAY_COLUMNS)), np.empty((BATCH, RAY_INTEGERS), np.int64)
    points, colours, sums = np.empty((BATCH, 2)), np.empty((BATCH, 3)), np.empty((BATCH, 3))
    tags, pixels = np.empty(BATCH, np.int64), np.empty((BATCH, 2), np.int64)
    # numba compiles a kernel anew for every literal number it is given: hence np.int64 and np.bool_
    for phase in range(2 if len(samples) else 1):
        for ty in range(down):
            for tx in range(across):
                n = np.int64(0)
                for row in range(ty * TILE, min(height, (ty + 1) * TILE)):
                    for col in range(tx * TILE, min(width, (tx + 1) * TILE)):
                        if phase == 0 or differs(first, first_tags, row, col):
                            pixels[n, 0], pixels[n, 1] = row, col
                            n += 1
                if n == 0:
                    continue
                tile = ty * across + tx
                sums[:n] = 0.0
                count = len(samples) if phase == 1 else 1
                for k in range(count):
                    for j in range(n):
                        points[j, 0], points[j, 1] = pixels[j, 1], pixels[j, 0]
                        if phase == 1:
                            points[j, 0] += samples[k, 0]
                            points[j, 1] += samples[k, 1]
                    s0, s1 = seen_start[tile], seen_start[tile + 1]
                    n0, n1 = near_start[tile], near_start[tile + 1]
                    trace_rays(n, rays, met, points, S, I, meshes, V, planes, seen, s0, s1, stack)
                    normal_rays(n, rays, met, S, I, meshes, planes)
                    lit_rays(n, rays, met, S, I, meshes, V, light_start, light, frame, stack)
                    open_rays(n, rays, met, S, V, near, n0, n1)
                    shade_rays(n, rays, met, S, I, V, planes, colours, tags)
                    for j in range(n):
                        for c in range(3):
                            sums[j, c] += colours[j, c]
                put_pixels(n, pixels, sums, 1.0 / count, tone, dither, out)
                if phase == 0 and len(samples):
                    for j in range(n):
                        row, col = pixels[j, 0], pixels[j, 1]
                        first_tags[row, col] = tags[j]
                        for c in range(3):
                            first[row, col, c] = colours[j, c]


@fast_kernel
def differs(colour: Array, tags: Array, row: int, col: int) -> bool:
    """Whether a pixel and one of its four neighbours show different things."""
    height, width = tags.shape
    for k in range(4):
        i = row + (k - 1 if k % 2 == 0 else 0)
        j = col + (k - 2 if k % 2 == 1 else 0)
        if i < 0 or j < 0 or i >= height or j >= width:
            continue
        if tags[i, j] != tags[row, col]:
            return True
        change = abs(colour[i, j, 0] - colour[row, col, 0]) + abs(colour[i, j, 1] - colour[row, col, 1])
        if change > (0.11 if tags[i, j] > 0 else 0.45):  # the floor pattern is smooth already
            return True
    return False


@fast_kernel
def put_pixels(n: Int, pixels: Array, sums: Array, scale: float, tone: Array, dither: float, out: Array) -> None:
    """Linear colours to display bytes through the table `tone`, with a 4x4 ordered dither of half a step."""
    last = len(tone) - 1
    for j in range(n):
        row, col = pixels[j, 0], pixels[j, 1]
        i, k = row & 3, (row ^ col) & 3
        rank = ((k & 1) << 3) | ((i & 1) << 2) | (k & 2) | ((i & 2) >> 1)
        shift = 0.5 + dither * ((rank + 0.5) / 16.0 - 0.5)
        for c in range(3):
            value = max(0.0, min(1.0, sums[j, c] * scale))
            out[row, col, c] = int(min(255.0, tone[int(value * last)] + shift))
