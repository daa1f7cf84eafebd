"""A scene: solids, ground planes and a look, as frozen arrays. Scenes add up: figure + markers + trail."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.errors import BadValue
from counterpoise.render import palette
from counterpoise.render.meshes import field_of_model, joined_meshes, mesh_of_model, no_meshes
from counterpoise.render.palette import RGBA
from counterpoise.render.raycast import (
    BOX,
    CAPSULE,
    CASTS_SHADOW,
    CHECKED,
    CONE,
    CYLINDER,
    ELLIPSOID,
    EMISSIVE,
    MESH,
    ON_TOP,
    SPHERE,
    Meshes,
)

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Look:
    """Colours and light of a picture; the same names in every function that draws."""

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
    shine: float = 0.10
    rim: float = 0.16
    haze: float = 4.2  # the floor is half lost at this many camera distances


def _frozen(array: ArrayLike, dtype: Any = float) -> Array:
    copy = np.array(array, dtype=dtype, order="C")
    copy.flags.writeable = False
    return copy


@dataclass(frozen=True, eq=False)
class Scene:
    """n solids in the world, ground planes, and the look they are drawn with."""

    kind: Array = field(default_factory=lambda: np.zeros(0, np.int64))  # (n,) of raycast.SPHERE ...
    size: Array = field(default_factory=lambda: np.zeros((0, 3)))  # (n, 3) half sizes as in MuJoCo [m]
    position: Array = field(default_factory=lambda: np.zeros((0, 3)))  # (n, 3) world [m]
    rotation: Array = field(default_factory=lambda: np.zeros((0, 3, 3)))  # (n, 3, 3) world from solid
    rgba: Array = field(default_factory=lambda: np.zeros((0, 4)))  # (n, 4) sRGB and alpha, 0..1
    flags: Array = field(default_factory=lambda: np.zeros(0, np.int64))  # (n,) of raycast.CASTS_SHADOW ...
    mesh: Array = field(default_factory=lambda: np.zeros(0, np.int64))  # (n,) into meshes, -1 for none
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

    def __add__(self, other: Scene) -> Scene:
        return joined([self, other])

    def __len__(self) -> int:
        return len(self.kind)

    def with_look(self, look: Look) -> Scene:
        return replace(self, look=look)

    def with_default_ground(self) -> Scene:
        """This scene, on a plane at z = 0 (or at the foot of its height fields) if it has none of its own."""
        if len(self.planes):
            return self
        ground = np.array([GROUND_PLANE])
        for i in np.flatnonzero(self.flags & CHECKED):
            first, count = self.meshes.spans[self.mesh[i], :2]
            corners = self.meshes.corners[first : first + count].reshape(-1, 3) @ self.rotation[i, 2]
            ground[0, 0, 2] = min(ground[0, 0, 2], float(corners.min()) + self.position[i, 2])
        return replace(self, planes=ground)

    def moved(self, shift: ArrayLike) -> Scene:
        """All solids carried along by `shift` (3,) [m]; the ground stays."""
        return replace(self, position=self.position + np.asarray(shift, dtype=float))

    def as_ghost(self, colour: RGBA | None = palette.GHOST, alpha: float | None = None) -> Scene:
        """The solids see-through and without shadow, in one colour (None keeps their own)."""
        rgba = self.rgba.copy()
        if colour is not None:
            rgba[:] = colour
        rgba[:, 3] = np.minimum(rgba[:, 3], palette.GHOST[3]) if alpha is None else alpha
        return replace(self, rgba=rgba, flags=self.flags & ~CASTS_SHADOW, planes=np.zeros((0, 4, 3)))

    def faded(self, share: float, towards: RGBA = palette.HORIZON) -> Scene:
        """Colours moved towards another by `share`; for moments that are past."""
        rgba = self.rgba.copy()
        rgba[:, :3] += (np.array(towards[:3]) - rgba[:, :3]) * share
        return replace(self, rgba=rgba)


GROUND_PLANE = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def joined(scenes: Iterable[Scene]) -> Scene:
    """All solids and planes of several scenes; the look is the first one's."""
    parts = list(scenes)
    if not parts:
        return Scene()
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
    return Scene(**arrays, mesh=np.concatenate(mesh), meshes=joined_meshes(banks), look=parts[0].look)


# ---------------------------------------------------------------- from a model

_KINDS = {
    int(mujoco.mjtGeom.mjGEOM_SPHERE): SPHERE,
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): CAPSULE,
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): CYLINDER,
    int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): ELLIPSOID,
    int(mujoco.mjtGeom.mjGEOM_BOX): BOX,
    int(mujoco.mjtGeom.mjGEOM_MESH): MESH,
    int(mujoco.mjtGeom.mjGEOM_SDF): MESH,
    int(mujoco.mjtGeom.mjGEOM_HFIELD): MESH,
}


@dataclass(frozen=True, eq=False)
class Wardrobe:
    """How the geoms of one model are drawn, worked out once; `dress` puts them into the world."""

    geoms: Array  # (n,) geom ids of the solids
    planes: Array  # geom ids of the ground planes
    moving: Array  # (n,) bool: not fixed to the world
    scene: Scene  # the solids, without poses

    @classmethod
    def of(cls, model: mujoco.MjModel, tint: RGBA | None = None, look: Look | None = None) -> Wardrobe:
        """Geoms of groups 0 to 2 that are not fully transparent; `tint` recolours everything that moves."""
        types, bodies = model.geom_type, model.geom_bodyid
        moving = model.body_weldid[bodies] != 0
        drawable = np.isin(types, list(_KINDS))
        shown = (model.geom_group < 3) & (model.geom_rgba[:, 3] > 0)
        if not (shown & drawable & moving).any():  # a model whose only geoms are its collision shapes
            shown |= moving & (model.geom_rgba[:, 3] > 0)
        geoms = np.flatnonzero(drawable & shown)
        planes = np.flatnonzero((types == mujoco.mjtGeom.mjGEOM_PLANE) & shown)
        banks: list[Meshes] = []
        places: dict[tuple[bool, int], int] = {}
        size, rgba = model.geom_size[geoms].copy(), np.empty((len(geoms), 4))
        flags, mesh = np.full(len(geoms), CASTS_SHADOW), np.full(len(geoms), -1)
        for k, geom in enumerate(geoms):
            rgba[k] = tint if tint is not None and moving[geom] else geom_colour(model, int(geom))
            if rgba[k, 3] < 1:
                flags[k] = 0
            is_field = types[geom] == mujoco.mjtGeom.mjGEOM_HFIELD
            if is_field:
                flags[k] |= CHECKED
            if _KINDS[int(types[geom])] == MESH:
                key = (is_field, int(model.geom_dataid[geom]))
                if key not in places:
                    places[key] = len(banks)
                    banks.append((field_of_model if is_field else mesh_of_model)(model, key[1]))
                mesh[k] = places[key]
                size[k] = np.abs(banks[mesh[k]].corners).max(axis=(0, 1)) + 1e-6
        kind = np.array([_KINDS[int(t)] for t in types[geoms]], dtype=np.int64)
        nowhere = {"position": np.zeros((len(geoms), 3)), "rotation": np.zeros((len(geoms), 3, 3))}
        scene = Scene(
            kind=kind,
            size=size,
            rgba=rgba,
            flags=flags,
            mesh=mesh,
            meshes=joined_meshes(banks),
            look=look or Look(),
            **nowhere,
        )
        return cls(geoms, planes, moving[geoms], scene)

    def dress(self, geom_xpos: ArrayLike, geom_xmat: ArrayLike, part: str = "all") -> Scene:
        """The scene with geoms at world positions (ngeom, 3) and rotations (ngeom, 3, 3) or (ngeom, 9).

        `part` is 'all', 'moving' (no planes, nothing fixed to the world) or 'scenery' (the rest).
        """
        position = np.asarray(geom_xpos, dtype=float)
        rotation = np.asarray(geom_xmat, dtype=float).reshape(-1, 3, 3)
        keep = {"all": np.ones_like(self.moving), "moving": self.moving, "scenery": ~self.moving}[part]
        grounds = self.planes[:0] if part == "moving" else self.planes
        planes = np.empty((len(grounds), 4, 3))
        planes[:, 0] = position[grounds]
        planes[:, 1:] = rotation[grounds].transpose(0, 2, 1)
        bare = {name: getattr(self.scene, name)[keep] for name in ("kind", "size", "rgba", "flags", "mesh")}
        geoms = self.geoms[keep]
        return replace(self.scene, **bare, position=position[geoms], rotation=rotation[geoms], planes=planes)


def scene_from_model(
    model: mujoco.MjModel, geom_xpos: ArrayLike, geom_xmat: ArrayLike, look: Look | None = None
) -> Scene:
    """The scene of one model from its geoms' world poses, as in MjData; keep a `Wardrobe` for many frames."""
    return Wardrobe.of(model, look=look).dress(geom_xpos, geom_xmat)


_LEFT = re.compile(r"^left|^l[_\-. ]|[_\-. ](left|l)$|[_\-. ](left|l)[_\-. ]|[a-z]Left$|^Left")
_RIGHT = re.compile(r"^right|^r[_\-. ]|[_\-. ](right|r)$|[_\-. ](right|r)[_\-. ]|[a-z]Right$|^Right")


def side_of(name: str) -> str:
    """'left', 'right' or 'middle', read from a body's name: foot_left, left_foot, l_foot, LeftFoot."""
    if _LEFT.search(name) or _LEFT.search(name.lower()):
        return "left"
    return "right" if _RIGHT.search(name) or _RIGHT.search(name.lower()) else "middle"


def geom_colour(model: mujoco.MjModel, geom: int) -> RGBA:
    """The model's own colour, or where it has none: left cool, right warm, middle and scenery neutral."""
    own = tuple(float(c) for c in model.geom_rgba[geom])
    if not np.allclose(own, palette.MUJOCO_DEFAULT, atol=1e-6):
        return own[0], own[1], own[2], own[3]
    if (material := int(model.geom_matid[geom])) >= 0:
        r, g, b, a = (float(c) for c in model.mat_rgba[material])
        return r, g, b, a
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_HFIELD:
        return palette.TERRAIN
    body = int(model.geom_bodyid[geom])
    if body == 0:
        return palette.SCENERY
    while body and not model.body(body).name:  # an unnamed body belongs to the named one above it
        body = int(model.body_parentid[body])
    side = side_of(model.body(body).name) if body else "middle"
    if side == "middle":
        side = side_of(model.geom(geom).name)
    return {"left": palette.LEFT, "right": palette.RIGHT, "middle": palette.MIDDLE}[side]


# ---------------------------------------------------------------- overlays


def frame_along(direction: ArrayLike) -> Array:
    """A rotation (3, 3) whose third column is the unit `direction`."""
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
) -> Scene:
    """One solid; `size` as MuJoCo gives it: (radius,), (radius, half length) or three half sizes."""
    padded = np.zeros(3)
    given = np.atleast_1d(np.asarray(size, dtype=float))
    padded[: len(given)] = given
    turn = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
    return Scene(
        kind=np.array([kind]),
        size=padded[None],
        position=np.asarray(position, dtype=float)[None],
        rotation=turn[None],
        rgba=np.array([rgba]),
        flags=np.array([flags]),
        mesh=np.array([-1]),
    )


def marker(position: ArrayLike, radius: float = 0.03, rgba: RGBA = palette.COM, on_top: bool = True) -> Scene:
    """A ball at a point, shining through whatever hides it; nothing where the point is nan."""
    if not np.isfinite(np.asarray(position, dtype=float)).all():
        return Scene()
    return solid(SPHERE, radius, position, rgba=rgba, flags=EMISSIVE | (ON_TOP if on_top else 0))


def arrow(
    start: ArrayLike,
    vector: ArrayLike,
    rgba: RGBA = palette.FORCE,
    radius: float = 0.011,
    on_top: bool = False,
) -> Scene:
    """An arrow from `start` (3,) along `vector` (3,) [m]: a shaft and a cone; nothing if it has no length."""
    base, along = np.asarray(start, dtype=float), np.asarray(vector, dtype=float)
    length = float(np.linalg.norm(along))
    if not (np.isfinite(base).all() and np.isfinite(length) and length > 0.1 * radius):
        return Scene()
    unit, turn = along / length, frame_along(along)
    head = min(6.0 * radius, 0.6 * length)
    shaft = length - head
    flags = EMISSIVE | (ON_TOP if on_top else 0)
    parts = [solid(CONE, (2.4 * radius, head / 2), base + (length - head / 2) * unit, turn, rgba, flags)]
    if shaft > 0:
        parts.append(solid(CYLINDER, (radius, shaft / 2), base + shaft / 2 * unit, turn, rgba, flags))
    return joined(parts)


def disc(centre: ArrayLike, radius: float = 0.035, rgba: RGBA = palette.COP, normal: ArrayLike = (0, 0, 1)) -> Scene:
    """A flat disc lying on a surface, for a centre of pressure; nothing where the point is nan."""
    if not np.isfinite(np.asarray(centre, dtype=float)).all():
        return Scene()
    flags = EMISSIVE | ON_TOP
    return solid(CYLINDER, (radius, 0.12 * radius), centre, frame_along(normal), rgba, flags)


def trail(points: ArrayLike, rgba: RGBA = palette.TRAIL, radius: float = 0.006, most: int = 160) -> Scene:
    """A polyline through points (n, 3); rows with nan break it; at most `most` segments are drawn."""
    path = np.atleast_2d(np.asarray(points, dtype=float))
    if len(path) > most + 1:
        path = path[np.unique(np.linspace(0, len(path) - 1, most + 1).astype(int))]
    a, b = path[:-1], path[1:]
    length = np.linalg.norm(b - a, axis=1) if len(path) > 1 else np.zeros(0)
    keep = np.isfinite(length) & (length > 1e-9)
    a, b, length = a[keep], b[keep], length[keep]
    n = len(a)
    turns = np.array([frame_along(d) for d in b - a]).reshape(n, 3, 3)
    return Scene(
        kind=np.full(n, CAPSULE),
        size=np.column_stack([np.full(n, radius), length / 2, np.zeros(n)]),
        position=(a + b) / 2,
        rotation=turns,
        rgba=np.tile(np.array(rgba, dtype=float), (n, 1)),
        flags=np.full(n, EMISSIVE),
        mesh=np.full(n, -1),
    )
