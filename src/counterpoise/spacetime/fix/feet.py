"""Every planted foot put still, flat and level on the ground, before forces are fixed.

Forces are read from a motion whose planted feet stand still. So each frame is first fitted anew, by itself:

    minimise  sum_i w_i^2 |p_i(q) - p_i*|^2  +  sum_j u_j^2 (q - q_ref)_j^2,

with the sole points p_i at the places p_i* that the footing plans (`motion.retarget.footing`: one anchor for each
stance, and between stances the smoothest path near the captured one), points below the ground pushed up, and as q_ref
the captured pose with its root moved along with the feet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames, dof_lists, tree_of
from counterpoise.character.shapes import spheres_of
from counterpoise.motion.contacts import REFERENCE_LEG, ContactWindow, flags_of, foot_markers, leg_length
from counterpoise.motion.curves import ease
from counterpoise.motion.retarget.fit import fit_frames
from counterpoise.motion.retarget.foot_plan import SWING_CLEARANCE, FootPlan, plan_feet
from counterpoise.motion.retarget.soles import Sole, led_feet
from counterpoise.spacetime.fix.steps import lifted_steps

STANCE_WEIGHT, SWING_WEIGHT = 400.0, 25.0  # [1/m] of sole points that stand, and that swing
GROUND_WEIGHT = 400.0  # [1/m] of points below the ground
ROOT_PLACE_WEIGHT, ROOT_TURN_WEIGHT = 300.0, 100.0  # [1/m, 1/rad] of the captured pose: root, ...
TRUNK_WEIGHT, LEG_WEIGHT = 20.0, 8.0  # [1/rad] ... trunk and arms, legs, ...
FIXED_WEIGHT = 1e4  # [1/rad] ... and joints that never move
MIN_JOINT_RANGE = 1e-4  # [rad, m] a joint that moves less never moves
ROOT_SMOOTHING = 0.05  # [s] width of the Gaussian by which the path of the root is smoothed, ...
SMOOTHED_ROOT_FACTOR = 8.0  # ... and the factor on the weight of the root after that
CORRECTION_FADE = 0.06  # [s] in which the correction of a planted point fades after it has left
LIMIT_WEIGHT = 100.0  # [1/rad] of joint limits
MAX_FIT_STEPS = 20  # of Gauss-Newton in a frame
FIT_TOLERANCE = 1e-7  # [rad, m] largest change in a step


@dataclass(frozen=True, eq=False)
class GroundPlan:
    """All points that may touch the ground, and where planted points belong. The points of the soles come first."""

    soles: tuple[Sole, ...]
    footing: FootPlan
    bodies: Ints  # (p,)
    locals: Array  # (p, 3) [m]
    radii: Array  # (p,) [m]
    pose_weights: Array  # (nv,) [1/m, 1/rad] of the captured pose
    stands: Flags  # (n, p) planted points
    places: Array  # (n, p, 3) where planted points belong [m]
    floor: float  # [m] height of the ground

    @property
    def sole_points(self) -> int:
        """The number of points that belong to soles."""
        return int(sum(len(sole.bodies) for sole in self.soles))


def plan_ground(
    character: Character, times: Array, poses: Array, contacts: Sequence[ContactWindow], floor: float,
    clearance: float = SWING_CLEARANCE,
) -> GroundPlan:  # fmt: skip
    """Returns where every planted point belongs, on a ground at height `floor` [m], and how feet go between.

    Feet in the air are lifted `clearance` [m] above the ground, for legs of 0.9 m.
    """
    at = anatomy_of(character)
    places, turns = body_frames(character, poses)
    places = places - np.array([0.0, 0.0, floor])
    markers = foot_markers(at)
    flags = flags_of(times, markers, contacts)
    feet = led_feet(at, markers, flags)
    soles = tuple(sole for sole, _ in feet)
    cuts, size = np.array([0, len(times)], np.int64), leg_length(at) / REFERENCE_LEG
    footing = plan_feet(soles, [stand for _, stand in feet], times, cuts, places, turns, leg_length(at), clearance)
    shapes = spheres_of(character)
    bodies = np.concatenate([*(s.bodies for s in soles), shapes.bodies]).astype(np.int64)
    count = footing.places.shape[1]
    wanted = np.zeros((len(times), len(bodies), 3))
    footing = replace(footing, places=lifted_steps(footing, soles, [s for _, s in feet], times, size))
    wanted[:, :count] = footing.places + np.array([0.0, 0.0, floor])
    stands = np.zeros(wanted.shape[:2], dtype=bool)
    stands[:, :count] = footing.stands
    return GroundPlan(
        soles=soles,
        footing=footing,
        bodies=bodies,
        locals=np.concatenate([*(s.locals for s in soles), shapes.places]),
        radii=np.concatenate([np.zeros(count), shapes.radii]),
        pose_weights=_pose_weights(character, poses, soles),
        stands=stands,
        places=wanted,
        floor=floor,
    )


def place_feet(
    character: Character, poses: Array, step: float, ground: GroundPlan, pause: Callable[[], None] = lambda: None
) -> Array:
    """Returns poses (n, nq), `step` [s] apart, with the soles at their planned places and nothing below the floor.

    `pause` is called now and then: it may raise, to stop the work.
    Each frame is fitted by itself. A leg that cannot reach its place pulls the root along for a moment, which needs a
    force. So the frames are fitted twice, the second time about the path of the pulled root, smoothed.
    """
    reference = poses.copy()
    wanted = ground.footing.places + np.array([0.0, 0.0, ground.floor])
    if not _has_free_root(character):
        return _fit(character, reference, ground, wanted)
    reference[:, :3] += ground.footing.shift
    pulled = character.difference(reference, _fit(character, reference, ground, wanted))[:, :6]
    pause()
    smoothed = np.zeros((len(poses), character.nv))
    smoothed[:, :6] = gaussian_filter1d(pulled, ROOT_SMOOTHING / step, axis=0, mode="nearest")
    return _fit(character, character.integrate(reference, smoothed), ground, wanted, SMOOTHED_ROOT_FACTOR)


def settle_feet(character: Character, times: Array, poses: Array, ground: GroundPlan) -> Array:
    """Returns poses (n, nq) with planted points exactly at their places; the rest of the body changes very little."""
    n, count = len(poses), ground.sole_points
    at, turns = body_frames(character, poses)
    bodies, local = ground.bodies[:count], ground.locals[:count]
    now = at[:, bodies] + spatial.rotate(turns[:, bodies], local)
    stands = ground.stands[:, :count]
    off = np.where(stands[:, :, None], ground.places[:, :count] - now, 0.0)
    for p in range(count):
        held = np.flatnonzero(stands[:, p])
        if len(held):
            after = np.clip(np.searchsorted(held, np.arange(n)), 0, len(held) - 1)
            before = np.maximum(after - 1, 0)
            nearer = np.abs(times[held[before]] - times) <= np.abs(times[held[after]] - times)
            nearest = held[np.where(nearer, before, after)]
            away = np.abs(times - times[nearest])
            off[:, p] = off[nearest, p] * (1.0 - ease(away / CORRECTION_FADE, "smooth"))[:, None]
    return _fit(character, poses, ground, now + off)


def _fit(character: Character, reference: Array, ground: GroundPlan, wanted: Array, root_factor: float = 1.0) -> Array:
    """Returns the poses (n, nq) fitted to `wanted` (n, sole points, 3), each starting from its reference."""
    n, count = len(reference), ground.sole_points
    free = _has_free_root(character)
    lowered = np.array(reference, order="C")  # the fit has its ground at z = 0
    if free:
        lowered[:, 2] -= ground.floor
    places = np.zeros((n, len(ground.bodies), 3))
    places[:, :count] = wanted - np.array([0.0, 0.0, ground.floor])
    weights = np.zeros((n, len(ground.bodies)))
    weights[:, :count] = SWING_WEIGHT + (STANCE_WEIGHT - SWING_WEIGHT) * ground.footing.firmness
    weights[:, :count][ground.stands[:, :count]] = STANCE_WEIGHT
    ground_weights = np.where(ground.radii > 0.0, 0.0, GROUND_WEIGHT)
    pose_weights = ground.pose_weights.copy()
    if free:
        pose_weights[:6] *= root_factor
    no_aims = (np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros((0, 2)))
    limits = character.limits
    made, _ = fit_frames(
        lowered, np.ones(n, np.int64), tree_of(character), dof_lists(character), no_aims, np.zeros((n, 0, 4)),
        (ground.bodies, ground.locals, ground_weights, np.zeros(len(ground.bodies))), places, weights, pose_weights,
        lowered,
        (limits.range_qpos, limits.range_dof, limits.range_low, limits.range_high),
        limits.ball_tables(np.arange(character.nv, dtype=np.int64)), (LIMIT_WEIGHT, 0.0),
        MAX_FIT_STEPS, FIT_TOLERANCE, 0.0,
    )  # fmt: skip
    out = np.asarray(made)
    if free:
        out[:, 2] += ground.floor
    return out


def _has_free_root(character: Character) -> bool:
    return bool(character.joints) and character.joints[0].kind == "free"


def _pose_weights(character: Character, poses: Array, soles: Sequence[Sole]) -> Array:
    """Returns the weights (nv,) of the captured pose [1/m, 1/rad]."""
    out = np.full(character.nv, TRUNK_WEIGHT)
    m = character.model
    legs = {int(b) for sole in soles for b in (*sole.leg, *sole.bodies)}
    for body in legs:
        start = int(m.body_dofadr[body])
        out[start : start + int(m.body_dofnum[body])] = LEG_WEIGHT
    if _has_free_root(character):
        out[:3], out[3:6] = ROOT_PLACE_WEIGHT, ROOT_TURN_WEIGHT
    out[_never_moving(character, poses)] = FIXED_WEIGHT
    return out


def _never_moving(character: Character, poses: Array) -> Flags:
    """Returns flags (nv,): degrees of freedom of joints that never move, which are only links of the skeleton."""
    start = np.repeat(poses[:1], len(poses), axis=0)
    ranges = np.abs(character.difference(start, poses)).max(axis=0)
    out = np.zeros(character.nv, dtype=bool)
    for joint in character.joints:
        if joint.dofs.start >= character.root_dofs.stop:
            out[joint.dofs] = ranges[joint.dofs].max() < MIN_JOINT_RANGE
    return out
