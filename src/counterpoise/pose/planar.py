"""A planar chain reaches for a point: value, gradient and exact Hessian in one walk from tip to root (Bawa 1995).

Link i has length a_i and joint angle theta_i, measured from link i - 1 (the first from the x axis); the root is the
origin. With the headings phi_i = theta_1 + ... + theta_i, the vector from joint i to the tip is

    C_i = sum_{k >= i} a_k cos phi_k,     S_i = sum_{k >= i} a_k sin phi_k,

and the tip misses the target P by K = (C_1, S_1) - P. Then (eqs. 3.21, 3.22, 3.24)

    F = Kx^2 + Ky^2,     g_i = 2 (Ky C_i - Kx S_i),     h_ij = 2 ((C_j - Kx) C_i + (S_j - Ky) S_i)   for i >= j.

C and S follow from their neighbours towards the tip, so F and g cost O(n) and H costs its n^2 entries. (Algorithm FGH
and algorithm CG are misprinted in the thesis: step VI of the one mixes sines with cosines, and the gradients of the
other are swapped. The equations above and 3.26 are right.)

`solve_planar` minimises F by Newton's method with that Hessian, inside joint limits and with points of the chain
pinned; `PlanarDrag` does it frame after frame with a bound on how far a joint may turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, lapack

from counterpoise.arrays import Array, Flags
from counterpoise.errors import BadValue
from counterpoise.kernels import kernel

Status: TypeAlias = Literal["solved", "unreachable", "infeasible", "lagging", "out_of_time"]
"""`solved`: within tolerance. `unreachable`: a minimum that is not. `infeasible`: the pins cannot be held. `lagging`:
the bound on a frame's turn holds the drag back. `out_of_time`: the iterations are used up."""

_STATIONARY = 1e-10  # reduced gradient, relative to the error, in units of the chain's length
_HELD = 1e-13  # error of a pin after restoration, in units of the chain's length
_STRIDE = 1.0  # [rad] the most a joint turns in one iteration


# ------------------------------------------------------------------------------------------------ derivatives


class FGH(NamedTuple):
    """Squared distance of tip and target [m^2] with its gradient (n,) and Hessian (n, n) by the joint angles."""

    value: float
    gradient: Array
    hessian: Array


@kernel
def _fgh(lengths: Array, angles: Any, x: float, y: float, gradient: Any, hessian: Any) -> Any:
    """Add to `gradient` and `hessian` (nothing where it has no rows) and return F; real or complex angles."""
    n = lengths.size
    cosines, sines = np.empty_like(angles), np.empty_like(angles)
    heading = angles.sum()
    kx, ky = angles[0] * 0.0, angles[0] * 0.0
    for i in range(n - 1, -1, -1):  # tip to root: K grows into C_i, S_i of each joint on the way
        kx += lengths[i] * np.cos(heading)
        ky += lengths[i] * np.sin(heading)
        cosines[i], sines[i] = kx, ky
        heading -= angles[i]
    kx -= x
    ky -= y
    for i in range(n):
        gradient[i] += 2.0 * (ky * cosines[i] - kx * sines[i])
    if hessian.shape[0] > 0:
        for i in range(n):
            lean = 2.0 * (kx * cosines[i] + ky * sines[i])
            ci, si = 2.0 * cosines[i], 2.0 * sines[i]
            for j in range(i + 1):
                hessian[i, j] += ci * cosines[j] + si * sines[j] - lean
            for j in range(i):
                hessian[j, i] = hessian[i, j]
    return kx * kx + ky * ky


@kernel
def _locked(lengths: Array, angles: Any, x: float, y: float, gradient: Any) -> Any:
    """Fill `gradient` (2, n) and return the two constraints (cx, cy)."""
    heading = angles.sum()
    cx, cy = angles[0] * 0.0, angles[0] * 0.0
    for i in range(lengths.size - 1, -1, -1):
        cx += lengths[i] * np.cos(heading)
        cy += lengths[i] * np.sin(heading)
        gradient[0, i], gradient[1, i] = -cy, cx
        heading -= angles[i]
    return cx - x, cy - y


def planar_fgh(lengths: ArrayLike, angles: ArrayLike, target: ArrayLike) -> FGH:
    """F, g and H of the tip's squared distance to `target` [m], for link lengths [m] and joint angles [rad]."""
    a, theta, goal = _chain(lengths, angles, target)
    gradient, hessian = np.zeros(a.size), np.zeros((a.size, a.size))
    value = _fgh(a, theta, goal[0], goal[1], gradient, hessian)
    return FGH(value, gradient, hessian)


def planar_lock(lengths: ArrayLike, angles: ArrayLike, point: ArrayLike) -> tuple[Array, Array]:
    """The constraint that holds the tip at `point`: c (2,) [m] and its gradient (2, n), eqs. 3.25 and 3.26.

    For an inner point pass the links up to it; the joints beyond have no part in it.
    """
    a, theta, place = _chain(lengths, angles, point)
    gradient = np.empty((2, a.size))
    return np.array(_locked(a, theta, place[0], place[1], gradient)), gradient


def planar_points(lengths: ArrayLike, angles: ArrayLike) -> Array:
    """Where the joints and the tip are; (n + 1, 2) [m], the root first."""
    a, theta, _ = _chain(lengths, angles, (0.0, 0.0))
    heading = np.cumsum(theta)
    links = a[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    return np.vstack([np.zeros(2), np.cumsum(links, axis=0)])


# ------------------------------------------------------------------------------------------------ the problem


@dataclass(frozen=True)
class PlanarPose:
    """A solved pose of a planar chain, and how it was found."""

    angles: Array  # (n,) [rad]
    status: Status
    iterations: int
    residual: float  # [m] distance of tip and target
    pin_residual: float  # [m] the largest distance of a pinned point from its place
    errors: Array  # (iterations + 1,) [m] the residual before each iteration and after the last

    @property
    def solved(self) -> bool:
        return self.status == "solved"


@dataclass(frozen=True)
class _Reach:
    """Minimise the squared distances of `goals` inside limits, `pins` held: (links, x, y) each; reach scaled to one."""

    lengths: Array
    lower: Array
    upper: Array
    goals: tuple[tuple[int, float, float], ...]
    pins: tuple[tuple[int, float, float], ...] = ()

    def value(self, theta: Array) -> float:
        spare, none = np.zeros(theta.size), np.empty((0, 0))
        return float(sum(_fgh(self.lengths[:k], theta[:k], x, y, spare[:k], none) for k, x, y in self.goals))

    def derivatives(self, theta: Array) -> FGH:
        n = theta.size
        g, H = np.zeros(n), np.zeros((n, n))
        F = sum(_fgh(self.lengths[:k], theta[:k], x, y, g[:k], H[:k, :k]) for k, x, y in self.goals)
        return FGH(float(F), g, H)

    def constraints(self, theta: Array) -> tuple[Array, Array]:
        c, J = np.zeros(2 * len(self.pins)), np.zeros((2 * len(self.pins), theta.size))
        for row, (k, x, y) in enumerate(self.pins):
            c[2 * row : 2 * row + 2] = _locked(self.lengths[:k], theta[:k], x, y, J[2 * row : 2 * row + 2, :k])
        return c, J

    def curved(self, H: Array, J: Array, multipliers: Array) -> Array:
        """Hessian of the Lagrangian F - multipliers . c; d2cx = -C_max(i,j), d2cy = -S_max(i,j), read off J."""
        W = H.copy()
        for row, (k, _, _) in enumerate(self.pins):
            mx, my = multipliers[2 * row : 2 * row + 2]
            bend = mx * J[2 * row + 1, :k] - my * J[2 * row, :k]
            W[:k, :k] += bend[np.maximum.outer(np.arange(k), np.arange(k))]
        return W

    def clip(self, theta: Array) -> Array:
        return np.minimum(np.maximum(theta, self.lower), self.upper)

    def restore(self, theta: Array) -> Array | None:
        """The nearest pose, to first order, that holds the pins inside the limits; None where there is none near."""
        best = np.inf
        for _ in range(20):
            c, J = self.constraints(theta)
            error = float(np.abs(c).max(initial=0.0))
            if error <= _HELD:
                return theta
            if error > 0.9 * best and best < 1e-10:
                return theta  # as near as rounding allows
            best = min(best, error)
            free, move = self.lower < self.upper, np.zeros(theta.size)
            for _ in range(4):
                move[free] = -_least(J[:, free], c + J[:, ~free] @ move[~free])
                out = free & ((theta + move < self.lower) | (theta + move > self.upper))
                if not out.any():
                    break
                move[out] = (self.clip(theta + move) - theta)[out]
                free &= ~out
            theta = self.clip(theta + move)
        return None


# ------------------------------------------------------------------------------------------------ the method


def _least(A: Array, b: Array) -> Array:
    """The shortest x that minimises |A x - b|."""
    return np.asarray(np.linalg.lstsq(A, b, rcond=1e-12)[0])


def _factor(B: Array, shift: float) -> Array | None:
    """Cholesky factor of B + shift I, or None where that is not positive definite."""
    A = B.copy(order="F")
    A.flat[:: len(A) + 1] += shift
    factor, info = lapack.dpotrf(A, lower=1, overwrite_a=1)
    return factor if info == 0 else None


class _Model:
    """The quadratic model of the Lagrangian at one pose: a step that keeps to the pins' tangent and to the limits."""

    def __init__(self, reach: _Reach, theta: Array) -> None:
        self.reach, self.theta = reach, theta
        self.F, g, H = reach.derivatives(theta)
        _, self.J = reach.constraints(theta)
        self.at_lower, self.at_upper = theta <= reach.lower, theta >= reach.upper
        inside = ~(self.at_lower | self.at_upper)
        multipliers: Array = np.zeros(len(self.J))
        if len(self.J) and inside.any():
            multipliers = _least(self.J[:, inside].T, g[inside])
            H = reach.curved(H, self.J, multipliers)
        self.d, self.W = g - self.J.T @ multipliers, H  # gradient and Hessian of the Lagrangian
        self.fixed = (self.at_lower & (self.d >= 0.0)) | (self.at_upper & (self.d <= 0.0))
        self.slope = float(np.abs(self.d[~self.fixed]).max(initial=0.0))

    def tangent(self, free: Flags) -> tuple[Array | None, NDArray[np.intp]]:
        """Basis Z of the free directions that leave the pins alone (None: all of them), and the free indices."""
        f = np.flatnonzero(free)
        if not len(self.J):
            return None, f
        Q, R = np.linalg.qr(self.J[:, f].T, mode="complete")
        rank = int((np.abs(np.diagonal(R)) > 1e-11).sum())
        return Q[:, rank:], f

    def shift(self, wanted: float) -> float:
        """The least of wanted, 4 wanted, 16 wanted, ... that makes the reduced Hessian positive definite."""
        Z, f = self.tangent(~self.fixed)
        B = self.W[np.ix_(f, f)]
        B = B if Z is None else Z.T @ B @ Z
        shift = wanted
        while B.size and _factor(B, shift) is None:
            shift = max(4.0 * shift, 1e-12)
        return shift

    def step(self, shift: float) -> Array:
        """Minimise the shifted model; a joint that would pass its limit stops there and the rest answer anew."""
        p, free = np.zeros(self.theta.size), ~self.fixed
        for _ in range(25):
            Z, f = self.tangent(free)
            if not f.size:
                break
            B, rhs = self.W[np.ix_(f, f)], -self.d[f] - self.W[np.ix_(f, ~free)] @ p[~free]
            if Z is None:
                p[f] = self._solve(B, shift, rhs)
            else:
                along = _least(self.J[:, f], -self.J[:, ~free] @ p[~free])
                rhs = Z.T @ (rhs - B @ along - shift * along)
                p[f] = along + Z @ self._solve(Z.T @ B @ Z, shift, rhs) if Z.shape[1] else along
            goal = self.theta + p
            out = free & ((goal < self.reach.lower) | (goal > self.reach.upper))
            if not out.any():
                break
            p[out] = (self.reach.clip(goal) - self.theta)[out]
            free &= ~out
        return p

    @staticmethod
    def _solve(B: Array, shift: float, rhs: Array) -> Array:
        factor = _factor(B, shift)
        if factor is None:  # only rounding: `shift` was chosen on a larger space
            return rhs / max(shift, 1e-12)
        return np.asarray(lapack.dpotrs(factor, rhs, lower=1)[0])

    def escape(self) -> Array | None:
        """A pose below a saddle point, along the direction of most negative curvature; None at a minimum."""
        undecided = np.abs(self.d) <= 1e-9 * max(np.sqrt(self.F), 1e-3)
        free = (~self.fixed | undecided) & (self.reach.lower < self.reach.upper)
        Z, f = self.tangent(free)
        B = self.W[np.ix_(f, f)]
        B = B if Z is None else Z.T @ B @ Z
        if not B.size or _factor(B, 1e-9) is not None:
            return None
        _, vectors = eigh(B, subset_by_index=(0, min(2, len(B) - 1)))
        inward = np.where(self.at_lower, 1.0, np.where(self.at_upper, -1.0, 0.0))[f]
        spread = 0.5 + np.modf(0.6180339887498949 * np.arange(1, f.size + 1))[0]  # no two alike, the same every time
        lowest = (vectors if Z is None else Z @ vectors).T
        ways = [sign * way for way in lowest for sign in (1.0, -1.0)]
        ways += [np.where(inward != 0.0, inward * np.abs(way), way) for way in ways]
        ways += [np.where(inward != 0.0, inward, s) * spread for s in (1.0, -1.0)]
        for size in (0.3, 0.1, 0.03, 0.01, 1e-3):
            below: list[tuple[float, Array]] = []
            for way in ways:
                trial = self.theta.copy()
                trial[f] += size * way / np.abs(way).max()
                held = self.reach.restore(self.reach.clip(trial))
                if held is not None and (F := self.reach.value(held)) < self.F * (1.0 - 1e-12):
                    below.append((F, held))
            if below:
                return min(below, key=lambda pair: pair[0])[1]
        return None


def _descend(reach: _Reach, theta: Array, tolerance: float, limit: int) -> tuple[Array, Status, list[float]]:
    """Newton's method from a pose that holds the pins; every pose it visits holds pins and limits."""
    errors: list[float] = []
    ratio = 0.5
    while True:
        model = _Model(reach, theta)
        error = float(np.sqrt(model.F))
        errors.append(error)
        if error <= tolerance:
            return theta, "solved", errors
        if len(errors) > limit:
            return theta, "out_of_time", errors
        found = None
        if model.slope > _STATIONARY * error:
            shift = model.shift(ratio * min(model.slope, 1.0))  # vanishes with the gradient: the order stays two
            ratio = max(0.5, 0.25 * shift / min(model.slope, 1.0))
            found = _line_search(model, model.step(shift))
        if found is None:
            found = model.escape()
        if found is None:
            return theta, "unreachable", errors
        theta = found


def _line_search(model: _Model, p: Array) -> Array | None:
    """The first pose along the projected step that lowers F enough and to which the pins can be restored."""
    reach, scale = model.reach, min(1.0, _STRIDE / max(float(np.abs(p).max(initial=0.0)), 1e-300))
    for _ in range(40):
        trial = reach.restore(reach.clip(model.theta + scale * p))
        if trial is not None:
            gain = min(float(model.d @ (trial - model.theta)), 0.0)
            if reach.value(trial) < model.F + 1e-4 * gain:
                return trial
        scale *= 0.5
    return None


# ------------------------------------------------------------------------------------------------ the doors


def solve_planar(
    lengths: ArrayLike,
    angles: ArrayLike,
    target: ArrayLike,
    limits: ArrayLike | None = None,
    pins: Mapping[int, ArrayLike | None] | None = None,
    tolerance: float = 1e-9,
    iterations: int = 200,
    restarts: int = 8,
) -> PlanarPose:
    """The joint angles that bring the tip of a planar chain to `target`, or as near as limits and pins allow.

    `limits` is (n, 2) [rad], infinite where there is none; they are never passed. `pins` maps a joint's number - k is
    the end of link k, counted from 1 - to the place [m] it is locked at, None for where it is now. Starting angles
    outside the limits are first brought inside. `tolerance` [m] is the distance that counts as reached.

    Where limits or pins stop the chain short, up to `restarts` other starts, always the same ones, look for a better
    minimum. Without limits and pins there are no false minima, only saddle points, which are left along the
    direction of negative curvature.
    """
    a, theta, goal = _chain(lengths, angles, target)
    lower, upper = _limits(limits, a.size)
    return _solve(a, theta, goal, lower, upper, _pins(a, theta, pins), tolerance, iterations, restarts)


def _solve(
    a: Array, theta: Array, goal: Array, lower: Array, upper: Array, places: dict[int, Array],
    tolerance: float, iterations: int, restarts: int,
) -> PlanarPose:  # fmt: skip
    if not (np.isfinite(tolerance) and tolerance > 0.0):
        raise BadValue(f"the tolerance is a distance above zero [m]; got {tolerance}", tolerance=tolerance)
    size = float(a.sum())
    reach = _Reach(
        a / size, lower, upper,
        goals=((a.size, goal[0] / size, goal[1] / size),),
        pins=tuple((k, x / size, y / size) for k, (x, y) in places.items()),
    )  # fmt: skip
    best = _attempt(reach, theta, tolerance / size, iterations)
    others = 0 if not places and np.isinf(lower).all() and np.isinf(upper).all() else restarts
    low, high = np.where(np.isinf(lower), -np.pi, lower), np.where(np.isinf(upper), np.pi, upper)
    for trial in range(others):
        if best.status not in ("unreachable", "infeasible"):
            break
        part = np.modf((trial + 1) * np.sqrt(2.0) * np.arange(1.0, a.size + 1.0) ** 1.5)[0]
        other = _attempt(reach, low + part * (high - low), tolerance / size, iterations)
        if (other.status == "infeasible", other.residual) < (best.status == "infeasible", best.residual * (1.0 - 1e-9)):
            best = other
    return replace(
        best,
        residual=best.residual * size, pin_residual=best.pin_residual * size, errors=best.errors * size,
    )  # fmt: skip


def _attempt(reach: _Reach, theta: Array, tolerance: float, iterations: int) -> PlanarPose:
    """One descent from `theta`: first the pins, then the target."""
    theta = reach.clip(theta)
    status: Status = "infeasible"
    errors = [float(np.sqrt(reach.value(theta)))]
    held = reach.restore(theta)
    if held is None:
        rough, _, _ = _descend(replace(reach, goals=reach.pins, pins=()), theta, 1e-11, iterations)
        held = reach.restore(rough)
        theta = rough
    if held is not None:
        theta, status, errors = _descend(reach, held, tolerance, iterations)
    c, _ = reach.constraints(theta)
    off = float(np.hypot(c[::2], c[1::2]).max(initial=0.0))
    return PlanarPose(theta, status, len(errors) - 1, float(np.sqrt(reach.value(theta))), off, np.array(errors))


class PlanarDrag:
    """Drags the tip of a planar chain frame after frame: warm started, no joint turning more than `turn` [rad] a frame.

    The bound is a pair of limits around the last pose, so it holds exactly. A frame that cannot reach the target
    because of it says `lagging` and catches up in the next ones.
    """

    def __init__(
        self,
        lengths: ArrayLike,
        angles: ArrayLike,
        limits: ArrayLike | None = None,
        pins: Mapping[int, ArrayLike | None] | None = None,
        turn: float = np.radians(5.0),
        tolerance: float = 1e-6,
        iterations: int = 20,
    ) -> None:
        self._lengths, theta, _ = _chain(lengths, angles, (0.0, 0.0))
        self._lower, self._upper = _limits(limits, theta.size)
        self._pins = _pins(self._lengths, theta, pins)
        if not turn > 0.0:
            raise BadValue(f"the turn a frame is an angle above zero [rad]; got {turn}", turn=turn)
        self.turn, self.tolerance, self.iterations = turn, tolerance, iterations
        self.angles = np.minimum(np.maximum(theta, self._lower), self._upper)

    def to(self, target: ArrayLike) -> PlanarPose:
        """The next frame's pose, the tip at `target` [m] or on its way."""
        a, theta, goal = _chain(self._lengths, self.angles, target)
        lower, upper = np.maximum(self._lower, theta - self.turn), np.minimum(self._upper, theta + self.turn)
        pose = _solve(a, theta, goal, lower, upper, self._pins, self.tolerance, self.iterations, 0)
        moved = pose.angles
        held_back = ((moved <= lower) & (lower > self._lower)) | ((moved >= upper) & (upper < self._upper))
        if pose.status == "infeasible":
            pose = replace(pose, angles=theta)  # rather stay than let go of a pin
        elif pose.status == "unreachable" and held_back.any():
            pose = replace(pose, status="lagging")
        self.angles = pose.angles
        return pose


# ------------------------------------------------------------------------------------------------ the border


def _chain(lengths: ArrayLike, angles: ArrayLike, target: ArrayLike) -> tuple[Array, Array, Array]:
    a, theta, goal = (np.array(x, dtype=np.float64) for x in (lengths, angles, target))
    if a.ndim != 1 or not a.size or not np.isfinite(a).all() or (a < 0.0).any() or not a.any():
        raise BadValue(f"a chain needs a list of lengths [m], none negative and not all zero; got {lengths!r}")
    if theta.shape != a.shape or not np.isfinite(theta).all():
        raise BadValue(f"{a.size} links need {a.size} finite angles [rad]; got shape {theta.shape}", angles=theta)
    if goal.shape != (2,) or not np.isfinite(goal).all():
        raise BadValue(f"a planar target is two finite numbers (x, y) [m]; got {target!r}", target=target)
    return a, theta, goal


def _limits(limits: ArrayLike | None, n: int) -> tuple[Array, Array]:
    if limits is None:
        return np.full(n, -np.inf), np.full(n, np.inf)
    pair = np.array(limits, dtype=np.float64)
    if pair.shape != (n, 2) or np.isnan(pair).any() or (pair[:, 0] > pair[:, 1]).any():
        raise BadValue(f"limits are ({n}, 2) [rad], lower before upper; got shape {pair.shape}", limits=limits)
    return pair[:, 0].copy(), pair[:, 1].copy()


def _pins(a: Array, theta: Array, pins: Mapping[int, ArrayLike | None] | None) -> dict[int, Array]:
    points, places = planar_points(a, theta), {}
    for k, place in (pins or {}).items():
        if not 1 <= k <= a.size:
            raise BadValue(f"a pin is the end of a link, 1 to {a.size}; got {k}", pin=k)
        where = points[k] if place is None else np.array(place, dtype=np.float64)
        if where.shape != (2,) or not np.isfinite(where).all():
            raise BadValue(f"the place of pin {k} is two finite numbers (x, y) [m]; got {place!r}", pin=k)
        places[k] = where
    return places
