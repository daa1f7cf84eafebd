"""The compiled pass of a Snapshot: from MuJoCo's motion vectors to Jacobians, momentum and drifts (see `snapshot`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array, Ints
from counterpoise.character.snapshot_layout import snapshot_parts
from counterpoise.kernels import inner_kernel, kernel

Int32s = NDArray[np.int32]


def arrays_to_derive(nbody: int, nv: int, points: int) -> dict[str, Array]:
    """Arrays for what `derive` writes, by field and in its order."""
    return {
        "body_drift": np.zeros((nbody, 6)),
        "momentum_matrix": np.empty((6, nv)),
        "momentum": np.zeros(6),
        "momentum_drift": np.zeros(6),
        "contact_position": np.empty((points, 3)),
        "contact_velocity": np.empty((points, 3)),
        "contact_jacobian": np.zeros((points, 3, nv)),
        "contact_drift": np.empty((points, 3)),
    }


@kernel
def place_points(xpos: Array, xmat: Array, point_body: Ints, point_place: Array, out: Array) -> None:
    """World places of body-fixed points."""
    for i in range(len(point_body)):
        b = point_body[i]
        x = point_place[i]
        for k in range(3):
            out[i, k] = xpos[b, k] + xmat[b, 3 * k] * x[0] + xmat[b, 3 * k + 1] * x[1] + xmat[b, 3 * k + 2] * x[2]


@kernel
def point_jacobian(cdof: Array, ancestors: Array, arm: Array) -> Array:
    """(3, nv) of a point `arm` away from the CoM, on a body that the dofs in `ancestors` move."""
    nv = len(cdof)
    out = np.zeros((3, nv))
    for j in range(nv):
        if ancestors[j] != 0.0:
            s = cdof[j]
            out[0, j] = s[3] + s[1] * arm[2] - s[2] * arm[1]
            out[1, j] = s[4] + s[2] * arm[0] - s[0] * arm[2]
            out[2, j] = s[5] + s[0] * arm[1] - s[1] * arm[0]
    return out


@inner_kernel
def _inertia_times(I: Array, s: Array, out: Array) -> None:
    """MuJoCo's ten-number inertia about the CoM times a motion vector -> [angular; linear] momentum."""
    out[0] = I[0] * s[0] + I[3] * s[1] + I[4] * s[2] - I[8] * s[4] + I[7] * s[5]
    out[1] = I[3] * s[0] + I[1] * s[1] + I[5] * s[2] + I[8] * s[3] - I[6] * s[5]
    out[2] = I[4] * s[0] + I[5] * s[1] + I[2] * s[2] - I[7] * s[3] + I[6] * s[4]
    out[3] = I[8] * s[1] - I[7] * s[2] + I[9] * s[3]
    out[4] = I[6] * s[2] - I[8] * s[0] + I[9] * s[4]
    out[5] = I[7] * s[0] - I[6] * s[1] + I[9] * s[5]


@kernel
def derive(
    cdof: Array,
    cdof_dot: Array,
    cvel: Array,
    cinert: Array,
    crb: Array,
    xpos: Array,
    xmat: Array,
    qvel: Array,
    com: Array,
    parent: Ints,
    dof_body: Ints,
    dof_start: Ints,
    dof_count: Ints,
    ancestors: Array,
    point_body: Ints,
    point_place: Array,
    bias: Array,
    cmm: Array,
    momentum: Array,
    cmm_drift: Array,
    place: Array,
    speed: Array,
    jac: Array,
    drift: Array,
) -> None:
    """Writes drifts, momentum and the quantities of contact points into the last eight arrays."""
    nbody, nv, points = len(parent), len(cdof), len(point_body)
    p, f = np.empty(6), np.empty(6)
    for b in range(1, nbody):
        for k in range(6):
            bias[b, k] = bias[parent[b], k]
        for j in range(dof_start[b], dof_start[b] + dof_count[b]):
            for k in range(6):
                bias[b, k] += cdof_dot[j, k] * qvel[j]
        v = cvel[b]
        _inertia_times(cinert[b], v, p)
        _inertia_times(cinert[b], bias[b], f)
        for k in range(6):
            momentum[k] += p[k]
        cmm_drift[0] += f[0] + v[1] * p[2] - v[2] * p[1] + v[4] * p[5] - v[5] * p[4]
        cmm_drift[1] += f[1] + v[2] * p[0] - v[0] * p[2] + v[5] * p[3] - v[3] * p[5]
        cmm_drift[2] += f[2] + v[0] * p[1] - v[1] * p[0] + v[3] * p[4] - v[4] * p[3]
        cmm_drift[3] += f[3] + v[1] * p[5] - v[2] * p[4]
        cmm_drift[4] += f[4] + v[2] * p[3] - v[0] * p[5]
        cmm_drift[5] += f[5] + v[0] * p[4] - v[1] * p[3]
    for j in range(nv):
        _inertia_times(crb[dof_body[j]], cdof[j], p)
        for k in range(6):
            cmm[k, j] = p[k]
    place_points(xpos, xmat, point_body, point_place, place)
    for i in range(points):
        b = point_body[i]
        v, a = cvel[b], bias[b]
        r0, r1, r2 = place[i, 0] - com[0], place[i, 1] - com[1], place[i, 2] - com[2]
        speed[i, 0] = v[3] + v[1] * r2 - v[2] * r1
        speed[i, 1] = v[4] + v[2] * r0 - v[0] * r2
        speed[i, 2] = v[5] + v[0] * r1 - v[1] * r0
        u = speed[i]
        drift[i, 0] = a[3] + a[1] * r2 - a[2] * r1 + v[1] * u[2] - v[2] * u[1]
        drift[i, 1] = a[4] + a[2] * r0 - a[0] * r2 + v[2] * u[0] - v[0] * u[2]
        drift[i, 2] = a[5] + a[0] * r1 - a[1] * r0 + v[0] * u[1] - v[1] * u[0]
        for j in range(nv):
            if ancestors[b, j] != 0.0:
                s = cdof[j]
                jac[i, 0, j] = s[3] + s[1] * r2 - s[2] * r1
                jac[i, 1, j] = s[4] + s[2] * r0 - s[0] * r2
                jac[i, 2, j] = s[5] + s[0] * r1 - s[1] * r0


@kernel
def read_parts(
    xpos: Array, xmat: Array, xipos: Array, subtree_com: Array, cdof: Array, cdof_dot: Array, cvel: Array,
    cinert: Array, crb: Array, mass: Array, bias: Array, passive: Array, qvel: Array, row_start: Int32s,
    row_size: Int32s, column: Int32s, parent: Ints, dof_body: Ints, dof_start: Ints, dof_count: Ints,
    ancestors: Array, point_body: Ints, point_place: Array, flat: Array,
) -> None:  # fmt: skip
    """Fills all parts of a snapshot from what MuJoCo has computed. `mass` holds the rows of M without their zeros."""
    nv, nbody, points = len(qvel), len(parent), len(point_body)
    s = snapshot_parts(flat, nv, nbody, points)
    s.M[:] = 0.0
    for i in range(nv):
        for a in range(row_start[i], row_start[i] + row_size[i]):
            j = column[a]
            s.M[i, j] = mass[a]
            s.M[j, i] = mass[a]
        s.h[i] = bias[i] - passive[i]
    s.com[:] = subtree_com[0]
    s.motion_vectors[:] = cdof
    s.body_position[:] = xpos
    s.body_rotation[:] = xmat
    s.body_com[:] = xipos
    s.body_velocity[:] = cvel
    s.momentum[:] = 0.0
    s.momentum_drift[:] = 0.0
    s.body_drift[0, :] = 0.0
    s.contact_jacobian[:] = 0.0
    derive(
        cdof, cdof_dot, cvel, cinert, crb, xpos, xmat, qvel, s.com, parent, dof_body, dof_start, dof_count, ancestors,
        point_body, point_place, s.body_drift, s.momentum_matrix, s.momentum, s.momentum_drift, s.contact_position,
        s.contact_velocity, s.contact_jacobian, s.contact_drift,
    )  # fmt: skip
