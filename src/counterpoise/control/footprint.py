"""What Stand asks of its feet and pose every tick, compiled: the support, the goal inside it, how near trouble is."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.manifold import batch_difference
from counterpoise.kernels import kernel
from counterpoise.solve.polygon import deepest, hull_edges, nearest_inside, share_of_way


@kernel
def lowest(points: Array) -> float:
    """Height of the lowest of points (p, 3)."""
    least = np.inf
    for i in range(len(points)):
        least = min(least, points[i, 2])
    return least


@kernel
def find_support(points: Array, reference: Array, held: Flags, lifted: Flags, place: Array) -> Array:
    """Half-planes of the hull of the points that stand: held and not lifted, or where none is, all not lifted.

    `place` (3,) becomes their mean distance from where the reference has them.
    """
    p = len(points)
    stand, count = np.empty(p, np.bool_), 0
    for i in range(p):
        stand[i] = held[i] and not lifted[i]
        count += stand[i]
    if count == 0:
        for i in range(p):
            stand[i] = not lifted[i]
            count += stand[i]
    corners, row = np.empty((count, 2)), 0
    place[:] = 0.0
    for i in range(p):
        if stand[i]:
            corners[row, 0], corners[row, 1] = points[i, 0], points[i, 1]
            row += 1
            for k in range(3):
                place[k] += points[i, k] - reference[i, k]
    for k in range(3):
        place[k] /= count
    return hull_edges(corners)


@kernel
def draw_inside(support: Array, com: Array, share: float) -> None:
    """Move `com` over the ground to the nearest place inside, `share` of the way to the middle from the edge."""
    com[0], com[1] = nearest_inside(support, com[0], com[1], share * deepest(support)[2])


@kernel
def capture_share(
    support: Array, com: Array, momentum: Array, goal: Array, velocity: Array, spin: Array, omega: float, mass: float,
    share: float,
) -> float:  # fmt: skip
    """How far on the way from the goal to the edge c + (c' - c'_r)/omega is, with a share of the angular momentum
    that must be taken back.

    H = momentum[:3] tips the body over: x + omega (H_y - H_ry) / m g, y - omega (H_x - H_rx) / m g.
    """
    tip = share * omega / (9.81 * mass)
    x = com[0] + (momentum[3] / mass - velocity[0]) / omega + tip * (momentum[1] - spin[1])
    y = com[1] + (momentum[4] / mass - velocity[1]) / omega - tip * (momentum[0] - spin[0])
    return share_of_way(support, goal[0], goal[1], x, y)


@kernel
def mean_error(layout: Ints, root: int, nv: int, q: Array, wanted: Array) -> float:
    """Root of the mean square of the joints' errors, on their manifolds [rad]."""
    e = batch_difference(layout, nv, q.reshape(1, -1), wanted.reshape(1, -1))
    total = 0.0
    for j in range(root, nv):
        total += e[0, j] * e[0, j]
    return float(np.sqrt(total / max(nv - root, 1)))
