"""The part of reading FBX that meets ufbx: a program of its own, so that a file that crashes it costs one message.

`python fbx_process.py FILE ANIMATION RATE` writes a line of JSON (names, parents, bones, times, ...), then the
transforms of all nodes at every frame and at rest, ten numbers each: place, quaternion w, x, y, z, scale; then the
arrays of its skinned meshes and its embedded pictures (`meshes` and `images` of the line say how long). On a bad file
the line is {"error": ...}.
"""

from __future__ import annotations

import json
import math
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

MAX_NODES = 20_000
MAX_DEPTH = 200
MAX_CELLS = 20_000_000  # frames times nodes
MAX_MEMORY = 8 << 30  # [bytes] of this process, where the system can hold it to that
MAX_VERTICES = 3_000_000  # of all meshes
MAX_PICTURES = 256 << 20  # [bytes] of all pictures
FOLLOWED = 4  # joints that a vertex follows at most
ENDS = "counterpoise_ends"
HELD: list[Any] = []  # objects of the package, kept to the end


def main(path: str, animation: str, rate: str) -> None:
    """Reads a file and writes what is in it to standard output."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    except (ImportError, ValueError, OSError):
        pass  # Windows, or a lower limit already
    try:
        head, parts = read_scene(path, json.loads(animation), json.loads(rate))
    except Exception as error:  # the package raises one kind for every problem
        head, parts = {"error": f"{error}" or type(error).__name__}, []
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + b"".join(parts))
    sys.stdout.buffer.flush()
    os._exit(0)  # the package crashes when objects of a scene are freed in an order it does not like: none is freed


def read_scene(path: str, animation: int | str | None, rate: float | None) -> tuple[dict[str, Any], list[bytes]]:
    """Returns what the file says, and the bytes of its numbers and pictures."""
    ufbx: Any = import_module("ufbx")
    scene = ufbx.load_memory(
        Path(path).read_bytes(), load_external_files=False, generate_missing_normals=True,
        target_axes=ufbx.axes_right_handed_y_up, target_unit_meters=1.0, node_depth_limit=MAX_DEPTH,
        space_conversion=ufbx.SpaceConversion.MODIFY_GEOMETRY,
        inherit_mode_handling=ufbx.InheritModeHandling.COMPENSATE,
        pivot_handling=ufbx.PivotHandling.ADJUST_TO_PIVOT,
        file_format=ufbx.FileFormat.FBX, no_format_from_content=True, no_format_from_extension=True,
    )  # fmt: skip
    HELD.append(scene)
    stacks, nodes = list(scene.anim_stacks), list(scene.nodes)
    names = [stack.name for stack in stacks]
    if not stacks:
        raise ValueError("it holds no animation")
    if len(nodes) > MAX_NODES:
        raise ValueError(f"it has {len(nodes)} nodes, more than the {MAX_NODES} this program reads")
    spans = [(float(stack.time_begin), float(stack.time_end)) for stack in stacks]
    head: dict[str, Any] = {"creator": scene.metadata.creator, "animations": names}
    if animation is None:
        lengths = [end - begin if math.isfinite(end - begin) else -1.0 for begin, end in spans]
        which = lengths.index(max(lengths))
    elif animation in names or (isinstance(animation, int) and 0 <= animation < len(names)):
        which = names.index(animation) if isinstance(animation, str) else animation
    else:
        return {**head, "unknown": animation}, []
    begin, end = spans[which]
    given = float(scene.settings.frames_per_second)
    used = given if rate is None else rate
    if not (math.isfinite(begin) and math.isfinite(end) and end >= begin and math.isfinite(used) and 0.0 < used <= 1e5):
        raise ValueError(f"its animation goes from {begin!r} to {end!r} s at {given!r} frames a second")
    count = (end - begin) * used + 1.0
    if count * len(nodes) > MAX_CELLS:
        raise ValueError(f"{count:.0f} frames of {len(nodes)} nodes are too many")
    times = [begin + k / used for k in range(int(count + 1e-6))]
    stack = stacks[which]
    parents = []
    for node in nodes:
        parent = node.parent
        parents.append(-1 if parent is None else int(parent.typed_id))
    head |= {
        "animation": which, "start": begin, "rate": used, "frames": len(times), "parents": parents,
        "names": [node.name[:200] for node in nodes], "bones": [node.bone is not None for node in nodes],
        "ends": [_text_property(ufbx, node) for node in nodes],
    }  # fmt: skip
    numbers = np.empty((len(times) + 1, len(nodes), 10))
    anim = stack.anim
    for k, node in enumerate(nodes):
        for row, time in enumerate(times):
            numbers[row, k] = _ten(ufbx.evaluate_transform(anim, node, time))
        numbers[-1, k] = _ten(node.local_transform)
    parts = [np.ascontiguousarray(numbers, "<f8").tobytes()]
    pictures = _Pictures()
    head["meshes"], head["left_out"] = [], []
    budget = MAX_VERTICES
    for mesh in list(scene.meshes):
        budget -= int(mesh.num_indices)
        if budget < 0:
            head["left_out"].append(mesh.name[:200])
            continue
        found, arrays = _mesh(mesh, pictures)
        if found is not None:
            head["meshes"].append(found)
            parts += arrays
            for node in found["joints"]:
                head["bones"][node] = True  # whatever kind of node it is, it moves the mesh as a bone does
    head["images"] = [len(data) for data in pictures.found]
    return head, [*parts, *pictures.found]


def _mesh(mesh: Any, pictures: _Pictures) -> tuple[dict[str, Any] | None, list[bytes]]:
    """Returns the sizes, joints and materials of a mesh, and its arrays; None if nothing moves it.

    The arrays are points, normals, texture places, weights (4 a point), the joints of these, matrices (3, 4) from the
    mesh to each of its joints, and one to the world; then faces, and the material of each face.
    """
    instances, deformers = list(mesh.instances), list(mesh.skin_deformers)
    clusters = list(deformers[0].clusters) if deformers else []
    held = [(c, c.bone_node) for c in clusters]
    held = [(c, node) for c, node in held if node is not None]
    if not instances or mesh.num_triangles == 0:
        return None, []
    owner = instances[0]
    faces, face_of, corner = _triangles(mesh)
    if not len(faces):
        return None, []
    at = _whole_numbers(mesh.vertex_indices)
    points = np.array(memoryview(mesh.vertices), dtype=np.float64).reshape(-1, 3)
    follows = np.full((len(points), FOLLOWED), -1, np.int32)
    weights = np.zeros((len(points), FOLLOWED))
    for number, (cluster, _) in enumerate(held):
        rows, share = _whole_numbers(cluster.vertices), np.array(memoryview(cluster.weights), dtype=np.float64)
        good = (rows < len(points)) & np.isfinite(share) & (share > 0.0)
        rows, share = rows[good], share[good]
        least = weights[rows].argmin(axis=1)  # the lightest of four makes room
        better = share > weights[rows, least]
        rows, share, least = rows[better], share[better], least[better]
        weights[rows, least], follows[rows, least] = share, number
    columns = [at[:, None].astype(np.float64), _at_corners(mesh.vertex_normal, 3, len(at))]
    columns.append(_at_corners(mesh.vertex_uv, 2, len(at)))
    table = np.concatenate(columns, axis=1)[corner]  # of the corners of triangles
    rows, place = np.unique(table, axis=0, return_inverse=True)
    own = rows[:, 0].astype(np.int64)
    materials = [_material(one, pictures) for one in list(mesh.materials)]
    used = face_of if len(materials) > 1 else np.zeros(len(faces), np.int32)
    matrices = [_twelve(cluster.geometry_to_bone) for cluster, _ in held] + [_twelve(owner.geometry_to_world)]
    arrays = [
        (points[own], "<f8"), (rows[:, 1:4], "<f8"), (rows[:, 4:6], "<f8"), (weights[own], "<f8"),
        (np.array(matrices), "<f8"), (follows[own], "<i4"), (place.reshape(-1, 3), "<i4"), (used, "<i4"),
    ]  # fmt: skip
    head = {
        "name": mesh.name[:200] or owner.name[:200], "points": len(own), "faces": len(faces),
        "node": int(owner.typed_id), "joints": [int(node.typed_id) for _, node in held], "materials": materials,
    }  # fmt: skip
    return head, [np.ascontiguousarray(values, kind).tobytes() for values, kind in arrays]


def _triangles(mesh: Any) -> tuple[Any, Any, Any]:
    """Returns triangles as fans of the faces: their numbers, the material of each, and the corners (3 a triangle)."""
    faces = np.array(memoryview(mesh.faces), dtype=np.int64).reshape(-1, 2)
    count = np.where((faces[:, 1] >= 3) & (faces.sum(axis=1) <= mesh.num_indices), faces[:, 1] - 2, 0)
    face = np.repeat(np.arange(len(faces)), count)
    step = np.arange(len(face)) - np.repeat(np.cumsum(count) - count, count)
    first = faces[face, 0]
    corner = np.stack([first, first + step + 1, first + step + 2], axis=1).reshape(-1)
    given = _whole_numbers(mesh.face_material)
    material = given[face] if len(given) == len(faces) else np.zeros(len(face), np.int64)
    return face, material.astype(np.int32), corner


def _at_corners(attribute: Any, width: int, corners: int) -> Any:
    """Returns an attribute (normals, texture places) at every corner; zeros where the mesh has none."""
    if not attribute.exists:
        return np.zeros((corners, width))
    values = np.array(memoryview(attribute.values), dtype=np.float64).reshape(-1, width)
    at = _whole_numbers(attribute.indices)
    return values[at] if len(at) == corners and at.max(initial=0) < len(values) else np.zeros((corners, width))


def _whole_numbers(given: Any) -> Any:
    return np.fromiter(given, np.int64, len(given))


class _Pictures:
    """Pictures that the file holds in itself, each once; those of other files are not opened."""

    def __init__(self) -> None:
        self.found: list[bytes] = []
        self.known: dict[int, int] = {}
        self.size = 0

    def number(self, texture: Any) -> int:
        """The number of a texture's picture; -1 without one."""
        if texture is None:
            return -1
        key = int(texture.typed_id)
        if key not in self.known:
            video = texture.video
            data = bytes(texture.content) or (bytes(video.content) if video is not None else b"")
            good = data[:8] == b"\x89PNG\r\n\x1a\n" or data[:3] == b"\xff\xd8\xff"
            self.known[key] = -1
            if good and self.size + len(data) <= MAX_PICTURES:
                self.size += len(data)
                self.known[key] = len(self.found)
                self.found.append(data)
        return self.known[key]


def _material(material: Any, pictures: _Pictures) -> dict[str, Any]:
    maps = material.pbr
    base = maps.base_color
    colour, share = base.value_vec4, maps.base_factor
    factor = share.value_vec4.x if share.has_value else 1.0
    texture = base.texture
    values = [factor * colour.x, factor * colour.y, factor * colour.z]
    return {
        "name": material.name[:200], "colour": [v if math.isfinite(v) else 0.5 for v in values],
        "image": pictures.number(texture),
    }  # fmt: skip


def _twelve(matrix: Any) -> list[list[float]]:
    """A matrix (3, 4) of a package's matrix, which has columns."""
    columns = (matrix.c0, matrix.c1, matrix.c2, matrix.c3)
    return [[c.x for c in columns], [c.y for c in columns], [c.z for c in columns]]


def _text_property(ufbx: Any, node: Any) -> str:
    """The text under ENDS of a node; "" without one. Objects are held while they are used: the package does not."""
    properties = node.props
    found = ufbx.find_prop(properties, ENDS)
    return "" if found is None else str(found.value_str)[:10_000]


def _ten(transform: Any) -> tuple[float, ...]:
    move, turn, scale = transform.translation, transform.rotation, transform.scale
    return move.x, move.y, move.z, turn.w, turn.x, turn.y, turn.z, scale.x, scale.y, scale.z


if __name__ == "__main__":
    main(*sys.argv[1:4])
