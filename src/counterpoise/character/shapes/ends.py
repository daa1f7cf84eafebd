"""Where a body ends and where its middle is: the places a hand holds or presses with when none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.shapes.solid import body_solids

if TYPE_CHECKING:
    from counterpoise.character.character import Character


def middle_of(character: Character, body: int) -> Array:
    """The centre (3,) of a body's first solid, in the body's frame; of its mass where it has no shape."""
    solids = body_solids(character, body)
    return (solids[0].centre if solids else np.asarray(character.model.body_ipos[body])).copy()


def end_of(character: Character, body: int) -> Array:
    """The end (3,) of a body's first solid that is away from the body's joint, in the body's frame.

    It lies on the longest axis of the box about the solid; of a sphere on the line from the joint through its centre.
    The centre of mass where the body has no shape.
    """
    solids = body_solids(character, body)
    if not solids:
        return np.array(character.model.body_ipos[body])
    first = solids[0]
    longest = int(np.argmax(first.half))
    if first.radius > 0.0 and len(first.corners) == 1:
        way = first.centre / max(float(np.linalg.norm(first.centre)), 1e-9)
    else:
        way = first.frame[:, longest] * (1.0 if first.centre @ first.frame[:, longest] >= 0.0 else -1.0)
    return np.asarray(first.centre + float(first.half[longest]) * way)
