"""Retargeting: the movement of one figure on another, with its contacts kept."""

from counterpoise.motion.retarget.refit import RetargetTuning
from counterpoise.motion.retarget.report import RetargetReport
from counterpoise.motion.retarget.transfer import retarget, retarget_with_report

__all__ = ["RetargetReport", "RetargetTuning", "retarget", "retarget_with_report"]
