"""The objectives of a walk in their two levels: planted points, then everything else by weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.turns import foot_direction, foot_turn
from counterpoise.control.walk.walking_body import SIDES, WalkingLeg, walking_body
from counterpoise.features import AxisDirection, BodyOrientation, ComPosition, PointPosition
from counterpoise.objectives import Contact, JointStops, Momentum, Setpoint, TrackPose

LEVEL = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class WalkObjectives:
    """The objectives of a body without their references; pairs are of the left and the right side."""

    contact: Contact
    com: Setpoint
    hips: Setpoint
    momentum: Momentum
    hips_turn: Setpoint
    chest_turn: Setpoint | None
    head_turn: Setpoint | None
    swing: tuple[Setpoint, Setpoint]
    catch: tuple[Setpoint, Setpoint]  # the swinging foot of a step that catches a fall
    swing_turn: tuple[Setpoint, Setpoint]
    roll: tuple[Setpoint, Setpoint]
    toes: tuple[Setpoint | None, Setpoint | None]
    track: TrackPose
    stops: JointStops


@kept_with_character
def walk_objectives(character: Character, t: WalkTuning) -> WalkObjectives:
    """Returns the objectives of a walk."""
    body = walking_body(character)
    origin = np.zeros(3)
    pace2, per_length = 1.0 / body.leg_time**2, 1.0 / body.hips_height**2

    def turn(part: str | None, stiffness: float, weight: float, name: str) -> Setpoint | None:
        if part is None:
            return None
        return Setpoint(BodyOrientation(part), LEVEL, stiffness=stiffness * pace2, weight=weight, name=name)

    def pair(make: str) -> tuple[Setpoint, Setpoint]:
        out = []
        for side, leg in zip(SIDES, body.legs, strict=True):
            if make in ("swing", "catch"):
                heavy = t.swing_weight if make == "swing" else t.catch_swing_weight
                point = PointPosition(leg.body, leg.ankle)
                out.append(
                    Setpoint(
                        point,
                        origin,
                        stiffness=0.0,
                        damping=0.0,
                        weight=heavy * per_length,
                        name=f"swing {side}",
                    )
                )
                continue
            stiffness, weight = (
                (t.swing_turn_stiffness, t.swing_turn_weight) if make == "turn" else (t.roll_stiffness, t.roll_weight)
            )
            feature = BodyOrientation(leg.body) if leg.can_roll else AxisDirection(leg.body, leg.ahead)
            rest = LEVEL if leg.can_roll else (1.0, 0.0, 0.0)
            name = f"{make} {side}"
            out.append(Setpoint(feature, rest, stiffness=stiffness * pace2, weight=weight, name=name))
        return out[0], out[1]

    hips_turn = turn(body.hips_body, t.hips_turn_stiffness, t.hips_turn_weight, "hips turn")
    assert hips_turn is not None
    toes = tuple(
        turn(leg.toe_body, t.toe_stiffness, t.toe_weight, f"toes {side}")
        for side, leg in zip(SIDES, body.legs, strict=True)
    )
    still = {"stiffness": 0.0, "damping": 0.0}
    return WalkObjectives(
        Contact(stiffness=t.contact_stiffness * pace2),
        Setpoint(ComPosition(), origin, **still, axes="xy", weight=t.com_weight * per_length, name="com"),
        Setpoint(
            PointPosition(body.hips_body, body.hips),
            origin,
            **still,
            axes="z",
            weight=t.hips_weight * per_length,
            name="hips",
        ),
        Momentum("angular", gain=t.momentum_gain / body.leg_time, weight=t.momentum_weight),
        hips_turn,
        turn(body.chest, t.chest_turn_stiffness, t.chest_turn_weight, "chest turn"),
        turn(body.head, t.chest_turn_stiffness, t.head_turn_weight, "head turn"),
        pair("swing"),
        pair("catch"),
        pair("turn"),
        pair("roll"),
        (toes[0], toes[1]),
        _track(character, t),
        JointStops(top_speed=t.top_speed / body.leg_time, weight=t.stop_weight),
    )


def foot_goal(
    leg: WalkingLeg, yaw: float, pitch: float, rate: float, roll: float = 0.0
) -> dict[str, tuple[float, ...]]:
    """Returns the reference of a foot's orientation, or of its direction alone where its ankle cannot roll it."""
    return foot_turn(leg.turn, yaw, pitch, rate, roll) if leg.can_roll else foot_direction(yaw, pitch, rate)


def _track(character: Character, t: WalkTuning) -> TrackPose:
    """Returns the posture: weak in the legs, which the feet lead, firm in the trunk."""
    body = walking_body(character)
    limbs, pace2 = body.limbs, 1.0 / body.leg_time**2
    gains, weights = {"": t.trunk_joint_stiffness * pace2}, {"": t.trunk_joint_weight}
    for names, k, w in (
        (limbs.arms, t.arm_joint_stiffness, t.arm_joint_weight),
        (limbs.legs, t.leg_joint_stiffness, t.bent_leg_joint_weight if body.legs[0].is_bent else t.leg_joint_weight),
    ):
        gains |= dict.fromkeys(names, k * pace2)
        weights |= dict.fromkeys(names, w)
    return TrackPose(None, gains, weights=weights, root_weight=1e-4)
