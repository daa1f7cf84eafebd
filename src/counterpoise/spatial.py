"""Rotations and rigid motions: pure functions of arrays, batched over leading axes.

A rotation is a unit quaternion (w, x, y, z) that takes body coordinates to world coordinates. A rotation
vector is axis times angle [rad]. The convention is MuJoCo's: angular velocity w lives in the body frame and

    q(t + dt) = q(t) * exp(w dt),

so for a rotation vector r(t), with q = q0 * exp(r), the angular velocity is w = Jr(r) r_dot, where Jr is the
right Jacobian of the exponential (Chirikjian 2011, Stochastic Models, Information Theory, and Lie Groups 2,
section 10.6).
A rigid motion is a pair (position, quaternion).
"""

from __future__ import annotations

from math import factorial, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array

IDENTITY: Array = np.array([1.0, 0.0, 0.0, 0.0])
IDENTITY.flags.writeable = False


# ---------------------------------------------------------------------------------------------- quaternions


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """The product a * b: first rotate by b, then by a; (..., 4)."""
    aw, ax, ay, az = _parts(a)
    bw, bx, by, bz = _parts(b)
    return np.stack(
        np.broadcast_arrays(
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ),
        axis=-1,
    )


def conjugate(q: ArrayLike) -> Array:
    """The inverse rotation of a unit quaternion; (..., 4)."""
    return _floats(q) * np.array([1.0, -1.0, -1.0, -1.0])


def normalize(q: ArrayLike) -> Array:
    """The nearest point on the unit sphere; the zero quaternion becomes the identity; (..., 4)."""
    q = _floats(q)
    largest = np.max(np.abs(q), axis=-1, keepdims=True)  # scaled first, so that tiny and huge survive squaring
    zero = largest == 0.0
    scaled = q / np.where(zero, 1.0, largest)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return np.where(zero, IDENTITY, scaled / np.where(zero, 1.0, length))


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """Vectors v (..., 3) turned by q: v + 2 w (u x v) + 2 u x (u x v), with q = (w, u)."""
    q, v = _floats(q), _floats(v)
    u = q[..., 1:]
    t = 2.0 * np.cross(u, v)
    return v + q[..., :1] * t + np.cross(u, t)


def to_matrix(q: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions; the columns are the body axes in the world."""
    w, x, y, z = _parts(q)
    out = np.empty((*w.shape, 3, 3))
    out[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    out[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    out[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    out[..., 0, 1], out[..., 1, 0] = 2.0 * (x * y - w * z), 2.0 * (x * y + w * z)
    out[..., 0, 2], out[..., 2, 0] = 2.0 * (x * z + w * y), 2.0 * (x * z - w * y)
    out[..., 1, 2], out[..., 2, 1] = 2.0 * (y * z - w * x), 2.0 * (y * z + w * x)
    return out


def from_matrix(R: ArrayLike) -> Array:
    """Unit quaternions, w >= 0, of rotation matrices (..., 3, 3); after Shepperd 1978."""
    R = _floats(R)
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    wx, wy, wz = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    xy, xz, yz = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    # rows of 4 q q^T: row i is 4 q_i q
    outer = np.stack(
        [
            np.stack([1.0 + xx + yy + zz, wx, wy, wz], axis=-1),
            np.stack([wx, 1.0 + xx - yy - zz, xy, xz], axis=-1),
            np.stack([wy, xy, 1.0 - xx + yy - zz, yz], axis=-1),
            np.stack([wz, xz, yz, 1.0 - xx - yy + zz], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(outer, best[..., None, None], axis=-2)[..., 0, :]
    return _nearest_half(normalize(row))


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Array:
    """The rotation by `angle` [rad] about `axis` (..., 3), of any length but zero."""
    axis = _floats(axis)
    half = 0.5 * _floats(angle)[..., None]
    unit = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    vector = np.sin(half) * unit
    return np.concatenate([np.broadcast_to(np.cos(half), (*vector.shape[:-1], 1)), vector], axis=-1)


def from_two_vectors(start: ArrayLike, end: ArrayLike) -> Array:
    """The shortest rotation from direction `start` to `end`; opposite ones turn about some normal."""
    u, v = np.broadcast_arrays(_floats(start), _floats(end))
    u = u / np.linalg.norm(u, axis=-1, keepdims=True)
    v = v / np.linalg.norm(v, axis=-1, keepdims=True)
    length = np.linalg.norm(u + v, axis=-1, keepdims=True)  # 2 cos(angle / 2)
    opposite = length < 1e-9
    vector = np.cross(u, v) / np.where(opposite, 1.0, length)
    least = np.eye(3)[np.argmin(np.abs(u), axis=-1)]
    normal = np.cross(u, least)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    q = np.concatenate([0.5 * length, vector], axis=-1)
    turned = np.concatenate([np.zeros_like(length), normal], axis=-1)
    return normalize(np.where(opposite, turned, q))


def exp(r: ArrayLike) -> Array:
    """The rotation of a rotation vector (..., 3), of any length."""
    r = _floats(r)
    half = 0.5 * np.linalg.norm(r, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / pi) * r], axis=-1)


def log(q: ArrayLike) -> Array:
    """The rotation vector (..., 3) of q, at most pi long: of q and -q the one nearer the identity is read."""
    q = _nearest_half(_floats(q))
    w, u = q[..., :1], q[..., 1:]
    n = np.linalg.norm(u, axis=-1, keepdims=True)
    small = n < 1e-4 * w
    tangent = np.where(small, n, 0.0) / np.where(small, w, 1.0)
    series = (2.0 / np.where(small, w, 1.0)) * (1.0 - tangent**2 / 3.0)
    direct = 2.0 * np.arctan2(n, w) / np.where(small, 1.0, n)
    return np.where(small, series, direct) * u


def difference(a: ArrayLike, b: ArrayLike) -> Array:
    """The body-frame rotation vector r that takes a to b: b = a * exp(r), up to sign; (..., 3)."""
    return log(multiply(conjugate(a), b))


def integrate(q: ArrayLike, r: ArrayLike) -> Array:
    """q * exp(r): q turned by the body-frame rotation vector r; (..., 4)."""
    return normalize(multiply(q, exp(r)))


def slerp(a: ArrayLike, b: ArrayLike, fraction: ArrayLike) -> Array:
    """The point at `fraction` of the shorter great arc from a (0) to b (1); Shoemake 1985."""
    return integrate(a, _floats(fraction)[..., None] * difference(a, b))


def align_signs(quats: ArrayLike) -> Array:
    """The same rotations (n, ..., 4), signed so that neighbours lie in the same half of the sphere."""
    q = _floats(quats)
    if len(q) < 2:
        return q.copy()
    flips = np.where(np.sum(q[1:] * q[:-1], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    out = q.copy()
    out[1:] *= np.cumprod(flips, axis=0)
    return out


def swing_twist(q: ArrayLike, axis: ArrayLike) -> tuple[Array, Array]:
    """q = swing * twist: the twist turns about `axis`, the swing about a normal of it."""
    q, axis = _floats(q), _floats(axis)
    unit = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    along = np.sum(q[..., 1:] * unit, axis=-1, keepdims=True)
    vector = along * unit
    scalar = np.broadcast_to(q[..., :1], (*vector.shape[:-1], 1))
    twist = np.concatenate([scalar, vector], axis=-1)
    lost = np.linalg.norm(twist, axis=-1, keepdims=True) < 1e-12  # a half turn of pure swing: any twist would do
    twist = np.where(lost, IDENTITY, normalize(twist))
    return multiply(q, conjugate(twist)), twist


def yaw(q: ArrayLike) -> Array:
    """The heading (...,) [rad] in (-pi, pi]: the twist of q about the world's vertical."""
    q = _nearest_half(_floats(q))
    return 2.0 * np.arctan2(q[..., 3], q[..., 0])


def from_yaw(angle: ArrayLike) -> Array:
    """The rotation by `angle` [rad] about the world's vertical."""
    return from_axis_angle(np.array([0.0, 0.0, 1.0]), angle)


# ------------------------------------------------------------------------- Jacobians of the exponential


def skew(v: ArrayLike) -> Array:
    """The matrix (..., 3, 3) with skew(v) u = v x u."""
    v = _floats(v)
    out = np.zeros((*v.shape, 3))
    out[..., 0, 1], out[..., 1, 0] = -v[..., 2], v[..., 2]
    out[..., 0, 2], out[..., 2, 0] = v[..., 1], -v[..., 1]
    out[..., 1, 2], out[..., 2, 1] = -v[..., 0], v[..., 0]
    return out


def right_jacobian(r: ArrayLike) -> Array:
    """Jr(r) = I - b [r] + c [r]^2 (..., 3, 3): body angular velocity = Jr(r) r_dot."""
    S, b, c = _jacobian_parts(r)
    return np.eye(3) - b * S + c * (S @ S)


def right_jacobian_inverse(r: ArrayLike) -> Array:
    """Jr(r)^-1 = I + [r] / 2 + d [r]^2 (..., 3, 3), |r| < 2 pi: r_dot = Jr(r)^-1 (body angular velocity)."""
    r = _floats(r)
    S = skew(r)
    return np.eye(3) + 0.5 * S + inverse_coefficient(np.sum(r * r, axis=-1))[..., None, None] * (S @ S)


def left_jacobian_inverse(r: ArrayLike) -> Array:
    """Jl(r)^-1 = I - [r] / 2 + d [r]^2 (..., 3, 3), |r| < 2 pi: r_dot = Jl(r)^-1 (world angular velocity)."""
    return right_jacobian_inverse(-_floats(r))


# b, c, b'/t, c'/t and d as power series in t^2 = |r|^2; used for |r| < 1, where the closed forms cancel
B_SERIES = np.array([(-1.0) ** k / factorial(2 * k + 2) for k in range(10)])
C_SERIES = np.array([(-1.0) ** k / factorial(2 * k + 3) for k in range(10)])
DB_SERIES = np.array([(-1.0) ** k * 2 * k / factorial(2 * k + 2) for k in range(1, 11)])
DC_SERIES = np.array([(-1.0) ** k * 2 * k / factorial(2 * k + 3) for k in range(1, 11)])
_BERNOULLI = (1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510, 43867 / 798, 174611 / 330)
D_SERIES = np.array([number / factorial(2 * k + 2) for k, number in enumerate(_BERNOULLI)])


def exp_coefficients(squared: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """b = (1 - cos t)/t^2, c = (t - sin t)/t^3, and b'(t)/t, c'(t)/t, for t^2 = `squared`."""
    x = _floats(squared)
    near = x < 1.0
    t = np.sqrt(np.where(near, 1.0, x))
    x_far, x_near = t * t, np.where(near, x, 0.0)
    sin, cos = np.sin(t), np.cos(t)
    b = np.where(near, _series(B_SERIES, x_near), (1.0 - cos) / x_far)
    c = np.where(near, _series(C_SERIES, x_near), (t - sin) / (t * x_far))
    db = np.where(near, _series(DB_SERIES, x_near), (t * sin - 2.0 * (1.0 - cos)) / x_far**2)
    dc = np.where(near, _series(DC_SERIES, x_near), (t * (1.0 - cos) - 3.0 * (t - sin)) / (t * x_far**2))
    return b, c, db, dc


def inverse_coefficient(squared: ArrayLike) -> Array:
    """d = (1 - (t/2) cot(t/2))/t^2, for t^2 = `squared` < (2 pi)^2."""
    x = _floats(squared)
    near = x < 1.0
    t = np.sqrt(np.where(near, 1.0, x))
    return np.where(
        near,
        _series(D_SERIES, np.where(near, x, 0.0)),
        (1.0 - 0.5 * t * np.cos(0.5 * t) / np.sin(0.5 * t)) / (t * t),
    )


# -------------------------------------------------------------------------------------------- rigid motions


def compose(first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike]) -> tuple[Array, Array]:
    """T_a_c = T_a_b T_b_c for rigid motions (position, quaternion)."""
    (p, q), (other_p, other_q) = first, second
    return _floats(p) + rotate(q, other_p), multiply(q, other_q)


def inverse(motion: tuple[ArrayLike, ArrayLike]) -> tuple[Array, Array]:
    """T_b_a of T_a_b = (position, quaternion)."""
    p, q = motion
    back = conjugate(q)
    return -rotate(back, p), back


def transform(motion: tuple[ArrayLike, ArrayLike], points: ArrayLike) -> Array:
    """Points (..., 3) in frame b carried to frame a by T_a_b = (position, quaternion)."""
    p, q = motion
    return _floats(p) + rotate(q, points)


# --------------------------------------------------------------------------------------------------- private


def _floats(x: ArrayLike) -> Array:
    return np.asarray(x, dtype=np.float64)


def _parts(q: ArrayLike) -> tuple[Any, Any, Any, Any]:
    q = _floats(q)
    return q[..., 0], q[..., 1], q[..., 2], q[..., 3]


def _nearest_half(q: Array) -> Array:
    return np.where(q[..., :1] < 0.0, -q, q)


def _series(coefficients: Array, x: Array) -> Array:
    total = np.full_like(x, coefficients[-1])
    for value in coefficients[-2::-1]:
        total = total * x + value
    return total


def _jacobian_parts(r: ArrayLike) -> tuple[Array, Array, Array]:
    r = _floats(r)
    b, c, _, _ = exp_coefficients(np.sum(r * r, axis=-1))
    return skew(r), b[..., None, None], c[..., None, None]
