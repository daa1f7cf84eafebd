"""Poses that keep their feet, for making reference motions and crouches: the nearest pose with given contact points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character import Character, Foot
from counterpoise.character.kinematics import BatchKinematics

# Weights of the rows of `planted`; the weights of the posture are given by the caller [1/m, 1/rad]
FEET_WEIGHT = 1000.0  # [1/m]
COM_WEIGHT = 30.0  # [1/m]
HEIGHT_WEIGHT = 10.0  # [1/m]
LIMIT_WEIGHT = 300.0  # [1/m, 1/rad] joint limits, and the ground under swinging feet
MAX_STEP = 0.4  # [m, rad] of any coordinate in one iteration
CONVERGED_STEP = 1e-6  # [m, rad]
DAMPING = 1e-6


@dataclass(frozen=True)
class Plant:
    """What a pose must keep: feet in their places, the CoM over a point of the ground, the root at a height."""

    feet: tuple[Foot, ...]  # feet that do not move
    places: Array  # (m, 3) of their contact points [m]
    balance: Array  # (2,) x and y of the CoM [m]
    height: float  # of the root body [m]
    swinging: tuple[Foot, ...] = ()  # feet that stay above the ground


def foot_points(now: BatchKinematics, feet: Sequence[Foot]) -> Array:
    """Returns the world positions (m, 3) of the contact points of `feet`, in the first pose of `now`."""
    return np.asarray(now.points(*_contact_points(now.character, feet))[0])


def planted(character: Character, wanted: Array, keep: Plant, posture: Array, steps: int) -> Array:
    """Returns the pose nearest to `wanted` that keeps what `keep` says, by damped Gauss-Newton from `wanted`.

    `posture` (nv,) weighs the distance of each coordinate from `wanted`. Joint limits and the ground under a swinging
    foot are inequalities: those that a step would break are added to its equations.
    """
    limits, root = character.limits, character.root
    standing, swinging = (_contact_points(character, feet) for feet in (keep.feet, keep.swinging))
    q = limits.clamp(wanted)
    for _ in range(steps):
        now = BatchKinematics(character, q[None])
        points, free_points = now.points(*standing), now.points(*swinging)
        J = np.vstack(
            [
                FEET_WEIGHT * now.point_jacobians(standing[0], points)[0].reshape(-1, character.nv),
                COM_WEIGHT * now.com_jacobian[0, :2],
                HEIGHT_WEIGHT * now.jacobian(root)[0, 2:],
                np.diag(posture),
            ]
        )
        r = np.concatenate(
            [
                FEET_WEIGHT * (points[0] - keep.places).reshape(-1),
                COM_WEIGHT * (now.com[0, :2] - keep.balance),
                HEIGHT_WEIGHT * (now.position(root)[0, 2:] - keep.height),
                posture * character.difference(wanted, q),
            ]
        )
        G = np.vstack([limits.jacobian(q), -now.point_jacobians(swinging[0], free_points)[0, :, 2]])
        g = np.concatenate([limits.values(q), -free_points[0, :, 2]])
        step = _step(J.T @ J + DAMPING * np.eye(character.nv), J.T @ r, G, g)
        size = float(np.abs(step).max())
        q = character.integrate(q, step * min(1.0, MAX_STEP / max(size, 1e-12)))
        if limits.values(q).max(initial=0.0) > 0.0:
            q = limits.clamp(q)
        if size < CONVERGED_STEP:
            break
    return q


def _contact_points(character: Character, feet: Sequence[Foot]) -> tuple[Ints, Array]:
    """Returns the bodies (m,) of the contact points of `feet` and the places (m, 3) of these in the bodies' frames."""
    points = [point for foot in feet for point in foot.points]
    bodies = np.array([character.body_id(point.body) for point in points], dtype=np.int64)
    return bodies, np.array([point.position for point in points]).reshape(-1, 3)


def _step(H: Array, b: Array, G: Array, g: Array) -> Array:
    """Returns the x that minimises x H x / 2 + b x, with each broken row of g + G x <= 0 added as a stiff equation."""
    active = np.zeros(len(g), dtype=bool)
    x: Array = np.asarray(-np.linalg.solve(H, b), dtype=np.float64)
    for _ in range(6):
        broken = (g + G @ x > 1e-6) & ~active
        if not broken.any():
            break
        active |= broken
        A = LIMIT_WEIGHT * G[active]
        x = np.asarray(-np.linalg.solve(H + A.T @ A, b + A.T @ (LIMIT_WEIGHT * g[active])), dtype=np.float64)
    return x
