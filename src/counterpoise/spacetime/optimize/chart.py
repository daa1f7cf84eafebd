"""Coordinates without gimbal trouble: a curve of poses as splines about a base curve, with exact derivatives.

A coordinate that is a number is its own spline. A rotation is R(t) = R0(t) exp(x(t)): R0 is a fixed base curve, x(t) a
spline of rotation vectors. With J = Jr(x) the right Jacobian of the exponential, u = J x', and ^ for "turned by
exp(-x)", its angular velocity and acceleration in the body are

    w = w0^ + u,        w' = w0'^ - u x w0^ + J x'' + (dJ/dt) x'.

Everything the optimiser needs are derivatives of (pose, w, w') by (x, x', x''); they are 3 x 3 blocks, given here. The
series in |x|^2 converge for every x; x stays well below a turn because the base follows the motion.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel, inner_kernel_with_arrays, kernel

TERMS = 22  # of the series; the last is below 1e-16 for |x| < 2 pi
BLOCKS = 4  # per rotation: d pose/dx = dw/dx' = dw'/dx'' = J; dw/dx; dw'/dx; dw'/dx'


@inner_kernel
def _series(n: float, out: Array) -> None:
    """b = (1 - cos r)/r^2, c = (r - sin r)/r^3 with n = r^2, then 2 db/dn, 2 dc/dn, 4 d2b/dn2, 4 d2c/dn2."""
    out[:] = 0.0
    fb, fc = 0.5, 1.0 / 6.0  # (-1)^k / (2k+2)!, (-1)^k / (2k+3)!
    p0, p1, p2 = 1.0, 0.0, 0.0  # n^k, n^(k-1), n^(k-2)
    for k in range(TERMS):
        out[0] += fb * p0
        out[1] += fc * p0
        out[2] += 2.0 * k * fb * p1
        out[3] += 2.0 * k * fc * p1
        out[4] += 4.0 * k * (k - 1) * fb * p2
        out[5] += 4.0 * k * (k - 1) * fc * p2
        fb *= -1.0 / ((2 * k + 3) * (2 * k + 4))
        fc *= -1.0 / ((2 * k + 4) * (2 * k + 5))
        p2 = p1
        p1 = p0
        p0 *= n


@inner_kernel
def _cross(a: Array, b: Array, out: Array) -> None:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@inner_kernel
def _add_hat(k: float, a: Array, out: Array) -> None:
    out[0, 1] -= k * a[2]
    out[0, 2] += k * a[1]
    out[1, 0] += k * a[2]
    out[1, 2] -= k * a[0]
    out[2, 0] -= k * a[1]
    out[2, 1] += k * a[0]


@inner_kernel
def _add_hat_times(k: float, a: Array, M: Array, out: Array) -> None:
    """out += k [a]x M."""
    for j in range(3):
        m0, m1, m2 = M[0, j], M[1, j], M[2, j]
        out[0, j] += k * (a[1] * m2 - a[2] * m1)
        out[1, j] += k * (a[2] * m0 - a[0] * m2)
        out[2, j] += k * (a[0] * m1 - a[1] * m0)


@inner_kernel_with_arrays
def _add_turning(x: Array, y: Array, s: Array, out: Array) -> None:
    """out += d(J(x) y)/dx."""
    b, c, beta, gamma = s[0], s[1], s[2], s[3]
    p, t = np.empty(3), np.empty(3)
    _cross(x, y, p)
    _cross(x, p, t)
    dot = x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    _add_hat(b, y, out)
    for i in range(3):
        out[i, i] += c * dot
        for j in range(3):
            out[i, j] += -beta * p[i] * x[j] + c * (x[i] * y[j] - 2.0 * y[i] * x[j]) + gamma * t[i] * x[j]


@kernel
def rotation_blocks(
    x: Array, y: Array, z: Array, q0: Array, w0: Array, g0: Array, q: Array, w: Array, g: Array, blocks: Array,
) -> None:  # fmt: skip
    """Quaternion, angular velocity and acceleration of R0 exp(x), x' = y, x'' = z, and their derivatives."""
    s = np.empty(6)
    n = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
    _series(n, s)
    b, c, beta, gamma, beta2, gamma2 = s[0], s[1], s[2], s[3], s[4], s[5]
    # quaternion
    half = 0.5 * np.sqrt(n)
    k = 0.5 * (1.0 - half * half / 6.0 * (1.0 - half * half / 20.0)) if half < 1e-3 else 0.5 * np.sin(half) / half
    cw, cx, cy, cz = np.cos(half), k * x[0], k * x[1], k * x[2]
    q[0] = q0[0] * cw - q0[1] * cx - q0[2] * cy - q0[3] * cz
    q[1] = q0[0] * cx + q0[1] * cw + q0[2] * cz - q0[3] * cy
    q[2] = q0[0] * cy - q0[1] * cz + q0[2] * cw + q0[3] * cx
    q[3] = q0[0] * cz + q0[1] * cy - q0[2] * cx + q0[3] * cw
    J, Wx, Gx, Gy = blocks[0], blocks[1], blocks[2], blocks[3]
    blocks[:] = 0.0
    for i in range(3):
        J[i, i] += 1.0 - c * n
        for j in range(3):
            J[i, j] += c * x[i] * x[j]
    _add_hat(-b, x, J)
    # the base, turned by exp(-x):  E = I - (1 - n c) [x] + b [x]^2
    wt, gt, p, t = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    sinc = 1.0 - n * c
    _cross(x, w0, p)
    _cross(x, p, t)
    for i in range(3):
        wt[i] = w0[i] - sinc * p[i] + b * t[i]
    _cross(x, g0, p)
    _cross(x, p, t)
    for i in range(3):
        gt[i] = g0[i] - sinc * p[i] + b * t[i]
    u, jz = np.empty(3), np.empty(3)
    for i in range(3):
        u[i] = J[i, 0] * y[0] + J[i, 1] * y[1] + J[i, 2] * y[2]
        jz[i] = J[i, 0] * z[0] + J[i, 1] * z[1] + J[i, 2] * z[2]
    # k = (dJ/dt) x' = -beta s p + c (r x - s y) + gamma s t
    _cross(x, y, p)
    _cross(x, p, t)
    dot = x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    r = y[0] * y[0] + y[1] * y[1] + y[2] * y[2]
    turn = np.empty(3)
    _cross(u, wt, turn)
    for i in range(3):
        w[i] = wt[i] + u[i]
        rate = -beta * dot * p[i] + c * (r * x[i] - dot * y[i]) + gamma * dot * t[i]
        g[i] = gt[i] - turn[i] + jz[i] + rate
    # dw/dx
    ux = np.zeros((3, 3))
    _add_turning(x, y, s, ux)
    _add_hat_times(1.0, wt, J, Wx)
    # dw'/dx
    _add_hat_times(1.0, gt, J, Gx)
    _add_hat_times(1.0, wt, ux, Gx)
    _add_hat_times(-1.0, u, Wx, Gx)  # Wx is still [wt] J here
    for i in range(3):
        for j in range(3):
            Wx[i, j] += ux[i, j]
    _add_turning(x, z, s, Gx)
    _add_hat(beta * dot, y, Gx)
    # dw'/dx'
    _add_hat_times(1.0, wt, J, Gy)
    _add_hat(-beta * dot, x, Gy)
    for i in range(3):
        Gx[i, i] += c * r + gamma * dot * dot
        Gy[i, i] += -c * dot - gamma * dot * n
        for j in range(3):
            Gx[i, j] += (
                -beta2 * dot * p[i] * x[j] - beta * p[i] * y[j] + gamma * (r * x[i] - dot * y[i]) * x[j]
                - c * y[i] * y[j] + gamma2 * dot * t[i] * x[j] + gamma * t[i] * y[j]
                + gamma * dot * (x[i] * y[j] - 2.0 * y[i] * x[j])
            )  # fmt: skip
            Gy[i, j] += (
                -beta * p[i] * x[j] + c * (2.0 * x[i] * y[j] - y[i] * x[j]) + gamma * t[i] * x[j]
                + gamma * dot * x[i] * x[j]
            )  # fmt: skip


@kernel
def evaluate_curve(
    X: Array, first: Ints, B: Array, T: Array, base_q: Array, base_w: Array, base_g: Array,
    vector_q: Ints, vector_v: Ints, rotation_q: Ints, rotation_v: Ints,
    q: Array, v: Array, a: Array, blocks: Array,
) -> None:  # fmt: skip
    """Poses, velocities and accelerations of the curve with coefficients X (c, nv) at frames.

    Frame i lies on coefficients first[i] ... and B[i] (3, W) are their basis values and derivatives by phase time s, of
    which T[i] seconds make one; base_w and base_g (i, rotation, 3) too are derivatives by s.
    """
    frames, width = B.shape[0], B.shape[2]
    x, y, z, w0, g0 = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for i in range(frames):
        r1 = 1.0 / T[i]
        r2 = r1 * r1
        for k in range(len(vector_v)):
            d = vector_v[k]
            s0, s1, s2 = 0.0, 0.0, 0.0
            for m in range(width):
                c = X[first[i] + m, d]
                s0 += B[i, 0, m] * c
                s1 += B[i, 1, m] * c
                s2 += B[i, 2, m] * c
            q[i, vector_q[k]] = s0
            v[i, d] = s1 * r1
            a[i, d] = s2 * r2
        for k in range(len(rotation_v)):
            d, o = rotation_v[k], rotation_q[k]
            for e in range(3):
                s0, s1, s2 = 0.0, 0.0, 0.0
                for m in range(width):
                    c = X[first[i] + m, d + e]
                    s0 += B[i, 0, m] * c
                    s1 += B[i, 1, m] * c
                    s2 += B[i, 2, m] * c
                x[e], y[e], z[e] = s0, s1 * r1, s2 * r2
                w0[e], g0[e] = base_w[i, k, e] * r1, base_g[i, k, e] * r2
            rotation_blocks(
                x, y, z, base_q[i, k], w0, g0, q[i, o : o + 4], v[i, d : d + 3], a[i, d : d + 3], blocks[i, k]
            )


@kernel
def chain_rows(
    frame: Ints, Gq: Array, Gv: Array, Ga: Array, orders: int, B: Array, T: Array, v: Array, a: Array, blocks: Array,
    rotation_v: Ints, dofs: Ints, out: Array, by_duration: Array,
) -> None:  # fmt: skip
    """Derivatives of rows by spline coefficients, out (rows, dofs, W), from those by pose, velocity, acceleration.

    `Gq`, `Gv`, `Ga` are (rows, nv); `orders` says how many of them count (1: pose only). `dofs` are the columns
    wanted, whole rotations together. by_duration (rows,) is the derivative by the duration of the row's phase.
    """
    rows, width = len(frame), B.shape[2]
    nv = Gq.shape[1]
    turning = np.full(nv, -1, np.int64)
    for k in range(len(rotation_v)):
        for e in range(3):
            turning[rotation_v[k] + e] = k
    gx, gy, gz = np.empty(nv), np.empty(nv), np.empty(nv)
    for r in range(rows):
        i = frame[r]
        r1 = 1.0 / T[i]
        for n in range(len(dofs)):
            d = dofs[n]
            k = turning[d]
            if k < 0:
                gx[n] = Gq[r, d]
                gy[n] = Gv[r, d] if orders > 1 else 0.0
                gz[n] = Ga[r, d] if orders > 2 else 0.0
            else:
                o = rotation_v[k]
                e = d - o
                sx, sy, sz = 0.0, 0.0, 0.0
                for m in range(3):
                    J = blocks[i, k, 0, m, e]
                    sx += Gq[r, o + m] * J
                    if orders > 1:
                        sx += Gv[r, o + m] * blocks[i, k, 1, m, e]
                        sy += Gv[r, o + m] * J
                    if orders > 2:
                        sx += Ga[r, o + m] * blocks[i, k, 2, m, e]
                        sy += Ga[r, o + m] * blocks[i, k, 3, m, e]
                        sz += Ga[r, o + m] * J
                gx[n], gy[n], gz[n] = sx, sy, sz
        for n in range(len(dofs)):
            for m in range(width):
                out[r, n, m] = gx[n] * B[i, 0, m] + (gy[n] * B[i, 1, m] + gz[n] * B[i, 2, m] * r1) * r1
        total = 0.0
        if orders > 1:
            for n in range(len(dofs)):
                total -= Gv[r, dofs[n]] * v[i, dofs[n]]
        if orders > 2:
            for n in range(len(dofs)):
                total -= 2.0 * Ga[r, dofs[n]] * a[i, dofs[n]]
        by_duration[r] = total * r1
