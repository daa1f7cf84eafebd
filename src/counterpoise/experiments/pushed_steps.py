"""Pushes that no standing body can take in place: it steps, and stands again. Also while it walks and runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterpoise.character.library import character
from counterpoise.control.locomotion import Locomotion
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.going import Continued, steps_taken, under_way
from counterpoise.experiments.upright import trunk_of
from counterpoise.experiments.walking import how_it_fell
from counterpoise.render import palette
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.loop import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIRECTIONS = tuple(range(0, 360, 45))  # [deg] from forward, to the left
STANDING_MOMENT = 1.5  # [s] of the push while it stands
WALKING_MOMENT = 5.0  # [s] of the first push while it walks; others follow within one stride
RUNNING_MOMENT = 10.0  # [s] the same while it runs
STRIDE = 1.1  # [s]
SHARES = {"walks": {40.0: 0.95, 60.0: 0.75}, "runs": {30.0: 0.9}}  # of pushes that should be survived; else 0.95
AFTER = 5.0  # [s] that it is watched after a push
FEW_STEPS = 4.0
Key = tuple[float, int]  # impulse [N s], direction [deg]


@dataclass(frozen=True)
class PushedStepsSettings:
    """Survived: it has not fallen 5 s after a push of 0.1 s at the trunk; where it stood, it stands again."""

    figure: str = setting("human", "", "who is pushed")
    standing: str = setting("40,60,80,110", "N s", "pushes while it stands, separated by commas; none: empty")
    walking: str = setting("20,40,60", "N s", "pushes while it walks; none: empty")
    running: str = setting("30", "N s", "pushes while it runs; none: empty")
    speed: float = setting(1.2, "m/s", "of the walk")
    run: float = setting(2.5, "m/s", "of the run")
    starts: int = setting(3, "", "random starts of each push while it stands")
    moments: int = setting(4, "", "moments of a stride of each push while it walks or runs")
    first_seed: int = setting(0, "", "of the random starts")


@dataclass(frozen=True)
class Survived:
    """How many of the pushes of one size and direction are survived, and by how many steps at most."""

    good: int
    tried: int
    steps: float


def run(settings: PushedStepsSettings, lab: Lab) -> Outcome:
    """Pushes the figure in eight directions, standing, walking and running."""
    body = character(settings.figure)
    part = trunk_of(body)
    claims, maps = [], {}
    kinds = (
        ("stands", settings.standing, 0.0, STANDING_MOMENT),
        ("walks", settings.walking, settings.speed, WALKING_MOMENT),
        ("runs", settings.running, settings.run, RUNNING_MOMENT),
    )
    for name, given, speed, first in kinds:
        sizes = _sizes(given)
        found: dict[Key, Survived] = {}
        for number, (size, way) in enumerate((size, way) for size in sizes for way in DIRECTIONS):
            moments = (
                [(first, settings.first_seed + k) for k in range(settings.starts)]
                if speed == 0.0
                else [(first + STRIDE * k / settings.moments, settings.first_seed) for k in range(settings.moments)]
            )
            good, most = 0, 0.0
            for at, seed in moments:
                angle = math.radians(way)
                force = 10.0 * size * np.array([math.cos(angle), math.sin(angle), 0.0])
                push = Push(part, (float(force[0]), float(force[1]), 0.0), at, 0.1)
                state, memory, before = under_way(speed, seed, at, settings.figure)
                going = Continued(Locomotion(speed), memory)
                recording = simulate(body, going, AFTER, disturbances=[push], start=state, seed=seed)
                if recording.status == "interrupted":
                    raise KeyboardInterrupt
                lab.recordings.setdefault(name, recording)  # the first of each kind is filmed and kept
                stands = speed != 0.0 or str(recording.notes["phase"][-1]) == "stand"
                if not before and not how_it_fell(recording) and stands:
                    good += 1
                    most = max(most, float(steps_taken(recording)))
            found[size, way] = Survived(good, len(moments), most)
            lab.report(f"{name}: pushes", (number + 1) / (len(sizes) * len(DIRECTIONS)))
        if sizes:
            maps[name] = found
            claims += [_claim(name, size, found) for size in sizes]
    filmed = next(iter(lab.recordings), None)
    film = None if filmed is None else Film(filmed, count=10, columns=5, panel=(210, 270))
    facts = {name: {f"{s:g} N s, {w} deg": vars(one) for (s, w), one in found.items()} for name, found in maps.items()}
    return Outcome(tuple(claims), {"pushed_steps": _polar(maps)} if maps else {}, film, facts)


def _sizes(given: str) -> list[float]:
    try:
        sizes = [float(part) for part in given.split(",") if part.strip()]
    except ValueError:
        raise BadValue(f"pushes are numbers [N s], separated by commas; got {given!r}") from None
    if any(not 0.0 < size < math.inf for size in sizes):
        raise BadValue(f"pushes are positive [N s]; got {given!r}")
    return sizes


def _claim(name: str, size: float, found: Mapping[Key, Survived]) -> Claim:
    own = {way: one for (other, way), one in found.items() if other == size}
    good, tried = sum(one.good for one in own.values()), sum(one.tried for one in own.values())
    words = ", ".join(f"{way}: {one.good}/{one.tried}" for way, one in own.items())
    most = max(one.steps for one in own.values())
    if name == "stands":
        text = f"it stands, {size:g} N s: survived in every direction, with at most {FEW_STEPS:g} steps"
        return Claim(text, f"{good} of {tried}, at most {most:g} steps; by degrees from forward {words}",
                     good == tried and most <= FEW_STEPS)  # fmt: skip
    share = SHARES[name].get(size, 0.95)
    text = f"it {name}, {size:g} N s: survived {100.0 * share:g} times of 100"
    return Claim(text, f"{good} of {tried}; {words}", good >= share * tried)


def _polar(maps: Mapping[str, Mapping[Key, Survived]]) -> Figure:
    """Draws the largest push survived every time, by direction as seen from above, forward up."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(3.8 * len(maps), 3.9), layout="constrained")
    axes = drawing.subplots(1, len(maps), squeeze=False, subplot_kw={"projection": "polar"})[0]
    for axis, (name, found) in zip(axes, maps.items(), strict=True):
        axis.set_theta_zero_location("N")
        for share, style in ((1.0, "-"), (0.5, ":")):
            reach = []
            for way in DIRECTIONS:
                sizes = [s for (s, w), one in found.items() if w == way and one.good >= share * one.tried]
                reach.append(max(sizes, default=0.0))
            turn = [*np.radians(DIRECTIONS), 2.0 * math.pi]
            label = "every time" if share == 1.0 else "half of the times"
            axis.plot(turn, [*reach, reach[0]], style, color=palette.FIGURES[0], label=label)
        axis.set_title(f"it {name}: push [N s] survived", fontsize=9)
        axis.tick_params(labelsize=7)
        axis.legend(fontsize=7, loc="lower right")
    return drawing


EXPERIMENT = Experiment(
    name="pushed-steps",
    summary="pushes from eight sides, while it stands, walks and runs: it steps and goes on",
    source="de Lasa 2011, section 5.4",
    settings=PushedStepsSettings,
    run=run,
)
