"""Joints: the whole posture on its manifold, and single joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.features.base import Feature


@dataclass(frozen=True, eq=False)
class WholePosture(Feature):
    """All coordinates of a body; differences are tangent vectors (nv)."""

    character: Character

    @property
    def name(self) -> str:
        return "posture"

    @property
    def unit(self) -> str:
        return "rad"

    def value(self, snapshot: Snapshot) -> Array:
        return snapshot.q.copy()

    def jacobian(self, snapshot: Snapshot) -> Array:
        return np.eye(snapshot.character.nv)

    def drift(self, snapshot: Snapshot) -> Array:
        return np.zeros(snapshot.character.nv)

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        return self.character.difference(start, end)


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
        return "m" if self.character.joint(self.joint).kind == "slide" else "rad"

    def value(self, snapshot: Snapshot) -> Array:
        return snapshot.q[self.character.joint(self.joint).qpos].copy()

    def jacobian(self, snapshot: Snapshot) -> Array:
        return np.eye(self.character.nv)[self.character.joint(self.joint).dofs]

    def drift(self, snapshot: Snapshot) -> Array:
        return np.zeros(self.character.joint(self.joint).nv)

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        kind = self.character.joint(self.joint).kind
        a, b = np.asarray(start, float), np.asarray(end, float)
        if kind == "ball":
            return spatial.difference(a, b)
        if kind == "free":
            return np.concatenate([b[:3] - a[:3], spatial.difference(a[3:], b[3:])])
        return b - a
