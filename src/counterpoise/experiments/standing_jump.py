"""A standing jump from three keyframes: stand, crouch, stand further on (Fang & Pollard 2004, introduction)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.key_poses import flat_footed, middle, standing_at
from counterpoise.experiments.scenery import rows_of, take_with
from counterpoise.experiments.staging import (
    StagedStunt,
    apart_claim,
    course_of,
    figures_of,
    first_guess_of,
    solve_and_judge,
    strength_claim,
    valid_claim,
)
from counterpoise.measure.outsider import judge_torques
from counterpoise.spacetime.optimize import Key, Touch

FEET = ("foot_left", "foot_right")
JOINTS = {"waist": 10.0, "spine": 10.0, "neck": 3.0}


@dataclass(frozen=True)
class StandingJumpSettings:
    distance: float = setting(0.8, "m", "of the jump")
    push: float = setting(0.6, "s", "on the ground before take-off")
    flight: float = setting(0.5, "s", "in the air")
    stand: float = setting(0.7, "s", "from landing to standing still")
    strength: float = setting(1.0, "", "share of each joint's strength that may be used")


def jump_stunt(character: Character, settings: StandingJumpSettings) -> StagedStunt:
    """Returns a stunt of three keys: stand, a soft crouch, stand."""
    up, down = settings.push, round(settings.push + settings.flight, 6)
    end = round(down + settings.stand, 6)
    here = float(middle(character, np.asarray(character.neutral), FEET)[0])
    crouch = flat_footed(
        character, here, hip=-1.3, knee=1.4, ankle=-0.45, waist=0.2, spine=0.1, shoulder=0.5, elbow=0.3
    )  # fmt: skip
    keys = (
        Key(0.0, character.neutral, rest=True, name="stand"),
        Key(round(0.55 * up, 6), crouch, soft=1.0, name="crouch"),
        Key(
            end,
            standing_at(character, np.asarray(character.neutral), here + settings.distance),
            rest=True,
            name="stand again",
        ),
    )
    touches = [Touch(f, 0.0, up) for f in FEET] + [Touch(f, down, end) for f in FEET]
    fine = ((up - 0.2, up, 40.0), (up, down, 60.0), (down, down + 0.15, 40.0))
    return StagedStunt(
        character, keys, tuple(touches), end, joints=JOINTS, fine=fine, apart=True, strength=settings.strength
    )


def run(settings: StandingJumpSettings, lab: Lab) -> Outcome:
    """Solves, and measures what no key asks for: squash, stretch and a swing of the arms."""
    human = character("human")
    stunt = jump_stunt(human, settings)
    result, seconds, judged = solve_and_judge(lab, "standing jump", stunt)
    t = np.linspace(0.0, stunt.duration, 400)
    q = np.asarray(result.sample(t).q)
    guess = np.asarray(first_guess_of(stunt).sample(t).q)
    found, before = course_of(human, t, q), course_of(human, t, guess)
    arm = _arm(human, q)
    rise = float(found.com[t > settings.push, 2].max() - found.com[t < settings.push, 2].min())
    asked = float(before.com[t > settings.push, 2].max() - before.com[t < settings.push, 2].min())
    dip = float(found.com[0, 2] - found.com[(t > settings.push + settings.flight), 2].min())
    claims = (
        valid_claim("a jump is found from three keyframes", result, seconds, judged),
        strength_claim(judge_torques(result), settings.strength),
        apart_claim(result),
        Claim(
            "squash and stretch appear by themselves",
            f"from its lowest before take-off the CoM rises {100 * rise:.0f} cm (the keys interpolated: "
            f"{100 * asked:.0f} cm) and gives way by {100 * dip:.0f} cm after landing, where no key asks for it",
            rise > asked + 0.1 and dip > 0.1,
        ),
        Claim(
            "and so does a swing of the arms",
            f"the hands swing up to {np.degrees(arm.max()):.0f} deg before the trunk, the key has them behind it",
            bool(arm.max() > 0.7),
        ),
    )
    moments = np.linspace(0.0, stunt.duration, 9).tolist()
    picture = rows_of(
        {
            "keys interpolated": (take_with(human, first_guess_of(stunt)), moments),
            "optimised": (take_with(human, result.motion), moments),
        },
        (1240, 380), -85.0, spread=0.45,
    )  # fmt: skip
    film = Film(
        "", take=take_with(human, result.motion), azimuth=-80.0, count=16, columns=8, panel=(180, 230), speed=0.5
    )
    facts = figures_of(result, seconds, judged) | {"rise": rise, "dip": dip, "arms": float(arm.max())}
    return Outcome(claims, {}, film, facts, {}, {"standing_jump": picture}, {"standing_jump": result.motion})


def _arm(character: Character, poses: Array) -> Array:
    """The angle of the left arm ahead of the trunk [rad]."""
    out = []
    for q in poses:
        s = character.snapshot(character.state(q))
        arm = s.rotation("thorax").T @ (s.position("hand_left") - s.position("upper_arm_left"))
        out.append(np.arctan2(arm[0], -arm[2]))
    return np.array(out)


EXPERIMENT = Experiment(
    name="standing-jump",
    summary="a jump from three keyframes; squash, stretch and arm swing appear",
    source="Fang & Pollard 2004, sections 1 and 3",
    settings=StandingJumpSettings,
    run=run,
)
