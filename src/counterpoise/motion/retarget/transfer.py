"""Retargeting: the movement of one figure on another.

    motion = cp.read_motion("squats.bvh")
    squat = cp.retarget(motion, cp.character("child"))

Directions and twists of limbs are kept, hips and feet go to places scaled by the length of the legs, feet that stood
stand still and flat on the ground, and the target's joint limits hold. The whole clip is fitted three times (`refit`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import pairwise
from typing import Literal, ParamSpec

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.character.anatomy import Anatomy, anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.errors import BadValue
from counterpoise.motion.contacts import (
    ContactTuning,
    ContactWindow,
    FootMarker,
    contact_flags,
    flags_of,
    foot_markers,
    leg_length,
    marker_paths,
    windows_of,
)
from counterpoise.motion.motion import Motion
from counterpoise.motion.poses import layout_of
from counterpoise.motion.retarget.links import Pairing
from counterpoise.motion.retarget.mapping import pair
from counterpoise.motion.retarget.refit import Refit, RetargetTuning
from counterpoise.motion.retarget.report import Retargeted, RetargetReport, report_of

P = ParamSpec("P")
Contacts = Literal["detect"] | Sequence[ContactWindow] | None
MAX_STEP_RATIO = 1.5  # longest over shortest time step; above it a motion is resampled evenly
LOOP_PADDING = 1.0  # [s] of the neighbouring cycles that a loop is fitted with
LOOP_BLEND = 0.2  # [s] at most, in which a loop's end leads over to its start
CUT_SPEED = 15.0  # [1/s] sizes of the figure: where half the bodies are faster, the clip is cut ...
CUT_TURN_RATE = 40.0  # [rad/s] ... or turn faster


def retarget_with_report(
    motion: Motion,
    character: Character,
    *,
    mapping: Mapping[str, str | None] | None = None,
    floor: Literal["fit"] | float | None = "fit",
    contacts: Contacts = "detect",
    scale: float | None = None,
    rate: float | None = None,
    spare: Literal["rest", "follow"] = "rest",
    tuning: RetargetTuning | None = None,
    contact_tuning: ContactTuning | None = None,
) -> tuple[Motion, RetargetReport]:
    """Transfers a movement to another character: `retarget` returns the motion, `retarget_with_report` also a report.

    `mapping` (target body or joint -> source body or joint, or None to leave it at rest) overrides the guess. `floor`
    is fitted to the feet, a height [m], or None for z = 0. `contacts` are detected, given (`ContactWindow`s), or None.
    `scale` multiplies hip height and travel (None: the ratio of leg lengths). `rate` [1/s] is that of the result.
    `spare` arms rest, or follow the first pair.
    """
    tuning = tuning or RetargetTuning()
    _check(motion, character, mapping, floor, contacts, scale, rate, spare)
    source, target = anatomy_of(motion.character), anatomy_of(character)
    times, poses, kept = _frames(motion, rate)
    pairing = pair(source, target, mapping, spare)
    places, turns = body_frames(motion.character, poses)
    cuts = _cuts(times, places, turns, source)
    markers = foot_markers(source)
    flags, ground = _contacts(times, markers, places, turns, source, cuts, contacts, floor, contact_tuning)
    size = _scale(pairing) if scale is None else float(scale)
    work = Refit(pairing, times, cuts, places, turns, markers, flags, ground, size, tuning)
    made, plan = work.run()
    windows = windows_of(times, markers, flags)
    report = report_of(
        Retargeted(
            pairing, times, cuts, made, work.wanted, work.captured, work.soles, plan, windows, size, ground, kept
        )
    )
    return _as_motion(motion, character, times, made, kept), report


def _without_report(reported: Callable[P, tuple[Motion, RetargetReport]]) -> Callable[P, Motion]:
    """Returns the function with the same arguments that returns the motion only."""

    @wraps(reported)
    def retarget(*arguments: P.args, **options: P.kwargs) -> Motion:
        return reported(*arguments, **options)[0]

    retarget.__name__ = retarget.__qualname__ = "retarget"
    retarget.__signature__ = inspect.signature(reported).replace(return_annotation="Motion")  # type: ignore[attr-defined]
    return retarget


retarget = _without_report(retarget_with_report)


# --------------------------------------------------------------------------------------------------- preparation


def _check(
    motion: object, character: object, mapping: object, floor: object, contacts: object, scale: object, rate: object,
    spare: object,
) -> None:  # fmt: skip
    if not isinstance(motion, Motion):
        raise BadValue(f"retarget takes a Motion (cp.read_motion reads one from a file); got {type(motion).__name__}")
    if not isinstance(character, Character):
        raise BadValue(f"retarget goes to a Character, e.g. cp.character('human'); got {type(character).__name__}")
    if character.nv == 0 or character.model.nbody < 2:
        raise BadValue(f"{character.name!r} has no joints: there is nothing to move")
    if mapping is not None and not isinstance(mapping, Mapping):
        raise BadValue(f"a mapping goes from target names to source names (or None); got {type(mapping).__name__}")
    for what, value in (("scale", scale), ("rate", rate)):
        good = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value) and value > 0.0
        if value is not None and not good:
            raise BadValue(f"{what} is a positive number or None; got {value!r}")
    fits = isinstance(floor, int | float) and not isinstance(floor, bool) and np.isfinite(floor)
    if not (floor is None or floor == "fit" or fits):
        raise BadValue(f"floor is 'fit', a height [m] or None (z = 0); got {floor!r}")
    given = isinstance(contacts, Sequence) and not isinstance(contacts, str)
    if not (contacts is None or contacts == "detect" or given):
        raise BadValue(f"contacts are 'detect', None or ContactWindows; got {contacts!r}")
    if spare not in ("rest", "follow"):
        raise BadValue(f"spare is 'rest' or 'follow'; got {spare!r}")


def _frames(motion: Motion, rate: float | None) -> tuple[Array, Array, slice]:
    """Returns times and poses of even frames, and which of them to keep: a loop is padded with its neighbours."""
    even = motion if rate is None else motion.resampled(rate)
    if len(even) > 2 and rate is None:
        steps = np.diff(even.times)
        if steps.max() > MAX_STEP_RATIO * steps.min():
            even = even.resampled(even.rate)
    if not motion.loop or len(even) < 3:
        return even.times, even.poses, slice(0, len(even))
    dt = even.duration / (len(even) - 1)
    extra = min(len(even) - 1, int(np.ceil(LOOP_PADDING / dt)))
    times = np.asarray(even.start + dt * np.arange(-extra, len(even) + extra), dtype=np.float64)
    poses = motion.sample(times).q
    poses[extra : extra + len(even)] = even.poses
    quaternions = layout_of(motion.character).quaternions
    poses[:, quaternions] = spatial.align_signs(poses[:, quaternions])
    return times, poses, slice(extra, extra + len(even))


def _as_motion(motion: Motion, character: Character, times: Array, poses: Array, kept: slice) -> Motion:
    made = Motion(character, times[kept], poses[kept], name=motion.name, ends=motion.ends)
    if not motion.loop:
        return made
    return made.as_loop(motion.travel, blend=min(LOOP_BLEND, 0.25 * made.duration))


def _cuts(times: Array, places: Array, turns: Array, source: Anatomy) -> Ints:
    """Returns the first frames of stretches, and the end: a clip is cut where half its bodies move impossibly fast."""
    n = len(times)
    if n < 2:
        return np.array([0, n])
    dt = np.diff(times)[:, None]
    moved = np.linalg.norm(np.diff(places[:, 1:], axis=0), axis=-1) / dt / max(source.size, 1e-6)
    turned = 2.0 * np.arccos(np.clip(np.abs(np.sum(turns[1:, 1:] * turns[:-1, 1:], axis=-1)), 0.0, 1.0)) / dt
    cut = (np.median(moved, axis=1) > CUT_SPEED) | (np.median(turned, axis=1) > CUT_TURN_RATE)
    return np.concatenate([[0], np.flatnonzero(cut) + 1, [n]]).astype(np.int64)


def _contacts(
    times: Array, markers: Sequence[FootMarker], places: Array, turns: Array, source: Anatomy, cuts: Ints,
    contacts: Contacts, floor: Literal["fit"] | float | None, tuning: ContactTuning | None,
) -> tuple[Flags, float]:  # fmt: skip
    """Returns which parts of the feet stand (n, markers), and the height of the ground [m]."""
    paths = marker_paths(markers, places, turns)
    found, bases = contact_flags(times, markers, paths, leg_length(source), cuts, tuning)
    if contacts is None:
        flags = np.zeros_like(found)
    elif contacts == "detect":
        flags = found
    else:
        flags = flags_of(times, markers, contacts)
    if floor is None:
        return flags, 0.0
    if floor != "fit":
        return flags, float(floor)
    if not markers:
        return flags, 0.0
    sole = np.array([marker.height for marker in markers])
    if found.any():
        return flags, float(np.mean((bases - sole)[found.any(axis=0)]))
    long = [slice(a, b) for a, b in pairwise(cuts) if b - a > 1] or [slice(0, len(times))]
    return flags, float(min((paths[part][:, :, 2] - sole).min() for part in long))


def _scale(pairing: Pairing) -> float:
    """Returns the size of the target over the source's: by length of legs, or by height of hips if bones differ."""
    source, target = pairing.source, pairing.target
    if pairing.reached:

        def hip_height(at: Anatomy) -> float:
            feet = [b[0] for limb, b in at.limbs.items() if limb.startswith("foot")]
            return max(float(at.places[at.hips, 2] - at.places[feet, 2].min()), 1e-6)

        return hip_height(target) / hip_height(source)
    return leg_length(target) / leg_length(source)


__all__ = [
    "ContactTuning",
    "ContactWindow",
    "RetargetReport",
    "RetargetTuning",
    "retarget",
    "retarget_with_report",
]
