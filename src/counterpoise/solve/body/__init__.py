"""The whole-body problem of one control tick: accelerations, contact multipliers and torques in strict levels."""

from counterpoise.solve.body.program import (
    BodyMemory,
    BodyProblem,
    BodySolution,
    build_body_problem,
    cold_memory,
    solve_body,
    stack_levels,
)
from counterpoise.solve.body.rows import StandardGains, friction_edges, standard_problem

__all__ = [
    "BodyMemory", "BodyProblem", "BodySolution", "StandardGains", "build_body_problem", "cold_memory",
    "friction_edges", "solve_body", "stack_levels", "standard_problem",
]  # fmt: skip
