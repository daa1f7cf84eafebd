"""What a person wears and looks with: a flat face in front of the head, and shoes with soles.

Only figures with two hands, two feet and a head have them. Faces of the skin get a tone, which changes their colour.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character

Tone = Literal["body", "face", "shoe", "sole"]
TONES: tuple[Tone, ...] = ("body", "face", "shoe", "sole")
PERSON_PARTS = {"pelvis", "thorax", "toes_left", "toes_right"}  # that only the library's person has by these names
FACE_FRONT = 0.80  # [half depths of the head] where it is cut flat
FACE_FROM = 0.48  # [half depths] what is farther forward than this is the face ...
FACE_TOP, FACE_BOTTOM = 0.42, -0.80  # [half heights] ... between these heights
SHOE_THICKNESS = 0.0022  # [body heights] of the leather
SOLE_HEIGHT = 0.0085  # [body heights] of the sole
FACE_COLOUR, FACE_SHARE = (0.86, 0.62, 0.47), 0.55  # warm, and how much of it
SHOE_COLOUR, SHOE_SHARE = (0.10, 0.11, 0.13), 0.72
SOLE_COLOUR, SOLE_SHARE = (0.95, 0.95, 0.93), 0.9


def head_of(character: Character) -> int | None:
    """Returns the body of a person's head; None for figures that are no persons."""
    person = len(character.hands) == 2 and len(character.feet) == 2
    found = [name for name in character.segments if name.lower().rpartition(":")[2] == "head"]
    return character.body_id(found[0]) if person and len(found) == 1 else None


def is_library_person(character: Character) -> bool:
    """Returns whether it is the library's person, of any size: such a figure is drawn with its smooth body."""
    return set(character.segments) >= PERSON_PARTS and head_of(character) is not None


def shod_bodies(character: Character) -> set[int]:
    """Returns the bodies that are in shoes: those with contact points, where there is a head above them."""
    if head_of(character) is None:
        return set()
    return {character.body_id(point.body) for point in character.contact_points}


def tones_of(
    character: Character, points: Array, faces: Ints, body: Ints, head: tuple[Array, Array, Array] | None
) -> Ints:
    """Returns the tone of every face (m,), as its place in `TONES`; `head` is its centre, rotation and half axes."""
    out: Ints = np.zeros(len(faces), np.int64)
    middle = points[faces].mean(axis=1)
    number = head_of(character)
    if number is not None and head is not None:
        centre, rotation, half = head
        local = ((middle - centre) @ rotation) / half
        front: Flags = (local[:, 0] > FACE_FROM) & (local[:, 2] < FACE_TOP) & (local[:, 2] > FACE_BOTTOM)
        out[(body == number) & front] = TONES.index("face")
    shod = np.isin(body, sorted(shod_bodies(character)))
    floor = float(character.snapshot().contact_position[:, 2].min()) if shod.any() else 0.0
    out[shod] = TONES.index("shoe")
    out[shod & (middle[:, 2] < floor + SOLE_HEIGHT * character.height)] = TONES.index("sole")
    return out


def toned(colour: tuple[float, float, float, float], tone: int) -> tuple[float, float, float, float]:
    """Returns a colour as a tone changes it."""
    mixed = {
        "face": (FACE_COLOUR, FACE_SHARE), "shoe": (SHOE_COLOUR, SHOE_SHARE), "sole": (SOLE_COLOUR, SOLE_SHARE),
    }.get(TONES[tone])  # fmt: skip
    if mixed is None:
        return colour
    other, share = mixed
    r, g, b = ((1.0 - share) * own + share * new for own, new in zip(colour[:3], other, strict=True))
    return r, g, b, colour[3]
