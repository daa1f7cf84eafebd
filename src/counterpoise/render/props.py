"""What stands in the world beside a figure: terrain, and the bars that hands hold, with posts under their ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.render import palette
from counterpoise.render.model_solids import scene_from_model
from counterpoise.render.overlays import frame_along, solid
from counterpoise.render.raycast import CAPSULE
from counterpoise.render.scene import DrawnScene, joined
from counterpoise.simulate.world import World, build_stage
from counterpoise.spacetime.optimize.request import Touch
from counterpoise.spacetime.stunt.stunt import Stunt
from counterpoise.terrain import Terrain

BAR_RADIUS = 0.02  # [m]
BAR_OVERHANG = 0.35  # [m] of a bar beyond the last hand
POST_RADIUS = 0.014  # [m]
SAME_BAR = 1e-3  # [m] hands whose places are this near to one line hold the same bar
LEVEL = 0.2  # largest slope of a bar that stands on posts


@dataclass(frozen=True, eq=False)
class DrawnBar:
    """A straight bar from one end to the other."""

    start: Array  # (3,) [m]
    end: Array  # (3,) [m]


def props_of(stunt: Stunt) -> DrawnScene:
    """Returns the terrain of a stunt and the bars that it holds on to, as they are drawn."""
    return joined([*([terrain_scene(stunt.terrain)] if stunt.terrain else []), bars_scene(bars_of(stunt.contacts))])


def terrain_scene(terrain: Terrain) -> DrawnScene:
    """Returns the solids of a terrain and the plane under it."""
    model = build_stage(World(terrain=terrain), ()).model
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return scene_from_model(model, data.geom_xpos, data.geom_xmat)


def bars_of(touches: Iterable[Touch]) -> list[DrawnBar]:
    """Returns the bars of contacts round bars; hands on one line share theirs."""
    groups: list[tuple[Array, list[Array]]] = []  # direction, places
    for touch in touches:
        if touch.how != "bar" or touch.place is None:
            continue
        place, axis = _row(touch.place), _row(touch.axis)
        axis = axis / np.linalg.norm(axis)
        for direction, places in groups:
            off = place - places[0]
            if (
                abs(direction @ axis) > 1.0 - SAME_BAR
                and np.linalg.norm(off - (off @ direction) * direction) < SAME_BAR
            ):
                places.append(place)
                break
        else:
            groups.append((axis, [place]))
    out = []
    for direction, places in groups:
        along = [float((place - places[0]) @ direction) for place in places]
        ends = (min(along) - BAR_OVERHANG, max(along) + BAR_OVERHANG)
        out.append(DrawnBar(places[0] + ends[0] * direction, places[0] + ends[1] * direction))
    return out


def bars_scene(bars: Sequence[DrawnBar]) -> DrawnScene:
    """Returns bars; level ones stand on posts."""
    parts = []
    for bar in bars:
        parts.append(_rod(bar.start, bar.end, BAR_RADIUS))
        along = bar.end - bar.start
        if abs(along[2]) <= LEVEL * np.linalg.norm(along):
            parts += [_rod(end, (end[0], end[1], 0.0), POST_RADIUS) for end in (bar.start, bar.end) if end[2] > 0.0]
    return joined(parts)


def _rod(start: ArrayLike, end: ArrayLike, radius: float) -> DrawnScene:
    a, b = np.asarray(start, float), np.asarray(end, float)
    half = 0.5 * float(np.linalg.norm(b - a))
    return solid(CAPSULE, (radius, half), 0.5 * (a + b), frame_along(b - a), palette.SCENERY)


def _row(values: ArrayLike) -> Array:
    return np.asarray(values, float).reshape(-1)[:3]
