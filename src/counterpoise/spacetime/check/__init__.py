"""Is a motion physically possible? Forces nobody gives, skating, floating, limits and strength, in plain words."""

from counterpoise.spacetime.check.report import CheckReport, CheckTuning, check_motion

__all__ = ["CheckReport", "CheckTuning", "check_motion"]
