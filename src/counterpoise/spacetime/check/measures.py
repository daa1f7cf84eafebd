"""Measures of a motion frame by frame: skate, penetration, float, joint limits, strength, jerk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import median_filter

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kinematics import body_frames
from counterpoise.motion.contacts import runs
from counterpoise.spacetime.check.forces import Forces
from counterpoise.spacetime.check.frames import CheckedFrames
from counterpoise.spacetime.check.support import GroundSupport, narrowed
from counterpoise.spacetime.check.tuning import CheckTuning

MIN_LOAD = 0.3  # [body weights] a body that needs less may be in the air
EXPLAINED_RESIDUAL = 0.03  # [body weights] with a larger residual, joint torques are not reliable
SETTLED_HEIGHT = 0.002  # [m] above its median height in a contact; a higher point is arriving or leaving, ...
SETTLED_DEVIATIONS = 3.0  # ... unless it is within so many median deviations
OUTLIER_TIME = 0.1  # [s] width of the running median before leaps are measured: half as long is an outlier
NEGLIGIBLE_EXCESS = 1e-9  # [rad, m] beyond a limit


@dataclass(frozen=True)
class JointExcess:
    """How far a joint exceeds its limits [deg, or cm for slides], or the share of its strength that it needs."""

    joint: str
    worst: float
    time: float  # [s] of the worst frame
    frames: float  # share of the frames beyond the limit
    unit: str


@dataclass(frozen=True, eq=False)
class FrameMeasures:
    """All measures by frame; nan where a measure has no meaning (the skate of a foot in the air)."""

    times: Array  # (n,) [s]
    judged: Flags  # (n,) frames whose forces count: not the ends, where accelerations are not reliable
    skate: Array  # (n, feet) [m/s]
    penetration: Array  # (n,) [m] depth of the deepest point below the floor, or 0
    deepest: Ints  # (n,) the body of that point
    float: Array  # (n, feet) [m] height of a standing foot above the floor
    contact: Flags  # (n, feet) found standing
    flight: Flags  # (n,) without any contact
    carried: Flags  # (n,) carried by something that is not shown
    missing: Array  # (n, 6) residual [torque; force], in body weights x height and body weights
    violation: Array  # (n,) the length of that vector
    needed: Array  # (n, 6) the wrench that the motion needs, in the same units
    friction: Array  # (n,) horizontal over vertical force
    outside: Array  # (n,) [m] distance of the centre of pressure from the support area
    limit: Array  # (n,) [rad] excess of the worst joint over its limits
    torque: Array  # (n,) the largest share of a joint's strength
    torque_joint: Ints  # (n,) the number of that joint
    efforts: Array  # (n, joints) the share of its strength that each joint uses
    jerk: Array  # (n,) [m/s^3] rms over the segments
    jitter: Array  # (n,) [m] rms distance of the segments from the smoothed motion
    leap: Array  # (n,) [m/s^2] acceleration from frame to frame, rms over the body's mass

    @property
    def known(self) -> Flags:
        """Frames (n,) whose contacts explain the forces. In other frames the joint torques are not known."""
        return np.asarray(self.judged & (self.violation < EXPLAINED_RESIDUAL))


def measure_frames(
    frames: CheckedFrames, support: GroundSupport, forces: Forces, carried: Flags, tuning: CheckTuning
) -> FrameMeasures:
    """Returns all measures. Skate does not count within `tuning.blur` of the ends of a contact."""
    character = frames.character
    floats, skate = _float_and_skate(frames, support, forces, tuning)
    lowest = np.argmin(support.heights, axis=1) if support.heights.shape[1] else np.zeros(len(frames), np.int64)
    deep = np.maximum(-support.heights[np.arange(len(frames)), lowest], 0.0) if support.heights.size else _zeros(frames)
    owner = support.bodies[lowest] if len(support.bodies) else lowest
    jerk, jitter = _jerk_and_jitter(frames)
    share = np.stack(
        [np.abs(forces.torque[:, j.dofs]).max(axis=1, initial=0.0) for j in character.joints] or [_zeros(frames)]
    )
    limit = np.array([max(float(character.limits.values(q).max(initial=0.0)), 0.0) for q in frames.raw])
    standing = [support.planted[:, support.foot == k].any(axis=1) for k in range(len(support.feet))]
    contact = np.stack(standing, axis=1) if standing else np.zeros((len(frames), 0), dtype=bool)
    return FrameMeasures(
        times=frames.times,
        judged=frames.judged,
        skate=skate,
        penetration=deep,
        deepest=owner,
        float=floats,
        contact=contact,
        flight=np.asarray(~support.blurred.any(axis=1)),
        carried=carried,
        missing=forces.missing,
        violation=np.linalg.norm(forces.missing, axis=1),
        needed=forces.wrench,
        friction=forces.friction,
        outside=forces.outside,
        limit=limit,
        torque=share.max(axis=0),
        torque_joint=share.argmax(axis=0),
        efforts=share.T,
        jerk=jerk,
        jitter=jitter,
        leap=_leaps(frames),
    )


def _zeros(frames: CheckedFrames) -> Array:
    return np.zeros(len(frames))


def _float_and_skate(
    frames: CheckedFrames, support: GroundSupport, forces: Forces, tuning: CheckTuning
) -> tuple[Array, Array]:
    """Returns float and skate (n, feet) of planted points.

    If the body is carried but no foot stands still for long, the slowest foot near the ground counts as skating.
    """
    n, feet = len(frames), len(support.feet)
    floats, skate = np.full((n, feet), np.nan), np.full((n, feet), np.nan)
    for k in range(feet):
        mine = np.flatnonzero(support.foot == k)
        planted = support.planted[:, mine]
        stands = planted.any(axis=1)
        lowest = np.where(planted, support.heights[:, mine], np.inf).min(axis=1, initial=np.inf)
        floats[stands, k] = np.maximum(lowest[stands], 0.0)
        settled = [_settled(planted[:, p], support.heights[:, mine[p]]) for p in range(len(mine))]
        kept = np.stack([narrowed(flags, tuning.blur, frames.rate) for flags in settled], axis=1)
        some = kept.any(axis=1)
        total = np.where(kept, support.speeds[:, mine], 0.0).sum(axis=1)
        skate[some, k] = total[some] / kept[some].sum(axis=1)
    if not feet:
        return floats, skate
    low = support.bearing & (support.foot >= 0)
    sliding = ~support.planted.any(axis=1) & low.any(axis=1) & (forces.wrench[:, 5] > MIN_LOAD)
    for first, last in runs(sliding):
        if frames.times[last - 1] - frames.times[first] < tuning.shortest_slide:
            continue
        here = slice(first, last)
        each = np.full((last - first, feet), np.inf)
        for k in range(feet):
            mine = low[here] & (support.foot == k)
            count = mine.sum(axis=1)
            speed = np.where(mine, support.speeds[here], 0.0).sum(axis=1)
            each[count > 0, k] = speed[count > 0] / count[count > 0]
        slowest = each.argmin(axis=1)
        skate[np.arange(first, last), slowest] = each[np.arange(last - first), slowest]
    return floats, skate


def _settled(flags: Flags, heights: Array) -> Flags:
    """Returns the part of every contact in which the point is near its median height, not arriving or leaving."""
    out = flags.copy()
    for first, last in runs(flags):
        here = heights[first:last]
        usual = float(np.median(here))
        deviation = SETTLED_DEVIATIONS * float(np.median(np.abs(here - usual)))
        out[first:last] = here <= usual + max(SETTLED_HEIGHT, deviation)
    return out


def _jerk_and_jitter(frames: CheckedFrames) -> tuple[Array, Array]:
    """Returns rms third differences of the places of all segments, and their rms distance from the smoothed places."""
    n = len(frames)
    raw, _ = body_frames(frames.character, frames.raw)
    smooth, _ = body_frames(frames.character, frames.q)
    jitter = np.sqrt(np.mean(np.sum((raw - smooth)[:, 1:] ** 2, axis=-1), axis=1))
    jerk = np.zeros(n)
    if n >= 4:
        third = np.diff(raw[:, 1:], n=3, axis=0) * frames.rate**3
        jerk[1 : n - 2] = np.sqrt(np.mean(np.sum(third**2, axis=-1), axis=1))
    return jerk, jitter


def _leaps(frames: CheckedFrames) -> Array:
    """Returns second differences of the segments' places, rms over the body's mass, without short outliers.

    A capture may lose a limb for a few frames and find it again. A running median takes such outliers out; a pose that
    leaps and stays there remains.
    """
    out = _zeros(frames)
    if len(frames) >= 3:
        at, turns = body_frames(frames.character, frames.raw)
        mass = np.asarray(frames.character.model.body_mass)
        centres = at + spatial.rotate(turns, np.asarray(frames.character.model.body_ipos))
        for reach in (1, round(0.5 * OUTLIER_TIME * frames.rate)):  # near the ends only single frames are outliers
            if len(frames) > 2 * reach + 2:
                centres[reach:-reach] = median_filter(centres, size=(2 * reach + 1, 1, 1))[reach:-reach]
        second = np.diff(centres, n=2, axis=0) * frames.rate**2
        out[1:-1] = np.sqrt(np.sum(mass * np.sum(second**2, axis=-1), axis=1) / mass.sum())
    return out


def find_limits(frames: CheckedFrames) -> tuple[JointExcess, ...]:
    """Returns the joints beyond their limits, the worst first."""
    limits = frames.character.limits
    if not len(limits):
        return ()
    rows = np.array([limits.values(q) for q in frames.raw])
    owners = [name.rsplit(".", 1)[0] for name in limits.names]
    out = []
    for joint in frames.character.joints:
        mine = [k for k, owner in enumerate(owners) if owner == joint.name]
        excess = rows[:, mine].max(axis=1) if mine else _zeros(frames)
        if excess.max(initial=0.0) > NEGLIGIBLE_EXCESS:
            at = int(excess.argmax())
            unit, scale = ("cm", 100.0) if joint.kind == "slide" else ("deg", 180.0 / np.pi)
            over = float(np.mean(excess > NEGLIGIBLE_EXCESS))
            out.append(JointExcess(joint.name, scale * float(excess[at]), float(frames.times[at]), over, unit))
    return tuple(sorted(out, key=lambda e: -e.worst))


def find_strength(frames: CheckedFrames, forces: Forces, measured: FrameMeasures) -> tuple[JointExcess, ...]:
    """Returns the share of its strength that each joint needs in frames with known forces, the largest first."""
    judged = np.flatnonzero(measured.known)
    out = []
    for joint in frames.character.joints:
        share = np.abs(forces.torque[:, joint.dofs]).max(axis=1, initial=0.0)[judged]
        if share.size and share.max() > 0.0:
            at = int(share.argmax())
            over = float(np.mean(share > 1.0))
            out.append(JointExcess(joint.name, float(share[at]), float(frames.times[judged[at]]), over, "of strength"))
    return tuple(sorted(out, key=lambda e: -e.worst))
