"""What a body is: Character, State, Snapshot, kinematics, shapes, limits, the library of figures, loading."""

from counterpoise.character.character import Character
from counterpoise.character.joints import Joint
from counterpoise.character.limits import BallLimit, JointLimits
from counterpoise.character.roles import ContactPoint, Foot
from counterpoise.character.state import State
from counterpoise.rooms import answer_calls

__all__ = ["BallLimit", "Character", "ContactPoint", "Foot", "Joint", "JointLimits", "State"]

answer_calls(__name__, "counterpoise.character.library", "character")
