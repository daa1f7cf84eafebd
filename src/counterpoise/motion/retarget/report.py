"""The report of a retargeting: what was mapped, what was left out, and how large the remaining errors are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import body_frames
from counterpoise.motion.contacts import ContactWindow, runs
from counterpoise.motion.retarget.foot_plan import FootPlan
from counterpoise.motion.retarget.links import Pairing
from counterpoise.motion.retarget.soles import Sole

SPEED_MARGIN = 1.0  # [rad/s] added to the source's joint speed before speeds are compared
NEAR_LIMIT = 0.005  # [rad, m] a joint this near its limit counts as at the limit


@dataclass(frozen=True, eq=False)
class Retargeted:
    """All that the report is computed from."""

    pairing: Pairing
    times: Array
    cuts: Ints
    poses: Array
    wanted: Array  # (n, links, 4) rotations that were asked for
    captured: Array  # (n, links, 4) rotations as the source has them
    soles: Sequence[Sole]
    plan: FootPlan
    windows: Sequence[ContactWindow]
    scale: float
    floor: float
    kept: slice


@dataclass(frozen=True)
class RetargetReport:
    """What a retargeting did; `str(report)` is a table."""

    source: str
    target: str
    how: tuple[str, str]  # what the limbs of source and target were found by: names, shape or both
    mapped: Mapping[str, str]  # target body -> what it follows
    idle: tuple[str, ...]  # bodies of the target that follow nothing
    unused: tuple[str, ...]  # bodies of the source that nothing follows
    scale: float
    floor: float  # [m] height of the source's ground
    contacts: tuple[ContactWindow, ...]
    directions: Mapping[str, tuple[float, float]]  # limb -> median and 95th percentile of its bones' errors [deg]
    slip: Mapping[str, float]  # foot -> largest movement of a standing point during its contact [m]
    height: Mapping[str, float]  # foot -> largest distance of a standing point from the ground [m]
    lowest: float  # [m] height of the lowest contact point of all frames; 0 without feet
    clamped: Mapping[str, float]  # joint -> share of frames in which it is at a limit
    speed: tuple[str, float]  # the body whose peak speed over its source's is largest, and this ratio
    frames: int

    def __str__(self) -> str:
        lines = [
            f"{self.source} -> {self.target}: {self.frames} frames, scale {self.scale:.3f}, floor {self.floor:+.3f} m "
            f"(limbs of the source by {self.how[0]}, of the target by {self.how[1]})",
            f"{'body':18s} follows",
        ]
        lines += [f"  {body:16s} {lead}" for body, lead in self.mapped.items()]
        lines.append(f"  at rest: {', '.join(self.idle) or 'nothing'}")
        lines.append(f"  not used: {', '.join(self.unused) or 'nothing'}")
        lines.append(f"{'limb':18s} direction error [deg]: median, 95 %")
        lines += [f"  {limb:16s} {median:5.1f} {most:5.1f}" for limb, (median, most) in self.directions.items()]
        lines.append(f"{'foot':18s} contacts, slip [mm], off the ground [mm]")
        for foot in self.slip:
            count = sum(w.foot == foot for w in self.contacts)
            lines.append(f"  {foot:16s} {count:4d} {1e3 * self.slip[foot]:6.2f} {1e3 * self.height[foot]:6.2f}")
        lines.append(f"lowest contact point {1e3 * self.lowest:.2f} mm")
        held = sorted(self.clamped.items(), key=lambda kv: -kv[1])[:6]
        shown = ", ".join(f"{joint} {100 * share:.0f} %" for joint, share in held) or "none"
        lines.append(f"joints at a limit: {shown}")
        lines.append(f"peak joint speed over the source's: {self.speed[1]:.2f} ({self.speed[0] or 'no joint'})")
        return "\n".join(lines)


def report_of(given: Retargeted) -> RetargetReport:
    """Returns the report of a retargeting."""
    pairing = given.pairing
    source, target = pairing.source, pairing.target
    mapped = {}
    for link in pairing.links:
        first, second = (source.names[b] for b in link.sources)
        lead = first if link.share == 0.0 else f"{first} + {100 * link.share:.0f} % to {second}"
        if link.mode in ("span", "wing"):
            lead = f"{source.names[link.span[0]]} to {source.names[link.span[1]]}"
        mapped[target.names[link.body]] = lead
    for point in pairing.reached:
        for body in target.limbs[point.limb]:
            mapped[target.names[body]] = f"{source.names[point.source_hip]} to {source.names[point.source_ankle]} (end)"
    places, turns = body_frames(target.character, given.poses)
    slip, height, lowest = _feet(given, places, turns)
    return RetargetReport(
        source=source.character.name,
        target=target.character.name,
        how=(source.how, target.how),
        mapped=mapped,
        idle=pairing.idle,
        unused=pairing.unused,
        scale=given.scale,
        floor=given.floor,
        contacts=tuple(given.windows),
        directions=_directions(given, turns),
        slip=slip,
        height=height,
        lowest=lowest,
        clamped=_clamped(given),
        speed=_speed(given, turns),
        frames=len(given.times[given.kept]),
    )


def _directions(given: Retargeted, turns: Array) -> dict[str, tuple[float, float]]:
    """Returns median and 95th percentile of the errors of bones, by limb [deg]."""
    errors: dict[str, list[Array]] = {}
    for k, link in enumerate(given.pairing.links):
        bone, asked = spatial.rotate(turns[:, link.body], link.axis), spatial.rotate(given.wanted[:, k], link.axis)
        cross = np.linalg.norm(np.cross(bone, asked), axis=-1)
        angle = np.degrees(np.arctan2(cross, np.sum(bone * asked, axis=-1)))
        errors.setdefault(link.limb, []).append(angle)
    return {limb: (float(np.median(each)), float(np.percentile(each, 95.0))) for limb, each in sorted(errors.items())}


def _feet(given: Retargeted, places: Array, turns: Array) -> tuple[dict[str, float], dict[str, float], float]:
    """Returns slip and distance from the ground by foot, and the height of the lowest contact point [m]."""
    slip, height, lowest, at = {}, {}, np.inf, 0
    for sole in given.soles:
        points = places[:, sole.bodies] + spatial.rotate(turns[:, sole.bodies], sole.locals)
        lowest = min(lowest, float(points[..., 2].min()))
        stands = given.plan.stands[:, at : at + len(sole.bodies)]
        at += len(sole.bodies)
        far, off = 0.0, 0.0
        for p in range(len(sole.bodies)):
            for first, last in runs(stands[:, p]):
                here = points[first:last, p]
                far = max(far, float(np.linalg.norm(np.ptp(here[:, :2], axis=0))))
                off = max(off, float(np.abs(here[:, 2]).max()))
        slip[sole.limb], height[sole.limb] = far, off
    return slip, height, lowest if np.isfinite(lowest) else 0.0


def _clamped(given: Retargeted) -> dict[str, float]:
    """Returns the share of frames in which a joint is at a limit, by joint."""
    limits = given.pairing.target.character.limits
    if len(limits) == 0:
        return {}
    near = np.array([limits.values(q) for q in given.poses]) > -NEAR_LIMIT
    joints = [name.rsplit(".", 1)[0] for name in limits.names]
    out = {}
    for joint in dict.fromkeys(joints):
        rows = [i for i, name in enumerate(joints) if name == joint]
        share = float(near[:, rows].any(axis=1).mean())
        if share > 0.0:
            out[joint] = share
    return out


def _speed(given: Retargeted, turns: Array) -> tuple[str, float]:
    """Returns the body with the largest peak speed over its source's (plus SPEED_MARGIN), without the cuts."""
    target = given.pairing.target
    index = {link.body: k for k, link in enumerate(given.pairing.links)}
    dt = np.diff(given.times)
    fine = np.ones(len(dt), dtype=bool)
    fine[given.cuts[1:-1] - 1] = False
    worst = ("", 0.0)
    if not fine.any():
        return worst
    for body, k in index.items():
        up = next((b for b in target.path(body)[1:] if b in index), None)
        if up is None:
            continue
        ours = _rate(spatial.multiply(spatial.conjugate(turns[:, up]), turns[:, body]), dt)[fine]
        theirs = _rate(spatial.multiply(spatial.conjugate(given.captured[:, index[up]]), given.captured[:, k]), dt)[
            fine
        ]
        ratio = float(ours.max() / (theirs.max() + SPEED_MARGIN))
        if ratio > worst[1]:
            worst = (target.names[body], ratio)
    return worst


def _rate(turns: Array, dt: Array) -> Array:
    return np.linalg.norm(spatial.difference(turns[:-1], turns[1:]), axis=-1) / dt
