"""The frames that a check reads: evenly spaced in time, raw and smoothed.

Captured poses have noise, and differentiating twice amplifies it. Velocities and accelerations are therefore read from
a local cubic fit about every frame, in its own tangent space, weighted by a Gaussian of `smooth` seconds:

    q(t_i + s) = q_i exp(c0 + c1 s + c2 s^2 + c3 s^3),   pose q_i exp(c0), velocity c1, acceleration 2 c2.

Parabolas and rotations at constant speed pass unchanged (Savitzky & Golay 1964): free fall stays free fall for every
width of the window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.character.kinematics import body_frames
from counterpoise.motion import Motion
from counterpoise.motion.poses import layout_of

MIN_RATE, MAX_RATE = 60.0, 250.0  # [1/s] a motion outside of this range is resampled to the nearer bound
MIN_SMOOTHED_FRAMES = 6  # shorter motions are not smoothed
UNJUDGED_WIDTHS = 1.5  # multiples of `smooth` at each end of a motion in which accelerations are not reliable


@dataclass(frozen=True, eq=False)
class CheckedFrames:
    """A motion at evenly spaced times: poses as given, and smoothed poses, velocities and accelerations."""

    character: Character
    times: Array  # (n,) [s]
    raw: Array  # (n, nq)
    q: Array  # (n, nq) smoothed
    v: Array  # (n, nv)
    a: Array  # (n, nv)
    judged: Flags  # (n,) whether the frame is far enough from the ends for a reliable acceleration
    rate: float  # [1/s]; 0 for a single pose

    def __len__(self) -> int:
        return len(self.times)


def frames_of_motion(motion: Motion, smooth: float) -> CheckedFrames:
    """Returns the motion's own frames if they are even and their rate is in range, otherwise evenly resampled ones."""
    n = len(motion)
    if n < 2:
        zero = np.zeros((n, motion.character.nv))
        return CheckedFrames(motion.character, motion.times, motion.poses, motion.poses, zero, zero, _all(n), 0.0)
    rate = float(np.clip(motion.rate, MIN_RATE, MAX_RATE))
    count = max(1, round(motion.duration * rate))
    times = np.linspace(motion.start, motion.end, count + 1)
    step = motion.duration / count
    own = len(times) == n and bool(np.abs(times - motion.times).max() < 1e-3 * step)
    times = motion.times if own else times
    if len(times) < MIN_SMOOTHED_FRAMES or smooth <= 0.0:
        raw, v, a = motion.sample(times)
        return CheckedFrames(motion.character, times, raw, raw, v, a, _all(len(times)), 1.0 / step)
    reach = fit_reach(smooth, step)
    around = reach if motion.loop else 0  # a loop has neighbours beyond its ends
    wide = np.concatenate(
        [times[0] - step * np.arange(around, 0, -1), times, times[-1] + step * np.arange(1, around + 1)]
    )
    poses = motion.poses if own and not around else motion.sample(wide).q
    q, v, a = fit_locally(motion.character, poses, step, smooth, reach)
    inner = slice(around, around + len(times))
    judged = _all(len(times))
    if not motion.loop:
        ends = min(int(np.ceil(UNJUDGED_WIDTHS * smooth / step)), (len(times) - 1) // 3)
        judged[:ends] = judged[len(times) - ends :] = False
    return CheckedFrames(motion.character, times, poses[inner], q[inner], v[inner], a[inner], judged, 1.0 / step)


def _all(n: int) -> Flags:
    return np.ones(n, dtype=bool)


def fit_reach(smooth: float, step: float) -> int:
    """Returns the number of frames on each side that a local fit reads: three standard deviations of the Gaussian."""
    return max(2, int(np.ceil(3.0 * smooth / step)))


def fit_locally(
    character: Character, poses: Array, step: float, smooth: float, reach: int
) -> tuple[Array, Array, Array]:
    """Returns pose, velocity and acceleration of the local cubic fit about every frame. Ends have one-sided windows."""
    n = len(poses)
    offsets = np.arange(-reach, reach + 1)
    weights = fit_weights(n, offsets, step, smooth)  # (3, n, offsets): of c0, c1, 2 c2
    layout = layout_of(character)
    rotation_v = layout.rotation_v[:, None] + np.arange(3)
    vectors, rotations = poses[:, layout.vector_q], poses[:, layout.quaternions]
    back = spatial.conjugate(rotations)
    c = np.zeros((3, n, character.nv))
    for k, offset in enumerate(offsets):
        near = np.clip(np.arange(n) + offset, 0, n - 1)
        w = weights[:, :, k, None]
        c[:, :, layout.vector_v] += w * (vectors[near] - vectors)
        if len(rotation_v):
            c[:, :, rotation_v] += w[..., None] * spatial.log(spatial.multiply(back, rotations[near]))
    q = poses.copy()
    q[:, layout.vector_q] += c[0][:, layout.vector_v]
    if len(rotation_v):
        turned = spatial.multiply(rotations, spatial.exp(c[0][:, rotation_v]))
        q[:, layout.quaternions] = spatial.normalize(turned)
    return q, c[1], c[2]


def fit_weights(n: int, offsets: Ints, step: float, smooth: float) -> Array:
    """Returns weights (3, n, offsets): c0, c1 and 2 c2 of a frame are sums over its neighbours with these weights."""
    s = offsets * step
    gauss = np.exp(-0.5 * (s / smooth) ** 2)
    powers = (s[:, None] / smooth) ** np.arange(4)
    units = np.array([1.0, 1.0 / smooth, 2.0 / smooth**2])
    out = np.empty((3, n, len(offsets)))
    made: dict[tuple[int, int], Array] = {}  # by the frames available on both sides
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
    """Returns world places (n, k, 3) of points fixed to bodies."""
    at, turns = body_frames(character, poses)
    return np.asarray(at[:, bodies] + spatial.rotate(turns[:, bodies], local))


def com_of(character: Character, poses: Array) -> Array:
    """Returns the centre of mass (n, 3)."""
    at, turns = body_frames(character, poses)
    mass = np.asarray(character.model.body_mass)
    centres = at + spatial.rotate(turns, np.asarray(character.model.body_ipos))
    return np.asarray((mass[:, None] * centres).sum(axis=1) / mass.sum())
