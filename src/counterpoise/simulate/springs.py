"""Spring: an external spring that pulls a point of a body along a path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.control.drag import Moving, Three, check_span, moving, three
from counterpoise.errors import BadValue


@dataclass(frozen=True, eq=False)
class Spring:
    """A disturbance: the force f = k (p_r - p) + c (p_r' - p') at a point of a body, at most `limit` [N].

    With `prop` it pulls a prop of the world, and `body` is not used: cp.Spring(prop=0, path=(1, 0, 1)).

    `path` is as in Drag: a place, (times, places) or a function of time. The force is recorded as an external force, so
    plain MuJoCo can replay it. It is evaluated at the start of each step: it is stable for damping up to about the
    moved mass over the time step.
    """

    body: str = ""
    point: Three = (0.0, 0.0, 0.0)  # in the body's frame [m]
    path: Any = (0.0, 0.0, 0.0)  # world [m]
    stiffness: float = 300.0  # k [N/m]
    damping: float = 30.0  # c [N s/m]
    limit: float = np.inf  # [N]
    start: float = -np.inf  # [s]
    end: float = np.inf  # [s]
    figure: int = 0
    prop: int | None = None  # number of the prop that is pulled, counted from 0

    def __post_init__(self) -> None:
        name = f"spring on {self.body or f'prop {self.prop}'}"
        if not self.body and self.prop is None:
            raise BadValue("a spring pulls a body or a prop: give one of both")
        object.__setattr__(self, "point", three(self.point, "a spring's point [m]"))
        if not (0.0 <= self.stiffness < np.inf and 0.0 <= self.damping < np.inf and self.limit > 0.0):
            raise BadValue(
                f"{name!r} needs stiffness >= 0 [N/m], damping >= 0 [N s/m] and limit > 0 [N]; got "
                f"{self.stiffness!r}, {self.damping!r}, {self.limit!r}"
            )
        check_span(name, self.start, self.end)
        moving(self.path, name)  # refuses a bad path

    def goal(self, time: float) -> tuple[Array, Array, Array]:
        """Returns where the point is pulled to at a time, with its velocity and acceleration, (3,) each."""
        return self._moving(time)

    @cached_property
    def _moving(self) -> Moving:
        return moving(self.path, f"spring on {self.body or f'prop {self.prop}'}")

    def wrench(
        self, time: float, position: Array, rotation: Array, com: Array, velocity: Array | None = None
    ) -> Array | None:
        """Returns [force; torque about the body's CoM]; `velocity` is [w; v] of the body, v at its frame's origin."""
        if not self.start - 1e-9 <= time < self.end - 1e-9:
            return None
        arm = rotation @ np.array(self.point)
        place, goal_velocity, _ = self.goal(time)
        speed = np.zeros(3) if velocity is None else velocity[3:] + np.cross(velocity[:3], arm)
        force = self.stiffness * (place - position - arm) + self.damping * (goal_velocity - speed)
        size = float(np.linalg.norm(force))
        if size > self.limit:
            force = force * (self.limit / size)
        return np.concatenate([force, np.cross(position + arm - com, force)])
