"""The compiled evaluation of curves: piecewise cubics of vectors and rotation vectors, with two derivatives."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import kernel
from counterpoise.spatial import B_SERIES, C_SERIES, DB_SERIES, DC_SERIES


@kernel
def evaluate(
    t: Array,  # (m,) [s]
    knots: Array,  # (n,) [s]
    vectors: Array,  # (n - 1, 4, nvec) coefficients of 1, s, s^2, s^3, with s the time since the knot
    bases: Array,  # (n - 1, nrot, 4) the rotation at each segment's start
    turnings: Array,  # (n - 1, 4, 3 nrot) rotation vectors from the base, as coefficients
    vector_q: Ints,  # (nvec,) where each vector coordinate stands in q
    vector_v: Ints,  # (nvec,) ... and in v and a
    rotation_q: Ints,  # (nrot,) where each quaternion starts in q
    rotation_v: Ints,  # (nrot,) ... and its angular velocity in v and a
    q: Array,  # (m, nq) out
    v: Array,  # (m, nv) out
    a: Array,  # (m, nv) out
) -> None:
    """Fills q, v, a at the times t; before the first knot and after the last one the end is held at rest.

    With q = base * exp(r) and body angular velocity w = Jr(r) r' = r' - b r x r' + c r x (r x r'),
    w' = Jr(r) r'' + (r . r') (-b'/t r x r' + c'/t r x (r x r')) + c r' x (r x r'),   t = |r|.
    """
    last = knots.shape[0] - 1
    for m in range(t.shape[0]):
        time = t[m]
        held = time < knots[0] or time > knots[last]
        time = min(max(time, knots[0]), knots[last])
        segment = min(np.searchsorted(knots, time, side="right") - 1, last - 1)
        s = time - knots[segment]
        k = vectors[segment]
        for i in range(vector_q.shape[0]):
            q[m, vector_q[i]] = k[0, i] + s * (k[1, i] + s * (k[2, i] + s * k[3, i]))
            v[m, vector_v[i]] = k[1, i] + s * (2.0 * k[2, i] + s * 3.0 * k[3, i])
            a[m, vector_v[i]] = 2.0 * k[2, i] + s * 6.0 * k[3, i]
        k = turnings[segment]
        for j in range(rotation_q.shape[0]):
            i = 3 * j
            rx = k[0, i] + s * (k[1, i] + s * (k[2, i] + s * k[3, i]))
            ry = k[0, i + 1] + s * (k[1, i + 1] + s * (k[2, i + 1] + s * k[3, i + 1]))
            rz = k[0, i + 2] + s * (k[1, i + 2] + s * (k[2, i + 2] + s * k[3, i + 2]))
            ux = k[1, i] + s * (2.0 * k[2, i] + s * 3.0 * k[3, i])
            uy = k[1, i + 1] + s * (2.0 * k[2, i + 1] + s * 3.0 * k[3, i + 1])
            uz = k[1, i + 2] + s * (2.0 * k[2, i + 2] + s * 3.0 * k[3, i + 2])
            gx = 2.0 * k[2, i] + s * 6.0 * k[3, i]
            gy = 2.0 * k[2, i + 1] + s * 6.0 * k[3, i + 1]
            gz = 2.0 * k[2, i + 2] + s * 6.0 * k[3, i + 2]
            x = rx * rx + ry * ry + rz * rz
            if x < 1.0:
                b = B_SERIES[9]
                c = C_SERIES[9]
                db = DB_SERIES[9]
                dc = DC_SERIES[9]
                for n in range(8, -1, -1):
                    b = b * x + B_SERIES[n]
                    c = c * x + C_SERIES[n]
                    db = db * x + DB_SERIES[n]
                    dc = dc * x + DC_SERIES[n]
                y = 0.25 * x  # half the angle, squared: sin(h)/h and cos(h) follow from the same series
                ew = 1.0 - y * _series(B_SERIES, y)
                es = 0.5 * (1.0 - y * _series(C_SERIES, y))
            else:
                angle = np.sqrt(x)
                sin, cos = np.sin(angle), np.cos(angle)
                b = (1.0 - cos) / x
                c = (angle - sin) / (angle * x)
                db = (angle * sin - 2.0 * (1.0 - cos)) / (x * x)
                dc = (angle * (1.0 - cos) - 3.0 * (angle - sin)) / (angle * x * x)
                ew = np.cos(0.5 * angle)
                es = np.sin(0.5 * angle) / angle
            ex, ey, ez = es * rx, es * ry, es * rz
            base = bases[segment, j]
            p = rotation_q[j]
            pw = base[0] * ew - base[1] * ex - base[2] * ey - base[3] * ez
            px = base[0] * ex + base[1] * ew + base[2] * ez - base[3] * ey
            py = base[0] * ey - base[1] * ez + base[2] * ew + base[3] * ex
            pz = base[0] * ez + base[1] * ey - base[2] * ex + base[3] * ew
            scale = 1.0 / np.sqrt(pw * pw + px * px + py * py + pz * pz)
            q[m, p] = scale * pw
            q[m, p + 1] = scale * px
            q[m, p + 2] = scale * py
            q[m, p + 3] = scale * pz
            # n = r x r', o = r x n
            nx, ny, nz = ry * uz - rz * uy, rz * ux - rx * uz, rx * uy - ry * ux
            ox, oy, oz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
            d = rotation_v[j]
            v[m, d] = ux - b * nx + c * ox
            v[m, d + 1] = uy - b * ny + c * oy
            v[m, d + 2] = uz - b * nz + c * oz
            # e = r x r'', f = r x e
            fx, fy, fz = ry * gz - rz * gy, rz * gx - rx * gz, rx * gy - ry * gx
            hx, hy, hz = ry * fz - rz * fy, rz * fx - rx * fz, rx * fy - ry * fx
            along = rx * ux + ry * uy + rz * uz
            a[m, d] = gx - b * fx + c * (hx + uy * nz - uz * ny) + along * (dc * ox - db * nx)
            a[m, d + 1] = gy - b * fy + c * (hy + uz * nx - ux * nz) + along * (dc * oy - db * ny)
            a[m, d + 2] = gz - b * fz + c * (hz + ux * ny - uy * nx) + along * (dc * oz - db * nz)
        if held:
            v[m] = 0.0
            a[m] = 0.0


@kernel
def _series(coefficients: Array, x: float) -> float:
    total = coefficients[-1]
    for n in range(coefficients.shape[0] - 2, -1, -1):
        total = total * x + coefficients[n]
    return total
