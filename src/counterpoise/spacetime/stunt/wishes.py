"""Wishes of a stunt, what is wanted besides keys and contacts, and the weights of its objective (`[taste]`)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from counterpoise.character.character import Character
from counterpoise.errors import unknown_name
from counterpoise.spacetime.optimize import (
    Apart,
    Apex,
    Clear,
    Cycle,
    Effort,
    Facing,
    Place,
    Requirement,
    Taste,
    TorqueLimit,
    Velocity,
)
from counterpoise.spacetime.optimize.moments import seconds
from counterpoise.spacetime.optimize.rods import rod_pairs
from counterpoise.spacetime.stunt.reading import Table, is_number
from counterpoise.spacetime.stunt.times import TimeReader

SENSES = ("equal", "at least", "at most")
JOINTS = 'names of joints, such as ["knee_left"] or "knee" for both, or "all"'
BODIES = 'names of bodies, such as ["hand_left", "thigh"] ("thigh" for both), "feet", "hands", or "all"'


def read_wish(table: Table, character: Character, times: TimeReader) -> Requirement:
    """Returns the wish of one table [[wish]]."""
    kind = table.text("kind", f"one of {', '.join(KINDS)}", required=True, choices=tuple(KINDS))
    assert kind is not None
    with table.at(None):
        wish = KINDS[kind](table, character, times)
    table.label = f"this [[wish]] of kind {kind!r}"
    table.done()
    return wish


def _name(table: Table) -> str:
    return table.text("name", "a name in quotes") or ""


def _apex(table: Table, character: Character, times: TimeReader) -> Requirement:
    height = table.number("height", "metres: the CoM's highest point in that flight", required=True)
    sense = table.text("sense", f"one of {', '.join(SENSES)}", choices=SENSES) or "equal"
    assert height is not None
    return Apex(times.need(table, "time"), height, sense, _name(table))  # type: ignore[arg-type]


def _place(table: Table, character: Character, times: TimeReader) -> Requirement:
    body = table.text("body", 'a body, or "com"', required=True)
    assert body is not None
    if body != "com":
        with table.at("body"):
            character.body_id(body)
    at = [table.number(axis, "metres; leave out a coordinate that is free") for axis in "xyz"]
    if all(c is None for c in at):
        raise table.fault(None, "a place needs at least one of x, y, z in metres")
    point = table.numbers("point", "[x, y, z] in the body's own frame, in metres", (3,)) or (0.0, 0.0, 0.0)
    within = table.number("within", "metres, 0 or more", low=0.0) or 0.0
    return Place(body, times.need(table, "time"), at, point, within, _name(table))


def _velocity(table: Table, character: Character, times: TimeReader) -> Requirement:
    body = table.text("body", '"com" or "root"', choices=("com", "root")) or "com"
    speed = [table.number(axis, "metres a second; leave out a direction that is free") for axis in "xyz"]
    if all(c is None for c in speed):
        raise table.fault(None, "a velocity needs at least one of x, y, z in metres a second")
    within = table.number("within", "metres a second, 0 or more", low=0.0) or 0.0
    wish = Velocity(times.need(table, "time"), speed, body, within, _name(table))
    wish.check(character)
    return wish


def _facing(table: Table, character: Character, times: TimeReader) -> Requirement:
    degrees = table.number("degrees", "degrees about the vertical, to the left", required=True)
    body = table.text("body", "a body; the root when left out")
    assert degrees is not None
    if body is not None:
        with table.at("body"):
            character.body_id(body)
    return Facing(times.need(table, "time"), float(np.radians(degrees)), body, _name(table))


def _clear(table: Table, character: Character, times: TimeReader) -> Requirement:
    bodies = table.names("bodies", 'feet or bodies, such as ["foot_left", "pelvis"]', required=True)
    height = table.number("height", "metres above the ground to stay above", required=True)
    start, end = times.read(table, "from"), times.read(table, "to")
    assert bodies is not None and height is not None
    feet = [f.name for f in character.feet]
    names: list[str] = []
    with table.at("bodies"):
        for body in bodies:
            if body in ("feet", "hands"):
                names += feet if body == "feet" else list(character.hands)
                continue
            if body not in feet:
                character.body_id(body)
            names.append(body)
    return Clear(names, height, 0.0 if start is None else start, end, _name(table))


def _apart(table: Table, character: Character, times: TimeReader) -> Requirement:
    bodies, others = (_parts(table, key, character) for key in ("bodies", "others"))
    room = table.number("room", "metres between them, 0 or more", low=0.0) or 0.0
    start, end = times.read(table, "from"), times.read(table, "to")
    begin, finish = seconds(0.0 if start is None else start), seconds(times.end if end is None else end)
    if not begin < finish:
        raise table.fault(
            "to" if "to" in table else "from",
            f"a wish ends after it begins; got from {begin:g} s to {finish:g} s",
        )
    last = "others" if others is not None else "bodies" if bodies is not None else None
    with table.at(last):
        wish = Apart(bodies, others, room, 0.0 if start is None else start, end, _name(table))
    if last is not None and not rod_pairs(character, bodies, others):
        raise table.fault(
            last, "these bodies are next to each other: only bodies at least three joints apart can be kept apart"
        )
    return wish


def _parts(table: Table, key: str, character: Character) -> list[str] | None:
    """Returns the bodies that a wish names; a name without its side means both. None means all bodies."""
    names = table.names(key, BODIES)
    if names is None or names == ["all"]:
        return None
    feet = [f.body for f in character.feet]
    with table.at(key):
        found = [
            b
            for n in names
            for b in (feet if n == "feet" else character.hands if n == "hands" else _bodies_named(character, n))
        ]
    return list(dict.fromkeys(found))


def _torque(table: Table, character: Character, times: TimeReader) -> Requirement:
    joints = _joints_or_all(table, character)
    limit = table.number("limit", "newton metres, above 0")
    share = table.number("share", "a share of the joint's strength, above 0")
    if limit is not None and share is not None:
        raise table.fault("share", "limit and share both limit the torque: keep one")
    return TorqueLimit(joints, limit, 1.0 if share is None else share)


def _effort(table: Table, character: Character, times: TimeReader) -> Requirement:
    weight = table.number("weight", "a number above 0")
    return Effort(_joints_or_all(table, character), 1.0 if weight is None else weight)


def _cycle(table: Table, character: Character, times: TimeReader) -> Requirement:
    wanted = '[x, y] in metres, "free" for a free coordinate'
    value = table.value("travel", wanted)
    if value is None:
        return Cycle()
    if not (isinstance(value, list) and len(value) == 2 and all(is_number(v) or v == "free" for v in value)):
        raise table.fault("travel", f"travel is {wanted}; got {value!r}")
    return Cycle([None if v == "free" else float(v) for v in value])


KINDS: dict[str, Callable[[Table, Character, TimeReader], Requirement]] = {
    "apex": _apex, "place": _place, "facing": _facing, "velocity": _velocity, "clear": _clear, "apart": _apart,
    "torque": _torque, "effort": _effort, "cycle": _cycle,
}  # fmt: skip


def joints_of(table: Table, key: str, character: Character) -> list[str]:
    """Returns joints by name; a name without its side means both, "all" means every joint but the root."""
    names = table.names(key, JOINTS, required=True)
    assert names is not None
    out: list[str] = []
    with table.at(key):
        for name in names:
            out += _joints_named(character, name)
    return out


def _joints_or_all(table: Table, character: Character) -> list[str] | None:
    """Returns the joints that a wish names. None means all joints."""
    if "joints" in table:
        return joints_of(table, "joints", character)
    table.known.append("joints")
    return None


def _joints_named(character: Character, name: str) -> list[str]:
    if name == "all":
        return [j.name for j in character.joints if j.kind != "free"]
    return _paired("joint", character.joint_names, character, name)


def _bodies_named(character: Character, name: str) -> list[str]:
    return _paired("body", character.segments, character, name)


def _paired(kind: str, names: Collection[str], character: Character, name: str) -> list[str]:
    """Returns a joint or body by name, or both sides of a name without a side."""
    if name in names:
        return [name]
    pair = [f"{name}_left", f"{name}_right"]
    if all(p in names for p in pair):
        return pair
    sides = [n.removesuffix("_left") for n in names if n.endswith("_left")]
    raise unknown_name(kind, name, [*names, *sides], character.name)


def read_taste(top: Table, character: Character) -> Taste:
    """Returns the weights of the objective from the table [taste]."""
    table = top.table("taste", "[taste]")
    if table is None:
        return Taste()
    given: dict[str, Any] = {
        key: table.number(key, "a weight, 0 or more", low=0.0)
        for key in ("smooth", "near", "posture", "heft", "root_place", "root_turn", "force")
    }
    shares = table.table("joints", "taste.joints")
    table.done()
    joints: dict[str, float] = {}
    for name in shares.data if shares is not None else ():
        assert shares is not None
        share = shares.number(name, "a weight, 0 or more", low=0.0)
        assert share is not None
        with shares.at(name):
            joints |= dict.fromkeys(_joints_named(character, name), share)
    with table.at(None):
        return Taste(**{k: v for k, v in given.items() if v is not None}, joints=joints)
