"""Compiled rows of the posing problem: points and orientations with their Jacobians, and the curvature of points.

With s_j = [w_j; v_j] the motion vector of dof j about the CoM c, a point p of a body moves by J_j = v_j + w_j x (p -
c), and

    d^2 p / dq_j dq_k = w_j x J_k        for j nearer the root than k (symmetrised within one joint):

turning j moves the whole outer chain, and J_k with it. In the plane this is Bawa's exact Hessian (1995, eq. 3.24).
Orientations are measured by the rotation vector e of R R_target^T, whose rate is J_l(e)^-1 w.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel_with_arrays, kernel
from counterpoise.pose.core.tables import CompiledGoals


@inner_kernel_with_arrays
def evaluate_rows(
    cdof: Array, ancestors: Array, xpos: Array, xmat: Array, com: Array, variables: Ints, goals: CompiledGoals
) -> tuple[Array, Array]:
    """Returns weighted errors (3 a point, then 3 an orientation) and their Jacobian over the variables."""
    n, points, turns = len(variables), len(goals.point_body), len(goals.turn_body)
    r = np.empty(3 * (points + turns))
    J = np.zeros((3 * (points + turns), n))
    places, targets = goals.point_place, goals.point_target
    for i in range(points):
        b, w, x, y, z = goals.point_body[i], goals.point_weight[i], places[i, 0], places[i, 1], places[i, 2]
        p0 = xpos[b, 0] + xmat[b, 0] * x + xmat[b, 1] * y + xmat[b, 2] * z
        p1 = xpos[b, 1] + xmat[b, 3] * x + xmat[b, 4] * y + xmat[b, 5] * z
        p2 = xpos[b, 2] + xmat[b, 6] * x + xmat[b, 7] * y + xmat[b, 8] * z
        r[3 * i] = w * (p0 - targets[i, 0])
        r[3 * i + 1] = w * (p1 - targets[i, 1])
        r[3 * i + 2] = w * (p2 - targets[i, 2])
        a0, a1, a2 = p0 - com[0], p1 - com[1], p2 - com[2]
        for k in range(n):
            j = variables[k]
            if ancestors[b, j] != 0.0:
                s = cdof[j]
                J[3 * i, k] = w * (s[3] + s[1] * a2 - s[2] * a1)
                J[3 * i + 1, k] = w * (s[4] + s[2] * a0 - s[0] * a2)
                J[3 * i + 2, k] = w * (s[5] + s[0] * a1 - s[1] * a0)
    error, rate = np.empty(3), np.empty((3, 3))
    for i in range(turns):
        b, w, row = goals.turn_body[i], goals.turn_weight[i], 3 * (points + i)
        _rotation_error(xmat[b], goals.turn_target[i], error, rate)
        for a in range(3):
            r[row + a] = w * error[a]
        for k in range(n):
            j = variables[k]
            if ancestors[b, j] != 0.0:
                s = cdof[j]
                for a in range(3):
                    J[row + a, k] = w * (rate[a, 0] * s[0] + rate[a, 1] * s[1] + rate[a, 2] * s[2])
    return r, J


@kernel
def evaluate_goals(
    cdof: Array, ancestors: Array, xpos: Array, xmat: Array, com: Array, variables: Ints, goals_: tuple[Any, ...]
) -> tuple[Array, Array]:
    """As `evaluate_rows`, for a plain tuple of the fields of `CompiledGoals`."""
    return evaluate_rows(cdof, ancestors, xpos, xmat, com, variables, CompiledGoals(*goals_))


@kernel
def second_order(
    cdof: Array, ancestors: Array, variables: Ints, joint_of_dof: Ints, bodies: Ints, r: Array, J: Array
) -> Array:
    """Returns the sum over the goal points, of these bodies, of r_i times the second derivative of r_i, (n, n)."""
    n = len(variables)
    S = np.zeros((n, n))
    for i in range(len(bodies)):
        b = bodies[i]
        e0, e1, e2 = r[3 * i], r[3 * i + 1], r[3 * i + 2]
        for k in range(n):
            if ancestors[b, variables[k]] == 0.0:
                continue
            x0, x1, x2 = J[3 * i, k], J[3 * i + 1, k], J[3 * i + 2, k]  # already times w
            # r . (w_j x J_k) = w_j . (J_k x r)
            t0, t1, t2 = x1 * e2 - x2 * e1, x2 * e0 - x0 * e2, x0 * e1 - x1 * e0
            for j in range(k + 1):
                dof = variables[j]
                if ancestors[b, dof] == 0.0:
                    continue
                s = cdof[dof]
                value = s[0] * t0 + s[1] * t1 + s[2] * t2
                if j == k:
                    S[k, k] += value
                elif joint_of_dof[dof] == joint_of_dof[variables[k]]:
                    if s[0] == 0.0 and s[1] == 0.0 and s[2] == 0.0:
                        continue  # the position of a free joint does not turn with its orientation
                    y0, y1, y2 = J[3 * i, j], J[3 * i + 1, j], J[3 * i + 2, j]
                    u0, u1, u2 = y1 * e2 - y2 * e1, y2 * e0 - y0 * e2, y0 * e1 - y1 * e0
                    o = cdof[variables[k]]
                    both = 0.5 * (value + o[0] * u0 + o[1] * u1 + o[2] * u2)
                    S[j, k] += both
                    S[k, j] += both
                else:
                    S[j, k] += value
                    S[k, j] += value
    return S


@inner_kernel_with_arrays
def _rotation_error(mat: Array, target: Array, error: Array, rate: Array) -> None:
    """Fills e = log(R R_t^T) and its rate J_l(e)^-1, of a row-major matrix R and a target quaternion."""
    w, x, y, z = target[0], target[1], target[2], target[3]
    T = np.empty((3, 3))
    T[0, 0], T[0, 1], T[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    T[1, 0], T[1, 1], T[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    T[2, 0], T[2, 1], T[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    R = np.zeros((3, 3))
    for a in range(3):
        for b in range(3):
            for k in range(3):
                R[a, b] += mat[3 * a + k] * T[b, k]
    v0, v1, v2 = 0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])
    sine, cosine = np.sqrt(v0 * v0 + v1 * v1 + v2 * v2), 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    angle = np.arctan2(sine, cosine)
    if sine > 1e-6:
        scale = angle / sine
        error[0], error[1], error[2] = scale * v0, scale * v1, scale * v2
    elif cosine > 0.0:
        error[0], error[1], error[2] = v0, v1, v2
    else:  # half a turn: the axis is the largest column of R + 1
        best = 0
        for k in range(1, 3):
            if R[k, k] > R[best, best]:
                best = k
        a0, a1, a2 = R[0, best], R[1, best], R[2, best]
        if best == 0:
            a0 += 1.0
        elif best == 1:
            a1 += 1.0
        else:
            a2 += 1.0
        size = np.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
        sign = 1.0 if v0 * a0 + v1 * a1 + v2 * a2 >= 0.0 else -1.0
        error[0], error[1], error[2] = sign * angle * a0 / size, sign * angle * a1 / size, sign * angle * a2 / size
    # J_l^-1 = 1 - [e]/2 + k [e]^2,  k = (1 - (t/2) cot(t/2)) / t^2
    t2 = angle * angle
    half = 0.5 * angle
    k2 = 1.0 / 12.0 + t2 / 720.0 if angle < 1e-2 else (1.0 - half / np.tan(half)) / t2
    e0, e1, e2 = error[0], error[1], error[2]
    E = np.array([[0.0, -e2, e1], [e2, 0.0, -e0], [-e1, e0, 0.0]])
    for a in range(3):
        for b in range(3):
            square = 0.0
            for k in range(3):
                square += E[a, k] * E[k, b]
            rate[a, b] = (1.0 if a == b else 0.0) - 0.5 * E[a, b] + k2 * square
