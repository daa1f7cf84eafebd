"""Vectors between the world, the frame of a solid and the view."""

from __future__ import annotations

from counterpoise.arrays import Array
from counterpoise.kernels import fast_kernel
from counterpoise.render.raycast.tables import ROTATION


@fast_kernel
def into(S: Array, i: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Returns a world vector in the frame of solid i."""
    return (
        S[i, ROTATION] * x + S[i, ROTATION + 3] * y + S[i, ROTATION + 6] * z,
        S[i, ROTATION + 1] * x + S[i, ROTATION + 4] * y + S[i, ROTATION + 7] * z,
        S[i, ROTATION + 2] * x + S[i, ROTATION + 5] * y + S[i, ROTATION + 8] * z,
    )


@fast_kernel
def outof(S: Array, i: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Returns a vector of the frame of solid i in the world."""
    return (
        S[i, ROTATION] * x + S[i, ROTATION + 1] * y + S[i, ROTATION + 2] * z,
        S[i, ROTATION + 3] * x + S[i, ROTATION + 4] * y + S[i, ROTATION + 5] * z,
        S[i, ROTATION + 6] * x + S[i, ROTATION + 7] * y + S[i, ROTATION + 8] * z,
    )


@fast_kernel
def along(V: Array, row: int, x: float, y: float, z: float) -> float:
    """Returns the product of a vector with three numbers of the view."""
    return V[row] * x + V[row + 1] * y + V[row + 2] * z
