"""glTF: written files judged by pygltflib and plain matrices, read files made by hand as other programs make them."""

from __future__ import annotations

import json
import math
import os
import random
import struct
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pygltflib
import pytest
from binary_clips import clip_of_bodies, gap_to_shapes, random_clip
from gltf_files import Handmade, packed, swinging
from pygltflib.validator import validate
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

from counterpoise import spatial
from counterpoise.character.library import character
from counterpoise.errors import BadFile, BadValue, CounterpoiseError
from counterpoise.motion import Motion, reference_motion
from counterpoise.motion.clips import clip_of_motion
from counterpoise.motion.files import gltf
from counterpoise.motion.skeleton import Clip, Skeleton

UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # y up to z up


@pytest.fixture(scope="module")
def squat():
    return reference_motion("squat", character("human"))


# ------------------------------------------------------------------------------------------------------ writing


class Judge:
    """A glTF file as pygltflib and 4 x 4 matrices see it."""

    def __init__(self, path: Path) -> None:
        self.file = pygltflib.GLTF2().load(str(path))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it calls itself provisional
            validate(self.file)
        self.blob = self.file.binary_blob() or self.file.get_data_from_buffer_uri(self.file.buffers[0].uri)

    def numbers(self, index: int) -> np.ndarray:
        accessor = self.file.accessors[index]
        view = self.file.bufferViews[accessor.bufferView]
        kinds = {5126: np.float32, 5123: np.uint16, 5121: np.uint8, 5125: np.uint32}
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor.type]
        kind = np.dtype(kinds[accessor.componentType])
        start = (view.byteOffset or 0) + (accessor.byteOffset or 0)
        assert start % kind.itemsize == 0 and view.byteOffset % 4 == 0
        assert accessor.count * width * kind.itemsize <= view.byteLength
        values = np.frombuffer(self.blob, kind, accessor.count * width, start).reshape(-1, width)
        if accessor.min:
            assert values.min(axis=0).tolist() == accessor.min and values.max(axis=0).tolist() == accessor.max
        return values

    def world(self, frame: int, rate: float) -> np.ndarray:
        """Every node's matrix at a frame, keys read off where they are."""
        local = {}
        for i, node in enumerate(self.file.nodes):
            local[i] = [node.translation or [0, 0, 0], node.rotation or [0, 0, 0, 1]]
            assert node.scale in (None, [1.0, 1.0, 1.0]) and node.matrix is None
        animation = self.file.animations[0]
        for channel in animation.channels:
            sampler = animation.samplers[channel.sampler]
            times, values = self.numbers(sampler.input)[:, 0], self.numbers(sampler.output)
            key = 0 if len(times) == 1 else int(np.argmin(np.abs(times - frame / rate)))
            assert len(times) == 1 or abs(times[key] - frame / rate) < 1e-5
            local[channel.target.node][channel.target.path == "rotation"] = values[key]
        out = np.zeros((len(local), 4, 4))
        todo = [(i, np.eye(4)) for i in self.file.scenes[self.file.scene].nodes]
        while todo:
            i, above = todo.pop()
            here = np.eye(4)
            here[:3, :3] = Rotation.from_quat(local[i][1]).as_matrix()
            here[:3, 3] = local[i][0]
            out[i] = above @ here
            todo += [(child, out[i]) for child in self.file.nodes[i].children or []]
        return out

    def skinned(self, frame: int, rate: float) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Joint, corner points and normals of every primitive where the skin carries them at a frame."""
        skin = self.file.skins[0]
        binds = self.numbers(skin.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
        carry = np.einsum("nij,njk->nik", self.world(frame, rate)[skin.joints], binds)
        out = []
        for part in self.file.meshes[0].primitives:
            points, normals = (self.numbers(getattr(part.attributes, name)) for name in ("POSITION", "NORMAL"))
            joint, weight = self.numbers(part.attributes.JOINTS_0), self.numbers(part.attributes.WEIGHTS_0)
            assert (weight == [1, 0, 0, 0]).all() and (joint[:, 1:] == 0).all()
            assert np.abs(np.linalg.norm(normals, axis=1) - 1).max() < 1e-5
            turn = carry[joint[:, 0]]
            where = np.einsum("kij,kj->ki", turn[:, :3, :3], points) + turn[:, :3, 3]
            out.append((joint[:, 0], where, np.einsum("kij,kj->ki", turn[:, :3, :3], normals)))
            index = self.numbers(part.indices)[:, 0].reshape(-1, 3)
            assert index.max() < len(points)
            a, b, c = (where[index[:, k]] for k in range(3))
            facing = np.einsum("ki,ki->k", np.cross(b - a, c - a), out[-1][2][index].mean(axis=1))
            assert (facing > 0).all()  # the outside is outside
        return out


@pytest.mark.parametrize("name", ["a.glb", "a.gltf"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_joints_stand_where_the_clip_says(tmp_path: Path, seed: int, name: str):
    clip = random_clip(seed)
    gltf.write_clip(tmp_path / name, clip)
    judge = Judge(tmp_path / name)
    joints = judge.file.skins[0].joints
    assert [judge.file.nodes[j].name for j in joints] == list(clip.skeleton.names)
    places, turns = clip.world()
    for frame in (0, 7, len(clip) - 1):
        found = judge.world(frame, clip.rate)[joints]
        assert np.abs(found[:, :3, 3] @ UP.T - places[frame]).max() < 1e-5
        assert np.abs(UP @ found[:, :3, :3] @ UP.T - spatial.to_matrix(turns[frame])).max() < 1e-5


def test_the_body_moves_as_the_shapes_do(tmp_path: Path, squat):
    """Skinned corners lie on MuJoCo's own capsules, spheres and ellipsoids in every pose."""
    gltf.write_clip(tmp_path / "a.glb", clip_of_motion(squat), motion=squat, body="shapes")
    judge = Judge(tmp_path / "a.glb")
    for frame in (0, 60, 100):
        for joint, points, _ in judge.skinned(frame, squat.rate):
            assert gap_to_shapes(squat.character.model, squat.poses[frame], joint + 1, points @ UP.T) < 1e-5


def test_every_shape_can_be_a_body(tmp_path: Path):
    """A model with boxes, cylinders and a mesh; corners stay where their body carries them."""
    from counterpoise.character import Character
    from counterpoise.motion import Motion

    text = """<mujoco><asset><mesh name="m" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset><worldbody>
    <body name="a"><freejoint name="root"/><geom type="box" size=".1 .2 .3"/>
    <body name="b" pos="0 0 .4"><joint name="j" axis="0 1 0"/><geom type="cylinder" size=".05 .2" rgba="1 0 0 .5"/>
    <geom type="mesh" mesh="m"/></body></body></worldbody></mujoco>"""
    body = Character.from_mjcf(text)
    poses = np.tile(body.neutral, (3, 1))
    poses[:, 7] = (0.0, 0.5, 1.0)
    motion = Motion(body, np.arange(3) / 10, poses)
    gltf.write_clip(tmp_path / "a.glb", clip_of_motion(motion), motion=motion)
    judge = Judge(tmp_path / "a.glb")
    volume = 0.0
    for part in judge.file.meshes[0].primitives:
        points, faces = judge.numbers(part.attributes.POSITION), judge.numbers(part.indices)[:, 0].reshape(-1, 3)
        volume += np.einsum("ki,ki->", points[faces[:, 0]], np.cross(points[faces[:, 1]], points[faces[:, 2]])) / 6
    polygon = 0.5 * 16 * math.sin(2 * math.pi / 16)  # of a circle of 16 corners
    assert volume == pytest.approx(0.048 + polygon * 0.05**2 * 0.4 + 0.001 / 6, rel=1e-4)
    assert [m.alphaMode for m in judge.file.materials].count("BLEND") == 1


def test_only_what_moves_has_keys(tmp_path: Path, squat):
    clip = clip_of_motion(squat)
    gltf.write_clip(tmp_path / "a.glb", clip, motion=squat)
    file = pygltflib.GLTF2().load(str(tmp_path / "a.glb"))
    moved = {file.nodes[c.target.node].name for c in file.animations[0].channels if c.target.path == "translation"}
    assert moved == {"pelvis"}
    inputs = {file.accessors[s.input].count for s in file.animations[0].samplers}
    assert inputs <= {1, len(clip)}


def test_the_same_clip_gives_the_same_bytes(tmp_path: Path, squat):
    clip = clip_of_motion(squat)
    for name in ("a.glb", "b.glb", "a.gltf", "b.gltf"):
        gltf.write_clip(tmp_path / name, clip, motion=squat)
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()
    assert (tmp_path / "a.gltf").read_bytes() == (tmp_path / "b.gltf").read_bytes()


def test_names_are_clean_and_unique(tmp_path: Path):
    names = ("a/b", "a_b", "", "  ", "a_b", "Hüfte\n", "x" * 100)
    skeleton = Skeleton(names, (-1, 0, 1, 2, 3, 4, 5), np.ones((7, 3)), np.tile([1.0, 0, 0, 0], (7, 1)))
    clip = Clip(skeleton, 30.0, np.tile(skeleton.rest, (2, 1, 1)), np.tile(skeleton.offsets, (2, 1, 1)))
    gltf.write_clip(tmp_path / "a.gltf", clip)
    file = json.loads((tmp_path / "a.gltf").read_text())
    found = [node["name"] for node in file["nodes"]]
    assert len(set(found)) == len(found) == 9
    assert all(name and name.isprintable() and len(name) <= 66 and "/" not in name for name in found)


def test_what_cannot_be_written_is_said(tmp_path: Path):
    with pytest.raises(BadValue, match=r"\.glb or \.gltf"):
        gltf.write_clip(tmp_path / "a.fbx", random_clip(0))
    with pytest.raises(BadFile, match="no folder"):
        gltf.write_clip(tmp_path / "nowhere" / "a.glb", random_clip(0))


# ---------------------------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize(("name", "buffer"), [("a.glb", "embedded"), ("a.gltf", "embedded"), ("ä b.gltf", "beside")])
def test_what_is_written_is_read_back(tmp_path: Path, name: str, buffer):
    clip = random_clip(3, joints=30, frames=50, rate=59.94)
    gltf.write_clip(tmp_path / name, clip, buffer=buffer)
    again = gltf.read_clip(tmp_path / name)
    assert again.skeleton.names == clip.skeleton.names and again.skeleton.parents == clip.skeleton.parents
    assert again.rate == clip.rate and len(again) == len(clip) and again.name == "random"
    assert np.abs(again.world()[0] - clip.world()[0]).max() < 3e-6
    assert np.abs(again.skeleton.offsets - clip.skeleton.offsets).max() < 1e-6


def test_a_human_comes_back_with_its_ends(tmp_path: Path, squat):
    clip = clip_of_bodies(squat)
    gltf.write_clip(tmp_path / "a.glb", clip, motion=squat)
    again = gltf.read_clip(tmp_path / "a.glb")
    assert np.abs(again.world()[0] - clip.world()[0]).max() < 1e-6
    assert [joint for joint, _ in again.skeleton.ends] == [joint for joint, _ in clip.skeleton.ends]
    assert np.allclose([end for _, end in again.skeleton.ends], [end for _, end in clip.skeleton.ends])


def test_a_single_pose_is_a_clip_too(tmp_path: Path):
    clip = random_clip(0, frames=1)
    gltf.write_clip(tmp_path / "a.glb", clip)
    again = gltf.read_clip(tmp_path / "a.glb")
    assert len(again) == 1 and np.abs(again.world()[0] - clip.world()[0]).max() < 3e-6


# ------------------------------------------------------------------------------------- what other programs write


def y_up(clip: Clip) -> np.ndarray:
    """Joint places in the file's own axes, for files read with forward='x'."""
    return clip.world()[0] @ UP


def test_linear_keys_turn_along_the_arc(tmp_path: Path):
    doc = Handmade([{"children": [1]}, {"translation": [1, 0, 0]}], [0, 1])
    turns = Rotation.random(4, random_state=1)
    times = np.array([0.0, 0.4, 0.5, 1.1])
    values = turns.as_quat() * [[1], [-1], [1], [-1]]  # q and -q are the same turn
    doc.channel(0, "rotation", doc.accessor(times), doc.accessor(values))
    clip = gltf.read_clip(doc.gltf(tmp_path / "a.gltf"), rate=100, forward="x")
    at = np.minimum(np.arange(len(clip)) / 100, 1.1)
    assert np.abs(y_up(clip)[:, 1] - Slerp(times, turns)(at).apply([1, 0, 0])).max() < 1e-6


def test_step_keys_hold(tmp_path: Path):
    doc = Handmade([{"name": "a"}])
    doc.channel(
        0, "translation", doc.accessor([0.0, 0.5, 1.0]), doc.accessor([[0, 0, 0], [1, 2, 3], [4, 5, 6]]), "STEP"
    )
    clip = gltf.read_clip(doc.glb(tmp_path / "a.glb"), rate=10, forward="x")
    places = y_up(clip)[:, 0]
    assert np.allclose(places[:5], 0) and np.allclose(places[5:10], [1, 2, 3]) and np.allclose(places[10], [4, 5, 6])


def test_cubic_splines_follow_hermite(tmp_path: Path):
    rng = np.random.default_rng(0)
    times = np.array([0.0, 0.3, 1.0, 1.2])
    values = rng.normal(size=(4, 3, 3))  # in-tangent, value, out-tangent
    doc = Handmade([{"children": [1]}, {"translation": [0, 1, 0]}], [0, 1])
    at = doc.accessor(times)
    doc.channel(0, "translation", at, doc.accessor(values.reshape(-1, 3)), "CUBICSPLINE")
    turns = np.concatenate([0.1 * rng.normal(size=(4, 1, 4)), Rotation.random(4, random_state=2).as_quat()[:, None]], 1)
    turns = np.concatenate([turns, 0.1 * rng.normal(size=(4, 1, 4))], axis=1)
    doc.channel(0, "rotation", at, doc.accessor(turns.reshape(-1, 4)), "CUBICSPLINE")
    clip = gltf.read_clip(doc.gltf(tmp_path / "a.gltf"), rate=50, forward="x")
    frames = np.arange(len(clip)) / 50

    def judged(keys: np.ndarray) -> np.ndarray:
        out = np.empty((len(frames), keys.shape[2]))
        for k in range(3):  # every stretch has its own tangents
            part = CubicHermiteSpline(times[k : k + 2], keys[k : k + 2, 1], [keys[k, 2], keys[k + 1, 0]])
            inside = (frames >= times[k] - 1e-9) & (frames <= times[k + 1] + 1e-9)
            out[inside] = part(frames[inside])
        return out

    move, turn = judged(values), Rotation.from_quat(judged(turns))
    assert np.abs(y_up(clip)[:, 0] - move).max() < 1e-5
    assert np.abs(y_up(clip)[:, 1] - move - turn.apply([0, 1, 0])).max() < 1e-5


@pytest.mark.parametrize("kind", ["i1", "u1", "<i2", "<u2"])
def test_rotations_may_be_whole_numbers(tmp_path: Path, kind: str):
    doc = Handmade([{"children": [1]}, {"translation": [1, 0, 0]}], [0, 1])
    turns = (
        np.abs(Rotation.random(3, random_state=3).as_quat())
        if kind.startswith(("u", "<u"))
        else (Rotation.random(3, random_state=3).as_quat())
    )
    most = np.iinfo(np.dtype(kind)).max
    stored = np.round(turns * most).astype(kind)
    doc.channel(0, "rotation", doc.accessor([0.0, 0.1, 0.2]), doc.accessor(stored, kind, normalized=True))
    clip = gltf.read_clip(doc.glb(tmp_path / "a.glb"), forward="x")
    assert clip.rate == 10.0
    expected = Rotation.from_quat(stored / most).apply([1, 0, 0])
    assert np.abs(y_up(clip)[:, 1] - expected).max() < 1e-6


def test_interleaved_and_sparse_numbers(tmp_path: Path):
    doc = Handmade([{"name": "a"}])
    rows = np.zeros((4, 5), "<f4")  # time, place, something else
    rows[:, 0], rows[:, 1:4], rows[:, 4] = [0, 0.1, 0.2, 0.3], np.arange(12).reshape(4, 3), np.nan
    view = doc.view(rows.tobytes(), byteStride=20)
    doc.root["accessors"] = [
        {"bufferView": view, "componentType": 5126, "count": 4, "type": "SCALAR"},
        {
            "bufferView": view, "byteOffset": 4, "componentType": 5126, "count": 4, "type": "VEC3",
            "sparse": {
                "count": 2,
                "indices": {"bufferView": doc.view(bytes([1, 3])), "componentType": 5121},
                "values": {"bufferView": doc.view(np.array([[7, 8, 9], [-1, -2, -3]], "<f4").tobytes())},
            },
        },
    ]  # fmt: skip
    doc.channel(0, "translation", 0, 1)
    clip = gltf.read_clip(doc.gltf(tmp_path / "a.gltf"), forward="x")
    assert np.allclose(y_up(clip)[:, 0], [[0, 1, 2], [7, 8, 9], [6, 7, 8], [-1, -2, -3]], atol=1e-6)


def test_matrices_scales_and_carriers_are_worked_in(tmp_path: Path):
    """An armature node in centimetres, turned, animated, around joints of which one has a matrix."""
    rng = np.random.default_rng(5)
    turn, deep = Rotation.random(2, random_state=7)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = 2.0 * deep.as_matrix(), rng.normal(size=3)
    nodes = [
        {"name": "armature", "scale": [0.01] * 3, "rotation": turn.as_quat().tolist(), "children": [1]},
        {"name": "hips", "translation": [10, 20, 30], "children": [2, 3]},
        {"name": "spine", "matrix": matrix.T.ravel().tolist(), "children": [4]},
        {"name": "mesh node", "mesh": 0},
        {"name": "between", "translation": [5, 0, 0], "children": [5]},
        {"name": "head", "translation": [0, 100, 0], "scale": [1, 2, 3]},  # nothing hangs on it
    ]
    doc = Handmade(nodes, [1, 2, 5])
    times, moves = np.array([0.0, 0.5, 1.0]), rng.normal(size=(3, 3))
    doc.channel(0, "translation", doc.accessor(times), doc.accessor(moves))
    clip = gltf.read_clip(doc.gltf(tmp_path / "a.gltf"), rate=2, forward="x")
    assert clip.skeleton.names == ("hips", "spine", "between", "head")
    for frame in range(3):
        top = np.eye(4)
        top[:3, :3], top[:3, 3] = 0.01 * turn.as_matrix(), moves[frame]
        hips, between, head = np.eye(4), np.eye(4), np.eye(4)
        hips[:3, 3], between[:3, 3], head[:3, 3] = [10, 20, 30], [5, 0, 0], [0, 100, 0]
        chain, expected = top, []
        for step in (hips, matrix, between, head):
            chain = chain @ step
            expected.append(chain[:3, 3])
        assert np.abs(y_up(clip)[frame] - expected).max() < 1e-6


def test_without_a_skin_animated_nodes_are_joints(tmp_path: Path):
    doc = swinging()
    del doc.root["skins"]
    doc.root["nodes"].append({"name": "lamp"})
    doc.channel(1, "rotation", doc.accessor([0.0]), doc.accessor([[0, 0, 0, 1]]))
    clip = gltf.read_clip(doc.gltf(tmp_path / "a.gltf"))
    assert clip.skeleton.names == ("hip", "knee") and clip.rate == 24.0  # four keys a second are too few to be frames


def test_roots_that_share_a_node_hang_on_it(tmp_path: Path):
    doc = Handmade(
        [{"name": "rig", "children": [1, 2]}, {"name": "a"}, {"name": "b", "translation": [1, 0, 0]}], [1, 2]
    )
    doc.channel(2, "translation", doc.accessor([0.0, 0.1]), doc.accessor([[1, 0, 0], [2, 0, 0]]))
    clip = gltf.read_clip(doc.gltf(tmp_path / "a.gltf"), forward="x")
    assert clip.skeleton.names == ("rig", "a", "b") and clip.skeleton.roots == (0,)
    assert np.allclose(y_up(clip)[:, 2], [[1, 0, 0], [2, 0, 0]])


def test_animation_and_skin_are_chosen(tmp_path: Path):
    doc = swinging()
    doc.root["animations"].append({"name": "rest", "channels": [], "samplers": []})
    doc.root["nodes"].append({"name": "other"})
    doc.root["skins"].append({"joints": [2], "name": "tail"})
    path = doc.gltf(tmp_path / "a.gltf")
    assert gltf.read_clip(path, animation="walk").skeleton.names == ("hip", "knee")
    assert "one of 2" in gltf.read_clip(path).notes["remarks"][-2]
    with pytest.raises(CounterpoiseError, match="did you mean 'walk'"):
        gltf.read_clip(path, animation="wlak")
    with pytest.raises(CounterpoiseError, match="counted from 0"):
        gltf.read_clip(path, animation=5)
    with pytest.raises(BadFile, match="moves no node"):
        gltf.read_clip(path, animation=1)
    with pytest.raises(BadFile, match="none of the skin's joints"):
        gltf.read_clip(path, skin="tail")


@pytest.mark.parametrize(
    ("times", "rate"),
    [
        (np.arange(50) / 30, 30.0),
        (100 + np.arange(500) / 120, 120.0),
        (np.arange(500) * 1001 / 30000, 30000 / 1001),
        (np.delete(np.arange(200), [5, 6, 90]) / 24, 24.0),
        ([0.0, 1.0, 2.5], 24.0),
        (np.sort(np.random.default_rng(0).uniform(0, 3, 40)), 60.0),
    ],
)
def test_the_rate_is_guessed_from_the_keys(tmp_path: Path, times, rate: float):
    doc = Handmade([{"name": "a"}])
    keys = np.asarray(times)
    doc.channel(0, "translation", doc.accessor(keys), doc.accessor(np.outer(keys, [1, 2, 3])))
    clip = gltf.read_clip(doc.glb(tmp_path / "a.glb"), forward="x")
    assert clip.rate == pytest.approx(rate, rel=1e-6)
    assert len(clip) == round(float(keys[-1] - keys[0]) * rate) + 1
    assert np.abs(y_up(clip)[:, 0, 0] - keys[0] - np.arange(len(clip)) / clip.rate).max() < 0.03 / rate


# ------------------------------------------------------------------------------------------------- hostile files


def spoil(change) -> Handmade:
    doc = swinging()
    change(doc.root)
    return doc


def deep(root: dict) -> None:
    root["nodes"] = [{"children": [i + 1]} for i in range(9999)] + [{}]
    root["skins"][0]["joints"] = list(range(10_000))


TIMES = {"componentType": 5126, "type": "SCALAR"}
SPOILT = {
    "version": (lambda r: r["asset"].update(version="1.0"), "/asset/version"),
    "extension": (lambda r: r.update(extensionsRequired=["EXT_meshopt_compression"]), "/extensionsRequired/0"),
    "circle": (lambda r: r["nodes"][1].update(children=[0]), "circle"),
    "itself": (lambda r: r["nodes"][0].update(children=[0]), "its own child"),
    "two parents": (lambda r: r["nodes"].append({"children": [1]}), "two parents"),
    "far child": (lambda r: r["nodes"][0].update(children=[7]), "/nodes/0/children/0 is 7"),
    "child text": (lambda r: r["nodes"][0].update(children=["x"]), "/nodes/0/children/0"),
    "deep": (deep, "joints, more than"),
    "no nodes": (lambda r: r.update(nodes=[]), "no nodes"),
    "no animation": (lambda r: r.update(animations=[]), "no animation"),
    "far joint": (lambda r: r["skins"][0].update(joints=[0, 99]), "/skins/0/joints/1"),
    "no joints": (lambda r: r["skins"][0].update(joints=[]), "/skins/0/joints is empty"),
    "scale": (lambda r: r["nodes"][0].update(scale=[1, 2, 1]), "/nodes/0/scale"),
    "mirror": (lambda r: r["nodes"][0].update(scale=[-1, -1, -1]), "/nodes/0/scale"),
    "shear": (lambda r: r["nodes"][0].update(matrix=[1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), "shears"),
    "projection": (lambda r: r["nodes"][0].update(matrix=[1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), "last row"),
    "no turn": (lambda r: r["nodes"][1].update(rotation=[0, 0, 0, 0]), "/nodes/1/rotation"),
    "huge place": (lambda r: r["nodes"][1].update(translation=[1e20, 0, 0]), "further away"),
    "place text": (lambda r: r["nodes"][1].update(translation=["a", 0, 0]), "/nodes/1/translation"),
    "count": (lambda r: r["accessors"][0].update(count=10**9), "too many numbers for a file of this size"),
    "count a little": (lambda r: r["accessors"][0].update(count=6), "do not fit"),
    "negative count": (lambda r: r["accessors"][0].update(count=-1), "/accessors/0/count"),
    "offset": (lambda r: r["accessors"][0].update(byteOffset=10**8), "do not fit"),
    "view": (lambda r: r["accessors"][0].update(bufferView=44), "not one of the 2 buffer views"),
    "view length": (lambda r: r["bufferViews"][0].update(byteLength=10**6), "ends at byte"),
    "stride": (lambda r: r["bufferViews"][1].update(byteStride=8), "byteStride 8"),
    "buffer": (lambda r: r["bufferViews"][0].update(buffer=3), "not one of the 1 buffers"),
    "component": (lambda r: r["accessors"][0].update(componentType=1), "componentType 1"),
    "type": (lambda r: r["accessors"][0].update(type="VEC3"), "SCALAR is needed"),
    "raw whole numbers": (lambda r: r["accessors"][1].update(componentType=5123), "must be normalized, or floats"),
    "no bytes": (lambda r: r["accessors"].insert(0, {**TIMES, "count": 10**8}), "too many numbers"),
    "times stand": (lambda r: r["accessors"][0].pop("bufferView"), "key 1 does not"),
    "sampler": (lambda r: r["animations"][0]["channels"][0].update(sampler=9), "/channels/0/sampler"),
    "mode": (lambda r: r["animations"][0]["samplers"][0].update(interpolation="SINE"), "none of LINEAR"),
    "cubic count": (lambda r: r["animations"][0]["samplers"][0].update(interpolation="CUBICSPLINE"), "need 15"),
    "twice": (lambda r: r["animations"][0]["channels"].append(r["animations"][0]["channels"][0]), "animated twice"),
    "node list": (lambda r: r.update(nodes={"a": 1}), "/nodes is an object"),
    "node kind": (lambda r: r["nodes"].append(5), "/nodes/2 is 5"),
}  # fmt: skip


@pytest.mark.parametrize("what", SPOILT)
def test_a_spoilt_file_is_refused_by_name_and_place(tmp_path: Path, what: str):
    change, word = SPOILT[what]
    path = spoil(change).gltf(tmp_path / "bad.gltf")
    tracemalloc.start()
    with pytest.raises(BadFile) as refused:
        gltf.read_clip(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert word in str(refused.value) and "bad.gltf" in str(refused.value) and "\n" not in str(refused.value)
    assert most < 50e6


def keyed(times: list[float]) -> Handmade:
    doc = Handmade([{"name": "a"}])
    doc.channel(0, "translation", doc.accessor(times), doc.accessor(np.zeros((len(times), 3))))
    return doc


def test_bad_numbers_are_refused(tmp_path: Path):
    for times, word in (
        ([0.0, np.nan], "NaN or infinity at element 1"),
        ([0.0, 1.0, 0.5], "key 2"),
        ([-1.0, 0.0], "key 0"),
        ([0.0, 1e9], "more than can be read"),
    ):
        with pytest.raises(BadFile, match=word):
            gltf.read_clip(keyed(times).gltf(tmp_path / "a.gltf"))


def test_scale_that_changes_is_refused(tmp_path: Path):
    doc = swinging()
    doc.channel(0, "scale", doc.accessor([0.0, 1.0]), doc.accessor([[1, 1, 1], [2, 2, 2]]))
    with pytest.raises(BadFile, match="changes in time"):
        gltf.read_clip(doc.gltf(tmp_path / "a.gltf"))


@pytest.mark.parametrize(
    "uri",
    [
        "/etc/hostname", "../secret.bin", "a/../../secret.bin", "..%2fsecret.bin", "file:///etc/hostname",
        "https://example.org/a.bin", "C:\\a.bin", "..\\secret.bin", "%2Fetc%2Fhostname", "link.bin",
        "linked/secret.bin", "nothing.bin", "a%00b", "data:,abc", "data:x;base64,!!!", "pipe", "loop", "",
    ],
)  # fmt: skip
def test_buffers_come_from_the_files_own_folder_only(tmp_path: Path, uri: str):
    home = tmp_path / "home"
    home.mkdir()
    doc = swinging()
    (tmp_path / "secret.bin").write_bytes(bytes(doc.data))
    (home / "link.bin").symlink_to(tmp_path / "secret.bin")
    (home / "linked").symlink_to(tmp_path)
    (home / "loop").symlink_to(home / "loop")
    os.mkfifo(home / "pipe")
    with pytest.raises(BadFile, match="/buffers/0"):
        gltf.read_clip(doc.beside(home / "a.gltf", uri))


def test_buffers_beside_the_file_are_read(tmp_path: Path):
    doc = swinging()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "ü 1.bin").write_bytes(bytes(doc.data))
    (tmp_path / "alias.bin").symlink_to(tmp_path / "sub" / "ü 1.bin")
    for uri in ("sub/%C3%BC%201.bin", "alias.bin"):
        assert len(gltf.read_clip(doc.beside(tmp_path / "a.gltf", uri), rate=10)) == 11
    (tmp_path / "sub" / "ü 1.bin").write_bytes(bytes(doc.data)[:-8])
    with pytest.raises(BadFile, match="fewer than"):
        gltf.read_clip(tmp_path / "a.gltf")


def test_broken_containers_name_the_byte(tmp_path: Path):
    doc = swinging()
    good = doc.glb(tmp_path / "good.glb").read_bytes()
    cases = {
        b"": "JSON is broken",
        b"glTF": "byte 4",
        good[:4] + struct.pack("<I", 7) + good[8:]: "byte 4: container version 7",
        good[:-1]: "byte 8",
        good[:12] + struct.pack("<I", 1 << 31) + good[16:]: "byte 12",
        good[:16] + b"BIN\0" + good[20:]: "byte 16",
        good[:8] + struct.pack("<I", len(good) + 3) + good[12:] + b"abc": "left over",
        b"\xff\xfe{}": "byte 0",
        b'{"asset": {"version": "2.0"}, "a": NaN}': "NaN",
        b"[" * 100_000 + b"]" * 100_000: "nested too deeply",
        b'{"a":' * 5000 + b"1" + b"}" * 5000: "nested too deeply",
        b"[" + b"[]," * 700_000 + b"[]]": "items, more than",
        b"[1, 2]": "not an object",
        b'{"asset": {"version": "2.0"': "byte 27",
        packed({"asset": {"version": "2.0"}, "nodes": [{}], "animations": [7]}, b""): "/animations/0",
    }
    for data, word in cases.items():
        (tmp_path / "bad.glb").write_bytes(data)
        with pytest.raises(BadFile) as refused:
            gltf.read_clip(tmp_path / "bad.glb")
        assert word in str(refused.value), (word, str(refused.value))
    with pytest.raises(BadFile, match="no file"):
        gltf.read_clip(tmp_path / "nothing.glb")
    with pytest.raises(BadFile, match="not an ordinary file"):
        gltf.read_clip(tmp_path)


def test_many_accessors_of_one_buffer_do_not_multiply(tmp_path: Path):
    """A thousand animated nodes that all name the same megabyte cost no more than it."""
    nodes = [{"name": f"n{i}"} for i in range(1000)]
    doc = Handmade(nodes)
    keys = 80_000
    times = doc.accessor(np.arange(keys) / 1000)
    values = doc.accessor(np.zeros((keys, 3)))
    for i in range(1000):
        doc.root["accessors"].append(dict(doc.root["accessors"][values]))
        doc.channel(i, "translation", times, len(doc.root["accessors"]) - 1)
    path = doc.glb(tmp_path / "a.glb")
    tracemalloc.start()
    with pytest.raises(BadFile, match="too many for a file of this size"):
        gltf.read_clip(path)
    assert tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()


# ------------------------------------------------------------------------------------------------------ mutations


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Bytes changed, cut, repeated, or a number in the JSON made another."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        kind = rng.random()
        at = rng.randrange(len(out))
        if kind < 0.4:
            out[at] = rng.randrange(256)
        elif kind < 0.5:
            del out[at : at + rng.randint(1, 40)]
        elif kind < 0.6:
            out[at:at] = out[at : at + rng.randint(1, 40)]
        elif kind < 0.65:
            out = out[: max(1, at)]
        else:
            digits = [i for i in range(len(out)) if 48 <= out[i] <= 57]
            if digits:
                at = rng.choice(digits)
                out[at : at + 1] = rng.choice(
                    [b"-1", b"0", b"9999999999", b"1e99", b"null", b"[]", b"{}", b'"x"', b"2"]
                )
        if not out:
            out = bytearray(b"x")
    return bytes(out)


def fuzzed(tmp_path: Path, rounds: int, seed: int) -> None:
    clip = random_clip(1, joints=4, frames=4)
    seeds = []
    for name in ("a.glb", "a.gltf"):
        gltf.write_clip(tmp_path / name, clip)
        seeds.append((tmp_path / name).read_bytes())
    seeds.append(swinging().gltf(tmp_path / "b.gltf").read_bytes())
    rng = random.Random(seed)
    read = 0
    for _ in range(rounds):
        path = tmp_path / "m.gltf"
        path.write_bytes(mutated(rng.choice(seeds), rng))
        try:
            found = gltf.read_clip(path)
        except BadFile as refused:
            assert "m.gltf" in str(refused)
            continue
        read += 1
        assert len(found) >= 1 and np.isfinite(found.world()[0]).all()
        assert np.abs(np.linalg.norm(found.rotations, axis=2) - 1).max() < 1e-6
    assert 0 < read < rounds  # some changes touch nothing that matters


def test_mutated_files_are_read_or_refused(tmp_path: Path):
    fuzzed(tmp_path, 300, 0)


@pytest.mark.slow
def test_ten_thousand_mutations(tmp_path: Path):
    fuzzed(tmp_path, 10_000, 1)


def test_the_librarys_person_has_its_smooth_body_by_default(tmp_path: Path, squat):
    for name, options in (("default", {}), ("smooth", {"body": "smooth"}), ("shapes", {"body": "shapes"})):
        squat.slice(0.0, 0.2).write(tmp_path / f"{name}.glb", rate=30.0, **options)
    default, smooth, shapes = ((tmp_path / f"{name}.glb").read_bytes() for name in ("default", "smooth", "shapes"))
    assert default == smooth != shapes
    chain = character("chain")
    still = Motion(chain, [0.0, 0.1], np.stack([chain.neutral, chain.neutral]))
    still.write(tmp_path / "chain.glb")
    still.write(tmp_path / "chain_shapes.glb", body="shapes")
    assert (tmp_path / "chain.glb").read_bytes() == (tmp_path / "chain_shapes.glb").read_bytes()
