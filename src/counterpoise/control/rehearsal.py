"""Rehearsal: a reference motion is examined before it is followed, and its CoM's path corrected where it must be.

Captured and keyframed motions put the zero-moment point where there is no foot. With c the CoM over the ground, z its
height and H the angular momentum about it, that point is

    p = c - (z c'' + [H'_y, -H'_x] / m) / (g + z'').

Here p is drawn into the support of its time, and the CoM's path follows from p: the bounded solution of the same
equation, a tridiagonal system over the whole clip. That path leans before a foot leaves the ground, because it knows
the future. The poses then lean with the path, feet in their places, and all of it is examined again. Before that, feet
that creep are put still and feet that go are made to clear the ground (footwork.py). A motion that could be stood from
the start is not changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_banded
from scipy.ndimage import gaussian_filter1d

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import take_contact_places, take_snapshot
from counterpoise.character.state import State
from counterpoise.control.feet import (
    Grounds,
    check_on_ground,
    foot_heights,
    is_level,
    lifted_soon,
    names_of_feet,
    remove_low_lifts,
)
from counterpoise.control.footwork import find_footwork
from counterpoise.control.reference import ContactPattern, ReferenceSample
from counterpoise.control.reference_shaping import STEP, leant, smoothed
from counterpoise.control.standing_body import standing_body
from counterpoise.kernels import kernel
from counterpoise.motion.motion import Motion
from counterpoise.objectives.footing import foot_table
from counterpoise.quick import quick
from counterpoise.solve.polygon import deepest, hull_edges, nearest_inside

SMOOTH_TIME = 0.025  # [s] standard deviation of the window over which CoM and momentum are averaged: capture is noisy
PRESSURE_TIME = (
    0.03  # [s] the same of the window over which the zero-moment point is averaged, so that it does not jump ...
)
PRESSURE_ROUNDS = 3  # ... so often, each time drawn into the support again
FITTED_SMOOTH_TIME = (
    0.025  # [s] the same of the window over which poses are averaged after their feet were put in place
)
ROUNDS = 2  # at most so often the poses are leant
REAL_LIFT = 3.0  # [lift heights] a foot that never gets this high stays planted
SMALLEST_LEAN = 1e-3  # [m] below this the poses are not changed
TIME_AFTER = 1.0  # [s] rehearsed beyond the end, where the last pose is held
LONGEST_FLIGHT = 5  # [steps] for which every foot may be off the ground
LEAST_PUSH = 2.0  # [m/s^2] g + z'' counts as at least this
LEAST_COM_HEIGHT = 0.05  # [m] above the lowest contact point


@dataclass(frozen=True, eq=False)
class RehearsedReference:
    """A motion to follow, with a CoM path that can be stood."""

    character: Character
    given: Motion  # as the user gave it
    motion: Motion  # as it is followed: smoothed, and leant
    path: Array  # (n, 5, 3) every STEP from the start: CoM, its velocity and acceleration, angular momentum, its rate
    patterns: tuple[ContactPattern, ...]  # all that occur
    pattern: Ints  # (n,) which of them is in use: points in the air, or soon to be, are raised

    def at(self, clock: float, speed: float = 1.0) -> ReferenceSample:
        """Returns what is asked for at a time of the motion that is followed at `speed` times its own."""
        s = self.motion.sample(clock)
        square = speed**2
        v, a = s.v * speed, s.a * square
        row, u = self._row(clock)
        com, velocity, acceleration, momentum, momentum_rate = now = np.empty((5, 3))
        _path_at(self.path, row, u, speed, square, now)
        contact = self.patterns[self.pattern[row]]
        snapshot = take_snapshot(self.character, State(s.q, v, clock)) if contact.raises else None
        points = take_contact_places(self.character, s.q) if snapshot is None else snapshot.contact_position
        return quick(
            ReferenceSample, q=s.q, v=v, a=a, com=com, com_velocity=velocity, com_acceleration=acceleration,
            points=points, lifted=contact.lifted, momentum=momentum, momentum_rate=momentum_rate, contact=contact,
            snapshot=snapshot,
        )  # fmt: skip

    def placed(self, position: tuple[float, float], yaw: float) -> RehearsedReference:
        """Returns the same turned by `yaw` [rad] about the vertical at the origin, then moved by `position` [m]."""
        c, s = np.cos(yaw), np.sin(yaw)
        path = self.path.copy()
        path[..., 0], path[..., 1] = (
            c * self.path[..., 0] - s * self.path[..., 1],
            s * self.path[..., 0] + c * self.path[..., 1],
        )
        path[:, 0, :2] += position
        given, motion = (one.placed(position, yaw) for one in (self.given, self.motion))
        return replace(self, given=given, motion=motion, path=path)

    def row_of(self, clock: float) -> int:
        """Returns the row of `path` and `pattern` that belongs to a time."""
        return self._row(clock)[0]

    def _row(self, clock: float) -> tuple[int, float]:
        """Returns the row of `path` before a time, and the share of the way to the next row."""
        motion = self.motion
        time = motion.start + (clock - motion.start) % motion.duration if motion.loop else clock
        x = min(max((time - motion.start) / STEP, 0.0), len(self.path) - 1.0)
        row = min(int(x), len(self.path) - 2)
        return row, x - row


@kernel
def _path_at(path: Array, row: int, u: float, speed: float, square: float, out: Array) -> None:
    """Fills `out`, (5, 3), with the path between two rows, at `speed` times its own, of which the square is given."""
    for i in range(5):
        rate = 1.0 if i == 0 else (speed if i % 2 else square)
        for k in range(3):
            out[i, k] = rate * ((1.0 - u) * path[row, i, k] + u * path[row + 1, i, k])


@kept_with_character
def rehearse(
    character: Character,
    given: Motion,
    lift_height: float,
    lookahead: float,
    margin: float,
    smooth: float,
    grounds: Grounds,
) -> RehearsedReference:
    """Returns the motion with the feet it lifts and a CoM path over those that stay.

    A foot `lift_height` [m] above its ground counts as lifted; `lookahead` [s] before that it stops bearing. `margin`
    is the share of the support's depth that the zero-moment point keeps from its edge. Poses are averaged over a window
    of standard deviation `smooth` [s].
    """
    motion = smoothed(given, smooth) if smooth > 0.0 and len(given) > 3 else given
    period = motion.duration if motion.loop else 0.0
    times = np.arange(motion.start - period, motion.end + (period or TIME_AFTER) + 0.5 * STEP, STEP)
    footwork = None
    if all(is_level(ground) for ground in grounds) and len(given) > 3:
        footwork = find_footwork(character, motion, lift_height)
        if footwork is not None and footwork.motion is not motion:
            motion = smoothed(footwork.motion, max(smooth, FITTED_SMOOTH_TIME))
    foot_of = foot_table(character).foot_of
    for round_ in range(ROUNDS + 1):
        com, momentum, points = _measured(motion, character, times)
        if footwork is None:
            lifted = foot_heights(character, points, grounds) > lift_height
            remove_low_lifts(lifted, foot_heights(character, points, grounds), REAL_LIFT * lift_height)
            bearing = standing = ~lifted[:, foot_of]
        else:
            rows_of = _rows(motion, times, len(footwork.standing))
            bearing, standing = footwork.bearing[rows_of], footwork.standing[rows_of]
            lifted = ~np.stack([bearing[:, foot_of == foot].any(axis=1) for foot in range(len(character.feet))], axis=1)
        if round_ == 0:
            check_on_ground(motion, times, lifted, LONGEST_FLIGHT, "Stand")
        soon = lifted_soon(~bearing, max(1, round(lookahead / STEP)))
        path = _standing_path(character, com, momentum, points, soon, margin, held_start=not motion.loop)
        lean = path[:, :2] - com[:, :2]
        if round_ == ROUNDS or float(np.abs(lean).max()) < SMALLEST_LEAN:
            break
        motion = leant(motion, times, lean)
    velocity, acceleration = _rates(path)
    whole = np.stack([path, velocity, acceleration, momentum, np.gradient(momentum, STEP, axis=0)], axis=1)
    rows = slice(None)
    if period:
        one = round(period / STEP)
        rows = slice(one, min(2 * one + 2, len(times)))
    patterns, pattern = _patterns(character, soon[rows], (bearing & ~standing)[rows])
    return RehearsedReference(character, given, motion, whole[rows], patterns, pattern)


def _rows(motion: Motion, times: Array, n: int) -> Ints:
    """Returns the rows, of n from the start to the end of a motion, that belong to times; a loop repeats."""
    since = times - motion.start
    since = since % motion.duration if motion.loop else since
    return np.clip(np.round(since / motion.duration * (n - 1)), 0, n - 1).astype(np.int64)


def _patterns(character: Character, raised: Flags, loose: Flags) -> tuple[tuple[ContactPattern, ...], Ints]:
    """Returns all patterns of contact points that occur and the number of each row's, (n,).

    A row in which every point is raised has all points standing: a standing character does not fly.
    """
    raised = np.where(raised.all(axis=1, keepdims=True), False, raised)
    both, pattern = np.unique(np.concatenate([raised, loose & ~raised], axis=1), axis=0, return_inverse=True)
    p = raised.shape[1]
    foot_of = foot_table(character).foot_of
    out = []
    for row in both:
        up = np.array([row[:p][foot_of == foot].all() for foot in range(len(character.feet))])
        out.append(ContactPattern(names_of_feet(character, up), row[:p].copy(), row[p:].copy()))
    return tuple(out), pattern.reshape(-1).astype(np.int64)


def _measured(motion: Motion, character: Character, times: Array) -> tuple[Array, Array, Array]:
    """Returns CoM (n, 3) and angular momentum (n, 3), both smoothed, and contact points (n, p, 3) along a motion."""
    samples = motion.sample(times)
    n = len(times)
    com, momentum, points = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, len(character.contact_points), 3))
    for i in range(n):
        s = take_snapshot(character, State(samples.q[i], samples.v[i], 0.0))
        com[i], momentum[i], points[i] = s.com, s.momentum[:3], s.contact_position
    return _averaged(com, SMOOTH_TIME), _averaged(momentum, SMOOTH_TIME), points


def _averaged(path: Array, width: float) -> Array:
    """Returns a path (n, ...) averaged over a Gaussian window of standard deviation `width` [s].

    Its ends, and the slopes there, are kept.
    """
    width /= STEP
    pad = min(int(np.ceil(4.0 * width)), len(path) - 1)
    extended = np.pad(path, ((pad, pad), (0, 0)), mode="reflect", reflect_type="odd")
    return np.asarray(gaussian_filter1d(extended, width, axis=0)[pad : pad + len(path)])


def _standing_path(
    character: Character, com: Array, momentum: Array, points: Array, raised: Flags, margin: float, held_start: bool
) -> Array:
    """Returns the CoM's path (n, 3) whose zero-moment point stays over the points that are not raised, (n, p).

    c - lever c'' = p + tip is a tridiagonal system. At the end the CoM rests over p; at the start it is where the
    motion has it (`held_start`), or over p.
    """
    n = len(com)
    _, acceleration = _rates(com)
    spin = np.gradient(momentum, STEP, axis=0)
    push = np.maximum(standing_body(character).gravity + acceleration[:, 2], LEAST_PUSH)
    lever = np.maximum(com[:, 2] - points[:, :, 2].min(axis=1), LEAST_COM_HEIGHT) / push  # 1/omega^2 [s^2]
    tip = np.stack([spin[:, 1], -spin[:, 0]], axis=1) / (character.mass * push[:, None])
    p = _inside_support(com[:, :2] - lever[:, None] * acceleration[:, :2] - tip, points, raised, margin)
    for _ in range(PRESSURE_ROUNDS):
        p = _inside_support(_averaged(p, PRESSURE_TIME), points, raised, margin)
    k = lever / STEP**2
    bands = np.zeros((3, n))
    bands[1], bands[0, 1:], bands[2, :-1] = 1.0 + 2.0 * k, -k[:-1], -k[1:]
    bands[1, 0] = bands[1, n - 1] = 1.0
    bands[0, 1] = bands[2, n - 2] = 0.0
    right = p + tip
    right[0] = com[0, :2] if held_start else p[0]
    right[-1] = p[-1]
    out = com.copy()
    out[:, :2] = solve_banded((1, 1), bands, right)
    return out


def _inside_support(wanted: Array, points: Array, raised: Flags, margin: float) -> Array:
    """Returns the places (n, 2) nearest to the wanted ones that are inside the support of their time."""
    out = np.empty_like(wanted)
    for i in range(len(wanted)):
        stand = ~raised[i]
        edges = hull_edges(np.ascontiguousarray(points[i][stand if stand.any() else slice(None)][:, :2]))
        out[i] = nearest_inside(edges, wanted[i, 0], wanted[i, 1], margin * deepest(edges)[2])
    return out


def _rates(path: Array) -> tuple[Array, Array]:
    """Returns velocity and acceleration of a path (n, 3) by central differences; no acceleration at the ends."""
    velocity = np.gradient(path, STEP, axis=0)
    acceleration = np.zeros_like(path)
    acceleration[1:-1] = (path[2:] - 2.0 * path[1:-1] + path[:-2]) / STEP**2
    return velocity, acceleration
