"""The least change that makes the forces of a motion possible: Gauss-Newton over windows of splines.

Let W be the wrench that a frame needs (in body weights, torques over the height) and C what its contacts can supply:

    minimise  sum_t |dist(W_t, C_t)|^2 / force^2  +  sum_planted |p_i - p_i*|^2 / still^2  +  sum_below z^2 / still^2
                + sum_pressing z^2 / touch^2  +  sum_t sum_j (l_j / near)^2 (d_tj^2 + bend^4 d''_tj^2)

over the coefficients of the deviation d (`basis`); l_j [m/rad] is how far a degree of freedom moves the bodies that it
carries. The gradient of the squared distance to a cone is the residual. Its Hessian is the projector on what the active
contacts cannot supply (variable projection, Golub & Pereyra 1973; Kaufman 1975), smoothed here by an interior point so
that steps do not jump through the faces of the cone (`kernels`). A point that moves takes its force f along: its torque
changes by dp x f. The residual turns with the CoM, about which torques are taken. Derivatives of W by pose, velocity
and acceleration come from the aggregate force. The normal matrix is banded. Windows overlap, and each starts from the
final coefficients of the one before, so the time grows linearly with the length of the motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solveh_banded

from counterpoise.arrays import Array
from counterpoise.character.kinematics import body_frames
from counterpoise.spacetime.aggregate.kernels import aggregate_batch, aggregate_force_batch
from counterpoise.spacetime.aggregate.places_kernels import places_batch
from counterpoise.spacetime.aggregate.tables import link_tables
from counterpoise.spacetime.check.forces import cone_edges, contact_components, wrench_units
from counterpoise.spacetime.check.frames import CheckedFrames, com_of, fit_locally, fit_reach, places_of
from counterpoise.spacetime.check.support import find_support, widened
from counterpoise.spacetime.fix.basis import ORDER
from counterpoise.spacetime.fix.kernels import add_diagonals, add_square, add_to_rows, split_wrenches
from counterpoise.spacetime.fix.task import FixTask

MIN_RATE = 120.0  # [1/s] of the frames whose forces count; smoothed forces contain no faster changes
WATCHED_HEIGHT = 0.08  # [m] points that are always higher than this above the ground are left out
PRESSING_FORCE = 0.03  # [body weights] a point with a larger force must touch the ground
HESSIAN_BARRIER = 4.0  # [force^2] barrier parameter at which the Hessian of the distance is taken
MAX_DAMPINGS = 6  # attempts at one step, with ever more damping
DAMPING_FACTOR = 10.0  # by which damping rises after a failed step and falls after a good one
MIN_DAMPING = 0.5  # smaller damping becomes zero
GOOD_SHARE = 0.9  # of a step: after a longer one, damping falls
STEP_SHARES = (1.0, 0.5, 0.2)  # tried along a step
RIDGE, POSE_RIDGE = 1e-9, 1e-3  # always added to the normal matrix: relative, and as a share of the pose's weight
MAX_SMALL_GAINS = 2  # consecutive steps with a small gain end the work


@dataclass(frozen=True, eq=False)
class _WindowState:
    """The frames of a window with given coefficients."""

    cost: float
    state: tuple[Array, Array, Array, Array]  # smoothed q, v, a, and the poses themselves
    residual: Array  # (m, 6)
    hessian: Array  # (m, 6, 6) of the squared distance to what contacts can supply
    force: Array  # (m, p, 3) of each point, in body weights
    weight: Array  # (m, p, 3) of the error ...
    error: Array  # (m, p, 3) ... of points that must stay, rise or come down
    deviation: Array  # (frames, free)
    bending: Array  # (frames, free)


class Window:
    """Coefficients first ... last - 1 of a task; the others are constant.

    `force_weights` (n,) multiply the cost of each frame's residual, `pose_weights` (n,) the cost of its deviation.
    """

    def __init__(
        self, task: FixTask, x: Array, first: int, last: int, force_weights: Array, pose_weights: Array
    ) -> None:
        self.task, self.x = task, x
        self.first, self.last = first, last
        self.frames = task.basis.touched(first, last)
        character, step = task.motion.character, task.basis.step
        self.reach = fit_reach(task.checks.smooth, step)
        self.wide = slice(
            max(0, self.frames.start - self.reach), min(len(task.motion), self.frames.stop + self.reach)
        )  # with the neighbours that local fits read
        self.stride = max(1, int(1.0 / (MIN_RATE * step) + 1e-6))
        self.picked = np.arange(-(-self.frames.start // self.stride) * self.stride, self.frames.stop, self.stride)
        self.picked_in_wide = self.picked - self.wide.start
        self.force_weights = self.stride * force_weights[self.picked]
        self.pose_weights = pose_weights[self.frames]
        self.units = wrench_units(character)
        self.components = contact_components(character)
        self.edges = cone_edges(task.checks.friction)
        base = task.motion.poses[self.frames]
        low = places_of(character, base, task.bodies, task.locals)[:, :, 2] - task.radii < task.floor + WATCHED_HEIGHT
        always = task.stands[self.frames].any(axis=0) | task.carries[self.frames].any(axis=0) | task.held
        self.points = np.flatnonzero(always | low.any(axis=0))
        self.stands = task.stands[self.picked][:, self.points]
        self.places = task.places[self.picked][:, self.points]
        carries = task.carries[self.wide][:, self.points]
        self.carries = carries[self.picked_in_wide]
        self.may_carry = widened(carries, task.checks.blur, 1.0 / step)[self.picked_in_wide]
        self.find_pressing_points()

    def find_pressing_points(self) -> None:
        """Finds which points may press with the current coefficients, and which of them must touch the ground."""
        task, character = self.task, self.task.motion.character
        raw = task.changed(self.x, self.wide)
        q, v, a = fit_locally(character, raw, task.basis.step, task.checks.smooth, self.reach)
        judged = np.ones(len(raw), dtype=bool)
        times, rate = task.motion.times[self.wide], 1.0 / task.basis.step
        frames = CheckedFrames(character, times, raw, q, v, a, judged, rate)
        found = find_support(task.motion, frames, task.contacts, task.holds, task.checks)
        self.may_press = found.blurred[self.picked_in_wide][:, self.points] | self.may_carry
        down = found.bearing[self.picked_in_wide][:, self.points] & ~self.stands & ~task.held[self.points]
        force = self._split(*(np.ascontiguousarray(z[self.picked_in_wide]) for z in (q, v, a)))[2]
        self.must_touch = (down & (force[:, :, 2] > PRESSING_FORCE)) | (self.carries & ~self.stands)

    def _split(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Returns the residual of every frame, the Hessian of its square, and the force of each point."""
        task, character = self.task, self.task.motion.character
        m, p = len(q), len(self.points)
        com = com_of(character, q)
        F = np.empty((m, 6))
        aggregate_force_batch(link_tables(character), q, v, a, com, F)
        P = places_of(character, q, task.bodies[self.points], task.locals[self.points])
        P[:, :, 2] -= task.radii[self.points]
        residual, hessian, force = np.empty((m, 6)), np.empty((m, 6, 6)), np.empty((m, p, 3))
        barrier = HESSIAN_BARRIER * task.tuning.force**2
        split_wrenches(
            F / self.units, com, P, self.may_press, task.held[self.points], self.edges, character.height,
            self.components, barrier, residual, hessian, force,
        )  # fmt: skip
        return residual, hessian, force

    def evaluate(self, x: Array) -> _WindowState:
        """Returns the window with coefficients x, and its cost."""
        task, character, w = self.task, self.task.motion.character, self.task.tuning
        pts = self.points
        raw = task.changed(x, self.wide)
        smooth = fit_locally(character, raw, task.basis.step, task.checks.smooth, self.reach)
        q, v, a = (np.ascontiguousarray(z[self.picked_in_wide]) for z in smooth)
        raw = np.ascontiguousarray(raw[self.picked_in_wide])
        residual, hessian, force = self._split(q, v, a)
        P = places_of(character, raw, task.bodies[pts], task.locals[pts])
        height = P[:, :, 2] - task.radii[pts] - task.floor
        below = ~self.stands & (height < 0.0) & ~task.held[pts]
        above = self.must_touch & (height >= 0.0)
        weight = np.zeros(P.shape)
        weight[self.stands] = 1.0 / w.still
        weight[below, 2] = 1.0 / w.still
        weight[above, 2] = 1.0 / w.touch
        weight *= np.sqrt(self.stride)
        error = weight * np.where(self.stands[:, :, None], P - self.places, height[:, :, None])
        d, bending = task.basis.deviation(x, self.frames), task.basis.bending(x, self.frames)
        lever = task.lever / w.near
        cost = float(
            np.sum(self.force_weights[:, None] * residual**2) / w.force**2
            + np.sum(error**2)
            + np.sum(self.pose_weights[:, None] * lever**2 * (d**2 + w.bend**4 * bending**2))
        )
        return _WindowState(cost, (q, v, a, raw), residual, hessian, force, weight, error, d, bending)

    def distance(self, x: Array) -> Array:
        """Returns how far the farthest body of each frame is from where it was (m,) [m]."""
        character = self.task.motion.character
        was, _ = body_frames(character, self.task.motion.poses[self.picked])
        now, _ = body_frames(character, self.task.changed(x, self.wide)[self.picked_in_wide])
        return np.asarray(np.linalg.norm(now - was, axis=-1).max(axis=1))

    def derivatives(self, at: _WindowState) -> tuple[Array, Array]:
        """Returns derivatives of residuals by q, v, a (3, m, 6, free) and of weighted errors by q (m, p, 3, free)."""
        character, pts, free = self.task.motion.character, self.points, self.task.free
        tables = link_tables(character)
        q, v, a, raw = at.state
        m, nv = len(q), character.nv
        P, J = np.empty((m, len(pts), 3)), np.empty((m, len(pts), 3, nv))
        places_batch(tables, raw, v, self.task.bodies[pts], self.task.locals[pts], P, np.empty_like(P), J)
        J = J[..., free]
        D = np.empty((3, m, 6, nv))
        aggregate_batch(tables, q, v, a, com_of(character, q), np.empty((m, 6)), D[0], D[1], D[2])
        by = D[..., free] / self.units[:, None]
        by[0, :, :3] += _cross_matrices(at.force) @ J.reshape(m, -1, len(free)) / character.height  # - dp x f
        com_by = by[2, :, 3:] * character.gravity  # m c'' / (m g), by accelerations
        by[0, :, :3] += _cross_matrices(at.residual[:, None, 3:]) @ com_by / character.height  # - dc x residual
        J *= at.weight[..., None]
        return by, J

    def normal_equations(self, at: _WindowState) -> tuple[Array, Array]:
        """Returns the upper band (free coefficients x dofs, width x dofs) of the normal matrix, and the gradient."""
        task, basis, w = self.task, self.task.basis, self.task.tuning
        width, nf = basis.width, len(task.free)
        start = int(basis.first[self.frames.start])
        total = int(basis.first[self.frames.stop - 1]) + width - start
        band, gradient = np.zeros((total * nf, width * nf)), np.zeros((total, nf))
        wrench_by, jacobian = self.derivatives(at)
        force_weights = np.sqrt(self.force_weights) / w.force
        seen, picked = basis.seen[:, self.picked], basis.value[self.picked]
        value, bend = basis.value[self.frames], basis.bend[self.frames]
        first, own = basis.first[self.frames] - start, basis.first[self.picked] - start
        lever = (task.lever / w.near) ** 2
        middle = slice(basis.edge, basis.edge + ORDER)
        roots = np.linalg.cholesky(at.hessian).transpose(0, 2, 1)
        active = np.asarray(at.weight.any(axis=2))
        for c in np.unique(first):  # the frames between two knots share their coefficients
            here, on = np.flatnonzero(first == c), np.flatnonzero(own == c)
            B = self.pose_weights[here, None] * value[here]
            C = w.bend**4 * self.pose_weights[here, None] * bend[here]
            add_diagonals(B.T @ value[here] + C.T @ bend[here], lever, c * nf, band)
            slope = lever * (B.T @ at.deviation[here] + C.T @ at.bending[here])
            by = np.zeros((len(on), 6, width, nf))
            for z in range(3):
                by += seen[z, on][:, None, :, None] * wrench_by[z, on][:, :, None]
            by *= force_weights[on, None, None, None]
            rows = by.reshape(len(on), 6, width * nf)
            weighted = at.residual[on] * force_weights[on, None]
            slope += np.tensordot(weighted, rows, axes=((0, 1), (0, 1))).reshape(width, nf)
            R = (roots[on] @ rows).reshape(-1, width * nf)
            add_square(R.T @ R, c * nf, band)
            ts, ps = np.nonzero(active[on])
            if len(ts):
                J, e = jacobian[on[ts], ps], at.error[on[ts], ps]  # (k, 3, nf), (k, 3)
                moved = np.flatnonzero(J.any(axis=(0, 1)))
                S = (picked[on[ts], middle][:, None, :, None] * J[:, :, None, moved]).reshape(-1, ORDER * len(moved))
                spots = (nf * np.arange(basis.edge, basis.edge + ORDER)[:, None] + moved).ravel()
                slope.reshape(-1)[spots] += S.T @ e.ravel()
                add_to_rows(S.T @ S, spots, c * nf, band)
            gradient[c : c + width] += slope
        inside = slice((self.first - start) * nf, (self.last - start) * nf)
        return band[inside], gradient.ravel()[inside]

    def improve(
        self, max_steps: int, tolerance: float, go_on: Callable[[], bool] = lambda: True
    ) -> tuple[float, float, int]:
        """Takes damped Gauss-Newton steps, as long as `go_on` says so; x changes in place.

        Returns the costs before and after, and the steps taken.
        """
        now = self.evaluate(self.x)
        before, damping, steps, small_gains = now.cost, 0.0, 0, 0
        scale = np.tile((self.task.lever / self.task.tuning.near) ** 2, self.last - self.first)
        while steps < max_steps and go_on():
            band, g = self.normal_equations(now)
            diagonal = band[:, 0] + RIDGE * band[:, 0] + POSE_RIDGE * scale
            after, share = now, 0.0
            for _ in range(MAX_DAMPINGS):
                band[:, 0] = diagonal + damping * scale
                step = solveh_banded(band.T[: len(g)], -g, lower=True, check_finite=False)
                after, share = self._search(now, step.reshape(-1, self.x.shape[1]))
                if after.cost < now.cost:
                    break
                damping = max(DAMPING_FACTOR * damping, 1.0)
            if after.cost >= now.cost:
                break
            steps += 1
            if damping <= MIN_DAMPING:
                damping = 0.0
            elif share > GOOD_SHARE:
                damping = damping / DAMPING_FACTOR
            gain, now = now.cost - after.cost, after
            small_gains = small_gains + 1 if gain < tolerance * now.cost else 0
            if small_gains == MAX_SMALL_GAINS:
                break
        return before, now.cost, steps

    def _search(self, now: _WindowState, step: Array) -> tuple[_WindowState, float]:
        """Takes the first share of a step that lowers the cost; x changes in place. Returns the state and the share."""
        here = self.x[self.first : self.last].copy()
        for share in STEP_SHARES:
            self.x[self.first : self.last] = here + share * step
            after = self.evaluate(self.x)
            if after.cost < now.cost:
                return after, share
        self.x[self.first : self.last] = here
        return now, 0.0


def _cross_matrices(f: Array) -> Array:
    """Returns matrices (m, 3, 3 p) that map displacements x of points (m, p, 3) to the sum of f x x."""
    m, p, _ = f.shape
    out = np.zeros((m, 3, p, 3))
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[:, a, :, c], out[:, a, :, b] = f[:, :, b], -f[:, :, c]
    return out.reshape(m, 3, 3 * p)
