"""What one tick of `Locomotion` leaves for the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from counterpoise.control.stand import StandMemory
from counterpoise.control.walk.walk_state import WalkMemory

Doing = Literal["stand", "step"]


@dataclass(frozen=True, eq=False)
class LocomotionMemory:
    """Standing and stepping hand the body over to each other; each has its own memory."""

    doing: Doing = "stand"
    stand: StandMemory = field(default_factory=StandMemory)
    walk: WalkMemory = field(default_factory=WalkMemory)
    reached: int = 0  # places of the way that lie behind it
