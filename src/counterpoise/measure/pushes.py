"""How hard a standing figure can be pushed: the ankles' limit, whether a push was survived, and the largest that is.

With feet planted and no angular momentum a push is caught when the capture point stays over the support (MATH: the
linear inverted pendulum). Counted in that limit, rho = J h_p / (m omega d z) says how much more a controller does.
"""

from __future__ import annotations

import dataclasses
import math
import multiprocessing
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.track import point_path
from counterpoise.control.basic import Controller
from counterpoise.errors import BadValue
from counterpoise.measure.balance import Fall, fell, track_of
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.loop import simulate
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.world import World
from counterpoise.solve.geometry import convex_hull

ControllerFactory = Callable[[Character], Controller]
Progress = Callable[[int, int], None]  # limits found, of how many
DIRECTIONS = (0.0, 45.0, 90.0, 135.0, 180.0, 225.0, 270.0, 315.0)  # [deg] from forward, counter-clockwise
GRAVITY = 9.81  # [m/s^2]


@dataclass(frozen=True)
class AnkleLimit:
    """What ankles alone can take of a push at a body's CoM in one horizontal direction: rho = 1."""

    mass: float  # [kg]
    omega: float  # [1/s] sqrt(g / z)
    distance: float  # [m] d, from the CoM's projection to the edge of the support
    com_height: float  # [m] z
    push_height: float  # [m] h_p

    @property
    def impulse(self) -> float:
        """m omega d z / h_p [N s]."""
        return self.mass * self.omega * self.distance * self.com_height / self.push_height

    def rho(self, impulse: float) -> float:
        return impulse / self.impulse


@dataclass(frozen=True)
class Bar:
    """What it takes to have survived a push in place."""

    seconds: float = 3.0  # [s] from the push's end until all must be well
    foot: float = 0.01  # [m] furthest any contact point may ever be from its place, along the ground
    speed: float = 0.02  # of the CoM at the end, in sqrt(g z)
    com: float = 0.03  # from its place at the end, in CoM heights
    pose: float = 0.1  # [rad] root of mean square of the joints' errors at the end
    wobble: float = 0.5  # of the way to the edge the capture point may come again, once it was back

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value > 0.0):
                raise BadValue(f"Bar.{name} is a positive number; got {value!r}")


@dataclass(frozen=True)
class Survival:
    """How a push was taken, with what the bar is compared with."""

    survived: bool
    why: str  # "" when survived
    fall: Fall
    foot: float  # [m] furthest a contact point was from its place, along the ground
    lift: float  # [m] highest a contact point came off its place
    speed: float  # [m/s] of the CoM at the end
    com: float  # [m] from its place at the end
    pose: float  # [rad] rms of joints at the end
    excursion: float  # largest share of the way to the edge the capture point came; beyond 1 ankles are not enough
    wobble: float  # the same, after it was back

    def __bool__(self) -> bool:
        return self.survived


@dataclass(frozen=True)
class PushLimit:
    """The largest push survived at one body in one direction, found to within `tolerance` of rho."""

    body: str
    direction: float  # [deg] from forward, counter-clockwise
    rho: float
    impulse: float  # [N s]
    force: float  # [N]
    tolerance: float  # of rho
    why: str  # what went wrong just above; "" where nothing up to the largest tried did
    trials: int


def ankle_limit(character: Character, body: str, direction: float, pose: ArrayLike | None = None) -> AnkleLimit:
    """What ankles alone can take, standing in `pose` (neutral if None), pushed at a body's CoM towards `direction`."""
    character.need_feet("an ankle limit")
    if not math.isfinite(direction):
        raise BadValue(f"a direction is an angle from forward [deg]; got {direction!r}")
    here = character.snapshot() if pose is None else character.snapshot(character.state(pose))
    push_height = float(here.body_com[character.body_id(body)][2])
    floor = float(here.contact_position[:, 2].min())
    z = float(here.com[2]) - floor
    if not (z > 0.0 and push_height > floor):
        raise BadValue(f"the CoM and {body!r} must be above the feet; they are {z:.3f} and {push_height - floor:.3f} m")
    distance = 1.0 / float(
        _share(here.contact_position[:, :2], here.com[:2], here.com[:2] + np.array(_way(direction)))[0]
    )
    if not 0.0 < distance < np.inf:
        raise BadValue(f"{character.name!r} is not over its feet in this pose: no push can be measured from it")
    return AnkleLimit(character.mass, math.sqrt(GRAVITY / z), distance, z, push_height - floor)


def survival(
    recording: Recording, push_end: float, bar: Bar | None = None, reference: ArrayLike | None = None, figure: int = 0
) -> Survival:
    """Was the push that ended at `push_end` [s] survived in place, and if not, why?

    Everything is compared with the first row's feet and with `reference`, or the first row's pose.
    """
    bar = bar or Bar()
    who, track = recording.figures[figure], track_of(recording, figure)
    z = float(track.com[0, 2] - who.snapshot(recording.state(0, figure)).contact_position[:, 2].min())
    fall = fell(recording, figure)
    places = np.array([point_path(who, track, p.body, p.position) for p in who.contact_points])  # (p, n, 3)
    moved = places - places[:, :1]
    foot, lift = float(np.linalg.norm(moved[..., :2], axis=2).max()), float(moved[..., 2].max())
    last = min(int(np.searchsorted(recording.time, push_end + bar.seconds)), len(recording) - 1)
    speed = float(np.linalg.norm(track.momentum[last, 3:]) / who.mass)
    com = float(np.linalg.norm(track.com[last] - track.com[0]))
    q = recording.positions(figure)
    wanted = q[0] if reference is None else np.asarray(reference, float)
    error = who.difference(q[last], wanted)[who.root_dofs.stop :]
    pose = float(np.sqrt(np.mean(error**2))) if len(error) else 0.0
    excursion, wobble = _excursions(recording, track.com, track.momentum, places[:, 0, :2], push_end, last, z, figure)
    found = Survival(True, "", fall, foot, lift, speed, com, pose, excursion, wobble)
    why = _why(found, bar, z, recording.status)
    return dataclasses.replace(found, survived=not why, why=why)


def _excursions(
    recording: Recording, com: Array, momentum: Array, feet: Array, push_end: float, last: int, z: float, figure: int
) -> tuple[float, float]:
    """Largest share of the way to the edge the capture point came from the push on, and once it was back (< 0.2)."""
    omega, mass = math.sqrt(GRAVITY / z), recording.figures[figure].mass
    xi = com[:, :2] + momentum[:, 3:5] / (mass * omega)
    first = np.searchsorted(recording.time, push_end)
    shares = _share(feet, com[0, :2], xi[first : last + 1])
    back = int(np.argmax(shares < 0.2)) if (shares < 0.2).any() else len(shares) - 1
    return float(shares.max()), float(shares[back:].max())


def _share(feet: Array, start: Array, end: Array) -> Array:
    """(n,): how far on the way from `start` to the edge of the hull of `feet` the points `end` (n, 2) are; 1 on it."""
    corners = convex_hull(np.round(feet, 9))
    along = np.roll(corners, -1, axis=0) - corners
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1)  # outwards: the hull runs counter-clockwise
    room = np.sum(normal * (corners - start), axis=1)
    if len(corners) < 3 or (room <= 0.0).any():
        return np.full(len(np.atleast_2d(end)), np.inf)
    return np.asarray((np.atleast_2d(end) - start) @ (normal / room[:, None]).T).max(axis=1)


def _why(s: Survival, bar: Bar, z: float, status: str) -> str:
    if status == "diverged":
        return "the simulation diverged"
    if s.fall.fell:
        return f"fell at {s.fall.time:.2f} s: {s.fall.reason}"
    for name, value, limit, unit, words in (
        ("foot", 100 * s.foot, 100 * bar.foot, "cm", "a foot moved"),
        ("speed", s.speed, bar.speed * math.sqrt(GRAVITY * z), "m/s", "still moving at"),
        ("com", 100 * s.com, 100 * bar.com * z, "cm", "the CoM is off by"),
        ("pose", s.pose, bar.pose, "rad rms", "the joints are off by"),
        ("wobble", s.wobble, bar.wobble, "of the way to the edge", "a second wobble of"),
    ):
        if value > limit:
            return f"{words} {value:.2f} {unit} (at most {limit:.2f}: {name})"
    return ""


def push_limit(
    character: Character,
    controller: ControllerFactory,
    body: str,
    direction: float,
    *,
    duration: float = 0.1,
    lowest: float = 0.6,
    highest: float = 2.2,
    tolerance: float = 0.1,
    settle: float = 0.3,
    bar: Bar | None = None,
    world: World | None = None,
) -> PushLimit:
    """The largest push survived in place, by bisection between `lowest` and `highest` in rho.

    The figure stands still for `settle` seconds, is pushed at the body's CoM for `duration` and has `bar.seconds` to
    be well again. Survival need not be monotone; bisection finds one border of it. Rho 0 stands for a figure
    that does not even survive `lowest`.
    """
    bar = bar or Bar()
    if not 0.0 < lowest < highest or not tolerance > 0.0 or not duration > 0.0:
        raise BadValue(
            f"a search needs 0 < lowest < highest, and a positive tolerance and duration; got {lowest}, {highest}, "
            f"{tolerance}, {duration}"
        )
    limit = ankle_limit(character, body, direction)
    trials, why = 0, ""

    def survived(rho: float) -> bool:
        nonlocal trials, why
        trials += 1
        x, y = (rho * limit.impulse / duration * w for w in _way(direction))
        push = Push(body, (x, y, 0.0), settle, duration)
        seconds = settle + duration + bar.seconds
        recording = simulate(character, controller(character), seconds, disturbances=[push], world=world)
        if recording.status == "interrupted":
            raise KeyboardInterrupt
        verdict = survival(recording, settle + duration, bar)
        why = why if verdict.survived else verdict.why
        return verdict.survived

    low, high = (lowest, highest) if survived(lowest) else (0.0, lowest)
    while high - low > tolerance and high > lowest:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if survived(middle) else (low, middle)
    J = low * limit.impulse
    return PushLimit(body, float(direction), low, J, J / duration, tolerance, why if high < highest else "", trials)


def push_map(
    character: Character,
    controller: ControllerFactory,
    bodies: Sequence[str],
    directions: Sequence[float] = DIRECTIONS,
    *,
    workers: int = 1,
    progress: Progress | None = None,
    **search: Any,
) -> dict[tuple[str, float], PushLimit]:
    """`push_limit` at every body in every direction; `search` goes to it.

    With several `workers` the searches run in processes of their own, and `controller` must be something that can be
    sent there: a function of a module or a frozen dataclass that can be called. Ctrl-C ends them all and passes on.
    """
    for body in bodies:
        character.body_id(body)
    if workers < 1:
        raise BadValue(f"workers is at least 1; got {workers!r}")
    asked = [(body, float(direction)) for body in bodies for direction in directions]
    found: dict[tuple[str, float], PushLimit] = {}
    if workers == 1 or len(asked) < 2:
        for body, direction in asked:
            found[body, direction] = push_limit(character, controller, body, direction, **search)
            if progress is not None:
                progress(len(found), len(asked))
        return found
    pool = ProcessPoolExecutor(min(workers, len(asked)), multiprocessing.get_context("spawn"), _leave_ctrl_c)
    try:
        waiting = [pool.submit(_one_limit, character, controller, *pair, search) for pair in asked]
        for future in as_completed(waiting):
            one = future.result()
            found[one.body, one.direction] = one
            if progress is not None:
                progress(len(found), len(asked))
    except BaseException as error:
        for process in list(pool._processes.values()):  # searches take seconds: do not wait for them
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            raise BadValue(
                "a worker process ended before its search did: killed from outside, or a script that does not call "
                "push_map under `if __name__ == '__main__':`; workers=1 needs neither"
            ) from error
        raise
    pool.shutdown()
    return {key: found[key] for key in asked}


def _one_limit(
    character: Character, controller: ControllerFactory, body: str, direction: float, search: Mapping[str, Any]
) -> PushLimit:
    return push_limit(character, controller, body, direction, **search)


def _leave_ctrl_c() -> None:
    """In a worker: the parent hears Ctrl-C and ends us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _way(direction: float) -> tuple[float, float]:
    return math.cos(math.radians(direction)), math.sin(math.radians(direction))
