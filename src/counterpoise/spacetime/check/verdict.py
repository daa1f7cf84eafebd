"""The verdict of a check in a few sentences, with hints on how to read the findings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.motion.files.axes import POSSIBLE_HEIGHT
from counterpoise.spacetime.check.findings import PHYSICS, Finding, when
from counterpoise.spacetime.check.flight import CarriedStretch
from counterpoise.spacetime.check.frames import CheckedFrames, com_of
from counterpoise.spacetime.check.measures import FrameMeasures
from counterpoise.spacetime.check.support import GroundSupport
from counterpoise.spacetime.check.tuning import CheckTuning

MIN_FRAMES = 6  # fewer say nothing about forces or skate
NO_MOVEMENT = 1e-4  # [m, rad] a motion with smaller changes does not move
MIN_HEIGHT, MAX_HEIGHT = 0.15, 4.0  # [m] other characters most likely have wrong units; for files see POSSIBLE_HEIGHT
MIN_CLIMB = 0.03  # [m] that feet climb on a floor that is called tilted, ...
MIN_CLIMB_DISTANCE = 1.0  # [m] ... over at least this distance, ...
MAX_UNEXPLAINED = 0.3  # ... with at most this share of the variance of heights left
MIN_TILT_HEIGHTS = 10  # heights of standing feet
UPSIDE_DOWN = 0.3  # [body heights] from the feet down to the head, ...
UPSIDE_DOWN_SHARE = 0.9  # ... in more than this share of the frames


def verdict_of(character: Character, findings: Sequence[Finding], hints: Sequence[str], measured: FrameMeasures) -> str:
    """Returns a few sentences that a person can act on: whether it is possible, whether it is clean, and why not."""
    impossible = sorted((f for f in findings if f.physics and not f.ok), key=lambda f: PHYSICS.index(f.name))
    unclean = [f for f in findings if not f.physics and not f.ok]
    good = [f.name for f in findings if f.ok]
    assumed = f"Assumed: {character.height:.2f} m tall, {character.mass:.3g} kg."
    if len(measured.times) < MIN_FRAMES and not impossible and not unclean:
        return " ".join(["No violation was found.", assumed, *hints])
    if impossible:
        said = [f"Not physically possible: {_joined(impossible)}."]
        said += [f"Not clean: {_joined(unclean)}."] if unclean else []
    elif unclean:
        said = [f"Possible, but not clean: {_joined(unclean)}."]
    else:
        by_name = {f.name: f for f in findings}
        parts = [f"feet skate {by_name['skate'].value:.1f} cm/s"] if np.isfinite(measured.skate).any() else []
        parts.append(f"residual force {by_name['force'].value:.1f}% of body weight")
        return " ".join([f"Physically possible and clean ({', '.join(parts)}).", assumed, *hints])
    said += [f"Within tolerance: {', '.join(good)}."] if good else []
    return " ".join([*said, assumed, *hints])


def _joined(findings: Sequence[Finding]) -> str:
    return "; ".join(f.text for f in findings)


def hints_of(
    frames: CheckedFrames,
    support: GroundSupport,
    findings: Sequence[Finding],
    leaning: CarriedStretch | None,
    tuning: CheckTuning,
    from_file: bool,
) -> list[str]:
    """Returns hints about wrong units, a wrong vertical axis, another floor, something held, or too few frames.

    A skeleton that comes from a file is doubted where it is not as tall as a person.
    """
    character, bad = frames.character, [f.name for f in findings if not f.ok]
    out = []
    low, high = POSSIBLE_HEIGHT if from_file else (MIN_HEIGHT, MAX_HEIGHT)
    if not low <= character.height <= high:
        size = f"The character is {character.height:.3g} m tall and weighs {character.mass:.3g} kg"
        usual = f"persons are {low:g} to {high:g} m tall. " if from_file else ""
        out.append(f"{size}: {usual}If that is wrong, give the file's units (--units cm, --units cmu, ...).")
    if bad and _upside_down(frames):
        out.append("It is upside down nearly all the time: if that is wrong, say which axis points up (--up).")
    elif bad and float(np.median(com_of(character, frames.raw)[:, 2])) < support.floor:
        out.append("Most of it is below the floor: set the floor (--floor fit) or the axis that points up (--up).")
    if len(frames) < MIN_FRAMES:
        counted = f"{len(frames)} frame{'s are' if len(frames) > 1 else ' is'}"
        out.append(f"{counted} too few to judge forces, skate or jerk.")
        return out
    if float(np.ptp(frames.raw, axis=0).max(initial=0.0)) < NO_MOVEMENT:
        out.append(f"It does not move: one pose for {frames.times[-1] - frames.times[0]:.2g} s.")
    off = 100.0 * support.resting
    if character.feet and not support.contacts:
        out.append("No foot was found standing.")
    elif abs(off) > min(tuning.max_float, tuning.max_penetration) and tuning.floor != "fit":
        side = "above" if off > 0.0 else "below"
        usual = f"Its feet usually stand {abs(off):.1f} cm {side} the floor"
        out.append(f"{usual}: if the ground is there, set floor='fit' (--floor fit).")
    if "float" in bad or "penetration" in bad:
        out += _tilted_floor(support)
    if leaning is not None and ("force" in bad or "lean" in bad):
        example = f", such as {leaning.hold_options}" if leaning.bodies else ""
        stretch = when((1.0, leaning.start, leaning.end))
        out.append(
            f"If it sits, leans or holds on to something that is not shown {stretch}, name the body that does "
            f"(--hold BODY@START+DURATION{example})."
        )
    return out


def _tilted_floor(support: GroundSupport) -> list[str]:
    """Returns a hint if a tilted plane fits the places where feet stand."""
    flags = support.planted
    heights = support.heights[flags]
    if len(heights) < MIN_TILT_HEIGHTS:
        return []
    at = support.places[flags][:, :2]
    at = at - at.mean(axis=0)
    slope = np.linalg.lstsq(at, heights - heights.mean(), rcond=None)[0]
    climb, left = at @ slope, heights - heights.mean() - at @ slope
    distance = float(np.ptp(climb) / max(float(np.linalg.norm(slope)), 1e-9))
    steep = np.ptp(climb) >= MIN_CLIMB and distance >= MIN_CLIMB_DISTANCE
    if not steep or left.var() > MAX_UNEXPLAINED * heights.var():
        return []
    return [
        f"Its floor seems to be tilted by {np.degrees(np.arctan(np.linalg.norm(slope))):.1f} deg: the feet climb "
        f"{100.0 * np.ptp(climb):.0f} cm over {distance:.1f} m."
    ]


def _upside_down(frames: CheckedFrames) -> bool:
    """Returns whether the head is far below the feet in nearly all frames."""
    character = frames.character
    limbs = anatomy_of(character).limbs
    feet = [bodies[0] for limb, bodies in limbs.items() if limb.startswith("foot")]
    if not feet or "head" not in limbs:
        return False
    at, _ = body_frames(character, frames.raw)
    lower = at[:, limbs["head"][-1], 2] < at[:, feet, 2].mean(axis=1) - UPSIDE_DOWN * character.height
    return bool(lower.mean() > UPSIDE_DOWN_SHARE)
