"""Contacts of a stunt: which part of the body touches the world, where, how and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np

from counterpoise.character.character import Character
from counterpoise.errors import MissingRole, unknown_name
from counterpoise.objectives.surface import Surface
from counterpoise.spacetime.optimize import Touch
from counterpoise.spacetime.optimize.moments import Time, seconds
from counterpoise.spacetime.optimize.request import How
from counterpoise.spacetime.stunt.pose_reading import direction
from counterpoise.spacetime.stunt.reading import Table, is_number
from counterpoise.spacetime.stunt.times import TimeReader

HOWS: tuple[str, ...] = get_args(How)
FOOT_HOWS = ("flat", "heel", "toe")
MAX_SLOPE = 89.0  # [deg]


def read_contact(table: Table, character: Character, times: TimeReader) -> list[tuple[Touch, Table]]:
    """Returns the contacts of one table [[contact]]: one for each part that it names."""
    parts = table.names("part", 'a foot, a hand or any body; "feet", "hands", or a list', required=True)
    assert parts is not None
    with table.at("part"):
        parts = [p for name in parts for p in _parts(character, name)]
    how = table.text("how", f"one of {', '.join(HOWS)}", choices=HOWS) or _default_how(character, parts)
    with table.at("how" if "how" in table else "part"):
        for part in parts:
            if how in FOOT_HOWS:
                character.foot(part)
            else:
                character.body_id(part)
    start = times.read(table, "from")
    end = times.read(table, "to")
    begin: Time = 0.0 if start is None else start
    finish: Time = times.end if end is None else end
    if not seconds(begin) < seconds(finish):
        raise table.fault(
            "to" if "to" in table else "from",
            f"a contact ends after it begins; got from {seconds(begin):g} s to {seconds(finish):g} s",
        )
    places = _places(table, parts)
    surface = _surface(table)
    facing = table.number("facing", "degrees about the vertical, to the left")
    point = _points(table, how)
    axis = table.value("axis", "a bar's direction")
    options: dict[str, Any] = {
        "friction": table.number("friction", "a number, 0 or more", low=0.0),
        "torque": table.number("torque", "newton metres about the bar, 0 or more", low=0.0),
        "grip": table.number("grip", "newton metres across the bar, 0 or more", low=0.0),
        "most": table.number("most", "newtons, 0 or more", low=0.0),
        "facing": None if facing is None else float(np.radians(facing)),
        "point": point,
        "axis": None if axis is None else direction(table, "axis", axis),
        "surface": surface,
        "roll": table.number("roll", "seconds before it leaves in which the foot rolls over its toes", low=0.0),
        "land": table.number("land", "seconds after it has touched in which the foot is on its toes", low=0.0),
    }
    name = table.text("name", "a name in quotes") or ""
    table.done()
    _check_entries(table, how)
    options = {k: v for k, v in options.items() if v is not None}
    out = []
    for i, part in enumerate(parts):
        label = f"{part} {name}" if name and len(parts) > 1 else name
        with table.at(
            "place"
            if how == "bar" and "place" in table
            else "roll"
            if "roll" in table
            else "land"
            if "land" in table
            else None
        ):
            out.append((Touch(part, begin, finish, how, place=places[i], name=label, **options), table))  # type: ignore[arg-type]
    return out


def _parts(character: Character, name: str) -> list[str]:
    feet, hands = [f.name for f in character.feet], list(character.hands)
    if name in ("feet", "hands"):
        found = feet if name == "feet" else hands
        if not found:
            raise MissingRole(f"{character.name!r} has no {name}", character=character.name)
        return found
    if name in feet or name in hands or name in character.segments:
        return [name]
    raise unknown_name(
        "foot, hand or body", name, ["feet", "hands", *feet, *hands, *character.segments], character.name
    )


def _default_how(character: Character, parts: list[str]) -> str:
    """Feet stand flat; other parts touch with a point."""
    feet = {f.name for f in character.feet} | {f.body for f in character.feet}
    return "flat" if all(p in feet for p in parts) else "point"


def _places(table: Table, parts: list[str]) -> list[list[float] | None]:
    """Returns one place for each part."""
    wanted = "[x, y] on the surface or [x, y, z] in the world, in metres"
    value = table.value("place", wanted)
    if value is None:
        return [None] * len(parts)
    many = isinstance(value, list) and len(value) > 0 and all(isinstance(v, list) for v in value)
    if not many and len(parts) > 1:
        raise table.fault(
            "place", f"place is one [x, y] or [x, y, z] for each of {', '.join(parts)}, in a list; got {value!r}"
        )
    each = value if many else [value]
    if len(each) != len(parts):
        raise table.fault("place", f"{len(parts)} parts ({', '.join(parts)}) need {len(parts)} places; got {len(each)}")
    for one in each:
        if not (isinstance(one, list) and len(one) in (2, 3) and all(map(is_number, one))):
            raise table.fault("place", f"place is {wanted}; got {one!r}")
    return [[float(c) for c in one] for one in each]


def _points(table: Table, how: str) -> list[float] | list[list[float]] | None:
    """Returns one point of the part, or several of a contact of kind "point": the line or face that presses."""
    value = table.value("point", "a point of the part")
    if value is None:
        return None
    many = isinstance(value, list) and len(value) > 0 and all(isinstance(v, list) for v in value) and how == "point"
    for one in value if many else [value]:
        if not (isinstance(one, list) and len(one) == 3 and all(map(is_number, one))):
            more = ", or a list of such points" if how == "point" else ""
            raise table.fault("point", f"point is [x, y, z] in the part's own frame, in metres{more}; got {one!r}")
    return [[float(c) for c in one] for one in value] if many else [float(c) for c in value]


def _surface(table: Table) -> Surface | Callable[[float], Surface] | None:
    """Returns the plane that is touched: level at a height, or sloping, or moving at a constant velocity."""
    height = table.number("height", "metres above the ground") or 0.0
    slope = table.number("slope", "degrees, rising along `towards`", low=-MAX_SLOPE)
    towards = table.number("towards", "degrees about the vertical, 0 along x")
    velocity = table.numbers("velocity", "[x, y, z] in metres a second", (3,))
    if slope is not None and slope > MAX_SLOPE:
        raise table.fault("slope", f"slope is from -{MAX_SLOPE:g} to {MAX_SLOPE:g} degrees; got {slope:g}")
    if towards is not None and slope is None:
        raise table.fault(
            "towards", "towards is the direction in which a slope rises: give slope too, such as slope = 10"
        )
    if height == 0.0 and not slope and velocity is None:
        return None
    up, way = np.radians(slope or 0.0), np.radians(towards or 0.0)
    normal = (-np.sin(up) * np.cos(way), -np.sin(up) * np.sin(way), np.cos(up))
    still = Surface.tilted(normal, (0.0, 0.0, height))
    if velocity is None:
        return still
    speed = np.array(velocity)

    def at(time: float) -> Surface:
        return Surface(origin=np.asarray(still.origin) + speed * time, rotation=still.rotation, velocity=speed)

    return at


def _check_entries(table: Table, how: str) -> None:
    """Reports entries that have no meaning for this kind of contact."""
    for key, fits in (("axis", ("bar",)), ("torque", ("bar",)), ("grip", ("bar",)), ("point", ("bar", "point")),
                      ("facing", FOOT_HOWS), ("roll", ("flat",)), ("land", ("flat",)),
                      ("friction", (*FOOT_HOWS, "point"))):  # fmt: skip
        if key in table and how not in fits:
            raise table.fault(key, f"{key} is for contacts that are {' or '.join(fits)}; this one is {how!r}")
    if how == "bar" and "place" not in table:
        raise table.fault(None, "a bar needs place = [x, y, z] for each hand: the point of the bar that it holds")
