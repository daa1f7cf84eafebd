"""State: where a body is and how it moves, at one instant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.quick import quick


@dataclass(frozen=True, eq=False)
class State:
    """Position q (nq), velocity v (nv) and time [s]; the arrays are read-only copies."""

    q: Array
    v: Array
    time: float = 0.0

    def __post_init__(self) -> None:
        for name in ("q", "v"):
            values = np.array(getattr(self, name), float)
            values.flags.writeable = False
            object.__setattr__(self, name, values)


def state_of(q: Array, v: Array, time: float) -> State:
    """The same as `State(q, v, time)`, made quickly from arrays of numbers."""
    own_q, own_v = q.copy(), v.copy()
    own_q.setflags(write=False)
    own_v.setflags(write=False)
    return quick(State, q=own_q, v=own_v, time=time)
