"""The strict method for hierarchies: guess the working set and prove it; where that fails, climb level by level."""

from counterpoise.solve.lexicographic.strict import Scaled, make_ready, solve_by_plain, solve_strict

__all__ = ["Scaled", "make_ready", "solve_by_plain", "solve_strict"]
