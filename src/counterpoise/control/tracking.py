"""How far a body is from the pose that it follows."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.manifold import batch_difference
from counterpoise.character.snapshot import Snapshot
from counterpoise.kernels import kernel


def tracking_error(snapshot: Snapshot, q: Array) -> float:
    """Returns the root of the mean square of the joints' errors [rad]."""
    character = snapshot.character
    return mean_error(character.layout, character.root_dofs.stop, character.nv, snapshot.q, q)


@kernel
def mean_error(layout: Ints, root: int, nv: int, q: Array, wanted: Array) -> float:
    """Returns the error of `tracking_error`."""
    e = batch_difference(layout, nv, q.reshape(1, -1), wanted.reshape(1, -1))
    total = 0.0
    for j in range(root, nv):
        total += e[0, j] * e[0, j]
    return float(np.sqrt(total / max(nv - root, 1)))
