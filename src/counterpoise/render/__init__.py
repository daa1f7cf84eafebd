"""Stills, filmstrips and videos of motions and recordings by our own ray caster: no GL, no display."""

from counterpoise.render import palette
from counterpoise.render.camera import Camera, frame_points
from counterpoise.render.draw import draw
from counterpoise.render.pictures import filmstrip, still
from counterpoise.render.scene import (
    Look,
    Scene,
    Wardrobe,
    arrow,
    disc,
    joined,
    marker,
    scene_from_model,
    solid,
    trail,
)
from counterpoise.render.sources import as_take, take_of
from counterpoise.render.take import Operator, Stage, Take
from counterpoise.render.video import video, write_video

__all__ = [
    "Camera",
    "Look",
    "Operator",
    "Scene",
    "Stage",
    "Take",
    "Wardrobe",
    "arrow",
    "as_take",
    "disc",
    "draw",
    "filmstrip",
    "frame_points",
    "joined",
    "marker",
    "palette",
    "scene_from_model",
    "solid",
    "still",
    "take_of",
    "trail",
    "video",
    "write_video",
]
