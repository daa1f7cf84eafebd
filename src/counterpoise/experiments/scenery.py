"""Pictures of stunts: a motion among bars and boxes, and strobes below each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.experiments.key_poses import com_of
from counterpoise.motion.motion import Motion
from counterpoise.render.camera import frame_points
from counterpoise.render.draw import Picture, draw
from counterpoise.render.pictures import STROBE_FIELD_OF_VIEW, labelled
from counterpoise.render.scene import joined
from counterpoise.render.stage import DrawnStage
from counterpoise.render.take import Take

SCENERY_COLOUR = (0.45, 0.40, 0.36, 1.0)  # of bars and boxes
FADE = 0.45  # how much paler the first moment of a strobe is


def with_scenery(character: Character, shapes: Iterable[Mapping[str, Any]]) -> mujoco.MjModel:
    """Returns the character's model with fixed shapes.

    They are `{"bar": (place, axis, half length)}` or `{"box": (place, half sizes)}`.
    """
    spec = character.spec()
    for number, shape in enumerate(shapes):
        if "bar" in shape:
            place, axis, half = shape["bar"]
            a = np.asarray(axis, float) / np.linalg.norm(axis) * half
            ends = np.concatenate([np.asarray(place) - a, np.asarray(place) + a])
            spec.worldbody.add_geom(
                name=f"bar {number}",
                type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                fromto=ends,
                size=[0.014, 0, 0],
                rgba=SCENERY_COLOUR,
            )
        else:
            place, half = shape["box"]
            spec.worldbody.add_geom(
                name=f"box {number}", type=mujoco.mjtGeom.mjGEOM_BOX, pos=place, size=half, rgba=SCENERY_COLOUR
            )
    return spec.compile()


def take_with(
    character: Character, motion: Motion, shapes: Iterable[Mapping[str, Any]] = (), com: bool = False
) -> Take:
    """Returns a take of a motion with its scenery."""
    path = np.array([com_of(character, q) for q in motion.poses]) if com else None
    return Take(with_scenery(character, shapes), motion.times, motion.poses, com=path)


def rows_of(
    takes: Mapping[str, tuple[Take, Sequence[float]]], size: tuple[int, int], azimuth: float, spread: float = 0.0,
    after: float = 0.0,
) -> Picture:  # fmt: skip
    """Draws strobes below each other with the same camera, each with its name.

    Figures later than `after` [s] are each moved `spread` [m] further, so that they do not overlap.
    """
    right = np.array([-np.sin(np.radians(azimuth)), np.cos(np.radians(azimuth)), 0.0])
    stages = {name: (DrawnStage(take), times) for name, (take, times) in takes.items()}

    def shift(times: Sequence[float], k: int) -> Array:
        return np.asarray(spread * sum(after < t for t in times[: k + 1]) * right)

    cloud = np.concatenate(
        [stage.corners(t) + shift(times, k) for stage, times in stages.values() for k, t in enumerate(times)]
    )
    view = frame_points(cloud, azimuth, 6.0, size[0] / size[1], margin=0.06, field_of_view=STROBE_FIELD_OF_VIEW)
    rows = []
    for name, (stage, times) in stages.items():
        parts = [stage.solids(times[-1], "scenery")]
        for k, t in enumerate(times):
            fade = FADE * (1.0 - k / max(len(times) - 1, 1))
            parts.append(stage.solids(t, "moving").moved(shift(times, k)).faded(fade))
        rows.append(labelled(draw(joined(parts).with_default_ground(), view, size, 8), name))
    return np.concatenate(rows)
