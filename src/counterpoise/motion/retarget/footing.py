"""Where feet stand: an anchor for every stance, the root's share in reaching it, and what the soles do in between.

The first fit follows directions only, so its feet drift by centimetres: proportions differ. From its sole points p1(t):

    a stance     keeps one anchor (place, heading), flat while heel and ball stand, else turned about the one that does;
    delta(t)     moves hips and feet together, as smoothly as standing allows, towards the anchors;
    o_i(t)       takes each sole point from p1 to its place: known in stance, and in between the smoothest curve that
                 meets it in value and slope and leans on delta.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Foot
from counterpoise.character.anatomy import Anatomy
from counterpoise.motion.contacts import runs
from counterpoise.motion.curves import ease

SETTLE = 0.06  # [s] how stiffly the hips follow what the feet need
RELAX = 0.13  # [s] how fast a foot that left the ground forgets where it stood
PIVOT = 0.15  # [s] in which a foot leaves or reaches flat
FIRM = 0.10  # [s] in which a point's hold on the ground comes and goes
CLEAR = 0.008  # [m] (of a leg of 0.9 m) a swinging foot is lifted smoothly that near the ground


@dataclass(frozen=True, eq=False)
class Sole:
    """The points a foot stands on, as they lie in the world when it stands flat, facing x, at the origin."""

    foot: Foot
    limb: str  # "foot_left"
    body: int
    ahead: Array  # (3,) forward, in the foot's frame
    bodies: Ints  # (p,) of each point
    locals: Array  # (p, 3) in its body's frame
    flat: Array  # (p, 3)
    heel: Flags  # (p,) which points are the heel's ...
    ball: Flags  # ... and which the ball's or the toes'
    toes: Flags  # (p,) on another body than the foot: they stay down when the heel rises
    leg: Ints  # bodies of the leg above, from the hip to the foot
    knuckle: Array  # (3,) about what the foot then turns: the toes' joint, or the ball itself


@dataclass(frozen=True, eq=False)
class Footing:
    """What the second fit is asked of all soles."""

    places: Array  # (n, points, 3)
    stands: Flags  # (n, points) which of them touch the ground
    firmness: Array  # (n, points) 1 in stance, 0 in swing, eased between
    shift: Array  # (n, 3) delta, for the hips


def sole_of(at: Anatomy, foot: Foot, facing: Array) -> Sole:
    """Read a foot's sole from the rest pose, where it stands flat; `facing` (4,) turns x to where that pose looks."""
    body = at.character.body_id(foot.body)
    bodies = np.array([at.character.body_id(p.body) for p in foot.points], dtype=np.int64)
    local = np.array([p.position for p in foot.points], dtype=np.float64).reshape(-1, 3)
    rest = at.places[bodies] + spatial.rotate(at.turns[bodies], local)
    own = bodies == body
    centre = rest[own].mean(axis=0) if own.any() else rest.mean(axis=0)
    flat = spatial.rotate(spatial.conjugate(facing), rest - centre * np.array([1.0, 1.0, 0.0]))
    flat[:, 2] -= flat[:, 2].min()
    along = flat[:, 0]
    reach = np.ptp(along[own]) if own.any() else 0.0
    heel = own & (along < along[own].min() + 0.5 * reach) if reach > 1e-3 else np.ones(len(bodies), dtype=bool)
    ball = ~heel if reach > 1e-3 else np.ones(len(bodies), dtype=bool)
    ahead = spatial.rotate(spatial.conjugate(at.turns[body]), spatial.rotate(facing, np.array([1.0, 0.0, 0.0])))
    toes = ~own if own.any() else np.zeros_like(own)
    knuckle = flat[ball].mean(axis=0)
    if toes.any():
        joint = at.places[bodies[toes][0]] - centre * np.array([1.0, 1.0, 0.0])
        knuckle = spatial.rotate(spatial.conjugate(facing), joint) - [0.0, 0.0, rest[:, 2].min()]
    limb = next((name for name, parts in at.limbs.items() if name.startswith("foot") and body in parts), "")
    leg = np.array([*at.limbs.get(limb.replace("foot", "leg"), ()), body], dtype=np.int64)
    return Sole(foot, limb or foot.name, body, ahead, bodies, local, flat, heel, ball, toes, leg, knuckle)


def plan_footing(
    soles: Sequence[Sole], flags: Sequence[tuple[Flags, Flags]], times: Array, cuts: Ints, places: Array, turns: Array,
    leg: float,
) -> Footing:  # fmt: skip
    """Anchors, the hips' shift and the paths of all sole points; `flags` are (heel, ball) of each sole, by frame.

    `places` and `turns` (n, bodies, ...) are the target's frames in the first fit.
    """
    n = len(times)
    dt = float(np.median(np.diff(times))) if n > 1 else 1.0
    paths = [places[:, s.bodies] + spatial.rotate(turns[:, s.bodies], s.locals) for s in soles]
    stances = [runs_within(h | b, cuts) for h, b in flags]
    shapes: list[Array] = []  # (n, p, 3) in stance: the planted points about their anchor, heading included
    for sole, (heel, ball), mine in zip(soles, flags, stances, strict=True):
        ahead = spatial.rotate(turns[:, sole.body], sole.ahead)
        shapes.append(_planted(sole, heel, ball, mine, ahead, _say(sole, places), times))
    delta = np.zeros((n, 3))
    anchors: list[list[Array]] = []
    grip = [_grip(h | b, mine, times) for (h, b), mine in zip(flags, stances, strict=True)]
    total = np.sum(grip, axis=0) if grip else np.zeros(n)
    for _ in range(4):
        need = np.zeros((n, 3))
        anchors = []
        for path, shape, mine, weight in zip(paths, shapes, stances, grip, strict=True):
            found = []
            for first, last in mine:
                gap = (path[first:last] - shape[first:last]).mean(axis=1)  # (frames, 3)
                anchor = _middle(gap + delta[first:last], 0.01 * leg) * np.array([1.0, 1.0, 0.0])
                found.append(anchor)
                need[first:last] += weight[first:last, None] * (anchor - gap)
            anchors.append(found)
        mean = need / np.maximum(total, 1e-9)[:, None]
        delta = smoothest(mean, total, np.zeros((n, 3)), 0.02, SETTLE / dt, cuts)
    out_places, out_stands, firm = [], [], []
    for sole, (heel, ball), path, shape, mine, found in zip(soles, flags, paths, shapes, stances, anchors, strict=True):
        stance = np.zeros(n, dtype=bool)
        offset = np.zeros_like(path)
        for (first, last), anchor in zip(mine, found, strict=True):
            stance[first:last] = True
            offset[first:last] = shape[first:last] + anchor - path[first:last]
        lean = np.repeat(delta[:, None], path.shape[1], axis=1)
        filled = smoothest(
            offset.reshape(n, -1), np.where(stance, 1e7, 0.0), lean.reshape(n, -1), 1.0, RELAX / dt, cuts
        ).reshape(path.shape)
        filled[stance] = offset[stance]
        wanted = path + filled
        since = _seconds_from(stance, times, cuts)
        low = wanted[:, :, 2].min(axis=1)
        soft = CLEAR * (leg / 0.9) * ease(since / 0.12, "smooth")
        lift = np.where(stance, 0.0, 0.5 * (low + np.sqrt(low * low + soft * soft)) - low)
        wanted[:, :, 2] += lift[:, None]
        out_places.append(wanted)
        carries = sole.toes if sole.toes.any() else sole.ball  # with the heel up, the toes
        out_stands.append(
            (heel[:, None] & sole.heel) | ((heel & ball)[:, None] & sole.ball) | (ball[:, None] & carries)
        )
        away = [_seconds_from(np.asarray(out_stands[-1][:, p]), times, cuts) for p in range(path.shape[1])]
        firm.append(1.0 - ease(np.stack(away, axis=1) / FIRM, "smooth"))
    if not soles:
        return Footing(np.zeros((n, 0, 3)), np.zeros((n, 0), dtype=bool), np.zeros((n, 0)), delta)
    return Footing(
        np.concatenate(out_places, axis=1), np.concatenate(out_stands, axis=1), np.concatenate(firm, axis=1), delta
    )


def runs_within(flags: Flags, cuts: Ints) -> list[tuple[int, int]]:
    """Runs of True, none of them across a cut."""
    return [
        (int(first) + a, int(first) + b) for first, last in itertools.pairwise(cuts) for a, b in runs(flags[first:last])
    ]


def _say(sole: Sole, places: Array) -> Array:
    """How much a foot's heading matters to the leg above it, by frame: a straight leg turns with it for nothing."""
    if len(sole.leg) < 3:
        return np.ones(len(places))
    bones = np.diff(places[:, sole.leg], axis=1)
    bones /= np.maximum(np.linalg.norm(bones, axis=-1, keepdims=True), 1e-9)
    across = np.cross(bones[:, :-1], bones[:, -1:])
    return np.asarray(0.1 + np.sqrt(np.sum(across**2, axis=(1, 2))))


def _planted(
    sole: Sole, heel: Flags, ball: Flags, stances: Sequence[tuple[int, int]], ahead: Array, say: Array, times: Array
) -> Array:
    """Planted sole points about their anchor, (n, p, 3); zero outside stances."""
    out = np.zeros((len(times), *sole.flat.shape))
    level = np.hypot(ahead[:, 0], ahead[:, 1])
    pitch = np.arctan2(ahead[:, 2], level)
    pivot_heel = sole.flat[sole.heel].mean(axis=0)
    whole = bool((sole.heel & sole.ball).any())
    for first, last in stances:
        h, b = heel[first:last], ball[first:last]
        both = h & b
        chosen = say[first:last] * (both if both.any() else h | b)
        heading = _heading(ahead[first:last, 0] + 1j * ahead[first:last, 1], chosen)
        c, s = (heading.real / abs(heading), heading.imag / abs(heading)) if abs(heading) > 1e-9 else (1.0, 0.0)
        away = _distance(both, times[first:last])
        tilt = pitch[first:last] * ease(away / PIVOT, "smooth")
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
    """The direction that most agree on: the median of headings, by weight."""
    total = complex((weights * ways).sum())
    for _ in range(12):
        off = np.abs(np.angle(ways * np.conj(total)))
        total = complex((weights * ways / (off + 0.05)).sum())
    return total


def _middle(points: Array, near: float) -> Array:
    """The geometric median (3,) of points (n, 3), softened within `near`: most frames fit (Weiszfeld 1937)."""
    middle = points.mean(axis=0)
    for _ in range(12):
        weight = 1.0 / (np.linalg.norm(points - middle, axis=1) + near)
        middle = (weight[:, None] * points).sum(axis=0) / weight.sum()
    return np.asarray(middle)


def _distance(flags: Flags, times: Array) -> Array:
    """Seconds to the nearest True; a large number where there is none."""
    at = np.flatnonzero(flags)
    if len(at) == 0:
        return np.full(len(times), 1e3)
    after = np.clip(np.searchsorted(at, np.arange(len(times))), 0, len(at) - 1)
    before = np.maximum(after - 1, 0)
    return np.minimum(np.abs(times[at[after]] - times), np.abs(times[at[before]] - times))


def _seconds_from(stance: Flags, times: Array, cuts: Ints) -> Array:
    out = np.empty(len(times))
    for first, last in itertools.pairwise(cuts):
        out[first:last] = _distance(stance[first:last], times[first:last])
    return out


def _grip(stance: Flags, stances: Sequence[tuple[int, int]], times: Array) -> Array:
    """How much a foot has a say in where the hips are: eased in and out at the ends of its stance."""
    out = np.zeros(len(times))
    n = len(times)
    for first, last in stances:
        t = times[first:last]
        ramp = min(0.12, 0.4 * float(t[-1] - t[0])) + 1e-9
        up = ease((t - t[0]) / ramp, "smooth") if first > 0 else np.ones(len(t))
        down = ease((t[-1] - t) / ramp, "smooth") if last < n else np.ones(len(t))
        out[first:last] = np.maximum(np.minimum(up, down), 1e-3)
    return out


def smoothest(values: Array, weights: Array, lean: Array, pull: float, span: float, cuts: Ints) -> Array:
    """Per stretch, the x (n, k) that minimises sum w |x - v|^2 + pull |x - lean|^2 + c |x''|^2 (in frames).

    c = span^4: where weights are one, bends shorter than `span` frames are ironed out, alike forwards and backwards.
    """
    out = np.empty_like(values)
    stiff = max(span, 0.5) ** 4
    for first, last in itertools.pairwise(cuts):
        n = int(last - first)
        w, v, p = weights[first:last], values[first:last], lean[first:last]
        band = np.zeros((3, n))
        band[0] = w + pull
        if n >= 3:
            for k, c in enumerate((1.0, -2.0, 1.0)):
                band[0, k : n - 2 + k] += stiff * c * c
            band[1, : n - 2] += -2.0 * stiff
            band[1, 1 : n - 1] += -2.0 * stiff
            band[2, : n - 2] += stiff
        right = w[:, None] * v + pull * p
        out[first:last] = solveh_banded(band[: min(n, 3)], right, lower=True) if n > 1 else right / band[0][:, None]
    return out
