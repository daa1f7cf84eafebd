"""Stills, filmstrips, videos and plots of motions and recordings, by a ray caster of our own: no GL, no display."""

from counterpoise.render import palette
from counterpoise.render.camera import Camera, frame_points
from counterpoise.render.comparison import Comparison, comparison_picture, comparison_video
from counterpoise.render.draw import draw
from counterpoise.render.model_solids import ModelSolids, scene_from_model
from counterpoise.render.overlays import arrow, disc, marker, solid, trail
from counterpoise.render.pictures import filmstrip, still
from counterpoise.render.props import bars_of, bars_scene, props_of, terrain_scene
from counterpoise.render.scene import DrawnScene, Look, joined
from counterpoise.render.sources import as_take, take_of
from counterpoise.render.stage import CameraPath, DrawnStage
from counterpoise.render.take import Take
from counterpoise.render.video import video, write_video

__all__ = [
    "Camera",
    "CameraPath",
    "Comparison",
    "DrawnScene",
    "DrawnStage",
    "Look",
    "ModelSolids",
    "Take",
    "arrow",
    "as_take",
    "bars_of",
    "bars_scene",
    "comparison_picture",
    "comparison_video",
    "disc",
    "draw",
    "filmstrip",
    "frame_points",
    "joined",
    "marker",
    "palette",
    "props_of",
    "scene_from_model",
    "solid",
    "still",
    "take_of",
    "terrain_scene",
    "trail",
    "video",
    "write_video",
]  # fmt: skip
