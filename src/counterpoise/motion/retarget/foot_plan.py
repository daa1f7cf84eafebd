"""Where feet stand: an anchor for every stance, the shift of the hips that reaches it, and what soles do in between.

The first fit follows directions only, so its feet drift by centimetres because proportions differ. From its contact
points p1(t):

    a stance     keeps one anchor (place, heading); it is flat while heel and ball stand, else turned about the one that
                 stands;
    delta(t)     moves hips and feet together towards the anchors, as smoothly as the stances allow;
    o_i(t)       takes each contact point from p1 to its place: known in stance, and in between the smoothest curve that
                 continues it in value and slope and tends to delta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.motion.curves import ease
from counterpoise.motion.retarget.smoothing import runs_within, seconds_to, seconds_to_within, smoothest
from counterpoise.motion.retarget.soles import Sole

ANCHOR_ROUNDS = 4  # anchors and the shift of the hips are found in turns
HIP_SPAN = 0.06  # [s] over which the shift of the hips is smoothed
SWING_SPAN = 0.13  # [s] over which a foot in the air goes from where it stood to its own path
TILT_TIME = 0.15  # [s] in which a foot leaves or reaches flat
HOLD_TIME = 0.10  # [s] in which the hold of a point on the ground comes and goes
SWING_CLEARANCE = 0.008  # [m] for a leg of 0.9 m: a foot in the air is lifted smoothly this near the ground ...
CLEARANCE_TIME = 0.12  # [s] ... from this long after it stood


@dataclass(frozen=True, eq=False)
class FootPlan:
    """Where the second fit should put the contact points of all soles, one sole after the other."""

    places: Array  # (n, points, 3) [m]
    stands: Flags  # (n, points) which of them touch the ground
    firmness: Array  # (n, points) 1 in stance, 0 in swing, eased between
    shift: Array  # (n, 3) [m] delta, by which the hips move


def plan_feet(
    soles: Sequence[Sole], flags: Sequence[tuple[Flags, Flags]], times: Array, cuts: Ints, places: Array, turns: Array,
    leg: float, clearance: float = SWING_CLEARANCE,
) -> FootPlan:  # fmt: skip
    """Returns the paths of all contact points and the shift of the hips.

    `flags` are the contacts (heel, ball) of each sole, by frame. `places` and `turns` (n, bodies, ...) are the target's
    frames in the first fit, `leg` is the length of its legs [m]. A foot in the air is lifted `clearance` [m] above the
    ground, for legs of 0.9 m.
    """
    n = len(times)
    dt = float(np.median(np.diff(times))) if n > 1 else 1.0
    paths = [places[:, s.bodies] + spatial.rotate(turns[:, s.bodies], s.locals) for s in soles]
    stances = [runs_within(h | b, cuts) for h, b in flags]
    shapes: list[Array] = []  # (n, p, 3) in stance: the planted points about their anchor, heading included
    for sole, (heel, ball), mine in zip(soles, flags, stances, strict=True):
        ahead = spatial.rotate(turns[:, sole.body], sole.ahead)
        shapes.append(_planted(sole, heel, ball, mine, ahead, _heading_weight(sole, places), times))
    delta, anchors = _anchors(paths, shapes, stances, times, cuts, dt, leg)
    out_places, out_stands, firm = [], [], []
    for sole, (heel, ball), path, shape, mine, found in zip(soles, flags, paths, shapes, stances, anchors, strict=True):
        out_places.append(_sole_path(path, shape, mine, found, delta, times, cuts, dt, clearance * leg / 0.9))
        carries = sole.toes if sole.toes.any() else sole.ball  # these stand when the heel is up
        stands = (heel[:, None] & sole.heel) | ((heel & ball)[:, None] & sole.ball) | (ball[:, None] & carries)
        out_stands.append(stands)
        away = [seconds_to_within(np.asarray(stands[:, p]), times, cuts) for p in range(path.shape[1])]
        firm.append(1.0 - ease(np.stack(away, axis=1) / HOLD_TIME, "smooth"))
    if not soles:
        return FootPlan(np.zeros((n, 0, 3)), np.zeros((n, 0), dtype=bool), np.zeros((n, 0)), delta)
    return FootPlan(
        np.concatenate(out_places, axis=1), np.concatenate(out_stands, axis=1), np.concatenate(firm, axis=1), delta
    )


def _anchors(
    paths: Sequence[Array], shapes: Sequence[Array], stances: Sequence[Sequence[tuple[int, int]]], times: Array,
    cuts: Ints, dt: float, leg: float,
) -> tuple[Array, list[list[Array]]]:  # fmt: skip
    """Returns the shift of the hips (n, 3) and the anchor (3,) of every stance of every sole, found by turns."""
    n = len(times)
    delta = np.zeros((n, 3))
    anchors: list[list[Array]] = [[] for _ in paths]
    influence = [_influence(mine, times) for mine in stances]
    total = np.sum(influence, axis=0) if influence else np.zeros(n)
    for _ in range(ANCHOR_ROUNDS):
        need = np.zeros((n, 3))
        anchors = []
        for path, shape, mine, weight in zip(paths, shapes, stances, influence, strict=True):
            found = []
            for first, last in mine:
                gap = (path[first:last] - shape[first:last]).mean(axis=1)  # (frames, 3)
                anchor = _median_point(gap + delta[first:last], 0.01 * leg) * np.array([1.0, 1.0, 0.0])
                found.append(anchor)
                need[first:last] += weight[first:last, None] * (anchor - gap)
            anchors.append(found)
        mean = need / np.maximum(total, 1e-9)[:, None]
        delta = smoothest(mean, total, np.zeros((n, 3)), 0.02, HIP_SPAN / dt, cuts)
    return delta, anchors


def _sole_path(
    path: Array, shape: Array, stances: Sequence[tuple[int, int]], anchors: Sequence[Array], delta: Array, times: Array,
    cuts: Ints, dt: float, clearance: float,
) -> Array:  # fmt: skip
    """Returns the path (n, p, 3) of a sole's points: at their anchor in stance, smooth and above the ground between."""
    n = len(times)
    stance = np.zeros(n, dtype=bool)
    offset = np.zeros_like(path)
    for (first, last), anchor in zip(stances, anchors, strict=True):
        stance[first:last] = True
        offset[first:last] = shape[first:last] + anchor - path[first:last]
    lean = np.repeat(delta[:, None], path.shape[1], axis=1)
    filled = smoothest(
        offset.reshape(n, -1), np.where(stance, 1e7, 0.0), lean.reshape(n, -1), 1.0, SWING_SPAN / dt, cuts
    ).reshape(path.shape)
    filled[stance] = offset[stance]
    wanted = path + filled
    since = seconds_to_within(stance, times, cuts)
    low = wanted[:, :, 2].min(axis=1)
    soft = clearance * ease(since / CLEARANCE_TIME, "smooth")
    lift = np.where(stance, 0.0, 0.5 * (low + np.sqrt(low * low + soft * soft)) - low)
    wanted[:, :, 2] += lift[:, None]
    return wanted


def _heading_weight(sole: Sole, places: Array) -> Array:
    """Returns how much a foot's heading matters to its leg, by frame: little while the leg is straight."""
    if len(sole.leg) < 3:
        return np.ones(len(places))
    bones = np.diff(places[:, sole.leg], axis=1)
    bones /= np.maximum(np.linalg.norm(bones, axis=-1, keepdims=True), 1e-9)
    across = np.cross(bones[:, :-1], bones[:, -1:])
    return np.asarray(0.1 + np.sqrt(np.sum(across**2, axis=(1, 2))))


def _planted(
    sole: Sole, heel: Flags, ball: Flags, stances: Sequence[tuple[int, int]], ahead: Array, weight: Array, times: Array
) -> Array:
    """Returns the planted points (n, p, 3) about their anchor; zero outside stances."""
    out = np.zeros((len(times), *sole.flat.shape))
    level = np.hypot(ahead[:, 0], ahead[:, 1])
    pitch = np.arctan2(ahead[:, 2], level)
    pivot_heel = sole.flat[sole.heel].mean(axis=0)
    whole = bool((sole.heel & sole.ball).any())
    for first, last in stances:
        h, b = heel[first:last], ball[first:last]
        both = h & b
        chosen = weight[first:last] * (both if both.any() else h | b)
        heading = _heading(ahead[first:last, 0] + 1j * ahead[first:last, 1], chosen)
        c, s = (heading.real / abs(heading), heading.imag / abs(heading)) if abs(heading) > 1e-9 else (1.0, 0.0)
        away = seconds_to(both, times[first:last])
        tilt = pitch[first:last] * ease(away / TILT_TIME, "smooth")
        tilt = np.where(both | whole, 0.0, np.where(h, np.maximum(tilt, 0.0), np.minimum(tilt, 0.0)))
        points = np.repeat(sole.flat[None], last - first, axis=0)
        for k in np.flatnonzero(tilt):
            pivot = pivot_heel if h[k] else sole.knuckle
            turned = ~sole.toes if b[k] else np.ones_like(sole.toes)
            points[k, turned] = pivot + spatial.rotate(
                spatial.from_axis_angle(np.array([0.0, 1.0, 0.0]), -tilt[k]), sole.flat[turned] - pivot
            )
        x, y = points[..., 0].copy(), points[..., 1].copy()
        points[..., 0], points[..., 1] = c * x - s * y, s * x + c * y
        out[first:last] = points
    return out


def _heading(ways: NDArray[np.complex128], weights: Array) -> complex:
    """Returns the weighted median of headings, given as complex numbers."""
    total = complex((weights * ways).sum())
    for _ in range(12):
        off = np.abs(np.angle(ways * np.conj(total)))
        total = complex((weights * ways / (off + 0.05)).sum())
    return total


def _median_point(points: Array, near: float) -> Array:
    """Returns the geometric median (3,) of points (n, 3), softened within `near` [m] (Weiszfeld 1937)."""
    middle = points.mean(axis=0)
    for _ in range(12):
        weight = 1.0 / (np.linalg.norm(points - middle, axis=1) + near)
        middle = (weight[:, None] * points).sum(axis=0) / weight.sum()
    return np.asarray(middle)


def _influence(stances: Sequence[tuple[int, int]], times: Array) -> Array:
    """Returns the weight (n,) of a foot in the shift of the hips: eased in and out at the ends of its stances."""
    out = np.zeros(len(times))
    n = len(times)
    for first, last in stances:
        t = times[first:last]
        ramp = min(0.12, 0.4 * float(t[-1] - t[0])) + 1e-9
        up = ease((t - t[0]) / ramp, "smooth") if first > 0 else np.ones(len(t))
        down = ease((t[-1] - t) / ramp, "smooth") if last < n else np.ones(len(t))
        out[first:last] = np.maximum(np.minimum(up, down), 1e-3)
    return out
