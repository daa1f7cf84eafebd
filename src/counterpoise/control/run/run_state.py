"""The state of a run between two ticks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.control.walk.planes import FLAT_GROUND
from counterpoise.control.walk.walk_state import FootState
from counterpoise.control.whole_body import WholeBodyMemory

PARTS = 5  # of a stance, in which accelerations beyond the model are measured
RunPhase = Literal["start", "stance", "flight", "fallen"]


class Swing(NamedTuple):
    """A foot in the air."""

    lifted: float = 0.0  # [s] when it left the ground
    pitch: float = 0.0  # [rad] then
    place: Array = np.zeros(2)  # of its ankle then, world [m]


@dataclass(frozen=True, eq=False)
class RunMemory:
    """What one tick leaves for the next. Feet are counted left 0, right 1."""

    time: float | None = None  # [s] of the last tick; None before the first
    phase: RunPhase = "start"
    stance: int = 0  # the foot that carries the body; in flight the one that did
    began: float = 0.0  # [s] when it landed
    duration: float = 0.25  # [s] of this stance
    landing: float = 0.0  # [m] height of the CoM at which the flight under way ends
    ahead: float = 0.0  # [m] of the CoM, that the next foot is to land
    due: float = 0.0  # [s] when the next foot is to land
    late: float = 0.0  # [s] by which feet landed later than planned, in the mean
    left: float = 0.0  # [s] until the next landing
    feet: tuple[FootState, FootState] = (FootState(), FootState())
    swings: tuple[Swing, Swing] = (Swing(), Swing())
    shift: Array = field(default_factory=lambda: np.zeros(2))  # of the centre of pressure, from its usual place [m]
    planted: Array = field(default_factory=lambda: np.zeros((0, 3)))  # (p, 3) where held points are held, world [m]
    held: Flags = field(default_factory=lambda: np.zeros(0, bool))  # (p,) flags of the last tick
    ground: Array = field(default_factory=lambda: FLAT_GROUND)  # (2, 5) it runs on level ground
    asked: float = 0.0  # [m/s]
    speed: float = 0.0  # [m/s] on its way to the one asked for
    trim: float = 0.0  # [m/s] added, so that the real speed is the one asked for
    added: Array = field(default_factory=lambda: np.zeros((2, PARTS)))  # [m/s^2] to the model's acceleration, measured
    part: int = -1  # of the stance that is being measured
    missing: Array = field(default_factory=lambda: np.zeros(3))  # of that part: speeds not explained, time [m/s, s]
    expected: Array = field(default_factory=lambda: np.zeros(2))  # velocity at this tick by the model, world [m/s]
    last_speed: float | None = None  # [m/s] measured over the last step
    heading: float = 0.0  # [rad] on its way to the one asked for
    turn: float = 0.0  # [rad/s] of the heading
    line: Array = field(default_factory=lambda: np.zeros(2))  # a place on the line that is run, world [m]
    started: Array = field(default_factory=lambda: np.zeros(2))  # where the CoM was at the last landing, world [m]
    stride: float = 0.25  # phase of the stride, 0 to 1; 0: the left foot lands
    steps: int = 0
    gaps: Array = field(default_factory=lambda: np.zeros((0, 2)))  # where no ankle may land, along the heading [m]
    looked: int = -1  # steps when it last looked for them
    hurry: float = 0.0  # [m/s] by which it is faster in front of them
    stretch: float = 1.0  # [usual flights] of the next flight, over them
    solver: WholeBodyMemory = field(default_factory=WholeBodyMemory)
    torque: Array | None = None
    cause: str = ""  # of a fall
