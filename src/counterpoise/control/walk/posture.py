"""Trunk, arms and head of a walk: the posture of its style at the phase of the stride."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.manifold import batch_integrate
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.bent_knees import bent_knees
from counterpoise.control.walk.gait_cycle import GaitCycle, fill_cycle
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.turns import trunk_turn
from counterpoise.control.walk.walk_objectives import WalkObjectives
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody, walking_body
from counterpoise.control.walk.wishes import Wishes
from counterpoise.kernels import kernel
from counterpoise.objectives import Objective

MOST_SHARE = 1.4  # [shares of the style's own speed] beyond which the posture's movements do not grow


class WalkPosture(NamedTuple):
    """What the goals of one tick are made from."""

    cycle: GaitCycle
    own: WalkObjectives
    body: WalkingBody
    tuning: WalkTuning
    wishes: Wishes


def upper_body(
    posture: WalkPosture, m: WalkMemory, com: Sequence[float], hips: float, rate: float, snapshot: Snapshot
) -> list[Objective]:
    """Returns the objectives of CoM, hips, trunk and posture. `com` (2,) and `hips` are accelerations [m/s^2]."""
    character = snapshot.character
    cycle, own, wishes = posture.cycle, posture.own, posture.wishes
    speed = 0.0 if m.phase in ("stand", "shift") else m.speed
    share = min(max(speed, 0.0) / max(cycle.speed, 1e-3), MOST_SHARE)
    pose, velocity, goals = np.empty(character.nq), np.empty(character.nv), np.empty((3, 7))
    _fill_posture(
        cycle.waves, m.stride, rate, share, wishes.arms, m.heading, m.turn, wishes.lean,
        wishes.bank, math.radians(cycle.style.head), pose, velocity, goals, _posture_tables(character),
    )  # fmt: skip
    trunk, chest, head = goals.tolist()
    level: list[Objective] = [
        own.com.aimed(acceleration=(com[0], com[1], 0.0)),
        own.hips.aimed(acceleration=(0.0, 0.0, hips)),
        own.momentum,
        own.hips_turn.aimed(value=tuple(trunk[:4]), velocity=tuple(trunk[4:])),
    ]
    if own.chest_turn is not None:
        level.append(own.chest_turn.aimed(value=tuple(chest[:4]), velocity=tuple(chest[4:])))
    if own.head_turn is not None:
        level.append(own.head_turn.aimed(value=tuple(head[:4]), velocity=tuple(head[4:])))
    level += [own.track.aimed(reference=pose, velocity=velocity), own.stops]
    sways = m.phase == "shift" and posture.body.feet_alone  # on two legs whose knees must bend as they like
    knees = bent_knees(snapshot, posture.body, posture.tuning.knee_weight, sways)
    return level if knees is None else [*level, knees]


class _PostureTables(NamedTuple):
    """What `_fill_posture` needs to know of a body."""

    layout: Ints  # of the joints in q and v
    neutral: Array  # (nq,)
    root: int  # rows of v of the root
    arms: Ints  # rows of v
    rest: tuple[Array, Array, Array]  # orientations of hips, chest and head in the neutral pose


@kept_with_character
def _posture_tables(character: Character) -> tuple[Any, ...]:
    """Returns a _PostureTables as a plain tuple, which kernels read faster than a named one."""
    body = walking_body(character)
    rows = [row for name in body.limbs.arms for row in range(*character.joint(name).dofs.indices(character.nv))]
    rest = (body.hips_turn, body.chest_turn, body.head_turn)
    root = character.root_dofs.stop
    return tuple(_PostureTables(character.layout, np.array(character.neutral), root, np.array(rows, np.int64), rest))


@kernel
def _fill_posture(
    waves: Array, phase: float, rate: float, share: float, arms: float, heading: float, spin: float, lean: float,
    bank: float, nod: float, pose: Array, velocity: Array, goals: Array, tables: tuple[Any, ...],
) -> None:  # fmt: skip
    """Fills the posture at a phase of the stride, its velocity, and the goals (3, 7) of hips, chest and head.

    A goal is an orientation and an angular velocity. `arms` scales the swing of the arms, `bank` rolls the trunk, `nod`
    pitches the head.
    """
    t = _PostureTables(*tables)
    count, joints = waves.shape[1], waves.shape[1] - 6
    row, change = np.empty(count), np.empty(count)
    fill_cycle(waves, phase, rate, share, row, change)
    away = np.zeros((1, len(velocity)))
    for j in range(len(velocity)):
        velocity[j] = 0.0
    for j in range(joints):
        away[0, t.root + j], velocity[t.root + j] = row[j], change[j]
    if arms != 1.0:
        for j in t.arms:
            mean = waves[0, j - t.root]
            away[0, j], velocity[j] = mean + arms * (away[0, j] - mean), arms * velocity[j]
    pose[:] = batch_integrate(t.layout, t.neutral.reshape(1, -1), away)[0]
    row[joints] += bank
    row[joints + 3] += bank
    trunk_turn(t.rest[0], heading, spin, row[joints : joints + 3], change[joints : joints + 3], lean, goals[0])
    trunk_turn(t.rest[1], heading, spin, row[joints + 3 :], change[joints + 3 :], lean, goals[1])
    trunk_turn(t.rest[2], heading, spin, np.array([0.0, nod, 0.0]), np.zeros(3), 0.0, goals[2])
