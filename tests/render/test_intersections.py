"""Our rays against MuJoCo's, solid by solid."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from figure import figure, rich_assets

from counterpoise.render import meshes
from counterpoise.render.raycast.intersections import hit_mesh, hit_solid
from counterpoise.render.raycast.tables import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, FAR, SPHERE

GEOMS = mujoco.mjtGeom
SOLIDS = {
    "sphere": (SPHERE, GEOMS.mjGEOM_SPHERE, (0.3, 0.0, 0.0)),
    "capsule": (CAPSULE, GEOMS.mjGEOM_CAPSULE, (0.2, 0.5, 0.0)),
    "cylinder": (CYLINDER, GEOMS.mjGEOM_CYLINDER, (0.3, 0.2, 0.0)),
    "ellipsoid": (ELLIPSOID, GEOMS.mjGEOM_ELLIPSOID, (0.2, 0.35, 0.5)),
    "box": (BOX, GEOMS.mjGEOM_BOX, (0.2, 0.35, 0.5)),
}


def random_rays(count: int, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Origins outside everything, most of them aimed near the centre."""
    rng = np.random.default_rng(seed)
    origins = rng.normal(size=(count, 3))
    origins *= (rng.uniform(1.0, 4.0, count) / np.linalg.norm(origins, axis=1))[:, None]
    aims = rng.normal(scale=0.3, size=(count, 3)) - origins
    aims[::10] *= -1
    return origins, aims / np.linalg.norm(aims, axis=1, keepdims=True)


@pytest.mark.parametrize("name", SOLIDS)
def test_solid_meets_rays_where_mujoco_does(name: str) -> None:
    kind, geom, size = SOLIDS[name]
    hits = 0
    for origin, along in zip(*random_rays(400), strict=True):
        expected = mujoco.mju_rayGeom(np.zeros(3), np.eye(3).ravel(), np.array(size), origin, along, geom, None)
        found = hit_solid(kind, *size, *origin, *along)
        if expected < 0:
            assert found == FAR
        else:
            hits += 1
            assert found == pytest.approx(expected, abs=1e-9)
    assert hits > 100


def test_rays_along_the_axis_meet_the_ends() -> None:
    for kind, top in ((CAPSULE, 0.7), (CYLINDER, 0.5)):
        assert hit_solid(kind, 0.2, 0.5, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, -1.0) == pytest.approx(2 - top, abs=1e-9)


def test_cone_narrows_to_its_tip() -> None:
    radii = []
    for z in (-0.4, 0.0, 0.4):
        t = hit_solid(CONE, 0.2, 0.5, 0.0, 2.0, 0.0, z, -1.0, 0.0, 0.0)
        radii.append(2 - t)
    assert radii == pytest.approx([0.18, 0.1, 0.02], abs=1e-9)
    assert hit_solid(CONE, 0.2, 0.5, 0.0, 2.0, 0.0, 0.6, -1.0, 0.0, 0.0) == FAR
    assert hit_solid(CONE, 0.2, 0.5, 0.0, 0.1, 0.0, -2.0, 0.0, 0.0, 1.0) == pytest.approx(1.5, abs=1e-9)


@pytest.mark.parametrize("kind", ["mesh", "hfield"])
def test_triangles_meet_rays_where_mujoco_does(kind: str) -> None:
    asset = 'mesh="gem"' if kind == "mesh" else 'hfield="bumps"'
    model = figure(world=f'<geom name="thing" type="{kind}" {asset} pos="9 9 0"/>', assets=rich_assets())
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    geom = model.geom("thing").id
    tree = (meshes.mesh_of_model if kind == "mesh" else meshes.field_of_model)(model, 0)
    centre, turn = data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3)
    stack, which = np.empty(128, np.int64), np.zeros(1, np.int32)
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(300):
        spread = (0.12, 0.12) if kind == "mesh" else (1.5, 0.8)
        aim = centre + [*rng.uniform(-1, 1, 2) * spread, rng.uniform(0, 0.1)]
        origin = aim + rng.normal(size=3) * [0.3, 0.3, 0.0] + [0.0, 0.0, 1.2]
        along = (aim - origin) / np.linalg.norm(aim - origin)
        groups = np.ones(6, np.uint8)
        expected = mujoco.mj_ray(model, data, origin, along, groups, 1, -1, which, None)
        local = turn.T @ (origin - centre)
        found, triangle, _, _ = hit_mesh(tree, 0, *local, *(turn.T @ along), np.bool_(False), stack)
        if expected < 0 or which[0] != geom:
            continue
        hits += 1
        assert triangle >= 0
        assert found == pytest.approx(expected, abs=1e-6)  # mesh and height data are single precision
    assert hits > 150
