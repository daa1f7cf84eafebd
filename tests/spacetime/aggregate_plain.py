"""The aggregate force, momentum and torques by their definitions: slow, plain NumPy, an oracle for the compiled passes.

Every body is a rigid body in world axes: its angular velocity, its centre's acceleration, Newton's and Euler's law, and
the sum over bodies of force and of torque about a point. Kinematics is MuJoCo's, joint after joint. Nothing here takes
an absolute value or a square root of what varies, so a complex step may be put in anywhere: `step_pose` with a tangent
i h e_j moves a pose by an imaginary amount (Squire & Trapp 1998), and `imag / h` is a derivative without cancellation.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

FREE, BALL, SLIDE = 0, 1, 2  # MuJoCo's joint types
Numbers = NDArray[Any]  # real or complex


def plain_force(m: mujoco.MjModel, q: Numbers, v: Numbers, a: Numbers, about: Numbers | None = None) -> Numbers:
    """[torque; force] (6,): sum of r x m (c'' - g) + d(J w)/dt and of m (c'' - g) over all bodies; r = c - about."""
    point = np.zeros(3) if about is None else about
    total = np.zeros(6, np.result_type(q, v, a, point, float))
    for body in _bodies(m, q, v, a):
        total[:3] += _cross(body["centre"] - point, body["force"]) + body["torque"]
        total[3:] += body["force"]
    return total


def plain_momentum(m: mujoco.MjModel, q: Numbers, v: Numbers, about: Numbers | None = None) -> Numbers:
    """[angular; linear] (6,): sum of r x m c' + J w and of m c' over all bodies."""
    point = np.zeros(3) if about is None else about
    total = np.zeros(6, np.result_type(q, v, point, float))
    for body in _bodies(m, q, v, np.zeros(m.nv)):
        total[:3] += _cross(body["centre"] - point, body["linear"]) + body["angular"]
        total[3:] += body["linear"]
    return total


def plain_com(m: mujoco.MjModel, q: Numbers) -> Numbers:
    """The centre of mass (3,)."""
    still = np.zeros(m.nv)
    places = [m.body_mass[i + 1] * body["centre"] for i, body in enumerate(_bodies(m, q, still, still))]
    return np.sum(places, axis=0) / m.body_mass.sum()


def plain_torques(
    m: mujoco.MjModel, q: Numbers, v: Numbers, a: Numbers, wrenches: dict[int, Numbers] | None = None
) -> Numbers:
    """Generalised forces (nv,) by virtual power: sum over bodies of dc'/dv . f + dw/dv . n, less the world's wrenches.

    A wrench [torque; force] on body i is about the world's origin. Armature counts, springs and damping do not.
    """
    bodies = _bodies(m, q, v, a)
    tau = np.array(m.dof_armature * a, np.result_type(q, v, a, float))
    for j in range(m.nv):
        moved = _bodies(m, q, np.eye(m.nv)[j], np.zeros(m.nv))
        for i, (body, rate) in enumerate(zip(bodies, moved, strict=True)):
            tau[j] += np.dot(rate["velocity"], body["force"]) + np.dot(rate["spin"], body["torque"])
            if wrenches and i + 1 in wrenches:
                wrench = wrenches[i + 1]
                at_origin = rate["velocity"] - _cross(rate["spin"], rate["centre"])
                tau[j] -= np.dot(rate["spin"], wrench[:3]) + np.dot(at_origin, wrench[3:])
    return tau


def plain_places(m: mujoco.MjModel, q: Numbers) -> tuple[Numbers, Numbers]:
    """Places (nbody, 3) and rotations (nbody, 3, 3) of all bodies."""
    still = np.zeros(m.nv)
    bodies = _bodies(m, q, still, still)
    return (
        np.array([np.zeros(3), *(body["place"] for body in bodies)]),
        np.array([np.eye(3), *(body["turn"] for body in bodies)]),
    )


def step_pose(m: mujoco.MjModel, q: Numbers, tangent: Numbers) -> Numbers:
    """The pose reached from q along a tangent (MuJoCo's mj_integratePos), real or complex."""
    out = np.array(q, np.result_type(q, tangent, float))
    for j in range(m.njnt):
        kind, at, dof = int(m.jnt_type[j]), int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        if kind == FREE:
            out[at : at + 3] += tangent[dof : dof + 3]
            at, dof = at + 3, dof + 3
        if kind in (FREE, BALL):
            out[at : at + 4] = _multiply(out[at : at + 4], _exponential(tangent[dof : dof + 3]))
        else:
            out[at] += tangent[dof]
    return out


# --------------------------------------------------------------------------------------------------------- bodies
def _bodies(m: mujoco.MjModel, q: Numbers, v: Numbers, a: Numbers) -> list[dict[str, Numbers]]:
    """For every body: place, rotation, velocity and acceleration of its frame and centre; force and torque on it.

    `fall` is the acceleration of a body's origin less gravity.
    """
    kind_of_number = np.result_type(q, v, a, float)
    zero = np.zeros(3, kind_of_number)
    world = {"place": zero, "turn": np.eye(3), "spin": zero, "gain": zero, "speed": zero, "fall": -m.opt.gravity + zero}
    out: list[dict[str, Numbers]] = [world]
    for b in range(1, m.nbody):
        up = out[m.body_parentid[b]]
        R, p = up["turn"] @ _matrix(m.body_quat[b]), up["place"] + up["turn"] @ m.body_pos[b]
        w, al = up["spin"], up["gain"]
        u, du = _carry(up["speed"], up["fall"], w, al, p - up["place"])
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            kind, at, dof = int(m.jnt_type[j]), int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
            if kind == FREE:
                p, R = q[at : at + 3] + zero, _matrix(q[at + 3 : at + 7])
                u, du = v[dof : dof + 3] + zero, a[dof : dof + 3] - m.opt.gravity
                w, al = R @ v[dof + 3 : dof + 6], R @ a[dof + 3 : dof + 6]
                continue
            if kind == SLIDE:
                axis = R @ m.jnt_axis[j]
                far = axis * (q[at] - m.qpos0[at])
                u, du = _carry(u, du, w, al, far)
                du = du + axis * a[dof] + 2.0 * _cross(w, axis * v[dof])
                u, p = u + axis * v[dof], p + far
                continue
            arm = R @ m.jnt_pos[j]
            anchor = p + arm
            u, du = _carry(u, du, w, al, arm)
            if kind == BALL:
                R = R @ _matrix(q[at : at + 4])
                rate, push = R @ v[dof : dof + 3], R @ a[dof : dof + 3]
            else:
                axis = R @ m.jnt_axis[j]
                R = R @ _about(m.jnt_axis[j], q[at] - m.qpos0[at])
                rate, push = axis * v[dof], axis * a[dof]
            w, al = w + rate, al + push + _cross(w, rate)
            p = anchor - R @ m.jnt_pos[j]
            u, du = _carry(u, du, w, al, p - anchor)
        axes = R @ _matrix(m.body_iquat[b])
        J = (axes * m.body_inertia[b]) @ axes.T
        centre = p + R @ m.body_ipos[b]
        velocity, fall = _carry(u, du, w, al, centre - p)
        mass = m.body_mass[b]
        out.append({
            "place": p, "turn": R, "spin": w, "gain": al, "speed": u, "fall": du, "centre": centre,
            "velocity": velocity, "linear": mass * velocity, "angular": J @ w, "force": mass * fall,
            "torque": J @ al + _cross(w, J @ w),
        })  # fmt: skip
    return out[1:]


def _carry(u: Numbers, du: Numbers, w: Numbers, al: Numbers, arm: Numbers) -> tuple[Numbers, Numbers]:
    """Velocity and acceleration of a point `arm` away on the same rigid body."""
    return u + _cross(w, arm), du + _cross(al, arm) + _cross(w, _cross(w, arm))


def _cross(a: Numbers, b: Numbers) -> Numbers:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _multiply(a: Numbers, b: Numbers) -> Numbers:
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + _cross(a[1:], b[1:])])


def _matrix(q: Numbers) -> Numbers:
    """The rotation of a quaternion of any length, analytic in its numbers."""
    u = q[1:]
    skew = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    return np.eye(3) + (2.0 / (q @ q)) * (q[0] * skew + skew @ skew)


def _about(axis: Numbers, angle: Any) -> Numbers:
    half = 0.5 * angle
    return _matrix(np.concatenate([[np.cos(half)], np.sin(half) * axis]))


def _exponential(r: Numbers) -> Numbers:
    """cos(|r|/2), sin(|r|/2) r/|r| as power series in |r|^2: analytic, and exact to rounding for |r| < 2 pi."""
    square = (r @ r) / 4.0
    cosine: Any = 0.0
    sinc: Any = 0.0
    term: Any = 1.0
    for k in range(24):
        cosine = cosine + term
        sinc = sinc + term / (2 * k + 1)
        term = -term * square / ((2 * k + 1) * (2 * k + 2))
    return np.concatenate([[cosine], 0.5 * sinc * r])
