"""The first guess: a curve through the keys, and poses put onto the contacts they stand on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.spacetime.aggregate.places_kernels import places_batch, turns_batch
from counterpoise.spacetime.aggregate.tables import link_tables
from counterpoise.spacetime.optimize.holds import Hold
from counterpoise.spacetime.optimize.moments import KNOT_TOLERANCE, Timeline, seconds
from counterpoise.spacetime.optimize.request import Key

MOST_ITERATIONS = 30  # to bring a pose onto its contacts
ROOT_WEIGHT = 0.3  # cost of moving the root beside a joint's
LONGEST_STEP = 0.5  # [rad, m] in one iteration

Span: TypeAlias = tuple[float, float]  # from one time to another [s]


def first_guess(character: Character, keys: Sequence[Key], timeline: Timeline, flights: Sequence[Span] = ()) -> Motion:
    """Interpolates the keys, joint by joint where they name some only; at rest at both ends.

    From key to key the root travels in the `flights` (first and last second) between them, if there are any, and rises
    and falls in those that no key is in: while feet stand, they do not slide.
    """
    end = round(float(timeline.times[-1]), 9)
    ordered = sorted(keys, key=lambda k: seconds(k.time))
    root_times = [seconds(k.time) for k in ordered if k.root and k.only is None]
    flown = [t for a, b in flights for t in (a, 0.5 * (a + b), b)] if character.floating else []
    times = sorted({round(t, 9) for t in (*(seconds(k.time) for k in ordered), *flown)} | {0.0, end})
    times = [t for i, t in enumerate(times) if i == 0 or t - times[i - 1] > KNOT_TOLERANCE or t == end]
    poses = np.tile(character.neutral, (len(times), 1))
    for joint in character.joints:
        said = [
            k for k in ordered
            if (k.only is None or joint.name in k.only) and (k.root or joint.kind != "free")
        ]  # fmt: skip
        if not said:
            continue
        when = np.array([seconds(k.time) for k in said])
        what = np.array([np.asarray(k.pose, float)[joint.qpos] for k in said])
        free = joint.kind == "free"
        for row, t in enumerate(times):
            poses[row, joint.qpos] = _between(when, what, t, joint.kind, flights if free else ())
            if free:
                poses[row, joint.qpos.start + 2] += _risen(t, root_times, flights, character.gravity)
    return Motion(character, np.array(times), poses, name="first guess", ends="rest")


def _between(when: Array, what: Array, t: float, kind: str, flights: Sequence[Span] = ()) -> Array:
    i = int(np.clip(np.searchsorted(when, t, side="right") - 1, 0, len(when) - 1))
    if t <= when[0] or i == len(when) - 1:
        return np.asarray(what[0] if t <= when[0] else what[-1])
    f = (t - when[i]) / (when[i + 1] - when[i])
    whole = _flown(when[i], when[i + 1], flights)
    way = _flown(when[i], t, flights) / whole if whole > 0.0 else f
    out = np.asarray((1.0 - f) * what[i] + f * what[i + 1])
    if kind in ("ball", "free"):
        out[-4:] = spatial.slerp(what[i, -4:], what[i + 1, -4:], way)
    if kind == "free":
        out[:2] = (1.0 - way) * what[i, :2] + way * what[i + 1, :2]
    return out


def _flown(start: float, end: float, flights: Sequence[Span]) -> float:
    """Seconds of flight from start to end."""
    return float(sum(max(0.0, min(b, end) - max(a, start)) for a, b in flights))


def _risen(t: float, key_times: Sequence[float], flights: Sequence[Span], gravity: float) -> float:
    """How high a thrown body is at t above the line from take-off to landing, in a flight that no key is in [m]."""
    own = [(a, b) for a, b in flights if a < t < b and not any(a < k < b for k in key_times)]
    return sum(0.5 * gravity * (t - a) * (b - t) for a, b in own)


def place_of(character: Character, hold: Hold, pose: Array, time: float) -> Array:
    """Returns where a hold is in a pose: (x, y, z) on its surface and its facing."""
    P, R, _, _ = _look(character, pose, np.array([hold.body]), hold.point[None])
    s = hold.surface(time)
    S = np.asarray(s.rotation)
    out = np.zeros(4)
    out[:3] = S.T @ (P[0] - s.origin)
    if hold.facing and len(hold.axes):
        k = int(np.flatnonzero(hold.turned)[0])
        u = S.T @ R[0] @ hold.axes[k]  # the body's direction, to stay across `against` turned by the facing
        a = hold.against[k]
        out[3] = np.arctan2(u[1], u[0]) - (np.arctan2(a[1], a[0]) - 0.5 * np.pi)
        if hold.axes.shape[0] == 2:  # an edge: its line is across the way it faces
            out[3] = np.arctan2(u[1], u[0]) - 0.5 * np.pi
    return out


def bring_on(character: Character, pose: Array, holds: Sequence[Hold], time: float) -> tuple[Array, float, float]:
    """Returns the pose with its held parts on their contacts by least change, the largest change, the largest error."""
    if not holds:
        return pose, 0.0, 0.0
    q = pose.copy()
    targets = []
    for h in holds:
        place = place_of(character, h, pose, time)
        s = h.surface(time)
        if h.touch.place is not None:
            given = np.asarray(h.touch.place, float)
            if given.shape == (3,):
                place[:3] = np.asarray(s.rotation).T @ (given - s.origin)
            else:
                place[:2] = given
        if h.touch.how != "bar" and (h.touch.place is None or np.size(h.touch.place) == 2):
            place[2] = 0.0
        if h.touch.facing is not None:
            place[3] = h.touch.facing
        targets.append(place)
    weights = np.ones(character.nv)
    weights[: min(6, character.nv)] = ROOT_WEIGHT
    left = np.inf
    for _ in range(MOST_ITERATIONS):
        r, J = hold_rows(character, q, holds, targets, time)
        left = float(np.abs(r).max())
        if left < 1e-12:
            break
        Jw = J / weights
        step = np.linalg.lstsq(Jw, -r, rcond=1e-9)[0] / weights
        size = float(np.abs(step).max())
        q = character.integrate(q, step * min(1.0, LONGEST_STEP / max(size, 1e-12)))
    return q, float(np.abs(character.difference(pose, q)).max()), left


def hold_rows(
    character: Character, q: Array, holds: Sequence[Hold], targets: Sequence[Array], time: float
) -> tuple[Array, Array]:
    """Returns the errors from targets (x, y, z, facing) and their Jacobian over the tangent space."""
    out, jac = [], []
    for h, place in zip(holds, targets, strict=True):
        s = h.surface(time)
        S = np.asarray(s.rotation)
        bodies = np.array([h.body, *(b for b, _ in h.level)], np.int64)
        points = np.array([h.point, *(p for _, p in h.level)])
        P, R, J, K = _look(character, q, bodies, points)
        out.append(S.T @ (P[0] - s.origin) - place[:3])
        jac.append(S.T @ J[0])
        for i in range(1, len(bodies)):
            out.append(np.array([S[:, 2] @ (P[i] - s.origin) - place[2]]))
            jac.append((S[:, 2] @ J[i])[None])
        c, sn = np.cos(place[3]), np.sin(place[3])
        turn = np.array([[c, -sn, 0.0], [sn, c, 0.0], [0.0, 0.0, 1.0]])
        for u, a, turned in zip(h.axes, h.against, h.turned, strict=True):
            A = S @ (turn @ a if turned else a)
            w = R[0] @ u
            out.append(np.array([A @ w]))
            jac.append((np.cross(w, A) @ K[0])[None])
    return np.concatenate(out), np.concatenate(jac)


def _look(character: Character, q: Array, bodies: Ints, points: Array) -> tuple[Array, Array, Array, Array]:
    """Places, rotations and Jacobians of points of bodies in one pose."""
    n, nv = len(bodies), character.nv
    T, at, v = link_tables(character), np.ascontiguousarray(q, float)[None], np.zeros((1, nv))
    P, V, J = np.zeros((1, n, 3)), np.zeros((1, n, 3)), np.zeros((1, n, 3, nv))
    M, W, K = np.zeros((1, n, 3, 3)), np.zeros((1, n, 3)), np.zeros((1, n, 3, nv))
    places_batch(T, at.copy(), v, bodies, np.ascontiguousarray(points), P, V, J)
    turns_batch(T, at.copy(), v, bodies, M, W, K)
    return P[0], M[0], J[0], K[0]
