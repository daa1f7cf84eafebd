"""Mathematics that knows no bodies: quadratic programs, plane geometry."""

from counterpoise.solve.geometry import convex_hull
from counterpoise.solve.quadratic import Quadratic, solve_quadratic

__all__ = ["Quadratic", "convex_hull", "solve_quadratic"]
