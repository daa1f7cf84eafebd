"""Value, gradient and exact Hessian of a planar chain's reach in one pass from tip to root (Bawa 1995).

Link i has length a_i and joint angle theta_i, measured from link i - 1 (the first from the x axis); the root is the
origin. With the headings phi_i = theta_1 + ... + theta_i, the vector from joint i to the tip is

    C_i = sum_{k >= i} a_k cos phi_k,     S_i = sum_{k >= i} a_k sin phi_k,

and the tip misses the target P by K = (C_1, S_1) - P. Then (eqs. 3.21, 3.22, 3.24)

    F = Kx^2 + Ky^2,     g_i = 2 (Ky C_i - Kx S_i),     h_ij = 2 ((C_j - Kx) C_i + (S_j - Ky) S_i)   for i >= j.

C and S follow from their neighbours towards the tip, so F and g cost O(n) and H costs its n^2 entries. (Algorithm FGH
and algorithm CG are misprinted in the thesis: step VI of the one mixes sines with cosines, and the gradients of the
other are swapped. The equations above and 3.26 are right.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.kernels import kernel
from counterpoise.pose.planar.checks import checked_chain


class FGH(NamedTuple):
    """Squared distance of tip and target [m^2] with its gradient (n,) and Hessian (n, n) by the joint angles."""

    value: float
    gradient: Array
    hessian: Array


def planar_fgh(lengths: ArrayLike, angles: ArrayLike, target: ArrayLike) -> FGH:
    """Returns F, g and H of the tip's squared distance to `target` [m], for lengths [m] and joint angles [rad]."""
    a, theta, goal = checked_chain(lengths, angles, target)
    gradient, hessian = np.zeros(a.size), np.zeros((a.size, a.size))
    value = add_fgh(a, theta, goal[0], goal[1], gradient, hessian)
    return FGH(value, gradient, hessian)


def planar_points(lengths: ArrayLike, angles: ArrayLike) -> Array:
    """Returns the positions of the joints and the tip, (n + 1, 2) [m], the root first."""
    a, theta, _ = checked_chain(lengths, angles, (0.0, 0.0))
    heading = np.cumsum(theta)
    links = a[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    return np.vstack([np.zeros(2), np.cumsum(links, axis=0)])


@kernel
def add_fgh(lengths: Array, angles: Any, x: float, y: float, gradient: Any, hessian: Any) -> Any:
    """Adds to `gradient` and `hessian` (where it has rows) and returns F; angles are real or complex."""
    n = lengths.size
    cosines, sines = np.empty_like(angles), np.empty_like(angles)
    heading = angles.sum()
    kx, ky = angles[0] * 0.0, angles[0] * 0.0
    for i in range(n - 1, -1, -1):  # from tip to root: K grows into C_i, S_i of each joint on the way
        kx += lengths[i] * np.cos(heading)
        ky += lengths[i] * np.sin(heading)
        cosines[i], sines[i] = kx, ky
        heading -= angles[i]
    kx -= x
    ky -= y
    for i in range(n):
        gradient[i] += 2.0 * (ky * cosines[i] - kx * sines[i])
    if hessian.shape[0] > 0:
        for i in range(n):
            along = 2.0 * (kx * cosines[i] + ky * sines[i])
            ci, si = 2.0 * cosines[i], 2.0 * sines[i]
            for j in range(i + 1):
                hessian[i, j] += ci * cosines[j] + si * sines[j] - along
            for j in range(i):
                hessian[j, i] = hessian[i, j]
    return kx * kx + ky * ky


@kernel
def fill_lock(lengths: Array, angles: Any, x: float, y: float, gradient: Any) -> Any:
    """Fills `gradient` (2, n) and returns the constraint that holds the tip at (x, y): cx, cy (eqs. 3.25 and 3.26).

    For an inner point pass the links up to it; the joints beyond do not move it.
    """
    heading = angles.sum()
    cx, cy = angles[0] * 0.0, angles[0] * 0.0
    for i in range(lengths.size - 1, -1, -1):
        cx += lengths[i] * np.cos(heading)
        cy += lengths[i] * np.sin(heading)
        gradient[0, i], gradient[1, i] = -cy, cx
        heading -= angles[i]
    return cx - x, cy - y
