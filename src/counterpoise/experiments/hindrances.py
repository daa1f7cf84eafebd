"""Walks that something makes harder: ice, ground that moves, a bag in one hand, a weak leg."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from counterpoise import measure
from counterpoise.character.character import Character
from counterpoise.character.editing import set_mass
from counterpoise.character.library import character
from counterpoise.control.locomotion import Locomotion
from counterpoise.experiments.base import Experiment, Lab, Outcome, setting
from counterpoise.experiments.trials import Trial, run_trials
from counterpoise.experiments.walking import how_it_fell
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.start import disturbed_start
from counterpoise.simulate.world import Platform, Sine, World
from counterpoise.terrain import Patch, Terrain

ICE = Patch((3.25, 0.0), (1.5, 6.0), friction=0.2)
SWAY, HEAVE = 0.05, 0.02  # [m] of the platform
BAG = 0.2  # [masses of the body]
WEAK = 0.5  # of its strength
SECONDS = 10.0
LEG = "hip", "knee", "ankle"  # joints of a leg
LEAST = 5.0  # [m] that it goes


@dataclass(frozen=True)
class HindrancesSettings:
    """It walks from standing for 10 s. Passed: it has not fallen, and is 5 m away."""

    trials: str = setting("all", "", "names separated by commas, or all")
    speed: float = setting(1.0, "m/s", "asked for")
    starts: int = setting(20, "", "random starts of each")
    first_seed: int = setting(0, "", "of the random starts")


def run(settings: HindrancesSettings, lab: Lab) -> Outcome:
    """Walks with each hindrance."""
    human = character("human")
    terrain = Terrain([ICE])
    ice = World(terrain=terrain)
    moves = Platform(x=(Sine(SWAY, 0.3),), y=(Sine(0.6 * SWAY, 0.25),), z=(Sine(HEAVE, 0.5),), half_size=(15.0, 15.0))
    weight = (0.0, 0.0, -BAG * human.weight)
    pulled = {"disturbances": (Push("hand_right", weight, 0.0, 2.0 * SECONDS),)}
    heavy = set_mass(human, "hand_right", BAG * human.mass)
    walks: dict[str, tuple[str, Character, Terrain | None, dict[str, Any]]] = {
        "ice": ("1.5 m of ice (friction 0.2) that it sees", human, terrain, {"world": ice}),
        "ice-unseen": ("the same ice, not seen", human, None, {"world": ice}),
        "platform": ("a platform that sways by 5 cm and heaves by 2 cm", human, None, {"world": World(platform=moves)}),
        "bag": ("a bag of 20 % of its mass in one hand", heavy, None, {}),
        "bag-unknown": ("the weight of that bag, unknown to it", human, None, pulled),
        "weak-leg": ("a leg with half of its strength", weak_leg(human), None, {}),
    }
    trials = {
        name: Trial(words, partial(walk, body=body, speed=settings.speed, terrain=seen, more=more))
        for name, (words, body, seen, more) in walks.items()
    }
    return run_trials(lab, EXPERIMENT.name, "hindrance", trials, settings.trials, settings.starts, settings.first_seed)


def weak_leg(body: Character) -> Character:
    """Returns the body with a right leg of half its strength."""
    limit = body.torque_limit.copy()
    for joint in body.joints:
        if any(joint.name.startswith(f"{part}_right") for part in LEG):
            limit[joint.dofs] *= WEAK
    return replace(body, torque_limit=limit)


def walk(
    lab: Lab, name: str, seed: int, body: Character, speed: float, terrain: Terrain | None, more: dict[str, Any]
) -> str:
    """Walks. Returns what was wrong; empty where nothing was."""
    start = disturbed_start(body, seed, more.get("world"))
    recording = lab.simulate(name, body, Locomotion(speed, terrain=terrain), SECONDS, start=start, seed=seed, **more)
    fall = how_it_fell(recording)
    if fall:
        return fall
    com = measure.com(recording)
    went = float(np.hypot(*(com[-1] - com[0])[:2]))
    return "" if went > LEAST else f"goes {went:.1f} m only"


EXPERIMENT = Experiment(
    name="hindrances",
    summary="walks over ice and moving ground, with a bag, with a weak leg",
    source="ours",
    settings=HindrancesSettings,
    run=run,
)
