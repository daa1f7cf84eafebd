"""Terrain: height and normal are those of what MuJoCo's rays meet; bodies rest there; wrong pieces are refused."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadValue
from counterpoise.simulate.world import build_stage
from counterpoise.terrain import Piece
from counterpoise.terrain.description import describe_terrain, terrain_from_description

BUMPS = np.random.default_rng(4).uniform(0.05, 0.4, (7, 9))
PIECES: dict[str, list[Piece]] = {
    "box": [cp.Box((0.4, 0.2), (1.0, 2.0), 0.3)],
    "turned box": [cp.Box((0.4, 0.2), (1.0, 2.0), 0.3, yaw=33.0)],
    "ramp": [cp.Ramp((-0.5, 0.3), 1.5, 0.5, 1.2, landing=0.5, yaw=70.0)],
    "steep ramp": [cp.Ramp((-1.0, 0.0), 0.8, 0.9)],
    "stairs": [cp.Stairs((-0.5, 0.0), 5, 0.17, 0.28, 1.5, landing=0.8, yaw=-20.0)],
    "stones": [cp.SteppingStones.in_row((-1.5, 0.0), 6, 0.5, scatter=0.1, height_scatter=0.05, yaw=12.0, seed=3)],
    "gap": [cp.Gap((0.5, 0.0), (0.6, 1.5), 0.8)],
    "patch": [cp.Patch((0.5, 0.0), (0.6, 1.5), 0.2), cp.Box((-0.5, 0.0), (0.4, 0.4), 0.1)],
    "gaps that cross": [cp.Gap((0.5, 0.0), (0.6, 2.5), 0.8), cp.Gap((0.0, 0.4), (2.5, 0.5), 0.3)],
    "stones in a gap": [
        cp.Gap((0.0, 0.0), (2.0, 2.0)), cp.SteppingStones(((-0.4, 0.1), (0.3, -0.2)), 0.3, (-0.1, 0.1)),
    ],
    "field": [cp.HeightField(BUMPS, (0.3, -0.2), (2.0, 1.5))],
    "field below the ground": [cp.rough_ground((0.2, 0.1), (3.0, 2.0), 0.1, seed=7)],
    "flat field": [cp.HeightField(np.full((3, 4), 0.2))],
    "all at once": [
        cp.Gap((1.5, 0.0), (0.5, 3.0)), cp.Stairs((-1.0, 0.0), 3), cp.Box((0.0, -1.0), (0.7, 0.7), 0.2, 15.0),
        cp.HeightField(BUMPS, (-1.5, 1.2), (1.0, 1.0)), cp.Ramp((0.5, 1.0), 1.0, 0.3, 0.8),
    ],
}  # fmt: skip


def model_of(terrain: cp.Terrain) -> tuple[Any, Any]:
    """A model with the terrain, and its data; the figure in it is far above."""
    model = build_stage(cp.World(terrain=terrain), (cp.character("planar_biped"),)).model
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def ray_down(model: Any, data: Any, x: float, y: float) -> tuple[float, np.ndarray, str]:
    """Height, normal and name of the static geom that a ray from above meets first."""
    geom, normal, start = np.zeros(1, np.int32), np.zeros(3), 10.0
    groups = None
    model.geom_group[model.geom_bodyid != 0] = 5
    groups = np.array([1, 1, 1, 1, 1, 0], np.uint8)
    distance = mujoco.mj_ray(
        model, data, np.array([x, y, start]), np.array([0.0, 0.0, -1.0]), groups, 1, -1, geom, normal
    )
    return start - distance, normal, model.geom(int(geom[0])).name


@pytest.mark.parametrize("name", PIECES)
def test_height_and_normal_are_what_a_ray_meets(name: str):
    terrain = cp.Terrain(PIECES[name])
    model, data = model_of(terrain)
    places = np.random.default_rng(len(name)).uniform(-2.5, 2.5, (400, 2))
    heights, normals = terrain.height(*places.T), terrain.normal(*places.T)
    assert len(set(np.round(heights, 3).tolist())) > 1  # some of the places are on the pieces
    for (x, y), z, n in zip(places, heights, normals, strict=True):
        found, normal, _ = ray_down(model, data, x, y)
        assert abs(found - z) < 1e-9, (x, y)
        assert np.abs(normal - n).max() < 1e-6, (x, y)


@pytest.mark.parametrize("name", PIECES)
def test_a_surface_is_the_plane_at_its_place(name: str):
    terrain = cp.Terrain(PIECES[name])
    for x, y in np.random.default_rng(1).uniform(-2.0, 2.0, (40, 2)):
        surface, normal = terrain.surface(x, y), terrain.normal(x, y)
        assert np.allclose(surface.normal, normal, atol=1e-9)
        assert abs((np.array([x, y, terrain.height(x, y)]) - np.asarray(surface.origin)) @ normal) < 1e-9


def test_a_surface_stays_the_same_across_its_plane():
    terrain = cp.Terrain([cp.Box((0.0, 0.0), (1.0, 1.0), 0.3), cp.Ramp((2.0, 0.0), 2.0, 0.4)])
    for first, second in (((0.1, 0.2), (-0.4, 0.3)), ((2.3, 0.1), (3.9, -0.8))):
        assert np.allclose(terrain.surface(*first).state_row(), terrain.surface(*second).state_row(), atol=1e-12)
    assert terrain.surface(-3.0, 0.0) is cp.objectives.LEVEL


def test_questions_take_numbers_and_arrays():
    terrain = cp.Terrain(cp.Box((0.0, 0.0), (1.0, 1.0), 0.3))
    x, y = np.meshgrid([-1.0, 0.0, 1.0], [0.0, 2.0])
    assert terrain.height(x, y).tolist() == [[0.0, 0.3, 0.0], [0.0, 0.0, 0.0]]
    assert terrain.normal(x, y).shape == (2, 3, 3) and terrain.normal(0.0, 0.0).shape == (3,)
    assert np.shape(terrain.height(0.2, 0.1)) == () and terrain.height([0.0, 3.0], 0.0).tolist() == [0.3, 0.0]
    assert cp.World(terrain=terrain).height_at(0.1, 0.1) == 0.3


@pytest.mark.parametrize("name", PIECES)
def test_a_ball_comes_to_rest_on_top(name: str):
    """A ball that cannot roll, put above random places where the ground is not steep, settles at its height."""
    terrain, radius = cp.Terrain(PIECES[name]), 0.02
    spec = mujoco.MjSpec.from_string(
        "<mujoco><worldbody><body name='ball'><joint type='slide' axis='0 0 1'/>"
        f"<geom type='sphere' size='{radius}'/></body></worldbody></mujoco>"
    )
    from counterpoise.simulate.terrain_geoms import add_terrain

    add_terrain(spec, terrain, lambda geom: None)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], pos=[0, 0, terrain.floor])
    for geom in spec.geoms:
        geom.friction = [0.0, 0.0, 0.0]
    for x, y in np.random.default_rng(5).uniform(-1.2, 1.2, (6, 2)):
        around = terrain.height(x + radius * np.array([0, 1, -1, 0, 0]), y + radius * np.array([0, 0, 0, 1, -1]))
        if np.ptp(around) > 0.5 * radius:
            continue
        spec.bodies[1].pos = [x, y, terrain.height(x, y) + 2.0 * radius]
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 500)
        slope = 1.0 / terrain.normal(x, y)[2]
        assert abs(data.body("ball").xpos[2] - terrain.height(x, y) - slope * radius) < 4e-3
        assert abs(data.qvel[0]) < 1e-2


@pytest.mark.parametrize("name", PIECES)
def test_a_description_makes_the_same_terrain(name: str):
    terrain = cp.Terrain(PIECES[name])
    again = terrain_from_description(describe_terrain(terrain))
    assert all(np.array_equal(a, b) for a, b in zip(terrain.obstacles, again.obstacles, strict=True))
    assert [solid.name for solid in terrain.boxes] == [solid.name for solid in again.boxes]


def test_rough_ground_is_the_same_for_the_same_seed_and_joins_the_ground():
    one, same, other = (cp.rough_ground(roughness=0.08, level=0.5, seed=s) for s in (1, 1, 2))
    assert np.array_equal(one.heights, same.heights) and not np.array_equal(one.heights, other.heights)
    assert np.abs(one.grid).max() <= 0.08 and np.abs(one.grid).max() > 0.04
    assert not one.grid[0].any() and not one.grid[:, -1].any()
    terrain = cp.Terrain(one)
    assert np.abs(terrain.height(*np.random.default_rng(0).uniform(-0.35, 0.35, (2, 50)))).max() < 1e-6


WRONG = {
    "the size of a box": lambda: cp.Box(size=(0.0, 1.0)),
    "the centre of a box": lambda: cp.Box(center=(1.0, 2.0, 3.0)),  # type: ignore[arg-type]
    "finite": lambda: cp.Box(height=float("nan")),
    "degrees steep": lambda: cp.Ramp(length=0.1, height=1.0),
    "the landing of a ramp": lambda: cp.Ramp(landing=-1.0),
    "whole number of steps": lambda: cp.Stairs(steps=0),
    "the rise of a step": lambda: cp.Stairs(rise=-0.1),
    "one for each of the 2 stones": lambda: cp.SteppingStones(((0, 0), (1, 0)), height=(0.1, 0.2, 0.3)),
    "1 to 1000": lambda: cp.SteppingStones(()),
    "the depth of a gap": lambda: cp.Gap(depth=0.0),
    "rows, columns": lambda: cp.HeightField([1.0, 2.0]),
    "rows of the same length": lambda: cp.HeightField([[1.0, 2.0], [1.0]]),
    "finite numbers of at most 1000": lambda: cp.HeightField([[1.0, 2.0], [1.0, float("inf")]]),
    "use a larger cell": lambda: cp.rough_ground(size=(1000.0, 1000.0)),
    "terrain is made of": lambda: cp.Terrain(["box"]),  # type: ignore[list-item]
    "below the lowest ground": lambda: cp.Terrain(cp.Box(height=-0.2)),
    "places on a terrain": lambda: cp.Terrain().height(float("nan"), 0.0),
    "fit together": lambda: cp.Terrain().height([1.0, 2.0], [1.0, 2.0, 3.0]),
    "at one place": lambda: cp.Terrain().surface([1.0, 2.0], 0.0),  # type: ignore[arg-type]
    "use a Ramp": lambda: cp.World(terrain=cp.Terrain(), tilt=(5.0, 0.0)),
    "keep one": lambda: cp.World(terrain=cp.Terrain(), platform=cp.Platform()),
    "ground=False": lambda: cp.World(terrain=cp.Terrain(), ground=False),
    "of pieces": lambda: cp.World(terrain=cp.Box()),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_terrain_is_refused(message: str):
    with pytest.raises(BadValue, match=message):
        WRONG[message]()


def lengths(segments: np.ndarray) -> list[float]:
    return sorted(np.round(np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1), 6).tolist())


def near(segments: np.ndarray) -> np.ndarray:
    """Those that are not the far ends of ground with a gap."""
    return segments[np.abs(segments[:, :, :2]).max(axis=(1, 2)) < 20.0]


def test_edges_are_where_the_ground_falls():
    box = cp.Terrain(cp.Box((0.5, 0.2), (1.0, 2.0), 0.3, yaw=20.0)).edges()
    assert lengths(box) == [1.0, 1.0, 2.0, 2.0] and np.allclose(box[:, :, 2], 0.3)
    assert len(cp.Terrain().edges()) == 0
    gap = near(cp.Terrain(cp.Gap((1.0, 0.0), (0.5, 3.0))).edges())
    assert lengths(gap) == [0.5, 0.5, 3.0, 3.0] and np.allclose(gap[:, :, 2], 0.0)


def test_edges_between_boxes_that_touch():
    """Two boxes of one height are one; a lower one beside it has no edge where the higher one stands."""
    same = cp.Terrain([cp.Box.between((0, 0), (1, 1), 0.3), cp.Box.between((1, 0), (2, 1), 0.3)]).edges()
    assert sum(lengths(same)) == pytest.approx(6.0)
    lower = cp.Terrain([cp.Box.between((0, 0), (1, 1), 0.3), cp.Box.between((1, 0.5), (2, 2), 0.1)]).edges()
    high = np.isclose(lower[:, :, 2], 0.3).all(axis=1)
    assert sum(lengths(lower[high])) == pytest.approx(4.0) and sum(lengths(lower[~high])) == pytest.approx(4.5)
    hidden = cp.Terrain([cp.Box.between((0, 0), (1, 1), 0.3), cp.Box.between((0.2, 0.2), (0.8, 0.8), 0.2)]).edges()
    assert len(hidden) == 4


def test_edges_of_stairs_ramps_and_fields():
    stairs = cp.Terrain(cp.Stairs(steps=3, rise=0.15, tread=0.3, width=2.0)).edges()
    fronts = np.abs(stairs[:, 0, 0] - stairs[:, 1, 0]) < 1e-9
    assert sorted(np.round(stairs[fronts][:, 0, 2], 3).tolist()) == [0.15, 0.3, 0.45, 0.45]
    ramp = cp.Terrain(cp.Ramp((0.0, 0.0), 2.0, 0.5, 1.0)).edges()
    assert lengths(ramp) == [1.0, *[pytest.approx(np.hypot(2.0, 0.5), abs=1e-6)] * 2]  # not the lower one
    step = np.zeros((11, 11))
    step[:, 6:] = 0.3  # a step of 0.3 m over a cell of 0.05 m, in the middle
    field = cp.Terrain(cp.HeightField(step, (0.0, 0.0), (0.5, 0.5))).edges()
    inside = field[np.abs(field[:, :, :2]).max(axis=(1, 2)) < 0.2401]
    assert np.allclose(inside[:, :, 0], 0.05) and np.allclose(inside[:, :, 2], 0.3) and len(inside) == 8


@pytest.mark.parametrize("name", PIECES)
def test_beside_every_edge_the_ground_falls(name: str):
    terrain = cp.Terrain(PIECES[name])
    for a, b in terrain.edges():
        middle, along = 0.5 * (a + b), (b - a)[:2] / np.linalg.norm((b - a)[:2])
        sides = [terrain.height(*(middle[:2] + s * 0.006 * np.array([-along[1], along[0]]))) for s in (-1.0, 1.0)]
        assert abs(max(sides) - middle[2]) < 0.02 and min(sides) < middle[2] - 0.009


def test_no_step_is_missed():
    """Along random lines, every place where the height jumps lies on an edge."""
    terrain = cp.Terrain([*PIECES["stones in a gap"], *PIECES["turned box"], *PIECES["stairs"]])
    edges = terrain.edges()
    random, found = np.random.default_rng(8), 0
    for _ in range(60):
        a, b = random.uniform(-2.0, 2.0, (2, 2))
        line = a + np.linspace(0.0, 1.0, 8001)[:, None] * (b - a)
        heights = terrain.height(*line.T)
        for k in np.flatnonzero(np.abs(np.diff(heights)) > 0.02):
            p = 0.5 * (line[k] + line[k + 1])
            start, along = edges[:, 0, :2], edges[:, 1, :2] - edges[:, 0, :2]
            share = np.clip(((p - start) * along).sum(axis=1) / (along**2).sum(axis=1), 0.0, 1.0)
            assert np.linalg.norm(start + share[:, None] * along - p, axis=1).min() < 2e-3
            found += 1
    assert found > 50
