"""Linear relations among joint coordinates: what `Couple` asks for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character


@dataclass(frozen=True, eq=False)
class Relation:
    """low <= sum of factor x coordinate <= high. Coordinates of a ball are those of its rotation vector."""

    name: str
    coefficients: tuple[tuple[str, int, float], ...]  # joint, component, factor
    low: float
    high: float

    def value(self, character: Character, q: Array) -> tuple[float, Array]:
        """Returns the sum and its gradient (nv,)."""
        total, row = 0.0, np.zeros(character.nv)
        for name, index, factor in self.coefficients:
            joint = character.joint(name)
            if joint.kind == "ball":
                turn = spatial.log(q[joint.qpos])
                total += factor * float(turn[index])
                row[joint.dofs] += factor * spatial.right_jacobian_inverse(turn)[index]
            else:
                total += factor * float(q[joint.qpos][index])
                row[joint.dofs.start + index] += factor
        return total, row

    def moved_by(self, character: Character) -> Flags:
        """Returns which dofs (nv,) can change it."""
        moves = np.zeros(character.nv, bool)
        for name, index, _ in self.coefficients:
            joint = character.joint(name)
            moves[joint.dofs if joint.kind == "ball" else joint.dofs.start + index] = True
        return moves
