"""The geoms of a terrain: static boxes and height fields of the world body, above a floor plane."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.terrain import HeightField, Terrain
from counterpoise.terrain.solids import SINK

PIECE_COLOUR = (0.706, 0.729, 0.761, 1.0)  # of boxes, ramps, stairs and stones
GROUND_COLOUR = (0.8, 0.8, 0.8, 1.0)  # of ground that is made of boxes, as of the plane
SMOOTH_COLOUR = (0.690, 0.800, 0.878, 1.0)  # of patches with a friction of their own
FIELD_COLOUR = (0.812, 0.827, 0.812, 1.0)


def add_terrain(spec: mujoco.MjSpec, terrain: Terrain, finish: Callable[[object], None]) -> None:
    """Adds the solids of a terrain to the world body; `finish` gives each geom its contact properties."""
    for solid in terrain.boxes:
        colour = GROUND_COLOUR if solid.is_ground else PIECE_COLOUR if solid.friction is None else SMOOTH_COLOUR
        geom = spec.worldbody.add_geom(
            name=solid.name, type=mujoco.mjtGeom.mjGEOM_BOX, size=solid.half, pos=solid.centre,
            quat=spatial.from_matrix(solid.rotation), rgba=colour,
        )  # fmt: skip
        finish(geom)
        if solid.friction is not None:
            geom.friction[0] = solid.friction
    for number, field in enumerate(terrain.fields):
        finish(_add_field(spec, field, f"terrain_field_{number}", terrain.floor - SINK))


def _add_field(spec: mujoco.MjSpec, field: HeightField, name: str, bottom: float) -> object:
    rows, columns = field.grid.shape
    half = 0.5 * np.array(field.size)
    spec.add_hfield(
        name=name, nrow=rows, ncol=columns, size=[half[0], half[1], field.range, field.lowest - bottom],
        userdata=field.stored().ravel(),
    )  # fmt: skip
    return spec.worldbody.add_geom(
        name=name, type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname=name, pos=[*field.center, field.lowest],
        rgba=FIELD_COLOUR,
    )  # fmt: skip
