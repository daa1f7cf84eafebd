"""The state of a walk between two ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.control.walk.planes import FLAT_GROUND
from counterpoise.control.whole_body import WholeBodyMemory
from counterpoise.plan import FootstepPlan

Phase = Literal["stand", "shift", "double", "single", "fallen"]


class FootState(NamedTuple):
    """How a foot lies on the ground."""

    landed: float = -1e3  # [s] when it landed
    on_heel: bool = False  # it has landed on its heel and is not flat yet
    flat: float = -1e3  # [s] since when it has been flat
    released: float = 0.0  # 0 to 1: how far its heel is let go
    goal_pitch: float = 0.0  # [rad] of the last tick
    has_borne: bool = False  # since it landed


@dataclass(frozen=True, eq=False)
class WalkMemory:
    """What one tick leaves for the next. Feet are counted left 0, right 1."""

    time: float | None = None  # [s] of the last tick; None before the first
    phase: Phase = "stand"
    stance: int = 0  # the foot that carries, or will carry, the body
    began: float = 0.0  # [s] when this step, or this phase of standing, began: the last landing
    lifted: float = 0.0  # [s] when the swinging foot left the ground
    double: float = 0.1  # [s] duration of this step's double support
    lift_pitch: float = 0.0  # [rad] of the swinging foot when it left
    feet: tuple[FootState, FootState] = (FootState(), FootState())
    pressure: Array = field(default_factory=lambda: np.zeros(2))  # reference of the centre of pressure, world [m]
    foothold: Array = field(default_factory=lambda: np.zeros(2))  # where the swinging foot will land, world [m]
    left: float = 0.0  # [s] until it lands
    ground: Array = field(default_factory=lambda: FLAT_GROUND)  # (2, 5) under each foot, or under its foothold
    left_ground: Array = field(default_factory=lambda: FLAT_GROUND[0])  # (5,) that the swinging foot left
    felt: Array = field(default_factory=lambda: np.zeros(3))  # (3,) by which the ground under the stance foot is
    # higher [m], and steeper along x and y, than the terrain says
    chosen: Array = field(default_factory=lambda: np.full(5, np.nan))  # (5,) foothold where its sole fits, the room
    # to the right and to the left of it, and the length of the step after [m]; NaN: any
    free: Array = field(default_factory=lambda: np.full(2, np.nan))  # (2,) where the pendulum wanted it then
    planted: Array = field(default_factory=lambda: np.zeros((0, 3)))  # (p, 3) where held points are held, world [m]
    held: Flags = field(default_factory=lambda: np.zeros(0, bool))  # (p,) flags of the last tick
    speed: float = 0.0  # [m/s] on its way to the one asked for
    aside: float = 0.0  # [m/s] to the left, on its way to the one asked for
    turn: float = 0.0  # [rad/s] of the heading
    trim: float = 0.0  # [m/s] added, so that the real speed is the one asked for
    highest: float = 0.0  # [m] height of the swinging sole, in this swing
    lift_trim: float = 0.0  # [m] added, so that the sole rises as high as asked for
    last_speed: float | None = None  # [m/s] measured over the last step
    heading: float = 0.0  # [rad] on its way to the one asked for
    line: Array = field(default_factory=lambda: np.zeros(2))  # a place on the line that is walked, world [m]
    started: Array = field(default_factory=lambda: np.zeros(2))  # where the CoM was when this step began, world [m]
    capture: Array | None = None  # (2,) the capture point of the last tick, world [m]
    drift: Array = field(default_factory=lambda: np.zeros(2))  # (2,) its velocity [m/s]
    spin: tuple[float, float] | None = None  # the angular momentum about x and y at the last tick [N m s]
    spin_rate: tuple[float, float] = (0.0, 0.0)  # its rate, smoothed [N m]
    stride: float = 0.25  # phase of the stride, 0 to 1; 0: the left foot lands
    steps: int = 0
    cost: float = 0.0  # of the last plan
    catches: bool = False  # this step catches a fall
    longest: float = math.inf  # [s] of this step: after a catch steps become longer again one by one
    preview: FootstepPlan | None = None  # the next steps, where one step does not suffice for that
    alarmed: float = 0.0  # [s] when the first of them was planned
    solver: WholeBodyMemory = field(default_factory=WholeBodyMemory)
    torque: Array | None = None
    cause: str = ""  # of a fall
