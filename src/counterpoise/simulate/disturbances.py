"""Disturbances: external forces on a body. Single pushes, a schedule of pushes, or random ones from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadValue


class Disturbance(Protocol):
    """Something that applies a force to one body for a while."""

    @property
    def body(self) -> str: ...

    @property
    def figure(self) -> int: ...  # which character, when there are several

    def wrench(self, time: float, position: Array, rotation: Array, com: Array) -> Array | None:
        """Returns [force; torque about the body's CoM], world frame, at `time`, or None if nothing acts then."""
        ...


@dataclass(frozen=True)
class Push:
    """A constant force [N], world frame, on a body from `start` for `duration` [s].

    It acts at `point` in the body's frame [m], or at the body's CoM.
    """

    body: str
    force: tuple[float, float, float]
    start: float
    duration: float
    point: tuple[float, float, float] | None = None
    figure: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "force", _three(self.force, "a push's force [N]"))
        if self.point is not None:
            object.__setattr__(self, "point", _three(self.point, "a push's point [m]"))
        if not (np.isfinite(self.start) and np.isfinite(self.duration) and self.duration > 0.0):
            raise BadValue(
                f"a push needs a finite start and a positive duration [s]; got {self.start}, {self.duration}"
            )

    @property
    def impulse(self) -> Array:
        """[N s]"""
        return np.array(self.force) * self.duration

    def wrench(self, time: float, position: Array, rotation: Array, com: Array) -> Array | None:
        if not self.start - 1e-9 <= time < self.start + self.duration - 1e-9:
            return None
        force = np.array(self.force)
        place = com if self.point is None else position + rotation @ np.array(self.point)
        return np.concatenate([force, np.cross(place - com, force)])


def push_schedule(
    body: str, forces: Sequence[ArrayLike], start: float, every: float, duration: float = 0.1
) -> list[Push]:
    """Returns pushes of the same body with these forces, one every `every` seconds from `start`."""
    return [Push(body, _three(f, "a push's force [N]"), start + i * every, duration) for i, f in enumerate(forces)]


def random_pushes(
    bodies: str | Sequence[str],
    force: float | tuple[float, float],
    seconds: float,
    every: tuple[float, float] = (2.0, 4.0),
    duration: float = 0.1,
    start: float = 1.0,
    vertical: float = 0.0,
    seed: int = 0,
) -> list[Push]:
    """Returns pushes of random direction, force (0 to `force`, or within a range [N]), body and time between them.

    Equal seeds give equal pushes. `vertical` is the largest angle of a push out of the horizontal plane [rad].
    """
    low, high = (0.0, float(force)) if isinstance(force, int | float) else (float(force[0]), float(force[1]))
    if not 0.0 <= low <= high or not 0.0 < every[0] <= every[1]:
        raise BadValue(f"random pushes need 0 <= force range and 0 < spacing range; got {force}, {every}")
    rng = np.random.default_rng(seed)
    names = [bodies] if isinstance(bodies, str) else list(bodies)
    pushes: list[Push] = []
    time = start
    while time + duration < seconds:
        heading, tilt, size = (
            rng.uniform(-np.pi, np.pi),
            rng.uniform(-vertical, vertical),
            rng.uniform(low, high),
        )
        way = (np.cos(heading) * np.cos(tilt), np.sin(heading) * np.cos(tilt), np.sin(tilt))
        body = names[int(rng.integers(len(names)))]
        pushes.append(Push(body, (size * way[0], size * way[1], size * way[2]), float(time), duration))
        time += rng.uniform(*every)
    return pushes


def check_disturbances(disturbances: Sequence[Disturbance], figures: Sequence[Character], props: int = 0) -> None:
    """Refuses disturbances of figures, bodies or props that do not exist; `props` is how many there are."""
    for one in disturbances:
        prop = getattr(one, "prop", None)
        if prop is not None:
            if not 0 <= prop < props:
                raise BadValue(f"this spring is for prop {prop}; there are {props} (counted from 0)")
            continue
        if not 0 <= one.figure < len(figures):
            raise BadValue(f"this push is for figure {one.figure}; there are {len(figures)} (counted from 0)")
        figures[one.figure].body_id(one.body)


def _three(values: ArrayLike, what: str) -> tuple[float, float, float]:
    array = np.asarray(values, float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise BadValue(f"{what} is three finite numbers; got {values!r}")
    return (float(array[0]), float(array[1]), float(array[2]))
