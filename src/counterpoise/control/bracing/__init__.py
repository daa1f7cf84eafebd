"""Bracing in a fall: arms that brake, a neck that keeps the head off the ground."""

from counterpoise.control.bracing.falling import BraceTuning, brace_torque, falling_torque

__all__ = ["BraceTuning", "brace_torque", "falling_torque"]
