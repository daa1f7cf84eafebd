"""The frames a check looks at: even in time, raw and smoothed, with every point that could touch the ground.

Captured poses tremble, and two differences make a force of it. So forces are read from a local cubic fit: about every
frame, in its own tangent space, weighted by a Gaussian of `smooth` seconds,

    q(t_i + s) = q_i exp(c0 + c1 s + c2 s^2 + c3 s^3),   pose q_i exp(c0), velocity c1, acceleration 2 c2.

Parabolas and steady turns pass unchanged (Savitzky & Golay 1964): free fall stays free fall however wide the window.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.character.kinematics import body_frames
from counterpoise.motion import Motion

SLOWEST, FASTEST = 60.0, 250.0  # [1/s] between these a motion's own frames are looked at; else as many as these
_FEW = 6  # frames: fewer are not smoothed
_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


@dataclass(frozen=True, eq=False)
class Frames:
    """A motion at even times: poses as they are, and what forces are computed from."""

    character: Character
    times: Array  # (n,) [s]
    raw: Array  # (n, nq)
    q: Array  # (n, nq) smoothed
    v: Array  # (n, nv)
    a: Array  # (n, nv)
    judged: Flags  # (n,) whether the frame lies far enough from the ends to have an acceleration
    rate: float  # [1/s]; 0 for a single pose

    def __len__(self) -> int:
        return len(self.times)


def frames_of_motion(motion: Motion, smooth: float) -> Frames:
    """The motion's own frames where they are even and neither sparse nor dense, else an even choice of them."""
    n = len(motion)
    if n < 2:
        nothing = np.zeros((n, motion.character.nv))
        return Frames(motion.character, motion.times, motion.poses, motion.poses, nothing, nothing, _all(n), 0.0)
    rate = float(np.clip(motion.rate, SLOWEST, FASTEST))
    count = max(1, round(motion.duration * rate))
    times = np.linspace(motion.start, motion.end, count + 1)
    step = motion.duration / count
    own = len(times) == n and bool(np.abs(times - motion.times).max() < 1e-3 * step)
    times = motion.times if own else times
    if len(times) < _FEW or smooth <= 0.0:
        raw, v, a = motion.sample(times)
        return Frames(motion.character, times, raw, raw, v, a, _all(len(times)), 1.0 / step)
    reach = max(2, int(np.ceil(3.0 * smooth / step)))
    around = reach if motion.loop else 0  # a loop has neighbours beyond its ends
    wide = np.concatenate(
        [times[0] - step * np.arange(around, 0, -1), times, times[-1] + step * np.arange(1, around + 1)]
    )
    poses = motion.poses if own and not around else motion.sample(wide).q
    q, v, a = fit_locally(motion.character, poses, step, smooth, reach)
    inner = slice(around, around + len(times))
    judged = _all(len(times))
    if not motion.loop:
        blind = min(int(np.ceil(1.5 * smooth / step)), (len(times) - 1) // 3)
        judged[:blind] = judged[len(times) - blind :] = False
    return Frames(motion.character, times, poses[inner], q[inner], v[inner], a[inner], judged, 1.0 / step)


def _all(n: int) -> Flags:
    return np.ones(n, dtype=bool)


def fit_locally(
    character: Character, poses: Array, step: float, smooth: float, reach: int
) -> tuple[Array, Array, Array]:
    """Pose, velocity and acceleration of the local cubic fit about every frame; windows are one-sided at the ends."""
    n = len(poses)
    offsets = np.arange(-reach, reach + 1)
    weights = fit_weights(n, offsets, step, smooth)  # (3, n, offsets): of c0, c1, 2 c2
    layout = character.layout
    plain, turning = [], []  # (address in q, address in v) of numbers, and of quaternions
    for kind, at_q, at_v in layout:
        if kind == _FREE:
            plain += [(at_q + k, at_v + k) for k in range(3)]
            turning.append((at_q + 3, at_v + 3))
        elif kind == _BALL:
            turning.append((at_q, at_v))
        else:
            plain.append((at_q, at_v))
    nq = np.array([x for x, _ in plain], np.int64)
    nv = np.array([x for _, x in plain], np.int64)
    bq = np.array([x for x, _ in turning], np.int64).reshape(-1, 1) + np.arange(4)
    bv = np.array([x for _, x in turning], np.int64).reshape(-1, 1) + np.arange(3)
    numbers, turns = poses[:, nq], poses[:, bq]
    back = spatial.conjugate(turns)
    c = np.zeros((3, n, character.nv))
    for k, offset in enumerate(offsets):
        near = np.clip(np.arange(n) + offset, 0, n - 1)
        w = weights[:, :, k, None]
        c[:, :, nv] += w * (numbers[near] - numbers)
        if len(bq):
            c[:, :, bv] += w[..., None] * spatial.log(spatial.multiply(back, turns[near]))
    q = poses.copy()
    q[:, nq] += c[0][:, nv]
    if len(bq):
        q[:, bq] = spatial.normalize(spatial.multiply(turns, spatial.exp(c[0][:, bv])))
    return q, c[1], c[2]


def fit_weights(n: int, offsets: Ints, step: float, smooth: float) -> Array:
    """Weights (3, n, offsets) by which its neighbours, `offsets` frames away, make c0, c1 and 2 c2 of each frame."""
    s = offsets * step
    gauss = np.exp(-0.5 * (s / smooth) ** 2)
    powers = (s[:, None] / smooth) ** np.arange(4)
    units = np.array([1.0, 1.0 / smooth, 2.0 / smooth**2])
    out = np.empty((3, n, len(offsets)))
    made: dict[tuple[int, int], Array] = {}
    reach = int(offsets[-1])
    for i in range(n):
        room = (max(-i, -reach), min(n - 1 - i, reach))
        if room not in made:
            here = gauss * ((offsets >= room[0]) & (offsets <= room[1]))
            scaled = powers * here[:, None]
            rows = np.linalg.lstsq(powers.T @ scaled, scaled.T, rcond=None)[0]
            made[room] = rows[:3] * units[:, None]
        out[:, i] = made[room]
    return out


def places_of(character: Character, poses: Array, bodies: Ints, local: Array) -> Array:
    """World places (n, k, 3) of points fixed to bodies."""
    at, turns = body_frames(character, poses)
    return np.asarray(at[:, bodies] + spatial.rotate(turns[:, bodies], local))


def com_of(character: Character, poses: Array) -> Array:
    """The centre of mass (n, 3)."""
    at, turns = body_frames(character, poses)
    mass = np.asarray(character.model.body_mass)
    centres = at + spatial.rotate(turns, np.asarray(character.model.body_ipos))
    return np.asarray((mass[:, None] * centres).sum(axis=1) / mass.sum())
