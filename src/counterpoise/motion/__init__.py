"""Movement as data: `Motion`, the curves behind it, keyframes and a few reference motions made in code."""

from counterpoise.motion.curves import CurveSample, RotationCurve, VectorCurve, ease
from counterpoise.motion.keyframes import Keyframe, keyframed, pose_from_joints
from counterpoise.motion.motion import Motion
from counterpoise.motion.poses import Sample
from counterpoise.motion.references import Reference, reference_motion, reference_motions

__all__ = [
    "CurveSample",
    "Keyframe",
    "Motion",
    "Reference",
    "RotationCurve",
    "Sample",
    "VectorCurve",
    "ease",
    "keyframed",
    "pose_from_joints",
    "reference_motion",
    "reference_motions",
]
