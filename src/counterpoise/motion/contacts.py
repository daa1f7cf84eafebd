"""Contacts of feet with the ground: heel and ball are detected separately, from height and speed, with hysteresis.

Captured feet float or sink by a few centimetres and tremble, so height and speed are never zero. What counts as low is
estimated from the clip: the height at which a part of the foot is most often at rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.anatomy import Anatomy, anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion

Part = Literal["heel", "ball"]
PARTS: tuple[Part, Part] = ("heel", "ball")
REFERENCE_LEG = 0.9  # [m] the length of legs for which the numbers of `ContactTuning` are
HEIGHT_BAND, HEIGHT_DEPTH = 0.03, 0.15  # [m] see `_usual`; scale with the legs
STRICTER = (0.7, 0.5, 0.35, 0.25)  # factors of speeds for contacts that drift, one after the other


@dataclass(frozen=True)
class ContactTuning:
    """What counts as a contact; lengths and speeds are for legs of 0.9 m and scale with the legs.

    A contact needs a moment below the first of two bounds, and lasts while it is below the second.
    """

    still: float = 0.20  # [m/s] speed of the part, first bound ...
    moving: float = 0.36  # ... and second
    low: float = 0.045  # [m] height of the part above its usual resting height, first bound ...
    high: float = 0.065  # ... and second
    tilt: float = (
        0.015  # [m] height above the other part of the foot, compared with their usual heights, first bound ...
    )
    tilted: float = 0.024  # ... and second
    shortest: float = 0.08  # [s] shorter contacts are left out
    gap: float = 0.06  # [s] shorter interruptions are closed
    window: float = 0.034  # [s] over which speed is measured
    step: float = 0.15  # [s] the shortest time in the air between contacts at two places
    swivel: float = 0.20  # [rad] a contact in which the foot turns further is interrupted
    near: float = 0.012  # [m] contacts at places nearer than this are one, if the time between them is short
    drift: float = 0.05  # [m] a contact that moves further is detected again with lower speeds


@dataclass(frozen=True)
class ContactWindow:
    """A part of a foot on the ground from `start` to `end`."""

    foot: str  # "foot_left"
    part: Part
    start: float  # [s]
    end: float  # [s]


@dataclass(frozen=True, eq=False)
class FootMarker:
    """A point of a foot, fixed to a body, whose contact is detected."""

    foot: str
    part: Part
    body: int
    local: Array  # (3,) in the body's frame [m]
    height: float  # above the sole at rest [m]


def find_contacts(motion: Motion, tuning: ContactTuning | None = None) -> tuple[ContactWindow, ...]:
    """Returns the contacts of a motion's feet with the ground, by foot and part, in the order of time."""
    at = anatomy_of(motion.character)
    places, turns = body_frames(motion.character, motion.poses)
    markers = foot_markers(at)
    found, _ = contact_flags(motion.times, markers, marker_paths(markers, places, turns), leg_length(at), tuning=tuning)
    return tuple(windows_of(motion.times, markers, found))


def foot_markers(at: Anatomy) -> tuple[FootMarker, ...]:
    """Returns heel and ball of every foot: rear and front contact points, or the joints of ankle and toes."""
    out: list[FootMarker] = []
    feet = {limb: bodies for limb, bodies in at.limbs.items() if limb.startswith("foot")}
    soles = {at.character.body_id(f.body): f for f in at.character.feet}
    for limb, bodies in feet.items():
        foot = next((soles[b] for b in bodies if b in soles), None)
        ankle = bodies[0]
        ahead = np.array([1.0, 0.0, 0.0])
        points = []
        if foot is not None:
            for point in foot.points:
                body = at.character.body_id(point.body)
                place = at.places[body] + spatial.rotate(at.turns[body], point.position)
                points.append((body, np.array(point.position), place))
        mine = [p for p in points if p[0] == ankle]
        along = [float((p[2] - at.places[ankle]) @ ahead) for p in mine]
        reach = max(along) - min(along) if along else 0.0
        if reach > 0.03 * at.size and min(along) < 0.25 * reach:
            middle = 0.5 * (max(along) + min(along))
            rear = np.mean([p[1] for p, x in zip(mine, along, strict=True) if x < middle], axis=0)
            fore = np.mean([p[1] for p, x in zip(mine, along, strict=True) if x >= middle], axis=0)
            out += [_marker(at, limb, "heel", ankle, rear), _marker(at, limb, "ball", ankle, fore)]
            continue
        out.append(_marker(at, limb, "heel", ankle, np.zeros(3)))
        if len(bodies) > 1:
            out.append(_marker(at, limb, "ball", bodies[1], np.zeros(3)))
        else:
            tip = 1.5 * np.asarray(at.character.model.body_ipos[ankle])
            if mine:
                tip = mine[int(np.argmax(along))][1]
            out.append(_marker(at, limb, "ball", ankle, tip))
    return tuple(out)


def _marker(at: Anatomy, limb: str, part: Part, body: int, local: Array) -> FootMarker:
    height = float((at.places[body] + spatial.rotate(at.turns[body], local))[2])
    return FootMarker(limb, part, body, np.asarray(local, dtype=np.float64), height)


def marker_paths(markers: Sequence[FootMarker], places: Array, turns: Array) -> Array:
    """Returns the places of the markers in every frame, (n, markers, 3)."""
    out = np.empty((len(places), len(markers), 3))
    for k, marker in enumerate(markers):
        out[:, k] = places[:, marker.body] + spatial.rotate(turns[:, marker.body], marker.local)
    return out


def leg_length(at: Anatomy) -> float:
    """Returns the length of the legs from hip to ankle, bone by bone; half the figure's size without legs [m]."""
    lengths = []
    for limb in ("leg_left", "leg_right"):
        if limb in at.limbs and limb.replace("leg", "foot") in at.limbs:
            chain = (*at.limbs[limb], at.limbs[limb.replace("leg", "foot")][0])
            steps = np.diff(at.places[list(chain)], axis=0)
            lengths.append(float(np.linalg.norm(steps, axis=-1).sum()))
    return float(np.mean(lengths)) if lengths else 0.5 * at.size


def contact_flags(
    times: Array,
    markers: Sequence[FootMarker],
    paths: Array,
    leg: float,
    cuts: Ints | None = None,
    tuning: ContactTuning | None = None,
) -> tuple[Flags, Array]:
    """Returns whether each marker is in contact in each frame, (n, markers), and resting heights (markers,) or nan.

    `paths` are (n, markers, 3), `leg` is the length of the legs [m], `cuts` are the first frames of stretches, and the
    end.
    """
    tuning = tuning or ContactTuning()
    size = leg / REFERENCE_LEG
    n = len(times)
    cuts = np.array([0, n]) if cuts is None else cuts
    flags = np.zeros((n, len(markers)), dtype=bool)
    bases = np.full(len(markers), np.nan)
    if n == 0 or not markers:
        return flags, bases
    speeds = _speeds(times, paths, cuts, tuning.window)
    for part in PARTS:
        mine = [k for k, marker in enumerate(markers) if marker.part == part]
        resting = [paths[speeds[:, k] < tuning.still * size, k, 2] for k in mine]
        bases[mine] = _usual(
            np.concatenate([r for r in resting if len(r)] or [np.empty(0)]), HEIGHT_BAND * size, HEIGHT_DEPTH * size
        )
    above = paths[:, :, 2] - bases
    for k, marker in enumerate(markers):
        if not np.isfinite(bases[k]):
            continue
        other = next((i for i, m in enumerate(markers) if m.foot == marker.foot and m.part != marker.part), k)
        tilt = above[:, k] - above[:, other] if np.isfinite(bases[other]) else np.zeros(n)
        speed = speeds[:, k] / size
        can = (speed < tuning.moving) & (above[:, k] < tuning.high * size) & (tilt < tuning.tilted * size)
        surely = (speed < tuning.still) & (above[:, k] < tuning.low * size) & (tilt < tuning.tilt * size)
        for first, last in itertools.pairwise(cuts):
            flags[first:last, k] = _hysteresis(times[first:last], can[first:last], surely[first:last], tuning)
        for strict in STRICTER:
            _split_drifting(times, paths[:, k], speed, flags[:, k], strict, size, tuning)
    for foot in dict.fromkeys(marker.foot for marker in markers):
        mine = [k for k, marker in enumerate(markers) if marker.foot == foot]
        if len(mine) == 2 and np.isfinite(bases[mine]).all():
            _add_flat(times, above, flags, mine, size, tuning)
        for first, last in itertools.pairwise(cuts):
            here = slice(first, last)
            flags[here, mine] = _steps(times[here], paths[here][:, mine], flags[here][:, mine], size, tuning)
    return flags, bases


def windows_of(times: Array, markers: Sequence[FootMarker], flags: Flags) -> list[ContactWindow]:
    """Returns the runs of contact as windows, in the order of time."""
    out = []
    for k, marker in enumerate(markers):
        for first, last in runs(flags[:, k]):
            out.append(ContactWindow(marker.foot, marker.part, float(times[first]), float(times[last - 1])))
    return sorted(out, key=lambda w: (w.start, w.foot, w.part))


def flags_of(times: Array, markers: Sequence[FootMarker], windows: Sequence[ContactWindow]) -> Flags:
    """Returns contact windows as flags (n, markers)."""
    flags = np.zeros((len(times), len(markers)), dtype=bool)
    known = {(m.foot, m.part) for m in markers}
    for window in windows:
        if not isinstance(window, ContactWindow):
            raise BadValue(f"contacts are 'detect', None or ContactWindows; got {window!r}")
        if (window.foot, window.part) not in known:
            offered = ", ".join(f"{foot} {part}" for foot, part in sorted(known)) or "none: the source has no feet"
            raise BadValue(f"no {window.part!r} of {window.foot!r} to hold; there are: {offered}")
        for k, marker in enumerate(markers):
            if (marker.foot, marker.part) == (window.foot, window.part):
                flags[:, k] |= (times >= window.start - 1e-9) & (times <= window.end + 1e-9)
    return flags


def runs(flags: Flags) -> list[tuple[int, int]]:
    """Returns (first, one past the last) of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _speeds(times: Array, paths: Array, cuts: Ints, window: float) -> Array:
    """Returns speeds (n, markers) over a centred window, which is cut at the ends of a stretch."""
    out = np.full(paths.shape[:2], np.inf)
    for first, last in itertools.pairwise(cuts):
        t, p = times[first:last], paths[first:last]
        if len(t) < 2:
            continue
        a = np.clip(np.searchsorted(t, t - 0.5 * window - 1e-9), 0, len(t) - 1)
        b = np.clip(np.searchsorted(t, t + 0.5 * window + 1e-9) - 1, 0, len(t) - 1)
        lone = a == b
        b = np.where(lone, np.minimum(b + 1, len(t) - 1), b)
        a = np.where(lone, np.maximum(a - 1, 0), a)
        out[first:last] = np.linalg.norm(p[b] - p[a], axis=-1) / (t[b] - t[a])[:, None]
    return out


def _usual(heights: Array, band: float, depth: float) -> float:
    """Returns the median of the `band` with most heights, within `depth` of the lowest; nan if there are none."""
    if len(heights) == 0:
        return float("nan")
    low = np.sort(heights)
    low = low[low <= low[min(len(low) - 1, len(low) // 200)] + depth]
    counts = np.searchsorted(low, low + band, side="right") - np.arange(len(low))
    best = int(np.argmax(counts))
    return float(np.median(low[best : best + counts[best]]))


def _add_flat(
    times: Array, above: Array, flags: Flags, mine: Sequence[int], size: float, tuning: ContactTuning
) -> None:
    """Adds contacts of a part that is as low as the other, standing part of its foot: a foot that turns on the spot."""
    for k, other in ((mine[0], mine[1]), (mine[1], mine[0])):
        level = (above[:, k] - above[:, other] < tuning.tilt * size) & (above[:, k] < tuning.high * size)
        filled = flags[:, k] | (flags[:, other] & level)
        for first, last in runs(filled):
            known = flags[first:last, k].any()
            if not known and times[last - 1] - times[first] < 2.0 * tuning.shortest:
                filled[first:last] = False
        for first, last in runs(~filled & flags[:, other]):
            if times[last - 1] - times[first] < 2.0 * tuning.gap and first > 0 and last < len(times):
                filled[first:last] = filled[first - 1] and filled[last]
        flags[:, k] = filled


def _steps(times: Array, paths: Array, flags: Flags, size: float, tuning: ContactTuning) -> Flags:
    """Returns flags without short gaps between stances: they are closed, or widened to a step if the foot moved."""
    out = flags.copy()
    while True:
        stances = runs(np.asarray(out.any(axis=1)))
        for (a, b), (c, d) in itertools.pairwise(stances):
            if times[c] - times[b - 1] >= tuning.step - 1e-6:
                continue
            before = paths[max(a, b - 12) : b, :, :2].mean(axis=0)
            after = paths[c : min(d, c + 12), :, :2].mean(axis=0)
            if np.linalg.norm(after - before, axis=-1).max() < tuning.near * size:
                out[b:c] = out[b - 1] & out[c] if (out[b - 1] & out[c]).any() else out[b - 1]
            else:
                middle = 0.5 * (times[b - 1] + times[c])
                out[a:d] &= (np.abs(times[a:d] - middle) >= 0.5 * tuning.step - 1e-9)[:, None]
            break
        else:
            break
    if paths.shape[1] == 2:
        _interrupt_turns(times, paths[:, 1, :2] - paths[:, 0, :2], out, tuning)
    for first, last in runs(np.asarray(out.any(axis=1))):
        if times[last - 1] - times[first] < tuning.shortest:
            out[first:last] = False
    return out


def _interrupt_turns(times: Array, ways: Array, flags: Flags, tuning: ContactTuning) -> None:
    """Interrupts a stance in which the foot turns on the spot, half-way between its extreme headings."""
    waiting = runs(np.asarray(flags.any(axis=1)))
    while waiting:
        first, last = waiting.pop()
        heading = np.unwrap(np.arctan2(ways[first:last, 1], ways[first:last, 0]))
        if last - first < 3 or float(np.ptp(heading)) < tuning.swivel:
            continue
        above = heading > 0.5 * (heading.max() + heading.min())
        middle = times[first + int(np.flatnonzero(above[1:] != above[:-1])[0]) + 1]
        flags[first:last] &= (np.abs(times[first:last] - middle) >= 0.5 * tuning.step - 1e-9)[:, None]
        waiting += [
            (first + a, first + b) for a, b in runs(np.asarray(flags[first:last].any(axis=1))) if b - a < last - first
        ]


def _split_drifting(
    times: Array, path: Array, speed: Array, flags: Flags, strict: float, size: float, tuning: ContactTuning
) -> None:
    """Detects contacts that drift again, with lower speeds."""
    for first, last in runs(flags):
        if float(np.ptp(path[first:last, :2], axis=0).max()) > tuning.drift * size:
            now = speed[first:last]
            can, surely = now < strict * tuning.moving, now < strict * tuning.still
            flags[first:last] = _hysteresis(times[first:last], can, surely, tuning)


def _hysteresis(times: Array, can: Flags, surely: Flags, tuning: ContactTuning) -> Flags:
    """Returns the runs of `can` with a moment of `surely`, without short interruptions and short contacts."""
    out = np.zeros(len(can), dtype=bool)
    for first, last in runs(can):
        if surely[first:last].any():
            out[first:last] = True
    for first, last in runs(~out):
        inner = first > 0 and last < len(out)
        if inner and times[last] - times[first - 1] < tuning.gap and can[first:last].all():
            out[first:last] = True
    for first, last in runs(out):
        if times[last - 1] - times[first] < tuning.shortest:
            out[first:last] = False
    return out
