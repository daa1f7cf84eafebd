"""What a page is told of the scene."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.render.camera import Camera
from counterpoise.scene import MAIN, Scene, SceneConstraint, ScenePush, SceneWish, constraint_sets
from counterpoise.simulate import Prop
from counterpoise.spacetime.stunt.poses import named_poses
from counterpoise.spacetime.stunt.terrain import MAKERS
from counterpoise.studio.cast import Cast
from counterpoise.studio.events import (
    CameraFacts,
    CastFacts,
    ConstraintFacts,
    ContactFacts,
    FieldFacts,
    KeyFacts,
    MotionFacts,
    NoteFacts,
    PropFacts,
    PushFacts,
    SceneChanged,
    SolidFacts,
    TerrainFacts,
    WishFacts,
)
from counterpoise.studio.figure_facts import figure_facts
from counterpoise.studio.jobs import Mark
from counterpoise.studio.open_scene import OpenScene
from counterpoise.terrain.height_field import HeightField

CONSTRAINTS = "constraints"  # the folder of a person's own sets of constraints
MOST_DRAWN = 40_000  # heights of a field that are drawn
SCRIPT_EDITS = 30  # shown on the page; the whole script is at /script
LONGEST_LINE = 400  # characters of a line of the script on the page


@dataclass(frozen=True)
class SceneTracks:
    """Addresses of the motion on the timeline, of the props beside it and of the efforts of its joints; empty: none."""

    motion: str
    props: str
    efforts: str


def scene_event(
    document: OpenScene, tracks: SceneTracks, cast: Cast, marks: tuple[Mark, ...], verdict: str
) -> SceneChanged:
    """Returns the event that tells a page everything about the scene but its frames."""
    scene, shown, history = document.scene, document.shown, document.history
    described = scene.motions.get(shown.name)
    owner = MAIN if described is None else described.character
    return SceneChanged(
        revision=document.revision,
        name=scene.name,
        file=document.file,
        unsaved=document.unsaved,
        source=scene.characters[MAIN].source,
        figure=figure_facts(document.character),
        cast=tuple(CastFacts(name, figure_facts(scene.character(name)), cast.track(name)[0]) for name in cast.names),
        characters=tuple(scene.characters),
        motion=shown.name,
        owner=owner,
        kind="clip" if shown.is_clip else "keys",
        motions=tuple(_motion(scene, name) for name in dict.fromkeys([MAIN, *scene.motions])),
        duration=shown.duration,
        refined=shown.refined,
        keys=tuple(KeyFacts(k.index, k.time, k.name, k.soft is not None, k.rest) for k in shown.keys),
        contacts=tuple(
            ContactFacts(c.index, c.parts, c.start, min(c.end, shown.duration), c.how)
            for c in (described.contacts if described is not None else ())
        ),
        wishes=tuple(_wish(w) for w in (described.wishes if described is not None else ())),
        violations=marks,
        verdict=verdict,
        poses=pose_names(document),
        has_controllers=bool(scene.controllers) or scene.experiment is not None,
        controller=next((one.kind for one in scene.controllers.values() if one.character == owner), ""),
        pushes=tuple(_push(one) for one in scene.pushes if one.character == owner and one.kind == "push"),
        cameras=tuple(_camera(one.name, one.camera) for one in scene.cameras if one.camera is not None),
        notes=tuple(NoteFacts(i, n.text, n.time) for i, n in enumerate(scene.notes) if n.motion == shown.name),
        constraints=tuple(_constraint(c) for c in scene.constraints if c.character == owner),
        constraint_sets=set_names(document),
        solids=_solids(scene),
        fields=tuple(_field(one) for one in height_fields(scene)),
        terrain=_terrain(scene),
        friction=float(scene.world.friction),
        props=prop_facts(scene.world.props),
        tilt=(float(scene.world.tilt[0]), float(scene.world.tilt[1])),
        track=tracks.motion,
        prop_track=tracks.props,
        efforts=tracks.efforts,
        track_props=prop_facts(shown.prop_paths.props) if shown.prop_paths is not None else (),
        undo=history.past[-1][0].words() if history.past else "",
        redo=history.future[0][0].words() if history.future else "",
        script=script_of(document, SCRIPT_EDITS),
    )


def prop_facts(props: Sequence[Prop]) -> tuple[PropFacts, ...]:
    """Returns what a page shows of loose bodies."""
    return tuple(PropFacts(p.shape, p.extent, p.mass, p.place, p.turn, p.bounce) for p in props)


def pose_names(document: OpenScene) -> tuple[str, ...]:
    """Returns the poses that a key can name: the scene's own, then those of the library."""
    own = document.scene.document.get(("pose",), {})
    return tuple(dict.fromkeys([*own, *(pose.name for pose in named_poses())]))


def script_of(document: OpenScene, most: int | None = None) -> str:
    """Returns the Python that does what was done here; with `most`, only the last edits, with long lines cut."""
    opened = f"cp.read_scene({document.file!r})" if document.file else f"cp.new_scene({_source(document)!r})"
    edits = list(document.history.edits)
    left = 0 if most is None else max(0, len(edits) - most)
    lines = ["import counterpoise as cp", "", f"scene = {opened}"]
    lines += [f"# ... {left} edits before"] if left else []
    for edit in edits[left:]:
        for line in edit.python().splitlines():
            lines.append(line if most is None or len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + " ...")
    return "\n".join(lines) + "\n"


def _source(document: OpenScene) -> str:
    return document.scene.characters[MAIN].source


def _motion(scene: Scene, name: str) -> MotionFacts:
    found = scene.motions.get(name)
    kind = "keys" if found is None or found.has_keys else "clip"
    return MotionFacts(name, _label(scene, name), MAIN if found is None else found.character, kind)


def _label(scene: Scene, name: str) -> str:
    found = scene.motions.get(name)
    if name == MAIN:
        return "keys"
    return name if found is None or found.has_keys else f"{name} (take)"


def _wish(wish: SceneWish) -> WishFacts:
    words = ", ".join(f"{k} {v}" for k, v in wish.entries.items())
    time = next((wish.entries[k] for k in ("time", "at", "from") if isinstance(wish.entries.get(k), int | float)), None)
    return WishFacts(wish.index, f"{wish.kind}: {words}" if words else wish.kind, None if time is None else float(time))


def _push(one: ScenePush) -> PushFacts:
    push = one.push
    x, y, z = (f"{v:g}" for v in push.force)
    words = f"{push.body}: {x}, {y}, {z} N at {push.start:g} s for {push.duration:g} s"
    return PushFacts(one.index, words, float(push.start), float(push.start + push.duration))


def _camera(name: str, camera: Camera) -> CameraFacts:
    eye, target = (tuple(float(v) for v in place) for place in (camera.eye, camera.target))
    return CameraFacts(name, (eye[0], eye[1], eye[2]), (target[0], target[1], target[2]))


def _constraint(one: SceneConstraint) -> ConstraintFacts:
    """Returns a constraint in a few words, such as "on plane hand left"."""
    body, joint = str(one.entries.get("body", "")), str(one.entries.get("joint", ""))
    words = f"{one.kind.replace('_', ' ')} {body or joint}".strip()
    if one.kind == "couple":
        words = _coupling(one.entries)
    return ConstraintFacts(one.index, one.kind, words, body, joint)


def _coupling(entries: Mapping[str, Any]) -> str:
    """Returns a relation of joints, such as "knee_left = knee_right" or "ankle_left.0 = -0.45 knee_left"."""
    parts = {name: float(value) for name, value in entries.get("coefficients", {}).items()}
    if len(parts) == 2 and next(iter(parts.values())) == 1.0 and entries.get("equals") == 0:
        (one, _), (other, factor) = parts.items()
        return f"{one} = {other}" if factor == -1.0 else f"{one} = {-factor:g} {other}"
    limits = [f"{word} {entries[word]:g}" for word in ("equals", "low", "high") if word in entries]
    return f"{' + '.join(f'{value:g} {name}' for name, value in parts.items())}: {', '.join(limits)}"


def set_names(document: OpenScene) -> tuple[str, ...]:
    """Returns the sets of constraints that fit the figure: those of the library, then files of the folder."""
    own = sorted(path.stem for path in (document.folder.root / CONSTRAINTS).glob("*.toml"))
    return (*constraint_sets(document.character), *own)


def _terrain(scene: Scene) -> tuple[TerrainFacts, ...]:
    """Returns the pieces of terrain as the file lists them."""
    out = []
    for kind in MAKERS:
        for i, entries in enumerate(scene.document.get((kind,), ())):
            words = ", ".join(f"{name} {value}" for name, value in entries.items() if name != "heights")
            out.append(TerrainFacts(kind, i, f"{kind.replace('_', ' ')}: {words}"))
    return tuple(out)


def height_fields(scene: Scene) -> tuple[HeightField, ...]:
    return () if scene.world.terrain is None else scene.world.terrain.fields


def drawn_heights(field: HeightField) -> Array:
    """Returns the heights of a field as they are drawn, (rows, columns) [m]: of large ones only every few."""
    rows, columns = field.grid.shape
    step = max(1, math.ceil(math.sqrt(rows * columns / MOST_DRAWN)))
    keep = [np.unique(np.append(np.arange(0, n, step), n - 1)) for n in (rows, columns)]
    even = [np.linspace(0, n - 1, len(kept)).round().astype(int) for n, kept in zip((rows, columns), keep, strict=True)]
    return np.asarray(field.surface_heights()[np.ix_(*even)])


def field_address(field: HeightField) -> str:
    return f"/tracks/heights-{hashlib.sha256(field.grid.tobytes()).hexdigest()[:16]}.bin"


def _field(field: HeightField) -> FieldFacts:
    rows, columns = drawn_heights(field).shape
    return FieldFacts(field.center, field.size, rows, columns, field_address(field))


def _solids(scene: Scene) -> tuple[SolidFacts, ...]:
    terrain = scene.world.terrain
    if terrain is None:
        return ()
    out = []
    for solid in terrain.boxes:
        c, h = solid.centre, solid.half
        w, x, y, z = (float(v) for v in spatial.from_matrix(solid.rotation))
        centre, half = (float(c[0]), float(c[1]), float(c[2])), (float(h[0]), float(h[1]), float(h[2]))
        out.append(SolidFacts(centre, half, (w, x, y, z)))
    return tuple(out)
