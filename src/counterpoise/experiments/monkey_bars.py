"""Hand over hand along monkey bars, from rigid translation of the whole body (Fang & Pollard 2004, figure 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.key_poses import hanging
from counterpoise.experiments.scenery import rows_of, take_with
from counterpoise.experiments.staging import (
    StagedStunt,
    apart_claim,
    figures_of,
    first_guess_of,
    strength_claim,
    timed,
    valid_claim,
)
from counterpoise.measure.outsider import judge_motion, judge_torques
from counterpoise.spacetime.optimize import Key, Touch

SIDES = ("left", "right")
BEFORE_REACHES, AFTER_REACHES = 0.25, 0.4  # [s] hanging from two bars before the first reach and after the last


@dataclass(frozen=True)
class MonkeyBarsSettings:
    reaches: int = setting(4, "", "how often a hand reaches for the next bar; the hands take turns")
    gap: float = setting(0.4, "m", "from bar to bar")
    height: float = setting(2.3, "m", "of the bars")
    reach: float = setting(0.75, "s", "on one hand")
    double: float = setting(0.15, "s", "on both hands, between two reaches")
    grip: float = setting(15.0, "N m", "largest torque of a hand, about its bar and across it")
    near: float = setting(10.0, "", "weight of staying near the initial motion")
    strength: float = setting(1.0, "", "share of each joint's strength that may be used")
    apart: float = setting(0.12, "m", "distance of each hand from the middle of the bars")


def monkey_stunt(character: Character, settings: MonkeyBarsSettings) -> StagedStunt:
    """Returns a stunt of two keys, hanging still at the start and at the end; every grip is a separate contact."""
    bars = [settings.gap * k for k in range(settings.reaches + 2)]
    aside = {"left": settings.apart, "right": -settings.apart}
    held, touches, time = {"left": (0, 0.0), "right": (1, 0.0)}, [], BEFORE_REACHES

    def grip(side: str, bar: int, since: float, until: float) -> Touch:
        return Touch(
            f"hand_{side}", since, until, "bar", place=(bars[bar], aside[side], settings.height),
            torque=settings.grip, grip=settings.grip, name=f"{side} hand on bar {bar}",
        )  # fmt: skip

    for k in range(settings.reaches):
        side = SIDES[k % 2]
        touches.append(grip(side, *held[side], round(time, 6)))
        time = round(time + settings.reach, 6)
        held[side] = (k + 2, time)
        time = round(time + settings.double, 6)
    end = round(time - settings.double + AFTER_REACHES, 6)
    touches += [grip(side, *held[side], end) for side in SIDES]
    pose = hanging(character, (0.0, 0.0, settings.height), 0.0, hip=-0.15, knee=0.35)

    def under(*bar: int) -> Array:
        q = pose.copy()
        q[0] += np.mean([bars[b] for b in bar])
        return q

    keys = (
        Key(0.0, under(0, 1), rest=True, name="hang"),
        Key(end, under(held["left"][0], held["right"][0]), rest=True, name="hang at the end"),
    )
    scenery = tuple({"bar": ((x, 0.0, settings.height), (0, 1, 0), 0.45)} for x in bars)
    return StagedStunt(
        character, keys, tuple(touches), end, near=settings.near, clear=("foot_left", "foot_right"),
        strength=settings.strength, scenery=scenery,
    )  # fmt: skip


def run(settings: MonkeyBarsSettings, lab: Lab) -> Outcome:
    """Solves with any torques and within a person's strength, and measures the swings."""
    human = character("human")
    stunt = monkey_stunt(human, settings)
    lab.report("monkey bars, any torques", 0.0)
    easy, easy_seconds = timed(replace(stunt, strength=None))
    lab.report("monkey bars, within a person's strength", 0.3)
    result, seconds = timed(stunt)
    judged = judge_motion(result)
    lab.report("monkey bars", 1.0)
    t = np.linspace(0.0, stunt.duration, 400)
    before = swings(human, np.asarray(first_guess_of(stunt).sample(t).q))
    after, loose = (swings(human, np.asarray(r.sample(t).q)) for r in (result, easy))
    grips = len(stunt.touches)
    claims = (
        valid_claim(
            f"hand over hand along {len(stunt.scenery)} bars ({grips} grips) from rigid translation",
            result,
            seconds,
            judged,
        ),
        Claim(
            "swinging of legs and arms, roll, pitch and yaw are obtained as a result",
            f"{_words(after)}; with any torques {_words(loose)}; in the initial motion {_words(before)}",
            all(v[name] > 10.0 and v[name] > before[name] + 5.0 for v in (after, loose) for name in v),
        ),
        strength_claim(judge_torques(result), settings.strength),
        apart_claim(result),
        Claim(
            "with any torques it takes at most 10 s",
            f"{easy_seconds:.1f} s of one core; within a person's strength {seconds:.1f} s",
            bool(easy.exact and easy_seconds < 10.0),
        ),
    )
    moments = np.linspace(0.0, stunt.duration, 9).tolist()
    picture = rows_of(
        {
            "initial motion": (take_with(human, first_guess_of(stunt)), moments),
            "optimised, any torques, moved apart": (take_with(human, easy.motion), moments),
            "optimised, within a person's strength": (take_with(human, result.motion), moments),
        },
        (1240, 520), -80.0, spread=0.55,
    )  # fmt: skip
    film = Film(
        "", take=take_with(human, result.motion, stunt.scenery), azimuth=-75.0, elevation=-8.0, count=24, columns=8,
        panel=(180, 230), speed=0.5,
    )  # fmt: skip
    facts = figures_of(result, seconds, judged) | {"swings": after, "swings of the initial motion": before}
    return Outcome(claims, {}, film, facts, {}, {"monkey_bars": picture}, {"monkey_bars": result.motion})


def swings(character: Character, poses: Array) -> dict[str, float]:
    """Returns the ranges [deg] of the pelvis' yaw, pitch and roll, and of thighs and upper arms against the trunk."""
    R = spatial.to_matrix(poses[:, 3:7])
    out = {
        "yaw": np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0])),
        "pitch": np.arcsin(np.clip(-R[:, 2, 0], -1.0, 1.0)),
        "roll": np.arctan2(R[:, 2, 1], R[:, 2, 2]),
    }
    for name, trunk in (("thigh", "pelvis"), ("upper_arm", "thorax")):
        for side in SIDES:
            angles = []
            for q in poses:
                s = character.snapshot(character.state(q))
                limb = s.rotation(trunk).T @ s.rotation(f"{name}_{side}")[:, 2]
                angles.append(np.arctan2(limb[0], limb[2]))
            out[f"{name.replace('_', ' ')} {side}"] = np.unwrap(np.array(angles))
    return {name: float(np.degrees(np.ptp(a))) for name, a in out.items()}


def _words(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.0f}" for name, value in values.items()) + " deg"


EXPERIMENT = Experiment(
    name="monkey-bars",
    summary="hand-over-hand swinging from rigid translation under the bars",
    source="Fang & Pollard 2004, section 3, figure 4",
    settings=MonkeyBarsSettings,
    run=run,
)
