"""A take: the poses of a model over time, and what is drawn over them. Pictures and videos are made of takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.render.palette import RGBA
from counterpoise.render.scene import DrawnScene

Arrow = tuple[Any, ...]  # start (3,), vector (3,) [m], and optionally rgba
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
    smooth: tuple[tuple[Character, int], ...] = ()  # figures drawn as smooth bodies, and their first body in the model
    props: DrawnScene | None = None  # what stands in the world beside the figure: terrain, bars

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
