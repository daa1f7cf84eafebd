"""Skeletons and clips: movement as files hold it, without a character.

A file's figure is a tree of joints with offsets; its movement is a local rotation, and sometimes a local position, of
every joint in every frame. Readers turn their format into a `Clip`, writers turn a `Clip` into their format. Everything
here is in metres with z up, whatever the file used.
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
from counterpoise.motion.bound_mesh import BoundMesh

MAX_JOINTS = 1_000  # figures with faces and hair have some hundreds
MAX_DEPTH = 200  # joints one below the other; MuJoCo's XML reader takes about twice as many


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A tree of joints at rest."""

    names: tuple[str, ...]
    parents: tuple[int, ...]  # -1 for a root; every parent comes before its children
    offsets: Array  # (n, 3) [m] place of each joint at rest, in its parent's frame; of a root in the world
    rest: Array  # (n, 4) rotation of each joint at rest, parent from joint; identity in BVH
    ends: tuple[tuple[int, tuple[float, float, float]], ...] = ()  # ends of limbs: (joint, offset in its frame [m])

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
        """Returns the joints whose parent is this one."""
        return tuple(i for i, parent in enumerate(self.parents) if parent == joint)

    @property
    def roots(self) -> tuple[int, ...]:
        """The joints without a parent."""
        return tuple(i for i, parent in enumerate(self.parents) if parent < 0)

    def world(self) -> tuple[Array, Array]:
        """Returns places (n, 3) [m] and rotations (n, 4) of all joints at rest, world."""
        return joint_frames(self.parents, self.offsets, self.rest)


@dataclass(frozen=True, eq=False)
class Clip:
    """A skeleton's movement in frames at an even rate."""

    skeleton: Skeleton
    rate: float  # [frames/s]
    rotations: Array  # (f, n, 4) parent from joint
    translations: Array  # (f, n, 3) [m] place of each joint in its parent's frame; its offset if it does not move
    name: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)  # of the file: units, up axis, channels, remarks, ...
    meshes: tuple[BoundMesh, ...] = ()  # of the file, that follow its joints

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
        """Returns places (f, n, 3) [m] and rotations (f, n, 4) of all joints, world."""
        return joint_frames(self.skeleton.parents, self.translations, self.rotations)

    def frames(self, first: int, last: int) -> Clip:
        """Returns the frames from `first` to `last`, both included."""
        if not 0 <= first <= last < len(self):
            raise BadValue(f"frames {first} to {last} are not within 0 to {len(self) - 1}", frames=len(self))
        part = slice(first, last + 1)
        return replace(self, rotations=self.rotations[part], translations=self.translations[part])

    def turned(self, axes: Array, scale: float = 1.0) -> Clip:
        """Returns the same movement in other axes and units: every vector x becomes scale * axes x.

        `axes` (3, 3) is a rotation that permutes signed axes, so that no precision is lost. It applies to the frames of
        joints and to the world, so a figure that rests without rotations still does.
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
        meshes = tuple(mesh.turned(turn, scale) for mesh in self.meshes)
        return replace(
            self, skeleton=bones, rotations=quaternions(self.rotations), translations=vectors(self.translations),
            meshes=meshes,
        )  # fmt: skip

    def aligned(self) -> Clip:
        """Returns the same movement with joint frames that have no rotation at rest, as BVH needs it.

        With W the world rotation at rest, a joint's rotation becomes W_parent R W^-1 and its place W_parent p. Meshes
        are left out.
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
        moved = spatial.rotate(above, self.translations)
        return replace(self, skeleton=skeleton, rotations=rotations, translations=moved, meshes=())


@dataclass(frozen=True, eq=False)
class Source:
    """What a motion keeps of the file it was read from, so that it can be written in the same way."""

    format: str  # "bvh", "asf", ...
    bodies: tuple[str, ...]  # the character's segment for each joint of the file's skeleton
    skeleton: Skeleton
    notes: Mapping[str, Any] = field(default_factory=dict)  # those of the clip
    meshes: tuple[BoundMesh, ...] = ()  # of the file; not kept in our own files

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was guessed, left out or doubted in reading, a sentence each."""
        return tuple(self.notes.get("remarks", ()))

    def fits(self, segments: Sequence[str]) -> bool:
        """Whether the segments are those of the file; after an edit or a retargeting they are not."""
        return set(self.bodies) == set(segments)


def _triple(values: Array) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return (x, y, z)
