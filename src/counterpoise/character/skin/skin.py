"""Skin: the points of a smooth body, and how much each follows which bone (linear blend skinning)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from scipy.sparse import coo_matrix

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.skin.dressing import head_of, tones_of
from counterpoise.character.skin.field import BodyField, body_field
from counterpoise.character.skin.seams import cut_seams
from counterpoise.character.skin.shapes import RoundShape, largest_round
from counterpoise.character.skin.soles import within_soles
from counterpoise.character.skin.surface import surface_of

STEP = 0.011  # [body heights] between points
HAND_STEP = 0.0045  # [body heights] between points of hands, which have fingers
BLEND = 0.036  # [body heights]: a point that is nearer to one part than to the next by this follows the one alone
EVENINGS = 6  # times that ripples are taken out of the surface ...
TAUBIN = (0.5, -0.53)  # ... by a step towards the neighbours and one back (Taubin 1995)
SMOOTHINGS = 12  # times that the shares of neighbouring points are averaged
FOLLOWED = 4  # bodies that a point follows at most
MARGIN = 0.03  # [body heights] around the shapes


@dataclass(frozen=True, eq=False)
class Skin:
    """A smooth surface over a character in its neutral pose."""

    points: Array  # (k, 3) [m], world
    normals: Array  # (k, 3)
    faces: Ints  # (m, 3) anticlockwise from outside
    body: Ints  # (m,) the body that a face is nearest to: its colour
    follows: Ints  # (k, 4) bodies that a point follows ...
    weights: Array  # (k, 4) ... and how much; they sum to 1
    rest_places: Array  # (nbody, 3) of the bodies in the neutral pose
    rest_rotations: Array  # (nbody, 3, 3)
    tone: Ints  # (m,) of a face, as its place in `TONES`: body, face, shoe, sole

    def posed(self, places: Array, rotations: Array) -> tuple[Array, Array]:
        """Returns points and normals for bodies at places (nbody, 3) and rotations (nbody, 3, 3)."""
        turn = rotations @ self.rest_rotations.transpose(0, 2, 1)
        shift = places - np.einsum("bij,bj->bi", turn, self.rest_places)
        blended = np.einsum("kf,kfij->kij", self.weights, turn[self.follows])
        moved = np.einsum("kij,kj->ki", blended, self.points)
        moved += np.einsum("kf,kfi->ki", self.weights, shift[self.follows])
        normals = np.einsum("kij,kj->ki", blended, self.normals)
        return moved, normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)


@kept_with_character
def skin_of(character: Character) -> Skin:
    """Returns the smooth body of a character, made from its shapes; hands get fingers. It is made once a character."""
    field, height = body_field(character), character.height
    hands = {character.body_id(name) for name in character.hands}
    parts = [(tuple(shape for shape in field.shapes if not _finger(shape, hands)), STEP)]
    parts += [(tuple(shape for shape in field.shapes if shape.body == hand), HAND_STEP) for hand in sorted(hands)]
    columns: tuple[list[Any], ...] = ([], [], [], [], [], [])
    start = 0
    for shapes, step in parts:
        if not shapes:
            continue
        within = 0.3 * field.melt_within if step < STEP else field.melt_within
        part = BodyField(shapes, field.parents, field.melt, within, field.floor)
        low, high = _box(shapes, MARGIN * height)
        p, f = surface_of(part.distance, low, high, step * height)
        p = _evened(p, f)
        bodies, share = _shares(part, p, f, BLEND * height)
        p = within_soles(character, p, np.array(bodies)[share.argmax(axis=1)])
        n = _normals(p, f)
        p, n, share, f, label = cut_seams(p, n, share, f)
        index, share = _most_followed(bodies, share)
        made = (p, n, f + start, index, share, np.array(bodies)[label])
        for column, values in zip(columns, made, strict=True):
            column.append(values)
        start += len(p)
    data = mujoco.MjData(character.model)
    data.qpos[:] = character.neutral
    mujoco.mj_kinematics(character.model, data)
    points, normals, faces, follows, weights, nearest = (np.concatenate(column) for column in columns)
    rotations = data.xmat.reshape(-1, 3, 3).copy()
    head = largest_round([shape for shape in field.shapes if shape.body == head_of(character)])
    place = None if head is None else (head.centre, head.rotation, head.half)
    tone = tones_of(character, points, faces, nearest, place)
    return Skin(points, normals, faces, nearest, follows, weights, data.xpos.copy(), rotations, tone)


def _finger(shape: RoundShape, hands: set[int]) -> bool:
    return shape.line and shape.body in hands


def _box(shapes: tuple[RoundShape, ...], margin: float) -> tuple[Array, Array]:
    reach = [np.abs(s.rotation) @ (s.half + (np.array([0.0, 0.0, s.half[0]]) if s.line else 0.0)) for s in shapes]
    low = np.min([s.centre - r for s, r in zip(shapes, reach, strict=True)], axis=0) - margin
    return low, np.max([s.centre + r for s, r in zip(shapes, reach, strict=True)], axis=0) + margin


def _shares(field: BodyField, points: Array, faces: Ints, blend: float) -> tuple[list[int], Array]:
    """Returns the bodies, and how much points follow each (k, bodies).

    Only the nearest body and its neighbours count; then the shares of points that share a face are evened out.
    """
    bodies, apart = field.parts(points)
    first = apart.argmin(axis=1)
    joined = field.neighbours(bodies)[first] > 0.0
    share = np.clip(1.0 - (apart - apart.min(axis=1, keepdims=True)) / blend, 0.0, 1.0)
    share = np.where(joined, share * share * (3.0 - 2.0 * share), 0.0)
    return bodies, _smoothed(share / share.sum(axis=1, keepdims=True), faces)


def _most_followed(bodies: list[int], share: Array) -> tuple[Ints, Array]:
    """Returns the bodies (k, 4) that points follow and how much, the most followed first."""
    order = np.argsort(-share, axis=1, kind="stable")[:, :FOLLOWED]
    kept = np.take_along_axis(share, order, axis=1)
    index = np.array(bodies)[order]
    if index.shape[1] < FOLLOWED:
        missing = FOLLOWED - index.shape[1]
        index = np.concatenate([index, np.repeat(index[:, :1], missing, axis=1)], axis=1)
        kept = np.concatenate([kept, np.zeros((len(kept), missing))], axis=1)
    return index, kept / kept.sum(axis=1, keepdims=True)


def _smoothed(share: Array, faces: Ints) -> Array:
    """The shares (k, bodies), each averaged with those of the points on the same faces, several times."""
    links, count = _links(faces, len(share))
    for _ in range(SMOOTHINGS):
        share = 0.5 * share + 0.5 * (links @ share) / count
    return share


def _evened(points: Array, faces: Ints) -> Array:
    """Points without the ripples of the grid, by Taubin's filter, which does not shrink."""
    links, count = _links(faces, len(points))
    for _ in range(EVENINGS):
        for step in TAUBIN:
            points = points + step * ((links @ points) / count - points)
    return points


def _normals(points: Array, faces: Ints) -> Array:
    sides = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    normals = np.zeros_like(points)
    for corner in range(3):
        np.add.at(normals, faces[:, corner], sides)
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-15)


def _links(faces: Ints, k: int) -> tuple[Any, Array]:
    """Which points share an edge, as a sparse matrix (k, k), and with how many each does, (k, 1)."""
    a, b = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).T
    links = coo_matrix((np.ones(2 * len(a)), (np.r_[a, b], np.r_[b, a])), (k, k)).tocsr()
    links.data[:] = 1.0
    return links, np.maximum(np.asarray(links.sum(axis=1)), 1.0)
