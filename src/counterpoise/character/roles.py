"""What an animator needs to know of a body beyond its physics: which parts are feet, hands, left and right."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from counterpoise.character.actuators import Actuator, actuator_from_json, actuator_to_json

Side = Literal["left", "right", "middle"]

_LEFT = re.compile(r"(^|[_\-. ])(left|l)([_\-. ]|$)|^left|left$", re.IGNORECASE)
_RIGHT = re.compile(r"(^|[_\-. ])(right|r)([_\-. ]|$)|^right|right$", re.IGNORECASE)
_SIDES = {"left": "right", "right": "left", "Left": "Right", "Right": "Left", "LEFT": "RIGHT", "RIGHT": "LEFT"}
_SPACE = re.compile(r"^.*[:|]")  # the namespace before a name: mixamorig:LeftArm


@dataclass(frozen=True)
class ContactPoint:
    """A place on the sole that touches the ground, in its body's frame."""

    name: str
    body: str
    position: tuple[float, float, float]  # [m]


@dataclass(frozen=True)
class Foot:
    """A foot: its body, its side, and the points it stands on."""

    name: str
    body: str
    side: Side
    points: tuple[ContactPoint, ...]
    stands: bool = True  # False: a part that bears for a while, as a hand on a box; it is kept off the ground otherwise


@dataclass(frozen=True)
class Roles:
    """What a MuJoCo model has no place for."""

    root: str
    feet: tuple[Foot, ...]
    hands: tuple[str, ...]
    guessed: tuple[str, ...] = ()  # what was guessed, in words
    actuators: tuple[Actuator, ...] = ()  # of the file the body came from


def side_of(name: str, among: Collection[str] | None = None) -> Side:
    """`hand_left`, `LeftHand`, `l_hand`, `mixamorig:LeftHand` -> left.

    `among` are the names of the whole figure. With them a side is also read from one letter (`lfemur`, `RThumb`) or
    from the middle of a word (`RigLeftHand`), if the partner on the other side is among them.
    """
    bare = _SPACE.sub("", name)
    if _LEFT.search(bare):
        return "left"
    if _RIGHT.search(bare):
        return "right"
    if among is None or (partner := other_side(name, among)) == name:
        return "middle"
    at = next(i for i, (own, other) in enumerate(zip(name, partner, strict=False)) if own != other)
    return "left" if name[at].lower() == "l" else "right"


def other_side(name: str, among: Collection[str] | None = None) -> str:
    """The name of the same part on the other side of the body (unchanged when it has no side).

    With `among`, the names of the whole figure, only one of them is a partner, and it may differ by its first letter
    (`lfemur`: `rfemur`). A name without a partner is returned unchanged.
    """
    bare = _SPACE.sub("", name)
    space = name[: len(name) - len(bare)]
    if among is None:
        return space + _swapped(bare)
    letters = str.maketrans("lrLR", "rlRL")
    for partner in (space + _swapped(bare), space + bare[:1].translate(letters) + bare[1:], _swapped(name)):
        if partner != name and partner in among:
            return partner
    return name


def _swapped(name: str) -> str:
    for old, new in _SIDES.items():
        if old in name:
            return name.replace(old, new)
    pieces = re.split(r"([_\-. ])", name)
    single = {"l": "r", "r": "l", "L": "R", "R": "L"}
    return "".join(single.get(piece, piece) for piece in pieces)


def left_right_pairs(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(left, right) names that differ only by side, in the order of `names`."""
    known = set(names)
    pairs = []
    for name in names:
        partner = other_side(name, known)
        if partner != name and side_of(name, known) == "left":
            pairs.append((name, partner))
    return tuple(pairs)


def roles_to_json(roles: Roles) -> dict[str, Any]:
    feet = [
        {
            "name": f.name,
            "body": f.body,
            "side": f.side,
            "points": [{"name": p.name, "body": p.body, "position": list(p.position)} for p in f.points],
        }
        for f in roles.feet
    ]
    out = {"root": roles.root, "feet": feet, "hands": list(roles.hands), "guessed": list(roles.guessed)}
    return {**out, "actuators": [actuator_to_json(a) for a in roles.actuators]} if roles.actuators else out


def roles_from_json(data: dict[str, Any]) -> Roles:
    feet = tuple(
        Foot(
            f["name"],
            f["body"],
            f["side"],
            tuple(ContactPoint(p["name"], p["body"], _triple(p["position"])) for p in f["points"]),
        )
        for f in data["feet"]
    )
    actuators = tuple(actuator_from_json(a) for a in data.get("actuators", ()))
    return Roles(data["root"], feet, tuple(data["hands"]), tuple(data.get("guessed", ())), actuators)


def _triple(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return (x, y, z)
