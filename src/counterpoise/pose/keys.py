"""Keyframes whose feet do not slide: poses at times, interpolated on the manifold, then corrected in every frame.

Between two keys that agree on the place of a foot, the foot is held exactly there. Elsewhere it follows the
interpolation, blended in and out within a tenth of a second. Effectors may go straight or in an arc from key to key.
The rest of the body stays as near to the interpolation as that allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_kinematics
from counterpoise.character.track import follow
from counterpoise.errors import BadValue
from counterpoise.motion.keyframes import Keyframe, keyframed, pose_from_joints
from counterpoise.motion.motion import Motion
from counterpoise.pose.animation import Animation, Frame, KeptFrame, Watching, frame_times, make_frames
from counterpoise.pose.build import anchor_constraints, build_pose_problem
from counterpoise.pose.constraints import Pin, PoseConstraint
from counterpoise.pose.goals import PoseGoal, Posture
from counterpoise.pose.key_effectors import Effector, EffectorPath, Way, read_effector
from counterpoise.pose.key_feet import SupportFoot, read_foot, support_bodies
from counterpoise.pose.nearest import inertia_weights, nearest_pose

SAME_REFERENCE = 1e-9  # [m, rad] a frame whose reference has moved by less is kept


def animate_keys(
    character: Character,
    keyframes: Sequence[Keyframe],
    effector_paths: Mapping[Effector, Way] | None = None,
    support: str | Sequence[str] = "auto",
    rate: float = 60.0,
    constraints: Sequence[PoseConstraint] = (),
    progress: Watching = None,
    base: ArrayLike | None = None,
    name: str = "",
    earlier: Animation | None = None,
) -> Motion:
    """Returns the motion through poses at times in which support feet do not slide.

    `support`: bodies (or feet) that stay exactly where they are between successive keys that agree on their place (1
    mm) and orientation (half a degree); "auto" takes the feet, "none" nothing. `effector_paths` makes bodies go
    "straight" from key to key, or in an "arc" (("arc", 0.2): 0.2 m high); they come to rest at every key. `constraints`
    hold in every frame. `earlier` is the report of the animation before a key was moved: frames for which nothing has
    changed are taken from it, and others start from its poses.
    """
    return animate_keys_with_report(
        character, keyframes, effector_paths, support, rate, constraints, progress, base, name, earlier
    ).motion


def animate_keys_with_report(
    character: Character,
    keyframes: Sequence[Keyframe],
    effector_paths: Mapping[Effector, Way] | None = None,
    support: str | Sequence[str] = "auto",
    rate: float = 60.0,
    constraints: Sequence[PoseConstraint] = (),
    progress: Watching = None,
    base: ArrayLike | None = None,
    name: str = "",
    earlier: Animation | None = None,
) -> Animation:
    """As `animate_keys`, with the report on every frame."""
    if len(keyframes) < 2:
        raise BadValue(f"an animation from keys needs two of them at least; got {len(keyframes)}")
    frame_times(0.0, max(keyframes[-1].time + keyframes[-1].hold - keyframes[0].time, 0.0), rate)
    keys = [Keyframe(k.time, _key_pose(character, k, base), k.hold, k.ease) for k in keyframes]
    plain = keyframed(character, keys, rate)  # raises where keys are out of order
    snapshots = [take_kinematics(character, character.limits.clamp(np.asarray(k.pose, float))) for k in keys]
    feet = [read_foot(character, bodies, keys, snapshots) for bodies in support_bodies(character, support)]
    effectors = [read_effector(character, which, way, keys, snapshots) for which, way in (effector_paths or {}).items()]
    always = anchor_constraints(character, constraints, character.limits.clamp(snapshots[0].q))
    same_body = earlier is not None and earlier.motion.character is character
    known = earlier.memory if earlier is not None and same_body else {}
    frames = _KeyFrames(character, plain, [foot for foot in feet if foot.runs], effectors, always, known)
    made = make_frames(character, plain.times, frames.make, progress, name)
    return replace(made, memory=frames.memory, solved=frames.solved)


class _KeyFrames:
    """Makes the frames of an animation from keys: each the pose nearest to the plain interpolation."""

    def __init__(
        self,
        character: Character,
        plain: Motion,
        feet: Sequence[SupportFoot],
        effectors: Sequence[EffectorPath],
        always: Sequence[PoseConstraint],
        known: Mapping[int, KeptFrame],
    ) -> None:
        self.character, self.feet, self.effectors, self.always = character, feet, effectors, always
        self.references = np.array([character.limits.clamp(q) for q in plain.poses])
        self.track = follow(character, self.references)
        self.weights = inertia_weights(character)
        self.correction = np.zeros(character.nv)  # from the reference to the pose, in the last frame
        self.known, self.memory, self.solved = known, dict[int, KeptFrame](), 0

    def make(self, k: int, t: float) -> Frame:
        reference = self.references[k]
        goals, held = self._goals_and_constraints(k, t)
        stamp, kept = _stamp(goals[1:], held), self.known.get(_tick(t))
        if kept is not None and kept.stamp == stamp and _is_same(kept.reference, reference):
            self.correction = self.character.difference(kept.reference, kept.frame.q)
            self.memory[_tick(t)] = kept
            return kept.frame
        if kept is not None:
            self.correction = self.character.difference(kept.reference, kept.frame.q)
        self.solved += 1
        problem = build_pose_problem(self.character, goals, held, reference)
        guess = problem.moved(problem.start, self.correction[problem.variables])
        found = nearest_pose(problem, reference, self.weights, guess)
        if not found.held:  # the correction of the last frame may be a bad guess
            again = nearest_pose(problem, reference, self.weights, problem.start)
            found = again if again.held else found
        self.correction = self.character.difference(reference, found.q)
        frame = Frame(found.q, found.held, problem.residuals(found.q), problem.violations(found.q))
        self.memory[_tick(t)] = KeptFrame(reference, stamp, frame)
        return frame

    def _goals_and_constraints(self, k: int, t: float) -> tuple[list[PoseGoal], list[PoseConstraint]]:
        goals: list[PoseGoal] = [Posture(self.references[k])]
        held = list(self.always)
        with_path = {effector.body for effector in self.effectors}
        for foot in self.feet:
            b = self.character.body_id(foot.body)
            place, rotation = self.track.bodies[k, b], self.track.rotations[k, b]
            goals += foot.goals(t, place, rotation, foot.body not in with_path)
            held += foot.constraints(self.character, t, self.references[k])
        pinned = {c.body for c in held if isinstance(c, Pin)}
        goals += [goal for e in self.effectors if e.body not in pinned for goal in e.goals(t)]
        return goals, held


def _tick(t: float) -> int:
    """Returns a time as a whole number of nanoseconds, by which frames of two animations are compared."""
    return round(1e9 * t)


def _is_same(before: Array, now: Array) -> bool:
    return bool(np.abs(before - now).max(initial=0.0) < SAME_REFERENCE)


def _stamp(goals: Sequence[PoseGoal], held: Sequence[PoseConstraint]) -> bytes:
    """Returns all that goals and constraints say, besides the posture, as bytes that can be compared."""
    said = []
    for one in (*goals, *held):
        said.append(type(one).__name__)
        for field in fields(one):
            value = getattr(one, field.name)
            said.append(value.tobytes().hex() if isinstance(value, np.ndarray) else repr(value))
    return "|".join(said).encode()


def _key_pose(character: Character, key: Keyframe, base: ArrayLike | None) -> Array:
    if isinstance(key.pose, Mapping):
        return pose_from_joints(character, key.pose, base)
    return character.check_pose(key.pose, "keyframe's pose")
