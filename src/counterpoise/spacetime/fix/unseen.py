"""Which bodies something unseen may hold: hands on a bar, a seat on a chair, feet on steps that were not captured.

Where contacts cannot give what the frames need for a while, something carries the body that the motion does not show.
What it carries hardly moves there: the hands on a bar, the hips on a chair. So every end of a limb, and the hips, is
tried as held while it is nearly at rest, and the one that explains most of the missing forces is taken; then the next,
until none explains much more. It is a guess, and so it is made only where it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow, runs
from counterpoise.spacetime.check.frames import CheckedFrames, com_of, frames_of_motion
from counterpoise.spacetime.check.support import HELD, HeldBody, find_support
from counterpoise.spacetime.check.tuning import CheckTuning
from counterpoise.spacetime.fix.outside import split_needed

LIMBS = ("hand", "foot")


@dataclass(frozen=True)
class UnseenTuning:
    """When a body may be held by something that is not shown."""

    lacking: float = 0.1  # [body weights] missing force, averaged ...
    average: float = 0.2  # [s] ... over this time, that something unseen may carry
    still: float = 0.25  # [m/s] a body that is slower may be held, ...
    still_share: float = 0.35  # ... or slower than this share of the speed of the CoM
    gap: float = 0.1  # [s] a shorter interruption of its rest is none
    shortest: float = 0.25  # [s] of a stretch in which it is held
    explained: float = 0.3  # least share of the missing squares that holding it takes away in its stretch
    most: int = 12  # stretches


@dataclass(frozen=True, eq=False)
class _Rest:
    """A stretch in which a body is nearly at rest."""

    body: int
    first: int
    last: int  # exclusive


def unseen_holds(
    motion: Motion, contacts: Sequence[ContactWindow] | None, floor: float, checks: CheckTuning,
    tuning: UnseenTuning | None = None,
) -> tuple[HeldBody, ...]:  # fmt: skip
    """Returns the bodies, and when, that something unseen holds; none where contacts explain the motion.

    `floor` is the height of the ground [m], `checks` says what may press on it.
    """
    t, character = tuning or UnseenTuning(), motion.character
    frames = frames_of_motion(motion, checks.smooth)
    ends = _ends(character)
    if not character.floating or not ends or frames.rate == 0.0:
        return ()
    # every end as a held body: its point carries only where it is said to
    holds = [HeldBody(str(character.model.body(body).name), np.inf, np.inf) for body in ends]
    sure = CheckTuning(**{**vars(checks), "floor": floor})
    support = find_support(motion, frames, contacts, holds, sure)
    held = np.asarray(support.foot == HELD)
    press = support.blurred.copy()
    missing = _missing(frames, support.places, press, held, checks.friction)
    rests = [rest for body in ends for rest in _rests(frames, body, t)]
    columns = dict(zip(ends, np.flatnonzero(held), strict=True))
    found: list[_Rest] = []
    while len(found) < t.most:
        lacking = _averaged(missing, t.average * frames.rate) > t.lacking
        best, gained = None, 0.0
        for rest in rests:
            here = slice(rest.first, rest.last)
            if lacking[here].sum() < t.shortest * frames.rate or not frames.judged[here].any():
                continue
            trial = press[here].copy()
            trial[:, columns[rest.body]] = True
            left = _missing(_cut(frames, here), support.places[here], trial, held, checks.friction)
            was = float(np.sum(missing[here] ** 2))
            gain = was - float(np.sum(left**2))
            if gain > max(gained, t.explained * was):
                best, gained = rest, gain
        if best is None:
            break
        found.append(best)
        rests.remove(best)
        press[best.first : best.last, columns[best.body]] = True
        missing = _missing(frames, support.places, press, held, checks.friction)
    return tuple(_hold(character, frames, rest) for rest in sorted(found, key=lambda r: (r.first, r.body)))


def _missing(frames: CheckedFrames, places: Array, press: Flags, held: Flags, friction: float) -> Array:
    """Returns what contacts cannot give (n,) [body weights, torques over the height]."""
    return np.asarray(np.linalg.norm(split_needed(frames, places, press, held, friction)[0], axis=1))


def _cut(frames: CheckedFrames, here: slice) -> CheckedFrames:
    f = frames
    return CheckedFrames(
        f.character, f.times[here], f.raw[here], f.q[here], f.v[here], f.a[here], f.judged[here], f.rate
    )


def _ends(character: Character) -> list[int]:
    """Returns the first body of every hand and foot, and the hips."""
    at = anatomy_of(character)
    return [*(bodies[0] for limb, bodies in at.limbs.items() if limb.startswith(LIMBS) and bodies), at.hips]


def _rests(frames: CheckedFrames, body: int, t: UnseenTuning) -> list[_Rest]:
    """Returns the stretches in which a body is nearly at rest, or moves much less than the CoM."""
    at, _ = body_frames(frames.character, frames.q)
    width = t.gap * frames.rate
    speeds = [
        _averaged(np.linalg.norm(np.gradient(path, frames.times, axis=0), axis=1), width)
        for path in (at[:, body], com_of(frames.character, frames.q))
    ]
    still = speeds[0] < np.maximum(t.still, t.still_share * speeds[1])
    for first, last in runs(~still):
        if first > 0 and last < len(still) and last - first <= width:
            still[first:last] = True
    return [_Rest(body, a, b) for a, b in runs(still) if b - a >= t.shortest * frames.rate]


def _averaged(values: Array, width: float) -> Array:
    """Returns the running mean over about `width` frames."""
    size = max(1, 2 * round(0.5 * width) + 1)
    wide = np.pad(values, size // 2, mode="edge")
    return np.asarray(np.convolve(wide, np.full(size, 1.0 / size), mode="valid"))


def _hold(character: Character, frames: CheckedFrames, rest: _Rest) -> HeldBody:
    """Returns the hold of a body; what lasts to an end of the clip has no end."""
    start = -np.inf if rest.first == 0 else float(frames.times[rest.first])
    end = np.inf if rest.last == len(frames) else float(frames.times[rest.last - 1])
    return HeldBody(str(character.model.body(rest.body).name), start, end)
