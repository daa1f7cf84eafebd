"""An outsider's judgement of a fixed motion: how feet skate in what a person would call contact; forces from nowhere.

Nothing here is shared with `check` or `fix`. Places come from MuJoCo's kinematics, velocities and accelerations from
filters of its own, the forces that a frame needs from `mj_inverse`, and what the ground can give of them from
SciPy's non-negative least squares.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.ndimage import convolve1d
from scipy.optimize import nnls
from scipy.signal import savgol_filter

import counterpoise as cp

# what a person would call contact: a point of a foot that is low and slow for a while; its first and last moments, in
# which a foot arrives or leaves, do not count
LOW = 0.02  # [m] above the ground
SLOW = 0.3  # [m/s]
SHORTEST, ENDS = 0.15, 0.05  # [s]
SPEED_TIME = 0.07  # [s] width of the filter for speeds
FORCE_TIME = 0.12  # [s] width of the Hann window by which poses are smoothed before they are differentiated twice. Its
# weights are positive: what it makes of a push is a push, where a polynomial filter would also make a pull of it
FRICTION = 0.8
WAYS = np.array([[FRICTION * np.cos(a), FRICTION * np.sin(a), 1.0] for a in np.arange(8) * np.pi / 4])

Hold = tuple[str, float, float]  # a body that something unseen holds, from and until [s]
BOTH_WAYS = np.vstack([np.eye(3), -np.eye(3)])


@dataclass(frozen=True)
class Outsider:
    """What an outsider finds in a motion whose ground is at a height."""

    skate: float  # [m/s] rms horizontal speed of points in contact; nan where nothing is
    contact: np.ndarray  # (n, p) points of feet in contact
    nowhere: np.ndarray  # (m,) what the ground cannot give of the wrench that a frame needs [body weights]


def judged(
    motion: cp.Motion, floor: float = 0.0, contact: np.ndarray | None = None, held: Sequence[Hold] = ()
) -> Outsider:
    """Judges a motion; with `contact` (n, p) its feet are judged where these flags are set, not where it touches.

    Bodies that are `held` for a while by something that was not captured (a bar, a chair) may push and pull.
    """
    step = motion.duration / (len(motion) - 1)
    q = smoothed(motion, odd(FORCE_TIME / step))
    soles, others = contact_points(motion.character)
    paths = places(motion, np.array(motion.poses), seen_points(motion.character))
    touch = in_contact(paths, step, floor) if contact is None else contact
    speed = np.linalg.norm(rate(paths, step), axis=-1)
    skate = float(np.sqrt(np.mean(speed[touch] ** 2))) if touch.any() else float("nan")
    return Outsider(skate, touch, from_nowhere(motion, q, [*soles, *others], floor, held))


def floor_of(motion: cp.Motion) -> float:
    """The height at which feet stand: the median of the lowest sole point of each foot while it hardly moves [m]."""
    step = motion.duration / (len(motion) - 1)
    soles, _ = contact_points(motion.character)
    paths = places(motion, np.array(motion.poses), soles)
    slow = np.linalg.norm(rate(paths, step, 3), axis=-1) < 0.5 * SLOW
    heights = []
    for foot in motion.character.feet:
        bodies = [motion.character.body_id(p.body) for p in foot.points]
        mine = [k for k, (b, _, _) in enumerate(soles) if b in bodies]
        low = np.where(slow[:, mine], paths[:, mine, 2], np.inf).min(axis=1)
        heights.append(low[np.isfinite(low)])
    known = np.concatenate(heights) if heights else np.zeros(0)
    if not len(known):
        return 0.0
    low = known[known < np.quantile(known, 0.1) + 0.1]  # a foot may also rest on something, or be held up
    return float(np.median(low))


def seen_points(character: cp.Character) -> list:
    """The points of feet that a person watches: heels, joints of the toes, tips of the toes: (body, place, height).

    The height [m] is that above the ground where the foot stands flat. Where a foot bends, the ball of its sole rolls
    about the joint of its toes: it is the joint that stays.
    """
    model, data, out = character.model, mujoco.MjData(character.model), []
    data.qpos[:] = character.neutral
    mujoco.mj_kinematics(model, data)
    for foot in character.feet:
        mine = [(character.body_id(p.body), np.array(p.position)) for p in foot.points]
        heights = [float(data.xpos[b][2] + data.xmat[b].reshape(3, 3)[2] @ p) for b, p in mine]
        ground, body = min(heights), character.body_id(foot.body)
        toes = sorted({b for b, _ in mine if b != body})
        if not toes:
            out += [(b, p, h - ground) for (b, p), h in zip(mine, heights, strict=True)]
            continue
        ends = [data.xpos[b] + data.xmat[b].reshape(3, 3) @ p for b, p in mine]
        way = np.mean([data.xpos[t] for t in toes], axis=0) - data.xpos[body]
        along = [float((e - data.xpos[body])[:2] @ way[:2]) for e in ends]
        middle = 0.5 * (min(along) + max(along))
        rear = [k for k, (b, _) in enumerate(mine) if b == body and along[k] < middle]
        tips = [k for k, (b, _) in enumerate(mine) if b != body]
        out += [(*mine[k], heights[k] - ground) for k in (*rear, *tips)]
        out += [(t, np.zeros(3), float(data.xpos[t][2]) - ground) for t in toes]
    return out


def contact_points(character: cp.Character) -> tuple[list, list]:
    """Points of the soles, and the ends of all shapes of other bodies: (body, place in it [m], radius [m])."""
    model, soles, others = character.model, [], []
    for foot in character.feet:
        soles += [(character.body_id(p.body), np.array(p.position), 0.0) for p in foot.points]
    feet = {body for body, _, _ in soles}
    for g in range(model.ngeom):
        body, size, at = int(model.geom_bodyid[g]), model.geom_size[g], model.geom_pos[g]
        if body == 0 or body in feet:
            continue
        axis = np.zeros(3)
        mujoco.mju_rotVecQuat(axis, np.array([0.0, 0.0, 1.0]), model.geom_quat[g])
        if int(model.geom_type[g]) == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
            others += [(body, at + s * size[1] * axis, float(size[0])) for s in (-1.0, 1.0)]
        else:
            others.append((body, at.copy(), float(size[0])))
    return soles, others


def smoothed(motion: cp.Motion, wide: int) -> np.ndarray:
    """The poses, each coordinate filtered by itself."""
    model, q = motion.character.model, np.array(motion.poses)
    for j in range(model.njnt):
        at, kind = int(model.jnt_qposadr[j]), int(model.jnt_type[j])
        for first, count in {0: ((at, 3), (at + 3, 4)), 1: ((at, 4),)}.get(kind, ((at, 1),)):
            some = q[:, first : first + count]
            if count == 4:  # the same half of the sphere all the way
                some *= np.cumprod(np.sign(np.sum(np.vstack([some[:1], some[:-1]]) * some, axis=1)))[:, None]
            some[:] = convolve1d(some, np.hanning(wide + 2)[1:-1] / np.hanning(wide + 2).sum(), axis=0, mode="nearest")
            if count == 4:
                some /= np.linalg.norm(some, axis=1, keepdims=True)
    return q


def places(motion: cp.Motion, q: np.ndarray, points: list) -> np.ndarray:
    """Places (n, p, 3) of the lowest points of balls about points, by MuJoCo."""
    model = motion.character.model
    data, out = mujoco.MjData(model), np.empty((len(q), len(points), 3))
    bodies = np.array([b for b, _, _ in points])
    local, radii = np.array([p for _, p, _ in points]), np.array([r for _, _, r in points])
    for k in range(len(q)):
        data.qpos[:] = q[k]
        mujoco.mj_kinematics(model, data)
        out[k] = data.xpos[bodies] + np.einsum("pij,pj->pi", data.xmat[bodies].reshape(-1, 3, 3), local)
    out[:, :, 2] -= radii
    return out


def rate(paths: np.ndarray, step: float, parts: int = 2) -> np.ndarray:
    """Velocities (n, p, parts) of paths (n, p, 3)."""
    return savgol_filter(paths[:, :, :parts], odd(SPEED_TIME / step), 2, deriv=1, delta=step, axis=0)


def in_contact(paths: np.ndarray, step: float, floor: float) -> np.ndarray:
    """Flags (n, p): what a person would call contact."""
    speed = np.linalg.norm(rate(paths, step, 3), axis=-1)
    flags = (paths[:, :, 2] < floor + LOW) & (speed < SLOW)
    for p in range(flags.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], flags[:, p].astype(int), [0]])))
        for a, b in zip(edges[::2], edges[1::2], strict=True):
            cut = round(ENDS / step)
            flags[a:b, p] = False
            if (b - a) * step >= SHORTEST:
                flags[a + cut : b - cut, p] = True
    return flags


def from_nowhere(motion: cp.Motion, q: np.ndarray, points: list, floor: float, held: Sequence[Hold] = ()) -> np.ndarray:
    """What level ground under all low points cannot give of the wrench that a frame needs [body weights]."""
    body, step = motion.character, motion.duration / (len(motion) - 1)
    model = mujoco.MjModel.from_xml_string(body.to_mjcf())
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, wide = mujoco.MjData(model), odd(FORCE_TIME / step)
    halves = np.zeros((len(q) - 1, model.nv))
    for k in range(len(q) - 1):
        mujoco.mj_differentiatePos(model, halves[k], step, q[k], q[k + 1])
    v, a = 0.5 * (halves[1:] + halves[:-1]), np.diff(halves, axis=0) / step
    weight = float(model.body_mass.sum()) * body.gravity
    wrench, centre = np.zeros((len(v), 6)), np.zeros((len(v), 3))
    for k in range(len(v)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k + 1], v[k], a[k]
        mujoco.mj_inverse(model, data)
        centre[k] = data.subtree_com[0]
        force, torque = data.qfrc_inverse[:3], data.xmat[1].reshape(3, 3) @ data.qfrc_inverse[3:6]
        wrench[k, :3] = (torque + np.cross(data.xpos[1] - centre[k], force)) / (weight * body.height)
        wrench[k, 3:] = force / weight
    grips = places(motion, q, [(body.body_id(name), np.zeros(3), 0.0) for name, _, _ in held])[1:-1] if held else None
    lasts = np.array([[a <= t <= b for _, a, b in held] for t in motion.times[1:-1]])
    at = places(motion, q, points)[1:-1]
    low = at[:, :, 2] < floor + LOW
    nearest = nearest_true(low)  # a force that is blurred acts where its point touches
    down = np.abs(nearest - np.arange(len(low))[:, None]) <= wide // 2 + 1  # frames that the filter reads
    at = np.take_along_axis(at, np.clip(nearest, 0, len(low) - 1)[:, :, None], axis=0)
    left = []
    for k in range(wide, len(v) - wide):
        columns = [given(at[k, down[k]] - centre[k], WAYS, body.height)]
        if grips is not None:
            columns.append(given(grips[k, lasts[k]] - centre[k], BOTH_WAYS, body.height))
        columns = np.concatenate(columns)
        left.append(nnls(columns.T, wrench[k])[1] if len(columns) else float(np.linalg.norm(wrench[k])))
    return np.array(left)


def given(arms: np.ndarray, ways: np.ndarray, height: float) -> np.ndarray:
    """The wrenches (p ways, 6) of unit forces at points (p, 3) about the CoM, torques over the height."""
    turns = np.cross(arms[:, None], ways[None]).reshape(-1, 3) / height
    return np.hstack([turns, np.tile(ways, (len(arms), 1))])


def nearest_true(flags: np.ndarray) -> np.ndarray:
    """The frame (n, p) nearest to each frame in which a column of flags (n, p) is set; far away where none is."""
    n, far = len(flags), 10**9
    frames = np.arange(n)[:, None]
    before = np.maximum.accumulate(np.where(flags, frames, -far), axis=0)
    after = np.minimum.accumulate(np.where(flags, frames, far)[::-1], axis=0)[::-1]
    return np.where(frames - before <= after - frames, before, after)


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def odd(frames: float) -> int:
    return max(5, 2 * round(0.5 * frames) + 1)
