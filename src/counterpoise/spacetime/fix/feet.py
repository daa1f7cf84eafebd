"""Feet first: leaps of the capture bridged, and every planted foot put still, flat and level on the ground.

Forces are read from a motion whose feet stand where they stand. So before any physics each frame is fitted anew, alone:

    minimise  sum_i w_i^2 |p_i(q) - p_i*|^2  +  sum_j u_j^2 (q - q_ref)_j^2,

with the sole points p_i where the footing wants them (`motion._footing`: an anchor for each stance, in between the
smoothest way that leans on the captured one), points below the ground pushed out, and the captured pose, its root moved
along with the feet, as q_ref.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames, dof_lists, tree_of
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow, flags_of, foot_markers, leg_length, runs
from counterpoise.motion.curves import ease
from counterpoise.motion.retarget.fit import fit_frames
from counterpoise.motion.retarget.foot_plan import FootPlan, plan_feet
from counterpoise.motion.retarget.soles import Sole, led_feet
from counterpoise.spacetime.check.frames import witnesses_of

LEAP = 30000.0  # [m/s^3] rms jerk of all segments that no body has
APART = 0.15  # [s] leaps nearer than this are one: away and back
LONGEST = 0.2  # [s] what leaps for longer cannot be bridged
BESIDE = 2  # frames before and after a leap that are not believed either
STANCE, SWING, GROUND = 400.0, 25.0, 400.0  # [1/m] a foot that stands, one that swings, what must not sink
PLACE, TURN, TRUNK, LEG = 300.0, 100.0, 20.0, 8.0  # [1/m, 1/rad] what root, trunk and arms, and legs lean on
FIXED = 1e4  # [1/rad] ... and joints that never move
STIFF = 1e-4  # [rad, m] a joint that never moves further does not move at all
SMOOTHLY, ROOTED = 0.05, 8.0  # [s] width of the Gaussian the root's way is smoothed by, and how firmly it then holds
FADE = 0.06  # [s] in which a small correction of a planted foot fades once it has left
STEPS = 20  # most Gauss-Newton steps a frame


@dataclass(frozen=True, eq=False)
class Ground:
    """All points that may meet the ground, as the fits want them: the soles' first, then those of other shapes."""

    soles: tuple[Sole, ...]
    footing: FootPlan
    bodies: Ints  # (p,)
    locals: Array  # (p, 3) [m]
    radii: Array  # (p,) [m]
    ties: Array  # (nv,) how much each degree of freedom leans on the pose it comes from
    stands: Flags  # (n, p) planted points
    places: Array  # (n, p, 3) where planted points belong [m]

    @property
    def count(self) -> int:
        """How many of the points are soles'."""
        return int(sum(len(sole.bodies) for sole in self.soles))


def find_leaps(motion: Motion) -> list[tuple[int, int]]:
    """(first, one past the last) frame of every stretch in which the capture leaps as no body can."""
    n = len(motion)
    if n < 8:
        return []
    places, _ = body_frames(motion.character, motion.poses)
    third = np.diff(places[:, 1:], n=3, axis=0) * motion.rate**3
    jerk = np.zeros(n)
    jerk[1 : n - 2] = np.sqrt(np.mean(np.sum(third**2, axis=-1), axis=1))
    wild = jerk > max(LEAP * motion.character.height / 1.7, 5.0 * float(np.percentile(jerk, 75.0)))
    found = [(max(first - BESIDE + 1, 0), min(last + BESIDE + 1, n)) for first, last in runs(wild)]
    merged: list[tuple[int, int]] = []
    for first, last in found:
        if merged and first - merged[-1][1] < APART * motion.rate:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return [(first, last) for first, last in merged if last - first <= LONGEST * motion.rate]


def bridge_leaps(motion: Motion, leaps: Sequence[tuple[int, int]]) -> Array:
    """Poses (n, nq) in which leaps are replaced by the smooth curve through the frames around them."""
    good = np.ones(len(motion), dtype=bool)
    for first, last in leaps:
        good[max(first, 1) : min(last, len(motion) - 1)] = False
    if good.all():
        return np.array(motion.poses)
    kept = replace(motion, times=motion.times[good], poses=motion.poses[good], loop=False, travel=False)
    poses = np.array(motion.poses)
    poses[~good] = kept.sample(motion.times[~good]).q
    return poses


def plan_ground(
    who: Character,
    times: Array,
    poses: Array,
    contacts: Sequence[ContactWindow],
    floor: float,
    skip: Sequence[int] = (),
) -> Ground:
    """Where every planted point belongs, in a world whose ground is z = floor."""
    at = anatomy_of(who)
    places, turns = body_frames(who, poses)
    places = places - np.array([0.0, 0.0, floor])
    markers = foot_markers(at)
    flags = flags_of(times, markers, contacts)
    feet = led_feet(at, markers, flags)
    soles = tuple(sole for sole, _ in feet)
    cuts = np.array([0, len(times)], np.int64)
    footing = plan_feet(soles, [stand for _, stand in feet], times, cuts, places, turns, leg_length(at))
    shapes = witnesses_of(who)
    bodies = np.concatenate([*(s.bodies for s in soles), shapes.bodies]).astype(np.int64)
    local = np.concatenate([*(s.locals for s in soles), shapes.places])
    count = footing.places.shape[1]
    radii = np.concatenate([np.zeros(count), shapes.radii])
    wanted = np.zeros((len(times), len(bodies), 3))
    wanted[:, :count] = footing.places + np.array([0.0, 0.0, floor])
    stands = np.zeros(wanted.shape[:2], dtype=bool)
    stands[:, :count] = footing.stands
    return Ground(soles, footing, bodies, local, radii, _ties(who, poses, soles), stands, wanted)


def put_feet(who: Character, poses: Array, step: float, ground: Ground, floor: float) -> Array:
    """Poses (n, nq) with the soles where the footing wants them, the root moved along, and nothing below the floor.

    Frames are fitted alone, and a leg that cannot reach drags the root along for a moment: a force nobody asked for. So
    they are fitted twice, the second time about a root that goes where it was dragged, but smoothly (`step` [s] apart).
    """
    reference = poses.copy()
    wanted = ground.footing.places + np.array([0.0, 0.0, floor])
    if not (who.joints and who.joints[0].kind == "free"):
        return _fit(who, reference, ground, wanted, floor)
    reference[:, :3] += ground.footing.shift
    dragged = who.difference(reference, _fit(who, reference, ground, wanted, floor))[:, :6]
    gentle = np.zeros((len(poses), who.nv))
    gentle[:, :6] = gaussian_filter1d(dragged, SMOOTHLY / step, axis=0, mode="nearest")
    return _fit(who, who.integrate(reference, gentle), ground, wanted, floor, ROOTED)


def settle_feet(who: Character, times: Array, poses: Array, ground: Ground, floor: float) -> Array:
    """Poses (n, nq) whose planted points are back on their places to the hair; what else they do hardly changes."""
    n, count = len(poses), ground.count
    at, turns = body_frames(who, poses)
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
            last = held[np.where(nearer, before, after)]
            off[:, p] = off[last, p] * (1.0 - ease(np.abs(times - times[last]) / FADE, "smooth"))[:, None]
    return _fit(who, poses, ground, now + off, floor)


def _fit(who: Character, reference: Array, ground: Ground, wanted: Array, floor: float, rooted: float = 1.0) -> Array:
    n, count = len(reference), ground.count
    tree, above = tree_of(who), dof_lists(who)
    free = bool(who.joints) and who.joints[0].kind == "free"
    leaned = np.array(reference, order="C")
    if free:
        leaned[:, 2] -= floor
    places = np.zeros((n, len(ground.bodies), 3))
    places[:, :count] = wanted - np.array([0.0, 0.0, floor])
    pulls = np.zeros((n, len(ground.bodies)))
    pulls[:, :count] = SWING + (STANCE - SWING) * ground.footing.firmness
    pulls[:, :count][ground.stands[:, :count]] = STANCE
    floors = np.where(ground.radii > 0.0, 0.0, GROUND)
    ties = ground.ties.copy()
    if free:
        ties[:6] *= rooted
    aims = (np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros((0, 2)))
    limits = who.limits
    every = np.arange(who.nv, dtype=np.int64)
    made, _ = fit_frames(
        leaned, np.ones(n, np.int64), tree, above, aims, np.zeros((n, 0, 4)),
        (ground.bodies, ground.locals, floors), places, pulls, ties, leaned,
        (limits.range_qpos, limits.range_dof, limits.range_low, limits.range_high),
        limits.ball_tables(every), (100.0, 0.0), STEPS, 1e-7, 0.0,
    )  # fmt: skip
    out = np.asarray(made)
    if free:
        out[:, 2] += floor
    return out


def never_moving(who: Character, poses: Array) -> Flags:
    """Degrees of freedom (nv,) of joints that never move: links of the skeleton, no joints of the body."""
    moves = np.abs(who.difference(np.repeat(poses[:1], len(poses), axis=0), poses)).max(axis=0)
    out = np.zeros(who.nv, dtype=bool)
    for joint in who.joints:
        if joint.dofs.start >= who.root_dofs.stop:
            out[joint.dofs] = moves[joint.dofs].max() < STIFF
    return out


def _ties(who: Character, poses: Array, soles: Sequence[Sole]) -> Array:
    """How much each degree of freedom leans on the captured pose (nv,)."""
    tie = np.full(who.nv, TRUNK)
    m = who.model
    legs = {int(b) for sole in soles for b in (*sole.leg, *sole.bodies)}
    for body in legs:
        start = int(m.body_dofadr[body])
        tie[start : start + int(m.body_dofnum[body])] = LEG
    if who.joints and who.joints[0].kind == "free":
        tie[:3], tie[3:6] = PLACE, TURN
    tie[never_moving(who, poses)] = FIXED
    return tie
