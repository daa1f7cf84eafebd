"""Algorithm 2 of de Lasa (2011) as it is written: the slow, readable judge of the compiled solver.

Each level is a least-squares problem in the null space of those above, by an active-set method that cannot cycle: at
every point that is stationary on its working set, the gradient is projected on the cone of *all* active constraints by
non-negative least squares (Lawson & Hanson 1974). What is left of it, if anything, is a feasible direction of descent
(Moreau's decomposition); if nothing is left, the coefficients are the multipliers. Null spaces come from singular
values. Constraints that carry a positive multiplier stay equalities below (they do in every minimiser).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.solve.level import Hierarchy

RANK = 1e-10  # relative size below which a direction counts as fixed
EXACT = 1e-11  # relative size of a residual or gradient that counts as zero
ROUNDING = 1e-4  # share of its terms that counts as the size of a residual: times LOCK, still above rounding
LOCK = 1e-9  # multiplier, relative to the gradient, that counts as positive
TOUCH = 1e-9  # relative distance at which a constraint counts as active


@dataclass(eq=False)
class PlainAnswer:
    """What the plain method found: `conflict` is None, or constraints that cannot hold together."""

    x: Array
    sides: Ints  # (constraints,): -1 at its low end, +1 at its high end, 0 inside
    conflict: tuple[int, ...] | None = None
    multipliers: list[Array] = field(default_factory=list)  # per level, (constraints,): positive at a low end
    defects: list[float] = field(default_factory=list)  # per level: relative gradient left over
    steps: int = 0


def null_space(A: Array, Z: Array) -> Array:
    """Orthonormal basis (n, k) of {w in span Z : A w = 0}; the rows are compared at unit length."""
    length = np.linalg.norm(A, axis=1)
    B = A[length > 0.0] @ Z / length[length > 0.0][:, None]
    B = B[np.linalg.norm(B, axis=1) > RANK]
    if not B.size:
        return Z
    _, s, Vt = np.linalg.svd(B, full_matrices=True)
    return Z @ Vt[int((s > RANK * max(s[0], 1.0)).sum()) :].T


def nonnegative_least_squares(N: Array, g: Array) -> tuple[Array, Array]:
    """min ||N' mu - g||, mu >= 0, and what is left, N' mu - g (Lawson & Hanson 1974, algorithm NNLS)."""
    count = len(N)
    mu, passive = np.zeros(count), np.zeros(count, bool)
    size = np.maximum(np.linalg.norm(N, axis=1), 1e-300)
    gone = size <= RANK  # nothing of the row is left where g lives
    left, refused = -g, gone
    for _ in range(10 * count + 10):
        gain = -(N @ left) / size
        gain[passive | refused] = -np.inf
        if not count or gain.max() <= EXACT * np.linalg.norm(g):
            break
        new = int(np.argmax(gain))
        passive[new] = True
        while True:
            full = np.zeros(count)
            full[passive] = np.linalg.lstsq(N[passive].T, g, rcond=1e-12)[0]
            if passive[new] and full[new] <= 0.0 and mu[new] == 0.0:
                passive[new] = False
                refused = refused.copy()
                refused[new] = True
                break
            if (full[passive] > 0.0).all():
                mu, refused = full, gone
                break
            falling = passive & (full <= 0.0)
            step = (mu[falling] / (mu[falling] - full[falling])).min()
            mu = mu + step * (full - mu)
            passive &= ~(falling & (mu <= 1e-14 * np.abs(mu).max()))
            mu[~passive] = 0.0
        left = N.T @ mu - g
    return mu, left


def nearest_feasible(C: Array, low: Array, high: Array, x: Array) -> tuple[Array, tuple[int, ...] | None]:
    """Nearest point to x with low <= C x <= high, by least distance programming; or constraints in contradiction.

    With one-sided rows N p >= h, solve min ||[N'; h'] mu - e||, mu >= 0. Nothing left: N' mu = 0 and h' mu = 1, which
    is Farkas's proof that the rows of the passive set, independent but for this one relation, contradict each other.
    """
    up, down = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
    N, h = np.vstack([C[up], -C[down]]), np.concatenate([low[up] - C[up] @ x, C[down] @ x - high[down]])
    if not len(h) or h.max() <= 0.0:
        return x, None
    scale = np.abs(h).max()
    E = np.column_stack([N, h / scale])
    target = np.zeros(E.shape[1])
    target[-1] = 1.0
    mu, left = nonnegative_least_squares(E, target)
    index = np.concatenate([up, down])
    if -left[-1] < 1e-9:
        return x, tuple(sorted({int(i) for i in index[mu > 1e-9 * mu.max()]}))
    held = mu > 1e-12 * max(mu.max(), 1e-300)
    p = np.linalg.lstsq(N[held], h[held], rcond=1e-12)[0]  # the same point, without the division's rounding
    if (N @ p - h).min() < -TOUCH * (1.0 + scale):
        p = -left[:-1] / left[-1] * scale
    return x + p, None


def solve_plain(levels: list[tuple[Array, Array]], C: Array, low: Array, high: Array, start: Array) -> PlainAnswer:
    """Lexicographic least squares from any start; rows of C should be of unit length."""
    x, conflict = nearest_feasible(C, low, high, start)
    answer = PlainAnswer(x, np.zeros(len(C), np.int64), conflict)
    if conflict is not None:
        return answer
    equal = low == high
    locked = equal.copy()
    Z = null_space(C[equal], np.eye(len(x)))
    for A, b in levels:
        x, mu, defect, steps = _descend(A, b, C, low, high, x, Z, locked)
        locked |= mu != 0.0
        answer.multipliers.append(mu)
        answer.defects.append(defect)
        answer.steps += steps
        Z = null_space(np.vstack([A, C[locked]]), Z)
    answer.x = x
    answer.sides = active_sides(C, low, high, x)
    return answer


def active_sides(C: Array, low: Array, high: Array, x: Array, tolerance: float = TOUCH) -> Ints:
    """-1 where a row (of unit length) touches its low end, +1 its high end, 0 inside; the nearer end when both."""
    value = C @ x
    below, above = value - low, high - value
    touching = np.minimum(below, above) <= tolerance * np.linalg.norm(x)
    return np.where(touching, np.where(below <= above, -1, 1), 0).astype(np.int64)


def attained(A: Array, b: Array, x: Array) -> bool:
    """A x = b but for rounding."""
    return bool(np.linalg.norm(A @ x - b) <= EXACT * np.linalg.norm(np.abs(A) @ np.abs(x) + np.abs(b)))


def stationarity(A: Array, b: Array, N: Array, x: Array, Z: Array) -> tuple[Array, Array, float]:
    """Multipliers of the active rows N (pointing inwards), the direction of descent left, and its relative size."""
    residual = A @ x - b
    g = Z.T @ (A.T @ residual)
    terms = np.abs(residual) + ROUNDING * (np.abs(A) @ np.abs(x) + np.abs(b))
    size = np.linalg.norm(np.abs(A).T @ terms) + 1e-300
    if attained(A, b, x):
        return np.zeros(len(N)), np.zeros(Z.shape[1]), 0.0
    mu, left = nonnegative_least_squares(N @ Z, g)
    mu[mu <= LOCK * size] = 0.0
    return mu, left, float(np.linalg.norm(left) / size)


def _descend(
    A: Array, b: Array, C: Array, low: Array, high: Array, x: Array, Z: Array, locked: Flags
) -> tuple[Array, Array, float, int]:
    working: list[int] = []
    steps = 0
    best = np.inf
    while True:
        steps += 1
        p = _least_squares(A, b - A @ x, null_space(C[working], Z))
        x, hit = _walk(x, p, 1.0, C, low, high, locked, working)
        if hit is not None:
            working.append(hit)
            continue
        sides = np.where(locked, 0, active_sides(C, low, high, x))
        active = np.flatnonzero(sides)
        inward = -sides[active].astype(float)
        mu, left, defect = stationarity(A, b, inward[:, None] * C[active], x, Z)
        value = float(np.linalg.norm(A @ x - b))
        if defect <= 1e-10 or steps > 20 * (len(C) + len(x)) or value > best * (1.0 + 1e-13):
            full = np.zeros(len(C))
            full[active] = inward * mu
            return x, full, defect, steps
        best = value
        p = Z @ left
        x, hit = _walk(x, p, float(left @ left) / float((A @ p) @ (A @ p)), C, low, high, locked, [], sides)
        working = [int(i) for i in active[mu > 0.0]] + ([hit] if hit is not None else [])


def _least_squares(A: Array, b: Array, Z: Array) -> Array:
    """Shortest p in span Z that minimises ||A p - b||; rows of different size do not decide the rank."""
    R = null_space(null_space(A, Z).T, Z)  # what A sees of span Z
    return R @ np.linalg.lstsq(A @ R, b, rcond=1e-14)[0] if R.size else np.zeros(len(Z))


def _walk(
    x: Array,
    p: Array,
    length: float,
    C: Array,
    low: Array,
    high: Array,
    locked: Flags,
    skip: list[int],
    leaving: Ints | None = None,
) -> tuple[Array, int | None]:
    """x + t p, t at most `length`, up to the first constraint; not those skipped, nor ends that p is known to leave."""
    rate = C @ p
    value = C @ x
    rate[np.abs(rate) <= RANK * np.linalg.norm(p)] = 0.0
    rate[locked] = 0.0
    rate[skip] = 0.0
    if leaving is not None:
        rate[rate * leaving > 0.0] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(rate > 0.0, (high - value) / rate, np.where(rate < 0.0, (low - value) / rate, np.inf))
    if not len(room) or room.min() >= length:
        return x + length * p, None
    hit = int(np.argmin(room))
    return x + max(room[hit], 0.0) * p, hit


# -- the proof --------------------------------------------------------------------------------------------------------
def multipliers_at(problem: Hierarchy, x: Array, d: Array) -> list[tuple[Array, Array, tuple[Array, ...], float]]:
    """(bounds, rows, above, defect) for every level and the nearness, from x alone: the certificate of optimality.

    Level by level the gradient is explained by rows of the levels above and by constraints that hold those back (any
    sign), and by the other active constraints (one sign). Ranks are judged in the units d; multipliers have none.
    """
    C, low, high = problem.constraints
    C, x = C * d, x / d
    length = np.linalg.norm(C, axis=1)
    safe = np.where(length > 0.0, length, 1.0)
    U = C / safe[:, None]
    lo, hi = np.where(length > 0.0, low / safe, -np.inf), np.where(length > 0.0, high / safe, np.inf)
    sides = active_sides(U, lo, hi, x)
    locked = low == high
    above: list[Array] = []
    out = []
    for k in range(len(problem.levels) + 1):
        A, b = problem.rows_of(k)
        A = A * d
        fixed = np.vstack([*above, U[locked]]) if above or locked.any() else np.zeros((0, len(x)))
        active = np.flatnonzero((sides != 0) & ~locked)
        inward = -sides[active].astype(float)
        N = inward[:, None] * U[active]
        mu, _, defect = stationarity(A, b, N, x, null_space(fixed, np.eye(len(x))))
        g = np.zeros(len(x)) if attained(A, b, x) else A.T @ (A @ x - b)
        rest: Array = np.zeros(0)
        if len(fixed):
            rest = np.asarray(np.linalg.lstsq(fixed.T, g - N.T @ mu, rcond=1e-13)[0], float)
        full = np.zeros(len(C))
        full[active] = inward * mu
        count = sum(len(rows) for rows in above)
        full[locked] = rest[count:]
        ends = np.cumsum([0, *(len(rows) for rows in above)])
        eta = tuple(-rest[s:e] for s, e in pairwise(ends))
        full = -full / safe
        out.append((full[: problem.size], full[problem.size :], eta, defect))
        hold = np.zeros(len(C), bool)
        hold[active] = mu > 0.0
        locked = locked | hold
        above.append(A)
    return out
