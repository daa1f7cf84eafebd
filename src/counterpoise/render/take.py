"""A take: something that can be drawn. Motions and recordings become takes; pictures are made of takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.errors import BadValue
from counterpoise.render import palette
from counterpoise.render.camera import AZIMUTH, ELEVATION, FIELD_OF_VIEW, Camera, frame_points, smoothed
from counterpoise.render.palette import RGBA
from counterpoise.render.scene import Look, Scene, Wardrobe, arrow, disc, joined, marker, trail

Array = np.ndarray[Any, Any]
Arrow = tuple[Any, ...]  # start (3,), vector (3,) [m], and if wanted rgba
Arrows = Callable[[float], Sequence[Arrow]] | Sequence[Sequence[Arrow]]


@dataclass(frozen=True, eq=False)
class Take:
    """Poses of one model over time, and what is drawn over them."""

    model: mujoco.MjModel  # the whole world, or one body alone
    times: Array  # (n,) [s], increasing
    qpos: Array  # (n, nq)
    com: Array | None = None  # (n, 3) centre of mass, drawn as a ball [m]
    cop: Array | None = None  # (n, 3) centre of pressure, drawn as a disc; nan rows mean no contact
    arrows: Arrows | None = None  # a function of time, or one list a row, of (start, vector[, rgba])
    trails: Mapping[str, Array] = field(default_factory=dict)  # name -> (n, 3) paths, drawn up to now
    ghost: Array | Take | None = None  # reference poses (n, nq) of the same model, or another take
    ghost_offset: tuple[float, float, float] = (0.0, 0.0, 0.0)  # where the ghost stands beside the figure [m]
    tint: RGBA | None = None  # one colour for all that moves

    def __post_init__(self) -> None:
        times = np.atleast_1d(np.array(self.times, dtype=float))
        qpos = np.atleast_2d(np.array(self.qpos, dtype=float))
        n, nq = len(times), self.model.nq
        if times.ndim != 1 or n == 0 or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise BadValue("a take needs finite times (n,) that increase, n >= 1", shape=times.shape)
        if qpos.shape != (n, nq):
            raise BadValue(
                f"qpos must have shape ({n}, {nq}): one row a time, as the model has it; got {qpos.shape}",
                given=qpos.shape,
            )
        if not np.isfinite(qpos).all():
            row = int(np.flatnonzero(~np.isfinite(qpos).all(axis=1))[0])
            raise BadValue(f"qpos is not finite at t = {times[row]:g} s (row {row})", row=row)
        self._keep("times", times)
        self._keep("qpos", qpos)
        for name in ("com", "cop"):
            if (value := getattr(self, name)) is not None:
                self._keep(name, _path(name, value, n))
        self._keep("trails", {name: _path(f"trail {name!r}", path, n) for name, path in self.trails.items()})
        if isinstance(self.arrows, Sequence) and len(self.arrows) != n:
            raise BadValue(f"arrows must hold one list a time: {n}, got {len(self.arrows)}", given=len(self.arrows))
        if self.ghost is not None and not isinstance(self.ghost, Take):
            self._keep("ghost", Take(self.model, times, self.ghost))

    def _keep(self, name: str, value: Any) -> None:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(self, name, value)

    @property
    def duration(self) -> float:
        return float(self.times[-1] - self.times[0])


def _path(name: str, value: ArrayLike, n: int) -> Array:
    path = np.array(value, dtype=float)
    if path.shape != (n, 3):
        raise BadValue(f"{name} must have shape ({n}, 3), one row a time; got {path.shape}", given=path.shape)
    path.flags.writeable = False
    return path


class Stage:
    """Poses a take at any time between its rows and hands out scenes; keeps the model's work space."""

    def __init__(self, take: Take, look: Look | None = None) -> None:
        self.take = take
        self.wardrobe = Wardrobe.of(take.model, take.tint, look)
        self._data = mujoco.MjData(take.model)
        self._ghost = Stage(take.ghost, look) if isinstance(take.ghost, Take) else None

    def pose(self, time: float) -> Array:
        """qpos (nq,) at `time`, along the shortest turn between two rows; held beyond the ends."""
        take, model = self.take, self.take.model
        row = int(np.clip(np.searchsorted(take.times, time, side="right") - 1, 0, len(take.times) - 1))
        if row == len(take.times) - 1 or time <= take.times[row]:
            return take.qpos[row].copy()
        gap = take.times[row + 1] - take.times[row]
        speed, pose = np.zeros(model.nv), take.qpos[row].copy()
        mujoco.mj_differentiatePos(model, speed, gap, take.qpos[row], take.qpos[row + 1])
        mujoco.mj_integratePos(model, pose, speed, time - take.times[row])
        return pose

    def _posed(self, time: float) -> mujoco.MjData:
        self._data.qpos[:] = self.pose(time)
        mujoco.mj_kinematics(self.take.model, self._data)
        return self._data

    def solids(self, time: float, part: str = "all") -> Scene:
        data = self._posed(time)
        return self.wardrobe.dress(data.geom_xpos, data.geom_xmat, part)

    def overlays(self, time: float) -> list[Scene]:
        """Markers, arrows and trails at `time`."""
        take, parts = self.take, []
        row = int(np.argmin(np.abs(take.times - time)))
        for name, path in take.trails.items():
            colour = palette.COM if name == "com" else palette.TRAIL
            parts.append(trail(path[: row + 1], colour))
        listed = take.arrows(time) if callable(take.arrows) else (take.arrows[row] if take.arrows else ())
        parts += [arrow(start, vector, *rest) for start, vector, *rest in listed]
        if take.com is not None:
            parts.append(marker(_between(take.times, take.com, time)))
        if take.cop is not None:
            parts.append(disc(take.cop[row]))
        return parts

    def scene(self, time: float) -> Scene:
        """Everything at `time`: world, figure, ghost, overlays, and a ground if the model has none."""
        parts = [self.solids(time)]
        if self._ghost is not None:
            ghost = self._ghost.solids(time, "moving").moved(self.take.ghost_offset)
            parts.append(ghost.as_ghost(self._ghost.take.tint or palette.GHOST))
        return joined(parts + self.overlays(time)).with_default_ground()

    def centre(self, time: float) -> Array:
        """Centre of mass (3,) of what moves."""
        model, data = self.take.model, self._posed(time)
        mass = np.where(model.body_weldid != 0, model.body_mass, 0.0)
        if mass.sum() <= 0:
            return np.asarray(data.xpos[1:].mean(axis=0) if model.nbody > 1 else np.zeros(3))
        return np.asarray(mass @ data.xipos / mass.sum())

    def corners(self, time: float) -> Array:
        """Corners (n, 3) of the bounding boxes of all drawn geoms that move (of all, if none does)."""
        model, data = self.take.model, self._posed(time)
        moving = self.wardrobe.moving
        geoms = self.wardrobe.geoms[moving if moving.any() else slice(None)]
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
        times = self.take.times
        return times if len(times) <= most else times[np.linspace(0, len(times) - 1, most).astype(int)]


class Operator:
    """Holds the camera over a whole take: fixed on all of it, or following the figure smoothly.

    A following camera keeps its direction, its distance and its height; it moves along the ground with the
    centre of mass averaged over half a second, so steps and landings do not shake the picture.
    """

    def __init__(
        self,
        stage: Stage,
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
        return _between(self._times, self._path, time)

    def camera(self, time: float) -> Camera:
        return self._camera.moved(self._at(time))


def _between(times: Array, path: Array, time: float) -> Array:
    """A path (n, 3) read between its rows, held beyond its ends."""
    return np.array([np.interp(time, times, path[:, j]) for j in range(path.shape[1])])
