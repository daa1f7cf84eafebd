"""The largest push that a standing figure survives in place: by bisection, for one body and direction or for many."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from counterpoise.character.character import Character
from counterpoise.control.basic import Controller
from counterpoise.errors import BadValue, Stopped
from counterpoise.measure.push_survival import Bar, ankle_limit, survival, unit_vector
from counterpoise.progress import Reporter, Watch, watching
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.loop import simulate
from counterpoise.simulate.world import World

ControllerFactory = Callable[[Character], Controller]
POLL_TIME = 0.2  # [s] between two looks at the workers
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
            raise Stopped(f"the search for the largest push at {body!r} was stopped after {trials} trials")
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
    progress: Watch | None = None,
    **search: Any,
) -> dict[tuple[str, float], PushLimit]:
    """Returns the `push_limit` at every body in every direction; `search` are its further arguments.

    With several `workers` the searches run in other processes, and `controller` must be something that pickle can send
    there: a function of a module or a callable frozen dataclass. Ctrl-C, or a falsy answer of `progress`, ends all of
    them; the limits found so far are returned.
    """
    for body in bodies:
        character.body_id(body)
    if workers < 1:
        raise BadValue(f"workers is at least 1; got {workers!r}")
    asked = [(body, float(direction)) for body in bodies for direction in directions]
    with watching(progress) as reporter:
        if workers == 1 or len(asked) < 2:
            return _one_by_one(character, controller, asked, search, reporter)
        return _in_workers(character, controller, asked, search, workers, reporter)


def _report_limits(reporter: Reporter, found: int, asked: int) -> bool:
    return reporter.report("searching push limits", found / max(asked, 1), f"{found} of {asked} limits")


def _one_by_one(
    character: Character, controller: ControllerFactory, asked: list[tuple[str, float]], search: Mapping[str, Any],
    reporter: Reporter,
) -> dict[tuple[str, float], PushLimit]:  # fmt: skip
    found: dict[tuple[str, float], PushLimit] = {}
    for body, direction in asked:
        try:
            found[body, direction] = push_limit(character, controller, body, direction, **search)
        except Stopped:
            break
        if not _report_limits(reporter, len(found), len(asked)):
            break
    return found


def _in_workers(
    character: Character, controller: ControllerFactory, asked: list[tuple[str, float]], search: Mapping[str, Any],
    workers: int, reporter: Reporter,
) -> dict[tuple[str, float], PushLimit]:  # fmt: skip
    found: dict[tuple[str, float], PushLimit] = {}
    pool = ProcessPoolExecutor(min(workers, len(asked)), multiprocessing.get_context("spawn"), _leave_ctrl_c)
    try:
        waiting = {pool.submit(_one_limit, character, controller, *pair, search) for pair in asked}
        while waiting and _report_limits(reporter, len(found), len(asked)):
            done, waiting = wait(waiting, POLL_TIME, FIRST_COMPLETED)
            for future in done:
                one = future.result()
                found[one.body, one.direction] = one
        if waiting:
            _end(pool)
            return {key: found[key] for key in asked if key in found}
        _report_limits(reporter, len(found), len(asked))
    except BaseException as error:
        _end(pool)
        if isinstance(error, BrokenProcessPool):
            raise BadValue(
                "a worker process ended before its search did: killed from outside, or a script that does not call "
                "push_map under `if __name__ == '__main__':`; workers=1 needs neither"
            ) from error
        raise
    pool.shutdown()
    return {key: found[key] for key in asked}


def _end(pool: ProcessPoolExecutor) -> None:
    """Ends workers without waiting for their searches, which take seconds."""
    for process in list(pool._processes.values()):
        process.terminate()
    pool.shutdown(wait=False, cancel_futures=True)


def _one_limit(
    character: Character, controller: ControllerFactory, body: str, direction: float, search: Mapping[str, Any]
) -> PushLimit:
    return push_limit(character, controller, body, direction, **search)


def _leave_ctrl_c() -> None:
    """In a worker: ignores Ctrl-C, which the parent process handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
