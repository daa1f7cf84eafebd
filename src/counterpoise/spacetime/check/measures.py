"""What can be measured of a motion frame by frame: skate, penetration, float, limits, strength, jerk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kinematics import body_frames
from counterpoise.motion.contacts import runs
from counterpoise.spacetime.check.forces import Forces
from counterpoise.spacetime.check.frames import Frames
from counterpoise.spacetime.check.support import Support, inner

SLIDING = 0.15  # [s] feet that carry for as long without ever standing still slide
CARRIED = 0.3  # body weights: a body that needs less may be in the air
KNOWN = 0.03  # body weights from nowhere, below which the joints' torques mean something
SETTLED = 0.002  # [m] a point so much above its usual height (or thrice its tremble) is coming or going


@dataclass(frozen=True)
class JointExcess:
    """How far a joint goes: past its limits [deg, or cm for slides], or into its strength (as a share)."""

    joint: str
    worst: float
    time: float  # [s] when it is worst
    frames: float  # share of the frames in which it is beyond
    unit: str


@dataclass(frozen=True, eq=False)
class FrameMeasures:
    """Everything by frame; nan where it has no meaning (the skate of a foot in the air)."""

    times: Array  # (n,) [s]
    judged: Flags  # (n,) frames whose forces count: not the very ends, where no acceleration is known
    skate: Array  # (n, feet) [m/s]
    penetration: Array  # (n,) [m] deepest point below the floor, 0 where none is
    deepest: Ints  # (n,) the body it belongs to
    float: Array  # (n, feet) [m] of a foot that stands, above the floor
    contact: Flags  # (n, feet) found standing
    flight: Flags  # (n,) without any contact
    carried: Flags  # (n,) carried by something that is not shown
    missing: Array  # (n, 6) [torque; force] the contacts cannot give, in body weights x height and body weights
    violation: Array  # (n,) its length
    needed: Array  # (n, 6) the wrench the motion needs, in the same units
    friction: Array  # (n,) horizontal over vertical force
    outside: Array  # (n,) [m] centre of pressure beyond the support area
    limit: Array  # (n,) [rad] the worst joint beyond its limits
    torque: Array  # (n,) the largest share of a joint's strength
    torque_joint: Ints  # (n,) which joint that is
    jerk: Array  # (n,) [m/s^3] rms over the segments
    jitter: Array  # (n,) [m] rms over the segments, from the smoothed motion

    @property
    def known(self) -> Flags:
        """Frames (n,) whose contacts explain the forces: elsewhere nobody can say what a joint has to give."""
        return np.asarray(self.judged & (self.violation < KNOWN))


def measure_frames(frames: Frames, support: Support, forces: Forces, carried: Flags, edge: float) -> FrameMeasures:
    """All of it; `edge` [s] at both ends of a contact is not held against it."""
    who = frames.character
    floats, skate = _feet(frames, support, forces, edge)
    lowest = np.argmin(support.heights, axis=1) if support.heights.shape[1] else np.zeros(len(frames), np.int64)
    deep = np.maximum(-support.heights[np.arange(len(frames)), lowest], 0.0) if support.heights.size else _zeros(frames)
    owner = support.bodies[lowest] if len(support.bodies) else lowest
    jerk, jitter = _unrest(frames)
    share = np.stack(
        [np.abs(forces.torque[:, j.dofs]).max(axis=1, initial=0.0) for j in who.joints] or [_zeros(frames)]
    )
    limit = np.array([max(float(who.limits.values(q).max(initial=0.0)), 0.0) for q in frames.raw])
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
        jerk=jerk,
        jitter=jitter,
    )


def _zeros(frames: Frames) -> Array:
    return np.zeros(len(frames))


def _feet(frames: Frames, support: Support, forces: Forces, edge: float) -> tuple[Array, Array]:
    """Float and skate (n, feet): of planted points; where nothing stands still though it must, of the slowest foot."""
    n, feet = len(frames), len(support.feet)
    floats, skate = np.full((n, feet), np.nan), np.full((n, feet), np.nan)
    for k in range(feet):
        mine = np.flatnonzero(support.foot == k)
        planted = support.planted[:, mine]
        stands = planted.any(axis=1)
        lowest = np.where(planted, support.heights[:, mine], np.inf).min(axis=1, initial=np.inf)
        floats[stands, k] = np.maximum(lowest[stands], 0.0)
        down = [_down(planted[:, p], support.heights[:, mine[p]]) for p in range(len(mine))]
        kept = np.stack([inner(flags, edge, frames.rate) for flags in down], axis=1)
        some = kept.any(axis=1)
        total = np.where(kept, support.speeds[:, mine], 0.0).sum(axis=1)
        skate[some, k] = total[some] / kept[some].sum(axis=1)
    if not feet:
        return floats, skate
    low = support.bearing & (support.foot >= 0)
    restless = ~support.planted.any(axis=1) & low.any(axis=1) & (forces.wrench[:, 5] > CARRIED)
    for first, last in runs(restless):
        if frames.times[last - 1] - frames.times[first] < SLIDING:
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


def _down(flags: Flags, heights: Array) -> Flags:
    """The part of every contact in which the point is about as low as it usually is there, not coming or going."""
    out = flags.copy()
    for first, last in runs(flags):
        here = heights[first:last]
        usual = float(np.median(here))
        out[first:last] = here <= usual + max(SETTLED, 3.0 * float(np.median(np.abs(here - usual))))
    return out


def _unrest(frames: Frames) -> tuple[Array, Array]:
    """Third differences of the raw places of all segments, and how far these lie from the smoothed ones."""
    n = len(frames)
    raw, _ = body_frames(frames.character, frames.raw)
    calm, _ = body_frames(frames.character, frames.q)
    jitter = np.sqrt(np.mean(np.sum((raw - calm)[:, 1:] ** 2, axis=-1), axis=1))
    jerk = np.zeros(n)
    if n >= 4:
        third = np.diff(raw[:, 1:], n=3, axis=0) * frames.rate**3
        jerk[1 : n - 2] = np.sqrt(np.mean(np.sum(third**2, axis=-1), axis=1))
    return jerk, jitter


def find_limits(frames: Frames) -> tuple[JointExcess, ...]:
    """Joints beyond their limits, the worst first."""
    who = frames.character
    limits = who.limits
    if not len(limits):
        return ()
    rows = np.array([limits.values(q) for q in frames.raw])
    owners = [name.rsplit(".", 1)[0] for name in limits.names]
    out = []
    for joint in who.joints:
        mine = [k for k, owner in enumerate(owners) if owner == joint.name]
        excess = rows[:, mine].max(axis=1) if mine else _zeros(frames)
        if excess.max(initial=0.0) > 1e-9:
            at = int(excess.argmax())
            unit, scale = ("cm", 100.0) if joint.kind == "slide" else ("deg", 180.0 / np.pi)
            over = float(np.mean(excess > 1e-9))
            out.append(JointExcess(joint.name, scale * float(excess[at]), float(frames.times[at]), over, unit))
    return tuple(sorted(out, key=lambda e: -e.worst))


def find_demand(frames: Frames, forces: Forces, measured: FrameMeasures) -> tuple[JointExcess, ...]:
    """The share of its strength each joint needs at most, the most strained first, where forces are known."""
    judged = np.flatnonzero(measured.known)
    out = []
    for joint in frames.character.joints:
        share = np.abs(forces.torque[:, joint.dofs]).max(axis=1, initial=0.0)[judged]
        if share.size and share.max() > 0.0:
            at = int(share.argmax())
            over = float(np.mean(share > 1.0))
            out.append(JointExcess(joint.name, float(share[at]), float(frames.times[judged[at]]), over, "of strength"))
    return tuple(sorted(out, key=lambda e: -e.worst))
