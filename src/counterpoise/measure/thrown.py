"""Whether a thrown prop touched a figure: read from the recorded contacts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.errors import BadValue
from counterpoise.simulate.recording import Recording


@dataclass(frozen=True)
class PropHit:
    """The first touch of a prop."""

    time: float  # [s]
    body: str  # what it touched
    force: float  # [N] of that first moment


def prop_hit(recording: Recording, prop: int = 0, figure: int = 0) -> PropHit | None:
    """Returns the first touch of a prop and a figure; None where they never touched."""
    count = len(recording.meta.get("props", []))
    if not isinstance(prop, int) or not 0 <= prop < count:
        raise BadValue(f"there is no prop {prop!r}; this recording has {count}, given by number, from 0")
    ball = recording.model.nbody - count + prop  # props come last
    bodies, own = recording.contacts.bodies, recording.places[figure].bodies
    touches = (bodies == ball).any(axis=1) & ((bodies >= own.start) & (bodies < own.stop)).any(axis=1)
    if not touches.any():
        return None
    first = int(np.argmax(touches))
    row = int(np.searchsorted(recording.contacts.start, first, side="right")) - 1
    pair = bodies[first].tolist()
    other = pair[0] if pair[1] == ball else pair[1]
    force = float(np.linalg.norm(recording.contacts.force[first]))
    return PropHit(float(recording.time[row]), recording.model.body(other).name, force)
