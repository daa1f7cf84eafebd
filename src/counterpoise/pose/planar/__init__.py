"""A planar chain reaches for a point: value, gradient and exact Hessian in one pass from tip to root (Bawa 1995).

`solve_planar` minimises the squared distance of the tip to a target by Newton's method with that Hessian, inside joint
limits and with points of the chain pinned. `PlanarDrag` does it frame after frame, with a bound on how far a joint may
turn in a frame.
"""

from counterpoise.pose.planar.derivatives import FGH, planar_fgh, planar_points
from counterpoise.pose.planar.drag import PlanarDrag
from counterpoise.pose.planar.solver import PlanarPose, PlanarStatus, solve_planar

__all__ = [
    "FGH", "PlanarDrag", "PlanarPose", "PlanarStatus", "planar_fgh", "planar_points", "solve_planar",
]  # fmt: skip
