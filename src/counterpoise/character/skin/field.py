"""The body as a distance field: every part of the body from its shapes, neighbours melted into each other.

d(p) = min over the joints of smooth_min(d_child, d_parent): parts that are not neighbours (an arm beside the hip) keep
apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.skin.dressing import FACE_FRONT, SHOE_THICKNESS, head_of, shod_bodies
from counterpoise.character.skin.flesh import fleshed
from counterpoise.character.skin.shapes import RoundShape, largest_round, smooth_min

MELT = 0.024  # [body heights] over which neighbouring parts melt into each other
MELT_WITHIN = 0.020  # [body heights] over which the shapes of one part do
FINGERS = (-0.66, -0.22, 0.22, 0.66)  # places of fingers across the palm, in its half width
FINGER_LENGTHS = (0.80, 0.95, 1.0, 0.90)


@dataclass(frozen=True, eq=False)
class BodyField:
    """The distance field of a character at rest."""

    shapes: tuple[RoundShape, ...]
    parents: Ints  # of every body
    melt: float  # [m]
    melt_within: float  # [m]
    floor: float = -np.inf  # [m] height at which soles are cut flat

    def parts(self, points: Array) -> tuple[list[int], Array]:
        """Returns the bodies that have shapes, and the distance (n, bodies) of points from each."""
        bodies = sorted({shape.body for shape in self.shapes})
        out = np.full((len(points), len(bodies)), np.inf)
        for shape in self.shapes:
            column = bodies.index(shape.body)
            found = shape.distance(points)
            known = out[:, column]
            out[:, column] = np.where(np.isinf(known), found, smooth_min(known, found, self.melt_within))
        return bodies, out

    def distance(self, points: Array) -> Array:
        """Returns the distance (n,) of points from the melted body."""
        bodies, apart = self.parts(points)
        out = apart.min(axis=1)
        for column, body in enumerate(bodies):
            parent = self._above(body, bodies)
            if parent is not None:
                out = np.minimum(out, smooth_min(apart[:, column], apart[:, bodies.index(parent)], self.melt))
        return np.maximum(out, self.floor - points[:, 2])

    def _above(self, body: int, bodies: list[int]) -> int | None:
        """The nearest body above that has shapes."""
        body = int(self.parents[body])
        while body > 0 and body not in bodies:
            body = int(self.parents[body])
        return body if body > 0 else None

    def neighbours(self, bodies: list[int]) -> Array:
        """Returns which bodies are one and the same or joined, (bodies, bodies) of 0 and 1."""
        out = np.eye(len(bodies))
        for column, body in enumerate(bodies):
            parent = self._above(body, bodies)
            if parent is not None:
                out[column, bodies.index(parent)] = out[bodies.index(parent), column] = 1.0
        return out


def body_field(character: Character) -> BodyField:
    """Returns the field of a character in its neutral pose, with fingers in place of flat hands."""
    model = character.model
    data = mujoco.MjData(model)
    data.qpos[:] = character.neutral
    mujoco.mj_kinematics(model, data)
    shapes: list[RoundShape] = []
    hands = {character.body_id(name) for name in character.hands}
    head, shod = head_of(character), shod_bodies(character)
    floor = float(character.snapshot().contact_position[:, 2].min()) if shod else -np.inf
    for geom in range(model.ngeom):
        body, kind = int(model.geom_bodyid[geom]), int(model.geom_type[geom])
        if body == 0 or model.geom_group[geom] >= 3 or model.geom_rgba[geom, 3] == 0.0:
            continue
        place, turn = data.geom_xpos[geom].copy(), data.geom_xmat[geom].reshape(3, 3).copy()
        size = model.geom_size[geom].astype(float)
        if kind == int(mujoco.mjtGeom.mjGEOM_ELLIPSOID) and body in hands:
            shapes += _hand(body, place, turn, size)
        elif kind == int(mujoco.mjtGeom.mjGEOM_ELLIPSOID) or kind == int(mujoco.mjtGeom.mjGEOM_BOX):
            shapes.append(RoundShape(body, place, turn, size, False))
        elif kind in (int(mujoco.mjtGeom.mjGEOM_CAPSULE), int(mujoco.mjtGeom.mjGEOM_CYLINDER)):
            shapes.append(RoundShape(body, place, turn, np.array([size[0], size[0], size[1]]), True))
        elif kind == int(mujoco.mjtGeom.mjGEOM_SPHERE):
            shapes.append(RoundShape(body, place, turn, np.full(3, size[0]), False))
    height = character.height
    face = largest_round([shape for shape in shapes if shape.body == head])
    shapes = [replace(s, front=FACE_FRONT * float(s.half[0])) if s is face else s for s in shapes]
    if head is not None:
        shapes = fleshed(character, shapes, head)
    shapes = [_shoe(s, SHOE_THICKNESS * height) if s.body in shod else s for s in shapes]
    return BodyField(tuple(shapes), np.array(model.body_parentid), MELT * height, MELT_WITHIN * height, floor)


def _shoe(shape: RoundShape, thick: float) -> RoundShape:
    """Returns the shape thicker by a shoe's leather."""
    more = np.array([thick, thick, 0.0]) if shape.line else np.full(3, thick)
    return replace(shape, half=shape.half + more)


def _hand(body: int, place: Array, turn: Array, size: Array) -> list[RoundShape]:
    """A palm, four fingers and a thumb in the space of a flat hand that points along -z, with the thumb ahead."""
    wide, thick, long = size
    palm = RoundShape(
        body, place + turn @ (0.0, 0.0, 0.40 * long), turn, np.array([0.95 * wide, thick, 0.62 * long]), False
    )
    out = [palm]
    for across, length in zip(FINGERS, FINGER_LENGTHS, strict=True):
        start, end = (across * wide, 0.0, 0.1 * long), (1.05 * across * wide, 0.0, -length * long)
        out.append(_finger(body, place, turn, start, end, 0.20 * wide))
    out.append(_finger(body, place, turn, (0.6 * wide, 0.0, 0.5 * long), (1.35 * wide, 0.0, -0.1 * long), 0.22 * wide))
    return out


def _finger(
    body: int, place: Array, turn: Array, start: tuple[float, ...], end: tuple[float, ...], radius: float
) -> RoundShape:
    a, b = place + turn @ np.array(start), place + turn @ np.array(end)
    along = (b - a) / np.linalg.norm(b - a)
    side = np.cross(along, turn[:, 1])
    side /= np.linalg.norm(side)
    rotation = np.column_stack([side, np.cross(along, side), along])
    return RoundShape(
        body, 0.5 * (a + b), rotation, np.array([radius, radius, 0.5 * float(np.linalg.norm(b - a))]), True
    )
