"""A human walks over slopes, rough ground, steps, stairs, gaps, stones and a beam; some of it is not seen.

Every course begins with level ground. A start is a success where the figure is upright and has passed the course.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from counterpoise.character.library import character
from counterpoise.control.locomotion import Locomotion
from counterpoise.control.walk import Walk
from counterpoise.experiments.base import Experiment, Lab, Outcome, setting
from counterpoise.experiments.trials import Trial, run_trials
from counterpoise.experiments.walking import how_it_fell
from counterpoise.simulate.start import disturbed_start
from counterpoise.simulate.world import World
from counterpoise.terrain import Box, Gap, Piece, Ramp, Stairs, SteppingStones, Terrain, rough_ground

START = 1.5  # [m] where the courses begin; the level ground before is for starting
WIDE = 6.0  # [m] width of the courses
Pieces = list[Piece]


@dataclass(frozen=True)
class WalkCourse:
    """Ground to walk over, how far and for how long, and how many of 20 starts must pass."""

    words: str
    pieces: Callable[[int], Pieces]  # of a start's number: rough ground and stones are others for each
    passed: float  # [m] x beyond which it has passed
    seconds: float
    bar: int = 19  # of 20
    seen: bool = True  # the walker is told
    jumps: bool = False  # it is too high for a step: `Locomotion` jumps onto it, or down from it


def slope(degrees: float, length: float = 4.0) -> Pieces:
    """Returns a slope up, or down from a plateau where degrees are negative."""
    height = length * math.tan(math.radians(abs(degrees)))
    if degrees > 0.0:
        return [Ramp((START, 0.0), length, height, WIDE, landing=10.0)]
    return [plateau(height), Ramp((START + length, 0.0), length, height, WIDE, yaw=180.0)]


def plateau(height: float) -> Box:
    return Box.between((-3.0, -0.5 * WIDE), (START, 0.5 * WIDE), height)


def step(height: float) -> Pieces:
    if height < 0.0:
        return [plateau(-height)]
    return [Box.between((START, -0.5 * WIDE), (START + 8.0, 0.5 * WIDE), height)]


def stairs(rise: float, steps: int = 5, tread: float = 0.3) -> Pieces:
    if rise > 0.0:
        return [Stairs((START, 0.0), steps, rise, tread, 3.0, landing=10.0)]
    return [Stairs((START + steps * tread, 0.0), steps, -rise, tread, 3.0, landing=5.0, yaw=180.0)]


def rough(height: float, seed: int, length: float) -> Pieces:
    return [rough_ground((0.5 * length, 0.0), (length + 4.0, 3.0), height, level=0.8, seed=seed)]


def stones(seed: int, count: int = 6, spacing: float = 0.5) -> Pieces:
    far = START + spacing * count + 0.1
    row = SteppingStones.in_row(
        (START + 0.6 * spacing, 0.0), count, spacing, size=0.3, height=0.0, scatter=0.03, height_scatter=0.02, seed=seed
    )
    return [Gap((0.5 * (START + far), 0.0), (far - START, 4.0), 0.5), row]


def beam(length: float = 3.0, width: float = 0.2) -> Pieces:
    long = Box.between((START - 0.01, -0.5 * width), (START + length + 0.01, 0.5 * width), 0.0)
    return [Gap((START + 0.5 * length, 0.0), (length, 4.0), 0.5), long]


COURSES: dict[str, WalkCourse] = {
    "up-15": WalkCourse("15 degrees up", lambda seed: slope(15.0), 5.5, 13.0),
    "down-15": WalkCourse("15 degrees down", lambda seed: slope(-15.0), 5.5, 12.0),
    "rough": WalkCourse("30 m of rough ground, +-5 cm", lambda seed: rough(0.05, seed, 30.0), 30.0, 50.0),
    "step-up-0.1": WalkCourse("a step up of 0.1 m", lambda seed: step(0.1), 3.5, 8.0),
    "step-down-0.1": WalkCourse("a step down of 0.1 m", lambda seed: step(-0.1), 3.5, 8.0),
    "step-down-0.2": WalkCourse("a step down of 0.2 m", lambda seed: step(-0.2), 3.0, 9.0),
    "step-down-0.3": WalkCourse("a step down of 0.3 m", lambda seed: step(-0.3), 3.0, 10.0, bar=20),
    "step-up-0.3": WalkCourse("a step up of 0.3 m", lambda seed: step(0.3), 3.0, 10.0),
    "step-up-0.5": WalkCourse("a step up of 0.5 m", lambda seed: step(0.5), 3.0, 14.0, bar=15, jumps=True),
    "step-down-1": WalkCourse("a step down of 1 m", lambda seed: step(-1.0), 3.5, 14.0, bar=15, jumps=True),
    "stairs-up": WalkCourse("five stairs of 0.17 m up", lambda seed: stairs(0.17), 4.0, 12.0),
    "stairs-down": WalkCourse("five stairs of 0.17 m down", lambda seed: stairs(-0.17), 4.0, 12.0),
    "gap": WalkCourse("a gap of 0.5 m", lambda seed: [Gap((START + 0.75, 0.0), (0.5, WIDE), 1.0)], 4.0, 9.0),
    "stones": WalkCourse("six stones of 0.3 m, 0.5 m apart", stones, 4.9, 10.0),
    "beam": WalkCourse("a beam of 0.2 m, 3 m long", lambda seed: beam(), 4.8, 10.0),
    "unseen-up-0.03": WalkCourse("0.03 m up that it is not told of", lambda seed: step(0.03), 4.0, 7.0, seen=False),
    "unseen-down-0.03": WalkCourse(
        "0.03 m down that it is not told of", lambda seed: step(-0.03), 4.0, 7.0, seen=False
    ),
    "unseen-up-5": WalkCourse("5 degrees up that it is not told of", lambda seed: slope(5.0), 5.5, 9.0, seen=False),
    "unseen-down-5": WalkCourse(
        "5 degrees down that it is not told of", lambda seed: slope(-5.0), 5.5, 9.0, seen=False
    ),
}


@dataclass(frozen=True)
class TerrainWalkSettings:
    """Courses by name, each from several starts."""

    courses: str = setting("all", "", "names separated by commas, or all")
    speed: float = setting(1.2, "m/s", "asked for; it slows down by itself on hills and steps")
    starts: int = setting(20, "", "random starts of each course: joints off by 0.03 rad, 0.1 rad/s, root 0.04 m/s (sd)")
    first_seed: int = setting(0, "", "of the random starts")


def run(settings: TerrainWalkSettings, lab: Lab) -> Outcome:
    """Walks over each course from every start."""
    trials = {
        name: Trial(course.words, partial(walk_course, course=course, speed=settings.speed), course.bar)
        for name, course in COURSES.items()
    }
    return run_trials(lab, EXPERIMENT.name, "course", trials, settings.courses, settings.starts, settings.first_seed)


def walk_course(lab: Lab, name: str, seed: int, course: WalkCourse, speed: float) -> str:
    """Walks over a course once. Returns why it did not pass; empty where it did. The recording is kept by name."""
    human, terrain = character("human"), Terrain(course.pieces(seed))
    world = World(terrain=terrain)
    recording = lab.simulate(
        name, human, (Locomotion if course.jumps else Walk)(speed, terrain=terrain if course.seen else None),
        course.seconds, world=world, start=disturbed_start(human, seed, world), seed=seed,
    )  # fmt: skip
    fall = how_it_fell(recording)
    reached = float(np.max(recording.qpos[:, 0]))
    return fall or ("" if reached > course.passed else f"only {reached:.1f} m of {course.passed:g}")


EXPERIMENT = Experiment(
    name="terrain-walks",
    summary="a human walks over slopes, rough ground, steps, stairs, gaps, stones and a beam",
    source="de Lasa 2011, chapter 5; bars are ours",
    settings=TerrainWalkSettings,
    run=run,
)
