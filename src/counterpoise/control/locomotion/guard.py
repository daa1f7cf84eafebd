"""Arms drawn in: a body that throws itself aside holds its hands before its chest, out of the way of what passes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.control.walk.gait_cycle import GaitCycle
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.pose import Lock, Pin, Posture, Reach, solve_pose

AHEAD = 0.22  # [leg lengths] of the chest's middle, of the hands
APART = 0.06  # [leg lengths] from the middle, of each hand
BELOW = 0.02  # [leg lengths] below the shoulders
POSTURE_WEIGHT = 0.05


@kept_with_character
def _arm_rows(character: Character) -> tuple[Array, Array]:
    """Returns the rows of v of the arms, and how far they are from the neutral pose with hands before the chest."""
    body = walking_body(character)
    rows = [row for name in body.limbs.arms for row in range(*character.joint(name).dofs.indices(character.nv))]
    if not rows or body.chest is None or not character.hands:
        return np.zeros(0, np.int64), np.zeros(0)
    rest = character.snapshot()
    joints = [character.joint(name) for name in body.limbs.arms]
    shoulder = max(float(rest.position(joint.body)[2]) for joint in joints)
    unit, chest = body.hips_height, rest.position(body.chest)
    goals = []
    for hand in character.hands:
        side = 1.0 if rest.position(hand)[1] > 0.0 else -1.0
        place = chest[0] + AHEAD * unit, side * APART * unit, shoulder - BELOW * unit
        goals.append(Reach(hand, place))
    still: list[Pin | Lock] = [Pin(body.chest), Lock(body.chest)]
    q = solve_pose(character, goals=[*goals, Posture(weight=POSTURE_WEIGHT)], constraints=still).q
    return np.array(rows, np.int64), character.difference(character.neutral, q)[rows]


def guarded(cycle: GaitCycle, character: Character) -> GaitCycle:
    """Returns a gait whose arms are drawn in and do not swing."""
    rows, away = _arm_rows(character)
    waves, columns = cycle.waves.copy(), rows - character.root_dofs.stop
    waves[:, columns] = 0.0
    waves[0, columns] = away
    return replace(cycle, waves=waves)
