"""The smooth body: closed, near the shapes it is made from, and it follows the bones."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pygltflib
import pytest

import counterpoise as cp
from counterpoise.character.skin import Skin, skin_of, toned
from counterpoise.character.skin.dressing import TONES, head_of, shod_bodies
from counterpoise.character.skin.field import body_field
from counterpoise.errors import BadValue
from counterpoise.render import take_of


@pytest.fixture(scope="module")
def skin() -> Skin:
    return skin_of(cp.character("human"))


def frames(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    model = cp.character("human").model
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    return data.xpos.copy(), data.xmat.reshape(-1, 3, 3).copy()


def test_it_is_closed_and_turned_outwards(skin: Skin):
    """Every edge has two faces that run along it in opposite ways, and the volume is that of a person."""
    edges = np.concatenate([skin.faces[:, [0, 1]], skin.faces[:, [1, 2]], skin.faces[:, [2, 0]]])
    forward = {tuple(edge) for edge in edges.tolist()}
    assert len(forward) == len(edges) and all((b, a) in forward for a, b in forward)
    a, b, c = (skin.points[skin.faces[:, k]] for k in range(3))
    volume = float(np.einsum("ki,ki->k", a, np.cross(b, c)).sum() / 6.0)
    assert 0.05 < volume < 0.10  # [m^3], for 73 kg


def test_it_lies_on_the_shapes(skin: Skin):
    human = cp.character("human")
    hands = np.isin(skin.follows[:, 0], [human.body_id(name) for name in human.hands])  # palms are there twice
    off = body_field(human).distance(skin.points[~hands])
    assert np.quantile(np.abs(off), 0.99) < 0.012 and np.abs(off).max() < 0.03  # [m]
    assert np.allclose(np.linalg.norm(skin.normals, axis=1), 1.0)


def test_weights_are_shares_of_neighbouring_bones(skin: Skin):
    assert np.allclose(skin.weights.sum(axis=1), 1.0) and (skin.weights >= 0.0).all()
    names = [cp.character("human").model.body(b).name for b in range(cp.character("human").model.nbody)]
    left = np.array([name.endswith("_left") for name in names])
    right = np.array([name.endswith("_right") for name in names])
    on_left, on_right = (np.sum(skin.weights * side[skin.follows], axis=1) for side in (left, right))
    limbs = np.array([name.startswith(("shank", "foot", "toes", "forearm", "hand")) for name in names])
    away = limbs[skin.follows[:, 0]]  # between the thighs points hang on both legs
    assert away.sum() > 1000 and (np.minimum(on_left, on_right)[away] < 0.05).all()


def test_at_rest_it_is_as_made_and_a_moved_body_moves_it_as_one(skin: Skin):
    human = cp.character("human")
    points, normals = skin.posed(*frames(human.neutral))
    assert np.abs(points - skin.points).max() < 1e-9 and np.abs(normals - skin.normals).max() < 1e-9
    moved = human.neutral.copy()
    moved[:3] += (0.3, -0.2, 0.1)
    assert np.abs(skin.posed(*frames(moved))[0] - skin.points - (0.3, -0.2, 0.1)).max() < 1e-9


def test_a_bent_knee_moves_the_foot_and_not_the_head(skin: Skin):
    human = cp.character("human")
    bent = human.neutral.copy()
    bent[human.joint("knee_left").qpos] += 0.8
    change = np.linalg.norm(skin.posed(*frames(bent))[0] - skin.points, axis=1)
    parts = (("foot_left", "toes_left"), ("head",))
    bodies = [[human.body_id(name) for name in names] for names in parts]
    foot, head = (np.sum(skin.weights * np.isin(skin.follows, ids), axis=1) > 0.95 for ids in bodies)
    assert foot.sum() > 50 and head.sum() > 50 and change[foot].min() > 0.2 and change[head].max() < 0.01


def test_pictures_and_files_have_the_body_that_is_asked_for(tmp_path: Path):
    human = cp.character("human")
    plain, smooth = (cp.still(take_of(human, smooth=one), size=(60, 90)).astype(int) for one in (False, True))
    assert (np.abs(plain - smooth).max(axis=2) > 30).mean() > 0.005
    squat = cp.reference_motion("squat", human).slice(0.0, 0.2)
    squat.write(tmp_path / "a.glb", rate=10.0, body="smooth")
    squat.write(tmp_path / "b.glb", rate=10.0, body="shapes")
    shared = []
    for name in ("a", "b"):
        file = pygltflib.GLTF2().load(str(tmp_path / f"{name}.glb"))
        buffer = file.binary_blob()
        weights = []
        for primitive in file.meshes[0].primitives:
            view = file.bufferViews[file.accessors[primitive.attributes.WEIGHTS_0].bufferView]
            numbers = np.frombuffer(buffer[view.byteOffset : view.byteOffset + view.byteLength], "<f4")
            weights.append(numbers.reshape(-1, 4))
        found = np.concatenate(weights)
        assert np.allclose(found.sum(axis=1), 1.0, atol=1e-5)
        shared.append(float((found[:, 0] < 0.99).mean()))
    assert shared[0] > 0.1 and shared[1] == 0.0
    assert len(cp.read_motion(tmp_path / "a.glb")) == len(cp.read_motion(tmp_path / "b.glb"))
    with pytest.raises(BadValue, match="'shapes' or 'smooth'"):
        squat.write(tmp_path / "c.glb", body="soft")


def test_a_person_has_a_flat_face_and_shoes_with_flat_soles(skin: Skin):
    human = cp.character("human")
    middle = skin.points[skin.faces].mean(axis=1)
    face, shoe, sole = (middle[skin.tone == TONES.index(name)] for name in ("face", "shoe", "sole"))
    head = skin.rest_places[human.body_id("head")]
    assert len(face) > 20 and (face[:, 0] > head[0]).all() and (face[:, 2] > head[2]).all()
    assert len(shoe) > 100 and (shoe[:, 2] < 0.12).all() and (np.abs(sole[:, 2]) < 0.02).all()
    under = np.abs(skin.normals[skin.faces[skin.tone == TONES.index("sole")]].mean(axis=1)[:, 2]) > 0.99
    assert under.sum() > 50 and np.ptp(sole[under][:, 2]) < 0.006  # [m]
    assert toned((0.2, 0.4, 0.6, 1.0), 0) == (0.2, 0.4, 0.6, 1.0) != toned((0.2, 0.4, 0.6, 1.0), 2)


def lowest_of_shapes(data: mujoco.MjData, bodies: list[int]) -> float:
    """Height of the lowest point of the capsules of bodies."""
    model = data.model
    mine = [g for g in range(model.ngeom) if int(model.geom_bodyid[g]) in bodies]
    assert mine and (model.geom_type[mine] == mujoco.mjtGeom.mjGEOM_CAPSULE).all()
    return min(
        float(data.geom_xpos[g][2] - abs(data.geom_xmat[g][8]) * model.geom_size[g][1] - model.geom_size[g][0])
        for g in mine
    )


def test_shoes_hide_no_foot_that_sinks(skin: Skin):
    """Flat soles are where the shapes' are; the shoe of a tilted foot is never above its shapes, and not far below."""
    human = cp.character("human")
    data, rng = mujoco.MjData(human.model), np.random.default_rng(3)
    legs = ("hip", "knee", "ankle", "toe")
    turns = np.concatenate([np.arange(j.dofs.start, j.dofs.stop) for j in human.joints if j.name.startswith(legs)])
    for trial in range(12):
        speed = np.zeros(human.model.nv)
        speed[turns] = rng.uniform(-0.4, 0.4, len(turns)) if trial else 0.0
        data.qpos[:] = human.neutral
        mujoco.mj_integratePos(human.model, data.qpos, speed, 1.0)
        mujoco.mj_kinematics(human.model, data)
        points, _ = skin.posed(data.xpos.copy(), data.xmat.reshape(-1, 3, 3).copy())
        for side in ("left", "right"):
            bodies = [human.body_id(f"{part}_{side}") for part in ("foot", "toes")]
            above = points[np.isin(skin.follows[:, 0], bodies), 2].min() - lowest_of_shapes(data, bodies)
            assert -0.010 < above < 0.001 and (trial or abs(above) < 0.002)  # [m]


def test_persons_of_the_library_are_the_ones_drawn_smooth_by_render():
    drawn = [name for name in ("human", "chicken", "ostrich") if take_of(cp.character(name), smooth=None).smooth]
    assert drawn == ["human"] and take_of(cp.character("human", height=1.2), smooth=None).smooth
    assert not take_of(cp.character("human")).smooth


def test_a_bird_wears_nothing():
    chicken = cp.character("chicken")
    assert head_of(chicken) is None and shod_bodies(chicken) == set()
    assert not skin_of(chicken).tone.any()
