"""Solids, for every figure: no point of a geom's surface lies beyond its support function, and some reach it."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from counterpoise.character import Character
from counterpoise.character.shapes import drawn_in, main_rod, solids_of, spheres_of, world_reach
from counterpoise.measure.outsider import lowest

KINDS = mujoco.mjtGeom


def surface(kind: int, size: np.ndarray, rng: np.random.Generator, count: int = 4000) -> np.ndarray:
    """Points (n, 3) all over a geom's surface, in its frame: each kind by its own definition."""
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    if kind == int(KINDS.mjGEOM_SPHERE):
        return np.asarray(size[0] * way)
    if kind == int(KINDS.mjGEOM_CAPSULE):
        return np.asarray(size[0] * way + np.sign(way[:, 2:]) * (0.0, 0.0, size[1]))
    if kind == int(KINDS.mjGEOM_ELLIPSOID):
        return np.asarray(size * way)
    assert kind == int(KINDS.mjGEOM_BOX)
    return np.asarray(size * way / np.abs(way).max(axis=1, keepdims=True))


def test_a_solid_reaches_as_far_as_its_surface(cast: Character, rng: np.random.Generator):
    m = cast.model
    ways = rng.normal(size=(200, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    for solid in drawn_in(m):
        turn = np.empty(9)
        mujoco.mju_quat2Mat(turn, m.geom_quat[solid.geom])
        points = surface(int(m.geom_type[solid.geom]), m.geom_size[solid.geom], rng) @ turn.reshape(3, 3).T
        brute = (ways @ (points + m.geom_pos[solid.geom]).T).max(axis=1)
        room = solid.reach(ways) - brute
        assert room.min() > -1e-9 and room.max() < 0.02 * solid.half.max()
        for n in ways[:5]:
            assert float((solid.farthest(n) @ n).max()) == pytest.approx(float(solid.reach(n)))


def test_the_lowest_point_agrees_with_an_outsider(cast: Character, rng: np.random.Generator):
    data = mujoco.MjData(cast.model)
    for _ in range(5):
        data.qpos[:] = cast.integrate(cast.neutral, rng.normal(size=cast.nv))
        mujoco.mj_kinematics(cast.model, data)
        drawn = drawn_in(cast.model)
        ours = -world_reach(drawn, data, np.array([0.0, 0.0, -1.0]))
        assert np.allclose(ours, [lowest(cast.model, data, s.geom) for s in drawn], atol=1e-12)


def test_spheres_and_rods_are_the_shapes_of_spheres_and_capsules(cast: Character, rng: np.random.Generator):
    ways = rng.normal(size=(200, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    for body in range(1, cast.model.nbody):
        solids = [s for s in solids_of(cast) if s.body == body]
        if not solids or any(s.axes.any() for s in solids):
            continue
        exact = np.max([s.reach(ways) for s in solids], axis=0)
        ours = np.max([ways @ place + radius for place, radius in spheres_of(cast).on(body)], axis=0)
        assert np.allclose(exact, ours, atol=1e-12)
        rod = main_rod(cast, cast.segments[body - 1])
        if len(solids) == 1 and rod is not None:
            ends = np.maximum(ways @ np.array(rod.start), ways @ np.array(rod.end))
            assert np.allclose(exact, ends + rod.radius, atol=1e-8)
