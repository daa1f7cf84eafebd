"""Animation: a motion from effectors that follow paths, pins kept in every frame (after Bawa 1995).

wave = cp.Path.through("hand_right", points, duration=1.5, speed="ease")
motion = cp.animate(human, [wave], [cp.Pin("foot_left"), cp.Lock("foot_left")])
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_kinematics
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.pose.build import build_pose_problem
from counterpoise.pose.constraints import Balanced, FixJoint, Lock, Pin, PoseConstraint
from counterpoise.pose.goals import PoseGoal, Posture
from counterpoise.pose.nearest import inertia_weights, nearest_pose
from counterpoise.pose.paths import Path
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.result import Status
from counterpoise.pose.solver import solve_pose

Progress: TypeAlias = Callable[[int, int], None] | bool | None
"""Told (done, total) after every frame; True draws a bar on standard error."""

REACHED = 1e-4  # [m, rad]: a goal nearer than this is met
SWIFT = 6.0  # [rad/s]: a joint never turns faster than this ...
LEVER = (
    12.0  # [rad] ... or this while the fastest target goes by the figure's height: nothing jumps at the edge of reach
)
LONGEST = 3600.0  # [s]
MOST = 1_000_000  # frames


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
            f"Animation({len(self.motion)} frames{cut}, {solved} solved; worst: {what or 'nothing asked'} {size:.2g} "
            f"at {when:.2f} s; {self.seconds:.2f} s)"
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
    constraints: Sequence[PoseConstraint] = (),
    goals: Sequence[PoseGoal] = (),
    start: ArrayLike | None = None,
    rate: float = 60.0,
    duration: float | None = None,
    progress: Progress = None,
    name: str = "",
) -> Motion:
    """The motion in which points of the body follow their paths, all at once, and the constraints hold in every frame.

    Frames come at `rate` a second from the first path's start to the last one's end, or for `duration` seconds. `goals`
    are wanted all along. The body leans to the `start` pose (neutral when None) unless a `Posture` is among the goals,
    so what is drawn twice looks the same twice. `progress(done, total)` is told of every frame (True: a bar); Ctrl-C
    keeps what was done. See also `animate_with_report`.
    """
    return animate_with_report(character, paths, constraints, goals, start, rate, duration, progress, name).motion


def animate_with_report(
    character: Character,
    paths: Sequence[Path] | Path = (),
    constraints: Sequence[PoseConstraint] = (),
    goals: Sequence[PoseGoal] = (),
    start: ArrayLike | None = None,
    rate: float = 60.0,
    duration: float | None = None,
    progress: Progress = None,
    name: str = "",
) -> Animation:
    """As `animate`, with the account of every frame: its status, its worst goal and constraint."""
    ways = [paths] if isinstance(paths, Path) else list(paths)
    for one in ways:
        if not isinstance(one, Path):
            raise BadValue(f"animate follows paths (Path.through, Path.from_stroke), not {type(one).__name__}")
        character.body_id(one.body)
    times = _frame_times(ways, rate, duration)
    begin = character.neutral if start is None else character.check_pose(start, "start")
    begin = character.limits.clamp(begin)
    told = next((goal.pose for goal in goals if isinstance(goal, Posture) and goal.pose is not None), None)
    rest = begin if told is None else character.limits.clamp(character.check_pose(told, "rest pose"))
    held = anchor(character, constraints, begin)
    book, weights = Ledger(), inertia_weights(character)

    steady: list[PoseGoal] = [goal for goal in goals if not isinstance(goal, Posture)]

    try:
        q = begin
        for k, t in enumerate(counted(times, progress)):
            wanted = [*(goal for way in ways for goal in way.goals(float(t))), *steady, Posture(rest)]
            problem = build_pose_problem(character, wanted, held, begin)
            if k == 0:
                q = _first(problem, wanted, held, rest, weights, begin)
            else:
                shift = max((np.linalg.norm(way.at(t) - way.at(times[k - 1])) for way in ways), default=0.0)
                furthest = _furthest(
                    character, max(SWIFT * float(t - times[k - 1]), LEVER * float(shift) / character.height)
                )
                found = nearest_pose(problem, rest, weights, q, (q, furthest))
                q = found.q if found.held else q  # the frame before holds all constraints
            book.add(q, True, problem.residuals(q), problem.violations(q))
    except KeyboardInterrupt:
        if not book.poses:
            raise
    return book.close(character, times, name)


def counted(times: Array, progress: Progress) -> Iterator[float]:
    """The frames one after the other; `progress` is told when each is done."""
    with _teller(progress) as tell:
        for k, t in enumerate(times):
            yield float(t)
            tell(k + 1, len(times))


@contextmanager
def _teller(progress: Progress) -> Iterator[Callable[[int, int], None]]:
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda done, total: None
    else:
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True)) as bar:
            task = bar.add_task("animating", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def anchor(character: Character, constraints: Sequence[PoseConstraint], q: Array) -> list[PoseConstraint]:
    """Constraints with "where it is at the start" written in, for frames that begin elsewhere."""
    look = take_kinematics(character, q)
    out: list[PoseConstraint] = []
    for one in constraints:
        if isinstance(one, Pin) and one.at is None:
            one = Pin(one.body, one.point, tuple(look.position(one.body, one.point).tolist()))
        elif isinstance(one, Lock) and one.to is None:
            one = Lock(one.body, tuple(spatial.from_matrix(look.rotation(one.body)).tolist()))
        elif isinstance(one, FixJoint) and one.value is None:
            one = FixJoint(one.joint, tuple(q[character.joint(one.joint).qpos].tolist()))
        elif isinstance(one, Balanced) and one.corners is None:
            character.need_feet("Balanced")
            feet = [character.foot(name) for name in one.feet] if one.feet is not None else list(character.feet)
            places = [look.position(p.body, p.position)[:2].tolist() for foot in feet for p in foot.points]
            one = Balanced(places, one.margin)
        out.append(one)
    build_pose_problem(character, (), out, q)  # refuses bad ones at once
    return out


def _first(
    problem: PoseProblem,
    goals: Sequence[PoseGoal],
    held: Sequence[PoseConstraint],
    rest: Array,
    weights: Array,
    begin: Array,
) -> Array:
    """The first frame, wherever the start is: from there, or by posing from many starts."""
    found = nearest_pose(problem, rest, weights, begin)
    missed = max(problem.residuals(found.q).values(), default=0.0)
    if found.held and missed <= REACHED:
        return found.q
    posed = solve_pose(problem.character, goals, held, begin)
    if posed.status == "infeasible":
        raise BadValue(
            f"the constraints cannot hold together: {', '.join(posed.conflict) or 'unknown'}", conflict=posed.conflict
        )
    again = nearest_pose(problem, rest, weights, posed.q)
    better = again.held and (not found.held or max(problem.residuals(again.q).values(), default=0.0) < missed)
    return again.q if better else (found.q if found.held else posed.q)


def _furthest(character: Character, turn: float) -> Array:
    """How far each dof may go in one frame: joints by `turn` [rad], the root's place and slides as they like."""
    out = np.full(character.nv, turn)
    for joint in character.joints:
        if joint.kind == "slide":
            out[joint.dofs] = np.inf
        elif joint.kind == "free":
            out[joint.dofs.start : joint.dofs.start + 3] = np.inf
    return out


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
