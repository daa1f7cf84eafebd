"""The least change that makes a captured motion physically possible, with its style kept.

    result = fix_motion(motion)
    print(result.summary, result.before.violation, result.after.violation)

Leaps of the capture are bridged (`leaps`), planted feet are put still and flat on the ground (`contacts`, `feet`), and
the residual forces that are left are removed by a smooth deviation, as small as possible, in overlapping windows
(`task`, `physics`, `windows`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.kinematics import body_frames
from counterpoise.errors import BadValue
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow, find_contacts, runs
from counterpoise.motion.curves import ease
from counterpoise.spacetime.check.frames import fit_locally, fit_reach, frames_of_motion
from counterpoise.spacetime.check.report import CheckReport, check_motion, held_bodies
from counterpoise.spacetime.check.support import HeldBody
from counterpoise.spacetime.check.tuning import CheckTuning
from counterpoise.spacetime.fix.contacts import lengthen_contacts, widen_contacts, within_reach
from counterpoise.spacetime.fix.feet import GroundPlan, place_feet, plan_ground, settle_feet
from counterpoise.spacetime.fix.leaps import bridge_leaps, find_leaps
from counterpoise.spacetime.fix.result import FixResult, TimeStretch
from counterpoise.spacetime.fix.task import build_task
from counterpoise.spacetime.fix.tuning import FixTuning
from counterpoise.spacetime.fix.windows import Progress, solve_windows

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
    holds: Sequence[HeldBody | str] = (),
    tuning: FixTuning | None = None,
    progress: Progress | None = None,
) -> FixResult:
    """Returns the least changed motion that is physically possible: same character, times and name.

    Contacts of the feet are found in the motion unless `contacts` are given; `holds` are as in `check_motion`.
    `progress` is called with the stage and the share that is done. After an interrupt, the windows that are done are
    kept and the rest of the motion is unchanged.
    """
    began = time.perf_counter()
    if not isinstance(motion, Motion):
        raise BadValue(f"fix_motion takes a Motion (cp.read_motion reads one); got {type(motion).__name__}")
    if len(motion) < MIN_FRAMES:
        raise BadValue(
            f"a motion of {len(motion)} frames is too short to fix; {MIN_FRAMES} are needed", frames=len(motion)
        )
    tuning, report = tuning or FixTuning(), progress or (lambda stage, share: None)
    held, character = held_bodies(holds), motion.character
    report("checking", 0.0)
    checks = CheckTuning(friction=tuning.friction, floor=tuning.floor, smooth=tuning.smooth).without_doubt()
    found = check_motion(motion, contacts=contacts, holds=held, tuning=checks)
    checks = replace(checks, floor=found.floor)

    open_ended = replace(motion, loop=False, travel=False, ends="free")
    even = replace(open_ended, times=found.frames.times, poses=frames_of_motion(motion, 0.0).raw)
    leaps = find_leaps(even, tuning)
    report("feet", 0.0)
    footed = _put_feet_down(even, _cleaned(even, leaps, tuning), found, checks, tuning, contacts is None)
    report("feet", 1.0)
    task = build_task(footed.motion, footed.ground, footed.contacts, held, checks, tuning)
    x = np.zeros((task.basis.coefficients, len(task.free)))
    windows, done, stopped = solve_windows(task, x, found.frames.carried, report)
    report("physics", 1.0)

    changed = task.changed(x, slice(0, len(task.motion)))
    poses = settle_feet(character, even.times, changed, footed.ground)
    if stopped:
        share = 1.0 - ease((even.times - done) / STOP_FADE + 1.0, "smooth")
        poses = character.integrate(even.poses, share[:, None] * character.difference(even.poses, poses))
    own = len(even) == len(motion) and np.array_equal(even.times, motion.times)
    out = replace(open_ended, poses=poses if own else replace(footed.motion, poses=poses).sample(motion.times).q)
    report("checking", 1.0)
    same = footed.contacts == found.contacts
    before = found if same else check_motion(motion, contacts=footed.contacts, holds=held, tuning=checks)
    after = check_motion(out, contacts=footed.contacts, holds=held, tuning=checks)
    distance = _distance(motion, out)
    at = np.unravel_index(int(distance.argmax()), distance.shape)
    return FixResult(
        motion=out,
        before=before,
        after=after,
        contacts=footed.contacts,
        windows=windows,
        leaps=tuple(TimeStretch(float(even.times[a]), float(even.times[b - 1]), 0.0) for a, b in leaps),
        left=_left(after, tuning),
        frozen=task.frozen,
        change=float(distance.mean()),
        largest=float(distance[at]),
        largest_body=str(character.model.body(int(at[1]) + 1).name),
        largest_time=float(motion.times[at[0]]),
        seconds=time.perf_counter() - began,
        stopped=stopped,
    )


def _cleaned(even: Motion, leaps: Sequence[tuple[int, int]], tuning: FixTuning) -> Array:
    """Returns the poses (n, nq) with leaps bridged and jitter removed."""
    poses = bridge_leaps(even, leaps)
    if tuning.calm <= 0.0:
        return poses
    step = even.duration / (len(even) - 1)
    return fit_locally(even.character, poses, step, tuning.calm, fit_reach(tuning.calm, step))[0]


def _put_feet_down(
    even: Motion, poses: Array, found: CheckReport, checks: CheckTuning, tuning: FixTuning, search: bool
) -> _Footed:
    """Returns the motion with its feet in place.

    If `search`, contacts are lengthened, and found again after the feet were put still: they may stand for longer.
    """
    character, times, highest = even.character, even.times, found.floor + checks.reach
    step = even.duration / (len(even) - 1)

    def placed(contacts: tuple[ContactWindow, ...]) -> _Footed:
        ground = plan_ground(character, times, poses, contacts, found.floor)
        return _Footed(replace(even, poses=place_feet(character, poses, step, ground)), contacts, ground)

    contacts = within_reach(character, times, poses, found.contacts, highest)
    if not search:
        return placed(contacts)
    out = placed(lengthen_contacts(character, times, poses, contacts, found.frames.needed[:, 5], tuning))
    for _ in range(CONTACT_ROUNDS):
        again = within_reach(character, times, out.motion.poses, find_contacts(out.motion), highest)
        longer = widen_contacts(character, times, poses, out.contacts, again, tuning)
        if longer == out.contacts:
            break
        out = placed(longer)
    return out


def _distance(original: Motion, fixed: Motion) -> Array:
    """Returns how far each body moved in each frame (n, bodies) [m]."""
    now, _ = body_frames(fixed.character, fixed.poses)
    was, _ = body_frames(original.character, original.poses)
    return np.asarray(np.linalg.norm(now - was, axis=-1)[:, 1:])


def _left(after: CheckReport, tuning: FixTuning) -> tuple[TimeStretch, ...]:
    """Returns the stretches that could not be made possible."""
    f = after.frames
    bad = f.judged & ~f.carried & (f.violation > LEFT_RESIDUAL_SHARE * tuning.give_up_residual)
    return tuple(
        TimeStretch(float(f.times[a]), float(f.times[b - 1]), float(f.violation[a:b].max())) for a, b in runs(bad)
    )
