"""Jumps with a twist of 90, 180 and 360 degrees, planned and performed, from many disturbed starts."""

from __future__ import annotations

from dataclasses import dataclass

from counterpoise.character.library import character
from counterpoise.control.perform import JumpWish
from counterpoise.experiments.base import Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.jumping import Case, beside_the_plan, jump_plot, run_case

CASES = {
    "twist 90": Case(JumpWish(0.3, twist=90.0)),
    "twist 180": Case(JumpWish(0.3, twist=180.0)),
    "twist 360": Case(JumpWish(0.4, twist=360.0)),
}


@dataclass(frozen=True)
class TwistJumpsSettings:
    """The thesis shows 90 and 180 degrees in its video."""

    starts: int = setting(20, "", "random starts of each jump: joints off by 0.03 rad, 0.1 rad/s, root 0.04 m/s (sd)")
    first: int = setting(0, "", "seed of the first start")
    only: str = setting("all", "", f"which jumps, separated by commas: {', '.join(CASES)}")


def run(settings: TwistJumpsSettings, lab: Lab) -> Outcome:
    """Performs each twist from every start."""
    from counterpoise.experiments.jumping import chosen

    human = character("human")
    results = [
        run_case(lab, name, case, human, settings.starts, settings.first)
        for name, case in chosen(CASES, settings.only).items()
    ]
    claims = [
        r.claim(
            f"{r.name} deg: heading within 10 deg, rise within 3 cm, place within 10 cm, at most 6 body weights, no "
            "step, still within 2 s, in 19 of 20 starts"
        )
        for r in results
    ]
    film = Film(results[-1].name, azimuth=-60.0, count=16, columns=8, panel=(180, 240), speed=0.5)
    return Outcome(
        tuple(claims), {"twist_jumps": jump_plot(results, f"{settings.starts} starts each; dashed: the bars")}, film,
        {r.name: r.facts() for r in results},
        pictures={f"jump_{r.name.replace(' ', '_')}": beside_the_plan(r) for r in results},
    )  # fmt: skip


EXPERIMENT = Experiment(
    name="twist-jumps",
    summary="jumps with 90, 180 and 360 degrees of twist, planned and performed",
    source="own; after de Lasa 2011, section 4.2",
    settings=TwistJumpsSettings,
    run=run,
)
