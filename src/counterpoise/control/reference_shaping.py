"""Changes to a reference motion before it is followed: smoothing, and leaning so that its CoM lies elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.tables import tables_of
from counterpoise.motion.motion import Motion

STEP = 0.01  # [s] between the poses of a changed motion
FEET_WEIGHT = 1e5  # of feet and CoM, relative to 1 of a leg joint
FIT_STEPS = 3  # of Gauss-Newton, that put feet in their places
TRUNK_WEIGHT = 10.0  # of joints that move no foot
ROOT_TURN_WEIGHT = 3.0  # of the root's orientation
ROOT_PLACE_WEIGHT = 0.01  # of the root's place


def smoothed(motion: Motion, width: float) -> Motion:
    """Returns the motion averaged over a Gaussian window of standard deviation `width` [s], without lag.

    The mean is taken in the tangent space of each pose, so that rotations stay rotations. End poses and the velocities
    there are kept.
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
        if motion.loop and not motion.travel:
            mean += share * character.difference(poses, poses[near % n])
            continue
        end = np.clip(near, 0, n)  # beyond an end the motion goes on as its image in the pose there, turned by 180 deg
        mirrored = np.clip(2 * end - near, 0, n)
        to_end = character.difference(poses, poses[end])
        change = 2.0 * to_end - character.difference(poses, poses[mirrored])
        mean += share * np.where((end == near)[:, None], to_end, change)
    out = character.integrate(poses, mean)
    if motion.loop:
        close_loop(motion, poses, out)
    else:
        out[0], out[-1] = poses[0], poses[-1]
    return replace(motion, times=times, poses=out)


def leant(motion: Motion, times: Array, lean: Array) -> Motion:
    """Returns the motion with its CoM moved over the ground by `lean` (n, 2) [m] at `times`, its feet where they were.

    Two Gauss-Newton steps a frame: the smallest weighted change of pose with the feet held and J_com dq = lean.
    """
    character = motion.character
    grid = np.linspace(motion.start, motion.end, max(round(motion.duration / STEP), 2) + 1)
    poses = motion.sample(grid).q
    shift = np.stack([np.interp(grid, times, lean[:, c]) for c in range(2)], axis=1)
    weight, nv = _joint_weights(character), character.nv
    out = poses.copy()
    for i, (q, d) in enumerate(zip(poses, shift, strict=True)):
        if not d.any():
            continue
        s = character.snapshot(character.state(q))
        feet, goal = s.contact_position, s.com[:2] + d
        for again in (True, False):
            J, C = s.contact_jacobian.reshape(-1, nv), s.com_jacobian[:2]
            pull = J.T @ (feet - s.contact_position).reshape(-1) + C.T @ (goal - s.com[:2])
            step = np.linalg.solve(np.diag(weight) + FEET_WEIGHT * (J.T @ J + C.T @ C), FEET_WEIGHT * pull)
            out[i] = character.integrate(out[i], step)
            if again:
                s = character.snapshot(character.state(out[i]))
    if motion.loop:
        close_loop(motion, poses, out)
    return replace(motion, times=grid, poses=out)


def feet_put(character: Character, poses: Array, points: Array) -> Array:
    """Returns poses (n, nq) with their contact points at `points` (n, p, 3): for each the smallest weighted change."""
    weight, nv = _joint_weights(character), character.nv
    out = poses.copy()
    for i, goal in enumerate(points):
        for _ in range(FIT_STEPS):
            s = character.snapshot(character.state(out[i]))
            J, off = s.contact_jacobian.reshape(-1, nv), (goal - s.contact_position).reshape(-1)
            step = np.linalg.solve(np.diag(weight) + FEET_WEIGHT * J.T @ J, FEET_WEIGHT * (J.T @ off))
            out[i] = character.integrate(out[i], step)
    return out


def close_loop(motion: Motion, poses: Array, out: Array) -> None:
    """Makes the last pose of a changed loop equal its first, or, where the loop travels, keeps both as they were."""
    out[-1] = poses[-1] if motion.travel else out[0]
    out[0] = poses[0] if motion.travel else out[0]


def _joint_weights(character: Character) -> Array:
    """Returns the cost of changing each dof, (nv,): small for legs, large for the trunk, smallest for the root."""
    moves = tables_of(character).moves
    feet = [character.body_id(foot.body) for foot in character.feet]
    weight = np.array([1.0 if moves[feet, j].any() else TRUNK_WEIGHT for j in range(character.nv)])
    root = character.root_dofs
    weight[root] = ROOT_TURN_WEIGHT
    weight[root.start : root.start + 3] = ROOT_PLACE_WEIGHT
    return weight
