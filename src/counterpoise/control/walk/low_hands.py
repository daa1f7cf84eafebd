"""LowHands: arms that help to catch a fall swing, but no hand goes far above its shoulder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody, walking_body
from counterpoise.features import PointPosition
from counterpoise.objectives import Objective, Rows

if TYPE_CHECKING:
    from counterpoise.objectives import Stance


class Arm(NamedTuple):
    """The two ends of an arm."""

    shoulder: PointPosition
    hand: PointPosition
    shoulder_body: str
    hand_body: str


@dataclass(frozen=True, eq=False)
class LowHands(Objective):
    """Height of a hand above its shoulder, h'' = wanted, for every hand that would rise too high."""

    arms: tuple[Arm, ...]
    wanted: tuple[float, ...]  # h'' of each [m/s^2]
    weight: float = 1.0
    name: str = "low hands"

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        A, b = np.empty((len(self.arms), snapshot.character.nv)), np.empty(len(self.arms))
        for i, arm in enumerate(self.arms):
            A[i] = _rise(arm, snapshot)
            b[i] = self.wanted[i] - arm.hand.drift(snapshot)[2] + arm.shoulder.drift(snapshot)[2]
        return Rows(A, b)


def low_hands(m: WalkMemory, snapshot: Snapshot, body: WalkingBody, t: WalkTuning) -> LowHands | None:
    """Returns the objective of the hands that have to brake on their way up; None where none has to.

    It holds in steps that catch a fall, and in those after them. Where the plan of a step is costly, arms may do all
    that they can. Below its ceiling by e a hand may rise at sqrt(2 d e), from which the deceleration d stops it.
    """
    if not (m.catches or m.longest < math.inf) or m.cost > t.hand_free:
        return None
    arms, wanted = [], []
    unit, clock = body.hips_height, body.leg_time
    most, settle = t.hand_brake * unit / clock**2, t.hand_settle * clock
    for arm in _arms(snapshot.character):
        height = float(snapshot.position(arm.hand_body)[2] - snapshot.position(arm.shoulder_body)[2])
        left = t.hand_ceiling * unit - height
        rate = float(_rise(arm, snapshot) @ snapshot.v)
        allowed = min(math.sqrt(2.0 * most * left), t.hand_speed * body.leg_speed) if left > 0.0 else left / settle
        if rate > allowed:
            arms.append(arm)
            wanted.append(max((allowed - rate) / settle, -2.0 * most))
    return LowHands(tuple(arms), tuple(wanted), t.hand_weight / unit**2) if arms else None


def _rise(arm: Arm, snapshot: Snapshot) -> Array:
    """Returns dh/dq of the height of a hand above its shoulder, (nv,)."""
    return np.asarray(arm.hand.jacobian(snapshot)[2] - arm.shoulder.jacobian(snapshot)[2])


@kept_with_character
def _arms(character: Character) -> tuple[Arm, ...]:
    """Returns the arms that end in a hand."""
    parents = character.model.body_parentid
    joints = {character.body_id(character.joint(name).body) for name in walking_body(character).limbs.arms}
    names = {character.body_id(name): name for name in character.segments}
    arms = []
    for hand in character.hands:
        at, shoulder = character.body_id(hand), None
        while at > 0:
            shoulder = at if at in joints else shoulder
            at = int(parents[at])
        if shoulder is not None and names[shoulder] != hand:
            arms.append(Arm(PointPosition(names[shoulder]), PointPosition(hand), names[shoulder], hand))
    return tuple(arms)
