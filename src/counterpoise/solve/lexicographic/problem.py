"""The problem as the kernels of the strict method read it, and the tolerances they share.

In scaled variables y = x / d, with constraint rows of unit length:

    lexicographically minimise |A_l y - b_l|, then |d y - near|,   subject to  lo <= [I; C] y <= hi

Signs inside the kernels: the gradient of a level is sum_i mu_i c_i over the active constraints c_i, so mu >= 0 at a low
end (side -1) and mu <= 0 at a high end (side +1).
"""

from __future__ import annotations

from typing import NamedTuple

from counterpoise.arrays import Array, Ints

ATTAINED_RESIDUAL = 1e-11  # relative residual that counts as zero
NEGATIVE_MULTIPLIER = 1e-10  # relative multiplier that counts as negative
POSITIVE_MULTIPLIER = 1e-9  # relative multiplier that counts as positive
ROUNDING_SHARE = (
    1e-4  # share of its terms that counts as the size of a residual: times NEGATIVE_MULTIPLIER, above rounding
)
VIOLATION = 1e-11  # relative violation that counts as none


class ScaledHierarchy(NamedTuple):
    """Levels and constraints of a hierarchy with n variables, M level rows and m constraint rows."""

    A: Array  # (M, n) rows of all levels
    b: Array  # (M,)
    ends: Ints  # (levels + 1,) where each level's rows begin, and M
    size: Array  # (M,) lengths of the rows
    C: Array  # (m, n) constraint rows; in `project` and `climb` (n + m, n), bounds first
    lo: Array  # (n + m,) ends of the bounds, then of the rows
    hi: Array  # (n + m,)
    d: Array  # (n,) units of the variables
    near: Array  # (n,) in the original units
    plain: bool  # all d are one
