"""Makes the motions of a scene as they are written: clips read from their files, keys interpolated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.motion import Motion, reference_motion, reference_motions
from counterpoise.motion.files.hub import read_motion, same_body
from counterpoise.motion.keyframes import Keyframe
from counterpoise.pose.animation import Animation
from counterpoise.pose.keys import animate_keys_with_report
from counterpoise.progress import Watch
from counterpoise.scene.contents import SceneClip, SceneMotion
from counterpoise.scene.derived import derived_motion
from counterpoise.scene.motions import file_beside
from counterpoise.scene.path_reading import followed_paths
from counterpoise.scene.scene import Scene

KEPT_CLIPS = 16  # clips that are kept in memory
MIN_KEY_DISTANCE = 1e-6  # [s] keys nearer than this are one key


def plain_motion(
    scene: Scene, name: str, progress: Watch | None = None, found: Mapping[str, Motion] | None = None
) -> Motion:
    """Returns a motion of the scene as it is written, without physics: a clip, its keys interpolated, its paths
    followed, or another motion changed. `found` are motions that were made before, which others may be made from."""
    motion = scene.motion(name)
    character = scene.character(motion.character)
    if motion.clip is not None:
        return clip_motion(motion.clip, character).named(name)
    if motion.paths is not None:
        return followed_paths(motion.paths, character, scene.constraints_of(motion.character), progress).named(name)
    if motion.derived is not None:
        made = motion.derived.of in scene.motions
        source = (found or {}).get(motion.derived.of) if made else None
        if made and source is None:
            source = plain_motion(scene, motion.derived.of, progress)
        return derived_motion(motion.derived, source, character).named(name)
    return keyed_animation(scene, motion, progress).motion.named(name)


def keyed_animation(
    scene: Scene, motion: SceneMotion, progress: Watch | None = None, earlier: Animation | None = None
) -> Animation:
    """Returns the keys of a motion interpolated, with feet that stand still where successive keys agree on them.

    `earlier` is the animation before an edit: frames that have not changed are taken from it.
    """
    character = scene.character(motion.character)
    keys = key_frames(motion)
    if not keys:
        raise BadValue(f"the motion {motion.name!r} has no keys yet")
    return animate_keys_with_report(
        character, keys, rate=motion.rate, progress=progress, name=motion.name, earlier=earlier
    )


def key_frames(motion: SceneMotion) -> list[Keyframe]:
    """Returns the keys of a motion in the order of time, from 0 to its end: the first and last pose are held there.

    Of several keys at one time the last in the file counts.
    """
    poses: dict[float, np.ndarray] = {}
    for key in motion.keys:
        near = next((t for t in poses if abs(t - key.time) < MIN_KEY_DISTANCE), key.time)
        poses[near] = key.pose
    times = sorted(poses)
    if not times:
        return []
    frames = [Keyframe(t, poses[t]) for t in times]
    if times[0] > MIN_KEY_DISTANCE:
        frames.insert(0, Keyframe(0.0, poses[times[0]]))
    end = max(motion.duration, times[-1])
    if end > times[-1] + MIN_KEY_DISTANCE:
        frames.append(Keyframe(end, poses[times[-1]]))
    if len(frames) == 1:
        frames.append(Keyframe(frames[0].time + 1.0 / motion.rate, frames[0].pose))
    return frames


def clip_motion(clip: SceneClip, character: Character) -> Motion:
    """Returns the motion of a clip on a character, retargeted where the clip is of another body; kept for next time."""
    about = clip.path.stat()
    whole = _read(clip.path, about.st_mtime_ns, about.st_size, character)
    if clip.start is None and clip.end is None:
        return whole
    start = whole.start if clip.start is None else clip.start
    end = whole.end if clip.end is None else clip.end
    if not whole.start <= start < end <= whole.end + 1e-9:
        raise BadValue(
            f"{clip.file!r} runs from {whole.start:g} s to {whole.end:g} s; {start:g} to {end:g} s is not in it"
        )
    return whole.slice(start, min(end, whole.end))


@lru_cache(maxsize=KEPT_CLIPS)
def _read(path: Path, changed: int, size: int, character: Character) -> Motion:
    own = read_motion(path, character) if path.suffix.lower() in (".npz", ".csv", ".c3d") else read_motion(path)
    if same_body(own.character, character):
        return replace(own, character=character)
    return read_motion(path, character)


def followed_motion(scene: Scene, name: str, character: Character) -> Motion | None:
    """Returns a reference motion or the motion of a file; None where the name is a motion of the scene."""
    if name in scene.motions:
        return None
    if name in {r.name for r in reference_motions()}:
        return reference_motion(name, character)
    motion = clip_motion(SceneClip(name, file_beside(scene.folder, name)), character)
    return motion.shifted(-motion.start)
