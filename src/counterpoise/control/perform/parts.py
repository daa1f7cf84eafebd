"""The parts that touch the world during a planned motion, as contact points of the body that performs it.

A body has contact points on its feet. Where a plan also uses hands, knees or the seat, the performing body is the same
body with these parts added to its feet. A hand round a bar can push and pull: it is two parts whose surfaces face each
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.roles import ContactPoint, Foot, side_of
from counterpoise.objectives.footing import foot_table
from counterpoise.objectives.surface import Surface
from counterpoise.spacetime.optimize.holds import Hold

SAME_PLACE = 2e-3  # [m] points nearer to each other than this are the same
UPSIDE_DOWN = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
GRIP_ENDS = ("", " from below")  # of the names of the two parts of a grip


@dataclass(frozen=True, eq=False)
class TouchingPart:
    """One contact of a plan: which of the body's contact points it uses, in which phases, and on what."""

    points: Flags  # (p,)
    parts: tuple[int, ...]  # indices of the body's feet
    first: int  # phases first ... last - 1
    last: int
    surfaces: tuple[Surface, ...]  # one for each part
    grip: bool  # a hand round a bar


def performing_body(character: Character, holds: Sequence[Hold]) -> Character:
    """Returns the body with contact points on every part that these contacts use; its model stays the same."""
    added: dict[str, list[Array]] = {}
    grips: dict[str, list[Array]] = {}
    for hold in holds:
        if hold.touch.how in ("flat", "heel", "toe"):
            continue
        places = (grips if hold.signed else added).setdefault(hold.touch.part, [])
        for point in hold.force_points:
            if not any(np.linalg.norm(point - known) < SAME_PLACE for known in places):
                places.append(point)
    more = [_part(character, name, name, places) for name, places in added.items()]
    more += [_part(character, name + end, name, places) for name, places in grips.items() for end in GRIP_ENDS]
    if not more:
        return character
    return replace(character, roles=replace(character.roles, feet=(*character.feet, *more)))


def touching_parts(character: Character, body: Character, holds: Sequence[Hold]) -> tuple[TouchingPart, ...]:
    """Returns the contacts of a plan in terms of the performing body's contact points."""
    places = body.snapshot().contact_position
    rest = character.snapshot()
    names = [foot.name for foot in body.feet]
    of_part = foot_table(body).foot_of
    out = []
    for hold in holds:
        touch, surface = hold.touch, hold.surface(0.0)
        if touch.how in ("flat", "heel", "toe"):
            parts: tuple[int, ...] = (names.index(character.foot(touch.part).name),)
            surfaces: tuple[Surface, ...] = (surface,)
        elif hold.signed:
            parts = tuple(names.index(touch.part + end) for end in GRIP_ENDS)
            at = np.asarray(touch.place, float)
            surfaces = (Surface(at), Surface(at, UPSIDE_DOWN))
        else:
            parts, surfaces = (names.index(touch.part),), (surface,)
        if touch.how == "flat":
            out.append(TouchingPart(of_part == parts[0], parts, hold.first, hold.last, surfaces, False))
            continue
        used = np.zeros(len(places), bool)
        for force_body, point in zip(hold.force_bodies, hold.force_points, strict=True):
            at = rest.body_position[force_body] + rest.body_rotation[force_body] @ point
            used |= np.linalg.norm(places - at, axis=1) < SAME_PLACE
        used &= np.isin(of_part, parts)
        out.append(TouchingPart(used, parts, hold.first, hold.last, surfaces, hold.signed))
    return tuple(out)


def _part(character: Character, name: str, body: str, places: Sequence[Array]) -> Foot:
    points = tuple(
        ContactPoint(f"{name} {i}", body, (float(p[0]), float(p[1]), float(p[2]))) for i, p in enumerate(places)
    )
    return Foot(name, body, side_of(body, character.segments), points, stands=False)
