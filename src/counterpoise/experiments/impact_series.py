"""A series of blows to the upper body, 150 N for 0.1 s each, with and without momentum objectives (Macchietto 2008)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.character.library import character
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.combinations import WORDS, facts_of, run_each
from counterpoise.experiments.impacts import FIRST_BLOW, blows_survived, impact_plot
from counterpoise.experiments.tracking import foot_tilt, standing_feet, track_report
from counterpoise.experiments.tracking_plots import strips
from counterpoise.experiments.upright import blow
from counterpoise.simulate.recording import Recording

BLOWS = (  # body, direction [deg] from forward, counter-clockwise
    ("thorax", 0.0),
    ("head", 180.0),
    ("upper_arm_left", -90.0),
    ("thorax", 180.0),
    ("head", 0.0),
    ("upper_arm_right", 45.0),
)


@dataclass(frozen=True)
class ImpactSeriesSettings:
    """Force and duration are the thesis's, whose actor weighed 65 kg; places and times of the blows are ours."""

    mass: float = setting(65.0, "kg", "of the human")
    force: float = setting(150.0, "N", "of each blow")
    duration: float = setting(0.1, "s", "of each blow")
    interval: float = setting(1.0, "s", "from one blow to the next")
    blows: int = setting(6, "", "how many: thorax, head and arms in turn, from all sides")
    seconds: float = setting(2.0, "s", "simulated after the last blow")
    variant: str = setting("2009", "", "of MomentumBalance: 2009, or 2008 as in the thesis")


def run(settings: ImpactSeriesSettings, lab: Lab) -> Outcome:
    """Simulates the same blows with each combination of objectives, and with Stand."""
    human = character("human", mass=settings.mass)
    pushes = [
        blow(*BLOWS[i % len(BLOWS)], settings.force, FIRST_BLOW + i * settings.interval, settings.duration)
        for i in range(settings.blows)
    ]
    seconds = pushes[-1].start + settings.duration + settings.seconds
    runs = run_each(lab, human, None, seconds, disturbances=pushes, variant=settings.variant)
    found = {name: track_report(rec) for name, rec in runs.items()}
    taken = {name: blows_survived(one, pushes) for name, one in found.items()}
    until = pushes[max(min(taken.values()) - 1, 0)].start if len(pushes) > 1 else seconds
    tilts = {name: teeter(rec, until) for name, rec in runs.items()}
    steady = ", ".join(f"{WORDS[name]} {tilts[name]:.1f}" for name in runs)
    claims = (
        Claim(
            "tracking only keeps its balance, but the supports teeter",
            f"{found['tracking']}; {taken['tracking']} of {len(pushes)} blows",
            found["tracking"].stood and tilts["tracking"] > 2.0 * tilts["stand"],
        ),
        Claim(
            "tracking and linear falls after the second blow",
            f"{found['linear']}; {taken['linear']} of {len(pushes)} blows",
            not found["linear"].stood and taken["linear"] <= 2,
        ),
        Claim(
            "with all objectives the supports are steadier than with fewer",
            f"{found['angular']}; in the first {until:.1f} s, while all stand, feet turn by: {steady} deg",
            found["angular"].stood and tilts["angular"] < min(tilts["tracking"], tilts["linear"]),
        ),
        Claim("Stand takes them all, its feet flat (ours)", str(found["stand"]), found["stand"].stood),
    )
    moments = [p.start + 0.3 for p in pushes][:8]
    plots = {
        "impacts": impact_plot(runs, f"{settings.blows} blows of {settings.force:.0f} N x {settings.duration:g} s"),
        "compared": strips(runs, [*moments, seconds], azimuth=-60.0),
    }
    times = np.concatenate([[p.start + 0.12, p.start + 0.4] for p in pushes]).tolist()
    film = Film("stand", azimuth=-55.0, times=times, columns=6, panel=(220, 300), speed=0.5)
    return Outcome(claims, plots, film, {**facts_of(found), "blows": taken})


def teeter(rec: Recording, until: float) -> float:
    """Returns the largest rotation of a foot off the ground up to a time [deg]."""
    tilt = foot_tilt(rec, standing_feet(rec.character, None))
    return float(np.degrees(tilt[: int(np.searchsorted(rec.time, until)) + 1].max()))


EXPERIMENT = Experiment(
    name="impact-series",
    summary="blows of 150 N x 0.1 s to thorax, head and arms: tracking, + linear, + angular, and Stand",
    source="Macchietto 2008, section 7.1",
    settings=ImpactSeriesSettings,
    run=run,
)
