"""Joints: the whole posture on its manifold, and single joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.joints import Joint
from counterpoise.character.kinematics import Kinematics
from counterpoise.character.snapshot import Snapshot
from counterpoise.features.base import Feature


@dataclass(frozen=True, eq=False)
class WholePosture(Feature):
    """All coordinates of a body; differences are tangent vectors (nv)."""

    character: Character
    unit = "rad"

    @property
    def name(self) -> str:
        return "posture"

    def value(self, kinematics: Kinematics) -> Array:
        return kinematics.q.copy()

    def jacobian(self, kinematics: Kinematics) -> Array:
        nv = self.character.nv
        return np.broadcast_to(np.eye(nv), (*kinematics.q.shape[:-1], nv, nv)).copy()

    def drift(self, snapshot: Snapshot) -> Array:
        return np.zeros(self.character.nv)

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        return self.character.difference(start, end)

    def difference_rate(self, difference: Array) -> Array:
        nv = self.character.nv
        rate = np.broadcast_to(np.eye(nv), (*difference.shape[:-1], nv, nv)).copy()
        for joint in self.character.joints:
            rate[..., joint.dofs, joint.dofs] = _difference_rate(joint, difference[..., joint.dofs])
        return rate


@dataclass(frozen=True, eq=False)
class JointValue(Feature):
    """Coordinates of one joint: angles [rad], a slide [m], or a ball's quaternion."""

    character: Character
    joint: str

    @property
    def name(self) -> str:
        return f"joint {self.joint}"

    @property
    def unit(self) -> str:
        return "m" if self._joint.kind == "slide" else "rad"

    def value(self, kinematics: Kinematics) -> Array:
        return kinematics.q[..., self._joint.qpos].copy()

    def jacobian(self, kinematics: Kinematics) -> Array:
        rows = np.eye(self.character.nv)[self._joint.dofs]
        return np.broadcast_to(rows, (*kinematics.q.shape[:-1], *rows.shape)).copy()

    def drift(self, snapshot: Snapshot) -> Array:
        return np.zeros(self._joint.nv)

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        a, b = np.asarray(start, float), np.asarray(end, float)
        if self._joint.kind == "ball":
            return spatial.difference(a, b)
        if self._joint.kind == "free":
            return np.concatenate([b[..., :3] - a[..., :3], spatial.difference(a[..., 3:], b[..., 3:])], axis=-1)
        return b - a

    def difference_rate(self, difference: Array) -> Array:
        return _difference_rate(self._joint, difference)

    def moved_by(self, character: Character) -> Flags:
        moves = np.zeros(character.nv, bool)
        moves[self._joint.dofs] = True
        return moves

    @property
    def _joint(self) -> Joint:
        return self.character.joint(self.joint)


def _difference_rate(joint: Joint, difference: Array) -> Array:
    """How a joint's difference changes with its dofs: a rotation's log(a^-1 b) by the right Jacobian's inverse."""
    n = difference.shape[-1]
    rate = np.broadcast_to(np.eye(n), (*difference.shape[:-1], n, n)).copy()
    if joint.kind in ("ball", "free"):
        rate[..., -3:, -3:] = spatial.right_jacobian_inverse(difference[..., -3:])
    return rate
