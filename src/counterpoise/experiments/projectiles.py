"""Balls thrown at a body that stands or walks: seen, they are dodged; unseen, they hit, and it stays up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.state import State
from counterpoise.control.locomotion import Hazard, Locomotion
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.upright import trunk_of
from counterpoise.experiments.walking import how_it_fell
from counterpoise.measure import prop_hit
from counterpoise.render.camera import Camera
from counterpoise.simulate.props import Prop, aimed
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.session import Session
from counterpoise.simulate.start import disturbed_start

STANDS = 0.2  # [s] that it stands before the throw
WALKS = 4.0  # [s] that it walks before the throw; the moment is random within one stride after that
STRIDE = 1.1  # [s]
AFTER = 3.5  # [s] that it is watched after the throw
SPEEDS = 5.0, 10.0  # [m/s]
DIAMETERS = 0.1, 0.24  # [m]
SPREAD = 0.03  # [m] of the aim about the middle of a part of the body
LOW, HIGH = 0.45, 0.97  # [standing heights of the head] between which it is aimed
ENOUGH = 0.9  # of the throws are dodged


@dataclass(frozen=True)
class ProjectilesSettings:
    """Dodged: the ball never touches the body, and the body is up at the end."""

    figure: str = setting("human", "", "at whom is thrown")
    starts: int = setting(20, "", "throws of each kind, each with its own random start")
    warning: float = setting(0.8, "s", "from the throw to the hit")
    speed: float = setting(1.2, "m/s", "of the walk; 0: no throws while it walks")
    mass: float = setting(1.0, "kg", "of a ball")
    first_seed: int = setting(0, "", "of the random starts and throws")


class Throw(NamedTuple):
    """One ball, and what came of it."""

    ball: Prop
    hit: str  # what it touched; empty: nothing
    fell: str  # how the body fell; empty: it did not


def run(settings: ProjectilesSettings, lab: Lab) -> Outcome:
    """Throws balls from all sides, at all heights from the hips to the head."""
    if settings.starts < 1 or not settings.warning > 0.0:
        raise BadValue(f"starts and warning are positive; got {settings.starts} and {settings.warning:g} s")
    body = character(settings.figure)
    kinds = [("stands", 0.0, True), ("walks", settings.speed, True), ("does not see it", 0.0, False)]
    found: dict[str, list[Throw]] = {}
    for name, speed, sees in kinds:
        if name == "walks" and not speed > 0.0:
            continue
        found[name] = []
        for k in range(settings.starts):
            recording, ball = throw_at(body, settings, settings.first_seed + k, speed, sees)
            if recording.status == "interrupted":
                raise KeyboardInterrupt
            lab.recordings.setdefault(name, recording)  # the first of each kind is filmed and kept
            hit = prop_hit(recording)
            found[name].append(Throw(ball, "" if hit is None else hit.body, how_it_fell(recording)))
            lab.report(f"throwing: it {name}", (k + 1) / settings.starts)
    first = lab.recordings["stands"]
    times = [float(first.time[0]) + settings.warning * share for share in (0.1, 0.4, 0.6, 0.8, 1.0, 1.2, 1.6, 3.0)]
    camera = Camera.orbit((*first.positions()[0, :2], 0.85), 5.0, azimuth=-35.0)
    film = Film("stands", count=8, columns=4, panel=(240, 300), times=times, camera=camera)
    return Outcome(tuple(_claims(found, settings)), {}, film, {name: _facts(them) for name, them in found.items()})


def throw_at(
    body: Character, settings: ProjectilesSettings, seed: int, speed: float, sees: bool
) -> tuple[Recording, Prop]:
    """Returns the recording from a random throw on, and the ball as it was thrown."""
    rng = np.random.default_rng(seed)
    session = Session(body, Locomotion(speed), start=disturbed_start(body, seed), seed=seed)
    session.advance(WALKS + rng.uniform(0.0, STRIDE) if speed > 0.0 else STANDS)
    ball = random_ball(body, session.state, settings, speed, rng)
    hazard = Hazard(ball.place, 0.5 * ball.extent[0], ball.velocity, start=session.time)
    session.controller = Locomotion(speed, avoid=(hazard,) if sees else ())
    session.throw(ball)
    return session.advance(AFTER), ball


def random_ball(
    body: Character, state: State, settings: ProjectilesSettings, speed: float, rng: np.random.Generator
) -> Prop:
    """Returns a ball that is on its way to where the body will be after the time of warning, if it goes on."""
    turn, quick = rng.uniform(0.0, 2.0 * math.pi), rng.uniform(*SPEEDS)
    now = body.snapshot(state)
    trunk = now.position(trunk_of(body))
    height = rng.uniform(LOW, HIGH) * body.height
    target: Array = np.array([trunk[0] + speed * settings.warning, trunk[1], height]) + rng.normal(0.0, SPREAD, 3)
    away = quick * settings.warning * np.array([math.cos(turn), math.sin(turn)])
    size = rng.uniform(*DIAMETERS)
    place = target[0] + away[0], target[1] + away[1], max(float(target[2] + rng.uniform(-0.2, 0.4)), size)
    ball = Prop("ball", size, settings.mass, place)
    return aimed(ball, target, float(np.linalg.norm(target - place)) / settings.warning, body.model.opt.gravity)


def _claims(found: Mapping[str, list[Throw]], settings: ProjectilesSettings) -> list[Claim]:
    claims = []
    for name, them in found.items():
        missed, up = sum(not one.hit for one in them), sum(not one.fell for one in them)
        both = sum(not one.hit and not one.fell for one in them)
        if name == "does not see it":
            claims.append(
                Claim(
                    f"projectiles of {settings.mass:g} kg that hit: it stays up",
                    f"{up} of {len(them)} are up; {len(them) - missed} were hit",
                    up == len(them),
                )
            )
            continue
        touched = ", ".join(sorted({one.hit for one in them if one.hit})) or "nothing"
        claims.append(
            Claim(
                f"it {name}: 18 of 20 projectiles are dodged with {settings.warning:g} s of warning",
                f"{both} of {len(them)} dodged and up at the end; {missed} not touched, touched: {touched}; {up} up",
                both >= ENOUGH * len(them),
            )
        )
    return claims


def _facts(them: list[Throw]) -> list[dict[str, object]]:
    return [
        {"from": list(one.ball.place), "velocity": list(one.ball.velocity), "hit": one.hit, "fell": one.fell}
        for one in them
    ]


EXPERIMENT = Experiment(
    name="projectiles",
    summary="balls thrown from all sides: seen, they are dodged; unseen, they hit",
    source="de Lasa 2011, section 5.4",
    settings=ProjectilesSettings,
    run=run,
)
