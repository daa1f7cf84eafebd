"""Kernels for tangents of poses: the way from one pose to another, a step along it, and smoothing of poses in time."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import BALL, FREE
from counterpoise.kernels import inner_kernel, kernel


@inner_kernel
def tangent_from(reference: Array, q: Array, kinds: Ints, joint_q: Ints, joint_v: Ints, out: Array) -> None:
    """Fills the tangent (nv,) that leads from the reference pose to q."""
    for j in range(len(kinds)):
        at, dof = joint_q[j], joint_v[j]
        if kinds[j] == FREE:
            for k in range(3):
                out[dof + k] = q[at + k] - reference[at + k]
            at += 3
            dof += 3
        if kinds[j] == FREE or kinds[j] == BALL:
            a0, a1, a2, a3 = reference[at], reference[at + 1], reference[at + 2], reference[at + 3]
            b0, b1, b2, b3 = q[at], q[at + 1], q[at + 2], q[at + 3]
            w = a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3
            x = a0 * b1 - a1 * b0 - a2 * b3 + a3 * b2
            y = a0 * b2 + a1 * b3 - a2 * b0 - a3 * b1
            z = a0 * b3 - a1 * b2 + a2 * b1 - a3 * b0
            if w < 0.0:
                w, x, y, z = -w, -x, -y, -z
            sine = np.sqrt(x * x + y * y + z * z)
            scale = 2.0 * np.arctan2(sine, w) / sine if sine > 1e-9 else 2.0
            out[dof], out[dof + 1], out[dof + 2] = scale * x, scale * y, scale * z
        else:
            out[dof] = q[at] - reference[at]


@inner_kernel
def move_along(q: Array, step: Array, kinds: Ints, joint_q: Ints, joint_v: Ints, out: Array) -> None:
    """Fills the pose (nq,) that is reached from q along a tangent."""
    for j in range(len(kinds)):
        at, dof = joint_q[j], joint_v[j]
        if kinds[j] == FREE:
            for k in range(3):
                out[at + k] = q[at + k] + step[dof + k]
            at += 3
            dof += 3
        if kinds[j] == FREE or kinds[j] == BALL:
            x, y, z = step[dof], step[dof + 1], step[dof + 2]
            angle = np.sqrt(x * x + y * y + z * z)
            scale = np.sin(0.5 * angle) / angle if angle > 1e-8 else 0.5
            w, x, y, z = np.cos(0.5 * angle), scale * x, scale * y, scale * z
            a, b, c, d = q[at], q[at + 1], q[at + 2], q[at + 3]
            n0 = a * w - b * x - c * y - d * z
            n1 = a * x + b * w + c * z - d * y
            n2 = a * y - b * z + c * w + d * x
            n3 = a * z + b * y - c * x + d * w
            size = 1.0 / np.sqrt(n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3)
            out[at], out[at + 1], out[at + 2], out[at + 3] = n0 * size, n1 * size, n2 * size, n3 * size
        else:
            out[at] = q[at] + step[dof]


@kernel
def smooth_poses(poses: Array, cuts: Ints, weights: Array, kinds: Ints, joint_q: Ints, joint_v: Ints) -> Array:
    """Returns the poses, each moved to the weighted mean of its neighbours (2 m + 1 weights), on the manifold.

    `cuts` are the first frames of stretches, and the end. The window shrinks towards the ends of a stretch, so that it
    stays centred and adds no delay.
    """
    n, nq = poses.shape
    m = (len(weights) - 1) // 2
    nv = 0
    for j in range(len(kinds)):
        nv += 6 if kinds[j] == FREE else (3 if kinds[j] == BALL else 1)
    out = np.empty((n, nq))
    tangent, mean = np.zeros(nv), np.zeros(nv)
    for c in range(len(cuts) - 1):
        for f in range(cuts[c], cuts[c + 1]):
            reach = min(m, f - cuts[c], cuts[c + 1] - 1 - f)
            mean[:] = 0.0
            total = weights[m]
            for k in range(1, reach + 1):
                w = weights[m + k]
                for side in (-1, 1):
                    tangent_from(poses[f], poses[f + side * k], kinds, joint_q, joint_v, tangent)
                    for i in range(nv):
                        mean[i] += w * tangent[i]
                    total += w
            for i in range(nv):
                mean[i] /= total
            move_along(poses[f], mean, kinds, joint_q, joint_v, out[f])
    return out
