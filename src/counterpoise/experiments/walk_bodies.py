"""Many bodies walk by the same controller, with nothing tuned for any of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.loading import load_character
from counterpoise.control.walk import Walk
from counterpoise.errors import unknown_name
from counterpoise.experiments.base import Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.walking import gait_plot, run_walks

DISTANCE = 20.0  # [m]
FILES = (".xml", ".urdf")


def _human(**factors: float) -> Callable[[], Character]:
    return lambda: character("human").rescaled(factors)


BODIES: dict[str, Callable[[], Character]] = {
    **{
        name: (lambda name=name: character(name))  # type: ignore[misc]
        for name in ("human", "child", "asymmetric", "insectoid", "ostrich", "dinosaur", "chicken")
    },
    "arms x2": _human(arms=2.0),
    "arms x0.5": _human(arms=0.5),
    "one arm x2": lambda: character("human").rescaled({"upper_arm_left": 2.0, "forearm_left": 2.0, "hand_left": 2.0}),
    "legs x0.5": _human(legs=0.5),
    "trunk x1.5": _human(abdomen=1.5, thorax=1.5),
    "head x2": _human(head=2.0),
}


@dataclass(frozen=True)
class WalkBodiesSettings:
    """Every body walks at its own usual speed, mostly 0.4 sqrt(leg length x g), until it has gone 20 m."""

    starts: int = setting(20, "", "random starts of each body")
    only: str = setting(
        "all", "", f"which bodies, separated by commas: {', '.join(BODIES)}, or files such as robot.xml"
    )


def _body(name: str) -> Character:
    """Returns a body by its name here, or from a file."""
    if name in BODIES:
        return BODIES[name]()
    if Path(name).suffix in FILES:
        return load_character(name)
    raise unknown_name("body", name, BODIES)


def run(settings: WalkBodiesSettings, lab: Lab) -> Outcome:
    """Walks with every body from every start."""
    names = list(BODIES) if settings.only == "all" else [name.strip() for name in settings.only.split(",")]
    runs = []
    for name in names:
        body, walk = _body(name), Walk()
        seconds = DISTANCE / walk.usual_speed(body) * 1.1 + 3.0
        title = name if name in BODIES else Path(name).stem
        runs.append(run_walks(lab, title, body, walk, seconds, settings.starts))
    claims = [one.claim(f"{one.name}: walks 20 m in 19 of 20 starts", {}, DISTANCE) for one in runs]
    columns = {
        "speed [m/s]": lambda g: g.speed,
        "step [m]": lambda g: g.step_length,
        "time [s]": lambda g: g.step_time,
        "drift [cm in 10 m]": lambda g: 1e3 * g.drift / g.distance,
    }
    film = Film(runs[-1].name, azimuth=-90.0, count=16, columns=8, panel=(170, 220))
    plot = gait_plot(runs, columns, f"{settings.starts} starts each")
    return Outcome(tuple(claims), {"bodies": plot}, film, {one.name: one.facts() for one in runs})


EXPERIMENT = Experiment(
    name="walk-bodies",
    summary="a child, birds, an insectoid and people of odd proportions walk 20 m by the same controller",
    source="de Lasa 2011, section 4.4",
    settings=WalkBodiesSettings,
    run=run,
)
