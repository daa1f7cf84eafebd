"""The least change that makes a motion's forces possible: Gauss-Newton over windows of splines.

With W the wrench a frame needs (in body weights, torques over the height) and C what its contacts can give, minimise

    sum_t |dist(W_t, C_t)|^2 / force^2  +  sum_planted |p_i - p_i*|^2 / still^2  +  sum_below z^2 / still^2
        + sum_pressing z^2 / touch^2  +  sum_t sum_j (l_j / near)^2 (d_tj^2 + bend^4 d''_tj^2)

over the coefficients of the deviation d (`fix_basis`); l_j [m/rad] is how far a degree of freedom moves what hangs on
it, on average. The gradient of the distance to a cone is what is left of the wrench; its Hessian is the projector on
what the contacts in use cannot give (variable projection, Golub & Pereyra 1973; Kaufman 1975), here smoothed by an
interior point so that steps do not leap through the cone's walls (`fix_core`). A point that moves takes its force f
along: its torque changes by dp x f, and what is left turns with the CoM, about which torques are taken. Derivatives of
W by pose, velocity and acceleration come from `aggregate_core`. The normal matrix is banded; windows overlap, and each
starts from the final coefficients of the one before: time grows with length, no more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solveh_banded

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kinematics import body_frames
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow
from counterpoise.spacetime.aggregate.kernels import aggregate_batch, aggregate_force_batch
from counterpoise.spacetime.aggregate.places_kernels import places_batch
from counterpoise.spacetime.aggregate.tables import link_tables
from counterpoise.spacetime.check.forces import cone_edges, counted_parts, weight_of
from counterpoise.spacetime.check.frames import Frames, com_of, fit_locally, places_of
from counterpoise.spacetime.check.support import Hold, find_support
from counterpoise.spacetime.fix.basis import ORDER, Basis
from counterpoise.spacetime.fix.kernels import add_diagonals, add_spread, add_square, split_wrenches

RATE = 120.0  # [1/s] frames looked at, at least: what smoothing leaves has no more in it
WATCHED = 0.08  # [m] points that are never so near the ground are not watched
PRESSED = 0.03  # body weights: a point that gives as much has to be down
STIFFEST = 6  # times a step is damped before it is given up
PATIENCE = 2  # steps that gain little, one after the other, are enough


@dataclass(frozen=True)
class Weights:
    """What is worth as much as what: each of these changes the cost by one, in one frame."""

    force: float = 1e-3  # body weights from nowhere
    still: float = 1e-4  # [m] a planted point off its place, any point below the ground
    touch: float = 3e-3  # [m] a point that presses above the ground
    near: float = 0.01  # [m] a degree of freedom moves what hangs on it
    bend: float = 0.06  # [s] changes of the deviation faster than this are dear
    walls: float = 4.0  # a step that doubles a contact's force


@dataclass(frozen=True, eq=False)
class Task:
    """A clip to be changed: base poses, and what each frame's points may or must do."""

    motion: Motion  # even frames
    basis: Basis
    smooth: float  # [s]
    free: Ints  # degrees of freedom that may change
    lever: Array  # (free,) [m/rad, or 1]
    bodies: Ints  # (p,) points that may touch: the soles', those of other shapes, holds
    locals: Array  # (p, 3)
    radii: Array  # (p,)
    held: Flags  # (p,) may pull too
    stands: Flags  # (n, p) have to stay ...
    places: Array  # (n, p, 3) ... here
    contacts: tuple[ContactWindow, ...]
    holds: tuple[Hold, ...]
    floor: float
    friction: float
    reading: tuple[float, float, float, float]  # low, slow, reach, blur; see `find_support`
    weights: Weights


@dataclass(frozen=True, eq=False)
class _Look:
    """A window's frames at one iterate."""

    cost: float
    state: tuple[Array, Array, Array, Array]  # q, v, a as a check sees them, and the poses as they are
    left: Array  # (m, 6)
    firm: Array  # (m, 6, 6)
    force: Array  # (m, p, 3) what each point gives, in body weights
    weight: Array  # (m, p, 3) of the error ...
    error: Array  # (m, p, 3) ... of points that must stay, rise or come down
    d: Array  # (frames, free)
    bent: Array  # (frames, free)


class Window:
    """Coefficients first ... last - 1 of a task, the others as they are.

    `believed` (n,) weighs each frame's forces, `kept` (n,) how near it stays to what it was.
    """

    def __init__(self, task: Task, x: Array, first: int, last: int, believed: Array, kept: Array) -> None:
        self.task, self.x = task, x
        self.first, self.last = first, last
        self.frames = task.basis.touched(first, last)
        who = task.motion.character
        n, reach = len(task.motion), max(2, int(np.ceil(3.0 * task.smooth / task.basis.step)))
        self.wide = slice(max(0, self.frames.start - reach), min(n, self.frames.stop + reach))
        self.reach = reach
        every = max(1, int(1.0 / (RATE * task.basis.step) + 1e-6))
        self.picked = np.arange(-(-self.frames.start // every) * every, self.frames.stop, every)
        self.inner = self.picked - self.wide.start
        self.sure = every * believed[self.picked]
        self.kept = kept[self.frames]
        self.every = every
        self.units = np.array([weight_of(who) * who.height] * 3 + [weight_of(who)] * 3)
        self.counted = counted_parts(who)
        self.ways = cone_edges(task.friction)
        base = task.motion.poses[self.frames]
        low = places_of(who, base, task.bodies, task.locals)[:, :, 2] - task.radii < task.floor + WATCHED
        self.points = np.flatnonzero(task.stands[self.frames].any(axis=0) | low.any(axis=0) | task.held)
        self.stands = task.stands[self.picked][:, self.points]
        self.places = task.places[self.picked][:, self.points]
        self.refresh()

    def poses(self, x: Array, frames: slice) -> Array:
        """Base and deviation together."""
        task = self.task
        full = np.zeros((frames.stop - frames.start, task.motion.character.nv))
        full[:, task.free] = task.basis.deviation(x, frames)
        return np.asarray(task.motion.character.integrate(task.motion.poses[frames], full))

    def refresh(self) -> None:
        """Find anew which points may press, and which of them do, as the motion now is."""
        task, who = self.task, self.task.motion.character
        raw = self.poses(self.x, self.wide)
        q, v, a = fit_locally(who, raw, task.basis.step, task.smooth, self.reach)
        every = np.ones(len(raw), dtype=bool)
        frames = Frames(who, task.motion.times[self.wide], raw, q, v, a, every, 1.0 / task.basis.step)
        found = find_support(task.motion, frames, task.contacts, task.holds, task.floor, *task.reading)
        self.bears = np.ascontiguousarray(found.blurred[self.inner][:, self.points])
        down = found.bearing[self.inner][:, self.points] & ~self.stands & ~task.held[self.points]
        self.presses = np.zeros_like(down)
        force = self._wrenches(*(np.ascontiguousarray(z[self.inner]) for z in (q, v, a)))[2]
        self.presses = down & (force[:, :, 2] > PRESSED)

    def _wrenches(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """What is left of every frame's wrench, how firmly, and each point's force."""
        task, who = self.task, self.task.motion.character
        m, p = len(q), len(self.points)
        com = com_of(who, q)
        F = np.empty((m, 6))
        aggregate_force_batch(link_tables(who), q, v, a, com, F)
        P = places_of(who, q, task.bodies[self.points], task.locals[self.points])
        P[:, :, 2] -= task.radii[self.points]
        left, firm, force = np.empty((m, 6)), np.empty((m, 6, 6)), np.empty((m, p, 3))
        mild = task.weights.walls * task.weights.force**2
        held = task.held[self.points]
        split_wrenches(
            F / self.units, com, P, self.bears, held, self.ways, who.height, self.counted, mild, left, firm, force
        )
        return left, firm, force

    def look(self, x: Array) -> _Look:
        """The window at an iterate, and what it costs."""
        task, who, w = self.task, self.task.motion.character, self.task.weights
        pts = self.points
        raw = self.poses(x, self.wide)
        smooth = fit_locally(who, raw, task.basis.step, task.smooth, self.reach)
        q, v, a = (np.ascontiguousarray(z[self.inner]) for z in smooth)
        raw = np.ascontiguousarray(raw[self.inner])
        left, firm, force = self._wrenches(q, v, a)
        P = places_of(who, raw, task.bodies[pts], task.locals[pts])
        rise = P[:, :, 2] - task.radii[pts] - task.floor
        below = ~self.stands & (rise < 0.0) & ~task.held[pts]
        above = self.presses & (rise >= 0.0)
        weight = np.zeros(P.shape)
        weight[self.stands] = 1.0 / w.still
        weight[below, 2] = 1.0 / w.still
        weight[above, 2] = 1.0 / w.touch
        weight *= np.sqrt(self.every)
        error = weight * np.where(self.stands[:, :, None], P - self.places, rise[:, :, None])
        d, bent = task.basis.deviation(x, self.frames), task.basis.bending(x, self.frames)
        lever = task.lever / w.near
        cost = float(
            np.sum(self.sure[:, None] * left**2) / w.force**2
            + np.sum(error**2)
            + np.sum(self.kept[:, None] * lever**2 * (d**2 + w.bend**4 * bent**2))
        )
        return _Look(cost, (q, v, a, raw), left, firm, force, weight, error, d, bent)

    def moved(self, x: Array) -> Array:
        """How far each frame's farthest body is from where it was (m,) [m]."""
        who = self.task.motion.character
        was, _ = body_frames(who, self.task.motion.poses[self.picked])
        now, _ = body_frames(who, self.poses(x, self.wide)[self.inner])
        return np.asarray(np.linalg.norm(now - was, axis=-1).max(axis=1))

    def derive(self, look: _Look) -> tuple[Array, Array]:
        """Wrenches by q, v, a (3, m, 6, free), and weighted errors by q (m, p, 3, free)."""
        who, pts, free = self.task.motion.character, self.points, self.task.free
        tables = link_tables(who)
        q, v, a, raw = look.state
        m, nv = len(q), who.nv
        P, J = np.empty((m, len(pts), 3)), np.empty((m, len(pts), 3, nv))
        places_batch(tables, raw, v, self.task.bodies[pts], self.task.locals[pts], P, np.empty_like(P), J)
        J = J[..., free]
        D = np.empty((3, m, 6, nv))
        aggregate_batch(tables, q, v, a, com_of(who, q), np.empty((m, 6)), D[0], D[1], D[2])
        by = D[..., free] / self.units[:, None]
        by[0, :, :3] += _crossing(look.force) @ J.reshape(m, -1, len(free)) / who.height  # - dp x f
        com_by = by[2, :, 3:] * np.linalg.norm(who.model.opt.gravity)  # m c'' / (m g), by accelerations
        by[0, :, :3] += _crossing(look.left[:, None, 3:]) @ com_by / who.height  # - dc x what is left
        J *= look.weight[..., None]
        return by, J

    def normal(self, look: _Look) -> tuple[Array, Array]:
        """The upper band (free coefficients x dofs, width x dofs) of the normal matrix, and the gradient."""
        task, basis, w = self.task, self.task.basis, self.task.weights
        width, nf = basis.width, len(task.free)
        start = int(basis.first[self.frames.start])
        total = int(basis.first[self.frames.stop - 1]) + width - start
        band, g = np.zeros((total * nf, width * nf)), np.zeros((total, nf))
        wrench_by, jacobian = self.derive(look)
        sure = np.sqrt(self.sure) / w.force
        seen, picked = basis.seen[:, self.picked], basis.value[self.picked]
        value, bend = basis.value[self.frames], basis.bend[self.frames]
        first, own = basis.first[self.frames] - start, basis.first[self.picked] - start
        lever = (task.lever / w.near) ** 2
        middle = slice(basis.edge, basis.edge + ORDER)
        roots = np.linalg.cholesky(look.firm).transpose(0, 2, 1)
        active = np.asarray(look.weight.any(axis=2))
        for c in np.unique(first):
            here, on = np.flatnonzero(first == c), np.flatnonzero(own == c)
            B, C = self.kept[here, None] * value[here], w.bend**4 * self.kept[here, None] * bend[here]
            K = B.T @ value[here] + C.T @ bend[here]
            add_diagonals(K, lever, c * nf, band)
            slope = lever * (B.T @ look.d[here] + C.T @ look.bent[here])
            by = np.zeros((len(on), 6, width, nf))
            for z in range(3):
                by += seen[z, on][:, None, :, None] * wrench_by[z, on][:, :, None]
            by *= sure[on, None, None, None]
            rows = by.reshape(len(on), 6, width * nf)
            slope += np.tensordot(look.left[on] * sure[on, None], rows, axes=((0, 1), (0, 1))).reshape(width, nf)
            R = (roots[on] @ rows).reshape(-1, width * nf)
            add_square(R.T @ R, c * nf, band)
            ts, ps = np.nonzero(active[on])
            if len(ts):
                J, e = jacobian[on[ts], ps], look.error[on[ts], ps]  # (k, 3, nf), (k, 3)
                moved = np.flatnonzero(J.any(axis=(0, 1)))
                S = (picked[on[ts], middle][:, None, :, None] * J[:, :, None, moved]).reshape(-1, ORDER * len(moved))
                spots = (nf * np.arange(basis.edge, basis.edge + ORDER)[:, None] + moved).ravel()
                slope.reshape(-1)[spots] += S.T @ e.ravel()
                add_spread(S.T @ S, spots, c * nf, band)
            g[c : c + width] += slope
        inside = slice((self.first - start) * nf, (self.last - start) * nf)
        return band[inside], g.ravel()[inside]

    def improve(self, most: int, tolerance: float) -> tuple[float, float, int]:
        """Damped Gauss-Newton steps; x changes in place. Returns the cost before and after, and the steps taken."""
        look = self.look(self.x)
        begun, damping, steps, little = look.cost, 0.0, 0, 0
        scale = np.tile((self.task.lever / self.task.weights.near) ** 2, self.last - self.first)
        while steps < most:
            band, g = self.normal(look)
            firm = band[:, 0] + 1e-9 * band[:, 0] + 1e-3 * scale
            after = look
            for _ in range(STIFFEST):
                band[:, 0] = firm + damping * scale
                move = solveh_banded(band.T[: len(g)], -g, lower=True, check_finite=False)
                after, share = self._search(look, move.reshape(-1, self.x.shape[1]))
                if after.cost < look.cost:
                    break
                damping = max(10.0 * damping, 1.0)
            if after.cost >= look.cost:
                break
            steps += 1
            damping = 0.1 * damping if damping > 0.5 and share > 0.9 else damping if damping > 0.5 else 0.0
            gain, look = look.cost - after.cost, after
            little = little + 1 if gain < tolerance * look.cost else 0
            if little == PATIENCE:
                break
        return begun, look.cost, steps

    def _search(self, look: _Look, move: Array) -> tuple[_Look, float]:
        """Go as much of a step as lowers the cost; x changes in place."""
        here = self.x[self.first : self.last].copy()
        for share in (1.0, 0.5, 0.2):
            self.x[self.first : self.last] = here + share * move
            after = self.look(self.x)
            if after.cost < look.cost:
                return after, share
        self.x[self.first : self.last] = here
        return look, 0.0


def _crossing(f: Array) -> Array:
    """Matrices (m, 3, 3 p) that take displacements x of points (m, p, 3) to the sum of f x x."""
    m, p, _ = f.shape
    out = np.zeros((m, 3, p, 3))
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[:, a, :, c], out[:, a, :, b] = f[:, :, b], -f[:, :, c]
    return out.reshape(m, 3, 3 * p)
