"""One pose from goals and constraints."""

from counterpoise.features import Curve
from counterpoise.pose.build import build_pose_problem, partition
from counterpoise.pose.drag import PoseDrag
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.result import Pose
from counterpoise.pose.solver import PoseTuning, solve_pose
from counterpoise.pose.wishes import (
    AboveGround,
    Aim,
    Balanced,
    CenterOfMass,
    Couple,
    FixJoint,
    Lock,
    OnCurve,
    OnPlane,
    Orient,
    Pin,
    Posture,
    Reach,
)

__all__ = [
    "AboveGround", "Aim", "Balanced", "CenterOfMass", "Couple", "Curve", "FixJoint", "Lock", "OnCurve", "OnPlane",
    "Orient", "Pin", "Pose", "PoseDrag", "PoseProblem", "PoseTuning", "Posture", "Reach", "build_pose_problem",
    "partition", "solve_pose",
]  # fmt: skip
