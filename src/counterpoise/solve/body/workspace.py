"""The named arrays of one whole-body solve: what the kernels read, and the workspace of each phase.

n: dofs; k: multipliers; m: rows of the strict levels; p: strict levels; e: extra rows of the last level.
d = min(e, n): directions that the extra rows add to the metric.

A *bound* is counted as i < k for multiplier i, and k + j for the torque of dof j. Dofs of the root have no motor: their
torque is zero, and their bounds are never active.
"""

from __future__ import annotations

from typing import NamedTuple

from counterpoise.arrays import Array, Ints

# how a solve ended
SOLVED, OUT_OF_STEPS, DEPENDENT, NOT_FINITE = 0, 1, 2, 3
# places in `stat`, the account of a solve
STATUS, LEVEL, STEPS, ADDED, RELEASED, ZERO_STEPS, CASCADES, DEPTH_USED, STAT_SIZE = 0, 1, 2, 3, 4, 5, 6, 7, 8
# `held` of a bound
OFF, AT_LOW, FREE, AT_HIGH = -2, -1, 0, 1
# `lock` of a bound: may leave; holds back a closed level, for good; its price was noise, until the level is closed;
# has nowhere to go
UNLOCKED, HOLDS_LEVEL, NOISY, FIXED = 0, 1, 2, 3


# -- the problem -------------------------------------------------------------------------------------------------------
class BodyDynamics(NamedTuple):
    """M a + h = tau + G lambda."""

    M: Array  # (n, n)
    h: Array  # (n,)
    G: Array  # (n, k)
    root: int  # leading dofs without a motor


class StrictLevels(NamedTuple):
    """|A_l a - b_l|, one level below the other."""

    A: Array  # (m, n)
    b: Array  # (m,)
    starts: Ints  # (p + 1,) first row of each level, and m


class LastLevel(NamedTuple):
    """|sqrt(weight)(a - a_ref)|^2 + |A_e a - b_e|^2 + force_weight |lambda|^2."""

    weight: Array  # (n,)
    a_ref: Array  # (n,)
    A_e: Array  # (e, n)
    b_e: Array  # (e,)
    force_weight: float  # [1/N^2]


class BodyLimits(NamedTuple):
    """0 <= lambda <= force, torque_low <= tau <= torque_high."""

    force: Array  # (k,) [N], 0: no contact
    torque_low: Array  # (n - root,) [N m]
    torque_high: Array  # (n - root,)


class TickSettings(NamedTuple):
    """How to solve it."""

    share: float  # [N] the multiplier that the edge of a new contact starts from
    rank_tolerance: float  # a row of a level shorter than this part of the longest is dependent
    max_steps: int


class TickMemory(NamedTuple):
    """What the last tick left; changed in place to what this one leaves."""

    held: Ints  # (k + n + 1,) as in HeldBounds
    point: Array  # (k + n,)


class TickScratch(NamedTuple):
    """What the workspace is cut from: see `scratch_size`."""

    numbers: Array
    integers: Ints


class TickResult(NamedTuple):
    """What comes out."""

    values: Array  # acceleration (n), multipliers (k), torque (n), residual of each level (p + 1)
    stat: Ints  # (STAT_SIZE,)


# -- the workspace -----------------------------------------------------------------------------------------------------
class BodyBounds(NamedTuple):
    """Ends of every bound, and how far beyond them a candidate must be to count as outside."""

    low: Array  # (k + n,)
    high: Array  # (k + n,)
    below: Array  # (k + n,) low less its slack
    above: Array  # (k + n,) high and its slack


class HeldBounds(NamedTuple):
    """The bounds held as equalities, and the feasible point on them."""

    held: Ints  # (k + n + 1,) OFF, AT_LOW, FREE or AT_HIGH; the last entry is the depth of the chain
    point: Array  # (k + n,) multipliers and torques within their bounds
    lock: Ints  # (k + n,) whether a bound may be released
    tried: Ints  # (k + n,) how often it was released without progress
    free: Ints  # (k,) the multipliers that are free: the first `face.free` entries
    equal: Ints  # (n,) the rows of M held as equalities (root, torques at a bound): the first `face.equal` entries


class BodyMetric(NamedTuple):
    """Phase 1: coordinates u in which the last level is |u|^2."""

    scale: Array  # (n,) 1 / sqrt(weight)
    a_ref: Array  # (n,)
    V: Array  # (d, n) reflectors that turn the scaled extra rows into a triangle L
    beta: Array  # (d,)
    R: Array  # (d, e + d) row j is column j of R, R'R = I + L'L
    centre: Array  # (d,) the last level's optimum in the rotated coordinates, before R
    rows: Array  # (e, n) the scaled extra rows
    v: Array  # (e + d,) one reflector
    spare: Array  # (e + d,)


class LevelChain(NamedTuple):
    """Phase 2: the strict levels as triangles of leading coordinates of u."""

    V: Array  # (n, n) reflectors of the levels, then of the rows of M
    beta: Array  # (n,)
    rows: Array  # (m, n)
    target: Array  # (m,)
    size: Array  # (m,) norms of the rows
    y: Array  # (n,) coordinates at the unconstrained optimum of the levels
    first: Ints  # (p,) first row of each level
    height: Ints  # (p,) how many rows it has
    corner: Ints  # (p + 1,) first coordinate of each level's triangle, and of what is left


class MassRows(NamedTuple):
    """The rows of M that were equalities at some time of this solve, in the coordinates of the chain."""

    rows: Array  # (n, n)
    target: Array  # (n,)
    size: Array  # (n,)
    slot: Ints  # (n,) where the row of a dof stands; -1: not met yet
    reach: Ints  # (n,) the row is zero from this coordinate on


class CascadeSystem(NamedTuple):
    """Phase 3: the rows of one cascade, equalities first, and its factors."""

    K: Array  # (n + m, n + k)
    target: Array  # (n + m,)
    size: Array  # (n + m,)
    starts: Ints  # (p + 1,) first row of each level, and the end
    rank: Ints  # (p,) of each level in what those above leave free
    order: Ints  # (n + m,) pivots of each level
    V: Array  # (n + k, n + k) reflectors
    beta: Array  # (n + k,)
    y: Array  # (n + k,) coordinates
    w: Array  # (n + k,) the shortest solution
    residual: Array  # (n + m,)
    R: Array  # (n + m, m) small least squares: see `solve.trapezoid`
    W: Array  # (n + m, m)
    tau: Array  # (n + m,)
    rest: Array  # (n + m,) target less what the levels above fix
    spare: Array  # (n + m,)


class BodyCandidate(NamedTuple):
    """The optimum on a working set."""

    u: Array  # (n,) in the metric
    a: Array  # (n,) acceleration
    x: Array  # (k + n,) multipliers and torques


class BoundPrices(NamedTuple):
    """Phase 4: what releasing each bound would gain."""

    t: Array  # (n + k,)
    eta: Array  # (n + m,)
    mu: Array  # (n,) multipliers of the equalities
    edge: Array  # (n,) the direction in which a bound is left, in the factor's coordinates
    price: Array  # (k + n,) derivative along that direction; negative: releasing it gains


class BodyWorkspace(NamedTuple):
    """All of it."""

    bounds: BodyBounds
    working: HeldBounds
    metric: BodyMetric
    chain: LevelChain
    mass: MassRows
    system: CascadeSystem
    candidate: BodyCandidate
    prices: BoundPrices


class FaceSizes(NamedTuple):
    """The working set of one step in numbers."""

    equal: int  # rows of M held as equalities
    free: int  # multipliers that are free
    turned: int  # coordinates of u that those rows and the levels reach; the others are zero in all of them


class PricingProgress(NamedTuple):
    """How far the levels are closed."""

    level: int  # the first that is not closed; p: the last level; p + 1: all are
    deepest: int  # how far into the chain the cascade may begin: not beyond a level that a bound holds back
    best: float  # lowest objective of the present level so far
