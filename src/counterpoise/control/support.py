"""Support: the contact points that carry a body, where its pressure may lie, and how near it is to tipping over.

Points are given one by one, so any set of them can be a support. Everything is in the world frame, and about the CoM c:
f is the ground's force, H' its moment about the CoM, p the centre of pressure, omega^2 = g / height of the CoM.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.snapshot import Snapshot
from counterpoise.kernels import inner_kernel_with_arrays, kernel
from counterpoise.objectives import Stance
from counterpoise.quick import quick
from counterpoise.solve.polygon import deepest, hull_edges, nearest_about, share_of_way

LEAST_VARIANCE = 1e-8  # [m^2] of the points across the support, so that a line of points has a width
LEAST_PRESSURE = 0.05  # [body weights] a vertical force below this counts as this in `pivot_distance`


@dataclass(frozen=True, eq=False)
class Support:
    """The contact points that carry the body, and their convex hull seen from above."""

    points: Array  # (n, 3) [m]
    edges: Array  # (e, 3) the hull: half-planes n . x <= d, a row is n_x, n_y, d
    centre: Array  # (3,) mean of the points [m]
    velocity: Array  # (3,) of the ground there [m/s]
    acceleration: Array  # (3,) of the ground there
    normal: Array  # (3,) mean normal of the ground

    @cached_property
    def middle(self) -> tuple[float, float, float]:
        """x and y of the place farthest from the edges, and its distance to them [m]."""
        return deepest(self.edges)

    @property
    def depth(self) -> float:
        """Distance from the edges to the place farthest from them [m]."""
        return self.middle[2]

    @cached_property
    def half_width(self) -> float:
        """Standard deviation of the points across the narrowest direction [m]."""
        spread = self.points[:, :2] - self.points[:, :2].mean(axis=0)
        narrowest = np.linalg.eigvalsh(spread.T @ spread / len(spread))[0]
        return float(np.sqrt(max(narrowest, LEAST_VARIANCE)))

    def outside(self, place: Array) -> float:
        """Returns how far a place is outside the edges, seen from above [m]; negative inside."""
        return float((self.edges[:, :2] @ place[:2] - self.edges[:, 2]).max())

    def inside(self, place: Array, margin: float) -> Array:
        """Returns the place nearest to `place` that is `margin` [m] inside the edges; its height stays."""
        x, y = nearest_about(self.edges, float(place[0]), float(place[1]), margin, self.middle)
        return np.array([x, y, place[2]])


def support_of(
    places: Array, bearing: Flags, velocity: Array | None = None, acceleration: Array | None = None,
    normal: Array | None = None,
) -> Support:  # fmt: skip
    """Returns the support by those of the contact points, at places (p, 3), that bear, (p,)."""
    points, centre = np.empty((len(places), 3)), np.empty(3)
    count, edges = _gather(places, bearing, points, centre)
    return Support(
        points[:count],
        edges,
        centre,
        _REST if velocity is None else velocity,
        _REST if acceleration is None else acceleration,
        _UP if normal is None else normal,
    )


def planted_support(stance: Stance) -> Support | None:
    """Returns the support where a stance holds its points, of those that may push; None in the air."""
    pushing = stance.held & (stance.share > 0.0)
    bearing = pushing if pushing.any() else stance.held
    if not bearing.any():
        return None
    normal = stance.basis[bearing].sum(axis=(0, 2))
    return support_of(
        stance.goal,
        bearing,
        stance.goal_velocity[bearing].mean(axis=0),
        stance.goal_acceleration[bearing].mean(axis=0),
        normal / max(float(np.linalg.norm(normal)), 1e-12),
    )


def support_at(points: Array, edges: Array, centre: Array, middle: tuple[float, float, float]) -> Support:
    """Returns the support that `measure_support` has found, on ground at rest."""
    return quick(
        Support, points=points, edges=edges, centre=centre, velocity=_REST, acceleration=_REST, normal=_UP,
        middle=middle,
    )  # fmt: skip


@kernel
def _gather(places: Array, bearing: Flags, points: Array, centre: Array) -> tuple[int, Array]:
    """Fills the points that bear and their mean. Returns their number and the half-planes of their hull."""
    count = 0
    centre[:] = 0.0
    for i in range(len(places)):
        if bearing[i]:
            for k in range(3):
                points[count, k] = places[i, k]
                centre[k] += places[i, k]
            count += 1
    for k in range(3):
        centre[k] /= count
    return count, hull_edges(points[:count, :2].copy())


@kernel
def measure_support(
    places: Array, held: Flags, loose: Flags, raised: Flags, reference: Array, points: Array, edges: Array,
    centre: Array, offset: Array,
) -> tuple[int, int, float, float, float]:  # fmt: skip
    """Fills the points that bear, the half-planes of their hull, their mean, and its distance from the reference's.

    Returns the number of points and of half-planes, and `deepest` of the hull.
    """
    bearing = _standing_points(held, loose, raised)
    count, hull = _gather(places, bearing, points, centre)
    edges[: len(hull)] = hull
    offset[:] = mean_offset(places, reference, bearing)
    x, y, depth = deepest(hull)
    return count, len(hull), x, y, depth


@inner_kernel_with_arrays
def _standing_points(held: Flags, loose: Flags, raised: Flags) -> Flags:
    """Returns (p,): points that are held or loose, and not raised; where there are none, those that are not raised."""
    out, count = np.empty(len(held), np.bool_), 0
    for i in range(len(held)):
        out[i] = (held[i] or loose[i]) and not raised[i]
        count += out[i]
    if count == 0:
        for i in range(len(held)):
            out[i] = not raised[i]
    return out


@inner_kernel_with_arrays
def mean_offset(places: Array, reference: Array, bearing: Flags) -> Array:
    """Returns the mean difference, (3,), of the bearing points' places from the reference's, (p, 3) each."""
    out, count = np.zeros(3), 0
    for i in range(len(places)):
        if bearing[i]:
            count += 1
            for k in range(3):
                out[k] += places[i, k] - reference[i, k]
    for k in range(3):
        out[k] /= count
    return out


@kernel
def capture_share(
    edges: Array, com: Array, momentum: Array, goal: Array, goal_velocity: Array, goal_momentum: Array, pivot: Array,
    omega: float, mass: float, weight: float, angular_share: float,
) -> float:  # fmt: skip
    """Returns how far the error of the capture point reaches from `pivot` towards the edge of the support: 1 on it.

    `pivot` is the centre of pressure that the reference has: at rest the CoM's goal. The error of the capture point is
    c - c_r + (c' - c'_r)/omega. Angular momentum H = momentum[:3] beyond the reference's tips the body over as well: a
    share of it counts as x + omega (H_y - H_ry) / m g and y - omega (H_x - H_rx) / m g.
    """
    tip = angular_share * omega / weight
    x = com[0] - goal[0] + (momentum[3] / mass - goal_velocity[0]) / omega + tip * (momentum[1] - goal_momentum[1])
    y = com[1] - goal[1] + (momentum[4] / mass - goal_velocity[1]) / omega - tip * (momentum[0] - goal_momentum[0])
    return share_of_way(edges, pivot[0], pivot[1], pivot[0] + x, pivot[1] + y)


# -- the ground's force ----------------------------------------------------------------------------------------------


def clamp_force(force: Array, normal: Array, weight: float, low: float, high: float, friction: float) -> Array:
    """Returns the ground's force with its normal part in [low, high] weights and its tangent within the friction cone.

    Macchietto 2009, eq. 15 and 16.
    """
    N = float(force @ normal)
    tangent = force - N * normal
    N = min(max(N, low * weight), high * weight)
    size = float(np.sqrt(tangent @ tangent))
    if size > friction * N:
        tangent = tangent * (friction * N / size)
    return tangent + N * normal


def pressure_centre(com: Array, force: Array, moment: Array, ground: float) -> Array:
    """Returns where a force must act on the plane z = ground to have this moment about the CoM.

    Macchietto 2009, eq. 2; 2008, eq. 3.3 to 3.6. The vertical force is kept above zero: without one there is no centre
    of pressure.
    """
    up = max(float(force[2]), 1e-3 * float(np.abs(force).sum()) + 1e-9)
    drop = ground - float(com[2])
    x = (drop * force[0] - moment[1]) / up
    y = (drop * force[1] + moment[0]) / up
    return np.array([com[0] + x, com[1] + y, ground])


def moment_about(com: Array, place: Array, force: Array) -> Array:
    """Returns the moment (p - c) x f of a force at a place about the CoM (Macchietto 2009, eq. 2 and 9)."""
    x, y, z = place - com
    return np.array([y * force[2] - z * force[1], z * force[0] - x * force[2], x * force[1] - y * force[0]])


def pivot_distance(snapshot: Snapshot, stance: Stance, multipliers: Array) -> float:
    """Returns the distance [m] from the centre of pressure to the centroidal moment pivot (Macchietto 2008, eq. 5.17).

    It is the horizontal part of the moment of the ground's forces about the CoM, divided by their vertical part.
    """
    forces = stance.force(multipliers)
    total = forces.sum(axis=0)
    moment = np.cross(stance.goal - snapshot.com, forces).sum(axis=0)
    least = LEAST_PRESSURE * snapshot.character.weight
    return float(np.hypot(moment[0], moment[1]) / max(float(total[2]), least, 1e-9))


_REST, _UP = np.zeros(3), np.array([0.0, 0.0, 1.0])
