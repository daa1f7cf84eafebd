"""Animations: the frames of a motion as they are made, and the report on every frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.pose.result import Status
from counterpoise.progress import Watch, watching

Watching: TypeAlias = Watch | bool | None
"""Gets a report after every frame; True draws a bar on standard error."""

GOAL_TOLERANCE = 1e-4  # [m, rad]: a goal nearer than this is reached
MAX_DURATION = 3600.0  # [s]
MAX_FRAMES = 1_000_000


@dataclass(frozen=True, eq=False)
class Animation:
    """A motion, and the report on how well every frame met its goals and constraints."""

    motion: Motion
    statuses: tuple[Status, ...]  # of each frame
    residuals: Array  # (n,) of the worst goal of each frame [m, rad]
    violations: Array  # (n,) of the worst constraint of each frame [m, rad]
    worst_goals: tuple[str, ...]  # the name of each frame's worst goal
    wanted: int  # number of frames asked for
    seconds: float  # [s] of computation
    solved: int = 0  # frames that were solved; others were taken from an earlier animation
    memory: Mapping[int, KeptFrame] = field(default_factory=dict, repr=False)  # of keys: for the next animation

    @property
    def complete(self) -> bool:
        """Whether all frames were made; false after an interruption."""
        return len(self.motion) == self.wanted

    @property
    def worst(self) -> tuple[float, str, float]:
        """When a goal was missed most [s], its name, and by how much [m, rad]."""
        k = int(np.argmax(self.residuals))
        return float(self.motion.times[k]), self.worst_goals[k], float(self.residuals[k])

    def __bool__(self) -> bool:
        return self.complete and all(status == "solved" for status in self.statuses)

    def __repr__(self) -> str:
        solved = sum(status == "solved" for status in self.statuses)
        when, what, size = self.worst
        cut = "" if self.complete else f" of {self.wanted} asked for"
        return (
            f"Animation({len(self.motion)} frames{cut}, {solved} solved; worst: {what or 'no goals'} {size:.2g} "
            f"at {when:.2f} s; {self.seconds:.2f} s)"
        )


class Frame(NamedTuple):
    """One pose of an animation, with the residuals of its goals and the violations of its constraints by name."""

    q: Array  # (nq,)
    held: bool  # constraints hold
    residuals: dict[str, float]  # [m, rad]
    violations: dict[str, float]  # [m, rad]


class KeptFrame(NamedTuple):
    """A frame of an animation from keys, and what it was made from."""

    reference: Array  # (nq,) the interpolated pose
    stamp: bytes  # what goals and constraints said
    frame: Frame


def make_frames(
    character: Character, times: Array, make: Callable[[int, float], Frame], progress: Watching, name: str
) -> Animation:
    """Calls `make(k, time)` for one frame after the other and returns the animation.

    Stopped, by a falsy answer or by Ctrl-C, it keeps the frames that are done, at least one.
    """
    began, frames = time.perf_counter(), []
    try:
        with _drawn(progress) as watch, watching(watch) as reporter:
            for k, t in enumerate(times.tolist()):
                frames.append(make(k, t))
                if not reporter.report("posing", (k + 1) / len(times), f"frame {k + 1} of {len(times)}"):
                    break
    except KeyboardInterrupt:
        if not frames:
            raise
    worst = [max(frame.residuals.items(), key=lambda item: item[1], default=("", 0.0)) for frame in frames]
    return Animation(
        Motion(character, times[: len(frames)], np.array([frame.q for frame in frames]), name=name),
        tuple(_status(frame.held, size) for frame, (_, size) in zip(frames, worst, strict=True)),
        np.array([size for _, size in worst]),
        np.array([max(frame.violations.values(), default=0.0) for frame in frames]),
        tuple(goal for goal, _ in worst),
        len(times),
        time.perf_counter() - began,
        len(frames),
    )


def frame_times(first: float, last: float, rate: float) -> Array:
    """Returns even times from `first` to `last`, both included, at the rate nearest to `rate` [frames/s]."""
    if not (np.isfinite(rate) and rate > 0.0):
        raise BadValue(f"a rate is a positive number of frames per second, not {rate!r}", rate=rate)
    count = max(1, round((last - first) * rate))
    if last - first > MAX_DURATION or count > MAX_FRAMES:
        raise BadValue(f"{last - first:.3g} s at {rate:g} frames a second are too many frames; at most {MAX_FRAMES}")
    return np.linspace(first, last, count + 1)


def _status(held: bool, residual: float) -> Status:
    if not held:
        return "infeasible"
    return "solved" if residual <= GOAL_TOLERANCE else "unreachable"


@contextmanager
def _drawn(progress: Watching) -> Iterator[Watch | None]:
    """Yields who watches: whoever was given, or a bar."""
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield None
    else:
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True)) as bar:
            task = bar.add_task("animating", total=1.0)
            yield lambda progress: bar.update(task, completed=progress.share)
