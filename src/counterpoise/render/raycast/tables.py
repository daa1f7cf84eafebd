"""The tables that the ray caster's kernels read and write: names of their columns.

One array a table keeps calls cheap and a row together in memory. In the kernels S is the table of solids, I their
integers, V the numbers of the view; `rays` and `met` are the numbers and integers of a batch of rays.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from counterpoise.arrays import Array, Ints

Int: TypeAlias = int | np.integer[Any]
Flag: TypeAlias = bool | np.bool_

SPHERE, CAPSULE, CYLINDER, ELLIPSOID, BOX, CONE, MESH = range(7)  # kinds of solids
CASTS_SHADOW, EMISSIVE, ON_TOP, CHECKED = 1, 2, 4, 8  # flags of solids
TILE = 16  # [pixels] side of a screen tile
LEAF = 4  # triangles in a leaf of a mesh's tree
CELLS = 64  # the light's grid is CELLS x CELLS
FAR = 1e30  # distance of a ray that meets nothing

# Columns of S, one row a solid.
SIZE, POSITION, ROTATION, COLOUR = 0, 3, 6, 15  # half sizes as in MuJoCo; world pose; linear rgb and alpha
EXTENT, RADIUS, CORE = 19, 22, 23  # half sizes of the bounding box; bounding sphere; core box and ball
EYE = 27  # centre minus eye in the world (3), eye in the solid's frame (3), squared distance
OUTLINE = 34  # centre in light coordinates (3), then the outline seen from the light (9)
COLUMNS = 46
# Columns of I, one row a solid.
KIND, FLAGS, WHICH = 0, 1, 2  # WHICH is the mesh, -1 for none

# Numbers of V: eye (3); one pixel right, one down, eye to the centre of the first pixel (9); two axes across the light
# and towards it (9); linear colours (7 x 3); and single numbers.
ORIGIN, AXES, LIGHT, LOOK = 0, 3, 12, 21
KEY, SKY, BOUNCE, GROUND_LIGHT, GROUND_DARK, HORIZON, ZENITH = range(LOOK, LOOK + 21, 3)
LIGHT_ANGLE = 42  # tangent of the half angle of the light
WIDEST, SHARPEST = 43, 44  # half widths of the widest and the sharpest penumbra [m]
REACH = 45  # of ambient occlusion, in radii of the occluder
SHINE, RIM = 46, 47  # strength of the highlight, and of the light on grazing surfaces
HAZE = 48  # distance at which the ground is half faded into the backdrop [m]
SQUARE = 49  # side of a square of the checker [m]
CONTRAST = 50  # how much darker the dark squares of a height field are
NUMBERS = 51

# Columns of `rays`, a batch of rays: what each met in three layers (the solid world, the nearest see-through surface,
# the nearest marker) and the light there. Kernels loop over the batch inside, since numba counts references to every
# array of a call.
DIRECTION, NORM, POINT, LIT, OPEN = 0, 3, 4, 7, 8
DISTANCE, WEIGHTS, NORMAL = 9, 12, 18  # three layers each, of 1, 2 and 3 columns
FLAT = 27  # local x, y of the point in the first layer
RAY_COLUMNS = 29
SOLID, TRIANGLE, PLANE = 0, 3, 6  # columns of `met`: solid and triangle in each layer, -1 for none; the ground plane
RAY_INTEGERS = 7
BATCH = TILE * TILE  # rays: those of one tile
PLANES = 1024  # tags of what was met: 1 + solid, -1 - plane, -PLANES - solid for a checkered solid


class Meshes(NamedTuple):
    """The triangles of all meshes, each mesh sorted into an implicit binary tree of boxes."""

    corners: Array  # (m, 3, 3)
    normals: Array  # (m, 3, 3) at the corners
    boxes: Array  # (k, 6) low and high corners of tree nodes
    spans: Ints  # (meshes, 4) first triangle, triangles, first node, first leaf
