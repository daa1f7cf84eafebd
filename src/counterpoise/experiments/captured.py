"""Captured motions for experiments, from clips beside the project."""

from __future__ import annotations

from pathlib import Path

from counterpoise.character.character import Character
from counterpoise.errors import BadFile
from counterpoise.motion.motion import Motion

CLIPS = Path(__file__).resolve().parents[4] / "shared" / "mocap"  # beside the folder of the project


def clip_folder(given: str) -> Path | None:
    """Returns the folder of captured clips: the one given, or the project's own; None if there is none."""
    if given:
        if not Path(given).is_dir():
            raise BadFile(f"there is no folder {given!r} with clips; leave `clips` empty to do without", path=given)
        return Path(given)
    return CLIPS if CLIPS.is_dir() else None


def captured_motion(folder: Path, clip: str, frames: tuple[int, int], character: Character) -> Motion:
    """Returns frames of a captured clip, retargeted to a character, starting at time 0."""
    from counterpoise.motion.files.hub import read_motion
    from counterpoise.motion.retarget.transfer import retarget

    made = retarget(read_motion(folder / f"{clip}.bvh", frames=frames), character)
    return made.shifted(-made.start)
