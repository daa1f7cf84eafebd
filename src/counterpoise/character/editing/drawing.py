"""The shape of a segment, drawn along its bone on a `Draft`, with the mass and inertia that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.editing.checks import MASSES, RADII, amount
from counterpoise.character.editing.draft import Draft
from counterpoise.character.editing.text import numbers, put, reach
from counterpoise.character.figure import LEFT_TINT, MIDDLE_TINT, RIGHT_TINT
from counterpoise.character.physics import CONTACT_SOLIMP, CONTACT_SOLREF, TISSUE_DENSITY
from counterpoise.character.roles import side_of
from counterpoise.errors import BadValue, unknown_name
from counterpoise.spatial import from_matrix

SHAPES = ("capsule", "box", "ellipsoid", "sphere")
DEFAULT_SLENDERNESS = 0.1  # radius over length of a shape whose radius is not given
Y = np.array([0.0, 1.0, 0.0])


def draw(
    draft: Draft, name: str, shape: str, span: float, size: Sequence[float], mass: float | None, behind: float = 0.0
) -> None:
    """Replaces a segment's shapes by one that is `span` long along its bone and begins `behind` the joint [m].

    The segment's mass stays unless it is given.
    """
    body = draft.bodies[name]
    u = np.array(draft.roles["drawn"][name], float)
    side = Y if abs(u[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
    side = side - (side @ u) * u
    side /= np.linalg.norm(side)
    turn = from_matrix(np.stack([np.cross(side, u), side, u], axis=1))
    for geom in body.findall("geom"):
        body.remove(geom)
    geom = ElementTree.SubElement(body, "geom", name=f"{name}_0", type=shape)
    put(geom, "size", size)
    put(geom, "pos", (0.5 * span - behind) * u)
    put(geom, "quat", turn)
    put(geom, "solref", CONTACT_SOLREF)
    put(geom, "solimp", CONTACT_SOLIMP)
    put(geom, "rgba", {"left": LEFT_TINT, "right": RIGHT_TINT}.get(side_of(name), MIDDLE_TINT))
    if draft.planar:  # in the plane a figure's own segments pass each other
        geom.set("contype", "0")
    old = body.find("inertial")
    if old is None:
        old = ElementTree.Element("inertial")
        body.insert(0, old)
    elif mass is None:
        mass = float(old.get("mass", "1"))
    solid, inertia = _mass_and_inertia(shape, size)
    weight = max(solid, MASSES[0]) if mass is None else mass
    old.attrib.clear()
    put(old, "pos", (0.5 * span - behind) * u)
    put(old, "quat", turn)
    put(old, "mass", weight)
    put(old, "diaginertia", inertia * (weight / solid) + 1e-14)


def redraw(draft: Draft, name: str, shape: str | None, radius: Any, length: float | None) -> None:
    """Changes shape, radius or length where given; children move with the far end."""
    body = draft.bodies[name]
    direction, before = draft.bone(name)
    geom = body.find("geom")
    kind, across, behind = "capsule", None, 0.0
    if geom is not None and name in draft.roles["drawn"]:
        kind = geom.get("type", "capsule")
        size = numbers(geom, "size", np.zeros(3))
        across = [float(size[1]), float(size[0])] if kind in ("box", "ellipsoid") else [float(size[0])] * 2
        behind = reach(body, -direction)  # after a reroot a segment may hang from its middle
    after = before if length is None else length
    behind *= after / before
    span = after + behind
    wanted = kind if shape is None else shape
    if radius is None and across is not None:
        limit = 0.45 * span if wanted == "capsule" else RADII[1]
        radius = [min(a, limit) for a in across]
        radius = radius[0] if wanted == "capsule" else radius
    size_after = shape_size(wanted, span, radius)
    draft.roles["drawn"][name] = direction.tolist()
    draw(draft, name, wanted, span, size_after, None, behind)
    if after != before:
        draft.stretch(name, direction, after / before)


def shape_size(shape: Any, length: float, radius: Any) -> list[float]:
    """MuJoCo's size of a shape that is `length` long in all."""
    if shape not in SHAPES:
        raise unknown_name("shape", shape, SHAPES)
    if shape == "sphere":
        return [0.5 * length]
    if radius is None:
        radius = DEFAULT_SLENDERNESS * length
    pair = list(radius) if isinstance(radius, Sequence | np.ndarray) and not isinstance(radius, str) else [radius] * 2
    if len(pair) != 2:
        raise BadValue(f"a radius is one number, or two: sideways and the other way; got {radius!r}")
    side, other = (amount(r, "a radius [m]", *RADII) for r in pair)
    if shape == "capsule":
        if side != other or side >= 0.5 * length:
            raise BadValue(
                f"a capsule has one radius, less than half its length {length:g} m; got {radius!r}. "
                "A sphere, a box or an ellipsoid may be thicker"
            )
        return [side, 0.5 * length - side]
    return [other, side, 0.5 * length]


def _mass_and_inertia(shape: str, size: Sequence[float]) -> tuple[float, Array]:
    """Mass [kg] and principal inertia (3,) of a solid of the density of water, along its own axes."""
    a, b, c = [*size, 0.0, 0.0][:3]
    if shape == "sphere":
        mass = TISSUE_DENSITY * 4.0 / 3.0 * np.pi * a**3
        return mass, np.full(3, 0.4 * mass * a * a)
    if shape == "ellipsoid":
        mass = TISSUE_DENSITY * 4.0 / 3.0 * np.pi * a * b * c
        return mass, mass / 5.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    if shape == "box":
        mass = TISSUE_DENSITY * 8.0 * a * b * c
        return mass, mass / 3.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    r, h = a, b  # capsule: a cylinder of half length h between two half spheres
    tube, ball = TISSUE_DENSITY * 2.0 * np.pi * r * r * h, TISSUE_DENSITY * 4.0 / 3.0 * np.pi * r**3
    across = tube * (h * h / 3.0 + r * r / 4.0) + ball * (0.4 * r * r + h * h + 0.75 * h * r)
    return tube + ball, np.array([across, across, 0.5 * tube * r * r + 0.4 * ball * r * r])
