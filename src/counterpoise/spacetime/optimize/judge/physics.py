"""Forces from nowhere and joints beyond their strength, with the contact forces that explain a motion best."""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear, nnls

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kinematics import dofs_moving
from counterpoise.spacetime.aggregate.torques_kernels import torques_batch
from counterpoise.spacetime.optimize.judge.faults import (
    FORCE_ALLOWED,
    FORCE_WINDOW,
    STRENGTH_ALLOWED,
    Measure,
)
from counterpoise.spacetime.optimize.judge.samples import Samples
from counterpoise.spacetime.optimize.requirements.torque import TorqueLimit, plan_torques
from counterpoise.spacetime.optimize.rows.physics import force_scale, missing_force, wrench_by_multipliers
from counterpoise.spacetime.optimize.rows.torque import TorquePlan, contact_wrenches, touched_bodies

KEEP_FORCES = 1e-3  # weight of staying near the forces between the knots, beside the physics
NO_SLOPE = np.zeros((1, 1, 1))
WORTH_SHARING = 0.1  # share of what is allowed from which forces are shared out anew


def physics_measures(s: Samples) -> tuple[list[Measure], Array]:
    """Returns the forces from nowhere as measures, and the variables with contact forces that explain most."""
    if not s.start.character.floating:
        return [], s.x
    x = _best_forces(s)
    missing = missing_force(s.evaluation, s.holds, x)
    held = np.zeros(s.count, bool)
    for h in s.holds:
        held[h.on] = True
    out = []
    for on, place in ((~held, "in flight"), (held, "in contact")):
        for part, noun in ((slice(3, 6), "force"), (slice(0, 3), "torque")):
            size = _windowed(s, np.where(on, np.linalg.norm(missing[:, part], axis=1), 0.0), on)
            text = f"a {noun} from nowhere {place}, {{size}} of body weight"
            out.append(Measure("physics", text, size, FORCE_ALLOWED, "body weights"))
    return out, x


def strength_measures(s: Samples, x: Array) -> list[Measure]:
    """Returns how far each joint works beyond its strength, or beyond the limit asked for; shares of that."""
    character = s.start.character
    asked = plan_torques(character, [r for r in s.start.request.requirements if isinstance(r, TorqueLimit)])
    own = plan_torques(character, [TorqueLimit()])
    if own is None:
        return []
    known = np.isfinite(character.torque_limit[own.dofs]) & (character.torque_limit[own.dofs] > 0.0)
    bound, mends = np.where(known, own.bound, np.inf), np.zeros(len(own.dofs), bool)
    if asked is not None:
        at = np.searchsorted(own.dofs, asked.dofs)
        bound[at], mends[at] = asked.bound, True
    plan = TorquePlan(own.dofs, own.strength, bound, own.effort)
    tau, axes = _torques(s, x, plan)
    share = tau / plan.strength
    over = np.abs(share) / plan.bound - 1.0
    for i in np.flatnonzero(over.max(axis=1, initial=0.0) > STRENGTH_ALLOWED):
        share[i] = _shared_within(s, x, plan, int(i), share[i], axes[i])
    over = np.maximum(np.abs(share) / plan.bound - 1.0, 0.0)
    out = []
    for joint in character.joints:
        cols = np.flatnonzero((plan.dofs >= joint.dofs.start) & (plan.dofs < joint.dofs.stop))
        if joint.kind != "free" and len(cols):
            words = "its strength" if not mends[cols].any() else "its torque limit"
            text = f"{joint.name} works at {{size}} of {words}"
            out.append(Measure("strength", text, over[:, cols].max(axis=1), STRENGTH_ALLOWED, "strength",
                               bool(mends[cols].any())))  # fmt: skip
    return out


def _windowed(s: Samples, size: Array, on: Flags) -> Array:
    """Root mean square over FORCE_WINDOW about each sample, inside its phase."""
    out, phase = np.zeros(s.count), s.start.frames.phase[: s.count]
    for p in np.unique(phase[on]):
        at = np.flatnonzero(phase == p)
        t = s.times[at]
        step = np.gradient(t) if len(t) > 1 else np.ones(1)
        total, time = np.cumsum(step * size[at] ** 2), np.cumsum(step)
        first = np.searchsorted(t, t - 0.5 * FORCE_WINDOW)
        last = np.searchsorted(t, t + 0.5 * FORCE_WINDOW, side="right") - 1
        before = np.where(first > 0, total[first - 1], 0.0), np.where(first > 0, time[first - 1], 0.0)
        out[at] = np.sqrt(np.maximum(total[last] - before[0], 0.0) / np.maximum(time[last] - before[1], 1e-12))
    return out


def _best_forces(s: Samples) -> Array:
    """The variables with forces of contacts that leave least unexplained, as near as may be to those they had."""
    x, e = s.x.copy(), s.evaluation
    missing = missing_force(e, s.holds, x)
    worth = np.linalg.norm(missing, axis=1) > WORTH_SHARING * FORCE_ALLOWED
    scale = e.character.weight * force_scale(e.character)
    maps = [wrench_by_multipliers(e, h, x) * scale[:, None] for h in s.holds]
    for i in np.flatnonzero(worth):
        here = _multipliers_at(s, int(i))
        if not here:
            continue
        W = np.concatenate([maps[k][row] for k, row, _ in here], axis=1)
        cols = np.concatenate([c for _, _, c in here])
        low, high = _bounds(s, here)
        x[cols] = _bounded(W, missing[i] + W @ x[cols], x[cols], low, high)
    return x


def _multipliers_at(s: Samples, i: int) -> list[tuple[int, int, Ints]]:
    """(contact, its row, variables of its multipliers) of contacts that hold at a sample."""
    out = []
    for k, h in enumerate(s.holds):
        row = int(np.searchsorted(h.on, i))
        if row < len(h.on) and h.on[row] == i:
            m = h.hold.multipliers
            out.append((k, row, h.first + row * m + np.arange(m)))
    return out


def _bounds(s: Samples, here: list[tuple[int, int, Ints]]) -> tuple[Array, Array]:
    both = [s.holds[k].hold.bounds(s.start.character.weight) for k, _, _ in here]
    return np.concatenate([b[0] for b in both]), np.concatenate([b[1] for b in both])


def _bounded(A: Array, b: Array, near: Array, low: Array, high: Array) -> Array:
    """The f between bounds with least |A f - b|^2 + |KEEP_FORCES (f - near)|^2."""
    whole = np.concatenate([A, KEEP_FORCES * np.eye(len(near))])
    goal = np.concatenate([b, KEEP_FORCES * near])
    if (low == 0.0).all() and np.isinf(high).all():
        return np.asarray(nnls(whole, goal)[0])
    tight = high <= low  # multipliers that are fixed
    return np.where(tight, low, lsq_linear(whole, goal, (low - 1e-12 * tight, high + 1e-12 * tight)).x)


def _torques(s: Samples, x: Array, plan: TorquePlan) -> tuple[Array, Array]:
    """Torques (n, K) [N m] and the axes (n, K, 6) they act about."""
    e, n, K = s.evaluation, s.count, len(plan.dofs)
    bodies = touched_bodies(s.holds)
    wrenches = contact_wrenches(e, s.holds, x, bodies)
    tau, axes = np.zeros((n, K)), np.zeros((n, K, 6))
    torques_batch(
        e.tables, e.q[:n], e.v[:n], e.a[:n], e.about, plan.dofs, bodies, wrenches, tau, axes, NO_SLOPE, NO_SLOPE,
        NO_SLOPE, False,
    )  # fmt: skip
    return tau, axes


def _shared_within(s: Samples, x: Array, plan: TorquePlan, i: int, share: Array, axes: Array) -> Array:
    """Shares of strength (K,) at a sample, with contact forces chosen so that joints stay within their bounds."""
    here = _multipliers_at(s, i)
    if not here:
        return share
    e, weight = s.evaluation, s.start.character.weight
    scale, carries = weight * force_scale(e.character), dofs_moving(e.character)[:, plan.dofs]
    maps, slopes = [], []
    for k, row, _ in here:
        h = s.holds[k]
        maps.append(wrench_by_multipliers(e, h, x)[row] * scale[:, None])
        m, g = h.hold.generators.shape[:2]
        at, G = h.arms(e, x)[row] + e.about[i], h.generators[row]  # (m, 3), (m, g, 3)
        by = np.einsum("ki,mgi->kmg", axes[:, :3], np.cross(at[:, None], G)) + np.einsum("ki,mgi->kmg", axes[:, 3:], G)
        by = (by * carries[h.bodies].T[:, :, None]).reshape(len(plan.dofs), m * g)
        spin = (axes[:, :3] @ h.hold.torques.T) * carries[h.hold.body][:, None]
        slopes.append(-weight / plan.strength[:, None] * np.concatenate([by, spin], axis=1))
    W, T = np.concatenate(maps, axis=1), np.concatenate(slopes, axis=1)
    f = x[np.concatenate([c for _, _, c in here])]
    low, high = _bounds(s, here)
    need = W @ f  # the wrench is kept; share + T (f' - f) = u within bounds
    top = np.where(np.isfinite(plan.bound), plan.bound, 1e6)
    n, K = len(f), len(plan.dofs)
    A = np.block([[10.0 * W, np.zeros((6, K))], [T, -np.eye(K)], [KEEP_FORCES * np.eye(n), np.zeros((n, K))]])
    b = np.concatenate([10.0 * need, T @ f - share, KEEP_FORCES * f])
    found = lsq_linear(A, b, (np.concatenate([low, -top]) - 1e-12, np.concatenate([high, top]) + 1e-12)).x[:n]
    if np.abs(W @ (found - f)).max() > WORTH_SHARING * FORCE_ALLOWED:
        return share
    return np.asarray(share + T @ (found - f))
