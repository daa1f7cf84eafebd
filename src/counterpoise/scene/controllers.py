"""Reads what drives the characters of a scene: controllers by kind, their options and their tables of tuning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from typing import Any

import numpy as np

from counterpoise.control import Balance, Controller, HoldPose, MomentumBalance, Passive, Stand, WholeBody
from counterpoise.control.getting_up import GetUp
from counterpoise.control.locomotion import Locomotion
from counterpoise.control.perform import Jump, Perform, Routine
from counterpoise.control.perform.margin import STRENGTH_SHARE
from counterpoise.control.walk import GaitCycle, Walk, gait_from
from counterpoise.defaults import GROUND_FRICTION, PLANNED_FRICTION
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion import Motion
from counterpoise.objectives import Surface, moving_surface
from counterpoise.scene.contents import MAIN, SceneCharacter, SceneController
from counterpoise.scene.objective_reading import read_levels
from counterpoise.scene.timed_values import TimedValue, read_timed_value
from counterpoise.simulate.world import World
from counterpoise.spacetime.stunt.reading import Table, is_number

CONTROLLERS: dict[str, type[Any]] = {
    "stand": Stand, "hold": HoldPose, "passive": Passive, "balance": Balance, "momentum_balance": MomentumBalance,
    "walk": Walk, "locomotion": Locomotion, "jump": Jump, "perform": Perform, "get_up": GetUp, "routine": Routine,
    "objectives": WholeBody,
}  # fmt: skip
FOLLOWING = {  # kind -> the field that takes the motion
    "stand": "reference", "hold": "pose", "balance": "reference", "momentum_balance": "reference", "perform": "motion",
    "walk": "style", "locomotion": "style",
}  # fmt: skip
DEGREES = {
    "walk": ("heading", "lean"),
    "locomotion": ("heading", "lean"),
}  # kind -> options that are angles, written in degrees
NO_NUMBERS = ("to", "avoid", "levels", "footing")  # options that are no numbers
GOING = ("walk", "locomotion")  # kinds that go somewhere
STARTS = ("standing", "disturbed", "ready", "front", "back", "left", "right")
GAIT_BLEND = 0.1  # [s] in which the end of a stride leads over to its start, where a walk follows it
LONGEST_STRIDE = 1.8  # [s] a longer motion holds a whole stride and is no loop
Plain = bool | int | float | str


def read_controllers(top: Table, characters: Mapping[str, SceneCharacter]) -> dict[str, SceneController]:
    """Returns the controllers of a scene by name: `main` of [controller], and those of [controllers.NAME]."""
    out: dict[str, SceneController] = {}
    main = top.table("controller", "[controller]")
    if main is not None:
        out[MAIN] = read_controller(main, MAIN)
    tables = top.table("controllers", "[controllers]")
    for name in tables.data if tables is not None else ():
        assert tables is not None
        table = tables.table(name, f"[controllers.{name}]")
        assert table is not None
        if name == MAIN:
            raise table.fault(None, f"{MAIN!r} is written [controller]: give this one another name")
        out[name] = read_controller(table, name)
    driven: dict[str, str] = {}
    for name, one in out.items():
        table = main if name == MAIN else Table({}, ("controllers", name), "", top.source)
        assert table is not None
        if one.character not in characters:
            with table.at("character"):
                raise unknown_name("character of the scene", one.character, characters)
        if one.character in driven:
            raise table.fault(
                None, f"the character {one.character!r} has two controllers, {driven[one.character]!r} and {name!r}"
            )
        driven[one.character] = name
    return out


def read_controller(table: Table, name: str) -> SceneController:
    """Reads one controller: kind, character, follow, start, options by the names of its fields, tables of tuning."""
    kind = table.text("kind", f"one of {', '.join(CONTROLLERS)}", required=True, choices=tuple(CONTROLLERS))
    assert kind is not None
    character = table.text("character", "a character of the scene") or MAIN
    follow = table.text("follow", "a motion of the scene, a reference motion or a motion file")
    if follow is not None and kind not in FOLLOWING:
        raise table.fault("follow", f"{kind!r} follows no motion; those that do: {', '.join(FOLLOWING)}")
    if kind == "perform" and follow is None:
        raise table.fault(None, f"perform needs follow: a motion of the scene, such as follow = {MAIN!r}")
    start = table.text("start", f"one of {', '.join(STARTS)}", choices=STARTS)
    place = table.numbers("place", "[x, y] in metres, where it starts", (2,))
    facing = table.number("facing", "degrees to the left that it is turned at the start") or 0.0
    strength = (
        table.number("strength", "the share of its strength that is planned, above 0") if kind == "perform" else None
    )
    options, tuning = _read_plain(table, kind)
    if kind == "routine":
        options["items"] = _read_items(table)
    if kind == "objectives":
        options["levels"] = read_levels(table)
    if follow is not None and "style" in options:
        raise table.fault("style", "a walk has a style by name, or follows the posture of a motion: keep one")
    table.label = f"the controller {name!r} of kind {kind!r}"
    table.done()
    plain = None
    if kind != "perform":
        with table.at(_first(table, options)):
            plain = CONTROLLERS[kind](**{k: v for k, v in options.items() if k != "avoid"}, **tuning)
    chosen = start if start is not None else "ready" if follow is not None and kind not in GOING else "standing"
    return SceneController(
        name, character, kind, follow, chosen, None if place is None else (place[0], place[1]), facing,
        STRENGTH_SHARE if strength is None else strength, options, tuning, plain,
    )  # fmt: skip


def _read_plain(table: Table, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the options of a controller that are numbers, texts or ways, and its tables of tuning that differ."""
    options, tuning = _read_fields(table, CONTROLLERS[kind], skip=FOLLOWING.get(kind, ""))
    options |= {name: _radians(options[name]) for name in DEGREES.get(kind, ()) if name in options}
    if kind in GOING:
        options |= _read_way(table, CONTROLLERS[kind])
    return options, tuning


def read_options(table: Table, changed: SceneController) -> dict[str, Any]:
    """Reads options and tuning that a controller has from a time on."""
    options, tuning = _read_plain(table, changed.kind)
    table.label = f"the changed controller of kind {changed.kind!r}"
    table.done()
    if {"speed", "heading"} & options.keys() and changed.kind == "locomotion":
        options.setdefault("to", None)  # a speed takes the place of a place
    if changed.plain is not None:
        with table.at(_first(table, options)):
            replace(changed.plain, **options, **tuning)  # type: ignore[type-var]
    return options | tuning


def _radians(value: float | TimedValue) -> float | TimedValue:
    return value.scaled(np.pi / 180.0) if isinstance(value, TimedValue) else float(np.radians(value))


def _read_way(table: Table, kind: type[Any]) -> dict[str, Any]:
    """Reads what only those have that go somewhere: a style by name, a place or a way to go, whether props are seen."""
    known = {one.name for one in fields(kind)}
    out: dict[str, Any] = {}
    if (style := table.text("style", "a style of walking by name")) is not None:
        out["style"] = style
    if "to" in known and (to := table.value("to", "[x, y] in metres, or a list of such places")) is not None:
        places = to if isinstance(to, list) and to and isinstance(to[0], list) else [to]
        pairs = all(isinstance(one, list) and len(one) == 2 and all(is_number(v) for v in one) for one in places)
        if not pairs:
            raise table.fault("to", f"to is [x, y] in metres, or a list of such places; got {to!r}")
        out["to"] = tuple(tuple(float(v) for v in one) for one in places) if places is to else tuple(map(float, to))
    if "avoid" in known and table.flag("avoid", False):
        out["avoid"] = True
    return out


def _first(table: Table, options: Mapping[str, Any]) -> str | None:
    return next((name for name in options if name in table.data), None)


def _read_items(table: Table) -> list[Any]:
    """Reads the items of a routine, [[controller.item]]: controllers, with the seconds that one acts."""
    items: list[Any] = []
    for i, inner in enumerate(table.tables("item")):
        seconds = inner.number("seconds", "how long it acts [s], above 0", low=0.0)
        one = read_controller(inner, f"item {i + 1}")
        if one.plain is None or one.follow is not None:
            raise inner.fault(None, "an item of a routine follows no motion: use stand, jump, get_up, balance, ...")
        items.append(one.plain if seconds is None else (one.plain, seconds))
    return items


def _read_fields(table: Table, kind: type[Any], skip: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the entries that are plain fields of a controller, and its tables of tuning that differ."""
    options: dict[str, Any] = {}
    tuning: dict[str, Any] = {}
    for one in fields(kind):
        if one.name in (skip, *NO_NUMBERS):
            continue
        default = _default(one)
        if is_dataclass(default) and type(default).__name__.endswith("Tuning"):
            inner = table.table(one.name, f"the table {one.name!r}")
            if inner is not None:
                tuning[one.name] = read_values(inner, default)
        elif isinstance(default, Plain) or (default is None and _takes_number(one)):
            value = table.value(one.name, "")
            if isinstance(value, dict) and "Live" in str(one.type):
                options[one.name] = read_timed_value(table, one.name)
            elif value is not None:
                options[one.name] = _checked(table, one.name, value, default)
    return options, tuning


def read_values(table: Table, default: Any) -> Any:
    """Returns a frozen table of numbers with the entries that a TOML table changes; errors name the line."""
    changed: dict[str, Any] = {}
    for one in fields(default):
        now = getattr(default, one.name)
        if is_dataclass(now):
            inner = table.table(one.name, f"the table {one.name!r}")
            if inner is not None:
                changed[one.name] = read_values(inner, now)
            continue
        value = table.value(one.name, "")
        if value is not None:
            changed[one.name] = _checked(table, one.name, value, now)
    table.done()
    with table.at(next(iter(changed), None)):
        return replace(default, **changed)


def _checked(table: Table, name: str, value: Any, default: Any) -> Any:
    """Returns a value of the same kind as the default: true or false, a number, a text, numbers in a list."""
    if isinstance(default, bool):
        return table.flag(name, default)
    if isinstance(default, str):
        return table.text(name, "a text in quotes")
    if isinstance(default, int):
        if isinstance(value, bool) or not isinstance(value, int):
            raise table.fault(name, f"{name} is a whole number; got {value!r}")
        return value
    if isinstance(default, tuple):
        numbers = table.numbers(name, f"a list of {len(default)} numbers", (len(default),))
        return tuple(numbers or ())
    return table.number(name, "a number")


def _takes_number(one: Field[Any]) -> bool:
    """Returns whether a field without a default value may be a number, by the words of its type."""
    return any(word in str(one.type) for word in ("float", "Live"))


def _default(one: Field[Any]) -> Any:
    if one.default is not MISSING:
        return one.default
    return one.default_factory() if one.default_factory is not MISSING else None


def build_controller(spec: SceneController, world: World, followed: Any = None) -> Controller:
    """Returns the controller of a scene in its world, with the motion that it follows (see `FOLLOWING`)."""
    given = {**spec.options, **spec.tuning}
    if followed is not None:
        given[FOLLOWING[spec.kind]] = gait_of(followed) if spec.kind in GOING else followed
    elif spec.follow is not None:
        raise BadValue(f"the controller {spec.name!r} follows {spec.follow!r}, which was not made")
    given = seen_world(spec.kind, world) | given
    if given.pop("avoid", False):
        given["avoid"] = world.props
    made: Controller = CONTROLLERS[spec.kind](**given)
    return made


def seen_world(kind: str, world: World) -> dict[str, Any]:
    """Returns the options that tell a controller of a kind what the ground is like."""
    if kind == "stand":
        return {"friction": PLANNED_FRICTION * min(world.friction, GROUND_FRICTION), "ground": _ground(world)}
    return {"terrain": world.terrain} if kind in GOING else {}


def gait_of(motion: Motion) -> GaitCycle:
    """Returns the posture by phase of a walk, or of one stride, which is closed to a loop."""
    loop = motion if motion.loop or motion.duration > LONGEST_STRIDE else motion.as_loop(travel=True, blend=GAIT_BLEND)
    return gait_from(loop)


def _ground(world: World) -> Any:
    """Returns the surface that a standing character is told of: a moving platform, or tilted ground."""
    if world.platform is not None:
        return moving_surface(world.platform.pose)
    if any(world.tilt):
        at = world.height_at(0.0, 0.0)
        normal = (at - world.height_at(1.0, 0.0), at - world.height_at(0.0, 1.0), 1.0)
        return Surface.tilted(normal, (0.0, 0.0, at))
    return None
