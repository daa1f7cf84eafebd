"""The poses between kneeling and standing, solved for any humanoid: crouched on hands and toes, feet flat, squat.

The middle of the toes' hinges is at x = 0, and the body faces +x. Lengths are in heights of the hips in the neutral
pose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.shapes.solid import body_solids
from counterpoise.control.bracing.humanoid import BodyBends, BodySide, LimbBends, humanoid_of, posed
from counterpoise.pose import AboveGround, Aim, CenterOfMass, Orient, PoseTuning, Posture, Reach, solve_pose
from counterpoise.spatial import exp

CONTACT_WEIGHT, TOES_WEIGHT, COM_WEIGHT, HIPS_WEIGHT = 4.0, 10.0, 5.0, 1.0  # of the goals
HAND_WEIGHT, KEEP_WEIGHT = 0.2, 3e-3
HAND_WAY = (0.7, 0.7)  # fingers point forwards and outwards
TRUNK_LEAN = 60.0  # [deg] of the hips at the start of the solver
MIRROR_ERROR = 0.1  # [rad, m] a pose whose sides differ by less is made symmetric
WRIST_ROOM = 0.002  # [m] between a wrist and the ground


@dataclass(frozen=True)
class KneelingTuning:
    """Places in heights of the hips, from the hinges of the toes."""

    knees: tuple[float, float] = (0.43, 0.09)  # forwards and up, of the knees' centres
    hands: tuple[float, float] = (0.43, 0.08)  # forwards; outwards from the shoulders
    kneel_com: float = 0.27  # CoM forwards, on hands and toes, knees just off the ground
    crouch_com: float = 0.215  # the same with the knees up
    flat_com: float = 0.03  # with flat feet and the hands still on the ground
    squat_com: float = -0.043  # without hands
    crouch_hips: tuple[float, float] = (-0.21, 0.43)  # forwards and up
    squat_hips: tuple[float, float] = (-0.21, 0.45)
    free_hands: tuple[float, float] = (0.5, 0.45)  # forwards and up, in the squat


@dataclass(frozen=True, eq=False)
class KneelingPoses:
    """Four poses (nq,) on the way up, and the standing pose at their end."""

    kneel: Array
    crouch: Array
    flat: Array
    squat: Array
    stand: Array


@kept_with_character
def kneeling_poses(character: Character, tuning: KneelingTuning) -> KneelingPoses:
    """Returns the poses between kneeling and standing."""
    t = tuning
    arms = LimbBends((10.0, 90.0, 40.0), 20.0, (5.0, 100.0, 0.0), 140.0, -35.0, 60.0)
    low = LimbBends((10.0, 60.0, 40.0), 20.0, (5.0, 120.0, 0.0), 130.0, -35.0, 0.0)
    kneel = _solved(character, t, _leaning(character, BodyBends(arms, arms, bend=10.0)), t.kneel_com, knees=True)
    crouch = _solved(character, t, kneel, t.crouch_com, hips=t.crouch_hips)
    flat = _leaning(character, BodyBends(low, low, bend=20.0))
    flat = _solved(character, t, flat, t.flat_com, flat=True, hips=t.squat_hips)
    squat = _solved(character, t, flat, t.squat_com, flat=True, hands=False, hips=t.squat_hips)
    return KneelingPoses(kneel, crouch, flat, squat, _standing(character))


def wrist_point(character: Character, side: BodySide, q: Array) -> Array:
    """Returns the lowest point of the forearm's end in a pose, in the forearm's frame (3,)."""
    shot = character.snapshot(character.state(q))
    turn = shot.rotation(side.forearm)
    wrist = turn.T @ (shot.position(side.hand) - shot.position(side.forearm))
    down = turn.T @ np.array([0.0, 0.0, -1.0])
    return np.asarray(wrist + wrist_radius(character, side) * down)


def wrist_radius(character: Character, side: BodySide) -> float:
    """Returns how far the forearm's shape reaches beyond the wrist [m]."""
    shot = character.snapshot()
    turn = shot.rotation(side.forearm)
    wrist = turn.T @ (shot.position(side.hand) - shot.position(side.forearm))
    way = wrist / np.linalg.norm(wrist)
    reach = max(float(solid.reach(way)) for solid in body_solids(character, character.body_id(side.forearm)))
    return reach - float(wrist @ way)


def _leaning(character: Character, bends: BodyBends) -> Array:
    q = posed(character, bends)
    q[3:7] = exp(np.array([0.0, np.radians(TRUNK_LEAN), 0.0]))
    q[2] *= 0.35
    return q


def _standing(character: Character) -> Array:
    """Returns the neutral pose with the hinges of the toes at x = 0."""
    q = np.array(character.neutral)
    body, shot = humanoid_of(character), character.snapshot()
    q[0] -= 0.5 * float(shot.position(body.left.toes)[0] + shot.position(body.right.toes)[0])
    return q


def _solved(
    character: Character, t: KneelingTuning, start: Array, com: float, *, knees: bool = False, flat: bool = False,
    hands: bool = True, hips: tuple[float, float] | None = None,
) -> Array:  # fmt: skip
    """Returns the pose with toes (or flat feet), hands and knees where they belong, and the CoM over `com`."""
    body = humanoid_of(character)
    rest = character.snapshot(character.state(_standing(character)))
    size = float(rest.position(character.root)[2])
    goals: list[Any] = [Posture(start, KEEP_WEIGHT), CenterOfMass((com * size, 0.0, None), COM_WEIGHT)]
    if hips is not None:
        goals.append(Reach(character.root, (hips[0] * size, 0.0, hips[1] * size), weight=HIPS_WEIGHT))
    for side, sign in body.sides("left"):
        toes, foot = rest.position(side.toes), rest.position(side.foot)
        level = rest.rotation(side.toes)
        if flat:
            goals += [Reach(side.foot, foot, weight=TOES_WEIGHT), Orient(side.foot, rest.rotation(side.foot),
                      weight=TOES_WEIGHT)]  # fmt: skip
        else:
            goals.append(Reach(side.toes, toes, weight=TOES_WEIGHT))
        goals.append(Orient(side.toes, level, weight=TOES_WEIGHT))
        shoulder = abs(float(rest.position(character.joint(side.shoulder).body)[1]))
        if hands:
            wrist = wrist_radius(character, side) + WRIST_ROOM
            place = (t.hands[0] * size, sign * (shoulder + t.hands[1] * size), wrist)
            goals.append(Reach(side.hand, place, weight=CONTACT_WEIGHT))
            way = (HAND_WAY[0], sign * HAND_WAY[1], 0.0)
            goals.append(Aim(side.hand, (0.0, 0.0, -1.0), along=way, weight=HAND_WEIGHT))
        else:
            goals.append(
                Reach(side.hand, (t.free_hands[0] * size, sign * shoulder, t.free_hands[1] * size), weight=1.0)
            )
        if knees:
            place = (t.knees[0] * size, float(toes[1]) * 1.4, t.knees[1] * size)
            goals.append(Reach(side.shank, place, weight=CONTACT_WEIGHT))
    names = [character.model.body(b).name for b in range(1, character.model.nbody)]
    found = solve_pose(character, goals, [AboveGround(names)], start=start, tuning=PoseTuning(restarts=0))
    q = np.array(found.q)
    other = character.difference(q, character.mirror_pose(q))
    if np.abs(other).max() < MIRROR_ERROR:
        q = np.array(character.integrate(q, 0.5 * other))
    return q
