"""The least change that makes a captured motion physically possible."""

from counterpoise.spacetime.fix.mend import FixResult, FixTuning, fix_motion

__all__ = ["FixResult", "FixTuning", "fix_motion"]
