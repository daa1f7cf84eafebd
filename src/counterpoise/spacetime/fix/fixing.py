"""The least change that makes a captured motion physically possible, with its style kept.

    result = fix_motion(motion)
    print(result.summary, result.before.violation, result.after.violation)

Leaps of the capture are bridged (`leaps`), planted feet are put still and flat on the ground (`contacts`, `feet`), and
the residual forces that are left are removed by a smooth deviation, as small as possible, in overlapping windows
(`task`, `physics`, `windows`). Before that, feet that are turned over at the ankle are turned back (`turned_feet`), and
feet that all slide at one velocity are brought to rest (`slide`). What is worse than the input in the end is given back
as it was (`guard`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.character.kinematics import body_frames
from counterpoise.errors import BadValue, Stopped
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow, find_contacts, runs
from counterpoise.motion.curves import ease
from counterpoise.progress import Reporter, Watch, watching
from counterpoise.spacetime.check.frames import fit_locally, fit_reach, frames_of_motion
from counterpoise.spacetime.check.report import CheckReport, check_motion, held_bodies
from counterpoise.spacetime.check.support import HeldBody
from counterpoise.spacetime.check.tuning import CheckTuning
from counterpoise.spacetime.fix.contacts import lengthen_contacts, standing_heights, widen_contacts, within_reach
from counterpoise.spacetime.fix.feet import GroundPlan, place_feet, plan_ground, settle_feet
from counterpoise.spacetime.fix.guard import View, never_worse
from counterpoise.spacetime.fix.leaps import bridge_leaps, find_leaps
from counterpoise.spacetime.fix.low_feet import plant_low_feet
from counterpoise.spacetime.fix.other_parts import find_carrying_parts
from counterpoise.spacetime.fix.outside import ground_of, see_from_outside
from counterpoise.spacetime.fix.result import FixResult, TimeStretch
from counterpoise.spacetime.fix.slide import find_slide
from counterpoise.spacetime.fix.task import build_task
from counterpoise.spacetime.fix.tuning import FixTuning
from counterpoise.spacetime.fix.turned_feet import turned_feet
from counterpoise.spacetime.fix.unseen import unseen_holds
from counterpoise.spacetime.fix.windows import solve_windows

MIN_FRAMES = 12
CONTACT_ROUNDS = 2  # most searches for contacts after the feet were put still
STOP_FADE = 0.15  # [s] over which the change fades out where an interrupted fix ends
LEFT_RESIDUAL_SHARE = 0.5  # of `FixTuning.give_up_residual`: stretches with a larger residual are reported as left


@dataclass(frozen=True, eq=False)
class _Footed:
    """A motion with its feet in place."""

    motion: Motion
    contacts: tuple[ContactWindow, ...]
    ground: GroundPlan


def fix_motion(
    motion: Motion,
    *,
    contacts: Sequence[ContactWindow] | None = None,
    holds: Sequence[HeldBody | str] | Literal["find"] = (),
    tuning: FixTuning | None = None,
    progress: Watch | None = None,
) -> FixResult:
    """Returns the least changed motion that is physically possible: same character, times and name.

    Contacts of the feet are found in the motion unless `contacts` are given; `holds` are as in `check_motion`, or
    "find": bodies that something unseen seems to carry are found in the motion (`unseen_holds`) and said in the result.
    `progress` is told how far it is. Stopped, by a falsy answer or by Ctrl-C, it keeps the windows that are done and
    leaves the rest of the motion unchanged.
    """
    if not isinstance(motion, Motion):
        raise BadValue(f"fix_motion takes a Motion (cp.read_motion reads one); got {type(motion).__name__}")
    if len(motion) < MIN_FRAMES:
        raise BadValue(
            f"a motion of {len(motion)} frames is too short to fix; {MIN_FRAMES} are needed", frames=len(motion)
        )
    if isinstance(holds, str) and holds != "find":
        raise BadValue(f"holds are names of bodies, HeldBody(...)s, or 'find'; got {holds!r}", holds=holds)
    known = () if isinstance(holds, str) else held_bodies(holds)
    asked = _Request(motion, contacts, known, tuning or FixTuning(), time.perf_counter(), isinstance(holds, str))
    with watching(progress) as reporter:
        try:
            return _fixed(asked, reporter)
        except Stopped:
            return _unchanged(asked)


@dataclass(frozen=True, eq=False)
class _Request:
    """What is to be fixed."""

    motion: Motion
    contacts: Sequence[ContactWindow] | None
    holds: tuple[HeldBody, ...]
    tuning: FixTuning
    began: float  # [s] on the clock
    finds: bool = False  # whether what something unseen carries is to be found

    @property
    def checks(self) -> CheckTuning:
        t = self.tuning
        return CheckTuning(friction=t.friction, floor=t.floor, smooth=t.smooth).without_doubt()


def _fixed(asked: _Request, reporter: Reporter) -> FixResult:
    """The steps of a fix, each a name."""
    captured = check_motion(
        asked.motion, contacts=asked.contacts, holds=asked.holds, tuning=asked.checks, progress=reporter
    )
    if asked.finds:
        seen = unseen_holds(asked.motion, asked.contacts, ground_of(captured), asked.checks, captured.carried)
        asked = replace(asked, holds=seen, finds=False)
        if seen:
            captured = check_motion(asked.motion, contacts=asked.contacts, holds=seen, tuning=asked.checks)
    tuning, held, character = asked.tuning, asked.holds, asked.motion.character
    motion, turned = _feet_turned_back(asked.motion)
    known = captured if not turned else check_motion(motion, contacts=asked.contacts, holds=held, tuning=asked.checks)
    motion, slide, found = _without_slide(asked, motion, known, reporter)
    checks = replace(asked.checks, floor=found.floor)
    open_ended = replace(motion, loop=False, travel=False, ends="free")
    even = replace(open_ended, times=found.frames.times, poses=frames_of_motion(motion, 0.0).raw)
    leaps = find_leaps(even, tuning)
    _go_on(reporter, "feet", 0.0)
    footed = _put_feet_down(
        even, _cleaned(even, leaps, tuning), found, checks, tuning, reporter, asked.contacts is None
    )
    _go_on(reporter, "feet", 1.0)
    parts = find_carrying_parts(footed.motion, footed.contacts, held, footed.ground.floor, checks, tuning)
    task = build_task(footed.motion, footed.ground, footed.contacts, held, parts, checks, tuning)
    x = np.zeros((task.basis.coefficients, len(task.free)))
    windows, done, stopped = solve_windows(task, x, found.frames.carried, reporter)
    if not windows:
        raise Stopped("the fix was stopped before its first window was done")
    reporter.report("physics", 1.0)
    changed = task.changed(x, slice(0, len(task.motion)))
    poses = settle_feet(character, even.times, changed, footed.ground)
    if stopped:
        share = 1.0 - ease((even.times - done) / STOP_FADE + 1.0, "smooth")
        poses = character.integrate(even.poses, share[:, None] * character.difference(even.poses, poses))
    own = len(even) == len(motion) and np.array_equal(even.times, motion.times)

    def written(poses: Array) -> Motion:
        return replace(open_ended, poses=poses if own else replace(footed.motion, poses=poses).sample(motion.times).q)

    check = partial(check_motion, contacts=footed.contacts, holds=held, tuning=checks)
    before = partial(_known, captured) if footed.contacts == captured.contacts else partial(check, asked.motion)
    result = _result(asked, written(poses), before, lambda: check(written(poses)), footed.contacts, stopped, slide)
    result = replace(
        result, windows=windows, frozen=task.frozen, turned=turned,
        leaps=tuple(TimeStretch(float(even.times[a]), float(even.times[b - 1]), 0.0) for a, b in leaps),
    )  # fmt: skip
    if reporter.stopped:  # the checks take a while: they are made when somebody asks for them
        return result
    with suppress(Stopped):
        result = _guarded(asked, result, even, poses, written, check, captured)
        result = replace(result, left=_left(result.after, tuning))
    return replace(result, seconds=time.perf_counter() - asked.began)


def _guarded(
    asked: _Request, result: FixResult, even: Motion, poses: Array, written: Callable[[Array], Motion],
    check: Callable[[Motion], CheckReport], captured: CheckReport,
) -> FixResult:  # fmt: skip
    """Returns the result with everything given back that was better before, and with its checks made."""
    again = partial(check_motion, contacts=asked.contacts, holds=asked.holds, tuning=captured.tuning)
    see = partial(see_from_outside, holds=asked.holds, checks=captured.tuning)

    def judge(poses: Array) -> Iterator[View]:
        out = written(poses)
        yield see(out, captured.floor)
        yield again(out)
        yield check(out)

    before = (see(asked.motion, ground_of(captured)), captured, result.before)
    fixed = (see(result.motion, captured.floor), again(result.motion), result.after)
    kept = never_worse(even, poses, result.lift, judge, before, fixed)
    after = kept.reports[-1]
    assert isinstance(after, CheckReport)
    if kept.back.all():
        whole = _unchanged(asked)
        result = replace(
            result, motion=whole.motion, leaps=(), turned=(), lift=0.0, slide=(0.0, 0.0), change=0.0, largest=0.0
        )
        after = result.before
    elif kept.back.any():
        out = written(kept.poses)
        moved = _result(asked, out, result.before_check, result.after_check, result.contacts, False, result.slide)
        result = replace(
            result, motion=out, lift=moved.lift, change=moved.change, largest=moved.largest,
            largest_body=moved.largest_body, largest_time=moved.largest_time,
        )  # fmt: skip
    times = even.times
    back = tuple(TimeStretch(float(times[a]), float(times[b - 1]), 0.0) for a, b in runs(kept.back))
    return replace(
        result, given_back=back, worse=kept.why, before_check=partial(_known, result.before),
        after_check=partial(_known, after),
    )  # fmt: skip


def _feet_turned_back(motion: Motion) -> tuple[Motion, tuple[TimeStretch, ...]]:
    """Returns the motion with feet turned back that are turned over at the ankle, and when they were."""
    poses, turned = turned_feet(motion.character, motion.times, np.asarray(motion.poses))
    when = tuple(TimeStretch(float(motion.times[a]), float(motion.times[b - 1]), 0.0) for a, b in runs(turned))
    return (replace(motion, poses=poses), when) if when else (motion, ())


def _without_slide(
    asked: _Request, motion: Motion, captured: CheckReport, reporter: Reporter
) -> tuple[Motion, Array, CheckReport]:
    """Returns the motion without a constant slide of all its feet, the slide (2,) [m/s], and its check."""
    f = captured.frames
    slide = np.zeros(2)
    if asked.contacts is None and motion.character.floating:
        poses = frames_of_motion(motion, 0.0).raw
        slide = find_slide(motion.character, f.times, poses, f.needed[:, 5], asked.tuning)
    if not slide.any():
        return motion, slide, captured
    poses = np.array(motion.poses)
    poses[:, :2] -= slide * (motion.times - motion.start)[:, None]
    still = replace(motion, poses=poses)
    return still, slide, check_motion(still, holds=asked.holds, tuning=asked.checks, progress=reporter)


def _unchanged(asked: _Request) -> FixResult:
    """Returns the result of a fix that was stopped before anything was done."""
    check = partial(check_motion, asked.motion, contacts=asked.contacts, holds=asked.holds, tuning=asked.checks)
    return _result(asked, asked.motion, check, check, tuple(asked.contacts or ()), True, np.zeros(2))


def _result(
    asked: _Request, out: Motion, before: Callable[[], CheckReport], after: Callable[[], CheckReport],
    contacts: tuple[ContactWindow, ...], stopped: bool, slide: Array | tuple[float, float],
) -> FixResult:  # fmt: skip
    distance, lift = _distance(asked.motion, out, np.asarray(slide))
    at = np.unravel_index(int(distance.argmax()), distance.shape)
    return FixResult(
        motion=out,
        before_check=before,
        after_check=after,
        contacts=contacts,
        windows=(),
        leaps=(),
        turned=(),
        left=(),
        given_back=(),
        worse=(),
        frozen=(),
        lift=lift,
        slide=(float(slide[0]), float(slide[1])),
        change=float(distance.mean()),
        largest=float(distance[at]),
        largest_body=str(out.character.model.body(int(at[1]) + 1).name),
        largest_time=float(out.times[at[0]]),
        seconds=time.perf_counter() - asked.began,
        stopped=stopped,
        holds=asked.holds,
    )


def _known(report: CheckReport) -> CheckReport:
    return report


def _go_on(reporter: Reporter, stage: str, share: float) -> None:
    """Reports; raises Stopped where the fix should stop before there is anything to keep."""
    if not reporter.report(stage, share):
        raise Stopped("the fix was stopped before its first window was done")


def _cleaned(even: Motion, leaps: Sequence[tuple[int, int]], tuning: FixTuning) -> Array:
    """Returns the poses (n, nq) with leaps bridged and jitter removed."""
    poses = bridge_leaps(even, leaps)
    if tuning.calm <= 0.0:
        return poses
    step = even.duration / (len(even) - 1)
    return fit_locally(even.character, poses, step, tuning.calm, fit_reach(tuning.calm, step))[0]


def _put_feet_down(
    even: Motion, poses: Array, found: CheckReport, checks: CheckTuning, tuning: FixTuning, reporter: Reporter,
    search: bool,
) -> _Footed:  # fmt: skip
    """Returns the motion with its feet in place.

    If `search`, contacts are lengthened, and found again after the feet were put still: they may stand for longer.
    """
    character, times, highest = even.character, even.times, found.floor + checks.reach
    step = even.duration / (len(even) - 1)
    poses = _on_the_ground(character, times, poses, found, highest)

    def placed(contacts: tuple[ContactWindow, ...]) -> _Footed:
        pause = partial(_go_on, reporter, "feet", 0.2)
        pause()
        ground = plan_ground(character, times, poses, contacts, found.floor)
        pause()
        return _Footed(replace(even, poses=place_feet(character, poses, step, ground, pause)), contacts, ground)

    contacts = within_reach(character, times, poses, found.contacts, highest)
    if not search:
        return placed(contacts)
    out = placed(lengthen_contacts(character, times, poses, contacts, found.frames.needed[:, 5], tuning))
    for _ in range(CONTACT_ROUNDS):
        again = within_reach(character, times, out.motion.poses, find_contacts(out.motion), highest)
        longer = widen_contacts(character, times, poses, out.contacts, again, tuning)
        if tuning.plant_reach > 0.0:
            longer = plant_low_feet(
                character, times, poses, out.motion.poses, longer, found.frames.needed[:, 5], found.floor, tuning
            )
        if longer == out.contacts:
            break
        out = placed(longer)
    return out


def _on_the_ground(character: Character, times: Array, poses: Array, found: CheckReport, highest: float) -> Array:
    """Returns the poses (n, nq), all of them raised or lowered alike, with their feet as a rule at the ground.

    What happens above the ground, in flight or on a step that is not shown, so keeps its height above it. Feet that
    stand higher than `highest` [m] do not count.
    """
    contacts = within_reach(character, times, poses, found.contacts, highest)
    heights = standing_heights(character, times, poses, contacts)
    if not character.floating or not len(heights):
        return poses
    out = poses.copy()
    out[:, 2] -= float(np.median(heights)) - found.floor
    return out


def _distance(original: Motion, fixed: Motion, slide: Array) -> tuple[Array, float]:
    """Returns how far each body moved in each frame (n, bodies) [m], beside the height by which all moved [m].

    A `slide` (2,) [m/s] that was taken away is no movement of a body either.
    """
    now, _ = body_frames(fixed.character, fixed.poses)
    was, _ = body_frames(original.character, original.poses)
    moved = (now - was)[:, 1:]
    moved[..., :2] += (slide * (original.times - original.start)[:, None])[:, None]
    lift = float(np.median(moved[..., 2]))
    return np.asarray(np.linalg.norm(moved - np.array([0.0, 0.0, lift]), axis=-1)), lift


def _left(after: CheckReport, tuning: FixTuning) -> tuple[TimeStretch, ...]:
    """Returns the stretches that could not be made possible."""
    f = after.frames
    bad = f.judged & ~f.carried & (f.violation > LEFT_RESIDUAL_SHARE * tuning.give_up_residual)
    return tuple(
        TimeStretch(float(f.times[a]), float(f.times[b - 1]), float(f.violation[a:b].max())) for a, b in runs(bad)
    )
