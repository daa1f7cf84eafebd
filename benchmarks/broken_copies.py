"""Captured clips made wrong in known ways, to see which of them a check tells from real motion."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import counterpoise as cp
from counterpoise import spatial
from counterpoise.motion.poses import layout_of

SPEED = 2.0  # played so many times too fast, or too slowly
SLIDE_SPEED = 0.2  # [m/s] with which the ground slides away under the feet
LIFT = 0.3  # [m] above the ground
LIFT_TIME = 0.5  # [s] in which the second half rises
NOISE_ANGLE, NOISE_PLACE = np.radians(2.0), 0.005  # [rad], [m] standard deviations of white noise
TILT = np.radians(5.0)


def fast(motion: cp.Motion) -> cp.Motion:
    return motion.retimed(SPEED)


def slow(motion: cp.Motion) -> cp.Motion:
    return motion.retimed(1.0 / SPEED)


def slid(motion: cp.Motion) -> cp.Motion:
    poses = motion.poses.copy()
    poses[:, 0] += SLIDE_SPEED * (motion.times - motion.start)
    return replace(motion, poses=poses)


def floated(motion: cp.Motion) -> cp.Motion:
    poses = motion.poses.copy()
    poses[:, 2] += LIFT
    return replace(motion, poses=poses)


def half_floated(motion: cp.Motion) -> cp.Motion:
    """It rises gently in the middle and stays up."""
    s = np.clip((motion.times - motion.start - 0.5 * motion.duration) / LIFT_TIME, 0.0, 1.0)
    poses = motion.poses.copy()
    poses[:, 2] += LIFT * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    return replace(motion, poses=poses)


def half_mirrored(motion: cp.Motion) -> cp.Motion:
    """From the middle on left and right are swapped; place and heading of the root go on as they were."""
    middle = len(motion) // 2
    mirrored, poses = motion.mirrored(), motion.poses.copy()
    yaws = [_heading(m.poses[middle, 3:7]) for m in (motion, mirrored)]
    turned = mirrored.placed(yaw=yaws[0] - yaws[1])
    shift = motion.poses[middle, :2] - turned.poses[middle, :2]
    poses[middle:] = turned.poses[middle:]
    poses[middle:, :2] += shift
    return replace(motion, poses=poses)


def noisy(motion: cp.Motion) -> cp.Motion:
    rng = np.random.default_rng(0)
    layout = layout_of(motion.character)
    poses = motion.poses.copy()
    n = len(poses)
    poses[:, :3] += NOISE_PLACE * rng.standard_normal((n, 3))
    turns = spatial.exp(NOISE_ANGLE * rng.standard_normal((n, len(layout.quaternions), 3)))
    poses[:, layout.quaternions] = spatial.multiply(poses[:, layout.quaternions], turns)
    hinges = layout.vector_q[layout.vector_q >= 7]
    poses[:, hinges] += NOISE_ANGLE * rng.standard_normal((n, len(hinges)))
    return replace(motion, poses=poses)


def frozen(motion: cp.Motion) -> cp.Motion:
    """The root stays where it is first, and turns as before."""
    poses = motion.poses.copy()
    poses[:, :3] = poses[0, :3]
    return replace(motion, poses=poses)


def tilted(motion: cp.Motion) -> cp.Motion:
    """The whole world leans about the place where it begins."""
    poses, turn = motion.poses.copy(), spatial.exp(np.array([0.0, TILT, 0.0]))
    pivot = np.array([*poses[0, :2], 0.0])
    poses[:, :3] = pivot + spatial.rotate(turn, poses[:, :3] - pivot)
    poses[:, 3:7] = spatial.multiply(turn, poses[:, 3:7])
    return replace(motion, poses=poses)


def _heading(quaternion: np.ndarray) -> float:
    ahead = spatial.rotate(quaternion, np.array([1.0, 0.0, 0.0]))
    return float(np.arctan2(ahead[1], ahead[0]))


COPIES: dict[str, Callable[[cp.Motion], cp.Motion]] = {
    "2x fast": fast, "2x slow": slow, "feet slid": slid, "floated": floated, "second half floated": half_floated,
    "second half mirrored": half_mirrored, "noise": noisy, "frozen root": frozen, "tilted floor": tilted,
}  # fmt: skip
