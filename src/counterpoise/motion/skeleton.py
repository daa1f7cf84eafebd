"""Skeletons and clips: movement as files hold it, before (or after) it belongs to a character.

A file's figure is a tree of joints with offsets; its movement is a local rotation, and sometimes a local position, of
every joint in every frame. Readers turn their format into a `Clip`, writers turn a `Clip` into their format, and only
`counterpoise.motion.files` knows both. All here is in metres with z up, whatever the file used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.skeletal.tree import joint_frames
from counterpoise.errors import BadValue

MOST_JOINTS = 1_000  # figures with faces and hair have some hundreds
DEEPEST = 200  # joints one below the other; MuJoCo's XML reader ends at about twice that


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A tree of joints at rest."""

    names: tuple[str, ...]
    parents: tuple[int, ...]  # -1 for a root; a parent stands before its children
    offsets: Array  # (n, 3) [m], each joint's place at rest, in its parent's frame (a root's: in the world)
    rest: Array  # (n, 4) each joint's rotation at rest, parent from joint; a BVH figure rests without any
    ends: tuple[tuple[int, tuple[float, float, float]], ...] = ()  # where limbs end: (joint, offset in its frame [m])

    def __post_init__(self) -> None:
        n = len(self.names)
        if len(self.parents) != n or any(not -1 <= p < i for i, p in enumerate(self.parents)):
            raise BadValue("every joint of a skeleton needs a parent that stands before it, or -1 for a root")
        for name, width in (("offsets", 3), ("rest", 4)):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (n, width) or not np.isfinite(values).all():
                raise BadValue(f"{name} of {n} joints are finite numbers of shape {(n, width)}, not {values.shape}")
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.names)

    def children(self, joint: int) -> tuple[int, ...]:
        """The joints that hang on this one."""
        return tuple(i for i, parent in enumerate(self.parents) if parent == joint)

    @property
    def roots(self) -> tuple[int, ...]:
        """The joints that hang on nothing."""
        return tuple(i for i, parent in enumerate(self.parents) if parent < 0)

    def world(self) -> tuple[Array, Array]:
        """Where every joint is at rest, and how it is turned: (n, 3) [m] and (n, 4)."""
        return joint_frames(self.parents, self.offsets, self.rest)


@dataclass(frozen=True, eq=False)
class Clip:
    """A skeleton's movement at a steady rate."""

    skeleton: Skeleton
    rate: float  # [frames/s]
    rotations: Array  # (f, n, 4) parent from joint
    translations: Array  # (f, n, 3) [m] each joint's place in its parent's frame; `offsets` where nothing moves it
    name: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)  # how the file said it: units, up axis, channels, ...

    def __post_init__(self) -> None:
        n = len(self.skeleton)
        rotations = np.array(self.rotations, dtype=np.float64)
        translations = np.array(self.translations, dtype=np.float64)
        f = len(rotations)
        if f == 0 or rotations.shape != (f, n, 4) or translations.shape != (f, n, 3):
            raise BadValue(
                f"a clip of {n} joints has rotations (f, {n}, 4) and translations (f, {n}, 3) with f >= 1; "
                f"got {rotations.shape} and {translations.shape}"
            )
        if not (np.isfinite(rotations).all() and np.isfinite(translations).all()):
            raise BadValue("a clip's rotations and translations are finite numbers")
        if not (np.isfinite(self.rate) and self.rate > 0.0):
            raise BadValue(f"a clip's rate is a positive number of frames a second, not {self.rate}")
        rotations.flags.writeable = translations.flags.writeable = False
        object.__setattr__(self, "rotations", rotations)
        object.__setattr__(self, "translations", translations)

    def __len__(self) -> int:
        return len(self.rotations)

    def world(self) -> tuple[Array, Array]:
        """Where every joint is and how it is turned in the world: (f, n, 3) [m] and (f, n, 4)."""
        return joint_frames(self.skeleton.parents, self.translations, self.rotations)

    def frames(self, first: int, last: int) -> Clip:
        """The frames from `first` to `last`, both included."""
        if not 0 <= first <= last < len(self):
            raise BadValue(f"frames {first} to {last} are not within 0 to {len(self) - 1}", frames=len(self))
        part = slice(first, last + 1)
        return replace(self, rotations=self.rotations[part], translations=self.translations[part])

    def turned(self, axes: Array, scale: float = 1.0) -> Clip:
        """The same movement in other axes and units: every vector x becomes scale * axes x.

        `axes` (3, 3) is a rotation, in practice a permutation of signed axes, which loses no bit. It changes joint
        frames and the world alike, so a figure that rests without rotations still does.
        """
        turn = np.asarray(axes, dtype=np.float64)
        at, sign = np.abs(turn).argmax(axis=1), turn[np.arange(3), np.abs(turn).argmax(axis=1)]
        if not np.array_equal(np.abs(turn).sum(axis=0), np.ones(3)) or np.linalg.det(turn) < 0.0:
            raise BadValue("axes are a permutation of signed axes that keeps left and right")
        skeleton = self.skeleton

        def vectors(values: Array) -> Array:
            return values[..., at] * (scale * sign)

        def quaternions(values: Array) -> Array:
            out = np.empty_like(values)
            out[..., 0], out[..., 1:] = values[..., 0], values[..., 1:][..., at] * sign
            return out

        ends = tuple((joint, _triple(vectors(np.array(end)))) for joint, end in skeleton.ends)
        bones = replace(skeleton, offsets=vectors(skeleton.offsets), rest=quaternions(skeleton.rest), ends=ends)
        return replace(
            self, skeleton=bones, rotations=quaternions(self.rotations), translations=vectors(self.translations)
        )

    def aligned(self) -> Clip:
        """The same joints in the same places, each frame chosen so that the figure rests without any rotation.

        With W the world rotation at rest, a joint turns by W_parent R W^-1 and hangs at W_parent p. Formats without a
        rest rotation (BVH) need it.
        """
        bones = self.skeleton
        if np.array_equal(bones.rest, np.broadcast_to(spatial.IDENTITY, bones.rest.shape)):
            return self
        _, turns = bones.world()
        above = np.array([turns[p] if p >= 0 else spatial.IDENTITY for p in bones.parents])
        rotations = spatial.multiply(spatial.multiply(above, self.rotations), spatial.conjugate(turns))
        skeleton = Skeleton(
            bones.names,
            bones.parents,
            spatial.rotate(above, bones.offsets),
            np.broadcast_to(spatial.IDENTITY, bones.rest.shape),
            tuple((joint, _triple(spatial.rotate(turns[joint], np.array(end)))) for joint, end in bones.ends),
        )
        return replace(
            self, skeleton=skeleton, rotations=rotations, translations=spatial.rotate(above, self.translations)
        )


@dataclass(frozen=True, eq=False)
class Source:
    """How the file said it: what a motion keeps of where it came from, so that it can go back the same way."""

    format: str  # "bvh", "asf", ...
    bodies: tuple[str, ...]  # the character's segment for each joint of the file's skeleton
    skeleton: Skeleton
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def told(self) -> tuple[str, ...]:
        """What was guessed or changed in reading, in words."""
        return tuple(self.notes.get("told", ()))

    def fits(self, segments: Sequence[str]) -> bool:
        """Whether the segments are those of the file: after an edit or a retargeting they are not."""
        return set(self.bodies) == set(segments)


def _triple(values: Array) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return (x, y, z)
