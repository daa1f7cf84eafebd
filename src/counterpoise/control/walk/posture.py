"""Trunk, arms and head of a walk: the posture of its style at the phase of the stride."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.bent_knees import bent_knees
from counterpoise.control.walk.gait_cycle import GaitCycle
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.turns import trunk_turn
from counterpoise.control.walk.walk_objectives import WalkObjectives
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody, walking_body
from counterpoise.control.walk.wishes import Wishes
from counterpoise.objectives import Objective

MOST_SHARE = 1.4  # [shares of the style's own speed] beyond which the posture's movements do not grow


class Posture(NamedTuple):
    """What the goals of one tick are made from."""

    cycle: GaitCycle
    own: WalkObjectives
    body: WalkingBody
    tuning: WalkTuning
    wishes: Wishes


def upper_body(
    posture: Posture, m: WalkMemory, com: Array, hips: float, rate: float, snapshot: Snapshot
) -> list[Objective]:
    """Returns the objectives of CoM, hips, trunk and posture. `com` (2,) and `hips` are accelerations [m/s^2]."""
    character = snapshot.character
    cycle, own, body = posture.cycle, posture.own, posture.body
    speed = 0.0 if m.phase in ("stand", "shift") else m.speed
    share = min(max(speed, 0.0) / max(cycle.speed, 1e-3), MOST_SHARE)
    row, change = cycle.at(m.stride, rate, share)
    lean, arms = posture.wishes.lean, posture.wishes.arms
    root = character.root_dofs.stop
    away, velocity = np.zeros(character.nv), np.zeros(character.nv)
    away[root:], velocity[root:] = row[:-6], change[:-6]
    if arms != 1.0:
        rows = _arm_rows(character)
        mean = cycle.waves[0][rows - root]
        away[rows], velocity[rows] = mean + arms * (away[rows] - mean), arms * velocity[rows]
    pose = character.integrate(character.neutral, away)
    level: list[Objective] = [
        own.com.aimed(acceleration=np.array([com[0], com[1], 0.0])),
        own.hips.aimed(acceleration=np.array([0.0, 0.0, hips])),
        own.momentum,
        own.hips_turn.aimed(**trunk_turn(body.hips_turn, m.heading, m.turn, row[-6:-3], change[-6:-3], lean)),
    ]
    if own.chest_turn is not None:
        level.append(
            own.chest_turn.aimed(**trunk_turn(body.chest_turn, m.heading, m.turn, row[-3:], change[-3:], lean))
        )
    if own.head_turn is not None:
        nod = np.array([0.0, math.radians(cycle.style.head), 0.0])
        level.append(own.head_turn.aimed(**trunk_turn(body.head_turn, m.heading, m.turn, nod, _STILL, 0.0)))
    level += [own.track.aimed(reference=pose, velocity=velocity), own.stops]
    knees = bent_knees(snapshot, body, posture.tuning.knee_weight)
    return level if knees is None else [*level, knees]


@kept_with_character
def _arm_rows(character: Character) -> Ints:
    """Returns the rows of v of the arms."""
    names = walking_body(character).limbs.arms
    return np.array([row for name in names for row in range(*character.joint(name).dofs.indices(character.nv))])


_STILL = np.zeros(3)
