"""What can be drawn, and how it becomes a take: characters, motions, recordings with their forces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Ints
from counterpoise.character.character import Character
from counterpoise.character.track import point_path
from counterpoise.errors import BadValue
from counterpoise.measure.balance import track_of
from counterpoise.motion.motion import Motion
from counterpoise.render import palette
from counterpoise.render.take import Arrow, Take
from counterpoise.simulate.recording import Recording

ARROW = 0.45  # length of an arrow of one body weight, of the figure's height
PUSH_SHOWN = 0.15  # [s] a push's arrow stays at least this long, so that a short blow is seen


def take_of(
    thing: Character | Motion | Recording,
    com: bool | None = None,
    cop: bool | None = None,
    forces: bool | None = None,
    trails: Sequence[str] = (),
    ghost: Motion | None = None,
    ghost_offset: tuple[float, float, float] = (0.0, 0.0, 0.0),
    figure: int = 0,
) -> Take:
    """A take of a character (standing), a motion or a recording.

    Of a recording of one figure the centre of mass, the centre of pressure and the forces of ground and pushes are
    drawn
    unless said otherwise; of several figures only when asked. `trails` names bodies whose paths are drawn, or "com".
    """
    if isinstance(thing, Character):
        return Take(thing.model, np.zeros(1), thing.neutral[None])
    if isinstance(thing, Motion):
        shadow = _ghost(thing.character, ghost) if ghost is not None else None
        return Take(thing.character.model, thing.times, thing.poses, ghost=shadow, ghost_offset=ghost_offset)
    if not isinstance(thing, Recording):
        raise BadValue(f"a take, a character, a motion or a recording can be drawn; got {type(thing).__name__}")
    alone = len(thing.figures) == 1 and bool(thing.character.feet)
    who = thing.figures[figure]
    track = track_of(thing, figure)
    paths = {name: track.com if name == "com" else point_path(who, track, name, (0, 0, 0)) for name in trails}
    return Take(
        thing.model,
        thing.time,
        thing.qpos,
        com=track.com if (alone if com is None else com) else None,
        cop=measure.cop(thing, figure) if (alone if cop is None else cop) else None,
        arrows=_arrows(thing, figure) if (alone if forces is None else forces) else None,
        trails=paths,
        ghost=_ghost(who, ghost) if ghost is not None else None,
        ghost_offset=ghost_offset,
    )


def as_take(thing: Any) -> Take:
    """`thing` itself if it is a take, else a take of it with what is usually wanted."""
    return thing if isinstance(thing, Take) else take_of(thing)


def _ghost(who: Character, motion: Motion) -> Take:
    if motion.character.model.nq != who.model.nq:
        raise BadValue(f"the ghost is a motion of {motion.character.name!r}; it must be one of {who.name!r}")
    return Take(who.model, motion.times, motion.poses)


def _arrows(recording: Recording, figure: int) -> list[list[Arrow]]:
    """Ground force on each foot (and on whatever else touches), from its own centre of pressure; pushes at their
    bodies.
    """
    who = recording.figures[figure]
    scale = ARROW * who.height / max(who.mass * 9.81, 1e-9)
    rows: list[list[Arrow]] = [[] for _ in range(len(recording))]
    g = measure.ground_contacts(recording, figure)
    key = g.row * (who.model.nbody + 1) + _limb(who)[g.body]
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
    span, track = recording.places[figure].bodies, track_of(recording, figure)
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


def _limb(who: Character) -> Ints:
    """Bodies whose contact forces are drawn as one arrow: toes with their foot."""
    out = np.arange(who.model.nbody)
    for foot in who.feet:
        for point in foot.points:
            out[who.body_id(point.body)] = who.body_id(foot.body)
    return out


__all__ = ["as_take", "take_of"]
