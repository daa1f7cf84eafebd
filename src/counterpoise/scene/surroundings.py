"""Reads what surrounds the characters of a scene: the world, pushes, constraints, cameras, notes, files to write."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.character.character import Character
from counterpoise.errors import BadValue, unknown_name
from counterpoise.pose.constraints import AboveGround, Balanced, Couple, FixJoint, Lock, OnPlane, Pin, PoseConstraint
from counterpoise.render.camera import AZIMUTH, ELEVATION, FIELD_OF_VIEW, Camera
from counterpoise.scene.contents import (
    MAIN,
    SceneCamera,
    SceneCharacter,
    SceneConstraint,
    SceneNote,
    SceneOutput,
    ScenePush,
    SimulationPlan,
)
from counterpoise.simulate.disturbances import Push, random_pushes
from counterpoise.simulate.props import SHAPES, Prop
from counterpoise.simulate.world import AXES, INTEGRATORS, Platform, Sine, World
from counterpoise.spacetime.stunt.reading import Table
from counterpoise.spacetime.stunt.terrain import read_pieces
from counterpoise.terrain import Terrain

CONSTRAINTS: dict[str, Callable[..., PoseConstraint]] = {
    "pin": Pin, "lock": Lock, "fix": FixJoint, "couple": Couple, "on_plane": OnPlane, "balanced": Balanced,
    "above_ground": AboveGround,
}  # fmt: skip
OUTPUTS = {
    "recording": (".npz",), "motion": (".npz", ".bvh", ".glb", ".gltf", ".usda", ".usdc", ".csv"),
    "video": (".mp4", ".gif", ".webp"), "picture": (".png",), "plot": (".png", ".svg", ".pdf"), "plan": (".png",),
    "character": (".xml",),
}  # fmt: skip


def read_world(top: Table) -> World:
    """Returns the world of [world], with the platform of [world.platform], the terrain and the props of the file."""
    table = top.table("world", "[world]")
    pieces, props = read_pieces(top), _read_props(top)
    with top.at(None):
        terrain = Terrain(pieces) if pieces else None
    if table is None:
        with top.at(None):
            return World(terrain=terrain, props=props)
    given: dict[str, Any] = {"terrain": terrain, "ground": table.flag("ground", True), "props": props}
    given["friction"] = table.number("friction", "a number, 0 or more", low=0.0)
    given["tilt"] = table.numbers("tilt", "[roll, pitch] of the ground in degrees", (2,))
    given["gravity"] = table.numbers("gravity", "[x, y, z] in metres a second squared", (3,))
    given["timestep"] = table.number("timestep", "seconds of one physics step, such as 0.001")
    given["integrator"] = table.text("integrator", f"one of {', '.join(INTEGRATORS)}", choices=tuple(INTEGRATORS))
    given["platform"] = _read_platform(table)
    table.done()
    with table.at(None):
        return World(**_tuples(given))


def _read_platform(world: Table) -> Platform | None:
    """Reads `x = { amplitude = 0.05, frequency = 0.5 }`, or a list of them, for each axis that moves."""
    table = world.table("platform", "[world.platform]")
    if table is None:
        return None
    given: dict[str, Any] = {}
    for axis in AXES:
        value = table.value(axis, "")
        if value is None:
            continue
        waves = [value] if isinstance(value, dict) else value
        wanted = "{ amplitude, frequency, phase } in m or rad, Hz and rad, or a list of such"
        if not (isinstance(waves, list) and all(isinstance(w, dict) for w in waves)):
            raise table.fault(axis, f"{axis} is {wanted}; got {value!r}")
        with table.at(axis):
            try:
                given[axis] = tuple(Sine(**wave) for wave in waves)
            except TypeError:
                raise BadValue(f"{axis} is {wanted}; got {value!r}") from None
    given["half_size"] = table.numbers("half_size", "[x, y] in metres", (2,))
    given["ease"] = table.number("ease", "seconds in which its motion begins, above 0")
    table.done()
    with table.at(None):
        return Platform(**_tuples(given))


def _read_props(top: Table) -> tuple[Prop, ...]:
    """Returns the loose balls and boxes of [[prop]]."""
    out = []
    for table in top.tables("prop"):
        shape = table.text("shape", f"one of {', '.join(SHAPES)}", required=True, choices=SHAPES)
        size = table.value("size", "metres: the diameter of a ball, or [x, y, z] of a box", required=True)
        mass = table.number("mass", "kilograms, above 0", required=True)
        place = table.numbers("place", "[x, y, z] of its centre in metres", (3,), required=True)
        facing = table.number("facing", "degrees to the left that it is turned")
        given = {name: table.numbers(name, "three numbers", (3,)) for name in ("velocity", "spin")}
        plain = {name: table.number(name, "a number", low=0.0) for name in ("friction", "bounce")}
        table.done()
        if not isinstance(size, int | float | list) or isinstance(size, bool):
            raise table.fault("size", f"size is the diameter of a ball, or [x, y, z] of a box; got {size!r}")
        turn = tuple(spatial.from_yaw(np.radians(facing or 0.0)).tolist())
        with table.at("size"):
            try:
                made = Prop(shape, size, mass, place, turn, **_tuples({**given, **plain}))  # type: ignore[arg-type]
            except (TypeError, ValueError) as error:
                raise BadValue(str(error)) from None
        out.append(made)
    return tuple(out)


def _tuples(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the entries that are given, lists as tuples."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in entries.items() if v is not None}


def read_pushes(top: Table, characters: Mapping[str, SceneCharacter], seconds: float) -> tuple[ScenePush, ...]:
    """Returns the pushes of [[push]], and those that [[random_pushes]] draw from their seeds."""
    out: list[ScenePush] = []
    for i, table in enumerate(top.tables("push")):
        owner = owner_of_table(table, characters)
        body = table.text("body", "the body that is pushed", required=True)
        force = table.numbers("force", "[x, y, z] in newtons", (3,), required=True)
        start = table.number("start", "seconds", required=True)
        duration = table.number("duration", "seconds, above 0", required=True)
        point = table.numbers("point", "[x, y, z] in the body's frame, in metres", (3,))
        table.done()
        assert body is not None and force is not None and start is not None and duration is not None
        with table.at("body"):
            characters[owner].character.body_id(body)
        with table.at("duration"):
            push = Push(body, (force[0], force[1], force[2]), start, duration, None if point is None else tuple(point))  # type: ignore[arg-type]
        out.append(ScenePush(owner, push, "push", i))
    for i, table in enumerate(top.tables("random_pushes")):
        owner = owner_of_table(table, characters)
        bodies = table.names("bodies", "bodies that are pushed", required=True)
        force_range = table.value("force", "newtons, or [least, most]", required=True)
        options = {k: table.number(k, "a number") for k in ("duration", "start", "vertical")}
        every = table.numbers("every", "[shortest, longest] seconds between pushes", (2,))
        seed = table.value("seed", "a whole number") or 0
        table.done()
        assert bodies is not None
        with table.at("bodies"):
            for body in bodies:
                characters[owner].character.body_id(body)
        given = {k: v for k, v in options.items() if v is not None} | ({"every": tuple(every)} if every else {})
        with table.at("force"):
            span = tuple(force_range) if isinstance(force_range, list) else force_range
            drawn = random_pushes(bodies, span, seconds, seed=seed, **given)  # type: ignore[arg-type]
        out += [ScenePush(owner, push, "random_pushes", i) for push in drawn]
    return tuple(out)


def owner_of_table(table: Table, characters: Mapping[str, SceneCharacter]) -> str:
    """Returns the name of the character that a table is about: the main one, where it says nothing."""
    owner = table.text("character", "a character of the scene") or MAIN
    if owner not in characters:
        with table.at("character"):
            raise unknown_name("character of the scene", owner, characters)
    return owner


def read_simulation(top: Table) -> SimulationPlan:
    """Returns how the scene is simulated, from the table [simulation]."""
    table = top.table("simulation", "[simulation]")
    if table is None:
        return SimulationPlan()
    seconds = table.number("seconds", "how long, above 0", low=1e-9)
    seed = table.value("seed", "a whole number, 0 or more")
    lift = table.number("lift", "metres above the ground at the start") or 0.0
    table.done()
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise table.fault("seed", f"seed is a whole number, 0 or more; got {seed!r}")
    return SimulationPlan(seconds, seed or 0, lift)


def read_constraints(top: Table, characters: Mapping[str, SceneCharacter]) -> tuple[SceneConstraint, ...]:
    """Returns what poses keep while they are dragged, from the tables [[constraint]]."""
    out = []
    for i, table in enumerate(top.tables("constraint")):
        kind = table.text("kind", f"one of {', '.join(CONSTRAINTS)}", required=True, choices=tuple(CONSTRAINTS))
        assert kind is not None
        owner = owner_of_table(table, characters)
        entries = {}
        for name in inspect.signature(CONSTRAINTS[kind]).parameters:
            value = table.value(name, "")
            if value is not None:
                entries[name] = value
        table.label = f"this [[constraint]] of kind {kind!r}"
        table.done()
        with table.at(None):
            try:
                made = CONSTRAINTS[kind](**entries)
            except TypeError as error:
                raise BadValue(f"this constraint {kind!r} is not complete: {error}") from None
            _check_names(characters[owner].character, entries)
        out.append(SceneConstraint(owner, kind, made, entries, i))
    return tuple(out)


def _check_names(character: Character, entries: Mapping[str, Any]) -> None:
    if "body" in entries:
        character.body_id(entries["body"])
    if "joint" in entries:
        character.joint(entries["joint"])


def read_cameras(top: Table) -> tuple[SceneCamera, ...]:
    """Returns the cameras of [[camera]]: eye and target, or azimuth and elevation from which one follows."""
    out: list[SceneCamera] = []
    for table in top.tables("camera"):
        name = table.text("name", "the camera's name", required=True)
        assert name is not None
        eye, target = (table.numbers(k, "[x, y, z] in metres", (3,)) for k in ("eye", "target"))
        view = table.number("field_of_view", "degrees, the vertical angle")
        azimuth, elevation = (table.number(k, "degrees") for k in ("azimuth", "elevation"))
        table.done()
        if (eye is None) != (target is None):
            raise table.fault(None, "a camera that stands still has both eye and target")
        if name in {c.name for c in out}:
            raise table.fault("name", f"there are two cameras {name!r}: give one another name")
        still = None
        if eye is not None and target is not None:
            with table.at("eye"):
                still = Camera(eye, target, field_of_view=FIELD_OF_VIEW if view is None else view)  # type: ignore[arg-type]
        out.append(
            SceneCamera(
                name, still, AZIMUTH if azimuth is None else azimuth, ELEVATION if elevation is None else elevation
            )
        )
    return tuple(out)


def read_notes(top: Table) -> tuple[SceneNote, ...]:
    """Returns the remarks of the tables [[note]]."""
    out = []
    for table in top.tables("note"):
        text = table.text("text", "the remark in quotes", required=True)
        time = table.number("time", "seconds")
        motion = table.text("motion", "a motion of the scene") or MAIN
        table.done()
        assert text is not None
        out.append(SceneNote(text, time, motion))
    return tuple(out)


def read_output(top: Table, cameras: tuple[SceneCamera, ...]) -> SceneOutput:
    """Returns the files that running the scene writes, from the table [output]."""
    table = top.table("output", "[output]")
    if table is None:
        return SceneOutput()
    files: dict[str, str] = {}
    for kind, suffixes in OUTPUTS.items():
        name = table.text(kind, f"the name of a file that ends in {' or '.join(suffixes)}")
        if name is None:
            continue
        if not name.lower().endswith(suffixes):
            raise table.fault(kind, f"{kind} is a file that ends in {' or '.join(suffixes)}; got {name!r}")
        files[kind] = name
    camera = table.text("camera", "a camera of the scene")
    quantities = table.names("quantities", 'what is plotted, such as ["com", "torque:knee_left"]')
    motions = _read_motion_files(table)
    table.done()
    if camera is not None and camera not in {c.name for c in cameras}:
        with table.at("camera"):
            raise unknown_name("camera", camera, [c.name for c in cameras])
    return SceneOutput(files, camera, motions, tuple(quantities) if quantities else SceneOutput().quantities)


def _read_motion_files(output: Table) -> dict[str, dict[str, Any]]:
    """Reads [output.motions]: the name of a motion, and its file, or { file, rate, bodies }."""
    table = output.table("motions", "[output.motions]")
    out: dict[str, dict[str, Any]] = {}
    for name, value in {} if table is None else table.data.items():
        assert table is not None
        inner = table.table(name, f"the file of {name!r}") if isinstance(value, dict) else None
        file = table.text(name, "the name of a file") if inner is None else inner.text("file", "a file", required=True)
        given: dict[str, Any] = {"file": file}
        if inner is not None:
            given |= {
                "rate": inner.number("rate", "frames a second", low=1e-3),
                "bodies": inner.names("bodies", "bodies"),
            }
            inner.done()
        if file is None or not file.lower().endswith(OUTPUTS["motion"]):
            raise table.fault(
                name, f"a motion is written to a file that ends in {' or '.join(OUTPUTS['motion'])}; got {file!r}"
            )
        out[name] = {key: one for key, one in given.items() if one is not None}
    return out
