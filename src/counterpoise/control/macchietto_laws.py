"""Macchietto's control laws: what the momenta and the joints should do, as numbers; nothing is solved here.

Everything is about the CoM c and in the world frame; f = L' - m g is the ground's force, p its centre of pressure:

    linear    L'_des = m (k_l (c_r - c) + d_l (c_r' - c') + c_r''), clamped so that f is in the cone (2009, 5-7, 15, 16)
    angular   H'_des = (p_des - c) x (L'_des - m g), p_des by p'' = k_h (p_r - p) - d_h p'                  (2009, 8-10)
    2008      H'_des = 0, weighed by the distance from the CoP to the centroidal moment pivot             (5.15 to 5.17)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.kernels import kernel
from counterpoise.objectives import Stance
from counterpoise.solve.polygon import hull_edges, nearest_inside


@dataclass(frozen=True, eq=False)
class Support:
    """What the body stands on now: the hull of the planted feet's points, seen from above."""

    edges: Array  # (e, 3) half-planes n . x <= d
    centre: Array  # (3,) mean of the points [m]
    velocity: Array  # (3,) of the ground there
    acceleration: Array  # (3,)
    normal: Array  # (3,) mean normal of the ground
    depth: float  # [m] about the half width of the support

    def inside(self, place: Array, margin: float) -> Array:
        """The nearest place on the support, `margin` (a share of its half width) from its edges; height is kept."""
        x, y = nearest_inside(self.edges, float(place[0]), float(place[1]), margin * self.depth)
        return np.array([x, y, place[2]])


def find_support(stance: Stance) -> Support | None:
    """None in the air."""
    held = stance.held & (stance.share > 0.0)
    for_foot = held if held.any() else stance.held
    if not for_foot.any():
        return None
    points = stance.goal[for_foot]
    normal = stance.basis[for_foot].sum(axis=(0, 2))
    spread = points[:, :2] - points[:, :2].mean(axis=0)
    return Support(
        hull_edges(np.ascontiguousarray(points[:, :2])),
        points.mean(axis=0),
        stance.goal_velocity[for_foot].mean(axis=0),
        stance.goal_acceleration[for_foot].mean(axis=0),
        normal / max(float(np.linalg.norm(normal)), 1e-12),
        float(np.sqrt(max(np.linalg.eigvalsh(spread.T @ spread / len(spread))[0], 1e-8))),
    )


@kernel
def tracking_law(
    error: Array, v: Array, v_ref: Array, a_ref: Array, stiffness: Array, damping: Array, beyond: Array, stiffen: float
) -> Array:
    """a_des = k_t (q_r - q) + d_t (v_r - v) + a_r (2009, eq. 11), stiffer where a joint is past its limits (6.5, 6.6).

    k' = k + l e with e the violation of swing cone and twist together; damping grows with the root of it, so that the
    joint stays as well damped as it was.
    """
    out = np.empty(len(error))
    for j in range(len(error)):
        more = np.sqrt(1.0 + stiffen * beyond[j])
        out[j] = stiffness[j] * more * more * error[j] + damping[j] * more * (v_ref[j] - v[j]) + a_ref[j]
    return out


@kernel
def beyond_limits(values: Array, columns: Ints, nv: int, margin: float) -> Array:
    """(nv,) how far the joint of each row is past a place `margin` before its limits, cones and twists summed."""
    out = np.zeros(nv)
    for i in range(len(values)):
        over = values[i] + margin
        if over > 0.0:
            for k in range(3):
                if columns[i, k] >= 0:
                    out[columns[i, k]] += over
    return out


def clamp_force(force: Array, normal: Array, weight: float, low: float, high: float, friction: float) -> Array:
    """The ground's force with its normal part in [low, high] body weights and its tangent within the cone (15, 16)."""
    N = float(force @ normal)
    tangent = force - N * normal
    N = min(max(N, low * weight), high * weight)
    size = float(np.sqrt(tangent @ tangent))
    if size > friction * N:
        tangent = tangent * (friction * N / size)
    return tangent + N * normal


def pressure_centre(com: Array, force: Array, moment: Array, ground: float) -> Array:
    """Where a force must act on the plane z = ground to have this moment about the CoM (2009, eq. 2; 2008, 3.3-3.6).

    The force's share that presses is kept away from zero, as a body that is let go has no centre of pressure.
    """
    up = max(float(force[2]), 1e-3 * float(np.abs(force).sum()) + 1e-9)
    drop = ground - float(com[2])
    x = (drop * force[0] - moment[1]) / up
    y = (drop * force[1] + moment[0]) / up
    return np.array([com[0] + x, com[1] + y, ground])


def pressure_law(now: Array, rate: Array, wanted: Array, stiffness: float, damping: float, ahead: float) -> Array:
    """p_des: p'' = k_h (p_r - p) - d_h p' integrated over `ahead` seconds (2009, eq. 8)."""
    acceleration = stiffness * (wanted - now) - damping * rate
    return now + ahead * (rate + ahead * acceleration)


def moment_of(place: Array, com: Array, force: Array) -> Array:
    """H' = (p - c) x f (2009, eq. 2 and 9)."""
    x, y, z = place - com
    return np.array([y * force[2] - z * force[1], z * force[0] - x * force[2], x * force[1] - y * force[0]])


def pivot_distance(snapshot: Snapshot, stance: Stance, multipliers: Array) -> float:
    """|CoP - CMP| [m] under the ground's forces: their moment about the CoM, across, over what presses (2008, 5.17)."""
    forces = stance.force(multipliers)
    total = forces.sum(axis=0)
    moment = np.cross(stance.goal - snapshot.com, forces).sum(axis=0)
    floor = 0.05 * gravity_of(snapshot.character)[2] * -snapshot.character.mass
    return float(np.hypot(moment[0], moment[1]) / max(float(total[2]), floor, 1e-9))


def gravity_of(character: Character) -> Array:
    """(3,) [m/s^2]"""
    found = character.__dict__.get("_gravity")
    if found is None:
        found = character.__dict__["_gravity"] = np.array(character.model.opt.gravity, float)
    assert isinstance(found, np.ndarray)
    return found
