"""Phase 4, second half: after a full step the levels are closed in order, as far as the multipliers allow.

At a candidate that is feasible, the multipliers mu of the equalities say what the level would gain if a bound were
released. For multiplier i held at side s the derivative is g = -s (G_i' mu + force_weight lambda_i) (the second term in
the last level only), for a torque g = -s mu_q. Divided by the length of the direction in which the point would leave
(steepest edge), this is its price. The bound of the most negative price is released. Where none is negative, the level
is optimal: bounds of positive price hold it back in every minimiser and are locked, and its target is replaced by what
was attained. |A x - b| is strictly convex in A x, so this describes the level's minimisers exactly.

It ends: a bound may be released only a few times before the level's objective has fallen by a definite part.
"""

from __future__ import annotations

import numpy as np

from counterpoise.kernels import dot, inner_kernel
from counterpoise.solve.body.cascade import equality_multipliers
from counterpoise.solve.body.workspace import (
    FREE,
    HOLDS_LEVEL,
    NOISY,
    UNLOCKED,
    BodyDynamics,
    BodyWorkspace,
    BoundPrices,
    CascadeSystem,
    FaceSizes,
    HeldBounds,
    LevelChain,
    PricingProgress,
)
from counterpoise.solve.reflections import subtract_scaled

MULTIPLIER_NOISE = 1e-13  # prices below this part of the level's gradient count as zero
ATTAINED_RESIDUAL = 1e-10  # a level is attained when its residual is below this part of 1 + |b|
MIN_PROGRESS = 1e-9  # relative fall of a level's objective that counts as progress
MAX_RELEASES = 3  # how often one bound may be released without progress


@inner_kernel
def close_levels(
    body: BodyDynamics, space: BodyWorkspace, face: FaceSizes, depth: int, force_weight: float, stalled: bool,
    progress: PricingProgress,
) -> tuple[int, PricingProgress]:  # fmt: skip
    """Closes levels as far as the multipliers allow. Returns (the bound to release, or -1; the new progress).

    `stalled`: there were so many steps of zero length that the first bound is released instead of the steepest.
    """
    working, chain, system, prices = space.working, space.chain, space.system, space.prices
    p, (level, deepest, best) = len(chain.height), progress
    while level <= p:
        if level >= depth and (level == p or not _attained(chain, system, level)):
            equality_multipliers(system, face.equal, depth, level, prices)
            objective, noise = _objective(space, face, depth, level)
            if objective < (1.0 - MIN_PROGRESS) * best:
                best = objective
                _forget_releases(working)
            bound = _price_all(body, space, face.equal, force_weight, level == p, stalled, noise)
            if bound >= 0:
                return bound, PricingProgress(level, deepest, best)
            if level < p:
                _lock_what_holds(working, prices, body.root, face.equal, noise)
                deepest = min(deepest, level)
        if depth <= level < p:
            for i in range(chain.height[level]):
                chain.target[chain.first[level] + i] += system.residual[system.starts[level] + i]
        level, best = level + 1, np.inf
        _forget_releases(working)
        for i in range(len(working.lock)):
            if working.lock[i] == NOISY:
                working.lock[i] = UNLOCKED
    return -1, PricingProgress(level, deepest, best)


@inner_kernel
def _attained(chain: LevelChain, system: CascadeSystem, level: int) -> bool:
    worst, far = 0.0, 0.0
    for i in range(chain.height[level]):
        worst = max(worst, abs(system.residual[system.starts[level] + i]))
        far = max(far, abs(chain.target[chain.first[level] + i]))
    return worst <= ATTAINED_RESIDUAL * (1.0 + far)


@inner_kernel
def _objective(space: BodyWorkspace, face: FaceSizes, depth: int, level: int) -> tuple[float, float]:
    """Returns the level's squared residual (of the last one: |u|^2) and the price that counts as zero in it."""
    chain, system = space.chain, space.system
    c0 = chain.corner[depth]
    value, gradient = 0.0, 0.0
    if level == len(chain.height):
        gradient = dot(system.w[: face.turned - c0 + face.free], system.w)
        value = gradient + dot(chain.y[:c0], chain.y)
    else:
        for i in range(system.starts[level], system.starts[level] + chain.height[level]):
            gradient += (system.residual[i] * system.size[i]) ** 2
            value += system.residual[i] * system.residual[i]
    return value, MULTIPLIER_NOISE * np.sqrt(gradient) + 1e-300


@inner_kernel
def _forget_releases(working: HeldBounds) -> None:
    for i in range(len(working.tried)):
        working.tried[i] = 0


@inner_kernel
def _price_all(
    body: BodyDynamics, space: BodyWorkspace, nE: int, force_weight: float, last: bool, stalled: bool, noise: float
) -> int:
    """Prices every bound that may leave. Returns the one to release, -1: none.

    A strict level needs all prices, for its locks; the last level only those that are negative.
    """
    working, system, prices = space.working, space.system, space.prices
    held, tried, price = working.held, working.tried, prices.price
    k = len(working.free)
    worst, bound = 0.0, -1
    for i in range(k):
        price[i] = 0.0
    for q in range(nE):  # G' mu of all multipliers
        subtract_scaled(body.G[working.equal[q]], -prices.mu[q], price)
    for i in range(k):
        g, price[i] = price[i], 0.0
        if held[i] != FREE and working.lock[i] == UNLOCKED and (tried[i] < MAX_RELEASES or not last):
            if last:
                g += force_weight * working.point[i]
            g *= -held[i]
            if not last or (g < 0.0 and not (stalled and bound >= 0)):
                g /= _multiplier_edge(body, working, system, prices, nE, force_weight, i)
                price[i] = g
                if g < -noise and g < worst and tried[i] < MAX_RELEASES:
                    worst, bound = g, i
    for q in range(body.root, nE):
        i = k + working.equal[q]
        price[i] = 0.0
        if working.lock[i] == UNLOCKED and (tried[i] < MAX_RELEASES or not last):
            g = -prices.mu[q] * held[i]
            if not last or (g < 0.0 and not (stalled and bound >= 0)):
                g /= _torque_edge(system, prices, nE, q)
                price[i] = g
                if g < -noise and g < worst and tried[i] < MAX_RELEASES:
                    worst, bound = g, i
    return bound


@inner_kernel
def _multiplier_edge(
    body: BodyDynamics,
    working: HeldBounds,
    system: CascadeSystem,
    prices: BoundPrices,
    nE: int,
    force_weight: float,
    i: int,
) -> float:
    """Length of the direction in which multiplier i leaves its bound: sqrt(force_weight + |L^-1 G_i|^2)."""
    K, edge = system.K, prices.edge
    square = force_weight
    for q in range(nE):
        v = (body.G[working.equal[q], i] - dot(K[q, :q], edge)) / K[q, q]
        edge[q] = v
        square += v * v
    return float(np.sqrt(square))


@inner_kernel
def _torque_edge(system: CascadeSystem, prices: BoundPrices, nE: int, q: int) -> float:
    """Length of the direction in which the torque of equality q leaves its bound: |L^-1 e_q|."""
    K, edge = system.K, prices.edge
    square = 0.0
    for i in range(q, nE):
        v = ((1.0 if i == q else 0.0) - dot(K[i, q:i], edge[q:])) / K[i, i]
        edge[i] = v
        square += v * v
    return float(np.sqrt(square))


@inner_kernel
def _lock_what_holds(working: HeldBounds, prices: BoundPrices, root: int, nE: int, noise: float) -> None:
    """Locks the bounds of positive price: they hold this level back in every minimiser."""
    k = len(working.free)
    for i in range(k):
        if prices.price[i] > noise:
            working.lock[i] = HOLDS_LEVEL
    for q in range(root, nE):
        i = k + working.equal[q]
        if prices.price[i] > noise:
            working.lock[i] = HOLDS_LEVEL
