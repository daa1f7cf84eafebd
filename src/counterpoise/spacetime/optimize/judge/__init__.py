"""Judges an optimised motion between its knots: physics, strength, ground, overlap, joint limits, contacts."""

from counterpoise.spacetime.optimize.judge.faults import MotionFault
from counterpoise.spacetime.optimize.judge.judging import Judged, judge_candidate

__all__ = ["Judged", "MotionFault", "judge_candidate"]
