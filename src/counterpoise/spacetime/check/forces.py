"""What must be supplied by nothing: the wrench a motion needs beyond what its contacts can give.

Newton and Euler leave no choice: a motion needs the wrench W = [rate of angular momentum about the CoM; m (c'' - g)].
The contacts give sum_i [(p_i - c) x f_i; f_i] with every f_i in its friction cone, f_i = sum_e l_ie d_e with l >= 0.
For each frame, with unit force m |g| and unit torque m |g| height,

    minimise  |W - G l|^2  +  eps^2 sum_j (tau_j / limit_j)^2  +  delta (1 + (speed / slow)^2) |l|^2,

where tau = M a + h - J^T f are the torques the joints then need. The first term decides; the others choose, among
forces that do equally well, those that strain the body least and rest on points that stand still. What is left of W is
the violation. Solved by non-negative least squares on the normal equations (Lawson & Hanson 1974; Bro & de Jong 1997).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character import Character
from counterpoise.kernels import kernel
from counterpoise.solve.polygon import hull_edges, nearest_inside
from counterpoise.spacetime.aggregate.kernels import aggregate_force_batch
from counterpoise.spacetime.aggregate.tables import link_tables
from counterpoise.spacetime.check.frames import Frames, com_of
from counterpoise.spacetime.check.support import Support

EDGES = 8  # of a friction cone
EFFORT, REST = 3e-3, 1e-6  # weights eps and delta
SLOW = 0.1  # [m/s]
STOPS = 0.03  # [rad, m] a joint this near its limit may rest against it
_LIGHT = 0.2  # body weights: below this load neither friction nor centre of pressure mean anything


@dataclass(frozen=True, eq=False)
class Forces:
    """Forces of every frame, in units of body weight, or body weight times height."""

    com: Array  # (n, 3) [m]
    wrench: Array  # (n, 6) [torque about the CoM; force], as the motion needs it
    missing: Array  # (n, 6) what the contacts cannot give of it
    angular: Array  # (n, 3) angular momentum about the CoM [kg m^2/s]
    contact: Array  # (n, p, 3) contact force of every point
    torque: Array  # (n, nv) as a share of the limit; zero where there is none
    friction: Array  # (n,) horizontal over vertical force; nan in the air or where held
    outside: Array  # (n,) [m] centre of pressure beyond the support area; nan likewise


def find_forces(
    frames: Frames, support: Support, friction: float, progress: Callable[[float], None] | None = None
) -> Forces:
    """Wrench, contact forces, what is missing, and the joints' torques, frame by frame."""
    who = frames.character
    n, nv = len(frames), who.nv
    weight, height = weight_of(who), who.height
    com = com_of(who, frames.q)
    wrench, angular = _needed(frames, com), np.zeros((n, 3))
    units = np.array([weight * height] * 3 + [weight] * 3)
    counted = counted_parts(who) / units
    m, d = who.model, mujoco.MjData(who.model)
    ways = cone_edges(friction)
    missing, torque = np.zeros((n, 6)), np.zeros((n, nv))
    contact = np.zeros((n, len(support.bodies), 3))
    limit = np.array(who.torque_limit)
    limited = np.flatnonzero(limit > 0.0)
    strength = np.where(limit > 0.0, weight / np.maximum(limit, 1e-9), 0.0)
    tau, jac = np.empty(nv), np.empty((3, nv))
    armature = np.asarray(m.dof_armature)
    held = (support.foot == -2).astype(np.int64)
    limits = who.limits if len(who.limits) and len(limited) else None
    for t in range(n):
        d.qpos[:], d.qvel[:], d.qacc[:] = frames.q[t], frames.v[t], frames.a[t]
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_comVel(m, d)
        mujoco.mj_passive(m, d)
        mujoco.mj_rne(m, d, 1, tau)
        tau += armature * frames.a[t] - d.qfrc_passive
        mujoco.mj_subtreeVel(m, d)
        angular[t] = d.subtree_angmom[0]
        active = np.flatnonzero(support.blurred[t])
        J = np.empty((len(active), 3, nv))
        for k, p in enumerate(active):
            mujoco.mj_jac(m, d, jac, None, support.places[t, p], int(support.bodies[p]))
            J[k] = jac
        soft = REST * (1.0 + (support.speeds[t, active] / SLOW) ** 2)
        found, left = _share_out(
            wrench[t], counted, tau / weight, strength, limited, com[t], support.places[t, active],
            held[active], J, ways, soft,
        )  # fmt: skip
        contact[t, active] = found
        missing[t] = left
        torque[t] = strength * (tau / weight - np.einsum("pk,pkv->v", found, J))
        if limits is not None:
            near = np.flatnonzero(limits.values(frames.q[t]) > -STOPS)
            if len(near):
                torque[t] = _beside_stops(torque[t], strength, limits.jacobian(frames.q[t])[near])
        if progress is not None and t % 64 == 0:
            progress(t / n)
    shares = wrench / units
    rubbing, outside = _pressure(shares * np.array([height] * 3 + [1.0] * 3), com, support)
    return Forces(com, shares, missing, angular, contact, torque, rubbing, outside)


def weight_of(who: Character) -> float:
    """Mass times gravity [N]."""
    return who.mass * float(np.linalg.norm(who.model.opt.gravity))


def _needed(frames: Frames, com: Array) -> Array:
    """Aggregate wrench (n, 6) about the CoM, what carries the weight included."""
    T, n = link_tables(frames.character), len(frames)
    q, v, a = (np.array(x, dtype=np.float64, order="C") for x in (frames.q, frames.v, frames.a))
    about = np.array(com, order="C")
    F = np.empty((n, 6))
    aggregate_force_batch(T, q, v, a, about, F)
    return F


def counted_parts(who: Character) -> Array:
    """(6,): 1 where nothing but contacts can give a component of the wrench, 0 where the root's rails can."""
    out = np.zeros(6)
    for joint in who.joints:
        if joint.dofs.start >= who.root_dofs.stop:
            break
        if joint.kind == "free":
            return np.ones(6)
        for k in range(who.model.njnt):
            if joint.dofs.start <= int(who.model.jnt_dofadr[k]) < joint.dofs.stop:
                axis = np.abs(np.asarray(who.model.jnt_axis[k])) > 0.5
                slides = int(who.model.jnt_type[k]) == int(mujoco.mjtJoint.mjJNT_SLIDE)
                out[3:] += axis * slides
                out[:3] += axis * (not slides)
    return np.minimum(out, 1.0)


def cone_edges(friction: float) -> Array:
    """(EDGES, 3): the edges of a friction cone on level ground, one unit of pressure each."""
    angle = 2.0 * np.pi * np.arange(EDGES) / EDGES
    return np.stack([friction * np.cos(angle), friction * np.sin(angle), np.ones(EDGES)], axis=1)


def _beside_stops(torque: Array, strength: Array, rows: Array) -> Array:
    """What muscles have to give where joints rest against their stops: the least of tau + G^T l over l >= 0.

    `torque` is a share of strength; a stop with the limit's gradient G can only push back, along -G.
    """
    G = rows * strength
    H = G @ G.T
    H[np.diag_indices(len(H))] += 1e-9 * max(float(H.max(initial=0.0)), 1e-12)
    return np.asarray(torque + least_squares_above_zero(H, -G @ torque) @ G)


def _pressure(wrench: Array, com: Array, support: Support) -> tuple[Array, Array]:
    """Horizontal over vertical force, and how far the centre of pressure lies outside the support area [m].

    On the plane under the feet: p_x = c_x - (n_y + h f_x) / f_z, p_y = c_y + (n_x - h f_y) / f_z.
    """
    n = len(com)
    friction, outside = np.full(n, np.nan), np.full(n, np.nan)
    held = (support.foot == -2)[None] & support.blurred
    for t in range(n):
        active = np.flatnonzero(support.blurred[t])
        fx, fy, fz = wrench[t, 3:]
        if len(active) == 0 or held[t].any() or fz < _LIGHT:
            continue
        places = support.places[t, active]
        h = com[t, 2] - float(places[:, 2].mean())
        x = com[t, 0] - (wrench[t, 1] + h * fx) / fz
        y = com[t, 1] + (wrench[t, 0] - h * fy) / fz
        friction[t] = np.hypot(fx, fy) / fz
        near = nearest_inside(hull_edges(np.ascontiguousarray(places[:, :2])), x, y, 0.0)
        outside[t] = np.hypot(x - near[0], y - near[1])
    return friction, outside


# ------------------------------------------------------------------------------------------------------- compiled


@kernel
def _share_out(
    wrench: Array,
    counted: Array,
    tau: Array,
    strength: Array,
    limited: Ints,
    com: Array,
    places: Array,
    held: Ints,
    J: Array,
    ways: Array,
    soft: Array,
) -> tuple[Array, Array]:
    """Forces (p, 3) in body weights, and what is missing of the wrench (6,), scaled.

    `tau` are the torques without contacts, per body weight; `counted` scales the wrench's rows.
    """
    p = len(places)
    unit = 0.0
    for k in range(3, 6):
        unit = max(unit, counted[k])
    per = 1.0 / unit if unit > 0.0 else 1.0  # one body weight [N]
    count = 0
    for i in range(p):
        count += 6 if held[i] == 1 else len(ways)
    rows = 6 + len(limited)
    A, b, way, whose = np.zeros((count, rows)), np.zeros(rows), np.zeros((count, 3)), np.zeros(count, np.int64)
    for k in range(6):
        b[k] = counted[k] * wrench[k]
    for k in range(len(limited)):
        b[6 + k] = EFFORT * strength[limited[k]] * tau[limited[k]]
    c = 0
    for i in range(p):
        x, y, z = places[i, 0] - com[0], places[i, 1] - com[1], places[i, 2] - com[2]
        for e in range(6 if held[i] == 1 else len(ways)):
            if held[i] == 1:
                way[c, e % 3] = 1.0 if e < 3 else -1.0
            else:
                way[c] = ways[e]
            whose[c] = i
            u, v, w = way[c, 0], way[c, 1], way[c, 2]
            A[c, 0] = counted[0] * per * (y * w - z * v)
            A[c, 1] = counted[1] * per * (z * u - x * w)
            A[c, 2] = counted[2] * per * (x * v - y * u)
            A[c, 3], A[c, 4], A[c, 5] = counted[3] * per * u, counted[4] * per * v, counted[5] * per * w
            for k in range(len(limited)):
                j = limited[k]
                A[c, 6 + k] = EFFORT * strength[j] * (J[i, 0, j] * u + J[i, 1, j] * v + J[i, 2, j] * w)
            c += 1
    H, g = A @ A.T, A @ b
    for c in range(count):
        H[c, c] += soft[whose[c]]
    amount = least_squares_above_zero(H, g)
    force, left = np.zeros((p, 3)), b[:6].copy()
    for c in range(count):
        if amount[c] > 0.0:
            for k in range(3):
                force[whose[c], k] += amount[c] * way[c, k]
            for k in range(6):
                left[k] -= amount[c] * A[c, k]
    return force, left


@kernel
def least_squares_above_zero(H: Array, g: Array) -> Array:
    """x >= 0 that minimises x H x / 2 - g x, H positive definite: columns join one by one, and leave when negative."""
    n = len(g)
    x = np.zeros(n)
    used = np.zeros(n, np.bool_)
    order = np.empty(n, np.int64)
    size = 0
    scale = 0.0
    for i in range(n):
        scale = max(scale, abs(g[i]))
    for _ in range(3 * n + 10):
        best, pick = 1e-11 * scale, -1
        for i in range(n):
            if not used[i]:
                w = g[i]
                for k in range(size):
                    w -= H[i, order[k]] * x[order[k]]
                if w > best:
                    best, pick = w, i
        if pick < 0:
            break
        used[pick] = True
        order[size] = pick
        size += 1
        while size > 0:
            s = _solve_part(H, g, order, size)
            share, worst = 1.0, -1
            for k in range(size):
                if s[k] <= 0.0:
                    now = x[order[k]]
                    part = now / (now - s[k]) if now > s[k] else 0.0
                    if part < share or worst < 0:
                        share, worst = min(part, share), k
            if worst < 0:
                for k in range(size):
                    x[order[k]] = s[k]
                break
            kept = 0
            for k in range(size):
                i = order[k]
                x[i] += share * (s[k] - x[i])
                if k == worst or (x[i] <= 1e-15 and s[k] <= 0.0):
                    x[i] = 0.0
                    used[i] = False
                else:
                    order[kept] = i
                    kept += 1
            size = kept
    return x


@kernel
def _solve_part(H: Array, g: Array, order: Ints, size: int) -> Array:
    """The unconstrained optimum over some columns, by Cholesky."""
    L, s = np.empty((size, size)), np.empty(size)
    for r in range(size):
        i = order[r]
        for c in range(r + 1):
            total = H[i, order[c]]
            for k in range(c):
                total -= L[r, k] * L[c, k]
            L[r, c] = np.sqrt(max(total, 1e-18)) if c == r else total / L[c, c]
        total = g[i]
        for k in range(r):
            total -= L[r, k] * s[k]
        s[r] = total / L[r, r]
    for r in range(size - 1, -1, -1):
        total = s[r]
        for k in range(r + 1, size):
            total -= L[k, r] * s[k]
        s[r] = total / L[r, r]
    return s
