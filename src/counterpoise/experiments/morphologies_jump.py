"""Other bodies jump a tenth of their height: the same planner and controller, nothing tuned for any of them."""

from __future__ import annotations

from dataclasses import dataclass

from counterpoise.character.library import character
from counterpoise.control.perform import JumpNotPlanned, JumpWish
from counterpoise.control.standing_body import standing_body
from counterpoise.errors import unknown_name
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.jumping import Bars, Case, beside_the_plan, jump_plot, run_case

NAMES = ("child", "asymmetric", "insectoid", "ostrich", "chicken", "dinosaur")
HUMAN_COM = 1.0  # [m] lengths of the bars are for a body whose CoM stands so high


@dataclass(frozen=True)
class MorphologiesJumpSettings:
    """The thesis lets other bodies jump; it gives no number."""

    characters: str = setting(",".join(NAMES), "", "figures, separated by commas")
    share: float = setting(0.1, "body heights", "rise of the CoM")
    starts: int = setting(20, "", "random starts of each: joints off by 0.03 rad, 0.1 rad/s, root 0.04 m/s (sd)")
    first: int = setting(0, "", "seed of the first start")


def run(settings: MorphologiesJumpSettings, lab: Lab) -> Outcome:
    """Performs one jump of each body from every start. Bars on lengths scale with the body."""
    results, claims = [], []
    names = [name.strip() for name in settings.characters.split(",") if name.strip()]
    if not names:
        raise unknown_name("figure", settings.characters, NAMES)
    for name in names:
        body = character(name)
        height, size = settings.share * body.height, standing_body(body).height / HUMAN_COM
        bars = Bars(rise=0.03 * size, place=0.1 * size)
        text = (
            f"{name} jumps {height:.2f} m: rise within {100 * bars.rise:.1f} cm, place within {100 * bars.place:.0f} "
            "cm, at most 6 body weights, no step, still within 2 s, in 19 of 20 starts"
        )
        case = Case(JumpWish(height), bars=bars, character=name)
        try:
            result = run_case(lab, name, case, body, settings.starts, settings.first)
        except JumpNotPlanned as error:
            claims.append(Claim(text, str(error), False))
            continue
        results.append(result)
        claims.append(result.claim(text))
    plots = {"morphologies_jump": jump_plot(results, f"{settings.starts} starts each")} if results else {}
    film = Film(results[0].name, azimuth=-60.0, count=16, columns=8, panel=(180, 240)) if results else None
    return Outcome(
        tuple(claims), plots, film, {r.name: r.facts() for r in results},
        pictures={f"jump_{r.name}": beside_the_plan(r) for r in results},
    )  # fmt: skip


EXPERIMENT = Experiment(
    name="morphologies-jump",
    summary="child, asymmetric, insectoid, ostrich, chicken and dinosaur jump a tenth of their height",
    source="own; after de Lasa 2011, section 4.5",
    settings=MorphologiesJumpSettings,
    run=run,
)
