"""Cameras: a frozen pinhole camera, and the closed form of the one that sees given points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.errors import BadValue

AZIMUTH = -52.0  # [deg] three-quarter view from the figure's right: x runs to the right of the picture
ELEVATION = 12.0  # [deg]
FIELD_OF_VIEW = 32.0  # [deg] vertical


def _point(name: str, value: ArrayLike) -> Array:
    point = np.array(value, dtype=float)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise BadValue(f"camera {name} must be three finite numbers [m], got {value!r}", given=value)
    point.flags.writeable = False
    return point


@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole at `eye` looking at `target`; `field_of_view` is the vertical angle."""

    eye: Array  # (3,) world [m]
    target: Array  # (3,) world [m]
    up: Array = (0.0, 0.0, 1.0)  # type: ignore[assignment]  # (3,) world
    field_of_view: float = FIELD_OF_VIEW  # [deg]

    def __post_init__(self) -> None:
        for name in ("eye", "target", "up"):
            object.__setattr__(self, name, _point(name, getattr(self, name)))
        if not 0.1 <= self.field_of_view <= 170:
            raise BadValue(
                f"field_of_view must lie in 0.1 .. 170 degrees, got {self.field_of_view}",
                given=self.field_of_view,
            )
        if np.linalg.norm(np.cross(self.target - self.eye, self.up)) < 1e-9:
            raise BadValue("the camera looks along its own up; move eye or target, or turn up", eye=self.eye)

    @classmethod
    def orbit(
        cls,
        target: ArrayLike,
        distance: float,
        azimuth: float = AZIMUTH,
        elevation: float = ELEVATION,
        field_of_view: float = FIELD_OF_VIEW,
    ) -> Camera:
        """Returns a camera at `distance` from `target`; azimuth counts from +x to +y: 0 sees a figure's front."""
        if not distance > 0:
            raise BadValue(f"camera distance must be positive, got {distance}", given=distance)
        centre = np.asarray(target, dtype=float)
        return cls(centre - distance * view_axes(azimuth, elevation)[2], centre, field_of_view=field_of_view)

    @property
    def axes(self) -> Array:
        """Rows right, down, forward, (3, 3): orthonormal, world."""
        forward = (self.target - self.eye) / np.linalg.norm(self.target - self.eye)
        right = np.cross(forward, self.up)
        right /= np.linalg.norm(right)
        return np.array([right, np.cross(forward, right), forward])

    @property
    def azimuth(self) -> float:
        """Direction of the eye seen from the target, from +x towards +y [deg]."""
        away = self.eye - self.target
        return float(np.degrees(np.arctan2(away[1], away[0])))

    @property
    def distance(self) -> float:
        return float(np.linalg.norm(self.eye - self.target))

    def moved(self, shift: ArrayLike) -> Camera:
        """Returns this camera moved by `shift` (3,) [m]."""
        step = np.asarray(shift, dtype=float)
        return Camera(self.eye + step, self.target + step, self.up, self.field_of_view)

    def project(self, points: ArrayLike, size: tuple[int, int]) -> Array:
        """Returns picture coordinates (n, 3) of world points (n, 3): column, row [pixels], depth [m]."""
        width, height = size
        local = (np.atleast_2d(np.asarray(points, dtype=float)) - self.eye) @ self.axes.T
        pixels = 0.5 * height / np.tan(np.radians(self.field_of_view) / 2)
        flat = local[:, :2] / local[:, 2:] * pixels + [0.5 * width, 0.5 * height]
        return np.column_stack([flat, local[:, 2]])


def view_axes(azimuth: float, elevation: float) -> Array:
    """Returns the rows right, down, forward of a camera that sees its target from (azimuth, elevation) [deg]."""
    if not abs(elevation) < 89.9:
        raise BadValue(f"elevation must lie between -89.9 and 89.9 degrees, got {elevation}", given=elevation)
    a, e = np.radians(azimuth), np.radians(elevation)
    forward = -np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.array([right, np.cross(forward, right), forward])


def frame_points(
    points: ArrayLike,
    azimuth: float = AZIMUTH,
    elevation: float = ELEVATION,
    aspect: float = 4 / 3,
    radii: ArrayLike = 0.0,
    margin: float = 0.08,
    field_of_view: float = FIELD_OF_VIEW,
) -> Camera:
    """Returns the nearest camera of this direction that sees all points (n, 3), each a ball of `radii` [m].

    With k the tangent of a half angle and z the depth, |x_i - c| <= k (z_i + D) for all i needs
    D >= (max(x - k z) - min(x + k z)) / 2k, and c is the mean of the two extremes; the same holds for rows.
    """
    cloud = np.atleast_2d(np.asarray(points, dtype=float))
    cloud = cloud[np.isfinite(cloud).all(axis=1)] if np.ndim(radii) == 0 else cloud
    if cloud.ndim != 2 or cloud.shape[1] != 3 or len(cloud) == 0 or not np.isfinite(cloud).all():
        raise BadValue("nothing to frame: give finite points of shape (n, 3)", shape=np.shape(points))
    axes = view_axes(azimuth, elevation)
    local = cloud @ axes.T
    half = np.tan(np.radians(field_of_view) / 2) * (1 - margin)
    centre, distance = np.zeros(3), 0.0
    for j, k in ((0, half * aspect), (1, half)):
        reach = np.asarray(radii, dtype=float) * np.sqrt(1 + k * k)
        high = float(np.max(local[:, j] - k * local[:, 2] + reach))
        low = float(np.min(local[:, j] + k * local[:, 2] - reach))
        centre[j] = 0.5 * (high + low)
        distance = max(distance, (high - low) / (2 * k))
    depth = local[:, 2]
    middle = 0.5 * (float(depth.min()) + float(depth.max()))
    distance = max(distance, -float(np.min(depth - np.asarray(radii))) + 0.05)
    eye = np.array([centre[0], centre[1], -distance]) @ axes
    target = np.array([centre[0], centre[1], max(middle, -distance + 0.05)]) @ axes
    return Camera(eye, target, field_of_view=field_of_view)


def smoothed(path: ArrayLike, times: ArrayLike, window: float = 0.5) -> Array:
    """Returns a path (n, 3) averaged over time with a Gaussian of width `window` [s], reflected at its ends.

    The filter has zero phase: a camera that follows the path does not lag behind.
    """
    points, t = np.asarray(path, dtype=float), np.asarray(times, dtype=float)
    if len(t) < 3 or t[-1] <= t[0]:
        return points.copy()
    even = np.linspace(t[0], t[-1], max(3, min(4000, int((t[-1] - t[0]) * 60) + 2)))
    step = even[1] - even[0]
    half = min(len(even) - 1, int(np.ceil(3 * window / step)))
    weights = np.exp(-0.5 * (np.arange(-half, half + 1) * step / window) ** 2)
    weights /= weights.sum()
    result = np.empty_like(points)
    for j in range(points.shape[1]):
        column = np.interp(even, t, points[:, j])
        first, last = 2 * column[0] - column[half:0:-1], 2 * column[-1] - column[-2 : -half - 2 : -1]
        result[:, j] = np.interp(t, even, np.convolve(np.concatenate([first, column, last]), weights, "valid"))
    return result
