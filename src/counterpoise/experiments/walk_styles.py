"""One walk in nine styles: each is one frozen table of targets."""

from __future__ import annotations

from dataclasses import dataclass

from counterpoise.character.library import character
from counterpoise.control.walk import STYLES, Walk
from counterpoise.experiments.base import Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.walking import gait_plot, run_walks


@dataclass(frozen=True)
class WalkStylesSettings:
    """Every style walks at its own usual speed."""

    seconds: float = setting(15.0, "s", "of each walk")
    starts: int = setting(20, "", "random starts of each style")


def run(settings: WalkStylesSettings, lab: Lab) -> Outcome:
    """Walks in every style from every start."""
    human = character("human")
    runs = [run_walks(lab, name, human, Walk(style=name), settings.seconds, settings.starts) for name in STYLES]
    claims = [one.claim(f"{one.name}: walks for {settings.seconds:g} s in 19 of 20 starts", {}) for one in runs]
    columns = {
        "speed [m/s]": lambda g: g.speed,
        "step [m]": lambda g: g.step_length,
        "time [s]": lambda g: g.step_time,
        "height [cm]": lambda g: 100.0 * g.step_height,
        "stance knee [rad]": lambda g: g.stance_knee,
    }
    film = Film("sad", azimuth=-60.0, count=16, columns=8, panel=(170, 220))
    plot = gait_plot(runs, columns, f"{settings.starts} starts each")
    return Outcome(tuple(claims), {"styles": plot}, film, {one.name: one.facts() for one in runs})


EXPERIMENT = Experiment(
    name="walk-styles",
    summary="normal, fast, slow, sad, proud, sneaking, limping, marching and bouncy walks",
    source="de Lasa 2011, section 4.3 and figure 4.7",
    settings=WalkStylesSettings,
    run=run,
)
