"""One pose from goals and constraints."""

from counterpoise.features import Curve
from counterpoise.pose.build import build_pose_problem, partition
from counterpoise.pose.constraints import AboveGround, Balanced, Couple, FixJoint, Lock, OnCurve, OnPlane, Pin
from counterpoise.pose.drag import PoseDrag
from counterpoise.pose.goals import Aim, CenterOfMass, Orient, Posture, Reach
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.result import Pose
from counterpoise.pose.solver import solve_pose
from counterpoise.pose.tuning import PoseTuning

__all__ = [
    "AboveGround", "Aim", "Balanced", "CenterOfMass", "Couple", "Curve", "FixJoint", "Lock", "OnCurve", "OnPlane",
    "Orient", "Pin", "Pose", "PoseDrag", "PoseProblem", "PoseTuning", "Posture", "Reach", "build_pose_problem",
    "partition", "solve_pose",
]  # fmt: skip
