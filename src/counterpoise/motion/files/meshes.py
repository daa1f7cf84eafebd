"""Simple bodies for exported clips: surfaces of triangles that each follow one joint.

A character's shapes (spheres, capsules, cylinders, ellipsoids, boxes, meshes) become triangles; a bare skeleton gets an
octahedron a bone. All surfaces are given in the world, in the rest pose, z up.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.figure import LEFT_TINT, MIDDLE_TINT, RIGHT_TINT
from counterpoise.character.roles import side_of
from counterpoise.character.skin import skin_of, toned
from counterpoise.motion.clips import body_names
from counterpoise.motion.motion import Motion
from counterpoise.motion.skeleton import Clip, Skeleton

RGBA = tuple[float, float, float, float]
AROUND, ALONG = 16, 8  # steps of triangles around a round shape, and from pole to pole
_TINTS: dict[str, RGBA] = {"left": LEFT_TINT, "right": RIGHT_TINT, "middle": MIDDLE_TINT}
_DEFAULT_COLOUR = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's, for shapes without a colour of their own


@dataclass(frozen=True, eq=False)
class MeshSurface:
    """Triangles that follow one joint."""

    joint: int
    points: Array  # (k, 3) [m], world, in the rest pose
    normals: Array  # (k, 3)
    faces: Ints  # (m, 3) anticlockwise, seen from outside
    colour: RGBA  # sRGB
    follows: Ints | None = None  # (k, 4) joints that each point follows ...
    weights: Array | None = None  # ... and how much; None: all follow `joint`


def surfaces(clip: Clip, motion: Motion | None = None, smooth: bool = False) -> list[MeshSurface]:
    """Returns the shapes of the character of `motion` on the clip's joints of the same names, otherwise plain bones.

    With `smooth`, a smooth body is returned in place of the shapes, where every body of the character has its joint.
    """
    if motion is not None and smooth:
        found = _smooth_surfaces(clip, motion)
        if found:
            return found
    if motion is not None:
        found = _figure_surfaces(clip, motion)
        if found:
            return found
    return _bone_surfaces(clip.skeleton)


# ------------------------------------------------------------------------------------------------ of a figure


def _figure_surfaces(clip: Clip, motion: Motion) -> list[MeshSurface]:
    """Returns the character's shapes; the clip's joints are frames of its bodies, in which shapes keep their places."""
    character, model = motion.character, motion.character.model
    joint_of = {name: i for i, name in reversed(list(enumerate(body_names(clip.skeleton.names))))}
    joint_of |= {name: i for i, name in enumerate(clip.skeleton.names)}
    places, turns = clip.skeleton.world()
    out = []
    for geom in _shown_geoms(model):
        joint = joint_of.get(character.segments[int(model.geom_bodyid[geom]) - 1])
        if joint is None:
            continue
        at = spatial.compose((places[joint], turns[joint]), (model.geom_pos[geom], model.geom_quat[geom]))
        points, normals, faces = _shape(model, geom)
        out.append(
            MeshSurface(
                joint, spatial.transform(at, points), spatial.rotate(at[1], normals), faces, _colour(model, geom)
            )
        )
    return out


def _smooth_surfaces(clip: Clip, motion: Motion) -> list[MeshSurface]:
    """Returns the character's skin, one surface a colour."""
    character, model = motion.character, motion.character.model
    joint_of = {name: i for i, name in reversed(list(enumerate(body_names(clip.skeleton.names))))}
    joint_of |= {name: i for i, name in enumerate(clip.skeleton.names)}
    joints = [joint_of.get(name) for name in character.segments]
    if any(joint is None for joint in joints):
        return []
    skin = skin_of(character)
    places, turns = clip.skeleton.world()
    numbers = np.array([0, *(joint for joint in joints if joint is not None)])  # of every body; the world's is not used
    points, normals = skin.posed(places[numbers], spatial.to_matrix(turns[numbers]))
    own = {body: _colour(model, int(np.flatnonzero(model.geom_bodyid == body)[0])) for body in set(skin.body.tolist())}
    colours = [toned(own[body], tone) for body, tone in zip(skin.body.tolist(), skin.tone.tolist(), strict=True)]
    out = []
    for colour in sorted(set(colours)):
        faces = skin.faces[[k for k, other in enumerate(colours) if other == colour]]
        used, inverse = np.unique(faces, return_inverse=True)
        out.append(
            MeshSurface(
                int(numbers[skin.follows[used[0], 0]]), points[used], normals[used], inverse.reshape(-1, 3), colour,
                numbers[skin.follows[used]], skin.weights[used],
            )
        )  # fmt: skip
    return out


def _shown_geoms(model: mujoco.MjModel) -> list[int]:
    """Returns the geoms to draw: of groups 0 to 2 and not transparent; all groups if these have none."""
    seen = (model.geom_rgba[:, 3] > 0.0) & (model.geom_bodyid > 0)
    seen &= ~np.isin(model.geom_type, (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD)))
    shown = seen & (model.geom_group < 3)
    return [int(g) for g in np.flatnonzero(shown if shown.any() else seen)]


def _colour(model: mujoco.MjModel, geom: int) -> RGBA:
    own = model.geom_rgba[geom].astype(np.float64)
    if np.allclose(own, _DEFAULT_COLOUR, atol=1e-6):
        material = int(model.geom_matid[geom])
        if material < 0:
            return _TINTS[side_of(model.body(int(model.geom_bodyid[geom])).name)]
        own = model.mat_rgba[material].astype(np.float64)
    r, g, b, a = (float(round(x, 6)) for x in own)
    return r, g, b, a


def _shape(model: mujoco.MjModel, geom: int) -> tuple[Array, Array, Ints]:
    """Returns points, normals and faces of a geom, in its frame."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom].astype(np.float64)
    kinds = mujoco.mjtGeom
    if kind == int(kinds.mjGEOM_SPHERE):
        return ellipsoid(np.full(3, size[0]))
    if kind == int(kinds.mjGEOM_ELLIPSOID):
        return ellipsoid(size)
    if kind == int(kinds.mjGEOM_CAPSULE):
        return capsule(float(size[0]), float(size[1]))
    if kind == int(kinds.mjGEOM_CYLINDER):
        return cylinder(float(size[0]), float(size[1]))
    if kind == int(kinds.mjGEOM_BOX):
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) * size
        return flat(corners, _BOX)
    assert int(model.geom_dataid[geom]) >= 0, "all other kinds are meshes"
    return _mesh(model, int(model.geom_dataid[geom]))


def _mesh(model: mujoco.MjModel, index: int) -> tuple[Array, Array, Ints]:
    vertex, face, normal = (int(a[index]) for a in (model.mesh_vertadr, model.mesh_faceadr, model.mesh_normaladr))
    rows = slice(face, face + int(model.mesh_facenum[index]))
    points = model.mesh_vert[vertex + model.mesh_face[rows]].reshape(-1, 3).astype(np.float64)
    normals = model.mesh_normal[normal + model.mesh_facenormal[rows]].reshape(-1, 3).astype(np.float64)
    return points, normals, np.arange(len(points), dtype=np.int64).reshape(-1, 3)


# ------------------------------------------------------------------------------------------------- plain bones


def _bone_surfaces(skeleton: Skeleton) -> list[MeshSurface]:
    """Returns an octahedron for every bone, and a small one for every joint without a bone."""
    places, turns = skeleton.world()
    tips: list[list[Array]] = [[] for _ in skeleton.names]
    for child, parent in enumerate(skeleton.parents):
        if parent >= 0:
            tips[parent].append(places[child])
    for joint, offset in skeleton.ends:
        tips[joint].append(places[joint] + spatial.rotate(turns[joint], np.array(offset)))
    lengths = [float(np.linalg.norm(tip - places[j])) for j, ends in enumerate(tips) for tip in ends]
    usual = float(np.median([x for x in lengths if x > 1e-6] or [0.1]))
    out = []
    for joint, name in enumerate(skeleton.names):
        tint = _TINTS[side_of(name)]
        drawn = [tip for tip in tips[joint] if np.linalg.norm(tip - places[joint]) > 1e-6]
        parts = [_bone(places[joint], tip) for tip in drawn] or [_bead(places[joint], 0.1 * usual)]
        out += [MeshSurface(joint, *part, tint) for part in parts]
    return out


def _bone(start: Array, end: Array) -> tuple[Array, Array, Ints]:
    """Returns a slim octahedron from joint to joint, widest at a tenth of the way."""
    length = float(np.linalg.norm(end - start))
    ring = np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]], float) * (0.1 * length)
    points = np.concatenate([[[0, 0, 0]], ring + [0, 0, 0.1 * length], [[0, 0, length]]])
    turn = spatial.from_two_vectors(np.array([0.0, 0.0, 1.0]), end - start)
    points, normals, faces = flat(points, _OCTAHEDRON)
    return start + spatial.rotate(turn, points), spatial.rotate(turn, normals), faces


def _bead(centre: Array, radius: float) -> tuple[Array, Array, Ints]:
    points = np.array([[0, 0, -1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, 1]], float)
    points, normals, faces = flat(points * radius, _OCTAHEDRON)
    return centre + points, normals, faces


_OCTAHEDRON = [(0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 1, 4), (5, 1, 2), (5, 2, 3), (5, 3, 4), (5, 4, 1)]
_BOX = [
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
]  # fmt: skip


# ----------------------------------------------------------------------------------------------------- shapes


def flat(corners: Array, faces: list[tuple[int, int, int]]) -> tuple[Array, Array, Ints]:
    """Returns triangles with a normal each, so that edges look sharp."""
    points = corners[np.array(faces)]  # (m, 3, 3)
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return (
        points.reshape(-1, 3),
        np.repeat(normals, 3, axis=0),
        np.arange(3 * len(faces), dtype=np.int64).reshape(-1, 3),
    )


def ellipsoid(radii: Array) -> tuple[Array, Array, Ints]:
    """Returns an ellipsoid about the origin; its normals are those of the exact surface."""
    unit, faces = _globe(0)
    normals = unit / radii
    return unit * radii, normals / np.linalg.norm(normals, axis=1, keepdims=True), faces


def capsule(radius: float, half: float) -> tuple[Array, Array, Ints]:
    """Returns a cylinder of half length `half` along z with round ends."""
    unit, faces = _globe(1)
    upper = np.arange(len(unit)) >= len(unit) // 2
    return unit * radius + np.outer(np.where(upper, half, -half), [0.0, 0.0, 1.0]), unit, faces


def cylinder(radius: float, half: float) -> tuple[Array, Array, Ints]:
    """Returns a cylinder of half length `half` along z with flat ends."""
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(AROUND)], axis=1)
    up = np.array([0.0, 0.0, 1.0])
    wall = np.concatenate([ring * radius - half * up, ring * radius + half * up])
    points = np.concatenate([wall, wall, [-half * up, half * up]])
    normals = np.concatenate([ring, ring, np.tile(-up, (AROUND, 1)), np.tile(up, (AROUND, 1)), [-up, up]])
    n, faces = AROUND, []
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, n + j), (i, n + j, n + i), (4 * n, 2 * n + j, 2 * n + i), (4 * n + 1, 3 * n + i, 3 * n + j)]
    return points, normals, np.array(faces, dtype=np.int64)


def _globe(belts: int) -> tuple[Array, Ints]:
    """Returns points of the unit sphere from south to north, with the equator `belts` times more, and its triangles."""
    half = ALONG // 2
    rows = [*range(1, half + 1), *([half] * belts), *range(half + 1, ALONG)]
    height = -np.cos(np.pi * np.array(rows) / ALONG)
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    width = np.sqrt(1.0 - height**2)[:, None]
    belt = np.stack(
        [width * np.cos(angle), width * np.sin(angle), np.broadcast_to(height[:, None], (len(rows), AROUND))]
    )
    points = np.concatenate([[[0, 0, -1]], belt.transpose(1, 2, 0).reshape(-1, 3), [[0, 0, 1]]])
    n, top, faces = AROUND, len(points) - 1, []
    for i in range(n):
        j = (i + 1) % n
        faces.append((0, 1 + j, 1 + i))
        for k in range(len(rows) - 1):
            a, b = 1 + k * n, 1 + (k + 1) * n
            faces += [(a + i, a + j, b + j), (a + i, b + j, b + i)]
        faces.append((top, top - n + i, top - n + j))
    return points.astype(np.float64), np.array(faces, dtype=np.int64)


__all__ = ["MeshSurface", "surfaces"]
