"""The push map: the largest push a standing figure takes in place, by direction, body and controller (MATH: rho).

De Lasa and Macchietto show their controllers surviving single pushes, but not how much they survive. Here it is
measured in rho, what ankles alone could take: a control law without angular momentum reaches about 1.1.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.control.balance import Balance
from counterpoise.control.basic import Controller
from counterpoise.control.momentum_balance import MomentumBalance
from counterpoise.control.stand import Stand
from counterpoise.errors import BadValue, unknown_name
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.upright import blow, trunk_of
from counterpoise.measure.push_survival import Bar
from counterpoise.measure.pushes import DIRECTIONS, PushLimit, push_map
from counterpoise.progress import Watch
from counterpoise.render import palette

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAST = ("human", "child", "asymmetric", "insectoid", "chicken", "ostrich", "dinosaur")
CONTROLLERS: dict[str, Callable[[], Controller]] = {
    "stand": lambda: Stand(),
    "balance": lambda: Balance(),
    "momentum": lambda: MomentumBalance(),
}
Key = tuple[str, str, str]  # controller, figure, body
Limits = Mapping[tuple[str, float], PushLimit]


@dataclass(frozen=True)
class NamedController:
    """Makes a new controller by name, for any figure; it can be sent to a worker process."""

    name: str

    def __call__(self, character: Character) -> Controller:
        return CONTROLLERS[self.name]()


@dataclass(frozen=True)
class PushMapSettings:
    """Survived: no fall, feet within 1 cm, at rest and back at the reference 3 s later, no second wobble (`Bar`)."""

    characters: str = setting("human", "", "figures, separated by commas; all for the whole cast")
    bodies: str = setting("thorax", "", "bodies to push, separated by commas; the trunk where a figure has none")
    controllers: str = setting("stand", "", "stand, balance or momentum, separated by commas; all for the three")
    directions: int = setting(8, "", "number of directions, evenly spread, from forward, counter-clockwise")
    tolerance: float = setting(0.1, "", "of rho")
    highest: float = setting(2.2, "", "largest rho tried")
    duration: float = setting(0.1, "s", "of the push")
    workers: int = setting(0, "", "processes; 0: one for each core")
    wanted: float = setting(1.1, "", "rho that every direction must reach")


def run(settings: PushMapSettings, lab: Lab) -> Outcome:
    """Searches for each controller, figure, body and direction; then films the weakest."""
    chosen = _named(settings.controllers, CONTROLLERS, "controller")
    cast = _named(settings.characters, CAST, "figure")
    if settings.directions < 1:
        raise BadValue(f"push-map: directions is at least 1; got {settings.directions}")
    ways = DIRECTIONS if settings.directions == 8 else np.arange(0.0, 360.0, 360.0 / settings.directions).tolist()
    workers = settings.workers or os.cpu_count() or 1
    jobs = [(control, name) for name in cast for control in chosen]
    maps: dict[Key, Limits] = {}
    for number, (control, name) in enumerate(jobs):
        figure = character(name)
        bodies = list(dict.fromkeys(_body(figure, body) for body in settings.bodies.split(",")))
        found = push_map(
            figure, NamedController(control), bodies, ways, workers=workers, tolerance=settings.tolerance,
            highest=settings.highest, duration=settings.duration,
            progress=_reporter(lab, f"pushing {name} ({control})", number, len(jobs)),
        )  # fmt: skip
        lab.report(f"pushing {name} ({control})", (number + 1) / len(jobs))  # ends here where it was stopped
        for body in bodies:
            maps[control, name, body] = {key: limit for key, limit in found.items() if key[0] == body}
    claims = tuple(_claim(key, limits, settings.wanted) for key, limits in maps.items())
    facts = {" ".join(key): [dataclasses.asdict(limit) for limit in limits.values()] for key, limits in maps.items()}
    film = _filmed(lab, maps, settings)
    return Outcome(claims, {"push_map": polar(maps)}, film, facts)


def _reporter(lab: Lab, stage: str, number: int, jobs: int) -> Watch:
    return lambda p: lab.report(stage, (number + p.share) / jobs)


def _claim(key: Key, limits: Limits, wanted: float) -> Claim:
    control, name, body = key
    angles = ", ".join(f"{limit.direction:.0f}: {limit.rho:.2f} ({limit.force:.0f} N)" for limit in limits.values())
    weakest = min(limits.values(), key=lambda limit: limit.rho)
    return Claim(
        f"{control}, {name} pushed at the {body}: rho at least {wanted:g} in every direction",
        f"by degrees from forward: {angles}; weakest {weakest.rho:.2f} at {weakest.direction:.0f} deg, where a larger "
        f"one ends so: {weakest.why or 'not found'}",
        weakest.rho >= wanted,
    )


def _filmed(lab: Lab, maps: Mapping[Key, Limits], settings: PushMapSettings) -> Film | None:
    """Simulates the largest push survived in the weakest direction of the first map, to be filmed."""
    (control, name, body), limits = next(iter(maps.items()))
    weakest = min(limits.values(), key=lambda limit: limit.rho)
    if weakest.rho == 0.0:
        return None
    push = blow(body, weakest.direction, weakest.force, 0.3, settings.duration)
    lab.simulate("weakest", character(name), CONTROLLERS[control](), 0.3 + settings.duration + Bar().seconds,
                 disturbances=[push])  # fmt: skip
    return Film(
        "weakest", columns=5, panel=(210, 270), times=[0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.3, 1.7, 2.3, 3.2], speed=0.5
    )


def polar(maps: Mapping[Key, Limits]) -> Figure:
    """Plots rho by direction as seen from above, forward up; the circle at 1 is what ankles alone can take."""
    from matplotlib.figure import Figure

    figures = list(dict.fromkeys((name, body) for _, name, body in maps))
    columns = min(len(figures), 4)
    lines = (len(figures) + columns - 1) // columns
    drawing = Figure(figsize=(3.4 * columns + 0.4, 3.5 * lines), layout="constrained")
    axes = drawing.subplots(lines, columns, squeeze=False, subplot_kw={"projection": "polar"}).ravel()
    top = max([limit.rho for limits in maps.values() for limit in limits.values()] + [1.2])
    for axis, (name, body) in zip(axes, figures, strict=False):
        axis.set_theta_zero_location("N")
        round_trip = np.linspace(0.0, 2.0 * np.pi, 90)
        axis.plot(round_trip, np.ones(90), color=palette.INK, linewidth=0.9, linestyle="--")
        own = [(key[0], limits) for key, limits in maps.items() if key[1:] == (name, body)]
        for number, (control, limits) in enumerate(own):
            rows = sorted(limits.values(), key=lambda limit: limit.direction)
            angles = np.radians([row.direction for row in rows] + [rows[0].direction + 360.0])
            values = [row.rho for row in rows] + [rows[0].rho]
            colour = palette.FIGURES[number % len(palette.FIGURES)]
            axis.plot(angles, values, color=colour, linewidth=1.6, marker="o", markersize=3, label=control)
            axis.fill(angles, values, color=colour, alpha=0.08)
        axis.set_ylim(0.0, 1.08 * top)
        axis.set_yticks([0.5, 1.0, 1.5, 2.0][: 1 + int(top / 0.5)])
        axis.tick_params(labelsize=7)
        axis.grid(alpha=0.3)
        axis.set_title(f"{name}, {body}", fontsize=9)
        if len(own) > 1 and axis is axes[0]:
            axis.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(-0.25, 1.15))
    for axis in axes[len(figures) :]:
        axis.remove()
    drawing.suptitle("largest push survived in place, in what ankles alone can take (rho)", fontsize=9)
    return drawing


def _body(character: Character, name: str) -> str:
    return name.strip() if name.strip() in character.segments else trunk_of(character)


def _named(text: str, known: Sequence[str] | Mapping[str, object], kind: str) -> list[str]:
    names = list(known) if text == "all" else [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in known:
            raise unknown_name(kind, name, known, "push-map")
    if not names:
        raise BadValue(f"push-map: name at least one {kind}")
    return list(dict.fromkeys(names))


EXPERIMENT = Experiment(
    name="push-map",
    summary="the largest push survived in place, by direction, body, figure and controller",
    source="ours; after Macchietto 2009 and de Lasa 2011, section 4.1",
    settings=PushMapSettings,
    run=run,
)
