"""A scene: solids, ground planes and a look, as frozen arrays. Scenes can be added: figure + markers + trail."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpoise.arrays import Array, Ints
from counterpoise.errors import BadValue
from counterpoise.render import palette
from counterpoise.render.meshes import joined_meshes, no_meshes
from counterpoise.render.palette import RGBA
from counterpoise.render.raycast import CASTS_SHADOW, CHECKED, Meshes


@dataclass(frozen=True)
class Look:
    """Colours and light of a picture."""

    ground: RGBA = palette.GROUND
    ground_dark: RGBA = palette.GROUND_DARK
    horizon: RGBA = palette.HORIZON
    zenith: RGBA = palette.ZENITH
    square: float = 0.5  # edge of a floor square [m]
    light: tuple[float, float, float] | None = None  # towards the light, world; None: over the camera's shoulder
    light_azimuth: float = -48.0  # [deg] of that light, from the camera's own azimuth
    light_elevation: float = 52.0  # [deg]
    key: float = 0.86  # strength of the light, 1 = white
    ambient: float = 0.40  # strength of the sky
    softness: float = 0.045  # tangent of the half angle of the light
    shine: float = 0.10  # strength of highlights
    rim: float = 0.16  # strength of the light on grazing surfaces
    haze: float = 4.2  # the floor is half faded at this many camera distances


def _frozen(array: ArrayLike, dtype: Any = float) -> NDArray[Any]:
    """A read-only copy."""
    copy = np.array(array, dtype=dtype, order="C")
    copy.flags.writeable = False
    return copy


@dataclass(frozen=True, eq=False)
class DrawnScene:
    """n solids in the world, ground planes, and the look they are drawn with."""

    kind: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # (n,) of raycast.SPHERE ...
    size: Array = field(default_factory=lambda: np.zeros((0, 3)))  # (n, 3) half sizes as in MuJoCo [m]
    position: Array = field(default_factory=lambda: np.zeros((0, 3)))  # (n, 3) world [m]
    rotation: Array = field(default_factory=lambda: np.zeros((0, 3, 3)))  # (n, 3, 3) world from solid
    rgba: Array = field(default_factory=lambda: np.zeros((0, 4)))  # (n, 4) sRGB and alpha, 0..1
    flags: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # (n,) of raycast.CASTS_SHADOW ...
    mesh: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # (n,) into meshes, -1 for none
    planes: Array = field(default_factory=lambda: np.zeros((0, 4, 3)))  # (p, 4, 3) point, two axes, normal
    meshes: Meshes = field(default_factory=no_meshes)
    look: Look = Look()

    def __post_init__(self) -> None:
        n = len(self.kind)
        shapes = {"size": (n, 3), "position": (n, 3), "rotation": (n, 3, 3), "rgba": (n, 4)}
        for name, shape in (shapes | {"planes": (len(self.planes), 4, 3)}).items():
            array = _frozen(getattr(self, name))
            if array.shape != shape:
                raise BadValue(f"scene {name} must have shape {shape}, got {array.shape}", given=array.shape)
            object.__setattr__(self, name, array)
        for name in ("kind", "flags", "mesh"):
            object.__setattr__(self, name, _frozen(getattr(self, name), np.int64))
        if not (np.isfinite(self.position).all() and np.isfinite(self.rotation).all()):
            raise BadValue("a scene needs finite poses; the motion holds nan or infinity", solids=n)

    def __add__(self, other: DrawnScene) -> DrawnScene:
        return joined([self, other])

    def __len__(self) -> int:
        return len(self.kind)

    def with_default_ground(self) -> DrawnScene:
        """Returns this scene with a ground plane at z = 0, or at the foot of its height fields, if it has none."""
        if len(self.planes):
            return self
        ground = np.array([GROUND_PLANE])
        for i in np.flatnonzero((self.flags & CHECKED).astype(bool) & (self.mesh >= 0)):
            first, count = self.meshes.spans[self.mesh[i], :2]
            corners = self.meshes.corners[first : first + count].reshape(-1, 3) @ self.rotation[i, 2]
            ground[0, 0, 2] = min(ground[0, 0, 2], float(corners.min()) + self.position[i, 2])
        return replace(self, planes=ground)

    def moved(self, shift: ArrayLike) -> DrawnScene:
        """Returns this scene with all solids moved by `shift` (3,) [m]; the ground stays."""
        return replace(self, position=self.position + np.asarray(shift, dtype=float))

    def as_ghost(self, colour: RGBA | None = palette.GHOST, alpha: float | None = None) -> DrawnScene:
        """Returns the solids see-through and without shadow, in one colour (None keeps their own)."""
        rgba = self.rgba.copy()
        if colour is not None:
            rgba[:] = colour
        rgba[:, 3] = np.minimum(rgba[:, 3], palette.GHOST[3]) if alpha is None else alpha
        return replace(self, rgba=rgba, flags=self.flags & ~CASTS_SHADOW, planes=np.zeros((0, 4, 3)))

    def faded(self, share: float, towards: RGBA = palette.HORIZON) -> DrawnScene:
        """Returns this scene with its colours moved towards another by `share`; used for earlier moments."""
        rgba = self.rgba.copy()
        rgba[:, :3] += (np.array(towards[:3]) - rgba[:, :3]) * share
        return replace(self, rgba=rgba)


GROUND_PLANE = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def joined(scenes: Iterable[DrawnScene]) -> DrawnScene:
    """Returns all solids and planes of several scenes as one; the look is that of the first."""
    parts = list(scenes)
    if not parts:
        return DrawnScene()
    banks: list[Meshes] = []
    first: dict[int, int] = {}  # where the meshes of a collection begin in the joined one
    total, mesh = 0, []
    for part in parts:
        if id(part.meshes) not in first:
            first[id(part.meshes)] = total
            banks.append(part.meshes)
            total += len(part.meshes.spans)
        mesh.append(np.where(part.mesh >= 0, part.mesh + first[id(part.meshes)], -1))
    names = ("kind", "size", "position", "rotation", "rgba", "flags", "planes")
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return DrawnScene(**arrays, mesh=np.concatenate(mesh), meshes=joined_meshes(banks), look=parts[0].look)
