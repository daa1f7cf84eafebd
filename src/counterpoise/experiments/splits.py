"""A jump with the legs spread in the air, planned and performed, from many disturbed starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.character.library import character
from counterpoise.control.perform import JumpWish
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.jumping import Bars, Case, beside_the_plan, jump_plot, run_case

SPREAD = 0.9  # [m] between the feet in the air, at least


@dataclass(frozen=True)
class SplitsSettings:
    """The thesis shows air-splits in figure 4.4; it gives no number."""

    starts: int = setting(20, "", "random starts: joints off by 0.03 rad, 0.1 rad/s, root 0.04 m/s (sd)")
    first: int = setting(0, "", "seed of the first start")
    height: float = setting(0.4, "m", "rise of the CoM")


def run(settings: SplitsSettings, lab: Lab) -> Outcome:
    """Performs the jump from every start."""
    human = character("human")
    case = Case(JumpWish(settings.height, style="split"), bars=Bars(spread=SPREAD))
    result = run_case(lab, "split", case, human, settings.starts, settings.first)
    spread = np.array([f.spread for flights in result.flights for f in flights])
    claims = (
        result.claim(
            f"at least {SPREAD:g} m between the feet; rise within 3 cm, place within 10 cm, at most 6 body weights, no "
            "step, still within 2 s, in 19 of 20 starts"
        ),
        Claim(
            f"the feet are at least {SPREAD:g} m apart",
            f"{spread.mean():.2f} m, least {spread.min():.2f} m" if len(spread) else "it did not leave the ground",
            len(spread) > 0 and bool(spread.min() >= SPREAD),
        ),
    )
    film = Film("split", azimuth=-20.0, count=16, columns=8, panel=(180, 240), speed=0.5)
    return Outcome(
        claims, {"splits": jump_plot([result], f"{settings.starts} starts; dashed: the bars")}, film,
        {"split": result.facts()}, pictures={"jump_split": beside_the_plan(result, azimuth=-20.0)},
    )  # fmt: skip


EXPERIMENT = Experiment(
    name="splits",
    summary="a jump with the legs spread in the air, planned and performed",
    source="own; after de Lasa 2011, section 4.2, figure 4.4",
    settings=SplitsSettings,
    run=run,
)
