"""The legs of any body: hip, knee, hock and ankle of every foot, and the heel, ball and toes of its sole.

Which bodies are thigh and shank is known from the anatomy: by names, or by shape. What lies on the way from the hips to
the foot then belongs to one joint of the leg or another: all joints down to the thigh are the hip (a robot has three
hinges there), those down to the shank the knee, those near the foot's own the ankle. What is left between knee and
ankle is the hock of a bird.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.anatomy import Anatomy, anatomy_of
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.roles import Foot, Side

NEAR_ANKLE = 0.12  # of the leg's length: joints nearer than this to the foot's own belong to the ankle
REAR_HALF = 0.5  # of the sole's length: points of the ankle's part before this are the heel, those after it the ball


@dataclass(frozen=True)
class LegJoint:
    """A joint of a leg: one ball, or hinges that work together."""

    joints: tuple[str, ...]  # from the trunk outwards
    body: str  # that the centre is fixed to
    point: tuple[float, float, float]  # the centre, in that body's frame [m]


@dataclass(frozen=True)
class LegRoles:
    """A foot and the joints that carry it. Points are indices of `character.contact_points`."""

    foot: str  # name of the foot
    side: Side
    hip: LegJoint
    knee: LegJoint | None  # None: a leg of one piece
    hock: LegJoint | None  # between knee and ankle, where a leg has one more joint
    ankle: LegJoint | None  # None: the foot is fixed to the shank
    heel: tuple[int, ...]
    ball: tuple[int, ...]  # the front of the part that the ankle carries
    toes: tuple[int, ...]  # of parts that move by themselves; empty for a foot of one piece

    @property
    def front(self) -> tuple[int, ...]:
        """The foremost points: toes, or the ball of a foot without them."""
        return self.toes or self.ball


@kept_with_character
def legs_of(character: Character) -> tuple[LegRoles, ...]:
    """Returns the legs of a character in the order of its feet; feet without a joint above them have none."""
    at = anatomy_of(character)
    out = []
    first = 0
    for foot in character.feet:
        points = range(first, first + len(foot.points))
        first = points.stop
        made = _leg(at, foot, points)
        if made is not None:
            out.append(made)
    return tuple(out)


def _leg(at: Anatomy, foot: Foot, points: Sequence[int]) -> LegRoles | None:
    character, model = at.character, at.character.model
    own = character.body_id(foot.body)
    path = [b for b in reversed(at.path(own)) if at.hips in at.ancestors(b)]
    path = [b for b in path if model.body_jntnum[b] > 0]
    if not path:
        return None
    thigh, shank = _thigh_and_shank(at, path)
    hip = path[: path.index(thigh) + 1]
    knee = path[len(hip) : path.index(shank) + 1] if shank is not None else []
    rest = path[len(hip) + len(knee) :]
    length = sum(float(np.linalg.norm(at.places[b] - at.places[a])) for a, b in pairwise(path))
    near = [b for b in rest if np.linalg.norm(at.places[b] - at.places[path[-1]]) < NEAR_ANKLE * length]
    heel, ball, toes = _sole(at, foot, points)
    hip_joint = _joint(at, hip)
    assert hip_joint is not None  # the path begins with it
    return LegRoles(
        foot.name, foot.side, hip_joint, _joint(at, knee), _joint(at, [b for b in rest if b not in near]),
        _joint(at, near), heel, ball, toes,
    )  # fmt: skip


def _thigh_and_shank(at: Anatomy, path: Sequence[int]) -> tuple[int, int | None]:
    """Returns the bodies of a foot's leg that move with the last hip joint and with the knee.

    Where the anatomy knows no leg above this foot, the knee is the joint nearest to the middle of the way.
    """
    for limb, bodies in at.limbs.items():
        on_path = [b for b in bodies if b in path]
        if limb.startswith("leg") and len(on_path) >= 2:
            return on_path[0], on_path[1]
    if len(path) < 3:
        return path[0], None
    steps = [float(np.linalg.norm(at.places[b] - at.places[a])) for a, b in pairwise(path)]
    along = np.concatenate([[0.0], np.cumsum(steps)])
    middle = 1 + int(np.argmin(np.abs(along[1:-1] - 0.5 * along[-1])))
    return path[middle - 1], path[middle]


def _joint(at: Anatomy, bodies: Sequence[int]) -> LegJoint | None:
    """Returns the joint made of all joints of these bodies; its centre is that of the hinge that bends the leg most.

    That is the hinge whose axis lies most across the body. A ball counts before every hinge.
    """
    model = at.character.model
    best, most = -1, -1.0
    for b in bodies:
        R = spatial.to_matrix(at.turns[b])
        for j in range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b]):
            ball = model.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL
            across = 2.0 if ball else abs(float((R @ model.jnt_axis[j])[1]))
            if across > most + 1e-6:
                best, most = j, across
    if best < 0:
        return None
    x, y, z = model.jnt_pos[best].tolist()
    moved = {at.names[b] for b in bodies}
    names = tuple(joint.name for joint in at.character.joints if joint.body in moved)
    return LegJoint(names, at.names[int(model.jnt_bodyid[best])], (x, y, z))


def _sole(
    at: Anatomy, foot: Foot, points: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:  # fmt: skip
    """Returns the points of heel, ball and toes: by the part that they are on, and by how far forward they are."""
    character = at.character
    bodies = [character.body_id(point.body) for point in foot.points]
    places = np.array(
        [
            at.places[b] + spatial.rotate(at.turns[b], point.position)
            for b, point in zip(bodies, foot.points, strict=True)
        ]
    )
    forward = _forward(places)
    along = places @ forward
    share = (along - along.min()) / max(float(np.ptp(along)), 1e-9)
    weld = character.model.body_weldid
    moved = [weld[b] != weld[character.body_id(foot.body)] for b in bodies]  # parts that move by themselves
    heel = tuple(i for i, own, s in zip(points, moved, share, strict=True) if not own and s < REAR_HALF)
    ball = tuple(i for i, own, s in zip(points, moved, share, strict=True) if not own and s >= REAR_HALF)
    toes = tuple(i for i, own in zip(points, moved, strict=True) if own)
    return heel, ball, toes


def _forward(places: Array) -> Array:
    """Returns the level unit vector (3,) along a sole, from its rear to its front; bodies at rest face along x."""
    level = places[:, :2] - places[:, :2].mean(axis=0)
    along = np.linalg.svd(level, full_matrices=True)[2][0] if len(places) > 1 else np.array([1.0, 0.0])
    if abs(along[0]) < np.sqrt(0.5):  # a sole that is wider than long
        along = np.array([1.0, 0.0])
    return np.array([*(along * np.sign(along[0])), 0.0])
