"""What is drawn over a figure: markers, arrows, discs and trails, each a small scene."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.render import palette
from counterpoise.render.palette import RGBA
from counterpoise.render.raycast import CAPSULE, CASTS_SHADOW, CONE, CYLINDER, EMISSIVE, ON_TOP, SPHERE
from counterpoise.render.scene import DrawnScene, joined


def frame_along(direction: ArrayLike) -> Array:
    """Returns a rotation (3, 3) whose third column is the unit `direction`."""
    z = np.asarray(direction, dtype=float)
    z = z / np.linalg.norm(z)
    x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def solid(
    kind: int,
    size: ArrayLike,
    position: ArrayLike,
    rotation: ArrayLike | None = None,
    rgba: RGBA = palette.MIDDLE,
    flags: int = CASTS_SHADOW,
) -> DrawnScene:
    """Returns a scene of one solid; `size` as in MuJoCo: (radius,), (radius, half length) or three half sizes."""
    padded = np.zeros(3)
    given = np.atleast_1d(np.asarray(size, dtype=float))
    padded[: len(given)] = given
    turn = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
    return DrawnScene(
        kind=np.array([kind]),
        size=padded[None],
        position=np.asarray(position, dtype=float)[None],
        rotation=turn[None],
        rgba=np.array([rgba]),
        flags=np.array([flags]),
        mesh=np.array([-1]),
    )


def marker(position: ArrayLike, radius: float = 0.03, rgba: RGBA = palette.COM, on_top: bool = True) -> DrawnScene:
    """Returns a ball at a point, visible through what hides it; an empty scene where the point is nan."""
    if not np.isfinite(np.asarray(position, dtype=float)).all():
        return DrawnScene()
    return solid(SPHERE, radius, position, rgba=rgba, flags=EMISSIVE | (ON_TOP if on_top else 0))


def arrow(
    start: ArrayLike,
    vector: ArrayLike,
    rgba: RGBA = palette.FORCE,
    radius: float = 0.011,
    on_top: bool = False,
) -> DrawnScene:
    """Returns an arrow from `start` (3,) along `vector` (3,) [m], a shaft and a cone; an empty scene without length."""
    base, along = np.asarray(start, dtype=float), np.asarray(vector, dtype=float)
    length = float(np.linalg.norm(along))
    if not (np.isfinite(base).all() and np.isfinite(length) and length > 0.1 * radius):
        return DrawnScene()
    unit, turn = along / length, frame_along(along)
    head = min(6.0 * radius, 0.6 * length)
    shaft = length - head
    flags = EMISSIVE | (ON_TOP if on_top else 0)
    parts = [solid(CONE, (2.4 * radius, head / 2), base + (length - head / 2) * unit, turn, rgba, flags)]
    if shaft > 0:
        parts.append(solid(CYLINDER, (radius, shaft / 2), base + shaft / 2 * unit, turn, rgba, flags))
    return joined(parts)


def disc(
    centre: ArrayLike, radius: float = 0.035, rgba: RGBA = palette.COP, normal: ArrayLike = (0, 0, 1)
) -> DrawnScene:
    """Returns a flat disc on a surface, for a centre of pressure; an empty scene where the point is nan."""
    if not np.isfinite(np.asarray(centre, dtype=float)).all():
        return DrawnScene()
    flags = EMISSIVE | ON_TOP
    return solid(CYLINDER, (radius, 0.12 * radius), centre, frame_along(normal), rgba, flags)


def trail(points: ArrayLike, rgba: RGBA = palette.TRAIL, radius: float = 0.006, most: int = 160) -> DrawnScene:
    """Returns a polyline through points (n, 3), interrupted at rows with nan, of at most `most` segments."""
    path = np.atleast_2d(np.asarray(points, dtype=float))
    if len(path) > most + 1:
        path = path[np.unique(np.linspace(0, len(path) - 1, most + 1).astype(int))]
    a, b = path[:-1], path[1:]
    length = np.linalg.norm(b - a, axis=1) if len(path) > 1 else np.zeros(0)
    keep = np.isfinite(length) & (length > 1e-9)
    a, b, length = a[keep], b[keep], length[keep]
    n = len(a)
    turns = np.array([frame_along(d) for d in b - a]).reshape(n, 3, 3)
    return DrawnScene(
        kind=np.full(n, CAPSULE),
        size=np.column_stack([np.full(n, radius), length / 2, np.zeros(n)]),
        position=(a + b) / 2,
        rotation=turns,
        rgba=np.tile(np.array(rgba, dtype=float), (n, 1)),
        flags=np.full(n, EMISSIVE),
        mesh=np.full(n, -1),
    )
