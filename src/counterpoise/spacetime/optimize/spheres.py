"""What sticks out of a body: spheres that stand for its shapes, to be kept off the ground or above a height."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterpoise.character.character import Character
from counterpoise.character.shapes import solids_of, spheres_of
from counterpoise.character.shapes.solid import drawn_in
from counterpoise.character.shapes.spheres import spheres_in

MOST_CORNERS = 8  # of a shape that is no mesh


@dataclass(frozen=True)
class BodySphere:
    """A sphere fixed to a body; of radius 0 a point."""

    name: str
    body: str
    position: tuple[float, float, float]  # [m] body's frame
    radius: float = 0.0  # [m]


def spheres_on(character: Character, names: Sequence[str]) -> list[BodySphere]:
    """Of a foot (by its name or its body's) the contact points, of any other body all its shapes."""
    feet = {f.name: f for f in character.feet} | {f.body: f for f in character.feet}
    out: list[BodySphere] = []
    for name in names:
        if name in feet:
            out += [BodySphere(p.name, p.body, p.position) for p in feet[name].points]
        else:
            out += _shapes(character, character.body_id(name))
    return out


def spheres_off_feet(character: Character) -> list[BodySphere]:
    """Of every body that is no part of a foot."""
    soles = {p.body for f in character.feet for p in f.points}
    bodies = (b for b in range(1, character.model.nbody) if character.model.body(b).name not in soles)
    return [sphere for b in bodies for sphere in _shapes(character, b)]


def shapes_of_feet(character: Character) -> list[BodySphere]:
    """Of every body that belongs to a foot its shapes, which may reach lower than its contact points when it tilts."""
    soles = {p.body: None for f in character.feet for p in f.points}
    return [sphere for body in soles for sphere in _shapes(character, character.body_id(body))]


def drawn_shapes(character: Character) -> list[BodySphere]:
    """Of every body the round and box-like shapes that are drawn but do not collide: toes, an instep.

    Simulated bodies pass through them, people see them. Meshes are left out: what collides stands for them.
    """
    m, solid = character.model, {s.geom for s in solids_of(character)}
    known = {sphere for b in range(1, m.nbody) for sphere in _shapes(character, b)}
    out: dict[BodySphere, None] = {}
    for shape in drawn_in(m):
        if shape.geom in solid or len(shape.corners) > MOST_CORNERS:
            continue
        name = str(m.body(shape.body).name)
        for place, radius in spheres_in(shape):
            x, y, z = (round(float(c), 9) for c in place)
            out[BodySphere(name, name, (x, y, z), radius)] = None
    return [sphere for sphere in out if sphere not in known]


def _shapes(character: Character, body: int) -> list[BodySphere]:
    name = str(character.model.body(body).name)
    out: dict[tuple[float, ...], BodySphere] = {}
    for place, radius in spheres_of(character).on(body):
        x, y, z = (round(float(c), 9) for c in place)
        out[(x, y, z, radius)] = BodySphere(name, name, (x, y, z), radius)
    return list(out.values())
