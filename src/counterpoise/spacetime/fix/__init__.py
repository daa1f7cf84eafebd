"""The least change that makes a captured motion physically possible."""

from counterpoise.spacetime.fix.fixing import fix_motion
from counterpoise.spacetime.fix.result import FixResult
from counterpoise.spacetime.fix.tuning import FixTuning

__all__ = ["FixResult", "FixTuning", "fix_motion"]
