"""Libraries of constraints: what figures of a kind keep while they are posed (after Bawa 1995, section 5.1.3).

A set is a list of tables [[constraint]]. Sets that fit a figure are made from its feet, its joints and their names; a
person's own are TOML files with the same tables.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.joints import Joint
from counterpoise.character.roles import other_side
from counterpoise.character.snapshot import take_body_poses
from counterpoise.errors import BadFile
from counterpoise.files import whole_file
from counterpoise.scene.contents import MAIN, SceneConstraint
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.edits.general import Together
from counterpoise.scene.edits.physics import AddConstraint

ConstraintSet = tuple[Mapping[str, Any], ...]  # tables [[constraint]], each with its kind
SPINE = ("waist", "spine", "neck")  # joints that bend together in a back
ANKLE_PER_KNEE = 0.45  # how far an ankle bends for each degree of the knee, for a foot that stays about level
SMALL_TURN = 0.1  # [rad] by which the direction of a joint is found


def constraint_sets(character: Character) -> dict[str, ConstraintSet]:
    """Returns the sets of the library that fit a figure, by name."""
    joints = {joint.name: joint for joint in character.joints}
    planted = tuple({"kind": kind, "body": foot.body} for foot in character.feet for kind in ("pin", "lock"))
    pairs = [(name, other_side(name, joints)) for name, joint in joints.items() if joint.kind in ("hinge", "slide")]
    alike = tuple(_equal(a, b) for a, b in pairs if a < b)
    chain = [joint.name for joint in character.joints if joint.kind == "hinge"]
    back = [name for name in SPINE if name in joints and joints[name].kind == "ball"]
    found: dict[str, ConstraintSet] = {
        "feet planted": planted,
        "standing": (*planted, {"kind": "balanced"}, {"kind": "above_ground"}) if planted else (),
        "left as right": alike,
        "back bends evenly": tuple(_equal(f"{a}.{c}", f"{b}.{c}") for a, b in _next(back) for c in "xyz"),
        "ankles follow knees": _ankles(character),
        "links bend alike": () if alike or len(chain) < 2 else tuple(_equal(a, b) for a, b in _next(chain)),
    }
    return {name: made for name, made in found.items() if made}


def take_constraints(
    tables: Sequence[Mapping[str, Any]], character: str = MAIN, label: str = "constraints"
) -> Together:
    """Returns the edit that adds all tables of a set to a scene, as one step."""
    edits = [
        AddConstraint(str(one["kind"]), {k: v for k, v in one.items() if k != "kind"}, character) for one in tables
    ]
    return Together(edits, label=f"take {label}")


def tables_of(constraints: Sequence[SceneConstraint], character: str = MAIN) -> ConstraintSet:
    """Returns the constraints of one character of a scene as a set."""
    return tuple({"kind": one.kind, **one.entries} for one in constraints if one.character == character)


def write_constraint_set(path: Path, tables: Sequence[Mapping[str, Any]]) -> None:
    """Writes a set as a TOML file."""
    document = TomlDocument("# Constraints of the studio: what a figure keeps while it is posed.\n")
    for one in tables:
        document = document.with_table(("constraint",), dict(one))
    with whole_file(path) as temporary:
        temporary.write_text(document.text, encoding="utf-8")


def read_constraint_set(path: Path) -> ConstraintSet:
    """Reads a set from a TOML file; whether it fits a figure is checked when it is taken."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("constraint", [])
    except (OSError, UnicodeDecodeError, RecursionError, tomllib.TOMLDecodeError) as error:
        raise BadFile(f"{path.name!r} cannot be read as a set of constraints: {error}", path=str(path)) from None
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) and "kind" in t for t in tables):
        raise BadFile(f"{path.name!r} holds no tables [[constraint]] with a kind", path=str(path))
    return tuple(tables)


def _equal(a: str, b: str) -> dict[str, Any]:
    return {"kind": "couple", "coefficients": {a: 1.0, b: -1.0}, "equals": 0.0}


def _next(names: Sequence[str]) -> list[tuple[str, str]]:
    return list(pairwise(names))


def _ankles(character: Character) -> ConstraintSet:
    """Returns a relation of ankle and knee for each leg that has both by name: the foot stays about level."""
    joints = {joint.name: joint for joint in character.joints}
    out = []
    for knee in (name for name, joint in joints.items() if "knee" in name and joint.kind == "hinge"):
        ankle = joints.get(knee.replace("knee", "ankle"))
        part = {"hinge": "", "universal": ".0"}.get(ankle.kind) if ankle is not None else None
        if ankle is not None and part is not None:
            against = -_same_way(character, joints[knee], ankle)
            coefficients = {f"{ankle.name}{part}": 1.0, knee: -against * ANKLE_PER_KNEE}
            out.append({"kind": "couple", "coefficients": coefficients, "equals": 0.0})
    return tuple(out)


def _same_way(character: Character, one: Joint, other: Joint) -> float:
    """Returns 1 where two joints turn the body of the other one the same way, else -1."""
    row = character.segments.index(other.body)

    def turned(joint: Joint) -> Array:
        q = np.array(character.model.qpos0)
        before = take_body_poses(character, q)[row, 3:]
        q[joint.qpos.start] += SMALL_TURN
        return np.asarray(
            spatial.log(spatial.multiply(take_body_poses(character, q)[row, 3:], spatial.conjugate(before)))
        )

    return 1.0 if float(turned(one) @ turned(other)) >= 0.0 else -1.0
