"""The ray caster: one picture from tables of solids, planes and triangle meshes, compiled with numba.

A picture is made in three passes: sort the solids into screen tiles and into a grid seen from the light; cast one ray a
pixel; cast more rays where neighbouring pixels differ. Nothing is random: equal scenes give equal bytes.
"""

from counterpoise.render.raycast.picture import cast_picture
from counterpoise.render.raycast.tables import (
    BOX,
    CAPSULE,
    CASTS_SHADOW,
    CHECKED,
    CONE,
    CYLINDER,
    ELLIPSOID,
    EMISSIVE,
    LEAF,
    MESH,
    ON_TOP,
    SPHERE,
    Meshes,
)

__all__ = [
    "BOX", "CAPSULE", "CASTS_SHADOW", "CHECKED", "CONE", "CYLINDER", "ELLIPSOID", "EMISSIVE", "LEAF", "MESH", "ON_TOP",
    "SPHERE", "Meshes", "cast_picture",
]  # fmt: skip
