"""A fix is never worse than its input: where it would be, the motion is given back as it was.

The fixed motion and the input are measured alike, three times: as an outsider sees them, who knows no contacts
(`outside`), with contacts found anew in each, and with the contacts of the fix. Where the fix skates, sinks, leaps or
trembles more than its input, or needs more force from nowhere or more strength, and more than is allowed, the frames
are given back, with a soft transition. The input is raised or lowered there as the whole motion was, unless that makes
it worse. If it is worse even so, all of it is given back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.motion import Motion
from counterpoise.motion.curves import ease
from counterpoise.spacetime.check.findings import lasting_residual
from counterpoise.spacetime.check.report import CheckReport
from counterpoise.spacetime.fix.outside import OutsideView

MARGIN = 0.1  # share of a finding's limit by which it may be larger than before, ...
NOISE = 0.01  # ... and share of its own value
WORST_SHARE = 0.3  # of the largest excess: frames with less stay as they are
ROUNDS = 2  # searches for worse frames
WIDENING = 0.1  # [s] about such frames that are given back too
FADE = 0.4  # [s] from the fixed motion to the input
GUARDED = (
    "nowhere",
    "sliding",
    "skate",
    "penetration",
    "force",
    "leap",
    "jitter",
    "strength",
    "limits",
    "flight",
    "spin",
    "lean",
)

FORCES = ("force", "lean", "flight", "spin")  # findings of a check that an outsider sees as force from nowhere
View = OutsideView | CheckReport
Judge = Callable[[Array], Iterator[View]]  # of poses (n, nq) of the frames; each view is made when asked for


@dataclass(frozen=True, eq=False)
class Guarded:
    """A fixed motion of which nothing is worse than its input."""

    poses: Array  # (n, nq)
    back: Flags  # (n,) frames that are as they were
    why: tuple[str, ...]  # the findings that would have been worse
    reports: tuple[View, ...]  # of these poses


def never_worse(
    given: Motion, fixed: Array, lift: float, judge: Judge, before: Sequence[View], after: Sequence[View]
) -> Guarded:
    """Returns the fixed poses (n, nq), with those of `given` in frames in which they are worse.

    `before` and `after` are views of the input and of the fixed poses, one by one; `judge` makes those of other poses.
    Checks are made only where they decide something: frames are searched in the last reports of a round.
    """
    reports, back = tuple(after), np.zeros(len(given), dtype=bool)
    why = dict[str, None]()
    for left in reversed(range(ROUNDS)):
        found = worse_pairs(before, reports)
        if not found:
            return Guarded(fixed, back, (), reports)
        why |= dict.fromkeys(name for name, _, _ in found)
        for one in found:
            back |= near_frames(given.times, _worse_frames(*one), WIDENING)
        for offset in (offsets := tuple(dict.fromkeys((lift, 0.0)))):
            poses = _given_back(given, fixed, back, offset)
            reports = _until_worse(before, judge(poses), all_of_them=left > 0 and offset == offsets[-1])
            if not worse_pairs(before, reports):
                return Guarded(poses, back, tuple(why), reports)
    return Guarded(np.asarray(given.poses), np.ones(len(given), dtype=bool), tuple(why), tuple(before))


def _until_worse(before: Sequence[View], after: Iterator[View], all_of_them: bool) -> tuple[View, ...]:
    """Returns the reports up to the first that is worse than before, or all of them."""
    made: list[View] = []
    for was, now in zip(before, after, strict=False):
        made.append(now)
        if not all_of_them and worse_pairs((*before[: len(made) - 1], was), made):
            break
    return tuple(made)


def worse_pairs(before: Sequence[View], after: Sequence[View]) -> list[tuple[str, View, View]]:
    """Returns what is worse in each of the views, with its two views.

    A check may excuse a body that something unseen carries, and then blame the flight that is left of it. So its
    findings about forces count only where an outsider, if there is one among the views, sees no less from nowhere.
    """
    seen = [
        (was, now)
        for was, now in zip(before, after, strict=False)
        if isinstance(was, OutsideView) and isinstance(now, OutsideView)
    ]
    out = []
    for was, now in zip(before, after, strict=False):
        for name in worse_findings(was, now):
            frames = _worse_frames(name, was, now)
            excused = name in FORCES and any(_rms(b.missing[frames]) < _rms(a.missing[frames]) for a, b in seen)
            if not excused:
                out.append((name, was, now))
    return out


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0


def worse_findings(before: View, after: View) -> list[str]:
    """Returns the names of findings that are worse after a fix than before it, and beyond their limits."""
    known = {finding.name: finding for finding in before.findings}
    out = []
    for now in after.findings:
        was = known[now.name].value if now.name in known else 0.0
        more = now.value > (1.0 + NOISE) * was + MARGIN * now.limit
        if more and not now.ok and now.name in GUARDED:
            out.append(now.name)
    return out


def _worse_frames(name: str, before: View, after: View) -> Flags:
    """Returns the frames (n,) in which a finding is most worse."""
    values = [_by_frame(name, report) for report in (before, after)]
    if name in ("flight", "spin") and isinstance(before, CheckReport) and isinstance(after, CheckReport):
        return np.asarray(after.frames.flight | before.frames.flight)
    more = np.nan_to_num(values[1]) - np.nan_to_num(values[0])
    return np.asarray((more > 0.0) & (more >= WORST_SHARE * more.max()))


def _by_frame(name: str, report: View) -> Array:
    """Returns a measure by frame (n,)."""
    if isinstance(report, OutsideView):
        return report.nowhere if name == "nowhere" else report.sliding
    f = report.frames
    if name == "skate":
        return np.nan_to_num(f.skate).max(axis=1, initial=0.0)
    if name in ("force", "lean"):
        counted = f.judged & ~f.carried
        return np.where(counted, lasting_residual(f, report.tuning.force_time), 0.0)
    if name == "strength":
        return np.where(f.known, f.torque, 0.0)
    return np.asarray({"limits": f.limit, "spin": f.violation, "flight": f.violation}.get(name, vars(f).get(name)))


def near_frames(times: Array, flags: Flags, seconds: float) -> Flags:
    """Returns the frames (n,) that are within a time of a flag."""
    return np.asarray(_away(times, flags) <= seconds + 1e-9)


def _away(times: Array, flags: Flags) -> Array:
    """Returns how far each frame is from the nearest flag (n,) [s]."""
    at = times[flags]
    if not len(at):
        return np.full(len(times), np.inf)
    after = np.clip(np.searchsorted(at, times), 0, len(at) - 1)
    before = np.maximum(after - 1, 0)
    return np.minimum(np.abs(times - at[after]), np.abs(times - at[before]))


def _given_back(given: Motion, fixed: Array, back: Flags, lift: float) -> Array:
    """Returns the fixed poses (n, nq) with those given, raised by `lift` [m], where they are given back."""
    base = np.array(given.poses)
    if given.character.floating:
        base[:, 2] += lift
    share = ease(np.minimum(_away(given.times, back) / FADE, 1.0), "smooth")
    return np.asarray(given.character.integrate(base, share[:, None] * given.character.difference(base, fixed)))
