"""One picture of one scene."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.render.camera import Camera, view_axes
from counterpoise.render.raycast import cast_picture, tables
from counterpoise.render.scene import DrawnScene, Look

Picture = NDArray[np.uint8]  # (height, width, 3)

MAX_SIDE = 8192  # [pixels]
MAX_SAMPLES = 256  # rays of a pixel
WIDEST_PENUMBRA = 60.0  # [pixels] half width, in a picture 480 pixels high
SHARPEST_PENUMBRA = 0.5  # [pixels] half width
OCCLUSION_REACH = 4.0  # of ambient occlusion, in radii of the occluder
FIELD_CONTRAST = 0.16  # how much darker the dark squares of a height field are


def draw(
    scene: DrawnScene, camera: Camera, size: tuple[int, int] = (960, 720), samples: int = 8, dither: bool = True
) -> Picture:
    """Returns bytes (height, width, 3) of a scene; pixels on edges are means of `samples` rays (0: no smoothing)."""
    width, height = checked_size(size)
    solids = np.zeros((len(scene), tables.COLUMNS))
    solids[:, tables.SIZE : tables.SIZE + 3] = scene.size
    solids[:, tables.POSITION : tables.POSITION + 3] = scene.position
    solids[:, tables.ROTATION : tables.ROTATION + 9] = scene.rotation.reshape(-1, 9)
    solids[:, tables.COLOUR : tables.COLOUR + 3] = linear(scene.rgba[:, :3])
    solids[:, tables.COLOUR + 3] = scene.rgba[:, 3]
    kinds = np.column_stack([scene.kind, scene.flags, scene.mesh])
    picture = np.empty((height, width, 3), dtype=np.uint8)
    cast_picture(
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
    """The numbers of the view, in the order of the kernels' table."""
    axes, distance = camera.axes, camera.distance
    pixel = 2 * np.tan(np.radians(camera.field_of_view) / 2) / height
    right, down, forward = axes[0] * pixel, axes[1] * pixel, axes[2]
    corner = forward - right * (width - 1) / 2 - down * (height - 1) / 2
    view = np.empty(tables.NUMBERS)
    view[tables.ORIGIN : tables.AXES] = camera.eye
    view[tables.AXES : tables.LIGHT] = np.concatenate([right, down, corner])
    view[tables.LIGHT : tables.LOOK] = light_axes(look, camera).ravel()
    view[tables.LOOK : tables.LIGHT_ANGLE] = _colours(look).ravel()
    view[tables.LIGHT_ANGLE] = look.softness
    view[tables.WIDEST], view[tables.SHARPEST] = (
        WIDEST_PENUMBRA * pixel * distance * height / 480,
        SHARPEST_PENUMBRA * pixel * distance,
    )
    view[tables.REACH] = OCCLUSION_REACH
    view[tables.SHINE], view[tables.RIM] = look.shine, look.rim
    view[tables.HAZE] = look.haze * distance
    view[tables.SQUARE], view[tables.CONTRAST] = look.square, FIELD_CONTRAST
    return view


def light_axes(look: Look, camera: Camera) -> Array:
    """Returns (3, 3): two axes across the light, and the direction towards it."""
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
    """Linear colours: the light, the sky, light from below, floor (two), backdrop (two)."""
    sky, warm = np.array([0.97, 1.0, 1.05]) * look.ambient, np.array([1.0, 0.97, 0.92])
    colours = [linear(np.array(c[:3])) for c in (look.ground, look.ground_dark, look.horizon, look.zenith)]
    return np.array([warm * look.key, sky, sky * 0.55 * warm, *colours])


def linear(srgb: Array) -> Array:
    """Returns sRGB values in 0..1 as linear light."""
    c = np.clip(srgb, 0.0, 1.0)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _tone_table(entries: int = 16384) -> Array:
    """Display values 0..255 of linear light 0..1, in even steps."""
    c = np.linspace(0.0, 1.0, entries)
    return 255.0 * np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1 / 2.4) - 0.055)


TONE = _tone_table()


def spread_samples(count: int) -> Array:
    """Returns `count` points of a pixel, (count, 2) in -0.5..0.5, spread by the R2 sequence."""
    if not 0 <= count <= MAX_SAMPLES:
        raise BadValue(f"samples must lie in 0 .. {MAX_SAMPLES}, got {count}", given=count)
    k = np.arange(1, count + 1)[:, None]
    plastic = 1.32471795724474602596  # real root of x^3 = x + 1
    return np.ascontiguousarray((0.5 + k * np.array([1 / plastic, 1 / plastic**2])) % 1.0 - 0.5)


def checked_size(size: tuple[int, int]) -> tuple[int, int]:
    """Returns width and height as whole numbers of pixels that can be drawn."""
    try:
        width, height = (int(s) for s in size)
    except (TypeError, ValueError):
        raise BadValue(f"size must be (width, height) in pixels, got {size!r}", given=size) from None
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise BadValue(f"size must lie in 1 .. {MAX_SIDE} pixels a side, got {width} x {height}", given=size)
    return width, height
