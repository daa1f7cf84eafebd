"""Residual forces: the wrench that a motion needs and its contacts cannot supply.

By the laws of Newton and Euler a motion needs the wrench W = [rate of angular momentum about the CoM; m (c'' - g)]. The
contacts supply sum_i [(p_i - c) x f_i; f_i] with every f_i in its friction cone, f_i = sum_e l_ie d_e with l >= 0. For
each frame, with unit force m |g| and unit torque m |g| height,

    minimise  |W - G l|^2  +  eps^2 sum_j (tau_j / limit_j)^2  +  delta (1 + (speed / slow)^2) |l|^2,

where tau = M a + h - J^T f are the torques that the joints then need. The first term dominates. The other two choose,
among forces that fit equally well, those with small joint torques and at points that stand still. What is left of W is
the residual. Solved by non-negative least squares (`nonnegative`). Where a joint would then be overloaded, the forces
are shared out again, within the joints' strength if that is possible (`sharing`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.kernels import kernel
from counterpoise.solve.polygon import hull_edges, nearest_inside
from counterpoise.spacetime.aggregate.kernels import aggregate_force_batch
from counterpoise.spacetime.aggregate.tables import link_tables
from counterpoise.spacetime.check.frames import CheckedFrames, com_of
from counterpoise.spacetime.check.nonnegative import nonnegative_least_squares
from counterpoise.spacetime.check.sharing import Sharing, edges_of, share_within_strength
from counterpoise.spacetime.check.support import HELD, GroundSupport
from counterpoise.spacetime.check.tuning import CheckTuning

CONE_EDGES = 8  # of a friction cone
TORQUE_WEIGHT, FORCE_WEIGHT = 3e-3, 1e-6  # eps and delta
SLIDING_SPEED = 0.1  # [m/s] at which the weight of a contact force doubles
MIN_LOAD = 0.2  # [body weights] with less load, friction and centre of pressure have no meaning
STOP_RIDGE = 1e-9  # relative, for stops whose gradients depend on each other
PROGRESS_FRAMES = 32  # between two reports of progress


@dataclass(frozen=True, eq=False)
class Forces:
    """Forces of every frame, in units of body weight, or body weight times height."""

    com: Array  # (n, 3) [m]
    wrench: Array  # (n, 6) [torque about the CoM; force] that the motion needs
    missing: Array  # (n, 6) the part of it that contacts cannot supply
    angular: Array  # (n, 3) angular momentum about the CoM [kg m^2/s]
    contact: Array  # (n, p, 3) contact force of every point
    torque: Array  # (n, nv) as a share of the limit; zero without a limit
    friction: Array  # (n,) horizontal over vertical force; nan in the air and with held bodies
    outside: Array  # (n,) [m] distance of the centre of pressure from the support area; nan likewise


def find_forces(
    frames: CheckedFrames,
    support: GroundSupport,
    tuning: CheckTuning,
    progress: Callable[[float], None] | None = None,
) -> Forces:
    """Returns wrenches, contact forces, residuals and joint torques of all frames."""
    character = frames.character
    n, nv, height = len(frames), character.nv, character.height
    com = com_of(character, frames.q)
    wrench, angular = _needed_wrench(frames, com), np.zeros((n, 3))
    units = wrench_units(character)
    scale = contact_components(character) / units
    edges = cone_edges(tuning.friction)
    missing, torque = np.zeros((n, 6)), np.zeros((n, nv))
    contact = np.zeros((n, len(support.bodies), 3))
    limit = np.where(_of_fingers(character), 0.0, character.torque_limit)
    limited = np.flatnonzero(limit > 0.0)
    strength = np.where(limit > 0.0, character.weight / np.maximum(limit, 1e-9), 0.0)
    held = (support.foot == HELD).astype(np.int64)
    limits = character.limits if len(character.limits) and len(limited) else None
    dynamics = _InverseDynamics(character)
    for t in range(n):
        tau, angular[t] = dynamics.torques(frames.q[t], frames.v[t], frames.a[t])
        tau = tau / character.weight
        active = np.flatnonzero(support.blurred[t])
        J = dynamics.jacobians(support.places[t, active], support.bodies[active])
        ridge = FORCE_WEIGHT * (1.0 + (support.speeds[t, active] / SLIDING_SPEED) ** 2)
        contact[t, active], missing[t] = _distribute(
            wrench[t], scale, tau, strength, limited, com[t], support.places[t, active], held[active], J, edges, ridge
        )
        torque[t] = strength * (tau - np.einsum("pk,pkv->v", contact[t, active], J))
        stops = np.zeros((0, nv))
        if limits is not None:
            near = np.flatnonzero(limits.values(frames.q[t]) > -tuning.stop_margin)
            if len(near):
                stops = limits.jacobian(frames.q[t])[near]
                torque[t] = torques_with_stops(torque[t], strength, stops)
        if len(active) and np.abs(torque[t]).max(initial=0.0) > 1.0:
            directions, points, turns = edges_of(support.places[t, active], held[active], com[t], edges)
            shared = share_within_strength(
                Sharing(
                    wrench=scale * wrench[t] - missing[t],
                    wrenches=(scale * character.weight)[:, None] * np.hstack([turns, directions]).T,
                    torque=(strength * tau)[limited],
                    torques=(np.einsum("ck,ckv->cv", directions, J[points]) * strength)[:, limited].T,
                    stops=(stops * strength)[:, limited],
                    ridge=ridge[points],
                )
            )
            if shared is not None:
                amount, torque[t, limited] = shared
                contact[t, active] = 0.0
                np.add.at(contact[t], active[points], amount[:, None] * directions)
        if progress is not None and t % PROGRESS_FRAMES == 0:
            progress(t / n)
    shares = wrench / units
    friction, outside = _pressure(shares * np.array([height] * 3 + [1.0] * 3), com, support)
    return Forces(com, shares, missing, angular, contact, torque, friction, outside)


def _of_fingers(character: Character) -> Flags:
    """Returns (nv,): dofs of bodies beyond the hands. Their strength is not judged: captures hardly know fingers."""
    hands = {b for limb, bodies in anatomy_of(character).limbs.items() if limb.startswith("hand") for b in bodies[:1]}
    fingers: set[int] = set()
    for body, parent in enumerate(character.model.body_parentid):
        if body and (int(parent) in hands or int(parent) in fingers):
            fingers.add(body)
    return np.isin(np.asarray(character.model.dof_bodyid), list(fingers))


class _InverseDynamics:
    """MuJoCo's inverse dynamics of one frame at a time, without contacts."""

    def __init__(self, character: Character) -> None:
        self.model, self.data = character.model, mujoco.MjData(character.model)
        self.armature = np.asarray(character.model.dof_armature)
        self.tau, self.jacobian = np.empty(character.nv), np.empty((3, character.nv))

    def torques(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Returns the torques (nv,) that the motion needs, and the angular momentum about the CoM (3,)."""
        m, d = self.model, self.data
        d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_comVel(m, d)
        mujoco.mj_passive(m, d)
        mujoco.mj_rne(m, d, 1, self.tau)
        self.tau += self.armature * a - d.qfrc_passive
        mujoco.mj_subtreeVel(m, d)
        return self.tau, d.subtree_angmom[0]

    def jacobians(self, places: Array, bodies: Ints) -> Array:
        """Returns (p, 3, nv) of points of bodies in the pose last given to `torques`."""
        out = np.empty((len(places), 3, self.model.nv))
        for k, (place, body) in enumerate(zip(places, bodies, strict=True)):
            mujoco.mj_jac(self.model, self.data, self.jacobian, None, place, int(body))
            out[k] = self.jacobian
        return out


def wrench_units(character: Character) -> Array:
    """Returns the units (6,) of a wrench: body weight times height [N m], body weight [N]."""
    return np.array([character.weight * character.height] * 3 + [character.weight] * 3)


def _needed_wrench(frames: CheckedFrames, com: Array) -> Array:
    """Returns the aggregate wrench (n, 6) about the CoM, including the force that carries the weight."""
    q, v, a = (np.array(x, dtype=np.float64, order="C") for x in (frames.q, frames.v, frames.a))
    F = np.empty((len(frames), 6))
    aggregate_force_batch(link_tables(frames.character), q, v, a, np.array(com, order="C"), F)
    return F


def contact_components(character: Character) -> Array:
    """Returns (6,): 1 for components of the wrench that only contacts can supply, 0 for those a fixed root supplies."""
    out = np.zeros(6)
    for joint in character.joints:
        if joint.dofs.start >= character.root_dofs.stop:
            break
        if joint.kind == "free":
            return np.ones(6)
        for k in range(character.model.njnt):
            if joint.dofs.start <= int(character.model.jnt_dofadr[k]) < joint.dofs.stop:
                axis = np.abs(np.asarray(character.model.jnt_axis[k])) > 0.5
                slides = int(character.model.jnt_type[k]) == int(mujoco.mjtJoint.mjJNT_SLIDE)
                out[3:] += axis * slides
                out[:3] += axis * (not slides)
    return np.minimum(out, 1.0)


def cone_edges(friction: float) -> Array:
    """Returns (CONE_EDGES, 3): the edges of a friction cone on level ground, each with one unit of pressure."""
    angle = 2.0 * np.pi * np.arange(CONE_EDGES) / CONE_EDGES
    return np.stack([friction * np.cos(angle), friction * np.sin(angle), np.ones(CONE_EDGES)], axis=1)


def torques_with_stops(torque: Array, strength: Array, rows: Array) -> Array:
    """Returns the torques that muscles supply when joints rest against their stops: the least tau + G^T l, l >= 0.

    `torque` is a share of strength; a stop with the limit's gradient G can only push back, along -G.
    """
    G = rows * strength
    H = G @ G.T
    H[np.diag_indices(len(H))] += STOP_RIDGE * max(float(H.max(initial=0.0)), 1e-12)
    return np.asarray(torque + nonnegative_least_squares(H, -G @ torque) @ G)


def _pressure(wrench: Array, com: Array, support: GroundSupport) -> tuple[Array, Array]:
    """Returns horizontal over vertical force, and the distance of the centre of pressure from the support area [m].

    On the plane under the feet: p_x = c_x - (n_y + h f_x) / f_z, p_y = c_y + (n_x - h f_y) / f_z.
    """
    n = len(com)
    friction, outside = np.full(n, np.nan), np.full(n, np.nan)
    held = (support.foot == HELD)[None] & support.blurred
    for t in range(n):
        active = np.flatnonzero(support.blurred[t])
        fx, fy, fz = wrench[t, 3:]
        if len(active) == 0 or held[t].any() or fz < MIN_LOAD:
            continue
        places = support.places[t, active]
        h = com[t, 2] - float(places[:, 2].mean())
        x = com[t, 0] - (wrench[t, 1] + h * fx) / fz
        y = com[t, 1] + (wrench[t, 0] - h * fy) / fz
        friction[t] = np.hypot(fx, fy) / fz
        near = nearest_inside(hull_edges(np.ascontiguousarray(places[:, :2])), x, y, 0.0)
        outside[t] = np.hypot(x - near[0], y - near[1])
    return friction, outside


@kernel
def _distribute(
    wrench: Array,
    scale: Array,
    tau: Array,
    strength: Array,
    limited: Ints,
    com: Array,
    places: Array,
    held: Ints,
    J: Array,
    edges: Array,
    ridge: Array,
) -> tuple[Array, Array]:
    """Returns contact forces (p, 3) in body weights, and the residual of the wrench (6,), scaled.

    `tau` are the torques without contacts, over body weight. `scale` (6,) scales the rows of the wrench; it is 0 for
    components that do not count.
    """
    p = len(places)
    per_newton = 0.0
    for k in range(3, 6):
        per_newton = max(per_newton, scale[k])
    weight = 1.0 / per_newton if per_newton > 0.0 else 1.0  # [N]
    count = 0
    for i in range(p):
        count += 6 if held[i] == 1 else len(edges)
    rows = 6 + len(limited)
    A, b = np.zeros((count, rows)), np.zeros(rows)
    direction, point = np.zeros((count, 3)), np.zeros(count, np.int64)
    for k in range(6):
        b[k] = scale[k] * wrench[k]
    for k in range(len(limited)):
        b[6 + k] = TORQUE_WEIGHT * strength[limited[k]] * tau[limited[k]]
    c = 0
    for i in range(p):
        x, y, z = places[i, 0] - com[0], places[i, 1] - com[1], places[i, 2] - com[2]
        for e in range(6 if held[i] == 1 else len(edges)):
            if held[i] == 1:
                direction[c, e % 3] = 1.0 if e < 3 else -1.0
            else:
                direction[c] = edges[e]
            point[c] = i
            u, v, w = direction[c, 0], direction[c, 1], direction[c, 2]
            A[c, 0] = scale[0] * weight * (y * w - z * v)
            A[c, 1] = scale[1] * weight * (z * u - x * w)
            A[c, 2] = scale[2] * weight * (x * v - y * u)
            A[c, 3], A[c, 4], A[c, 5] = scale[3] * weight * u, scale[4] * weight * v, scale[5] * weight * w
            for k in range(len(limited)):
                j = limited[k]
                A[c, 6 + k] = TORQUE_WEIGHT * strength[j] * (J[i, 0, j] * u + J[i, 1, j] * v + J[i, 2, j] * w)
            c += 1
    H, g = A @ A.T, A @ b
    for c in range(count):
        H[c, c] += ridge[point[c]]
    amount = nonnegative_least_squares(H, g)
    force, left = np.zeros((p, 3)), b[:6].copy()
    for c in range(count):
        if amount[c] > 0.0:
            for k in range(3):
                force[point[c], k] += amount[c] * direction[c, k]
            for k in range(6):
                left[k] -= amount[c] * A[c, k]
    return force, left
