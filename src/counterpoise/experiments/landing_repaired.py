"""A landing that would fall over, repaired by the physics of ground contact (Fang & Pollard 2004, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.key_poses import com_of, flat_footed, middle
from counterpoise.experiments.scenery import rows_of, take_with
from counterpoise.experiments.staging import (
    SOFT_KEY_WEIGHT,
    StagedStunt,
    apart_claim,
    figures_of,
    first_guess_of,
    solve_and_judge,
    strength_claim,
    valid_claim,
)
from counterpoise.experiments.standing_jump import FEET, JOINTS
from counterpoise.measure.outsider import judge_motion, judge_torques
from counterpoise.spacetime.optimize import Key, Touch

SOLE_AHEAD = 0.04  # [m] distance of the sole's middle ahead of the ankle
FOOT_ASIDE = 0.091  # [m] distance of a foot from the middle of the body


@dataclass(frozen=True)
class LandingRepairedSettings:
    distance: float = setting(0.9, "m", "of the jump")
    flight: float = setting(0.45, "s", "in the air")
    stand: float = setting(1.0, "s", "on the ground after the landing")
    still: float = setting(0.2, "s", "how long it has to stand still at the end")
    strength: float = setting(1.0, "", "share of each joint's strength that may be used")


def landing_stunt(character: Character, settings: LandingRepairedSettings) -> StagedStunt:
    """Returns a stunt of an animator's keys: after the landing the body leans far beyond the toes, and stays there."""
    up = 0.6
    down = round(up + settings.flight, 6)
    end = round(down + settings.stand, 6)
    here = float(middle(character, np.asarray(character.neutral), FEET)[0])
    there = here + settings.distance
    load = {"hip": -1.3, "knee": 1.4, "ankle": -0.45, "waist": 0.2, "spine": 0.1, "elbow": 0.3}
    crouch = flat_footed(character, here, **load, shoulder=0.5)
    touch = flat_footed(character, there, hip=-0.5, knee=0.3, ankle=-0.3, waist=0.1, shoulder=-0.6, elbow=0.3)
    gives = flat_footed(character, there, **load, shoulder=-0.8)
    falls = flat_footed(character, there, hip=-0.3, knee=0.1, ankle=-0.6, waist=0.1, shoulder=-1.2, elbow=0.3)
    keys = (
        Key(0.0, character.neutral, rest=True, name="stand"),
        Key(round(0.55 * up, 6), crouch, soft=SOFT_KEY_WEIGHT, name="crouch"),
        Key(down, touch, soft=SOFT_KEY_WEIGHT, name="touch down"),
        Key(round(down + 0.3, 6), gives, soft=SOFT_KEY_WEIGHT, name="give"),
        Key(round(end - settings.still, 6), falls, soft=SOFT_KEY_WEIGHT, rest=True, name="lean"),
        Key(end, falls, soft=SOFT_KEY_WEIGHT, rest=True, name="still leaning"),
    )
    touches = [Touch(f, 0.0, up) for f in FEET]
    touches += [
        Touch(f, down, end, place=(there + SOLE_AHEAD, y), facing=0.0)
        for f, y in zip(FEET, (FOOT_ASIDE, -FOOT_ASIDE), strict=True)
    ]
    fine = ((up - 0.2, up, 40.0), (up, down, 70.0), (down, down + 0.15, 40.0))
    return StagedStunt(
        character, keys, tuple(touches), end, joints=JOINTS, fine=fine, apart=True, strength=settings.strength
    )


def run(settings: LandingRepairedSettings, lab: Lab) -> Outcome:
    """Solves, and compares before and after: where the CoM ends, and the contact forces needed."""
    human = character("human")
    stunt = landing_stunt(human, settings)
    result, seconds, judged = solve_and_judge(lab, "landing", stunt)
    guess = first_guess_of(stunt)
    before = judge_motion(result, guess)
    old, new = beyond_toes(human, guess.poses[-1]), beyond_toes(human, result.motion.poses[-1])
    claims = (
        Claim(
            "the initial motion is unstable at landing: it would fall over",
            f"it ends with the CoM {100 * old:.0f} cm beyond the toes; {before.contact_gap:.0%} (at worst "
            f"{before.contact_gap_peak:.0%}) of a body weight is out of the ground's reach, feet slide "
            f"{100 * before.slip:.0f} cm",
            old > 0.1 and before.contact_gap > 0.1,
        ),
        Claim(
            "physics of ground contact eliminates this",
            f"it ends with the CoM {-100 * new:.0f} cm behind the toes, at rest",
            new < 0.0,
        ),
        valid_claim("and the result is physically valid", result, seconds, judged),
        strength_claim(judge_torques(result), settings.strength),
        apart_claim(result),
    )
    moments = np.linspace(0.0, stunt.duration, 10).tolist()
    picture = rows_of(
        {
            "keys interpolated": (take_with(human, guess), moments),
            "repaired": (take_with(human, result.motion), moments),
        },
        (1240, 360), -85.0, spread=0.5,
    )  # fmt: skip
    film = Film(
        "", take=take_with(human, result.motion), azimuth=-80.0, count=16, columns=8, panel=(180, 230), speed=0.5
    )
    facts = figures_of(result, seconds, judged) | {"before": old, "after": new, "guess": vars(before)}
    return Outcome(claims, {}, film, facts, {}, {"landing_repaired": picture}, {"landing_repaired": result.motion})


def beyond_toes(character: Character, pose: Array) -> float:
    """Returns how far the CoM is ahead of the foremost contact point of the feet [m]."""
    s = character.snapshot(character.state(pose))
    toes = [
        (s.position(p.body) + s.rotation(p.body) @ np.asarray(p.position))[0] for f in character.feet for p in f.points
    ]  # fmt: skip
    return float(com_of(character, pose)[0] - max(toes))


EXPERIMENT = Experiment(
    name="landing-repaired",
    summary="a landing that would fall over, repaired by enforcing ground contact",
    source="Fang & Pollard 2004, section 3",
    settings=LandingRepairedSettings,
    run=run,
)
