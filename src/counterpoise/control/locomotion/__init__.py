"""One controller for everything on two feet (de Lasa 2011, chapter 5): `Locomotion`."""

from counterpoise.control.locomotion.dodge import DodgeTuning
from counterpoise.control.locomotion.hazards import Hazard
from counterpoise.control.locomotion.locomotion import Locomotion
from counterpoise.control.locomotion.locomotion_state import LocomotionMemory

__all__ = ["DodgeTuning", "Hazard", "Locomotion", "LocomotionMemory"]
