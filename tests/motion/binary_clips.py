"""Clips made by hand for the tests of binary formats: bodies of a figure as joints, straight from plain MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.motion import Motion
from counterpoise.motion.skeleton import Clip, Skeleton


def clip_of_bodies(motion: Motion, rate: float | None = None) -> Clip:
    """Every body a joint in its own frame; the skeleton rests as the model was drawn."""
    model = motion.character.model
    n = model.nbody - 1
    data = mujoco.MjData(model)
    rotations, translations = np.empty((len(motion), n, 4)), np.empty((len(motion), n, 3))
    for frame, q in enumerate(motion.poses):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        for b in range(1, n + 1):
            parent = int(model.body_parentid[b])
            back = spatial.inverse((data.xpos[parent], data.xquat[parent]))
            translations[frame, b - 1], rotations[frame, b - 1] = spatial.compose(back, (data.xpos[b], data.xquat[b]))
    names = tuple(model.body(b).name for b in range(1, n + 1))
    parents = tuple(int(model.body_parentid[b]) - 1 for b in range(1, n + 1))
    ends = tuple((i, (0.0, 0.05, -0.1)) for i, name in enumerate(names) if name.startswith("hand"))
    skeleton = Skeleton(names, parents, model.body_pos[1:], model.body_quat[1:], ends)
    return Clip(skeleton, rate or motion.rate, rotations, translations, name=motion.name)


def random_clip(seed: int, joints: int = 12, frames: int = 40, rate: float = 30.0, sway: float = 0.1) -> Clip:
    """A random tree that turns at random; every third joint also moves in its parent."""
    rng = np.random.default_rng(seed)
    parents = (-1, *(int(rng.integers(0, i)) for i in range(1, joints)))
    rest = spatial.exp(rng.normal(size=(joints, 3)))
    skeleton = Skeleton(tuple(f"bone {i}" for i in range(joints)), parents, rng.normal(size=(joints, 3)), rest)
    turns = spatial.integrate(rest, np.cumsum(0.2 * rng.normal(size=(frames, joints, 3)), axis=0))
    moves = np.broadcast_to(skeleton.offsets, (frames, joints, 3)).copy()
    moves[:, ::3] += sway * rng.normal(size=moves[:, ::3].shape)
    return Clip(skeleton, rate, turns, moves, name="random")


def gap_to_shapes(model: mujoco.MjModel, q: np.ndarray, bodies: np.ndarray, points: np.ndarray) -> float:
    """How far the worst of world points (k, 3) lies from the surfaces of its body's spheres, capsules, ellipsoids."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    off = np.full(len(points), np.inf)
    for g in range(model.ngeom):
        mine = bodies == model.geom_bodyid[g]
        local = (points[mine] - data.geom_xpos[g]) @ data.geom_xmat[g].reshape(3, 3)
        size, kind = model.geom_size[g], model.geom_type[g]
        if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
            gap = np.abs(np.linalg.norm(local / size, axis=1) - 1.0) * size.min()
        else:
            half = size[1] if kind == mujoco.mjtGeom.mjGEOM_CAPSULE else 0.0
            local[:, 2] -= np.clip(local[:, 2], -half, half)
            gap = np.abs(np.linalg.norm(local, axis=1) - size[0])
        off[mine] = np.minimum(off[mine], gap)
    return float(off.max())
