"""A motion as somebody sees it who knows none of its contacts: forces from nowhere, and low feet that slide.

A check excuses much: feet have to be slow to press, what something unseen carries does not count, and only feet that
were found standing can skate. A fix must not hide behind that. Here every point near the ground may press, however fast
it is, and every part of a foot that is low and slow for a while should be at rest. Both are what a person would say
about a film of the motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import convolve1d

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.motion import Motion
from counterpoise.motion.contacts import REFERENCE_LEG, leg_length, runs
from counterpoise.spacetime.aggregate.kernels import aggregate_force_batch
from counterpoise.spacetime.aggregate.tables import link_tables
from counterpoise.spacetime.check.findings import Finding
from counterpoise.spacetime.check.forces import cone_edges, contact_components, wrench_units
from counterpoise.spacetime.check.frames import CheckedFrames, com_of, frames_of_motion, places_of
from counterpoise.spacetime.check.report import CheckReport
from counterpoise.spacetime.check.support import HELD, HeldBody, contact_points, widened
from counterpoise.spacetime.check.tuning import CheckTuning
from counterpoise.spacetime.fix.kernels import split_wrenches

NO_BARRIER = 1.0  # [body weights^2] at which the kernel takes a Hessian that is not used here


@dataclass(frozen=True)
class OutsideTuning:
    """What a person calls contact, and what is good enough; lengths and speeds are for legs of 0.9 m."""

    low: float = 0.02  # [m] above the ground
    slow: float = 0.3  # [m/s]
    shortest: float = 0.15  # [s] of a contact ...
    ends: float = 0.05  # [s] ... whose first and last moments, in which a foot arrives or leaves, do not count
    speed_time: float = 0.07  # [s] over which speeds are read
    force_time: float = 0.3  # [s] over which forces are averaged to tell where they are from nowhere
    max_nowhere: float = 2.0  # [% of body weight] rms of forces from nowhere
    max_sliding: float = 1.0  # [cm/s] rms of low, slow parts of feet


@dataclass(frozen=True, eq=False)
class OutsideView:
    """What somebody sees who knows no contacts."""

    missing: Array  # (n,) [body weights] what the ground cannot give of what a frame needs
    nowhere: Array  # (n,) [body weights] the same, averaged
    sliding: Array  # (n,) [m/s] the fastest part of a foot that a person would say stands
    findings: tuple[Finding, ...]  # "nowhere" and "sliding"


def ground_of(report: CheckReport) -> float:
    """Returns the height at which the feet of a motion stand, if they do near its floor [m]."""
    known = np.isfinite(report.resting) and abs(report.resting) < report.tuning.reach
    return report.floor + (report.resting if known else 0.0)


def see_from_outside(
    motion: Motion, ground: float, holds: Sequence[HeldBody], checks: CheckTuning, tuning: OutsideTuning | None = None
) -> OutsideView:
    """Returns what is seen in a motion on a `ground` [m]; `holds` may push and pull as in a check."""
    t = tuning or OutsideTuning()
    frames = frames_of_motion(motion, checks.smooth)
    missing = _missing(frames, ground, holds, checks, t.low)
    speeds, stands = _feet(frames, ground, t)
    wide = max(1, round(t.force_time * frames.rate))
    averaged = np.sqrt(convolve1d(missing**2, np.full(wide, 1.0 / wide), mode="nearest"))
    force = 100.0 * _rms(missing[frames.judged])
    slide = 100.0 * _rms(speeds[stands])
    sliding = np.where(stands, speeds, 0.0).max(axis=1, initial=0.0)
    return OutsideView(
        missing=missing,
        nowhere=averaged,
        sliding=sliding,
        findings=(
            _finding("nowhere", force, t.max_nowhere, "% of weight rms", frames.times, averaged),
            _finding("sliding", slide, t.max_sliding, "cm/s rms", frames.times, sliding),
        ),
    )


def _missing(frames: CheckedFrames, ground: float, holds: Sequence[HeldBody], checks: CheckTuning, low: float) -> Array:
    """Returns the wrench that no low point can supply (n,) [body weights, torques over the height]."""
    points = contact_points(frames.character, holds)
    places = points.places(frames.character, frames.q)
    press, held = places[:, :, 2] < ground + low, points.foot == HELD
    for k, hold in zip(np.flatnonzero(held), holds, strict=True):
        press[:, k] = (frames.times >= hold.start) & (frames.times <= hold.end)
    left, _ = split_needed(frames, places, widened(press, checks.blur, frames.rate), held, checks.friction)
    return np.asarray(np.linalg.norm(left, axis=1))


def split_needed(
    frames: CheckedFrames, places: Array, press: Flags, held: Flags, friction: float
) -> tuple[Array, Array]:
    """Returns what points which `press` (n, p) at `places` (n, p, 3) cannot give of the wrench needed (n, 6), and
    their forces (n, p, 3).

    In body weights, torques over the height; `held` (p,) points may pull too.
    """
    character, n = frames.character, len(frames)
    com, needed = com_of(character, frames.q), np.empty((n, 6))
    q, v, a = (np.ascontiguousarray(z) for z in (frames.q, frames.v, frames.a))
    aggregate_force_batch(link_tables(character), q, v, a, com, needed)
    left, hessian, force = np.empty((n, 6)), np.empty((n, 6, 6)), np.empty((n, places.shape[1], 3))
    split_wrenches(
        needed / wrench_units(character), com, np.ascontiguousarray(places), np.ascontiguousarray(press), held,
        cone_edges(friction), character.height, contact_components(character), NO_BARRIER, left, hessian, force,
    )  # fmt: skip
    return left, force


def _feet(frames: CheckedFrames, ground: float, t: OutsideTuning) -> tuple[Array, Flags]:
    """Returns horizontal speeds (n, points) of heels, joints and tips of toes [m/s], and when a person would say that
    they stand."""
    character = frames.character
    bodies, local, heights = _watched(character)
    wide = max(5, 2 * round(0.5 * t.speed_time * frames.rate) + 1)
    if len(frames) < wide or not len(bodies):
        return np.zeros((len(frames), 0)), np.zeros((len(frames), 0), dtype=bool)
    size = leg_length(anatomy_of(character)) / REFERENCE_LEG
    paths = places_of(character, frames.raw, bodies, local)
    from scipy.signal import savgol_filter  # imported here: it takes 0.4 s, and most verbs do without

    velocity = savgol_filter(paths, wide, 2, deriv=1, delta=1.0 / frames.rate, axis=0)
    near = paths[:, :, 2] - ground - heights < t.low * size
    near &= np.linalg.norm(velocity, axis=-1) < t.slow * size
    stands, cut = np.zeros_like(near), round(t.ends * frames.rate)
    for k in range(near.shape[1]):
        for first, last in runs(near[:, k]):
            if last - first >= t.shortest * frames.rate:
                stands[first + cut : last - cut, k] = True
    return np.asarray(np.linalg.norm(velocity[:, :, :2], axis=-1)), stands


def _watched(character: Character) -> tuple[Ints, Array, Array]:
    """Returns points of feet that a person watches, (p,), (p, 3) [m], and their heights in standing (p,) [m].

    Where a foot bends, the ball of its sole rolls about the joint of its toes: it is the joint that stays.
    """
    bodies: list[int] = []
    local: list[Array] = []
    for sole in contact_points(character, ()).soles:
        bends = bool(sole.toes.any())
        for k in np.flatnonzero(sole.heel | sole.toes if bends else np.ones(len(sole.bodies), dtype=bool)):
            bodies.append(int(sole.bodies[k]))
            local.append(np.asarray(sole.locals[k]))
        for toe in np.unique(sole.bodies[sole.toes]):
            bodies.append(int(toe))
            local.append(np.zeros(3))
    if not bodies:
        return np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0)
    chosen, points = np.array(bodies, np.int64), np.array(local)
    standing = places_of(character, character.neutral[None], chosen, points)[0, :, 2]
    return chosen, points, standing - float(standing.min())


def _finding(name: str, value: float, limit: float, unit: str, times: Array, by_frame: Array) -> Finding:
    at = int(by_frame.argmax()) if len(by_frame) else 0
    worst, when = (float(by_frame[at]), float(times[at])) if len(by_frame) else (0.0, float("nan"))
    return Finding(name, value, limit, unit, worst, when, when, "", f"{value:.2g} {unit}", bool(value <= limit))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0
