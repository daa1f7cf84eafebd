"""Files of meshes as MuJoCo reads them: OBJ, MSH and binary STL as they are; STL as text and COLLADA as binary STL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

import numpy as np

from counterpoise.arrays import Array, Ints

LARGEST_MESH = 256 << 20  # [bytes]
MOST_FACES = 200_000  # that MuJoCo takes
AS_THEY_ARE = (".obj", ".msh")
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])  # of a binary STL
HEADER = 80  # [bytes] of it
UP = {  # turns of a file's axes so that z is up
    "X_UP": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
    "Y_UP": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "Z_UP": np.eye(3),
}
MOST_NODES = 10_000  # of a COLLADA scene, deeper ones included


class UnreadableMesh(ValueError):
    """A mesh that is missing, or of a format that is not read; the message names it."""


def read_mesh(path: Path) -> tuple[str, bytes]:
    """Returns the suffix and the content of a mesh in a format that MuJoCo reads."""
    suffix = path.suffix.lower()
    if suffix not in (".stl", ".dae", *AS_THEY_ARE):
        raise UnreadableMesh(f"its mesh {path.name!r} is of no format that is read (STL, OBJ, DAE, MSH)")
    if path.stat().st_size > LARGEST_MESH:
        raise UnreadableMesh(f"its mesh {path.name!r} is larger than {LARGEST_MESH >> 20} MiB")
    content = path.read_bytes()
    if suffix in AS_THEY_ARE:
        return suffix, content
    if suffix == ".stl" and _is_binary(content):
        return suffix, content
    try:
        corners = _collada_triangles(content) if suffix == ".dae" else _text_triangles(content)
    except (ParseError, ValueError, LookupError, OverflowError, StopIteration) as error:
        raise UnreadableMesh(f"its mesh {path.name!r} cannot be read: {str(error) or 'a part is missing'}") from None
    if not 0 < len(corners) <= MOST_FACES:
        raise UnreadableMesh(f"its mesh {path.name!r} has {len(corners)} triangles; 1 to {MOST_FACES} are read")
    return ".stl", binary_stl(corners)


def binary_stl(corners: Array) -> bytes:
    """Returns triangles (n, 3, 3) [m] as a binary STL."""
    made = np.zeros(len(corners), TRIANGLE)
    made["corners"] = corners
    return bytes(HEADER) + np.uint32(len(corners)).tobytes() + made.tobytes()


def _is_binary(content: bytes) -> bool:
    """Returns whether an STL is binary: its length is that of its number of triangles, whatever its first word is."""
    count = int.from_bytes(content[HEADER : HEADER + 4], "little")
    return len(content) >= HEADER + 4 and len(content) == HEADER + 4 + count * TRIANGLE.itemsize


def _text_triangles(content: bytes) -> Array:
    """Returns the triangles (n, 3, 3) of an STL that is text."""
    words = content.decode("ascii", errors="replace").split()
    starts = [k for k, word in enumerate(words) if word.lower() == "vertex"]
    corners = np.array([[float(one) for one in words[k + 1 : k + 4]] for k in starts], float)
    if not len(corners) or len(corners) % 3:
        raise ValueError("it is neither a binary nor a text STL")
    return corners.reshape(-1, 3, 3)


# ------------------------------------------------------------------------------------------------------------ COLLADA


def _collada_triangles(content: bytes) -> Array:
    """Returns the triangles (n, 3, 3) [m] of all shapes of the scene of a COLLADA file, z up."""
    root = fromstring(content)
    for one in root.iter():
        one.tag = one.tag.rpartition("}")[2]
    by_id = {one.get("id"): one for one in root.iter() if one.get("id")}
    unit = root.find("asset/unit")
    scale = float(unit.get("meter", "1")) if unit is not None else 1.0
    turn = UP[(root.findtext("asset/up_axis") or "Y_UP").strip().upper()]
    scene = root.find("scene/instance_visual_scene")
    top = by_id.get(scene.get("url", "").lstrip("#")) if scene is not None else root.find(".//visual_scene")
    shapes = [np.zeros((0, 3, 3))]
    for geometry, placed in _placed(top, by_id):
        corners = _triangles_of(geometry, by_id)
        shapes.append(corners @ placed[:3, :3].T + placed[:3, 3])
        if sum(map(len, shapes)) > MOST_FACES:
            raise ValueError(f"it has more than {MOST_FACES} triangles")
    return np.asarray(scale * np.concatenate(shapes) @ turn.T)


def _placed(top: Element | None, by_id: dict[str | None, Element]) -> Iterator[tuple[Element, Array]]:
    """Yields the geometries of a scene with their places (4, 4)."""
    waiting = [] if top is None else [(node, np.eye(4)) for node in top.findall("node")]
    for count, (node, above) in enumerate(waiting):
        if count > MOST_NODES:
            raise ValueError("its scene refers to itself")
        place = above @ _matrix(node)
        for one in node.findall("instance_geometry"):
            geometry = by_id.get(one.get("url", "").lstrip("#"))
            if geometry is not None:
                yield geometry, place
        waiting += [(child, place) for child in node.findall("node")]
        linked = (by_id.get(one.get("url", "").lstrip("#")) for one in node.findall("instance_node"))
        waiting += [(child, place) for child in linked if child is not None]


def _matrix(node: Element) -> Array:
    """Returns the place (4, 4) of a node in the one above it."""
    out = np.eye(4)
    for part in node:
        numbers = np.array((part.text or "").split(), float) if part.tag in _STEPS else None
        if numbers is not None:
            out = out @ _STEPS[part.tag](numbers)
    return out


def _translation(numbers: Array) -> Array:
    out = np.eye(4)
    out[:3, 3] = numbers
    return out


def _rotation(numbers: Array) -> Array:
    """Returns the turn (4, 4) about an axis, in degrees."""
    axis, angle = numbers[:3] / max(float(np.linalg.norm(numbers[:3])), 1e-12), np.radians(numbers[3])
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    out = np.eye(4)
    out[:3, :3] += np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
    return out


_STEPS: dict[str, Callable[[Array], Array]] = {
    "matrix": lambda numbers: numbers.reshape(4, 4),
    "translate": _translation,
    "rotate": _rotation,
    "scale": lambda numbers: np.diag([*numbers, 1.0]),
}


def _triangles_of(geometry: Element, by_id: dict[str | None, Element]) -> Array:
    """Returns the triangles (n, 3, 3) of one geometry; faces of more corners are cut into fans."""
    shapes = [np.zeros((0, 3, 3))]
    for kind in ("triangles", "polylist", "polygons"):
        for faces in geometry.findall(f"mesh/{kind}"):
            inputs = faces.findall("input")
            stride = 1 + max((int(one.get("offset", "0")) for one in inputs), default=0)
            corner = next(one for one in inputs if one.get("semantic") == "VERTEX")
            places = _positions(by_id[corner.get("source", "").lstrip("#")], by_id)
            offset = int(corner.get("offset", "0"))
            rows = [np.array((p.text or "").split(), np.int64).reshape(-1, stride)[:, offset] for p in faces.iter("p")]
            shapes.append(places[_fans(kind, faces, rows)])
    return np.concatenate(shapes)


def _fans(kind: str, faces: Element, rows: list[Ints]) -> Ints:
    """Returns the corners (n, 3) of triangles that fill the faces, as numbers of places."""
    if kind == "triangles":
        return np.concatenate([np.zeros(0, np.int64), *rows]).reshape(-1, 3)
    if kind == "polylist":
        sizes = np.array((faces.findtext("vcount") or "").split(), np.int64)
        rows = np.split(np.concatenate(rows), np.cumsum(sizes)[:-1]) if len(sizes) else []
    fans = [np.stack([np.full(len(f) - 2, f[0]), f[1:-1], f[2:]], axis=1) for f in rows if len(f) >= 3]
    return np.concatenate([np.zeros((0, 3), np.int64), *fans])


def _positions(vertices: Element, by_id: dict[str | None, Element]) -> Array:
    """Returns the places (n, 3) of a geometry's vertices."""
    given = next(one for one in vertices.findall("input") if one.get("semantic") == "POSITION")
    source = by_id[given.get("source", "").lstrip("#")]
    numbers = np.array((source.findtext("float_array") or "").split(), float)
    accessor = source.find("technique_common/accessor")
    stride = int(accessor.get("stride", "3")) if accessor is not None else 3
    return numbers.reshape(-1, stride)[:, :3]
