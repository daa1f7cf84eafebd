"""One large blow to the head, 220 N for 0.1 s, with and without the momentum objectives (Macchietto 2008, 7.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.combinations import controller_of, facts_of, run_each
from counterpoise.experiments.impacts import FIRST_BLOW, impact_plot
from counterpoise.experiments.tracking import TrackingReport, track_report
from counterpoise.experiments.tracking_plots import strips
from counterpoise.experiments.upright import blow


@dataclass(frozen=True)
class ImpactHeadSettings:
    """Force, duration and body are the thesis's, whose actor weighed 65 kg; it does not say from which side."""

    mass: float = setting(65.0, "kg", "of the human")
    force: float = setting(220.0, "N", "of the blow")
    duration: float = setting(0.1, "s", "of the blow")
    body: str = setting("head", "", "struck at its centre of mass")
    direction: float = setting(180.0, "deg", "of the blow, from forward, counter-clockwise: 180 strikes the face")
    seconds: float = setting(4.0, "s", "simulated after the blow")
    variant: str = setting("2009", "", "of MomentumBalance: 2009, or 2008 as in the thesis")
    search: bool = setting(True, "", "find the largest blow each survives")
    largest: float = setting(340.0, "N", "largest blow of that search, which ends within 20 N")


def run(settings: ImpactHeadSettings, lab: Lab) -> Outcome:
    """Simulates the same blow with each combination of objectives, and with Stand."""
    human = character("human", mass=settings.mass)
    push = blow(settings.body, settings.direction, settings.force, FIRST_BLOW, settings.duration)
    seconds = FIRST_BLOW + settings.duration + settings.seconds
    runs = run_each(lab, human, None, seconds, disturbances=[push], variant=settings.variant)
    found = {name: track_report(rec) for name, rec in runs.items()}
    limits = (
        {name: largest_blow(name, human, settings, found[name].stood, lab) for name in runs} if settings.search else {}
    )
    claims = (
        Claim(
            "with tracking only the supports rotate and balance is lost",
            _outcome(found["tracking"], limits.get("tracking")),
            not found["tracking"].stood,
        ),
        Claim(
            "unable to balance without the angular objective (tracking and linear)",
            _outcome(found["linear"], limits.get("linear")),
            not found["linear"].stood,
        ),
        Claim(
            "with all objectives the figure balances",
            _outcome(found["angular"], limits.get("angular")),
            found["angular"].stood,
        ),
        Claim("so does Stand (ours)", _outcome(found["stand"], limits.get("stand")), found["stand"].stood),
    )
    moments = [
        FIRST_BLOW,
        FIRST_BLOW + 0.2,
        FIRST_BLOW + 0.4,
        FIRST_BLOW + 0.7,
        FIRST_BLOW + 1.2,
        *np.linspace(FIRST_BLOW + 2.0, seconds, 4),
    ]
    plots = {
        "impact": impact_plot(runs, f"{settings.force:.0f} N x {settings.duration:g} s at the {settings.body}"),
        "compared": strips(runs, moments, azimuth=-75.0),
    }
    film = Film(
        "stand", azimuth=-70.0, times=(FIRST_BLOW + np.linspace(0.0, 1.6, 10)).tolist(), panel=(220, 320), speed=0.5
    )
    return Outcome(claims, plots, film, {**facts_of(found), "largest": limits})


def largest_blow(combination: str, character: Character, settings: ImpactHeadSettings, stood: bool, lab: Lab) -> float:
    """Returns the largest blow of this kind after which the figure still stands [N], by bisection to 20 N."""
    low, high = (settings.force, settings.largest) if stood else (0.0, settings.force)
    while high - low > 20.0:
        middle = 0.5 * (low + high)
        push = blow(settings.body, settings.direction, middle, FIRST_BLOW, settings.duration)
        rec = lab.simulate(
            "trial", character, controller_of(combination, variant=settings.variant), 4.0, disturbances=[push]
        )
        low, high = (middle, high) if track_report(rec).stood else (low, middle)
    lab.recordings.pop("trial", None)
    return low


def _outcome(one: TrackingReport, limit: float | None) -> str:
    ended = str(one) if one.stood else f"fell at {one.fell:.1f} s"
    return ended + (f"; largest survived {limit:.0f} N" if limit is not None else "")


EXPERIMENT = Experiment(
    name="impact-head",
    summary="one blow of 220 N x 0.1 s to the head: tracking, + linear, + angular, and Stand",
    source="Macchietto 2008, section 7.1, figure 7.2",
    settings=ImpactHeadSettings,
    run=run,
)
