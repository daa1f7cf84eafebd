"""Checks whether a motion is physically possible: residual forces, skating, floating, joint limits and strength."""

from counterpoise.spacetime.check.report import CheckReport, check_motion
from counterpoise.spacetime.check.support import HeldBody
from counterpoise.spacetime.check.tuning import CheckTuning

__all__ = ["CheckReport", "CheckTuning", "HeldBody", "check_motion"]
