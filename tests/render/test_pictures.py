"""What a picture shows: shadows, smooth edges, sides, ghosts, ground; and that it never changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from figure import RICH_WORLD, figure, rich_assets, walking
from PIL import Image

from counterpoise.errors import BadFile, BadValue
from counterpoise.render import (
    Camera,
    DrawnScene,
    Look,
    ModelSolids,
    Take,
    arrow,
    draw,
    filmstrip,
    joined,
    marker,
    palette,
    solid,
    still,
    trail,
)
from counterpoise.render.model_solids import geom_colour, side_of
from counterpoise.render.raycast import BOX, SPHERE

PLAIN = Look(ground_dark=palette.GROUND, light=(0.0, 0.0, 1.0))
FROM_ABOVE = Camera((0.0, -4.0, 4.0), (0.0, 0.0, 0.0))
SIZE = (120, 90)


def brightness(scene: DrawnScene, point: tuple[float, float, float], camera: Camera = FROM_ABOVE) -> float:
    picture = draw(replace(scene, look=PLAIN).with_default_ground(), camera, SIZE, samples=0)
    column, row, _ = camera.project(point, SIZE)[0]
    return float(picture[int(row), int(column)].mean())


def walk_take(**options: object) -> Take:
    model = figure()
    times, qpos = walking(model, duration=0.5, rate=30)
    return Take(model, times, qpos, **options)  # type: ignore[arg-type]


def test_ground_under_a_sphere_is_dark() -> None:
    ball = solid(SPHERE, 0.3, (0.0, 0.0, 1.5))
    assert brightness(ball, (0, 0, 0)) < 0.75 * brightness(DrawnScene(), (0, 0, 0))
    assert brightness(ball, (1.2, 0, 0)) == pytest.approx(brightness(DrawnScene(), (1.2, 0, 0)), abs=2)


@pytest.mark.parametrize("size", [(0.4, 0.2, 0.1)])
def test_ground_under_a_box_is_dark_and_beside_it_in_front_of_the_light_is_not(
    size: tuple[float, float, float],
) -> None:
    slanted = Look(ground_dark=palette.GROUND, light=(1.0, 0.0, 1.0))
    box = replace(solid(BOX, size, (0.0, 0.0, size[2])), look=slanted).with_default_ground()
    bare = DrawnScene(look=slanted).with_default_ground()

    def at(scene: DrawnScene, x: float) -> float:
        column, row, _ = FROM_ABOVE.project((x, 0.0, 0.0), SIZE)[0]
        return float(draw(scene, FROM_ABOVE, SIZE, samples=0)[int(row), int(column)].mean())

    assert at(box, -0.5) < 0.85 * at(bare, -0.5)
    assert at(box, 0.75) > 0.93 * at(bare, 0.75)


def test_a_floor_of_one_large_box_carries_shadows_and_hides_the_plane_flush_with_it() -> None:
    floor = solid(BOX, (30.0, 30.0, 0.5), (0.0, 0.0, -0.5), rgba=(0.2, 0.5, 0.2, 1.0))
    ball = solid(SPHERE, 0.3, (0.0, 0.0, 1.5))
    scene = replace(floor + ball, look=PLAIN).with_default_ground()
    picture = draw(scene, FROM_ABOVE, SIZE, samples=0).astype(int)
    lit, shaded = (FROM_ABOVE.project(p, SIZE)[0].astype(int) for p in ((1.2, 0, 0), (0.0, 0, 0)))
    assert picture[shaded[1], shaded[0]].sum() < 0.75 * picture[lit[1], lit[0]].sum()
    assert (picture[-30:, :, 1] > picture[-30:, :, 0] + 20).all()


def test_ghosts_markers_and_trails_cast_no_shadow() -> None:
    bare = brightness(DrawnScene(), (0, 0, 0))
    parts = [
        solid(SPHERE, 0.3, (0.0, 0.0, 1.5)).as_ghost(),
        arrow((0, 0, 1.5), (0, 0, 0.3)),
        marker((0, 0, 1.6)),
        trail([(0, -0.2, 2), (0, 0.2, 2)]),
    ]
    assert brightness(joined(parts), (0, 0, 0)) == bare


def test_edges_are_smoothed() -> None:
    look = Look(key=0.0, ambient=1.0, rim=0.0, shine=0.0, zenith=palette.HORIZON)
    scene = replace(solid(SPHERE, 0.5, (0, 0, 0), rgba=(0.0, 0.0, 0.0, 1.0)), look=look)
    camera = Camera((0, -4, 0), (0, 0, 0))
    sharp = np.asarray(draw(scene, camera, SIZE, samples=0, dither=False)[45, :, 1], dtype=int)
    smooth = np.asarray(draw(scene, camera, SIZE, samples=16, dither=False)[45, :, 1], dtype=int)
    light, dark = int(sharp.max()), int(sharp.min())
    assert not ((sharp > dark + 5) & (sharp < light - 5)).any()
    between = (smooth > dark + 5) & (smooth < light - 5)
    assert 1 <= between.sum() <= 4


def test_the_same_scene_gives_the_same_bytes() -> None:
    take = walk_take()
    assert np.array_equal(still(take, 0.2, size=(160, 120)), still(take, 0.2, size=(160, 120)))


def test_left_and_right_are_told_apart() -> None:
    model = figure()
    colours = {side: geom_colour(model, int(model.body(f"thigh_{side}").geomadr[0])) for side in ("left", "right")}
    assert colours == {"left": palette.LEFT, "right": palette.RIGHT}
    picture = still(walk_take(), 0.1, size=(200, 150), azimuth=0, elevation=5).astype(int)
    warm = (picture[..., 0] - picture[..., 2]) > 60
    cool = (picture[..., 2] - picture[..., 0]) > 60
    # seen from the front the figure's left is on the right of the picture
    assert np.nonzero(cool)[1].mean() > np.nonzero(warm)[1].mean() + 10


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("foot_left", "left"),
        ("l_foot", "left"),
        ("left_foot", "left"),
        ("LeftFoot", "left"),
        ("foot_r", "right"),
        ("RightUpLeg", "right"),
        ("pelvis", "middle"),
        ("lower_back", "middle"),
        ("root", "middle"),
        ("f3_hand_right", "right"),
    ],
)
def test_sides_are_read_from_names(name: str, side: str) -> None:
    assert side_of(name) == side


def test_the_models_own_colours_are_honoured() -> None:
    model = figure(world=RICH_WORLD, assets=rich_assets())
    block = int(model.body("block").geomadr[0])
    assert geom_colour(model, block) == pytest.approx((0.25, 0.6, 0.5, 1.0))


def test_hidden_geoms_are_skipped_unless_there_is_nothing_else() -> None:
    xml = '<mujoco><worldbody><body><freejoint/><geom size=".1" group="3"/>{}</body></worldbody></mujoco>'
    only = mujoco.MjModel.from_xml_string(xml.format(""))
    both = mujoco.MjModel.from_xml_string(xml.format('<geom size=".2"/><geom size=".3" rgba="1 1 1 0"/>'))
    assert list(ModelSolids.of(only).geoms) == [0]
    assert list(ModelSolids.of(both).geoms) == [1]


def test_a_tilted_plane_is_the_ground() -> None:
    xml = '<mujoco><worldbody><geom type="plane" size="0 0 1" euler="0 20 0"/></worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    scene = ModelSolids.of(model).placed(data.geom_xpos, data.geom_xmat)
    assert scene.with_default_ground() is scene
    assert scene.planes[0, 3] == pytest.approx([np.sin(np.radians(20)), 0, np.cos(np.radians(20))])


def test_a_height_field_without_a_plane_is_not_drowned() -> None:
    model = figure(world='<geom type="hfield" hfield="bumps" pos="0 0 -0.2"/>', assets=rich_assets())
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    scene = ModelSolids.of(model).placed(data.geom_xpos, data.geom_xmat).with_default_ground()
    assert scene.planes[0, 0, 2] == pytest.approx(-0.25)


def test_hundreds_of_solids() -> None:
    model = figure(copies=10)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    scene = ModelSolids.of(model).placed(data.geom_xpos, data.geom_xmat)
    assert len(scene) > 200
    camera = Camera.orbit((0, 4.5, 1), 14, -20, 20)
    assert len(np.unique(draw(scene, camera, (160, 90)).reshape(-1, 3), axis=0)) > 200


def test_filmstrips() -> None:
    take = walk_take()
    panels = filmstrip(take, count=3, size=(60, 80))
    assert panels.shape == (80, 3 * 60 + 2 * 6, 3)
    strobe = filmstrip(take, times=[0.0, 0.2, 0.4], mode="strobe", size=(200, 80))
    assert strobe.shape == (80, 200, 3)
    with pytest.raises(BadValue, match="'panels' or 'strobe'"):
        filmstrip(take, mode="strip")


def test_still_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take = walk_take()
    picture = still(take, 0.1, tmp_path / "a.png", size=(64, 48), caption="t = 0.1 s")
    assert np.array_equal(np.asarray(Image.open(tmp_path / "a.png")), picture)

    def fails(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Image.Image, "save", fails)
    with pytest.raises(OSError, match="disk full"):
        still(take, 0.1, tmp_path / "b.png", size=(64, 48))
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]


def test_errors_bring_the_cure(tmp_path: Path) -> None:
    take = walk_take()
    with pytest.raises(BadValue, match=r"one of \.png"):
        still(take, path=tmp_path / "a.bmp2")
    with pytest.raises(BadFile, match="create it"):
        still(take, path=tmp_path / "nowhere" / "a.png")
    with pytest.raises(BadValue, match="qpos must have shape"):
        Take(take.model, [0.0], np.zeros((1, 3)))
    with pytest.raises(BadValue, match="can be drawn"):
        still("walk")
    with pytest.raises(BadValue, match="size must lie"):
        still(take, size=(0, 10))


def test_overlays_and_ghost_are_drawn() -> None:
    model = figure()
    times, qpos = walking(model, duration=0.2, rate=30)
    n = len(times)
    path = np.tile([0.3, -0.6, 1.2], (n, 1)) + np.linspace(0, 0.3, n)[:, None]
    nowhere = np.full((n, 3), np.nan)
    plain = still(Take(model, times, qpos), 0.2, size=(120, 90))
    for options in (
        {"com": path},
        {"cop": path},
        {"arrows": lambda t: [((0, 0, 1), (0.5, 0, 0)), ((0, 0, 0.2), (0, 0, 1), palette.PUSH)]},
        {"arrows": [[((0, 0, 1), (0.5, 0, 0))]] * n},
        {"trails": {"hand": path}},
    ):
        drawn = still(Take(model, times, qpos, **options), 0.2, size=(120, 90))
        assert (drawn != plain).any(axis=2).sum() > 5, options
    assert np.array_equal(still(Take(model, times, qpos, cop=nowhere), 0.2, size=(120, 90)), plain)
    ghost = Take(model, times, qpos, ghost=qpos, ghost_offset=(0, 0.8, 0))
    assert not np.array_equal(still(ghost, 0.2, size=(120, 90)), plain)
