"""Mathematics that knows no bodies: quadratic programs, strict hierarchies, plane geometry."""

from counterpoise.solve.geometry import convex_hull
from counterpoise.solve.hierarchy import Constraint, Multipliers, Solution, Warm, solve_hierarchy
from counterpoise.solve.level import Hierarchy, Level, Part, build_hierarchy
from counterpoise.solve.quadratic import Quadratic, solve_quadratic

__all__ = [
    "Constraint",
    "Hierarchy",
    "Level",
    "Multipliers",
    "Part",
    "Quadratic",
    "Solution",
    "Warm",
    "build_hierarchy",
    "convex_hull",
    "solve_hierarchy",
    "solve_quadratic",
]
