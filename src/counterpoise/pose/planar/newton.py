"""Newton's method for a planar chain, with its exact Hessian, inside limits and with points pinned."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, lapack

from counterpoise.arrays import Array, Flags
from counterpoise.pose.planar.problem import PlanarProblem, least_squares

DescentStatus: TypeAlias = Literal["solved", "unreachable", "out_of_time"]

STATIONARY = 1e-10  # reduced gradient, relative to the error, in units of the chain's length
LONGEST_STEP = 1.0  # [rad]: no joint turns further in one iteration
SHIFT_RATIO = 0.5  # first shift of the Hessian, as a share of the gradient
HALVINGS = 40  # of a step that does not lower the cost
SUFFICIENT_DECREASE = 1e-4  # share of the predicted decrease that a step must gain
GOLDEN_SHARE = 0.6180339887498949  # multiples of it are spread evenly, no two alike, the same every time


def descend_planar(
    problem: PlanarProblem, theta: Array, tolerance: float, limit: int
) -> tuple[Array, DescentStatus, list[float]]:
    """Descends from a pose that holds the pins; every pose on the way holds pins and limits.

    Returns the pose, its status, and the error before every iteration and after the last.
    """
    errors: list[float] = []
    ratio = SHIFT_RATIO
    while True:
        model = PlanarModel(problem, theta)
        error = float(np.sqrt(model.F))
        errors.append(error)
        if error <= tolerance:
            return theta, "solved", errors
        if len(errors) > limit:
            return theta, "out_of_time", errors
        found = None
        if model.slope > STATIONARY * error:
            shift = model.shift(ratio * min(model.slope, 1.0))  # vanishes with the gradient: the order stays two
            ratio = max(SHIFT_RATIO, 0.25 * shift / min(model.slope, 1.0))
            found = _line_search(model, model.step(shift))
        if found is None:
            found = model.escape()
        if found is None:
            return theta, "unreachable", errors
        theta = found


class PlanarModel:
    """The quadratic model of the Lagrangian at one pose: its steps keep to the pins' tangent and to the limits."""

    def __init__(self, problem: PlanarProblem, theta: Array) -> None:
        self.problem, self.theta = problem, theta
        self.F, g, H = problem.derivatives(theta)
        _, self.J = problem.constraints(theta)
        self.at_lower, self.at_upper = theta <= problem.lower, theta >= problem.upper
        inside = ~(self.at_lower | self.at_upper)
        multipliers: Array = np.zeros(len(self.J))
        if len(self.J) and inside.any():
            multipliers = least_squares(self.J[:, inside].T, g[inside])
            H = problem.lagrangian_hessian(H, self.J, multipliers)
        self.d, self.W = g - self.J.T @ multipliers, H  # gradient and Hessian of the Lagrangian
        self.fixed = (self.at_lower & (self.d >= 0.0)) | (self.at_upper & (self.d <= 0.0))
        self.slope = float(np.abs(self.d[~self.fixed]).max(initial=0.0))

    def tangent(self, free: Flags) -> tuple[Array | None, NDArray[np.intp]]:
        """Returns a basis Z of the free directions that do not move the pins (None: all), and the free indices."""
        f = np.flatnonzero(free)
        if not len(self.J):
            return None, f
        Q, R = np.linalg.qr(self.J[:, f].T, mode="complete")
        rank = int((np.abs(np.diagonal(R)) > 1e-11).sum())
        return Q[:, rank:], f

    def shift(self, wanted: float) -> float:
        """Returns the least of wanted, 4 wanted, 16 wanted, ... that makes the reduced Hessian positive definite."""
        Z, f = self.tangent(~self.fixed)
        B = self._reduced_hessian(Z, f)
        shift = wanted
        while B.size and _factor(B, shift) is None:
            shift = max(4.0 * shift, 1e-12)
        return shift

    def step(self, shift: float) -> Array:
        """Returns the step that minimises the shifted model.

        A joint that would pass its limit stops there, and the step of the others is found again.
        """
        p, free = np.zeros(self.theta.size), ~self.fixed
        for _ in range(25):
            Z, f = self.tangent(free)
            if not f.size:
                break
            B, rhs = self.W[np.ix_(f, f)], -self.d[f] - self.W[np.ix_(f, ~free)] @ p[~free]
            if Z is None:
                p[f] = self._solve(B, shift, rhs)
            else:
                along = least_squares(self.J[:, f], -self.J[:, ~free] @ p[~free])
                rhs = Z.T @ (rhs - B @ along - shift * along)
                p[f] = along + Z @ self._solve(Z.T @ B @ Z, shift, rhs) if Z.shape[1] else along
            goal = self.theta + p
            out = free & ((goal < self.problem.lower) | (goal > self.problem.upper))
            if not out.any():
                break
            p[out] = (self.problem.clip(goal) - self.theta)[out]
            free &= ~out
        return p

    def escape(self) -> Array | None:
        """Returns a pose below a saddle point, along directions of negative curvature; None at a minimum."""
        undecided = np.abs(self.d) <= 1e-9 * max(np.sqrt(self.F), 1e-3)
        free = (~self.fixed | undecided) & (self.problem.lower < self.problem.upper)
        Z, f = self.tangent(free)
        B = self._reduced_hessian(Z, f)
        if not B.size or _factor(B, 1e-9) is not None:
            return None
        ways = self._escape_directions(B, Z, f)
        for size in (0.3, 0.1, 0.03, 0.01, 1e-3):
            below: list[tuple[float, Array]] = []
            for way in ways:
                trial = self.theta.copy()
                trial[f] += size * way / np.abs(way).max()
                held = self.problem.restore(self.problem.clip(trial))
                if held is not None and (F := self.problem.value(held)) < self.F * (1.0 - 1e-12):
                    below.append((F, held))
            if below:
                return min(below, key=lambda pair: pair[0])[1]
        return None

    def _escape_directions(self, B: Array, Z: Array | None, f: NDArray[np.intp]) -> list[Array]:
        """Returns the eigenvectors of lowest curvature both ways, the same bent inwards at limits, and a spread."""
        _, vectors = eigh(B, subset_by_index=(0, min(2, len(B) - 1)))
        inward = np.where(self.at_lower, 1.0, np.where(self.at_upper, -1.0, 0.0))[f]
        spread = 0.5 + np.modf(GOLDEN_SHARE * np.arange(1, f.size + 1))[0]
        lowest = (vectors if Z is None else Z @ vectors).T
        ways = [sign * way for way in lowest for sign in (1.0, -1.0)]
        ways += [np.where(inward != 0.0, inward * np.abs(way), way) for way in ways]
        ways += [np.where(inward != 0.0, inward, s) * spread for s in (1.0, -1.0)]
        return ways

    def _reduced_hessian(self, Z: Array | None, f: NDArray[np.intp]) -> Array:
        B: Array = self.W[np.ix_(f, f)]
        return B if Z is None else Z.T @ B @ Z

    @staticmethod
    def _solve(B: Array, shift: float, rhs: Array) -> Array:
        factor = _factor(B, shift)
        if factor is None:  # only rounding: `shift` was chosen on a larger space
            return rhs / max(shift, 1e-12)
        return np.asarray(lapack.dpotrs(factor, rhs, lower=1)[0])


def _factor(B: Array, shift: float) -> Array | None:
    """Returns the Cholesky factor of B + shift I, or None where that is not positive definite."""
    A = B.copy(order="F")
    A.flat[:: len(A) + 1] += shift
    factor, info = lapack.dpotrf(A, lower=1, overwrite_a=1)
    return factor if info == 0 else None


def _line_search(model: PlanarModel, p: Array) -> Array | None:
    """Returns the first pose along the projected step that lowers F enough and to which the pins can be restored."""
    problem, scale = model.problem, min(1.0, LONGEST_STEP / max(float(np.abs(p).max(initial=0.0)), 1e-300))
    for _ in range(HALVINGS):
        trial = problem.restore(problem.clip(model.theta + scale * p))
        if trial is not None:
            gain = min(float(model.d @ (trial - model.theta)), 0.0)
            if problem.value(trial) < model.F + SUFFICIENT_DECREASE * gain:
                return trial
        scale *= 0.5
    return None
