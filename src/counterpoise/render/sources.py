"""Takes of what can be drawn: characters, motions, and recordings with their forces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Ints
from counterpoise.character.character import Character
from counterpoise.character.skin import is_library_person
from counterpoise.character.track import follow, point_path
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.render import palette
from counterpoise.render.scene import DrawnScene
from counterpoise.render.take import Arrow, Take
from counterpoise.simulate.recording import Recording

ARROW_LENGTH = 0.45  # of an arrow of one body weight, in body heights
PUSH_SHOWN = 0.15  # [s] the arrow of a push is drawn at least this long, so that a short one is seen


def take_of(
    thing: Character | Motion | Recording,
    com: bool | None = None,
    cop: bool | None = None,
    forces: bool | None = None,
    trails: Sequence[str] = (),
    ghost: Motion | None = None,
    ghost_offset: tuple[float, float, float] = (0.0, 0.0, 0.0),
    figure: int = 0,
    props: DrawnScene | None = None,
    smooth: bool | None = False,
) -> Take:
    """Returns a take of a character (in its neutral pose), a motion or a recording.

    Of a recording of one figure, the centre of mass, the centre of pressure and the forces of ground and pushes are
    drawn by default; of several figures only if asked for. `trails` names bodies whose paths are drawn, or "com".
    `props` (`render.props_of(stunt)`, `render.terrain_scene(terrain)`) stand in the world beside it.
    `smooth` draws figures as smooth bodies (True) or as the shapes that the physics has (False); with None the
    library's person is smooth, and others are shapes.
    """
    if isinstance(thing, Character):
        return Take(thing.model, np.zeros(1), thing.neutral[None], props=props, smooth=_smooth([thing], [1], smooth))
    if isinstance(thing, Motion):
        shadow = _ghost(thing.character, ghost) if ghost is not None else None
        character, paths = thing.character, {}
        if trails or com:
            seen = follow(character, thing.poses)
            paths = {n: seen.com if n == "com" else point_path(character, seen, n, (0, 0, 0)) for n in trails}
        return Take(
            character.model, thing.times, thing.poses, com=seen.com if com else None, trails=paths, ghost=shadow,
            ghost_offset=ghost_offset, props=props, smooth=_smooth([character], [1], smooth),
        )  # fmt: skip
    if not isinstance(thing, Recording):
        raise BadValue(f"a take, a character, a motion or a recording can be drawn; got {type(thing).__name__}")
    alone = len(thing.figures) == 1 and bool(thing.character.feet)
    character = thing.figures[figure]
    track = thing.track(figure)
    paths = {name: track.com if name == "com" else point_path(character, track, name, (0, 0, 0)) for name in trails}
    return Take(
        thing.model,
        thing.time,
        thing.qpos,
        com=track.com if (alone if com is None else com) else None,
        cop=measure.cop(thing, figure) if (alone if cop is None else cop) else None,
        arrows=_arrows(thing, figure) if (alone if forces is None else forces) else None,
        trails=paths,
        ghost=_ghost(character, ghost) if ghost is not None else None,
        ghost_offset=ghost_offset,
        props=props,
        smooth=_smooth(thing.figures, [place.bodies.start for place in thing.places], smooth),
    )


def _smooth(
    figures: Sequence[Character], first: Sequence[int], wanted: bool | None
) -> tuple[tuple[Character, int], ...]:
    """Returns the figures that are drawn as smooth bodies, with their first bodies in the model."""
    pairs = zip(figures, first, strict=True)
    return tuple((f, b) for f, b in pairs if (is_library_person(f) if wanted is None else wanted))


def as_take(thing: Any) -> Take:
    """Returns `thing` if it is a take, else a take of it with the defaults of `take_of`."""
    return thing if isinstance(thing, Take) else take_of(thing)


def _ghost(character: Character, motion: Motion) -> Take:
    if motion.character.model.nq != character.model.nq:
        raise BadValue(f"the ghost is a motion of {motion.character.name!r}; it must be one of {character.name!r}")
    return Take(character.model, motion.times, motion.poses)


def _arrows(recording: Recording, figure: int) -> list[list[Arrow]]:
    """By row, the ground force on each foot (and on other bodies that touch) at its centre of pressure, and pushes."""
    character = recording.figures[figure]
    scale = ARROW_LENGTH * character.height / max(character.weight, 1e-9)
    rows: list[list[Arrow]] = [[] for _ in range(len(recording))]
    g = measure.ground_contacts(recording, figure)
    key = g.row * (character.model.nbody + 1) + _limb(character)[g.body]
    order = np.argsort(key, kind="stable")
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    for part in np.split(order, cuts) if len(order) else []:
        force = g.force[part].sum(axis=0)
        up = np.maximum(g.force[part, 2], 1e-9)
        if np.linalg.norm(force) * scale > 0.01:
            rows[int(g.row[part[0]])].append(((up @ g.point[part]) / up.sum(), scale * force, palette.FORCE))
    _add_pushes(recording, figure, scale, rows)
    return rows


def _add_pushes(recording: Recording, figure: int, scale: float, rows: list[list[Arrow]]) -> None:
    span, track = recording.places[figure].bodies, recording.track(figure)
    pushed = np.abs(recording.external[:, span, :3]).max(axis=2) > 1e-9  # (n, bodies)
    stay = round(PUSH_SHOWN / recording.timestep)
    for b in np.flatnonzero(pushed.any(axis=0)):
        last, force = -stay - 1, np.zeros(3)
        for k in range(len(recording)):
            if pushed[k, b]:
                last, force = k, recording.external[k, span.start + b, :3]
            if k - last <= stay:
                place = track.bodies[k, b + 1]
                rows[k].append((place - scale * force, scale * force, palette.PUSH))


def _limb(character: Character) -> Ints:
    """By body, the body at which its contact force is drawn: toes count with their foot."""
    out = np.arange(character.model.nbody)
    for foot in character.feet:
        for point in foot.points:
            out[character.body_id(point.body)] = character.body_id(foot.body)
    return out


__all__ = ["as_take", "take_of"]
