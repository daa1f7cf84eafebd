"""The compiled core of posing: points and orientations as goals and constraints, under joint limits.

`descend_core` follows the goals downhill from one start. Each of its steps is a small quadratic program
(`bounded_step`), after which the pose is brought back onto the constraints (`restore_pose`).
"""

from counterpoise.pose.core.descent import descend_core
from counterpoise.pose.core.rows import evaluate_goals, second_order
from counterpoise.pose.core.step import bounded_step
from counterpoise.pose.core.tables import CompiledGoals, Ranges, StepProgram, WorkingSet

__all__ = [
    "CompiledGoals", "Ranges", "StepProgram", "WorkingSet", "bounded_step", "descend_core", "evaluate_goals",
    "second_order",
]  # fmt: skip
