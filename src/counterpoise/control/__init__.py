"""Controllers: from what a body is doing to the torques of its joints."""

from counterpoise.control.basic import Action, Controller, HoldPose, Passive

__all__ = ["Action", "Controller", "HoldPose", "Passive"]
