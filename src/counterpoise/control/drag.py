"""Drag: the joints draw a point of a body along a path (Macchietto 2008, section 6.1; 2009, section 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.motion.curves import VectorCurve
from counterpoise.objectives import Objective, Rows
from counterpoise.objectives.base import capped, check_weight
from counterpoise.objectives.setpoint import check_gains

if TYPE_CHECKING:
    from counterpoise.objectives import Stance

Moving = Callable[[float], tuple[Array, Array, Array]]  # time [s] -> place, velocity, acceleration, (3,) each, world
Three = tuple[float, float, float]
RATE_STEP = 1e-3  # [s] of the difference that gives a path's velocity where it returns places alone


@dataclass(frozen=True, eq=False)
class Drag(Objective):
    """p'' = k_p (p_r - p) + k_v (p_r' - p') + p_r'' at a point of a body (2008, eq. 6.1, 6.2), by the joints' torques.

    `path` is a place [m]; or (times, places), joined by a smooth curve and held at its ends; or a function of time that
    returns a place, alone or with its velocity and acceleration. Before `start` and after `end` it has no rows. With
    `stiffness=0` it only damps the point; the thesis steadies a hand in this way. It may be used among the `extra` of a
    controller or in a level of WholeBody; several at once need different names.
    """

    body: str
    point: Three = (0.0, 0.0, 0.0)  # in the body's frame [m]
    path: Any = (0.0, 0.0, 0.0)  # world [m]
    stiffness: float = 100.0  # k_p [1/s^2]
    damping: float | None = None  # k_v [1/s]; None: critical, 2 sqrt(k_p)
    limit: float | None = 60.0  # [m/s^2] largest acceleration that is asked for; None: no limit
    start: float = -np.inf  # [s]
    end: float = np.inf  # [s]
    weight: float = 1000.0  # as Stand's height and, when calm, its balance: so a goal out of reach causes no fall
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", f"drag {self.body}")
        check_weight(self)
        check_gains(self.name, self.stiffness, self.damping, self.limit)
        object.__setattr__(self, "point", three(self.point, "a drag's point [m]"))
        check_span(self.name, self.start, self.end)
        _ = self._path  # raises now where it is no path

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        if not self.start <= snapshot.time <= self.end:
            snapshot.character.body_id(self.body)
            return Rows(np.zeros((0, snapshot.character.nv)), np.zeros(0))
        place, velocity, acceleration = self.goal(snapshot.time)
        J = snapshot.jacobian(self.body, self.point)
        k_v = 2.0 * np.sqrt(self.stiffness) if self.damping is None else self.damping
        wanted = self.stiffness * (place - snapshot.position(self.body, self.point))
        wanted = wanted + k_v * (velocity - J @ snapshot.v) + acceleration
        return Rows(J, capped(wanted, self.limit) - snapshot.drift(self.body, self.point))

    def goal(self, time: float) -> tuple[Array, Array, Array]:
        """Returns where the point should be at a time, and its velocity and acceleration, (3,) each."""
        return self._path(time)

    @cached_property
    def _path(self) -> Moving:
        return moving(self.path, self.name)


def moving(path: Any, name: str) -> Moving:
    """Returns a path, given in any of its forms, as a function of time: place, velocity and acceleration."""
    if callable(path):
        return _called(path, name)
    if isinstance(path, (tuple, list)) and len(path) == 2 and np.ndim(path[0]) == 1:
        times, places = np.asarray(path[0], float), np.asarray(path[1], float)
        if places.shape != (len(times), 3) or len(times) == 0 or not np.isfinite(places).all():
            raise BadValue(
                f"the path of {name!r} is (times, places), (n,) and (n, 3) finite numbers; got shapes {times.shape}, "
                f"{places.shape}"
            )
        if not (np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
            raise BadValue(f"the times of the path of {name!r} must be finite and increase")
        if len(times) == 1:
            return _still(places[0])
        curve = VectorCurve(times, places, "rest")
        return lambda time: tuple(curve(time))  # type: ignore[return-value]
    return _still(np.array(three(path, f"the path of {name!r}: a place [m], (times, places) or a function of time;")))


def _still(place: Array) -> Moving:
    rest = np.zeros(3)
    return lambda time: (place, rest, rest)


def _called(path: Callable[[float], Any], name: str) -> Moving:
    step = RATE_STEP

    def at(time: float) -> tuple[Array, Array, Array]:
        given = path(time)
        if isinstance(given, tuple) and len(given) == 3 and np.ndim(given[0]) == 1:
            place, velocity, acceleration = (np.asarray(x, float) for x in given)
        else:
            place = np.asarray(given, float)
            before, after = np.asarray(path(time - step), float), np.asarray(path(time + step), float)
            velocity = (after - before) / (2.0 * step)
            acceleration = np.zeros(3)
        if place.shape != (3,) or not (np.isfinite(place).all() and np.isfinite(velocity).all()):
            raise BadValue(f"the path of {name!r} must return three finite numbers [m]; at {time:.3f} s: {given!r}")
        return place, velocity, acceleration

    return at


def three(values: Any, what: str) -> Three:
    """Returns three finite numbers; raises BadValue, naming what they are, where they are not."""
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise BadValue(f"{what} is three finite numbers; got {values!r}")
    return (float(array[0]), float(array[1]), float(array[2]))


def check_span(name: str, start: float, end: float) -> None:
    """Raises BadValue unless start is before end."""
    if not start < end:
        raise BadValue(f"{name!r} needs start < end [s]; got {start!r}, {end!r}")
