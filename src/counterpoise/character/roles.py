"""What an animator needs to know of a body beyond its physics: which parts are feet, hands, left and right."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.shapes.solid import Solid, drawn_in
from counterpoise.character.shapes.spheres import undersides

Side = Literal["left", "right", "middle"]

_LEFT = re.compile(r"(^|[_\-. ])(left|l)([_\-. ]|$)|^left|left$", re.IGNORECASE)
_RIGHT = re.compile(r"(^|[_\-. ])(right|r)([_\-. ]|$)|^right|right$", re.IGNORECASE)
_SIDES = {"left": "right", "right": "left", "Left": "Right", "Right": "Left", "LEFT": "RIGHT", "RIGHT": "LEFT"}
_SPACE = re.compile(r"^.*[:|]")  # the namespace before a name: mixamorig:LeftArm
_FOOT_WORDS = ("foot", "ankle", "sole", "paw", "hoof", "toe")
_HAND_WORDS = ("hand", "wrist", "gripper", "palm")
SOLE_DEPTH = 0.01  # [m] what lies within this of the lowest point belongs to the sole


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


@dataclass(frozen=True)
class Roles:
    """What a MuJoCo model has no place for."""

    root: str
    feet: tuple[Foot, ...]
    hands: tuple[str, ...]
    guessed: tuple[str, ...] = ()  # what was guessed, in words


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


def guess_feet(model: mujoco.MjModel, data: mujoco.MjData, wanted: tuple[str, ...] | None) -> tuple[list[Foot], str]:
    """Returns feet and, in words, how they were found: by name, else as the lowest leaves of the tree."""
    names, drawn = [model.body(b).name for b in range(1, model.nbody)], drawn_in(model)
    if wanted is not None:
        chosen, how = list(wanted), "feet as given"
    else:
        chosen = _last_of_each_limb(model, [n for n in names if any(w in n.lower() for w in _FOOT_WORDS)])
        how = f"feet by name: {', '.join(chosen)}"
        if not chosen:
            chosen = _lowest_leaves(model, data, drawn)
            how = f"feet as the lowest leaves of the tree: {', '.join(chosen) or 'none'}"
    feet = []
    for name in chosen:
        points = _sole_points(model, data, drawn, name)
        if points:
            feet.append(Foot(name, name, side_of(name, names), tuple(points)))
    return feet, how


def guess_hands(model: mujoco.MjModel) -> tuple[str, ...]:
    names = [model.body(b).name for b in range(1, model.nbody)]
    return tuple(_last_of_each_limb(model, [n for n in names if any(w in n.lower() for w in _HAND_WORDS)]))


def _sole_points(
    model: mujoco.MjModel, data: mujoco.MjData, drawn: Sequence[Solid], body: str
) -> list[ContactPoint]:  # fmt: skip
    """Up to four corners of what a body (with all that is welded to it) stands on, posed as in `data`."""
    target = model.body(body).id
    places = _undersides(data, drawn, [b for b in range(1, model.nbody) if _welded_to(model, b, target)])
    if not len(places):
        return []
    low = places[places[:, 2] <= places[:, 2].min() + SOLE_DEPTH]
    centre = low.mean(axis=0)
    corners: list[Array] = []
    for sx, sy in ((-1, 1), (-1, -1), (1, 1), (1, -1)):
        score = sx * (low[:, 0] - centre[0]) + sy * (low[:, 1] - centre[1])
        pick = low[int(np.argmax(score))]
        if all(np.linalg.norm(pick - c) > 1e-3 for c in corners):
            corners.append(pick)
    R = data.xmat[target].reshape(3, 3)
    local = [(R.T @ (c - data.xpos[target])).tolist() for c in corners]
    return [ContactPoint(f"{body}_{i}", body, (p[0], p[1], p[2])) for i, p in enumerate(local)]


def _undersides(data: mujoco.MjData, drawn: Sequence[Solid], bodies: Collection[int]) -> Array:
    """Points (n, 3) of bodies that would touch a floor below them: of their solids, else of what is drawn."""
    mine = [s for s in drawn if s.body in bodies]
    found = [np.empty((0, 3))]
    for solid in [s for s in mine if s.collides] or mine:
        R = data.xmat[solid.body].reshape(3, 3)
        found.append(data.xpos[solid.body] + undersides(solid, -R[2]) @ R.T)
    return np.concatenate(found)


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
    return {"root": roles.root, "feet": feet, "hands": list(roles.hands), "guessed": list(roles.guessed)}


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
    return Roles(data["root"], feet, tuple(data["hands"]), tuple(data.get("guessed", ())))


def _triple(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return (x, y, z)


def _welded_to(model: mujoco.MjModel, body: int, target: int) -> bool:
    return int(model.body_weldid[body]) == int(model.body_weldid[target])


def _last_of_each_limb(model: mujoco.MjModel, names: list[str]) -> list[str]:
    """Of bodies in one chain (ankle_pitch, ankle_roll) the outermost that has a shape."""
    ids = {model.body(n).id: n for n in names if _has_shape(model, model.body(n).id)}
    covered = set()
    for b in ids:
        parent = int(model.body_parentid[b])
        while parent > 0:
            covered.add(parent)
            parent = int(model.body_parentid[parent])
    return [n for b, n in ids.items() if b not in covered]


def _has_shape(model: mujoco.MjModel, body: int) -> bool:
    return any(
        int(model.body_weldid[int(model.geom_bodyid[g])]) == int(model.body_weldid[body]) for g in range(model.ngeom)
    )


def _lowest_leaves(model: mujoco.MjModel, data: mujoco.MjData, drawn: Sequence[Solid]) -> list[str]:
    parents = {int(model.body_parentid[b]) for b in range(1, model.nbody)}
    leaves = [b for b in range(1, model.nbody) if b not in parents]
    bottoms = {}
    for b in leaves:
        points = _undersides(data, drawn, [b])
        if len(points):
            bottoms[b] = float(points[:, 2].min())
    if not bottoms:
        return []
    lowest = min(bottoms.values())
    spread = max(float(data.xpos[1:, 2].max()) - lowest, 1e-6)
    return [model.body(b).name for b, z in bottoms.items() if z - lowest < 0.05 * spread]
