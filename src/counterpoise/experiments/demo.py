"""The demo: the best the system can do so far, in one run that leaves a folder of things to open.

So far: the whole cast dropped as rag dolls, one over another.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from counterpoise import measure, spatial
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.state import State
from counterpoise.errors import BadFile
from counterpoise.render.camera import frame_points
from counterpoise.render.pictures import filmstrip
from counterpoise.render.sources import take_of
from counterpoise.render.video import video
from counterpoise.simulate import Recording, World, replay, simulate

STANDING = {"dinosaur": (-0.9, 0.25), "human": (0.35, -0.45), "ostrich": (1.15, 0.45)}  # where [m]
FALLING = {  # where [m], height of the lowest point [m], horizontal speed [m/s]
    "insectoid": ((0.5, 0.1), 2.0, (-0.6, 0.0)),
    "asymmetric": ((-0.6, -0.1), 3.0, (0.7, 0.1)),
    "child": ((0.8, 0.0), 4.2, (-0.8, 0.0)),
    "chicken": ((-0.2, 0.1), 5.6, (0.3, 0.0)),
}
SEED = 3
STAGE = [
    (-2.0, -1.2, 0.0),
    (2.0, -1.2, 0.0),
    (-2.0, 1.2, 2.6),
    (2.0, 1.2, 2.6),
]  # what the camera keeps in view [m]
Array = NDArray[np.float64]
Progress = Callable[[str, float], None]  # stage name, share done


@dataclass(frozen=True)
class DemoResult:
    """What the demo made."""

    recording: Recording
    files: dict[str, Path]
    facts: list[tuple[str, str, str, str]]  # figure, weight, hardest landing, lowest CoM
    replay_error: float


def drop_the_cast(seconds: float = 4.0, seed: int = SEED, progress: Callable[[float], None] | None = None) -> Recording:
    """Three figures stand limp and fold up while the others fall onto them, turned about and spinning."""
    figures = [character(name) for name in (*STANDING, *FALLING)]
    rng = np.random.default_rng(seed)
    starts = [_standing(figure, *STANDING[figure.name], rng) for figure in figures[: len(STANDING)]]
    starts += [_thrown(figure, *FALLING[figure.name], rng) for figure in figures[len(STANDING) :]]
    return simulate(figures, None, seconds, world=World(friction=0.9), start=starts, seed=seed, progress=progress)


def run_demo(folder: str | os.PathLike[str], progress: Progress | None = None, seconds: float = 4.0) -> DemoResult:
    """Simulate, record, check by replay, draw; everything lands in `folder`."""
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"cannot make the folder {str(home)!r}: {error.strerror}") from error

    def tell(stage: str, share: float) -> None:
        if progress is not None:
            progress(stage, share)

    recording = drop_the_cast(seconds, progress=lambda t: tell("simulating", t / seconds))
    tell("simulating", 1.0)
    files = {name: home / name for name in ("demo.mp4", "filmstrip.png", "recording.npz")}
    recording.save(files["recording.npz"])
    if recording.status == "interrupted":
        raise KeyboardInterrupt  # what was simulated is kept; the rest is not wanted
    report = replay(recording, progress=lambda t: tell("replaying in plain MuJoCo", t / recording.duration))
    tell("replaying in plain MuJoCo", 1.0)
    take = take_of(recording)
    last = float(recording.time[-1])
    view = frame_points(STAGE, azimuth=-70.0, elevation=14.0, aspect=16 / 9)
    moments = np.array([0.0, 0.15, 0.28, 0.42, 0.6, 1.0]) * last
    filmstrip(take, times=moments, path=files["filmstrip.png"], size=(640, 360), columns=2, camera=view)
    tell("drawing", 0.05)
    video(
        take, files["demo.mp4"], fps=30, size=(960, 540), camera=view, samples=4,
        progress=lambda done, all_: tell("drawing", 0.05 + 0.95 * done / all_),
    )  # fmt: skip
    tell("drawing", 1.0)
    return DemoResult(recording, files, _facts(recording), report.final_error)


def _standing(figure: Character, x: float, y: float, rng: np.random.Generator) -> State:
    """A figure on its feet, facing anywhere, given a nudge."""
    yaw = rng.uniform(-np.pi, np.pi)
    q, v = _turned(figure.neutral, np.array([0.0, 0.0, yaw])), np.zeros(figure.nv)
    q[:2] += (x, y)
    v[:2] = rng.uniform(-0.4, 0.4, 2)
    return figure.state(q, v)


def _thrown(
    figure: Character,
    place: tuple[float, float],
    bottom: float,
    speed: tuple[float, float],
    rng: np.random.Generator,
) -> State:
    """A figure in the air, turned at random and spinning."""
    q, v = _turned(figure.neutral, rng.uniform(-1.6, 1.6, 3)), np.zeros(figure.nv)
    q[:3] = [*place, bottom + 0.5 * figure.height]
    v[:2], v[3:6] = speed, rng.uniform(-4.0, 4.0, 3)
    return figure.state(q, v)


def _turned(pose: Array, turn: Array) -> Array:
    q = pose.copy()
    q[3:7] = spatial.multiply(spatial.exp(turn), q[3:7])
    return q


def _facts(recording: Recording) -> list[tuple[str, str, str, str]]:
    rows = []
    for number, who in enumerate(recording.figures):
        peak = float(np.linalg.norm(measure.ground_force(recording, number), axis=1).max(initial=0.0))
        low = float(measure.com(recording, number)[:, 2].min())
        rows.append((who.name, f"{who.mass:.0f} kg", f"{peak / (who.mass * 9.81):.1f} x weight", f"{low:.2f} m"))
    return rows
