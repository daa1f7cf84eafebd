"""Animation: a motion from effectors that follow paths, pins kept in every frame (after Bawa 1995).

wave = cp.Path.through("hand_right", points, duration=1.5, speed="ease")
motion = cp.animate(human, [wave], [cp.Pin("foot_left"), cp.Lock("foot_left")])
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.pose.drag import PoseDrag
from counterpoise.pose.paths import Path
from counterpoise.pose.result import Status
from counterpoise.pose.solver import PoseTuning, solve_pose
from counterpoise.pose.wishes import Constraint, Goal, Posture

Array = NDArray[np.float64]
Progress = Callable[[int, int], None]

REACHED = 1e-4  # [m, rad]: a goal nearer than this is met
POSTURE = 2e-3  # weight of the posture beside a reach of weight 1: costs less than 0.1 mm of it
LONGEST = 3600.0  # [s]
MOST = 1_000_000  # frames
FOLLOWING = PoseTuning(iterations=30, restarts=0, tolerance=1e-7)  # each frame to its end, so that no rounding shows


@dataclass(frozen=True, eq=False)
class Animation:
    """A motion and the account of its making, frame by frame."""

    motion: Motion
    statuses: tuple[Status, ...]  # of each frame
    residuals: Array  # (n,) the worst goal of each frame [m, rad]
    violations: Array  # (n,) the worst constraint of each frame [m, rad]
    culprits: tuple[str, ...]  # the name of each frame's worst goal
    wanted: int  # frames asked for
    seconds: float  # [s] it took

    @property
    def complete(self) -> bool:
        """Whether it was not interrupted."""
        return len(self.motion) == self.wanted

    @property
    def worst(self) -> tuple[float, str, float]:
        """When a goal was missed most, which, and by how much [m, rad]."""
        k = int(np.argmax(self.residuals))
        return float(self.motion.times[k]), self.culprits[k], float(self.residuals[k])

    def __bool__(self) -> bool:
        return self.complete and all(status == "solved" for status in self.statuses)

    def __repr__(self) -> str:
        solved = sum(status == "solved" for status in self.statuses)
        when, what, size = self.worst
        cut = "" if self.complete else f" of {self.wanted} asked for"
        return (
            f"Animation({len(self.motion)} frames{cut}, {solved} solved; worst: {what or 'nothing asked'} {size:.2g} at "
            f"{when:.2f} s; {self.seconds:.2f} s)"
        )


class Ledger:
    """Frames and their account, as they are made."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.poses: list[Array] = []
        self.statuses: list[Status] = []
        self.residuals: list[float] = []
        self.violations: list[float] = []
        self.culprits: list[str] = []

    def add(self, q: Array, held: bool, residuals: dict[str, float], violations: dict[str, float]) -> None:
        """One more frame."""
        what, size = max(residuals.items(), key=lambda kv: kv[1], default=("", 0.0))
        self.poses.append(np.array(q))
        self.statuses.append("infeasible" if not held else ("solved" if size <= REACHED else "unreachable"))
        self.residuals.append(size)
        self.culprits.append(what)
        self.violations.append(max(violations.values(), default=0.0))

    def close(self, character: Character, times: Array, name: str) -> Animation:
        """The frames so far as a motion with its account."""
        done = min(len(self.poses), len(self.culprits), len(self.violations))
        motion = Motion(character, times[:done], np.array(self.poses[:done]), name=name)
        return Animation(
            motion,
            tuple(self.statuses[:done]),
            np.array(self.residuals[:done]),
            np.array(self.violations[:done]),
            tuple(self.culprits[:done]),
            len(times),
            time.perf_counter() - self.began,
        )


def animate(
    character: Character,
    paths: Sequence[Path] | Path = (),
    constraints: Sequence[Constraint] = (),
    goals: Sequence[Goal] = (),
    start: ArrayLike | None = None,
    rate: float = 60.0,
    duration: float | None = None,
    progress: Progress | None = None,
    name: str = "",
) -> Motion:
    """The motion in which points of the body follow their paths, all at once, and the constraints hold in every frame.

    Frames come at `rate` a second from the first path's start to the last one's end, or for `duration` seconds. `goals` are wanted
    all along. The body leans to the `start` pose (neutral when None) unless a `Posture` is among the goals, so what is drawn twice
    looks the same twice. `progress(done, total)` is told of every frame; Ctrl-C keeps what was done. See also
    `animate_with_report`.
    """
    return animate_with_report(character, paths, constraints, goals, start, rate, duration, progress, name).motion


def animate_with_report(
    character: Character,
    paths: Sequence[Path] | Path = (),
    constraints: Sequence[Constraint] = (),
    goals: Sequence[Goal] = (),
    start: ArrayLike | None = None,
    rate: float = 60.0,
    duration: float | None = None,
    progress: Progress | None = None,
    name: str = "",
) -> Animation:
    """As `animate`, with the account of every frame: its status, its worst goal and constraint."""
    ways = [paths] if isinstance(paths, Path) else list(paths)
    for one in ways:
        if not isinstance(one, Path):
            raise BadValue(f"animate follows paths (Path.through, Path.from_stroke), not {type(one).__name__}")
        character.body_id(one.body)
    times = _frame_times(ways, rate, duration)
    rest = character.neutral if start is None else character.check_pose(start, "start")
    steady = list(goals)
    if not any(isinstance(goal, Posture) for goal in steady):
        steady.append(Posture(rest, POSTURE))

    def wanted(t: float) -> list[Goal]:
        return [*(goal for way in ways for goal in way.goals(t)), *steady]

    first = solve_pose(character, wanted(float(times[0])), constraints, rest)
    if first.status == "infeasible":
        raise BadValue(
            f"the constraints cannot hold together: {', '.join(first.conflict) or 'unknown'}", conflict=first.conflict
        )
    drag = PoseDrag(character, constraints, first.q, FOLLOWING)
    book = Ledger()
    try:
        for k, t in enumerate(times):
            pose = drag.to(wanted(float(t)))
            book.add(pose.q, pose.status != "infeasible", pose.residuals, pose.violations)
            if progress is not None:
                progress(k + 1, len(times))
    except KeyboardInterrupt:
        if not book.poses:
            raise
    return book.close(character, times, name)


def frame_times(first: float, last: float, rate: float) -> Array:
    """Even frames from `first` to `last` at the rate nearest to `rate` that meets both."""
    if not (np.isfinite(rate) and rate > 0.0):
        raise BadValue(f"a rate is a positive number of frames per second, not {rate!r}", rate=rate)
    count = max(1, round((last - first) * rate))
    if last - first > LONGEST or count > MOST:
        raise BadValue(f"{last - first:.3g} s at {rate:g} frames a second are too many frames; at most {MOST}")
    return np.linspace(first, last, count + 1)


def _frame_times(ways: Sequence[Path], rate: float, duration: float | None) -> Array:
    if not ways and duration is None:
        raise BadValue("animate needs a path to follow, or a duration to stay for")
    if duration is not None and not (np.isfinite(duration) and duration > 0.0):
        raise BadValue(f"a duration is a positive number of seconds; got {duration!r}")
    first = min((way.start for way in ways), default=0.0)
    last = max((way.end for way in ways), default=0.0) if duration is None else first + duration
    return frame_times(first, last, rate)
