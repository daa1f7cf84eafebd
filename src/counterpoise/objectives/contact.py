"""Contact: holds the points of planted feet where they were planted on their surface (de Lasa 2011, section 4.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.objectives.base import Objective, Rows, check_weight
from counterpoise.objectives.setpoint import Axes, check_gains, indices, picked
from counterpoise.objectives.writing import HELD_POINTS, Record

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance


@dataclass(frozen=True, eq=False)
class Contact(Objective):
    """J a + drift = a_s + k_v (v_s - v) + k_p (p_s - p) at every point of every planted foot, p_s on the surface.

    The spring stabilises a constraint that is written on accelerations (Baumgarte). v_s and a_s are the surface's own
    motion, so that feet move with a moving ground. The stance holds which feet are planted, and where.
    """

    feet: Sequence[str] | None = None  # only these feet; None: all planted feet
    stiffness: float = 400.0  # k_p [1/s^2]
    damping: float | None = None  # k_v [1/s]; None: critical, 2 sqrt(k_p)
    axes: Axes = None  # world axes of the rows; a planar figure needs only "xz"; None: all
    weight: float = 1.0
    name: str = "contact"

    def __post_init__(self) -> None:
        check_weight(self)
        check_gains(self.name, self.stiffness, self.damping, None)
        object.__setattr__(self, "axes", picked(self.axes))

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        """Returns three rows for every held point (fewer with `axes`), in the order of the contact points."""
        stance = _checked(stance)
        keep = stance.held
        if self.feet is not None:
            chosen = {snapshot.character.foot(name).name for name in self.feet}
            named = np.array([f.name in chosen for f in snapshot.character.feet for _ in f.points], bool)
            keep = keep & named
        k_v = 2.0 * np.sqrt(self.stiffness) if self.damping is None else self.damping
        wanted = self.stiffness * (stance.goal - snapshot.contact_position)
        wanted += k_v * (stance.goal_velocity - snapshot.contact_velocity)
        wanted += stance.goal_acceleration
        wanted -= snapshot.contact_drift
        J = snapshot.contact_jacobian
        if not keep.all():
            J, wanted = J[keep], wanted[keep]
        axes = indices(self.axes)
        if axes is not None:
            J, wanted = J[:, axes], wanted[:, axes]
        return Rows(J.reshape(-1, snapshot.character.nv), wanted.reshape(-1))

    def record(self, snapshot: Snapshot, stance: Stance | None, beta: float) -> Record | None:
        if self.feet is not None or self.axes is not None:
            return None
        _checked(stance)
        k_v = 2.0 * math.sqrt(self.stiffness) if self.damping is None else self.damping
        return HELD_POINTS, beta, self.stiffness, k_v


def _checked(stance: Stance | None) -> Stance:
    if stance is None:
        raise BadValue("Contact needs a character with feet, and a footing: give footing=Footing()")
    return stance
