"""The largest push that a standing figure survives in place: by bisection, for one body and direction or for many."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from counterpoise.character.character import Character
from counterpoise.control.basic import Controller
from counterpoise.errors import BadValue
from counterpoise.measure.push_survival import Bar, ankle_limit, survival, unit_vector
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.loop import simulate
from counterpoise.simulate.world import World

ControllerFactory = Callable[[Character], Controller]
Progress = Callable[[int, int], None]  # limits found so far, and of how many
DIRECTIONS = (0.0, 45.0, 90.0, 135.0, 180.0, 225.0, 270.0, 315.0)  # [deg] from forward, counter-clockwise


@dataclass(frozen=True)
class PushLimit:
    """The largest push survived at one body in one direction, found to within `tolerance` of rho."""

    body: str
    direction: float  # [deg] from forward, counter-clockwise
    rho: float
    impulse: float  # [N s]
    force: float  # [N]
    tolerance: float  # of rho
    why: str  # why the next larger push was not survived; "" where the largest one tried was
    trials: int


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
    """Returns the largest push survived in place, by bisection between `lowest` and `highest` in rho.

    The figure stands for `settle` seconds, is pushed at the body's CoM for `duration`, and is judged `bar.seconds`
    after that. Survival need not be monotone in rho; bisection finds one border of it. Rho is 0 if not even `lowest`
    is survived.
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
        x, y = (rho * limit.impulse / duration * w for w in unit_vector(direction))
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
    """Returns the `push_limit` at every body in every direction; `search` are its further arguments.

    With several `workers` the searches run in other processes, and `controller` must be something that pickle can send
    there: a function of a module or a callable frozen dataclass. Ctrl-C ends all of them.
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
        for process in list(pool._processes.values()):  # do not wait for searches that take seconds
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
    """In a worker: ignores Ctrl-C, which the parent process handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
