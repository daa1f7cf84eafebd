"""Meshes of FBX files are kept: written to GLB and USD, judged by pygltflib, by UsdSkel, and by sums done here."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from test_fbx import spoilt

import counterpoise as cp
from counterpoise import spatial
from counterpoise.errors import BadValue, CounterpoiseError
from counterpoise.motion.clips import clip_of_motion
from counterpoise.motion.files import fbx, fbx_write
from counterpoise.motion.files.fbx_write import CENTIMETRES, FbxRecord, build_fbx
from counterpoise.motion.files.gltf import to_y_up, turn_y_up

pytest.importorskip("ufbx", reason="ufbx is not installed")
RATE = 30.0
BONES = ("shank_left", "foot_left", "thigh_left")
CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]) * 8.0  # [cm], its own
QUADS = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
LIES = np.array([30.0, 40.0, -20.0])  # [cm] the place of the mesh when it was bound
SPOILT, MANY_SPOILT = 10, 500


@dataclass(frozen=True)
class Skinned:
    """A file with a box that three bones move, and where its corners are."""

    data: bytes
    corners: np.ndarray  # (frames, 8, 3) [m] z up, computed here


def frames_in_file(clip, pose) -> dict[str, np.ndarray]:
    """Matrices (4, 4) of the bones in the file's world [cm, y up]: in a frame, or at rest for -1."""
    places, turns = (one[pose] for one in clip.world()) if pose >= 0 else clip.skeleton.world()
    out = {}
    for name in BONES:
        k = clip.skeleton.names.index(name)
        M = np.eye(4)
        M[:3, :3], M[:3, 3] = spatial.to_matrix(turn_y_up(turns[k])), CENTIMETRES * to_y_up(places[k])
        out[name] = M
    return out


def shares() -> np.ndarray:
    """Weights (8, 3) of the corners; the last corner follows one bone alone."""
    out = np.random.default_rng(4).random((8, 3))
    out[7] = (0.0, 1.0, 0.0)
    return out / out.sum(axis=1, keepdims=True)


def picture() -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (4, 4), (200, 30, 40)).save(made, "PNG")
    return made.getvalue()


def skinned(clip, bound_in: int, monkeypatch) -> Skinned:
    """A file whose box was bound in a frame of the clip (-1: at rest)."""
    still, weights = frames_in_file(clip, bound_in), shares()
    placed = np.eye(4)
    placed[:3, 3] = LIES
    records = fbx_write._records(clip)
    objects = next(one for one in records if one.name == "Objects")
    links = next(one for one in records if one.name == "Connections")
    bones = {str(one.values[1]).split("\x00")[0]: one.values[0] for one in objects.inside if one.name == "Model"}
    add_box(objects, links)
    for number, (name, share) in enumerate(zip(BONES, weights.T, strict=True), start=100):
        cluster = objects.add("Deformer", np.int64(number), f"{name}{fbx_write.SEPARATOR}SubDeformer", "Cluster")
        cluster.add("Version", 100)
        used = np.flatnonzero(share > 0.0)
        cluster.add("Indexes", used.astype(np.int32))
        cluster.add("Weights", share[used])
        cluster.add("Transform", np.linalg.solve(still[name], placed).T.reshape(-1))
        cluster.add("TransformLink", still[name].T.reshape(-1))
        links.add("C", "OO", np.int64(number), np.int64(12))
        links.add("C", "OO", bones[name], np.int64(number))
    monkeypatch.setattr(fbx_write, "_records", lambda _: records)
    data = build_fbx(clip)
    monkeypatch.undo()
    corners = []
    for frame in range(len(clip)):
        now, x = frames_in_file(clip, frame), np.c_[CORNERS + LIES, np.ones(8)]
        moved = sum(
            share[:, None] * (x @ (now[name] @ np.linalg.inv(still[name])).T)
            for name, share in zip(BONES, weights.T, strict=True)
        )
        p = moved[:, :3] / CENTIMETRES
        corners.append(np.stack([p[:, 0], -p[:, 2], p[:, 1]], axis=1))
    return Skinned(data, np.array(corners))


def add_box(objects: FbxRecord, links: FbxRecord) -> None:
    """A mesh with two materials, one with a picture in the file; a node for it; a skin without clusters."""
    end = fbx_write.SEPARATOR
    box = objects.add("Geometry", np.int64(10), f"box{end}Geometry", "Mesh")
    box.add("Vertices", CORNERS.reshape(-1))
    index = QUADS.copy()
    index[:, 3] = ~index[:, 3]
    box.add("PolygonVertexIndex", index.reshape(-1).astype(np.int32))
    for kind, title, values, numbers in (
        ("LayerElementUV", "UV", np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]), np.tile(np.arange(4), 6)),
        ("LayerElementMaterial", "Materials", None, np.array([0, 0, 0, 0, 1, 1])),
    ):
        layer = box.add(kind, 0)
        layer.add("MappingInformationType", "ByPolygon" if values is None else "ByPolygonVertex")
        layer.add("ReferenceInformationType", "IndexToDirect")
        if values is not None:
            layer.add("UV", values)
            layer.add("UVIndex", numbers.astype(np.int32))
        else:
            layer.add(title, numbers.astype(np.int32))
    node = objects.add("Model", np.int64(11), f"box{end}Model", "Mesh")
    fbx_write._properties(node, [("Lcl Translation", "Lcl Translation", "", "A", *map(float, LIES))])
    objects.add("Deformer", np.int64(12), f"skin{end}Deformer", "Skin").add("Version", 101)
    for number, colour in ((13, (1.0, 1.0, 1.0)), (14, (0.1, 0.7, 0.2))):
        look = objects.add("Material", np.int64(number), f"look_{number}{end}Material", "")
        look.add("ShadingModel", "lambert")
        fbx_write._properties(look, [("DiffuseColor", "Color", "", "A", *colour)])
        links.add("C", "OO", np.int64(number), np.int64(11))
    objects.add("Video", np.int64(15), f"picture{end}Video", "Clip").add("Content", picture())
    texture = objects.add("Texture", np.int64(16), f"picture{end}Texture", "")
    texture.add("FileName", "/nowhere/picture.png")
    for child, parent in ((11, 0), (10, 11), (12, 10), (15, 16)):
        links.add("C", "OO", np.int64(child), np.int64(parent))
    links.add("C", "OP", np.int64(16), np.int64(13), "DiffuseColor")


@pytest.fixture(scope="module")
def clip():
    return clip_of_motion(cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.6), RATE)


@pytest.fixture(params=[-1, 12], ids=["bound at rest", "bound in another pose"])
def file(request, clip, monkeypatch, tmp_path: Path) -> tuple[Path, np.ndarray]:
    made = skinned(clip, request.param, monkeypatch)
    (tmp_path / "box.fbx").write_bytes(made.data)
    return tmp_path / "box.fbx", made.corners


def worst(points: np.ndarray, corners: np.ndarray) -> float:
    """How far the corners are from the nearest points, and points from corners [m]."""
    apart = np.linalg.norm(points[:, None] - corners[None], axis=2)
    return float(max(apart.min(axis=0).max(), apart.min(axis=1).max()))


def test_a_mesh_is_read_with_its_weights_binds_and_looks(file: tuple[Path, np.ndarray]):
    path, corners = file
    clip = fbx.read_clip(path)
    (mesh,) = clip.meshes
    assert len(mesh.faces) == 12 and mesh.name == "box" and len(mesh.joints) == 3
    assert np.allclose(mesh.weights.sum(axis=1), 1.0) and (np.unique(mesh.weights, axis=0).shape[0]) == 8
    places, turns = clip.world()
    for frame in range(len(clip)):
        assert worst(mesh.posed(places[frame], spatial.to_matrix(turns[frame])), corners[frame]) < 1e-6
    looks = {mesh.materials[k].name: mesh.materials[k] for k in set(mesh.material_of.tolist())}
    assert looks["look_13"].image == picture() and looks["look_14"].image == b""
    assert np.allclose(looks["look_14"].colour, (0.1, 0.7, 0.2), atol=1e-6)
    a, b, c = (mesh.points[mesh.faces[:, k]] for k in range(3))
    outward = (a + b + c) / 3.0 - mesh.points.mean(axis=0)
    assert (np.sum(np.cross(b - a, c - a) * outward, axis=1) > 0.0).all()  # anticlockwise, seen from outside


def test_gltf_is_written_with_the_mesh(file: tuple[Path, np.ndarray], tmp_path: Path):
    from pygltflib import GLTF2

    path, corners = file
    motion = cp.read_motion(path)
    motion.write(tmp_path / "box.glb")
    doc = GLTF2().load(tmp_path / "box.glb")
    blob = doc.binary_blob()

    def numbers(index: int, kind: str, width: int) -> np.ndarray:
        accessor = doc.accessors[index]
        view = doc.bufferViews[accessor.bufferView]
        return np.frombuffer(blob, kind, accessor.count * width, view.byteOffset or 0).reshape(-1, width)

    (skin,) = doc.skins
    inverse = numbers(skin.inverseBindMatrices, "<f4", 16).reshape(-1, 4, 4).transpose(0, 2, 1)
    clip = clip_of_motion(motion)
    names = [doc.nodes[n].name for n in skin.joints]
    places, turns = clip.world()
    for frame in (0, 5, len(clip) - 1):
        world = np.tile(np.eye(4), (len(names), 1, 1))
        for k, name in enumerate(names):
            j = clip.skeleton.names.index(name)
            world[k, :3, :3] = spatial.to_matrix(turn_y_up(turns[frame, j]))
            world[k, :3, 3] = to_y_up(places[frame, j])
        found = []
        for primitive in doc.meshes[0].primitives:
            x = numbers(primitive.attributes.POSITION, "<f4", 3)
            points = np.c_[x, np.ones(len(x))]
            joints = numbers(primitive.attributes.JOINTS_0, "<u2", 4)
            weights = numbers(primitive.attributes.WEIGHTS_0, "<f4", 4)
            moved = np.einsum("kj,kjab,kb->ka", weights, (world @ inverse)[joints], points)[:, :3]
            found.append(np.stack([moved[:, 0], -moved[:, 2], moved[:, 1]], axis=1))
        assert worst(np.concatenate(found), corners[frame]) < 1e-5
    (image,) = doc.images
    view = doc.bufferViews[image.bufferView]
    assert image.mimeType == "image/png" and blob[view.byteOffset :][: view.byteLength] == picture()
    assert sum(m.pbrMetallicRoughness.baseColorTexture is not None for m in doc.materials) == 1
    again = cp.read_motion(tmp_path / "box.glb")
    assert len(again) == len(motion)


def test_usd_is_written_with_the_mesh(file: tuple[Path, np.ndarray], tmp_path: Path):
    from pxr import Usd, UsdGeom, UsdSkel

    path, corners = file
    cp.read_motion(path).write(tmp_path / "box.usda")
    stage = Usd.Stage.Open(str(tmp_path / "box.usda"))
    root = UsdSkel.Root(stage.GetDefaultPrim())
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    (binding,) = cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(binding.GetSkeleton())
    (target,) = binding.GetSkinningTargets()
    points = UsdGeom.Mesh(target.GetPrim()).GetPointsAttr()
    for frame in range(len(corners)):
        moved = points.Get()
        assert target.ComputeSkinnedPoints(query.ComputeSkinningTransforms(float(frame)), moved, float(frame))
        assert worst(np.array(moved), corners[frame]) < 1e-5


def test_what_is_fixed_or_cut_keeps_the_mesh_and_what_is_retargeted_does_not(clip, monkeypatch, tmp_path: Path):
    path = tmp_path / "box.fbx"
    path.write_bytes(skinned(clip, -1, monkeypatch).data)
    motion = cp.read_motion(path)
    motion.slice(0.1, 0.4).write(tmp_path / "cut.glb", body="kept")
    assert b'"name":"box"' in (tmp_path / "cut.glb").read_bytes().replace(b": ", b":")
    motion.write(tmp_path / "shapes.glb", body="shapes")
    assert b'"box"' not in (tmp_path / "shapes.glb").read_bytes()
    child = cp.read_motion(path, character="child")
    with pytest.raises(BadValue, match="keeps no meshes"):
        child.write(tmp_path / "child.glb", body="kept")
    with pytest.raises(BadValue, match="'kept', 'shapes' or 'smooth'"):
        motion.write(tmp_path / "bad.usda", body="capsules")


def check_spoilt(clip, monkeypatch, tmp_path: Path, count: int) -> int:
    data, read = skinned(clip, -1, monkeypatch).data, 0
    for seed in range(count):
        path = tmp_path / f"{seed}.fbx"
        path.write_bytes(spoilt(data, 7000 + seed))
        try:
            motion = cp.read_motion(path)
            motion.write(tmp_path / f"{seed}.glb")
        except CounterpoiseError as error:
            assert "\n" not in str(error)
            continue
        read += 1
    return read


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_spoilt_files_with_meshes_are_refused_or_written(clip, monkeypatch, tmp_path: Path):
    check_spoilt(clip, monkeypatch, tmp_path, SPOILT)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_many_spoilt_files_with_meshes(clip, monkeypatch, tmp_path: Path):
    assert 0 < check_spoilt(clip, monkeypatch, tmp_path, MANY_SPOILT) < MANY_SPOILT
