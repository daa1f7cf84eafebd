"""Motions made from other motions of a scene: cut, mirrored, repeated, retimed, moved, put on another body.

[motions.other]
of = "wave"           # a motion of the scene, or a reference motion such as "squat"
mirrored = true
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from counterpoise.character.character import Character
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion import Motion, reference_motion, reference_motions
from counterpoise.motion.files.hub import same_body
from counterpoise.motion.retarget import retarget
from counterpoise.scene.virtual_markers import VirtualMarkers, read_virtual_markers, seen_and_found
from counterpoise.spacetime.stunt.reading import Table

MOST_REPEATS = 1000
OWN_ENTRIES = ("mirrored", "repeat", "speed", "shift", "drift", "markers")


@dataclass(frozen=True)
class SceneDerived:
    """Another motion, and what is done with it, in this order."""

    of: str  # a motion of the scene that stands before this one, or a reference motion
    start: float | None = None  # [s] of the other motion, where it is cut; None: its own
    end: float | None = None  # [s]
    mirrored: bool = False
    speed: float = 1.0  # of its clock: 2 is twice as fast
    repeat: int = 1
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m] by which all of it is moved
    drift: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m/s] by which it is moved more and more
    markers: VirtualMarkers | None = None  # by which it is seen, and found again


def read_derived(table: Table, earlier: Collection[str]) -> SceneDerived | None:
    """Reads `of` with `from`, `to`, `mirrored`, `speed`, `repeat`, `shift` and `drift`; None where there is no `of`."""
    of = table.text("of", "a motion of the scene that stands before this one, or a reference motion")
    if of is None:
        for entry in OWN_ENTRIES:
            if entry in table:
                raise table.fault(entry, f"{entry} changes another motion: name it by of")
        return None
    known = [*earlier, *(one.name for one in reference_motions())]
    if of not in known:
        with table.at("of"):
            raise unknown_name("motion before this one, or reference motion", of, known)
    start, end = (table.number(key, "seconds in the other motion's time") for key in ("from", "to"))
    if start is not None and end is not None and not start < end:
        raise table.fault("to", f"a part ends after it begins; got from {start:g} s to {end:g} s")
    speed = table.number("speed", "how fast its clock goes, above 0; 1 is as it was", low=1e-6)
    repeat = table.value("repeat", "how many times it is done, a whole number")
    if repeat is not None and (
        isinstance(repeat, bool) or not isinstance(repeat, int) or not 1 <= repeat <= MOST_REPEATS
    ):
        raise table.fault("repeat", f"repeat is a whole number from 1 to {MOST_REPEATS}; got {repeat!r}")
    shift, drift = (
        table.numbers(key, f"[x, y, z] in {unit}", (3,)) for key, unit in (("shift", "m"), ("drift", "m/s"))
    )
    return SceneDerived(
        of, start, end, table.flag("mirrored", False), speed or 1.0, repeat or 1,
        (0.0, 0.0, 0.0) if shift is None else (shift[0], shift[1], shift[2]),
        (0.0, 0.0, 0.0) if drift is None else (drift[0], drift[1], drift[2]), read_virtual_markers(table),
    )  # fmt: skip


def derived_motion(derived: SceneDerived, source: Motion | None, character: Character) -> Motion:
    """Returns the motion on a character; `source` is the other one, None where it is a reference motion."""
    motion = reference_motion(derived.of, character) if source is None else source
    if not same_body(motion.character, character):
        motion = retarget(motion, character)
    if derived.start is not None or derived.end is not None:
        start = motion.start if derived.start is None else derived.start
        end = motion.end if derived.end is None else derived.end
        if not motion.start <= start < end <= motion.end + 1e-9:
            raise BadValue(
                f"{derived.of!r} runs from {motion.start:g} s to {motion.end:g} s; {start:g} to {end:g} s is not in it"
            )
        motion = motion.slice(start, min(end, motion.end))
    motion = motion.mirrored() if derived.mirrored else motion
    motion = motion.retimed(derived.speed) if derived.speed != 1.0 else motion
    motion = motion.looped(derived.repeat) if derived.repeat > 1 else motion
    motion = _moved(motion, np.array(derived.shift), np.array(derived.drift))
    return motion if derived.markers is None else seen_and_found(motion, derived.markers)


def _moved(motion: Motion, shift: np.ndarray, drift: np.ndarray) -> Motion:
    if not shift.any() and not drift.any():
        return motion
    if not motion.character.floating or motion.character.joints[0].kind != "free":
        raise BadValue(f"{motion.character.name!r} is fixed to the world or to a plane: it is not shifted")
    poses = np.array(motion.poses)
    poses[:, :3] += shift + (motion.times - motion.start)[:, None] * drift
    return replace(motion, poses=poses)
