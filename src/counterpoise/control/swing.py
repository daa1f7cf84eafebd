"""SwingFeet: feet in the air, and raised heels, follow those of the reference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.reference import ReferenceSample
from counterpoise.control.support import Support
from counterpoise.objectives import Objective, Rows

if TYPE_CHECKING:
    from counterpoise.objectives import Stance


@dataclass(frozen=True, eq=False)
class SwingFeet(Objective):
    """Raised points of feet follow the reference's, so that they come down where the reference puts them.

    J a = k (p_r - p) + 2 sqrt(k) (v_r - v) + a_r - drift at every raised contact point. The reference is
    moved by `offset` and carried by the ground under the other feet.
    """

    reference: ReferenceSample
    offset: Array  # (3,) [m] of the planted feet from the reference's
    support: Support  # the planted feet
    stiffness: float  # k [1/s^2]
    weight: float = 1.0
    name: str = "swing feet"

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        """Returns three rows for each raised point."""
        at, goal, k = self.reference.contact.raised, self.reference.snapshot, self.stiffness
        assert goal is not None
        wanted = k * (goal.contact_position[at] + self.offset - snapshot.contact_position[at])
        rate = goal.contact_velocity[at] + self.support.velocity - snapshot.contact_velocity[at]
        wanted += 2.0 * math.sqrt(k) * rate
        wanted += self.support.acceleration - snapshot.contact_drift[at]
        wanted += goal.contact_jacobian[at] @ self.reference.a + goal.contact_drift[at]
        return Rows(snapshot.contact_jacobian[at].reshape(-1, snapshot.character.nv), wanted.reshape(-1))
