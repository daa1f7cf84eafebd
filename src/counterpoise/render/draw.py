"""One picture of one scene."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterpoise.errors import BadValue
from counterpoise.render import raycast as rc
from counterpoise.render.camera import Camera, view_axes
from counterpoise.render.scene import Look, Scene

Array = np.ndarray[Any, Any]

LARGEST = 8192  # [pixels] along one side


def draw(
    scene: Scene, camera: Camera, size: tuple[int, int] = (960, 720), samples: int = 8, dither: bool = True
) -> Array:
    """Bytes (height, width, 3) of `scene`; pixels on edges are means of `samples` rays (0: no smoothing)."""
    width, height = checked_size(size)
    solids = np.zeros((len(scene), rc.COLUMNS))
    solids[:, rc.SIZE : rc.SIZE + 3] = scene.size
    solids[:, rc.POSITION : rc.POSITION + 3] = scene.position
    solids[:, rc.ROTATION : rc.ROTATION + 9] = scene.rotation.reshape(-1, 9)
    solids[:, rc.COLOUR : rc.COLOUR + 3] = linear(scene.rgba[:, :3])
    solids[:, rc.COLOUR + 3] = scene.rgba[:, 3]
    kinds = np.column_stack([scene.kind, scene.flags, scene.mesh])
    picture = np.empty((height, width, 3), dtype=np.uint8)
    rc.cast_picture(
        solids,
        kinds,
        scene.meshes,
        _view(scene.look, camera, width, height),
        np.array(scene.planes),
        spread_samples(samples),
        TONE,
        1.0 if dither else 0.0,
        picture,
    )
    return picture


def _view(look: Look, camera: Camera, width: int, height: int) -> Array:
    """The numbers of the view in the order the kernels know."""
    axes, distance = camera.axes, camera.distance
    pixel = 2 * np.tan(np.radians(camera.field_of_view) / 2) / height
    right, down, forward = axes[0] * pixel, axes[1] * pixel, axes[2]
    corner = forward - right * (width - 1) / 2 - down * (height - 1) / 2
    view = np.empty(rc.NUMBERS)
    view[rc.ORIGIN : rc.AXES] = camera.eye
    view[rc.AXES : rc.LIGHT] = np.concatenate([right, down, corner])
    view[rc.LIGHT : rc.LOOK] = light_axes(look, camera).ravel()
    view[rc.LOOK : rc.LIGHT_ANGLE] = _colours(look).ravel()
    view[rc.LIGHT_ANGLE] = look.softness
    view[rc.WIDEST], view[rc.SHARPEST] = 60 * pixel * distance * height / 480, 0.5 * pixel * distance
    view[rc.REACH] = 4.0
    view[rc.SHINE], view[rc.RIM] = look.shine, look.rim
    view[rc.HAZE] = look.haze * distance
    view[rc.SQUARE], view[rc.CONTRAST] = look.square, 0.16
    return view


def light_axes(look: Look, camera: Camera) -> Array:
    """Rows: two axes across the light, and the direction towards it."""
    if look.light is None:
        axes = -view_axes(camera.azimuth + look.light_azimuth, look.light_elevation)
        return np.ascontiguousarray(axes)
    towards = np.array(look.light, dtype=float)
    if towards.shape != (3,) or not np.linalg.norm(towards) > 0:
        raise BadValue(f"look.light must be a direction (3,) towards the light, got {look.light}", given=look.light)
    towards /= np.linalg.norm(towards)
    across = np.cross((0.0, 0.0, 1.0) if abs(towards[2]) < 0.99 else (1.0, 0.0, 0.0), towards)
    across /= np.linalg.norm(across)
    return np.array([across, np.cross(towards, across), towards])


def _colours(look: Look) -> Array:
    sky, warm = np.array([0.97, 1.0, 1.05]) * look.ambient, np.array([1.0, 0.97, 0.92])
    colours = [linear(np.array(c[:3])) for c in (look.ground, look.ground_dark, look.horizon, look.zenith)]
    return np.array([warm * look.key, sky, sky * 0.55 * warm, *colours])


def linear(srgb: Array) -> Array:
    """sRGB values in 0..1 to linear light."""
    c = np.clip(srgb, 0.0, 1.0)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _tone_table(entries: int = 16384) -> Array:
    c = np.linspace(0.0, 1.0, entries)
    return 255.0 * np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1 / 2.4) - 0.055)


TONE = _tone_table()


def spread_samples(count: int) -> Array:
    """`count` points of a pixel, (count, 2) in -0.5..0.5, spread by the R2 sequence."""
    if not 0 <= count <= 256:
        raise BadValue(f"samples must lie in 0 .. 256, got {count}", given=count)
    k = np.arange(1, count + 1)[:, None]
    golden = 1.32471795724474602596  # the plastic number
    return np.ascontiguousarray((0.5 + k * np.array([1 / golden, 1 / golden**2])) % 1.0 - 0.5)


def checked_size(size: tuple[int, int]) -> tuple[int, int]:
    """Width and height as whole numbers of pixels that can be drawn."""
    try:
        width, height = (int(s) for s in size)
    except (TypeError, ValueError):
        raise BadValue(f"size must be (width, height) in pixels, got {size!r}", given=size) from None
    if not (1 <= width <= LARGEST and 1 <= height <= LARGEST):
        raise BadValue(f"size must lie in 1 .. {LARGEST} pixels a side, got {width} x {height}", given=size)
    return width, height
