"""Which bodies something unseen may hold: hands on a bar, a seat on a chair, feet on steps that were not captured.

Where contacts cannot give what the frames need for a while, something carries the body that the motion does not show.
What it carries hardly moves there: the hands on a bar, the hips on a chair. So every end of a limb, and the hips, is
tried as held while it is nearly at rest, and the one that explains most of the missing forces is taken; then the next,
until none explains much more. Who stands on a step has quiet hips and hands as well: only bodies of one kind are held
at a time. It is a guess, and so it is made only where it is asked for.
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
from counterpoise.spacetime.check.flight import CarriedStretch
from counterpoise.spacetime.check.frames import CheckedFrames, com_of, frames_of_motion
from counterpoise.spacetime.check.support import HELD, OTHER_PART, GroundSupport, HeldBody, find_support
from counterpoise.spacetime.check.tuning import CheckTuning
from counterpoise.spacetime.fix.outside import split_needed

LIMBS = ("hand", "foot")


@dataclass(frozen=True)
class UnseenTuning:
    """When a body may be held by something that is not shown."""

    lacking: float = 0.05  # [body weights] missing force, averaged ...
    average: float = 0.2  # [s] ... over this time, that something unseen may carry
    still: float = 0.25  # [m/s] a body that is slower may be held, ...
    still_share: float = 0.35  # ... or slower than this share of the speed of the CoM
    gap: float = 0.1  # [s] a shorter interruption of its rest is none
    arriving: float = 0.15  # [s] at both ends of its rest, in which it rolls on to what holds it, or off, ...
    fast: float = 1.0  # [m/s] ... at less than this
    shortest: float = 0.25  # [s] of a stretch in which it is held
    explained: float = 0.3  # least share of the missing squares that holding it takes away in its stretch
    shared: float = 0.3  # most of its stretch in which a body of another kind is held already
    most: int = 12  # stretches


@dataclass(frozen=True, eq=False)
class _Rest:
    """A stretch in which a body is nearly at rest."""

    body: int
    first: int
    last: int  # exclusive


def unseen_holds(
    motion: Motion, contacts: Sequence[ContactWindow] | None, floor: float, checks: CheckTuning,
    carried: Sequence[CarriedStretch] = (), tuning: UnseenTuning | None = None,
) -> tuple[HeldBody, ...]:  # fmt: skip
    """Returns the bodies, and when, that something unseen holds; none where contacts explain the motion.

    `floor` is the height of the ground [m], `checks` says what may press on it. What a check found `carried` is tried
    as well: who swings on a bar has hands that are never at rest.
    """
    t, character = tuning or UnseenTuning(), motion.character
    frames = frames_of_motion(motion, checks.smooth)
    kinds = _kinds(character)
    ends = list(kinds)
    if not character.floating or not ends or frames.rate == 0.0:
        return ()
    # every end as a held body: its point carries only where it is said to
    holds = [HeldBody(str(character.model.body(body).name), np.inf, np.inf) for body in ends]
    sure = CheckTuning(**{**vars(checks), "floor": floor})
    support = find_support(motion, frames, contacts, holds, sure)
    held = np.asarray(support.foot == HELD)
    press = support.blurred.copy()
    missing = _missing(frames, support.places, press, held, checks.friction)
    columns = dict(zip(ends, np.flatnonzero(held), strict=True))
    rests = {body: _rests(frames, body, _on_ground(support, body), t) for body in ends}
    left = [rest for mine in rests.values() for rest in mine]
    left += [rest for stretch in carried for rest in _carried(frames, stretch) if rest.body in columns]
    found: list[_Rest] = []
    while left and len(found) < t.most:
        lacking = _averaged(missing, t.average * frames.rate) > t.lacking
        best, gained = None, 0.0
        for rest in left:
            here = slice(rest.first, rest.last)
            others = [columns[body] for body in ends if kinds[body] != kinds[rest.body]]
            if lacking[here].sum() < t.shortest * frames.rate or not frames.judged[here].any():
                continue
            if press[here][:, others].any(axis=1).mean() > t.shared:
                continue
            trial = press[here].copy()
            trial[:, columns[rest.body]] = True
            remains = _missing(_cut(frames, here), support.places[here], trial, held, checks.friction)
            was = float(np.sum(missing[here] ** 2))
            gain = was - float(np.sum(remains**2))
            if gain > max(gained, t.explained * was):
                best, gained = rest, gain
        if best is None:
            break
        found.append(best)
        left.remove(best)
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


def _kinds(character: Character) -> dict[int, str]:
    """Returns the first body of every hand and foot, and the hips: "hand", "foot", "hips"."""
    at = anatomy_of(character)
    out = {at.hips: "hips"}
    for limb, bodies in at.limbs.items():
        if limb.startswith(LIMBS) and bodies:
            out[bodies[0]] = limb.partition("_")[0]
    return out


def _on_ground(support: GroundSupport, body: int) -> Flags:
    """Returns the frames (n,) in which a foot, or another body, presses on the ground already."""
    own = support.bodies == body
    feet = set(support.foot[own]) - {HELD, OTHER_PART}
    return np.asarray(
        support.bearing[:, (own & (support.foot != HELD)) | np.isin(support.foot, list(feet))].any(axis=1)
    )


def _carried(frames: CheckedFrames, stretch: CarriedStretch) -> list[_Rest]:
    """Returns the bodies that a check names for a stretch in which something unseen carries the body."""
    first, last = (int(k) for k in np.searchsorted(frames.times, [stretch.start, stretch.end + 1e-9]))
    return [_Rest(frames.character.body_id(body), first, last) for body in stretch.bodies]


def _rests(frames: CheckedFrames, body: int, pressing: Flags, t: UnseenTuning) -> list[_Rest]:
    """Returns the stretches in which a body is nearly at rest, or moves much less than the CoM, off the ground."""
    at, _ = body_frames(frames.character, frames.q)
    width = t.gap * frames.rate
    speeds = [
        _averaged(np.linalg.norm(np.gradient(path, frames.times, axis=0), axis=1), width)
        for path in (at[:, body], com_of(frames.character, frames.q))
    ]
    still = (speeds[0] < np.maximum(t.still, t.still_share * speeds[1])) & ~pressing
    for first, last in runs(~still):
        if first > 0 and last < len(still) and last - first <= width:
            still[first:last] = True
    most, out = round(t.arriving * frames.rate), []
    near = (speeds[0] < t.fast) & ~pressing
    for first, last in runs(still):
        if last - first < t.shortest * frames.rate:
            continue
        a, b = first, last
        while a > max(0, first - most) and near[a - 1]:
            a -= 1
        while b < min(len(near), last + most) and near[b]:
            b += 1
        out.append(_Rest(body, a, b))
    return out


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
