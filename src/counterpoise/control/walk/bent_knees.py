"""BentKnees: a knee that is nearly straight, or bent the wrong way, bends.

A straight leg cannot push, and a leg that is bent the wrong way is as long as one that is bent the right way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.walking_body import WalkingBody, WalkingLeg
from counterpoise.objectives import Objective, Rows

if TYPE_CHECKING:
    from counterpoise.objectives import Stance

NEAR_STRAIGHT = 0.15  # [rad] of bend below which a knee is watched
LEAST_BEND = 0.06  # [rad] that it is bent to
STIFFNESS, DAMPING = 38.0, 12.3  # [1/leg time^2, 1/leg time]
LARGEST = 14.0  # [rad/leg time^2] that is asked for


@dataclass(frozen=True, eq=False)
class BentKnees(Objective):
    """v' of the knee's hinge = k (least bend - bend) - d rate, for every knee that is watched."""

    legs: tuple[WalkingLeg, ...]  # whose knees are watched
    wanted: tuple[float, ...]  # acceleration of each [rad/s^2]
    weight: float = 1.0
    name: str = "bent knees"

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        A = np.zeros((len(self.legs), snapshot.character.nv))
        for i, leg in enumerate(self.legs):
            A[i, leg.knee] = 1.0
        return Rows(A, np.array(self.wanted))


@dataclass(frozen=True, eq=False)
class KneesAtLeastBent(BentKnees):
    """The same, but a knee may bend sooner: hips that sink from straight legs bend them fast."""

    at_most: ClassVar[bool] = True

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        A, b = np.zeros((len(self.legs), snapshot.character.nv)), np.empty(len(self.legs))
        for i, leg in enumerate(self.legs):
            A[i, leg.knee] = -leg.knee_sign
            b[i] = -leg.knee_sign * self.wanted[i]
        return Rows(A, b, at_most=True)


def bent_knees(snapshot: Snapshot, body: WalkingBody, weight: float, free: bool = False) -> BentKnees | None:
    """Returns the objective of the knees that are nearly straight and do not bend; None where there are none."""
    legs, wanted = [], []
    clock = body.leg_time
    for leg in body.legs:
        bend = leg.knee_sign * (float(snapshot.q[leg.knee_at]) - leg.knee_straight)
        if bend > NEAR_STRAIGHT:
            continue
        rate = leg.knee_sign * float(snapshot.v[leg.knee])
        pull = STIFFNESS / clock**2 * (LEAST_BEND - bend) - DAMPING / clock * rate
        if pull > 0.0:
            legs.append(leg)
            wanted.append(leg.knee_sign * min(pull, LARGEST / clock**2))
    if not legs:
        return None
    made = KneesAtLeastBent if free or body.stands_straight else BentKnees
    return made(tuple(legs), tuple(wanted), weight)
