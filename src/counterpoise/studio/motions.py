"""Motions of a scene as data: keys with a curve through them, clips as they were read; kept until the scene changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import CounterpoiseError
from counterpoise.motion.files.hub import read_motion
from counterpoise.motion.keyframes import Keyframe, keyframed
from counterpoise.motion.motion import Motion
from counterpoise.pose.animation import Animation
from counterpoise.pose.keys import animate_keys_with_report
from counterpoise.scene import MAIN, Scene, SceneKey, SceneMotion
from counterpoise.scene.making import plain_motion
from counterpoise.scene.running import placed
from counterpoise.simulate.start import standing_start
from counterpoise.studio.efforts import Efforts, read_efforts
from counterpoise.studio.prop_paths import PropPaths, read_prop_paths

RATE = 60.0  # [1/s] of frames between keys
NEAR_KEY = 0.5 / RATE  # [s] a time this near to a key is the key's
EMPTY_DURATION = 2.0  # [s] shown of a motion without keys


@dataclass(eq=False)
class ShownMotion:
    """The motion on the timeline. `refined` says whether planted feet are already held between the keys."""

    name: str
    character: Character
    duration: float  # [s]
    keys: tuple[SceneKey, ...]  # by time
    motion: Motion | None  # None: there are no keys, the figure stands in its neutral pose
    is_clip: bool
    refined: bool = True
    number: int = field(default=0)  # grows with every change of the frames
    rest: Array | None = None  # (nq,) the pose without keys; None: the neutral one
    prop_paths: PropPaths | None = None  # of the props that were simulated with it
    efforts: Efforts | None = None  # of its joints, where they are kept beside it

    def pose_at(self, time: float) -> Array:
        """Returns the pose at a time (nq,); before and after the motion its ends. At a key it is the key's, exactly."""
        for key in self.keys:
            if abs(key.time - time) <= NEAR_KEY:
                return np.array(key.pose)
        if self.motion is None:
            return np.array(self.character.neutral if self.rest is None else self.rest)
        start, end = float(self.motion.times[0]), float(self.motion.times[-1])
        if len(self.motion) == 1:
            return np.array(self.motion.poses[0])
        return np.array(self.motion.sample(min(max(time, start), end)).q)

    def key_at(self, time: float) -> SceneKey | None:
        """Returns the key at a time, if there is one."""
        near = [key for key in self.keys if abs(key.time - time) <= NEAR_KEY]
        return min(near, key=lambda key: abs(key.time - time)) if near else None

    def frames(self) -> tuple[Array, Array]:
        """Returns times (n,) and poses (n, nq) from the beginning to the end, for the page."""
        count = max(2, round(self.duration * RATE) + 1)
        times = np.linspace(0.0, self.duration, count)
        if self.motion is not None and self.is_clip:
            return np.asarray(self.motion.times) - self.motion.times[0], np.asarray(self.motion.poses)
        return times, np.array([self.pose_at(t) for t in times])

    def whole(self) -> Motion:
        """Returns what is shown as a motion, for checking, fixing and files."""
        if self.motion is not None and self.is_clip:
            return self.motion
        times, poses = self.frames()
        return Motion(self.character, times, poses, name=self.name)


def show_motion(scene: Scene, name: str) -> ShownMotion:
    """Returns a motion of the scene as it is shown; `main` may have no keys yet."""
    if name not in scene.motions and name == MAIN:
        written = scene.document.get(("duration",))
        duration = float(written) if isinstance(written, int | float) else EMPTY_DURATION
        return ShownMotion(name, scene.character(), duration, (), None, False, rest=resting_pose(scene, MAIN))
    described = scene.motion(name)
    character = scene.character(described.character)
    if described.clip is not None:
        clip = read_clip(scene, described, character)
        length, whole = float(clip.times[-1] - clip.times[0]), described.clip.start is None
        paths = read_prop_paths(described.clip.path) if whole else None
        efforts = read_efforts(described.clip.path, len(character.segments)) if whole else None
        return ShownMotion(name, character, length, (), clip, True, prop_paths=paths, efforts=efforts)
    if not described.has_keys:
        made = plain_motion(scene, name)
        return ShownMotion(name, character, made.duration, (), made.shifted(-made.start), True)
    keys = tuple(sorted(described.keys, key=lambda key: key.time))
    motion = _through(character, keys, name)
    rest = resting_pose(scene, described.character) if motion is None else None
    return ShownMotion(name, character, described.duration, keys, motion, False, refined=len(keys) < 2, rest=rest)


def resting_pose(scene: Scene, name: str) -> Array:
    """Returns the pose of a character without keys, (nq,): it stands where its controller begins."""
    character = scene.character(name)
    state = standing_start(character, scene.world)
    spec = next((one for one in scene.controllers.values() if one.character == name), None)
    movable = character.floating and character.joints[0].kind == "free"
    return np.array(placed(character, state, spec).q if spec is not None and movable else state.q)


def _through(character: Character, keys: tuple[SceneKey, ...], name: str) -> Motion | None:
    """Returns the smooth curve through keys; of keys at one time the last one counts."""
    at: dict[float, SceneKey] = {key.time: key for key in keys}
    if not at:
        return None
    return keyframed(character, [Keyframe(key.time, key.pose) for key in at.values()], RATE, name=name)


def refine(shown: ShownMotion, go_on: Callable[[], bool], earlier: Animation | None = None) -> Animation | None:
    """Returns the motion through the keys in which planted feet do not slide, or None where it was interrupted.

    Frames of an earlier animation that no moved key touches are taken from it.
    """
    at = {key.time: Keyframe(key.time, key.pose) for key in shown.keys}
    try:
        made = animate_keys_with_report(
            shown.character, list(at.values()), rate=RATE, progress=lambda _: go_on(), name=shown.name, earlier=earlier
        )
    except CounterpoiseError:  # keys that contradict each other: the plain curve stays
        shown.refined = True
        return None
    return made if made.complete else None


def read_clip(scene: Scene, described: SceneMotion, character: Character) -> Motion:
    """Returns the motion of a clip on its character, from its own beginning to its end."""
    clip = described.clip
    assert clip is not None
    own = scene.characters[described.character]
    motion = read_motion(clip.path, character=None if own.source == clip.file and not own.edits else character)
    if motion.character.joint_names == character.joint_names and motion.character is not character:
        motion = Motion(character, motion.times, motion.poses, name=motion.name, loop=motion.loop, source=motion.source)
    start = clip.start if clip.start is not None else float(motion.times[0])
    end = clip.end if clip.end is not None else float(motion.times[-1])
    if clip.start is not None or clip.end is not None:
        motion = motion.slice(start, end)
    return motion
