"""The cast: the other characters of a scene, beside the one on the timeline, and the motions that they show."""

from __future__ import annotations

import hashlib

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.scene import MAIN, Scene
from counterpoise.scene.making import clip_motion
from counterpoise.studio.frames import pack_track
from counterpoise.studio.motions import ShownMotion, resting_pose, show_motion


def owner_of_motion(scene: Scene, motion: str) -> str:
    """Returns the name of the character that a motion of the scene belongs to."""
    found = scene.motions.get(motion)
    return MAIN if found is None else found.character


def motion_of(scene: Scene, name: str, shown: str = "") -> str | None:
    """Returns the motion that a character shows: the one that was made together with the motion on the timeline, or
    else its first; None where it has none."""
    together = f"{shown} {name}"
    if together in scene.motions and scene.motions[together].character == name:
        return together
    return next((one.name for one in scene.motions.values() if one.character == name), None)


class Cast:
    """The other characters of one scene that have a motion or a controller, made when they are asked for."""

    def __init__(self, scene: Scene, shown: str) -> None:
        self.scene, self.shown = scene, shown
        owner = owner_of_motion(scene, shown)
        driven = {one.character for one in scene.controllers.values()}
        busy = driven | {one.character for one in scene.motions.values()}
        self.names = tuple(name for name in scene.characters if name != owner and name in busy)
        self._motions: dict[str, ShownMotion | None] = {}
        self._tracks: dict[str, tuple[str, bytes]] = {}

    def pose_at(self, name: str, time: float) -> Array:
        """Returns the pose of a character at a time of the playhead, (nq,)."""
        shown = self._shown(name)
        return resting_pose(self.scene, name) if shown is None else shown.pose_at(time)

    def track(self, name: str) -> tuple[str, bytes]:
        """Returns the address of a character's frames, and the frames."""
        if name not in self._tracks:
            shown, character = self._shown(name), self.scene.character(name)
            still = np.array([0.0, 1.0]), np.tile(resting_pose(self.scene, name), (2, 1))
            data = pack_track(character, *(still if shown is None else shown.frames()))
            self._tracks[name] = f"/tracks/cast-{hashlib.sha256(data).hexdigest()[:16]}.bin", data
        return self._tracks[name]

    def _shown(self, name: str) -> ShownMotion | None:
        if name not in self._motions:
            motion = motion_of(self.scene, name, self.shown)
            self._motions[name] = None if motion is None else _still(self.scene, motion)
        found = self._motions[name]
        return None if found is None or found.motion is None else found


def _still(scene: Scene, motion: str) -> ShownMotion:
    """Returns a motion as it is shown; clips are kept in memory between edits."""
    described = scene.motion(motion)
    if described.clip is None:
        return show_motion(scene, motion)
    character: Character = scene.character(described.character)
    clip: Motion = clip_motion(described.clip, character)
    clip = clip.shifted(-clip.start)
    return ShownMotion(motion, character, clip.duration, (), clip, True)
