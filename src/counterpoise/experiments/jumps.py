"""Jumps of all kinds, planned by spacetime optimisation and performed, from many disturbed starts."""

from __future__ import annotations

from dataclasses import dataclass

from counterpoise.character.library import character
from counterpoise.control.perform import JumpWish
from counterpoise.experiments.base import Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.jumping import Bars, Case, beside_the_plan, chosen, jump_plot, run_case

TUCKED = 0.78  # [m] from the CoM to the feet: half-way between standing (1.00) and the pose "tuck" (0.57)
SCISSOR = 0.6  # [m] between the feet of a scissor kick, at least; planned: 0.75
CASES = {
    "up 0.15": Case(JumpWish(0.15)),
    "up 0.30": Case(JumpWish(0.3)),
    "up 0.45": Case(JumpWish(0.45)),
    "forward 0.8": Case(JumpWish(0.3, forward=0.8)),
    "forward 1.2": Case(JumpWish(0.3, forward=1.2)),
    "sideways 0.5": Case(JumpWish(0.2, side=0.5)),
    "backward 0.5": Case(JumpWish(0.2, forward=-0.5)),
    "onto 0.3": Case(JumpWish(0.15, forward=0.7, onto=0.3)),
    "off 0.3": Case(JumpWish(0.1, forward=0.7, onto=-0.3)),
    "tuck": Case(JumpWish(0.4, style="tuck"), bars=Bars(reach=TUCKED)),
    "scissor": Case(JumpWish(0.3, style="scissor"), bars=Bars(spread=SCISSOR)),
    "ten in a row": Case(JumpWish(0.15), times=10),
}
PICTURED = ("up 0.45", "forward 1.2", "onto 0.3", "off 0.3", "scissor", "tuck", "backward 0.5")


@dataclass(frozen=True)
class JumpsSettings:
    """Heights are those of the CoM above standing, over the higher of the two grounds."""

    starts: int = setting(20, "", "random starts of each jump: joints off by 0.03 rad, 0.1 rad/s, root 0.04 m/s (sd)")
    first: int = setting(0, "", "seed of the first start")
    only: str = setting("all", "", f"which jumps, separated by commas: {', '.join(CASES)}")


def run(settings: JumpsSettings, lab: Lab) -> Outcome:
    """Performs each jump from every start."""
    human = character("human")
    results = [
        run_case(lab, name, case, human, settings.starts, settings.first)
        for name, case in chosen(CASES, settings.only).items()
    ]
    claims = [
        r.claim(
            f"{r.name}: rise within 3 cm, place within 10 cm, heading within 10 deg, at most 6 body weights, no step, "
            "still within 2 s, in 19 of 20 starts"
        )
        for r in results
    ]
    pictures = {
        f"jump_{r.name.replace(' ', '_').replace('.', '')}": beside_the_plan(r) for r in results if r.name in PICTURED
    }
    film = Film(results[-1].name, azimuth=-60.0, count=16, columns=8, panel=(180, 240))
    return Outcome(
        tuple(claims), {"jumps": jump_plot(results, f"{settings.starts} starts each; dashed: the bars")}, film,
        {r.name: r.facts() for r in results}, pictures=pictures,
    )  # fmt: skip


EXPERIMENT = Experiment(
    name="jumps",
    summary="up, forward, sideways, backward, onto and off a box, tucked, scissor, ten in a row; planned and performed",
    source="own; after de Lasa 2011, section 4.2",
    settings=JumpsSettings,
    run=run,
)
