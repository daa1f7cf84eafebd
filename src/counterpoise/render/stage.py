"""Takes made into scenes: the posed model with its overlays at any time, and the camera that sees it."""

from __future__ import annotations

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.render import palette
from counterpoise.render.camera import AZIMUTH, ELEVATION, FIELD_OF_VIEW, Camera, frame_points, smoothed
from counterpoise.render.model_solids import ModelSolids
from counterpoise.render.overlays import arrow, disc, marker, trail
from counterpoise.render.scene import DrawnScene, Look, joined
from counterpoise.render.skinned import SkinnedFigure
from counterpoise.render.take import Take


class DrawnStage:
    """Makes scenes of a take at any time, also between its rows; it holds MuJoCo's data of the model."""

    def __init__(self, take: Take, look: Look | None = None) -> None:
        self.take = take
        self.model_solids = ModelSolids.of(take.model, take.tint, look)
        self._skins = [SkinnedFigure(character, first, take.tint) for character, first in take.smooth]
        hidden = [int(body) for skin in self._skins for body in skin.bodies]
        self._shapes = ModelSolids.of(take.model, take.tint, look, hidden) if hidden else self.model_solids
        self._data = mujoco.MjData(take.model)
        self._ghost = DrawnStage(take.ghost, look) if isinstance(take.ghost, Take) else None

    def pose(self, time: float) -> Array:
        """Returns qpos (nq,) at `time`, interpolated along the shortest rotation; held beyond the ends."""
        take, model = self.take, self.take.model
        row = int(np.clip(np.searchsorted(take.times, time, side="right") - 1, 0, len(take.times) - 1))
        if row == len(take.times) - 1 or time <= take.times[row]:
            return take.qpos[row].copy()
        gap = take.times[row + 1] - take.times[row]
        speed, pose = np.zeros(model.nv), take.qpos[row].copy()
        mujoco.mj_differentiatePos(model, speed, gap, take.qpos[row], take.qpos[row + 1])
        mujoco.mj_integratePos(model, pose, speed, time - take.times[row])
        return pose

    def posed(self, time: float) -> mujoco.MjData:
        """Returns MuJoCo's data with the kinematics of `time`; the next call overwrites it."""
        self._data.qpos[:] = self.pose(time)
        mujoco.mj_kinematics(self.take.model, self._data)
        return self._data

    def solids(self, time: float, part: str = "all") -> DrawnScene:
        """Returns the solids of the model and the props at `time`; `part` as in `ModelSolids.placed`."""
        data = self.posed(time)
        parts = [self._shapes.placed(data.geom_xpos, data.geom_xmat, part)]
        if self.take.props is not None and part != "moving":
            parts.append(self.take.props)
        if part != "scenery":
            turns = data.xmat.reshape(-1, 3, 3)
            parts += [skin.scene(data.xpos, turns, parts[0].look) for skin in self._skins]
        return parts[0] if len(parts) == 1 else joined(parts)

    def overlays(self, time: float) -> list[DrawnScene]:
        """Returns markers, arrows and trails at `time`."""
        take, parts = self.take, []
        row = int(np.argmin(np.abs(take.times - time)))
        for name, path in take.trails.items():
            colour = palette.COM if name == "com" else palette.TRAIL
            parts.append(trail(path[: row + 1], colour))
        listed = take.arrows(time) if callable(take.arrows) else (take.arrows[row] if take.arrows else ())
        parts += [arrow(start, vector, *rest) for start, vector, *rest in listed]
        if take.com is not None:
            parts.append(marker(between(take.times, take.com, time)))
        if take.cop is not None:
            parts.append(disc(take.cop[row]))
        return parts

    def scene(self, time: float) -> DrawnScene:
        """Returns everything at `time`: world, figure, ghost, overlays, and a ground if the model has none."""
        parts = [self.solids(time)]
        if self._ghost is not None:
            ghost = self._ghost.solids(time, "moving").moved(self.take.ghost_offset)
            parts.append(ghost.as_ghost(self._ghost.take.tint or palette.GHOST))
        return joined(parts + self.overlays(time)).with_default_ground()

    def centre(self, time: float) -> Array:
        """Returns the centre of mass (3,) of all bodies that move."""
        model, data = self.take.model, self.posed(time)
        mass = np.where(model.body_weldid != 0, model.body_mass, 0.0)
        if mass.sum() <= 0:
            return np.asarray(data.xpos[1:].mean(axis=0) if model.nbody > 1 else np.zeros(3))
        return np.asarray(mass @ data.xipos / mass.sum())

    def corners(self, time: float) -> Array:
        """Returns the corners (n, 3) of the bounding boxes of all drawn geoms that move (of all, if none does)."""
        model, data = self.take.model, self.posed(time)
        moving = self.model_solids.moving
        geoms = self.model_solids.geoms[moving if moving.any() else slice(None)]
        if len(geoms) == 0:
            return np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        boxes = model.geom_aabb[geoms]
        local = boxes[:, None, :3] + signs * boxes[:, None, 3:]
        turned = np.einsum("gij,gkj->gki", data.geom_xmat[geoms].reshape(-1, 3, 3), local)
        corners = (turned + data.geom_xpos[geoms][:, None]).reshape(-1, 3)
        if self._ghost is not None:
            corners = np.concatenate([corners, self._ghost.corners(time) + self.take.ghost_offset])
        return corners

    def sampled_times(self, most: int = 48) -> Array:
        """Returns up to `most` of the take's times, evenly spread."""
        times = self.take.times
        return times if len(times) <= most else times[np.linspace(0, len(times) - 1, most).astype(int)]


class CameraPath:
    """The camera over a whole take: fixed and seeing all of it, or following the figure smoothly.

    A following camera keeps its direction, distance and height. It moves along the ground with the centre of mass,
    averaged over half a second, so that steps and landings do not shake the picture.
    """

    def __init__(
        self,
        stage: DrawnStage,
        kind: str | Camera = "track",
        aspect: float = 4 / 3,
        azimuth: float = AZIMUTH,
        elevation: float = ELEVATION,
        field_of_view: float = FIELD_OF_VIEW,
        margin: float = 0.1,
    ) -> None:
        self._times, self._path = np.zeros(1), np.zeros((1, 3))
        if isinstance(kind, Camera):
            self._camera = kind
            return
        if kind not in ("track", "fixed"):
            raise BadValue(f"camera must be 'track', 'fixed' or a Camera, got {kind!r}", given=kind)
        times = stage.sampled_times()
        if kind == "track":
            self._times = stage.sampled_times(2000)
            centres = np.array([stage.centre(t) for t in self._times])
            self._path = smoothed(centres, self._times)
            self._path[:, 2] = 0.0
        cloud = np.concatenate([stage.corners(t) - self._at(t) for t in times])
        self._camera = frame_points(cloud, azimuth, elevation, aspect, margin=margin, field_of_view=field_of_view)

    def _at(self, time: float) -> Array:
        return between(self._times, self._path, time)

    def camera(self, time: float) -> Camera:
        """Returns the camera at `time`."""
        return self._camera.moved(self._at(time))


def between(times: Array, path: Array, time: float) -> Array:
    """Returns a path (n, 3) interpolated at `time`, held beyond its ends."""
    return np.array([np.interp(time, times, path[:, j]) for j in range(path.shape[1])])
