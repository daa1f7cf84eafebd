"""What carries the body: feet that stand, points low and slow enough to press, and what it holds on to.

A foot that was found to stand is planted. Contacts found by speed end early - the toes still push when the ball has
left - so a point of a sole, or of any other part, that is low and slow may press as well. Smoothing blurs the moment a
contact begins or ends: what bears within `blur` of a frame bears in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.anatomy import anatomy_of
from counterpoise.errors import BadValue
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow, find_contacts, flags_of, foot_markers, runs
from counterpoise.motion.retarget.links import rest_facing
from counterpoise.motion.retarget.soles import sole_of
from counterpoise.spacetime.check.frames import Frames, places_of, witnesses_of

ANKLE = 0.05  # body heights


@dataclass(frozen=True)
class Hold:
    """A body that holds on to something the motion does not show - a bar, a rope, a chair - and may push and pull."""

    body: str
    start: float = -np.inf  # [s]
    end: float = np.inf  # [s]


@dataclass(frozen=True, eq=False)
class Support:
    """Every point that may bear a force, frame by frame; the points of the feet come first."""

    contacts: tuple[ContactWindow, ...]
    feet: tuple[str, ...]  # names of the feet
    foot: Ints  # (p,) which of them a point belongs to; -1: another part, -2: a hold
    bodies: Ints  # (p,)
    places: Array  # (n, p, 3) of the smoothed motion [m]
    heights: Array  # (n, p) above the floor, as the motion has it [m]
    speeds: Array  # (n, p) [m/s] over the floor, smoothed
    planted: Flags  # (n, p) part of a foot found standing
    bearing: Flags  # (n, p) may press
    blurred: Flags  # (n, p) may press within the blur
    floor: float  # [m] where the ground is taken to be
    resting: float  # [m] how high above the floor the standing feet are, as a rule; nan where none stands


def find_support(
    motion: Motion,
    frames: Frames,
    contacts: Sequence[ContactWindow] | None,
    holds: Sequence[Hold],
    floor: float | str,
    low: float,
    slow: float,
    reach: float,
    blur: float,
) -> Support:
    """Find contacts (unless they are told), the floor (unless it is told), and what may bear in each frame."""
    who = frames.character
    at = anatomy_of(who)
    even = replace(motion, times=frames.times, poses=frames.raw, loop=False, travel=False, ends="free")
    markers = foot_markers(at)
    windows = tuple(contacts) if contacts is not None else find_contacts(even)
    marked = flags_of(frames.times, markers, windows)
    n = len(frames)

    bodies: list[int] = []
    local: list[Array] = []
    radii: list[float] = []
    foot: list[int] = []
    stands: list[Flags] = []
    none = np.zeros(n, dtype=bool)
    for number, one in enumerate(who.feet):
        sole = sole_of(at, one, rest_facing(at))
        parts = {m.part: marked[:, k] for k, m in enumerate(markers) if m.foot == sole.limb}
        heel, ball = parts.get("heel", none), parts.get("ball", none)
        for p in range(len(sole.bodies)):
            bodies.append(int(sole.bodies[p]))
            local.append(sole.locals[p])
            radii.append(0.0)
            foot.append(number)
            carries = bool(sole.toes[p]) if sole.toes.any() else bool(sole.ball[p])
            stands.append((heel & bool(sole.heel[p])) | (heel & ball & bool(sole.ball[p])) | (ball & carries))
    soles = len(bodies)
    shapes = witnesses_of(who)
    below = _below(who.model.body_parentid, {int(b) for b in bodies})
    for body, place, radius in zip(shapes.bodies, shapes.places, shapes.radii, strict=True):
        bodies.append(int(body))
        local.append(place)
        radii.append(float(radius))
        foot.append(-1)
    for hold in holds:
        bodies.append(who.body_id(hold.body))
        local.append(np.zeros(3))
        radii.append(0.0)
        foot.append(-2)

    index, spots, size = np.array(bodies, np.int64), np.array(local, float).reshape(-1, 3), np.array(radii, float)
    whose = np.array(foot, np.int64)
    raw = places_of(who, frames.raw, index, spots)
    smooth = places_of(who, frames.q, index, spots)
    raw[:, :, 2] -= size
    smooth[:, :, 2] -= size
    speeds = _speeds(smooth, frames.times)
    planted = np.zeros((n, len(index)), dtype=bool)
    if soles:
        planted[:, :soles] = np.stack(stands, axis=1)
    at_rest = _resting(raw[:, :, 2], planted, whose, len(who.feet))
    ground = _floor(floor, at_rest)
    heights = raw[:, :, 2] - ground
    resting = at_rest - ground
    planted &= heights < reach
    base = resting if abs(resting) < reach else 0.0
    bearing = (heights < max(base, 0.0) + low) & (np.linalg.norm(speeds, axis=-1) < slow)
    bearing[:, _spared(frames, index, spots, size, list(below)) & (whose == -1)] = False
    bearing |= planted
    for k, hold in zip(np.flatnonzero(whose == -2), holds, strict=True):
        bearing[:, k] = (frames.times >= hold.start) & (frames.times <= hold.end)
    flat = np.linalg.norm(speeds[:, :, :2], axis=-1)
    wide = spread(bearing, blur, frames.rate)
    names = tuple(one.name for one in who.feet)
    return Support(windows, names, whose, index, smooth, heights, flat, planted, bearing, wide, ground, resting)


def spread(flags: Flags, seconds: float, rate: float) -> Flags:
    """Flags (n, ...) true wherever one is within `seconds`."""
    reach = int(np.ceil(seconds * rate - 1e-9))
    out = flags.copy()
    for k in range(1, min(reach, len(flags) - 1) + 1):
        out[k:] |= flags[:-k]
        out[:-k] |= flags[k:]
    return out


def inner(flags: Flags, seconds: float, rate: float) -> Flags:
    """Flags (n,) without the first and last `seconds` of every run; the ends of the clip are no ends of a run."""
    reach = int(np.ceil(seconds * rate - 1e-9))
    out = np.zeros_like(flags)
    for first, last in runs(flags):
        a = first + (reach if first > 0 else 0)
        b = last - (reach if last < len(flags) else 0)
        out[a : max(a, b)] = True
    return out


def _spared(frames: Frames, bodies: Ints, local: Array, radii: Array, feet: Sequence[int]) -> Flags:
    """Points the soles keep off the ground: a foot's own, and what hangs as low when the body stands (an ankle)."""
    who = frames.character
    if not who.feet:
        return np.zeros(len(bodies), dtype=bool)
    heights = places_of(who, who.neutral[None], bodies, local)[0, :, 2] - radii
    return np.asarray(np.isin(bodies, feet) | (heights < ANKLE * who.height))


def _below(parents: NDArray[np.int32], tops: set[int]) -> set[int]:
    """These bodies and all that hang from them."""
    out = set(tops)
    for b in range(1, len(parents)):
        if int(parents[b]) in out:
            out.add(b)
    return out


def _speeds(places: Array, times: Array) -> Array:
    """Velocities (n, p, 3) by central differences."""
    if len(times) < 2:
        return np.zeros_like(places)
    return np.asarray(np.gradient(places, times, axis=0, edge_order=1))


def _resting(heights: Array, planted: Flags, foot: Ints, feet: int) -> float:
    """The usual height of the lowest planted point of a foot that stands; nan where none does."""
    found = []
    for number in range(feet):
        mine = foot == number
        held = planted[:, mine]
        some = held.any(axis=1)
        if some.any():
            found.append(np.where(held, heights[:, mine], np.inf)[some].min(axis=1))
    return float(np.median(np.concatenate(found))) if found else float("nan")


def _floor(floor: float | str, resting: float) -> float:
    if floor == "fit":
        return resting if np.isfinite(resting) else 0.0
    if isinstance(floor, str) or not np.isfinite(floor):
        raise BadValue(f"the floor is a height [m] or 'fit', not {floor!r}", floor=floor)
    return float(floor)
