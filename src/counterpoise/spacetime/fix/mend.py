"""Fix: the least change that makes a captured motion physically valid, its style kept.

    result = fix_motion(motion)
    print(result.summary, result.before.violation, result.after.violation)

Leaps of the capture are bridged, planted feet put still and flat on the ground (`fix_feet`), and what is then left of
forces from nowhere is removed by a smooth deviation, as small as can be, in overlapping windows (`fix_physics`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import mujoco
import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.character.kinematics import body_frames
from counterpoise.errors import BadValue
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow, find_contacts, runs
from counterpoise.motion.curves import ease
from counterpoise.spacetime.check.frames import fit_locally, frames_of_motion
from counterpoise.spacetime.check.report import CheckReport, CheckTuning, check_motion
from counterpoise.spacetime.check.support import Hold, spread
from counterpoise.spacetime.fix.basis import basis_of
from counterpoise.spacetime.fix.contacts import lengthen_contacts, widen_contacts, within_reach
from counterpoise.spacetime.fix.feet import FIXED, Ground, bridge_leaps, find_leaps, plan_ground, put_feet, settle_feet
from counterpoise.spacetime.fix.physics import Task, Weights, Window
from counterpoise.spacetime.fix.words import FixedWindow, Stretch, summary_of

Progress = Callable[[str, float], None]

FEWEST = 12  # frames
LIGHT = 0.006  # of the body's mass: what hangs on a joint and weighs less (fingers) is not used
SEEN = 0.15  # [m/rad] what turning is worth beside moving
HARDLY, WIDELY = 0.15, 0.12  # [body weights, s] frames that stay beyond, and around them, are given up
FAR = 0.3  # [m] and so are frames that would have to move this far,
BLAMED = 0.4  # [s] ... and those so near to them that were beyond from the start
PATIENCE = 3  # times a window is tried, with ever more frames given up, before it is left as it is
LOYAL = 1000.0  # times as dear it is to change them
BLIND = 3  # frames at the ends without an acceleration to speak of
ROUNDS = 2  # at most, of looking for contacts anew
SAFE = 0.95  # share of the friction, of `low` and of `slow` that is used


@dataclass(frozen=True)
class FixTuning:
    """How to fix: what ground, how much each wish is worth, and how the work is cut up."""

    friction: float = 0.8  # of the ground
    floor: float | Literal["fit"] = 0.0  # [m] where the ground is; "fit": where the feet usually stand
    smooth: float = 0.02  # [s] over which forces are read; see CheckTuning
    calm: float = 0.014  # [s] over which the captured tremble is smoothed away first; 0 keeps all of it
    knots: float = 30.0  # [1/s] of the deviation
    force: float = 1.5e-3  # body weights from nowhere that are worth as much as ...
    still: float = 1e-4  # [m] ... a planted point off its place ...
    near: float = 0.01  # [m] ... or what hangs on a joint moved
    bend: float = 0.06  # [s] changes faster than this are dear
    window: float = 2.0  # [s] done at a time
    overlap: float = 0.7  # [s] looked ahead
    steps: int = 14  # most Gauss-Newton steps a window

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name == "floor" and value == "fit":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
                raise BadValue(f"{name} is a number, not {value!r}", **{name: value})
            if name in ("friction", "smooth", "calm", "bend") and value < 0.0:
                raise BadValue(f"{name} is at least 0, not {value!r}", **{name: value})
            if name in ("knots", "force", "still", "near", "window", "overlap", "steps") and value <= 0.0:
                raise BadValue(f"{name} is more than 0, not {value!r}", **{name: value})


@dataclass(frozen=True, eq=False)
class FixResult:
    """The fixed motion, checked before and after with the same contacts, and what was done to it."""

    motion: Motion
    before: CheckReport
    after: CheckReport
    contacts: tuple[ContactWindow, ...]  # what stands when, in both reports
    windows: tuple[FixedWindow, ...]
    leaps: tuple[Stretch, ...]  # stretches of the capture that were bridged
    left: tuple[Stretch, ...]  # stretches that could not be made valid and stay near the original
    frozen: tuple[str, ...]  # joints that were not used
    change: float  # [m] mean over frames and joints
    largest: float  # [m] ... and the largest, ...
    largest_body: str  # ... of this body ...
    largest_time: float  # [s] ... at this time
    seconds: float  # [s] of work
    stopped: bool  # whether the rest of the motion is as it was

    @property
    def summary(self) -> str:
        """A few sentences a person can act on."""
        return summary_of(self)

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, lists and words."""
        names = ("change", "largest", "largest_body", "largest_time", "seconds", "stopped", "summary")
        return {
            **{name: getattr(self, name) for name in names},
            "frames_per_second": len(self.motion) / max(self.seconds, 1e-9),
            "windows": [vars(w) for w in self.windows],
            "leaps": [vars(s) for s in self.leaps],
            "left": [vars(s) for s in self.left],
            "frozen": list(self.frozen),
            "before": self.before.to_json(),
            "after": self.after.to_json(),
        }


def fix_motion(
    motion: Motion,
    *,
    contacts: Sequence[ContactWindow] | None = None,
    holds: Sequence[Hold | str] = (),
    tuning: FixTuning | None = None,
    progress: Progress | None = None,
) -> FixResult:
    """The least change that makes a motion physically valid: same character, times and name.

    Feet find the ground by themselves unless `contacts` are told; `holds` are as in `check_motion`. `progress` is told
    the stage and the share done. An interrupt keeps the windows done so far and leaves the rest as it was.
    """
    began = time.perf_counter()
    if not isinstance(motion, Motion):
        raise BadValue(f"fix_motion takes a Motion (cp.read_motion reads one); got {type(motion).__name__}")
    if len(motion) < FEWEST:
        raise BadValue(f"a motion of {len(motion)} frames is too short to fix; {FEWEST} are needed", frames=len(motion))
    tuning = tuning or FixTuning()
    told = progress or (lambda stage, share: None)
    held = tuple(Hold(h) if isinstance(h, str) else h for h in holds)
    looked = CheckTuning(friction=tuning.friction, floor=tuning.floor, smooth=tuning.smooth)
    told("checking", 0.0)
    found = check_motion(motion, contacts=contacts, holds=held, tuning=looked)
    looked = replace(looked, floor=found.floor)
    who = motion.character
    open_ended = replace(motion, loop=False, travel=False, ends="free")
    even = replace(open_ended, times=found.frames.times, poses=frames_of_motion(motion, 0.0).raw)

    leaps = find_leaps(even)
    poses = bridge_leaps(even, leaps)
    step = even.duration / (len(even) - 1)
    if tuning.calm > 0.0:
        poses = fit_locally(who, poses, step, tuning.calm, max(2, int(np.ceil(3.0 * tuning.calm / step))))[0]
    told("feet", 0.0)
    stays = within_reach(who, even.times, poses, found.contacts, found.floor + looked.reach)
    if contacts is None:
        stays = lengthen_contacts(who, even.times, poses, stays, found.frames.needed[:, 5])
    ground = plan_ground(who, even.times, poses, stays, found.floor)
    footed = replace(even, poses=put_feet(who, poses, step, ground, found.floor))
    for _ in range(ROUNDS if contacts is None else 0):  # feet put still may stand for longer than was seen
        anew = within_reach(who, even.times, footed.poses, find_contacts(footed), found.floor + looked.reach)
        longer = widen_contacts(who, even.times, poses, stays, anew)
        if longer == stays:
            break
        stays = longer
        ground = plan_ground(who, even.times, poses, stays, found.floor)
        footed = replace(even, poses=put_feet(who, poses, step, ground, found.floor))
    told("feet", 1.0)
    task, frozen = _task(footed, ground, stays, held, found.floor, looked, tuning)
    x = np.zeros((task.basis.coefficients, len(task.free)))
    windows, done, stopped = _solve(task, x, found.frames.carried, tuning, told)
    told("physics", 1.0)

    settled = settle_feet(who, even.times, _changed(task, x), ground, found.floor)
    fixed = replace(footed, poses=settled)
    if stopped:
        share = 1.0 - ease((even.times - done) / 0.15 + 1.0, "smooth")
        fixed = replace(fixed, poses=who.integrate(even.poses, share[:, None] * who.difference(even.poses, settled)))
    own = len(even) == len(motion) and np.array_equal(even.times, motion.times)
    out = replace(open_ended, poses=fixed.poses if own else fixed.sample(motion.times).q)
    told("checking", 1.0)
    same = stays == found.contacts
    before = found if same else check_motion(motion, contacts=stays, holds=held, tuning=looked)
    after = check_motion(out, contacts=stays, holds=held, tuning=looked)
    far, _ = body_frames(who, out.poses)
    was, _ = body_frames(who, motion.poses)
    moved = np.linalg.norm(far - was, axis=-1)[:, 1:]
    at = np.unravel_index(int(moved.argmax()), moved.shape)
    return FixResult(
        motion=out,
        before=before,
        after=after,
        contacts=stays,
        windows=windows,
        leaps=tuple(Stretch(float(even.times[a]), float(even.times[b - 1]), 0.0) for a, b in leaps),
        left=_left(after),
        frozen=frozen,
        change=float(moved.mean()),
        largest=float(moved[at]),
        largest_body=str(who.model.body(int(at[1]) + 1).name),
        largest_time=float(motion.times[at[0]]),
        seconds=time.perf_counter() - began,
        stopped=stopped,
    )


def _task(
    footed: Motion,
    ground: Ground,
    contacts: tuple[ContactWindow, ...],
    holds: tuple[Hold, ...],
    floor: float,
    looked: CheckTuning,
    tuning: FixTuning,
) -> tuple[Task, tuple[str, ...]]:
    who = footed.character
    step = footed.duration / (len(footed) - 1)
    free, frozen = _usable(footed, ground)
    extra = len(holds)
    bodies = np.concatenate([ground.bodies, np.array([who.body_id(h.body) for h in holds], np.int64)])
    held = np.zeros(len(bodies), dtype=bool)
    held[len(ground.bodies) :] = True
    task = Task(
        motion=footed,
        basis=basis_of(len(footed), step, tuning.knots, tuning.smooth),
        smooth=tuning.smooth,
        free=free,
        lever=_levers(who)[free],
        bodies=bodies,
        locals=np.concatenate([ground.locals, np.zeros((extra, 3))]),
        radii=np.concatenate([ground.radii, np.zeros(extra)]),
        held=held,
        stands=np.pad(ground.stands, ((0, 0), (0, extra))),
        places=np.pad(ground.places, ((0, 0), (0, extra), (0, 0))),
        contacts=contacts,
        holds=holds,
        floor=floor,
        friction=SAFE * looked.friction,
        reading=(SAFE * looked.low, SAFE * looked.slow, looked.reach, 2.0 * looked.smooth),
        weights=Weights(force=tuning.force, still=tuning.still, near=tuning.near, bend=tuning.bend),
    )
    return task, frozen


def _usable(motion: Motion, ground: Ground) -> tuple[Ints, tuple[str, ...]]:
    """Degrees of freedom that may change, and the joints that may not: those that never move, and light ones."""
    who, m = motion.character, motion.character.model
    feet = {int(b) for sole in ground.soles for b in sole.bodies}
    free: list[int] = []
    frozen: list[str] = []
    for joint in who.joints:
        dofs = range(joint.dofs.start, joint.dofs.stop)
        body = int(m.dof_bodyid[joint.dofs.start])
        heavy = float(m.body_subtreemass[body]) >= LIGHT * who.mass or body in feet
        if joint.dofs.start < who.root_dofs.stop or (heavy and not (ground.ties[joint.dofs] == FIXED).all()):
            free += dofs
        else:
            frozen.append(joint.name)
    return np.array(free, np.int64), tuple(frozen)


def _levers(who: Character) -> Array:
    """How far a degree of freedom moves what hangs on it (nv,), as the figure stands [m/rad, or 1].

    Rms over both ends of the bodies it moves; a turn is seen even where it moves hardly anything (a head that nods).
    """
    m, d = who.model, mujoco.MjData(who.model)
    d.qpos[:] = who.neutral
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    jac, squares, count = np.empty((3, m.nv)), np.zeros(m.nv), np.zeros(m.nv)
    turn, turns = np.empty((3, m.nv)), np.zeros(m.nv)
    for body in range(1, m.nbody):
        for place in (d.xpos[body], 2.0 * d.xipos[body] - d.xpos[body]):
            mujoco.mj_jac(m, d, jac, turn, place, body)
            squares += np.sum(jac**2, axis=0)
            moved = np.any(jac != 0.0, axis=0) | np.any(turn != 0.0, axis=0)
            count += moved
            turns = np.maximum(turns, np.sum(turn**2, axis=0))
    return np.asarray(np.sqrt(squares / np.maximum(count, 1.0) + SEEN**2 * turns))


@dataclass(frozen=True, eq=False)
class Trust:
    """How much each frame's forces count, and how dear it is to change it; hopeless frames keep as they are."""

    believed: Array  # (n,)
    kept: Array  # (n,)


def _solve(
    task: Task, x: Array, carried: Flags, tuning: FixTuning, told: Progress
) -> tuple[tuple[FixedWindow, ...], float, bool]:
    """All windows in turn; returns what was done, until when, and whether it was stopped there.

    What is `carried` (n,) by something that is not shown is left alone. A frame that is given up in the part of a
    window that only looks ahead gets another chance in the next one, in which it is no longer at the edge.
    """
    times, basis = task.motion.times, task.basis
    n = len(times)
    ends = np.minimum(np.arange(n), np.arange(n)[::-1])
    alone = spread(carried, WIDELY, 1.0 / basis.step)
    fresh = Trust(np.where(alone, 0.0, np.clip((ends - BLIND + 1) / 3.0, 0.0, 1.0)), np.where(alone, LOYAL, 1.0))
    trust = Trust(fresh.believed.copy(), fresh.kept.copy())
    per = max(ORDERLY, round(tuning.window / (basis.per * basis.step)))
    over = max(ORDERLY, round(tuning.overlap / (basis.per * basis.step)))
    out: list[FixedWindow] = []
    first, total = 0, basis.coefficients
    until = float(times[0])
    while first < total:
        last = first + per + over
        if total - last < per // 2:
            last = total
        told("physics", first / total)
        try:
            cost, steps = _solve_window(task, x, first, last, trust, tuning)
        except KeyboardInterrupt:
            x[first:] = 0.0
            if not out:
                raise
            return tuple(out), until, True
        done = total if last == total else first + per
        frame = n - 1 if done == total else min(max(done - basis.edge - 3, 0) * basis.per, n - 1)
        trust.believed[frame:], trust.kept[frame:] = fresh.believed[frame:], fresh.kept[frame:]
        out.append(FixedWindow(until, float(times[frame]), *cost, steps))
        until, first = float(times[frame]), done
    return tuple(out), float(times[-1]), False


ORDERLY = 8  # coefficients: no window is shorter


def _solve_window(
    task: Task, x: Array, first: int, last: int, trust: Trust, tuning: FixTuning
) -> tuple[tuple[float, float], int]:
    """One window; where frames in it turn out hopeless, again from the start, without their forces."""
    began, steps, cost = x[first:last].copy(), 0, (0.0, 0.0)
    reached = task.basis.touched(first, last)
    if not trust.believed[reached].any():
        return cost, steps
    whole = task.basis.first + task.basis.width <= last  # frames that no coefficient beyond the window reaches
    whole |= last >= task.basis.coefficients
    half = -(-int(tuning.steps) // 2)
    reach = round(WIDELY / task.basis.step)
    for _ in range(PATIENCE):
        window = Window(task, x, first, last, trust.believed, trust.kept)
        wrong = np.linalg.norm(window.look(x).left, axis=1) > HARDLY
        before, after, more = window.improve(half, 0.03)
        steps += more
        for _ in range(3):
            window.refresh()
            _, after, more = window.improve(half, 0.005)
            steps, cost = steps + more, (before, after)
            bad = (np.linalg.norm(window.look(x).left, axis=1) > HARDLY) & (window.sure > 0.5) & whole[window.picked]
            far = window.moved(x) > FAR
            if not bad.any() and not far.any():
                return cost, steps
            if far.any():
                bad |= far | (wrong & spread(far, BLAMED, 1.0 / (window.every * task.basis.step)))
                break
        for k in window.picked[bad]:
            around = slice(max(0, k - reach), k + reach + 1)
            trust.believed[around], trust.kept[around] = 0.0, LOYAL
        x[first:last] = began
    return (cost[0], cost[0]), steps


def _changed(task: Task, x: Array) -> Array:
    full = np.zeros((len(task.motion), task.motion.character.nv))
    full[:, task.free] = task.basis.deviation(x, slice(0, len(task.motion)))
    return np.asarray(task.motion.character.integrate(task.motion.poses, full))


def _left(after: CheckReport) -> tuple[Stretch, ...]:
    f = after.frames
    bad = f.judged & ~f.carried & (f.violation > 0.5 * HARDLY)
    return tuple(Stretch(float(f.times[a]), float(f.times[b - 1]), float(f.violation[a:b].max())) for a, b in runs(bad))


__all__ = ["FixResult", "FixTuning", "FixedWindow", "Stretch", "fix_motion"]
