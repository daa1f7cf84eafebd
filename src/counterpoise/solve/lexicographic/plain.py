"""Algorithm 2 of de Lasa (2011) as it is written: the slow, readable solver that judges the compiled one.

Each level is a least-squares problem in the null space of those above, by an active-set method that cannot cycle: at
every point that is stationary on its working set, the gradient is projected on the cone of *all* active constraints by
non-negative least squares (Lawson & Hanson 1974). What is left of it, if anything, is a feasible direction of descent
(Moreau's decomposition); if nothing is left, the coefficients are the multipliers. Null spaces come from singular
values. Constraints that carry a positive multiplier stay equalities below (they do in every minimiser).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from counterpoise.arrays import Array, Flags, Ints

RANK_TOLERANCE = 1e-10  # relative size below which a direction counts as fixed
ATTAINED_RESIDUAL = 1e-11  # relative size of a residual or gradient that counts as zero
POSITIVE_MULTIPLIER = 1e-9  # multiplier, relative to the gradient, that counts as positive
ROUNDING_SHARE = 1e-4  # share of its terms that counts as the size of a residual: times that, still above rounding
ACTIVE_DISTANCE = 1e-9  # relative distance at which a constraint counts as active


@dataclass(eq=False)
class PlainAnswer:
    """What the plain method found. `conflict`: None, or constraints that cannot all hold."""

    x: Array
    sides: Ints  # (constraints,): -1 at its low end, +1 at its high end, 0 inside
    conflict: tuple[int, ...] | None = None
    multipliers: list[Array] = field(default_factory=list)  # per level, (constraints,): positive at a low end
    defects: list[float] = field(default_factory=list)  # per level: relative gradient left over
    steps: int = 0


def null_space(A: Array, Z: Array) -> Array:
    """Returns an orthonormal basis (n, k) of {w in span Z : A w = 0}; the rows are compared at unit length."""
    length = np.linalg.norm(A, axis=1)
    B = A[length > 0.0] @ Z / length[length > 0.0][:, None]
    B = B[np.linalg.norm(B, axis=1) > RANK_TOLERANCE]
    if not B.size:
        return Z
    _, s, Vt = np.linalg.svd(B, full_matrices=True)
    return Z @ Vt[int((s > RANK_TOLERANCE * max(s[0], 1.0)).sum()) :].T


def nonnegative_least_squares(N: Array, g: Array) -> tuple[Array, Array]:
    """Returns mu of min ||N' mu - g||, mu >= 0, and what is left, N' mu - g (Lawson & Hanson 1974, algorithm NNLS)."""
    count = len(N)
    mu, passive = np.zeros(count), np.zeros(count, bool)
    size = np.maximum(np.linalg.norm(N, axis=1), 1e-300)
    gone = size <= RANK_TOLERANCE  # nothing of the row is left where g lives
    left, refused = -g, gone
    for _ in range(10 * count + 10):
        gain = -(N @ left) / size
        gain[passive | refused] = -np.inf
        if not count or gain.max() <= ATTAINED_RESIDUAL * np.linalg.norm(g):
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
    """Returns (the point nearest to x with low <= C x <= high, None), or (x, constraints that cannot all hold).

    Least distance programming: with one-sided rows N p >= h, solve min ||[N'; h'] mu - e||, mu >= 0. If nothing is
    left, then N' mu = 0 and h' mu = 1: by Farkas's lemma the rows of the passive set contradict each other. They are
    independent but for this one relation, so no row can be left out.
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
    p = np.linalg.lstsq(N[held], h[held], rcond=1e-12)[0]  # the same point, without the rounding of a division
    if (N @ p - h).min() < -ACTIVE_DISTANCE * (1.0 + scale):
        p = -left[:-1] / left[-1] * scale
    return x + p, None


def solve_plain(levels: list[tuple[Array, Array]], C: Array, low: Array, high: Array, start: Array) -> PlainAnswer:
    """Lexicographic least squares from any start. The rows of C have unit length."""
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


def active_sides(C: Array, low: Array, high: Array, x: Array, tolerance: float = ACTIVE_DISTANCE) -> Ints:
    """Returns -1 where a row (of unit length) is at its low end, +1 at its high end (the nearer of both), else 0."""
    value = C @ x
    below, above = value - low, high - value
    touching = np.minimum(below, above) <= tolerance * np.linalg.norm(x)
    return np.where(touching, np.where(below <= above, -1, 1), 0).astype(np.int64)


def attained(A: Array, b: Array, x: Array) -> bool:
    """Whether A x = b but for rounding."""
    return bool(np.linalg.norm(A @ x - b) <= ATTAINED_RESIDUAL * np.linalg.norm(np.abs(A) @ np.abs(x) + np.abs(b)))


def stationarity(A: Array, b: Array, N: Array, x: Array, Z: Array) -> tuple[Array, Array, float]:
    """Returns multipliers of the active rows N (pointing inwards), the gradient left, and its relative size."""
    residual = A @ x - b
    g = Z.T @ (A.T @ residual)
    terms = np.abs(residual) + ROUNDING_SHARE * (np.abs(A) @ np.abs(x) + np.abs(b))
    size = np.linalg.norm(np.abs(A).T @ terms) + 1e-300
    if attained(A, b, x):
        return np.zeros(len(N)), np.zeros(Z.shape[1]), 0.0
    mu, left = nonnegative_least_squares(N @ Z, g)
    mu[mu <= POSITIVE_MULTIPLIER * size] = 0.0
    return mu, left, float(np.linalg.norm(left) / size)


def _descend(
    A: Array, b: Array, C: Array, low: Array, high: Array, x: Array, Z: Array, locked: Flags
) -> tuple[Array, Array, float, int]:
    """One level from a feasible x, over x + span Z. Returns x, multipliers, relative gradient left, steps."""
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
    """Returns the shortest p in span Z that minimises ||A p - b||. The sizes of the rows do not decide the rank."""
    R = null_space(null_space(A, Z).T, Z)  # the part of span Z on which A is not zero
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
    """Returns x + t p, t at most `length`, and the constraint that stops it (None: none does).

    Constraints in `skip`, and ends that p is known to leave, do not stop it.
    """
    rate = C @ p
    value = C @ x
    rate[np.abs(rate) <= RANK_TOLERANCE * np.linalg.norm(p)] = 0.0
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
