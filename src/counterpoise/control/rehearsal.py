"""Rehearsal: a reference looked through before it is stood, so that what it asks of the ground can be given.

Captured and keyframed motions put the zero-moment point where no foot is. With c the CoM over the ground, z its height
and H the angular momentum about it, that point is

    p = c - (z c'' + [H'_y, -H'_x] / m) / (g + z'').

Drawn into the support of its moment, p becomes one the feet can bear, and the CoM's path follows from it: the bounded
solution of the same equation, a tridiagonal system over the whole clip, which leans before a foot leaves the ground
because it knows what is coming. The poses are then leant after it, feet in their places, and all is looked at again. A
motion that was possible already comes back as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_banded
from scipy.ndimage import gaussian_filter1d

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot, take_snapshot
from counterpoise.character.state import State
from counterpoise.character.tables import tables_of
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.objectives import Surface
from counterpoise.solve.polygon import hull_edges, nearest_inside

STEP = 0.01  # [s]
SMOOTH = 0.008  # [s] standard deviation of the window CoM and momentum are smoothed with: capture is noisy
ROUNDS = 2  # times the pose is leant so that its CoM can be stood
REAL_LIFT = 3.0  # times the height at which a foot counts as lifted: one that never gets there stays planted
ENOUGH = 1e-3  # [m] a lean smaller than this is none
HARD = 1e5  # weight of feet and CoM against the pose when leaning
AFTER = 1.0  # [s] rehearsed beyond the end, where the last pose is held


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """What a reference will ask, at steady steps from its start."""

    given: Motion  # as it was given
    motion: Motion  # as it is followed: smoothed
    start: float  # [s]
    com: Array  # (n, 3) [m] that can be stood
    velocity: Array  # (n, 3)
    acceleration: Array  # (n, 3)
    momentum: Array  # (n, 3) angular
    momentum_rate: Array  # (n, 3)
    lifted: Flags  # (n, feet) in the air, or about to be

    def at(self, clock: float) -> tuple[Array, Array, Array, Array, Array, tuple[str, ...]]:
        """CoM, its velocity and acceleration, angular momentum and its rate, and the feet in the air."""
        t = clock
        if self.motion.loop:
            t = self.start + (clock - self.start) % self.motion.duration
        x = min(max((t - self.start) / STEP, 0.0), len(self.com) - 1.0)
        i = min(int(x), len(self.com) - 2)
        u = x - i
        mixed = [
            (1.0 - u) * a[i] + u * a[i + 1]
            for a in (self.com, self.velocity, self.acceleration, self.momentum, self.momentum_rate)
        ]
        feet = self.motion.character.feet
        flags: Flags = self.lifted[i]
        up = () if flags.all() else tuple(f.name for f, flag in zip(feet, flags, strict=True) if flag)
        return mixed[0], mixed[1], mixed[2], mixed[3], mixed[4], up


def rehearse(
    given: Motion,
    character: Character,
    *,
    height: float,
    lookahead: float,
    margin: float,
    smooth: float = 0.0,
    ground: Any = None,
) -> Rehearsal:
    """Look a reference through: feet that leave the ground, and a CoM path over those that stay.

    `height` [m] off its ground a foot counts as lifted, `lookahead` [s] before that its force is withdrawn, `margin` is
    the share of the support's depth the zero-moment point keeps from its edge. Capture is noisy, and its accelerations
    more so: poses are averaged over a window of standard deviation `smooth` [s].
    """
    motion = smoothed(given, smooth) if smooth > 0.0 and len(given) > 3 else given
    period = motion.duration if motion.loop else 0.0
    times = np.arange(motion.start - period, motion.end + (period or AFTER) + 0.5 * STEP, STEP)
    for round_ in range(ROUNDS + 1):
        com, momentum, points, up = _watch(motion, character, times, height, ground)
        if round_ == 0:
            _check_support(motion, times, up)
        soon = _soon(up, max(1, round(lookahead / STEP)))
        path = _bearable(character, com, momentum, points, soon, margin, held_start=not motion.loop)
        lean = path[:, :2] - com[:, :2]
        if round_ == ROUNDS or float(np.abs(lean).max()) < ENOUGH:
            break
        motion = _leaning(motion, times, lean)
    keep = slice(None)
    if period:
        a = round(period / STEP)
        keep = slice(a, min(2 * a + 2, len(times)))
    velocity, acceleration = _rates(path)
    spin_rate = np.gradient(momentum, STEP, axis=0)
    return Rehearsal(
        given, motion, motion.start, path[keep], velocity[keep], acceleration[keep], momentum[keep], spin_rate[keep],
        soon[keep],
    )  # fmt: skip


def _soon(up: Flags, ahead: int) -> Flags:
    """Feet in the air now or within the next steps; where that would be all of them, only those that are."""
    soon = up.copy()
    for k in range(1, ahead + 1):
        soon[:-k] |= up[k:]
    none = soon.all(axis=1)
    soon[none] = up[none]
    return soon


def _leaning(motion: Motion, times: Array, lean: Array) -> Motion:
    """The motion with its CoM moved over the ground by `lean` (n, 2), feet where they were, legs doing the work.

    Two Gauss-Newton steps a frame: the smallest weighted change of pose with the feet held and J_com dq = lean.
    """
    character = motion.character
    grid = np.linspace(motion.start, motion.end, max(round(motion.duration / STEP), 2) + 1)
    poses = motion.sample(grid).q
    shift = np.stack([np.interp(grid, times, lean[:, c]) for c in range(2)], axis=1)
    weight, nv = _ease(character), character.nv
    out = poses.copy()
    for i, (q, d) in enumerate(zip(poses, shift, strict=True)):
        if not d.any():
            continue
        s = character.snapshot(character.state(q))
        feet, goal = s.contact_position, s.com[:2] + d
        for again in (True, False):
            J, C = s.contact_jacobian.reshape(-1, nv), s.com_jacobian[:2]
            pull = J.T @ (feet - s.contact_position).reshape(-1) + C.T @ (goal - s.com[:2])
            step = np.linalg.solve(np.diag(weight) + HARD * (J.T @ J + C.T @ C), HARD * pull)
            out[i] = character.integrate(out[i], step)
            if again:
                s = character.snapshot(character.state(out[i]))
    if motion.loop:
        out[-1] = poses[-1] if motion.travel else out[0]
        out[0] = poses[0] if motion.travel else out[0]
    return replace(motion, times=grid, poses=out)


def _ease(character: Character) -> Array:
    """What a change of each dof costs: legs are cheap, the trunk's own joints dear, the root's place nearly free."""
    moves = tables_of(character).moves
    feet = [character.body_id(f.body) for f in character.feet]
    weight = np.array([1.0 if moves[feet, j].any() else 10.0 for j in range(character.nv)])
    root = character.root_dofs
    weight[root] = 3.0
    weight[root.start : root.start + 3] = 0.01
    return weight


def smoothed(motion: Motion, width: float) -> Motion:
    """The motion averaged over a Gaussian window of standard deviation `width` [s], without lag.

    The mean is taken in the tangent space of each pose, so that rotations stay rotations; ends are held.
    """
    character = motion.character
    n = max(round(motion.duration / STEP), 2)
    times = np.linspace(motion.start, motion.end, n + 1)
    poses = motion.sample(times).q
    reach = int(np.ceil(3.0 * width / STEP))
    offsets = np.arange(-reach, reach + 1)
    shares = np.exp(-0.5 * (offsets * STEP / width) ** 2)
    shares /= shares.sum()
    mean = np.zeros((n + 1, character.nv))
    for k, share in zip(offsets, shares, strict=True):
        near = np.arange(n + 1) + k
        near = near % n if motion.loop and not motion.travel else np.clip(near, 0, n)
        mean += share * character.difference(poses, poses[near])
    out = character.integrate(poses, mean)
    if motion.loop:
        out[-1] = poses[-1] if motion.travel else out[0]
        out[0] = poses[0] if motion.travel else out[0]
    else:
        out[0], out[-1] = poses[0], poses[-1]
    return replace(motion, times=times, poses=out)


def _watch(
    motion: Motion, character: Character, times: Array, height: float, ground: Any
) -> tuple[Array, Array, Array, Flags]:
    """CoM and angular momentum, smoothed, contact points, and which feet are up."""
    samples = motion.sample(times)
    n = len(times)
    com, momentum = np.empty((n, 3)), np.empty((n, 3))
    points, above = np.empty((n, len(character.contact_points), 3)), np.zeros((n, len(character.feet)))
    for i in range(n):
        s = take_snapshot(character, State(samples.q[i], samples.v[i], 0.0))
        com[i], momentum[i], points[i] = s.com, s.momentum[:3], s.contact_position
        above[i] = clearance(s, ground)
    width = SMOOTH / STEP
    up = _lifts(above, height)
    return gaussian_filter1d(com, width, axis=0), gaussian_filter1d(momentum, width, axis=0), points, up


def _lifts(above: Array, height: float) -> Flags:
    """Feet higher than `height`, without the lifts that never come to anything: those are noise, or a foot dragged."""
    up = above > height
    for foot in range(up.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], up[:, foot].astype(np.int8), [0]])))
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            if above[first:last, foot].max() < REAL_LIFT * height:
                up[first:last, foot] = False
    return up


def _bearable(
    character: Character, com: Array, momentum: Array, points: Array, up: Flags, margin: float, held_start: bool
) -> Array:
    """The CoM's path whose zero-moment point stays over the feet that stand."""
    n, m = len(com), character.mass
    _, acceleration = _rates(com)
    spin = np.gradient(momentum, STEP, axis=0)
    push = np.maximum(9.81 + acceleration[:, 2], 2.0)
    floor = points[:, :, 2].min(axis=1)
    lever = np.maximum(com[:, 2] - floor, 0.05) / push  # 1/omega^2 [s^2]
    tip = np.stack([spin[:, 1], -spin[:, 0]], axis=1) / (m * push[:, None])
    wanted = com[:, :2] - lever[:, None] * acceleration[:, :2] - tip
    feet = np.array([i for i, foot in enumerate(character.feet) for _ in foot.points])
    p = np.empty((n, 2))
    for i in range(n):
        stand = ~up[i][feet]
        edges = hull_edges(np.ascontiguousarray(points[i][stand if stand.any() else slice(None)][:, :2]))
        depth = _depth(edges)
        p[i] = nearest_inside(edges, wanted[i, 0], wanted[i, 1], margin * depth)
    # c - lever c'' = p + tip: tridiagonal; at rest over p at the end, and where the clip begins at the start
    k = lever / STEP**2
    bands = np.zeros((3, n))
    bands[1], bands[0, 1:], bands[2, :-1] = 1.0 + 2.0 * k, -k[:-1], -k[1:]
    right = p + tip
    for row in (0, n - 1):
        bands[1, row] = 1.0
    bands[0, 1] = bands[2, n - 2] = 0.0
    right[0] = com[0, :2] if held_start else p[0]
    right[-1] = p[-1]
    out = com.copy()
    out[:, :2] = solve_banded((1, 1), bands, right)
    return out


def _rates(path: Array) -> tuple[Array, Array]:
    velocity = np.gradient(path, STEP, axis=0)
    acceleration = np.zeros_like(path)
    acceleration[1:-1] = (path[2:] - 2.0 * path[1:-1] + path[:-2]) / STEP**2
    return velocity, acceleration


def _depth(edges: Array) -> float:
    x, y = float((edges[:, 0] * edges[:, 2]).mean()), float((edges[:, 1] * edges[:, 2]).mean())
    return max(float((edges[:, 2] - edges[:, 0] * x - edges[:, 1] * y).min()), 0.0)


def clearance(state: Snapshot, ground: Any = None) -> Array:
    """How far each foot's lowest point is above its ground [m], (feet,); a moving ground counts as level."""
    feet = state.character.feet
    out, at = np.zeros(len(feet)), 0
    for i, foot in enumerate(feet):
        points = state.contact_position[at : at + len(foot.points)]
        at += len(foot.points)
        under = ground.get(foot.name, ground.get(foot.body)) if isinstance(ground, Mapping) else ground
        above = (points - np.asarray(under.origin)) @ under.normal if isinstance(under, Surface) else points[:, 2]
        out[i] = above.min()
    return out


def _check_support(motion: Motion, times: Array, up: Flags) -> None:
    """A reference that leaves the ground altogether cannot be stood: say when."""
    run = 0
    for t, feet in zip(times, up, strict=True):
        run = run + 1 if feet.all() else 0
        if run > 5:
            raise BadValue(
                f"the reference {motion.name or 'motion'!r} leaves the ground at {t - run * STEP:.2f} s with every "
                "foot: Stand keeps its feet; give a part of it that stands (motion.slice), or put its feet down"
            )
