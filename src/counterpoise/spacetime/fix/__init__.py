"""The least change that makes a captured motion physically possible."""

from counterpoise.spacetime.fix.fixing import fix_motion
from counterpoise.spacetime.fix.playing_speed import PlayingSpeed, at_true_speed, playing_speed
from counterpoise.spacetime.fix.result import FixResult
from counterpoise.spacetime.fix.tuning import FixTuning

__all__ = ["FixResult", "FixTuning", "PlayingSpeed", "at_true_speed", "fix_motion", "playing_speed"]
