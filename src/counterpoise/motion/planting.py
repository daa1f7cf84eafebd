"""Kinematics for making reference motions: contact points, centre of mass, and a pose that keeps its feet.

A private scratch MjData stays inside `Scratch`; nothing else in this room asks MuJoCo where a body is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character import Character, Foot

# Weights of the rows of `planted`, of which posture (by dof) is given by the caller [1/m, 1/rad]
PLANT, BALANCE, HEIGHT, BOUND = 1000.0, 30.0, 10.0, 300.0


@dataclass(frozen=True)
class Plant:
    """What a pose must keep: feet where they are, the CoM over a place, the root at a height."""

    feet: tuple[Foot, ...]  # these do not move
    places: Array  # (m, 3) where their contact points are
    balance: Array  # (2,) where the CoM is above, x and y
    height: float  # of the root body [m]
    swinging: tuple[Foot, ...] = ()  # these stay above the ground


class Scratch:
    """A character that can be put into poses and measured."""

    def __init__(self, character: Character) -> None:
        self.character = character
        self.model = character.model
        self._data = mujoco.MjData(self.model)
        self._root = self.model.body(character.root).id
        self._bodies = {
            point.body: int(self.model.body(point.body).id) for foot in character.feet for point in foot.points
        }
        self._jac = np.zeros((3, self.model.nv))

    def put(self, q: Array) -> None:
        self._data.qpos[:] = q
        mujoco.mj_kinematics(self.model, self._data)
        mujoco.mj_comPos(self.model, self._data)

    def points(self, feet: Sequence[Foot]) -> Array:
        """World positions (m, 3) of the contact points of `feet`."""
        return np.array([self._point(p.body, p.position) for foot in feet for p in foot.points]).reshape(-1, 3)

    def point_jacobians(self, feet: Sequence[Foot]) -> Array:
        """(m, 3, nv), world."""
        out = []
        for foot in feet:
            for p in foot.points:
                mujoco.mj_jac(
                    self.model,
                    self._data,
                    self._jac,
                    None,
                    self._point(p.body, p.position),
                    self._bodies[p.body],
                )
                out.append(self._jac.copy())
        return np.array(out).reshape(-1, 3, self.model.nv)

    def _point(self, body: str, position: tuple[float, float, float]) -> Array:
        b = self._bodies[body]
        return self._data.xpos[b] + self._data.xmat[b].reshape(3, 3) @ np.array(position)

    def com(self) -> Array:
        """(3,), world."""
        return self._data.subtree_com[self._root].copy()

    def com_jacobian(self) -> Array:
        """(3, nv), world."""
        mujoco.mj_jacSubtreeCom(self.model, self._data, self._jac, self._root)
        return self._jac.copy()

    def root_height(self) -> float:
        return float(self._data.xpos[self._root, 2])

    def root_height_row(self) -> Array:
        """(nv,)"""
        mujoco.mj_jac(self.model, self._data, self._jac, None, self._data.xpos[self._root], self._root)
        return self._jac[2].copy()

    def body_frame(self, body: str) -> Array:
        """(3, 3) rotation of a body to the world."""
        return self._data.xmat[self.model.body(body).id].reshape(3, 3).copy()

    def body_position(self, body: str) -> Array:
        return self._data.xpos[self.model.body(body).id].copy()


def planted(scratch: Scratch, wanted: Array, keep: Plant, posture: Array, steps: int) -> Array:
    """Of the poses that keep what `keep` says, the one nearest to `wanted`: damped Gauss-Newton from there.

    `posture` (nv,) weighs the nearness of each coordinate. Joint limits and the ground under a swinging foot
    are inequalities: those that a step would break join the step's equations.
    """
    character = scratch.character
    q = character.limits.clamp(wanted)
    for _ in range(steps):
        scratch.put(q)
        J = np.vstack(
            [
                PLANT * scratch.point_jacobians(keep.feet).reshape(-1, character.nv),
                BALANCE * scratch.com_jacobian()[:2],
                HEIGHT * scratch.root_height_row()[None],
                np.diag(posture),
            ]
        )
        r = np.concatenate(
            [
                PLANT * (scratch.points(keep.feet) - keep.places).reshape(-1),
                BALANCE * (scratch.com()[:2] - keep.balance),
                [HEIGHT * (scratch.root_height() - keep.height)],
                posture * character.difference(wanted, q),
            ]
        )
        G = np.vstack([character.limits.jacobian(q), -scratch.point_jacobians(keep.swinging)[:, 2]])
        g = np.concatenate([character.limits.values(q), -scratch.points(keep.swinging)[:, 2]])
        step = _step(J.T @ J + 1e-6 * np.eye(character.nv), J.T @ r, G, g)
        size = float(np.abs(step).max())
        q = character.integrate(q, step * min(1.0, 0.4 / max(size, 1e-12)))
        if character.limits.values(q).max(initial=0.0) > 0.0:
            q = character.limits.clamp(q)
        if size < 1e-6:
            break
    return q


def _step(H: Array, b: Array, G: Array, g: Array) -> Array:
    """Minimise x H x / 2 + b x with g + G x <= 0 as stiff rows, found by letting broken rows join."""
    active = np.zeros(len(g), dtype=bool)
    x: Array = np.asarray(-np.linalg.solve(H, b), dtype=np.float64)
    for _ in range(6):
        broken = (g + G @ x > 1e-6) & ~active
        if not broken.any():
            break
        active |= broken
        A = BOUND * G[active]
        x = np.asarray(-np.linalg.solve(H + A.T @ A, b + A.T @ (BOUND * g[active])), dtype=np.float64)
    return x
