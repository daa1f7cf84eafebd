"""The solids of a MuJoCo model: which geoms are drawn, in which shapes and colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Flags, Ints
from counterpoise.render import palette
from counterpoise.render.meshes import field_of_model, joined_meshes, mesh_of_model
from counterpoise.render.palette import RGBA
from counterpoise.render.raycast import (
    BOX,
    CAPSULE,
    CASTS_SHADOW,
    CHECKED,
    CYLINDER,
    ELLIPSOID,
    MESH,
    SPHERE,
    Meshes,
)
from counterpoise.render.scene import DrawnScene, Look

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

GROUND_BOXES = "ground_"  # names of static boxes that are drawn like the floor begin with this


@dataclass(frozen=True, eq=False)
class ModelSolids:
    """The geoms of one model as solids, with their shapes and colours; `placed` gives them poses."""

    geoms: Ints  # (n,) geom ids of the solids
    planes: Ints  # geom ids of the ground planes
    moving: Flags  # (n,) not fixed to the world
    scene: DrawnScene  # the solids, without poses

    @classmethod
    def of(
        cls, model: mujoco.MjModel, tint: RGBA | None = None, look: Look | None = None, hidden: Sequence[int] = ()
    ) -> ModelSolids:
        """Returns the geoms of groups 0 to 2 that are not fully transparent; `tint` recolours everything that moves.

        Geoms of `hidden` bodies are left out.
        """
        types, bodies = model.geom_type, model.geom_bodyid
        moving = model.body_weldid[bodies] != 0
        drawable = np.isin(types, list(_KINDS))
        shown = (model.geom_group < 3) & (model.geom_rgba[:, 3] > 0)
        if not (shown & drawable & moving).any():  # a model that has only collision shapes
            shown |= moving & (model.geom_rgba[:, 3] > 0)
        shown &= ~np.isin(bodies, list(hidden))
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
            is_ground = not moving[geom] and model.geom(int(geom)).name.startswith(GROUND_BOXES)
            if is_ground:
                rgba[k] = (look or Look()).ground
            if is_field or is_ground:
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
        scene = DrawnScene(
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

    def placed(self, geom_xpos: ArrayLike, geom_xmat: ArrayLike, part: str = "all") -> DrawnScene:
        """Returns the scene with geoms at world positions (ngeom, 3) and rotations (ngeom, 3, 3) or (ngeom, 9).

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
) -> DrawnScene:
    """Returns the scene of one model from its geoms' world poses, as in MjData; for many frames use `ModelSolids`."""
    return ModelSolids.of(model, look=look).placed(geom_xpos, geom_xmat)


_LEFT = re.compile(r"^left|^l[_\-. ]|[_\-. ](left|l)$|[_\-. ](left|l)[_\-. ]|[a-z]Left$|^Left")
_RIGHT = re.compile(r"^right|^r[_\-. ]|[_\-. ](right|r)$|[_\-. ](right|r)[_\-. ]|[a-z]Right$|^Right")


def side_of(name: str) -> str:
    """Returns 'left', 'right' or 'middle', read from a body's name: foot_left, left_foot, l_foot, LeftFoot."""
    if _LEFT.search(name) or _LEFT.search(name.lower()):
        return "left"
    return "right" if _RIGHT.search(name) or _RIGHT.search(name.lower()) else "middle"


def geom_colour(model: mujoco.MjModel, geom: int) -> RGBA:
    """Returns the model's colour, or one by side if it has none: left cool, right warm, middle and scenery neutral."""
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
