"""What can carry the body in each frame: standing feet, other points near the ground, and held bodies.

A foot that was found standing is planted. Contacts that are found by speed end early: the toes still push when the ball
of the foot has left. A point of a sole, or of any other part, that is low and slow may therefore press as well. The
shapes of other parts are less certain than soles, so they may press from further up (`touch`). Nothing presses from
deep below the ground, and nothing at all where a part is deeper still. What rolls is judged by the speed of its lowest
point.

Smoothing blurs the time at which a contact begins or ends, so a point that may press within `blur` of a frame may press
in that frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.character.shapes import spheres_of
from counterpoise.errors import BadValue
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow, find_contacts, flags_of, foot_markers, runs
from counterpoise.motion.retarget.links import rest_facing
from counterpoise.motion.retarget.soles import Sole, sole_of
from counterpoise.spacetime.check.frames import CheckedFrames, places_of
from counterpoise.spacetime.check.tuning import CheckTuning

ANKLE_HEIGHT = 0.05  # [body heights] other parts that are lower than this when the body stands do not press
SUNK_REACHES = 2.0  # times `CheckTuning.reach`: a body with a part this deep in the ground does not stand on it
STILL_TIME = 0.1  # [s] a raised foot that is still for less is turning round in the air
POINTS_A_BODY = 1  # of other parts: the lowest point of a body may press
OTHER_PART, HELD = -1, -2  # in place of the number of a foot


@dataclass(frozen=True)
class HeldBody:
    """A body that holds on to something the motion does not show (a bar, a rope, a chair). It may push and pull."""

    body: str
    start: float = -np.inf  # [s]
    end: float = np.inf  # [s]


@dataclass(frozen=True, eq=False)
class GroundSupport:
    """Every point that may carry a force, frame by frame. The points of the feet come first."""

    contacts: tuple[ContactWindow, ...]
    feet: tuple[str, ...]  # names of the feet
    foot: Ints  # (p,) the foot that a point belongs to, or OTHER_PART, or HELD
    bodies: Ints  # (p,)
    places: Array  # (n, p, 3) in the smoothed motion [m]
    heights: Array  # (n, p) above the floor, in the motion as given [m]
    speeds: Array  # (n, p) horizontal, in the smoothed motion [m/s]
    planted: Flags  # (n, p) belongs to a foot found standing
    bearing: Flags  # (n, p) may press
    blurred: Flags  # (n, p) may press within the blur
    floor: float  # [m] height of the ground
    resting: float  # [m] median height of standing feet above the floor; nan if no foot stands


@dataclass(frozen=True, eq=False)
class GroundPoints:
    """All points that may carry a force: of the soles, of other shapes, of held bodies."""

    soles: tuple[Sole, ...]
    bodies: Ints  # (p,)
    local: Array  # (p, 3) [m]
    radii: Array  # (p,) [m]
    foot: Ints  # (p,)

    def places(self, character: Character, poses: Array) -> Array:
        """Returns the lowest points (n, p, 3) of the balls about the points [m]."""
        out = places_of(character, poses, self.bodies, self.local)
        out[:, :, 2] -= self.radii
        return out


def find_support(
    motion: Motion,
    frames: CheckedFrames,
    contacts: Sequence[ContactWindow] | None,
    holds: Sequence[HeldBody],
    tuning: CheckTuning,
    pause: Callable[[], None] = lambda: None,
) -> GroundSupport:
    """Returns what may carry the body in each frame. Contacts are found in the motion unless they are given.

    `pause` is called now and then: it may raise, to stop the work.
    """
    character = frames.character
    points = contact_points(character, holds)
    if contacts is None:
        even = replace(motion, times=frames.times, poses=frames.raw, loop=False, travel=False, ends="free")
        contacts = find_contacts(even)
    pause()
    planted = _planted(frames, points, contacts)
    raw = points.places(character, frames.raw)
    pause()
    smooth = points.places(character, frames.q)
    pause()
    velocities = _velocities(smooth, frames.times) + _rolling(points, frames)
    standing = _standing_height(raw[:, :, 2], planted, points.foot, len(character.feet))
    floor = _floor(tuning.floor, standing)
    heights = raw[:, :, 2] - floor
    resting = standing - floor
    planted &= np.abs(heights) < tuning.reach
    base = resting if abs(resting) < tuning.reach else 0.0
    of_foot, speeds = points.foot >= 0, np.linalg.norm(velocities, axis=-1)
    near = np.where(of_foot, tuning.low, max(tuning.low, tuning.touch * character.height))
    pause()
    bearing = (heights < max(base, 0.0) + near) & (speeds < np.where(of_foot, tuning.slow, tuning.touch_speed))
    still = of_foot & (heights < max(base, 0.0) + max(tuning.low, tuning.reach)) & (speeds < tuning.still)
    bearing |= _lasting(still, STILL_TIME, frames.rate)
    bearing &= heights > min(base, 0.0) - max(tuning.reach, tuning.low)
    sunk = heights.min(axis=1, initial=np.inf) < min(base, 0.0) - SUNK_REACHES * max(tuning.reach, tuning.low)
    feet, ankles = (flags & (points.foot == OTHER_PART) for flags in _kept_off_ground(character, points))
    soles = np.where(of_foot, heights, np.inf).min(axis=1, initial=np.inf)
    bearing &= ~ankles | (heights < soles[:, None])  # in captures feet may be turned over
    bearing[:, feet] = False
    bearing[:, points.foot == OTHER_PART] &= _lowest_of_bodies(heights, points)[:, points.foot == OTHER_PART]
    bearing |= planted
    bearing[sunk] = False
    for k, hold in zip(np.flatnonzero(points.foot == HELD), holds, strict=True):
        bearing[:, k] = (frames.times >= hold.start) & (frames.times <= hold.end)
    return GroundSupport(
        contacts=tuple(contacts),
        feet=tuple(one.name for one in character.feet),
        foot=points.foot,
        bodies=points.bodies,
        places=smooth,
        heights=heights,
        speeds=np.linalg.norm(velocities[:, :, :2], axis=-1),
        planted=planted,
        bearing=bearing,
        blurred=widened(bearing, tuning.blur, frames.rate),
        floor=floor,
        resting=resting,
    )


def widened(flags: Flags, seconds: float, rate: float) -> Flags:
    """Returns flags (n, ...) that are true wherever one is true within `seconds`."""
    reach = int(np.ceil(seconds * rate - 1e-9))
    out = flags.copy()
    for k in range(1, min(reach, len(flags) - 1) + 1):
        out[k:] |= flags[:-k]
        out[:-k] |= flags[k:]
    return out


def _lasting(flags: Flags, seconds: float, rate: float) -> Flags:
    """Returns flags (n, ...) without runs shorter than `seconds`."""
    return widened(~widened(~flags, 0.5 * seconds, rate), 0.5 * seconds, rate)


def narrowed(flags: Flags, seconds: float, rate: float) -> Flags:
    """Returns flags (n,) without the first and last `seconds` of every run. Runs keep what touches the clip's ends."""
    reach = int(np.ceil(seconds * rate - 1e-9))
    out = np.zeros_like(flags)
    for first, last in runs(flags):
        a = first + (reach if first > 0 else 0)
        b = last - (reach if last < len(flags) else 0)
        out[a : max(a, b)] = True
    return out


def contact_points(character: Character, holds: Sequence[HeldBody]) -> GroundPoints:
    """Returns all points of a character that may carry a force, with those of held bodies."""
    at = anatomy_of(character)
    facing = rest_facing(at)
    soles = tuple(sole_of(at, foot, facing) for foot in character.feet)
    shapes = spheres_of(character)
    counts = [len(sole.bodies) for sole in soles]
    held = np.array([character.body_id(hold.body) for hold in holds], np.int64)
    return GroundPoints(
        soles=soles,
        bodies=np.concatenate([*(sole.bodies for sole in soles), shapes.bodies, held]).astype(np.int64),
        local=np.concatenate([*(sole.locals for sole in soles), shapes.places, np.zeros((len(held), 3))]),
        radii=np.concatenate([np.zeros(sum(counts)), shapes.radii, np.zeros(len(held))]),
        foot=np.concatenate(
            [
                np.repeat(np.arange(len(soles)), counts),
                np.full(len(shapes.bodies), OTHER_PART),
                np.full(len(held), HELD),
            ]
        ).astype(np.int64),
    )


def _planted(frames: CheckedFrames, points: GroundPoints, contacts: Sequence[ContactWindow]) -> Flags:
    """Returns (n, p): points of a sole on which its foot stands, according to the contacts."""
    markers = foot_markers(anatomy_of(frames.character))
    marked = flags_of(frames.times, markers, contacts)
    none = np.zeros(len(frames), dtype=bool)
    out = np.zeros((len(frames), len(points.bodies)), dtype=bool)
    column = 0
    for sole in points.soles:
        parts = {m.part: marked[:, k] for k, m in enumerate(markers) if m.foot == sole.limb}
        heel, ball = parts.get("heel", none), parts.get("ball", none)
        front = sole.toes if sole.toes.any() else sole.ball
        for p in range(len(sole.bodies)):
            flat = heel & ball & bool(sole.ball[p])
            out[:, column] = (heel & bool(sole.heel[p])) | flat | (ball & bool(front[p]))
            column += 1
    return out


def _lowest_of_bodies(heights: Array, points: GroundPoints) -> Flags:
    """Returns (n, p): the lowest points of every body that is no foot."""
    out = np.zeros(heights.shape, dtype=bool)
    others = points.foot == OTHER_PART
    for body in np.unique(points.bodies[others]):
        mine = np.flatnonzero(others & (points.bodies == body))
        order = np.argsort(heights[:, mine], axis=1, kind="stable")[:, :POINTS_A_BODY]
        np.put_along_axis(out, mine[order], True, axis=1)
    return out


def _kept_off_ground(character: Character, points: GroundPoints) -> tuple[Flags, Flags]:
    """Returns (p,), (p,): points of feet, and of others as low as an ankle in standing. The soles keep them off."""
    if not character.feet:
        none = np.zeros(len(points.bodies), dtype=bool)
        return none, none
    soles = {int(b) for sole in points.soles for b in sole.bodies}
    feet = _with_descendants(character.model.body_parentid, soles)
    heights = points.places(character, character.neutral[None])[0, :, 2]
    return np.isin(points.bodies, list(feet)), np.asarray(heights < ANKLE_HEIGHT * character.height)


def _with_descendants(parents: NDArray[np.int32], bodies: set[int]) -> set[int]:
    out = set(bodies)
    for b in range(1, len(parents)):
        if int(parents[b]) in out:
            out.add(b)
    return out


def _velocities(places: Array, times: Array) -> Array:
    """Returns velocities (n, p, 3) by central differences."""
    if len(times) < 2:
        return np.zeros_like(places)
    return np.asarray(np.gradient(places, times, axis=0, edge_order=1))


def _rolling(points: GroundPoints, frames: CheckedFrames) -> Array:
    """Returns velocities (n, p, 3) of the lowest points of balls relative to their centres, as their bodies turn."""
    out = np.zeros((len(frames), len(points.bodies), 3))
    round_ = points.radii > 0.0
    if len(frames) < 3 or not round_.any():
        return out
    _, turns = body_frames(frames.character, frames.q)
    step = spatial.log(spatial.multiply(turns[2:], spatial.conjugate(turns[:-2])))  # world
    speed = np.zeros((len(frames), turns.shape[1], 3))
    speed[1:-1] = step / (frames.times[2:] - frames.times[:-2])[:, None, None]
    speed[0], speed[-1] = speed[1], speed[-2]
    mine, radii = speed[:, points.bodies[round_]], points.radii[round_]
    out[:, round_, 0], out[:, round_, 1] = -radii * mine[..., 1], radii * mine[..., 0]  # w x (0, 0, -r)
    return out


def _standing_height(heights: Array, planted: Flags, foot: Ints, feet: int) -> float:
    """Returns the median height of the lowest planted point of standing feet; nan if no foot stands."""
    found = []
    for number in range(feet):
        mine = foot == number
        held = planted[:, mine]
        some = held.any(axis=1)
        if some.any():
            found.append(np.where(held, heights[:, mine], np.inf)[some].min(axis=1))
    return float(np.median(np.concatenate(found))) if found else float("nan")


def _floor(floor: float | str, standing: float) -> float:
    if floor == "fit":
        return standing if np.isfinite(standing) else 0.0
    if isinstance(floor, str) or not np.isfinite(floor):
        raise BadValue(f"the floor is a height [m] or 'fit', not {floor!r}", floor=floor)
    return float(floor)
