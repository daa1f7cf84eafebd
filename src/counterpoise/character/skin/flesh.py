"""The flesh of a person over the plain shapes of the physics: limbs that swell and taper, shoulders, chest, hips, jaw.

Everything is measured by the figure's own shapes, so that it fits any proportions. Only the smooth body has it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.skin.shapes import RoundShape, largest_round

# Radii along a limb from its upper to its lower end, as shares of the radius of its first and its last shape.
UPPER_ARM = ((1.04, 0.0), (1.10, 0.0), (0.98, 0.0), (0.45, 0.55), (0.0, 0.98))
FOREARM = ((0.98, 0.0), (1.10, 0.0), (0.60, 0.42), (0.0, 1.0), (0.0, 0.88))
THIGH = ((1.12, 0.0), (1.08, 0.0), (0.80, 0.22), (0.20, 0.82), (0.0, 0.98))
SHANK = ((0.88, 0.0), (1.10, 0.0), (0.82, 0.15), (0.0, 0.98), (0.0, 0.86))
DELTOID = 1.12  # [radii of the upper arm] of the shoulder's muscle
TRAPEZIUS = 0.62  # [radii of the neck] from the neck to the shoulders
STRAIGHT = 0.98  # cosine of the largest angle between shapes of one limb


def fleshed(character: Character, shapes: list[RoundShape], head: int) -> list[RoundShape]:
    """Returns the shapes of a person with flesh on them; `head` is the body of the head."""
    parents = np.array(character.model.body_parentid)
    by_body: dict[int, list[RoundShape]] = {}
    for shape in shapes:
        by_body.setdefault(shape.body, []).append(shape)
    for name in character.hands:
        forearm = int(parents[character.body_id(name)])
        upper = int(parents[forearm])
        _taper(by_body, forearm, FOREARM)
        if _taper(by_body, upper, UPPER_ARM):
            by_body[upper] += _deltoid(by_body[upper][0])
    for foot in character.feet:
        shank = int(parents[character.body_id(foot.body)])
        _taper(by_body, shank, SHANK)
        _taper(by_body, int(parents[shank]), THIGH)
    _trunk(by_body, parents, head)
    return [shape for part in by_body.values() for shape in part]


def _taper(by_body: dict[int, list[RoundShape]], body: int, profile: tuple[tuple[float, float], ...]) -> bool:
    """Replaces the lines of a limb by one tube that swells and tapers. Returns whether it could."""
    lines = sorted((s for s in by_body.get(body, ()) if s.line), key=lambda s: -float(s.centre[2]))
    if not lines or len(lines) != len(by_body[body]):
        return False
    first, last = lines[0], lines[-1]
    ends = np.array([s.centre + way * s.half[2] * s.rotation[:, 2] for s in lines for way in (1.0, -1.0)])
    apart = np.linalg.norm(ends[:, None] - ends[None], axis=2)
    a, b = np.unravel_index(int(np.argmax(apart)), apart.shape)
    top, bottom = (ends[a], ends[b]) if ends[a, 2] > ends[b, 2] else (ends[b], ends[a])
    along = (bottom - top) / max(float(np.linalg.norm(bottom - top)), 1e-9)
    if any(abs(float(along @ s.rotation[:, 2])) < STRAIGHT for s in lines):
        return False
    radii = tuple(upper * float(first.half[0]) + lower * float(last.half[0]) for upper, lower in profile)
    by_body[body] = [line_shape(body, top, bottom, radii)]
    return True


def line_shape(body: int, start: Array, end: Array, radii: tuple[float, ...]) -> RoundShape:
    """Returns a tube from `start` to `end` whose radius changes along it."""
    along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
    side = np.cross(along, (0.0, 1.0, 0.0) if abs(along[1]) < 0.9 else (1.0, 0.0, 0.0))
    side /= np.linalg.norm(side)
    rotation = np.column_stack([side, np.cross(along, side), along])
    half = np.array([max(radii), max(radii), 0.5 * float(np.linalg.norm(end - start))])
    return RoundShape(body, 0.5 * (start + end), rotation, half, True, radii=radii)


def _deltoid(arm: RoundShape) -> list[RoundShape]:
    """The muscle over the shoulder, at the upper end of the arm."""
    along, radius = arm.rotation[:, 2], DELTOID * arm.radii[0]
    place = arm.centre - (arm.half[2] - 0.55 * radius) * along
    return [RoundShape(arm.body, place, arm.rotation, np.array([radius, radius, 1.5 * radius]), False)]


def _trunk(by_body: dict[int, list[RoundShape]], parents: Array, head: int) -> None:
    """Adds chest, shoulders' slope, seat and jaw."""
    chest_body = int(parents[head])
    chest = largest_round(by_body.get(chest_body, ()))
    neck = next((s for s in by_body.get(head, ()) if s.line), None)
    bar = next((s for s in by_body.get(chest_body, ()) if s.line), None)
    if chest is not None:
        x, y, z = chest.half
        for side in (1.0, -1.0):
            place = chest.centre + chest.rotation @ (0.58 * x, side * 0.42 * y, 0.22 * z)
            half = np.array([0.46 * x, 0.50 * y, 0.34 * z])
            by_body[chest_body].append(RoundShape(chest_body, place, chest.rotation, half, False))
    if neck is not None and bar is not None:
        base = neck.centre + neck.half[2] * neck.rotation[:, 2] * np.sign(-neck.rotation[2, 2])
        radius = TRAPEZIUS * float(neck.half[0])
        for side in (1.0, -1.0):
            end = bar.centre + side * 0.86 * bar.half[2] * bar.rotation[:, 2]
            start = base + (end - base) * 0.08 + np.array([0.0, 0.0, 0.35 * neck.half[2]])
            end = end + np.array([0.0, 0.0, 0.35 * float(bar.half[0])])
            by_body[chest_body].append(line_shape(chest_body, start, end, (radius, radius, 0.9 * radius)))
    pelvis = int(parents[parents[chest_body]]) or int(parents[chest_body])
    seat = largest_round(by_body.get(pelvis, ()))
    if seat is not None:
        x, y, z = seat.half
        for side in (1.0, -1.0):
            place = seat.centre + seat.rotation @ (-0.56 * x, side * 0.42 * y, -0.52 * z)
            half = np.array([0.62 * x, 0.46 * y, 0.58 * z])
            by_body[pelvis].append(RoundShape(pelvis, place, seat.rotation, half, False))
    skull = largest_round(by_body.get(head, ()))
    if skull is not None:
        x, y, z = skull.half
        jaw = skull.centre + skull.rotation @ (0.24 * x, 0.0, -0.62 * z)
        half = np.array([0.56 * x, 0.64 * y, 0.42 * z])
        by_body[head].append(replace(skull, centre=jaw, half=half))


__all__ = ["fleshed", "line_shape"]
