"""Cameras: whatever is framed is inside the picture, and following does not shake."""

from __future__ import annotations

import numpy as np
import pytest
from figure import figure, walking

from counterpoise.errors import BadValue
from counterpoise.render import Camera, CameraPath, DrawnStage, Take, frame_points
from counterpoise.render.camera import smoothed


@pytest.mark.parametrize("azimuth", [-90, -30, 45, 170])
@pytest.mark.parametrize("elevation", [-10, 0, 60])
@pytest.mark.parametrize("aspect", [0.5, 16 / 9])
def test_framed_points_fill_the_picture_and_stay_inside(azimuth: float, elevation: float, aspect: float) -> None:
    points = np.random.default_rng(1).normal(size=(50, 3)) * [1.0, 0.3, 0.8]
    size = (round(400 * aspect), 400)
    camera = frame_points(points, azimuth, elevation, size[0] / size[1], margin=0.05)
    seen = camera.project(points, size)
    assert (seen[:, 2] > 0).all()
    assert (seen[:, :2] >= 0).all()
    assert (seen[:, :2] <= size).all()
    filled = np.ptp(seen[:, :2], axis=0) / size
    assert filled.max() == pytest.approx(0.95, abs=0.01)


def test_framed_balls_are_inside() -> None:
    camera = frame_points([(0, 0, 0)], -60, 10, 1.0, radii=0.5, margin=0.0)
    half = np.radians(camera.field_of_view) / 2
    assert camera.distance == pytest.approx(0.5 / np.sin(half), rel=1e-6)


def test_azimuth_zero_looks_a_figure_in_the_face() -> None:
    camera = Camera.orbit((0, 0, 1), 3, azimuth=0, elevation=0)
    assert camera.eye == pytest.approx([3, 0, 1])
    left, right = camera.project([(0, 0.5, 1), (0, -0.5, 1)], (100, 100))
    assert left[0] > 50 > right[0]  # its left hand is on our right
    assert camera.azimuth == pytest.approx(0)


def test_tracking_keeps_the_whole_motion_inside_without_bobbing() -> None:
    model = figure()
    times, qpos = walking(model)
    stage = DrawnStage(Take(model, times, qpos))
    camera_path = CameraPath(stage, "track", 4 / 3)
    cameras = [camera_path.camera(t) for t in times]
    heights = [c.eye[2] for c in cameras]
    assert np.ptp(heights) < 1e-12
    speed = np.diff([c.eye[0] for c in cameras]) * 60
    assert speed == pytest.approx(np.full(len(speed), 1.2), abs=0.15)
    for t in times[::20]:
        seen = camera_path.camera(t).project(stage.corners(t), (400, 300))
        assert (seen[:, :2] >= 0).all()
        assert (seen[:, :2] <= (400, 300)).all()


def test_fixed_camera_frames_the_whole_motion() -> None:
    model = figure()
    times, qpos = walking(model)
    stage = DrawnStage(Take(model, times, qpos))
    camera_path = CameraPath(stage, "fixed", 4 / 3)
    assert np.array_equal(camera_path.camera(0.0).eye, camera_path.camera(2.0).eye)
    seen = camera_path.camera(0).project(np.concatenate([stage.corners(t) for t in times]), (400, 300))
    assert (seen[:, :2] >= 0).all()
    assert (seen[:, :2] <= (400, 300)).all()


def test_smoothing_leaves_straight_lines_alone() -> None:
    times = np.linspace(0, 2, 81)
    line = np.outer(times, [1.0, -2.0, 0.5]) + 3
    assert smoothed(line, times) == pytest.approx(line, abs=1e-9)


def test_poses_between_rows_turn_the_short_way() -> None:
    model = figure()
    pose = np.tile(model.qpos0, (2, 1))
    pose[1, 3:7] = [-np.cos(0.2), 0, 0, -np.sin(0.2)]  # the same turn of 0.4 rad, quaternion negated
    middle = DrawnStage(Take(model, [0.0, 1.0], pose)).pose(0.5)
    assert abs(middle[3:7] @ [np.cos(0.1), 0, 0, np.sin(0.1)]) == pytest.approx(1)


def test_bad_cameras_say_why() -> None:
    with pytest.raises(BadValue, match="up"):
        Camera((0, 0, 1), (0, 0, 0))
    with pytest.raises(BadValue, match="elevation"):
        Camera.orbit((0, 0, 0), 1, 0, 90)
    with pytest.raises(BadValue, match="'track', 'fixed' or a Camera"):
        model = figure()
        CameraPath(DrawnStage(Take(model, [0.0], [model.qpos0])), "follow")
