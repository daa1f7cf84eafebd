"""Effectors between keyframes: points that go from key to key on a line or an arc."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.curves import ease
from counterpoise.motion.keyframes import SPLINE, Keyframe
from counterpoise.pose.goals import PoseGoal, Reach

Way: TypeAlias = str | tuple[str, float]
"""How an effector goes from key to key: "straight", "arc", or ("arc", height [m])."""
Effector: TypeAlias = str | tuple[str, tuple[float, float, float]]
"""A body, or a body and a point in its frame."""

ARC_HEIGHT = 0.25  # of an arc without a given height, as a share of its chord
MAX_ARC_HEIGHT = 100.0  # [m]: higher arcs are most likely in wrong units


@dataclass(frozen=True, eq=False)
class EffectorPath:
    """A point of a body that goes from key to key on a line or an arc."""

    body: str
    point: tuple[float, float, float]
    height: float | None  # of its arcs [m]; None: a share of the chord
    arc: bool
    keys: tuple[tuple[float, float, str], ...]  # time of arrival, time of departure, ease
    places: Array  # (k, 3)

    def goals(self, t: float) -> list[PoseGoal]:
        return [Reach(self.body, tuple(self.at(t).tolist()), self.point)]

    def at(self, t: float) -> Array:
        """Returns the place at t: along the chord by the key's ease, at rest at both ends; an arc adds a parabola."""
        for i, ((_, departs, _), (arrives, _, eased)) in enumerate(pairwise(self.keys)):
            if t < arrives:
                a, b = self.places[i], self.places[i + 1]
                s = float(ease((t - departs) / (arrives - departs), "smoother" if eased == SPLINE else eased))
                top = 0.0
                if self.arc:
                    top = ARC_HEIGHT * float(np.linalg.norm(b - a)) if self.height is None else self.height
                return a + s * (b - a) + np.array([0.0, 0.0, 4.0 * top * s * (1.0 - s)])
        return self.places[-1]


def read_effector(
    character: Character, which: Effector, way: Way, keys: Sequence[Keyframe], snapshots: Sequence[Snapshot]
) -> EffectorPath:
    """Returns the path of an effector through its places at the keys."""
    body, point = (which, (0.0, 0.0, 0.0)) if isinstance(which, str) else which
    character.body_id(body)
    kind, height = (way, None) if isinstance(way, str) else way
    if kind not in ("straight", "arc"):
        raise unknown_name("way from key to key", kind, ("straight", "arc"))
    if height is not None and not (np.isfinite(height) and abs(height) <= MAX_ARC_HEIGHT):
        raise BadValue(f"the height of an arc is a number of metres; got {height!r}")
    places = np.array([snapshot.position(body, point) for snapshot in snapshots])
    stays = tuple((k.time, k.time + k.hold, k.ease) for k in keys)
    return EffectorPath(body, (point[0], point[1], point[2]), height, kind == "arc", stays, places)
