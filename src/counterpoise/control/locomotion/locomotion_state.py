"""What one tick of `Locomotion` leaves for the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from counterpoise.arrays import Array
from counterpoise.control.locomotion.dodge import Dodge
from counterpoise.control.perform.jump import Jump, JumpMemory
from counterpoise.control.perform.jump_plan import JumpWish
from counterpoise.control.run.run_state import RunMemory
from counterpoise.control.stand import StandMemory
from counterpoise.control.walk.walk_state import WalkMemory

Runs = Literal["", "run", "hop_left", "hop_right"]
Doing = Literal["stand", "step", "run", "jump"]


@dataclass(frozen=True, eq=False)
class LocomotionMemory:
    """Standing, stepping and running hand the body over to each other; each has its own memory."""

    doing: Doing = "stand"
    stand: StandMemory = field(default_factory=StandMemory)
    walk: WalkMemory = field(default_factory=WalkMemory)
    runs: Runs = ""  # which kind of run it does: `run` is its memory
    run: RunMemory = field(default_factory=RunMemory)
    reached: int = 0  # places of the way that lie behind it
    dodge: Dodge | None = None  # out of the way of something that flies
    looked: float = -1e3  # [s] when it last looked for such things
    offset: float = 0.0  # [rad] by which it faces elsewhere than asked, around what stands in its way
    stops: bool = False  # it stands still because every way is blocked
    looked_around: float = -1e3  # [s] when it last looked for ways
    edge: Array = field(default_factory=lambda: np.full(2, np.nan))  # a high one ahead: place, height [m]; NaN: none
    looked_ahead: float = -1e3  # [s] when it last looked for one
    jump: Jump | None = None  # that was asked for and is not done yet
    edge_jump: Jump | None = None  # onto a high edge, that is not done yet
    leap: Jump | None = None  # the one of both that it does now
    jumping: JumpMemory | None = None  # of that jump
    last_jump: JumpWish | None = None  # the one asked for last: it is done once
