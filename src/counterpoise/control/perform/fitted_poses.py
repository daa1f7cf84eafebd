"""Poses moved so that the CoM is on a given path while the feet stay where they are."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_snapshot
from counterpoise.character.state import State

COM_ERROR, FOOT_ERROR, TURN = 0.001, 0.01, 0.1  # [m], [m], [rad] that cost 1
ROOT_WEIGHT = 0.01  # [1/m^2] of the root's place, which follows the rest
STEPS = 3  # of Gauss and Newton


def fit_poses(body: Character, poses: Array, com: Array, points: Array) -> Array:
    """Returns poses (n, nq) near those given, with the CoM at `com` (n, 3) and contact points at `points` (n, p, 3)."""
    weight = np.concatenate([np.full(3, COM_ERROR**-2), np.full(3 * points.shape[1], FOOT_ERROR**-2)])
    stay = np.full(body.nv, TURN**-2)
    stay[:3] = ROOT_WEIGHT
    out = np.array(poses)
    for i in range(len(out)):
        q = out[i].copy()
        q[:3] += com[i] - take_snapshot(body, State(q, np.zeros(body.nv))).com
        first = q
        for _ in range(STEPS):
            s = take_snapshot(body, State(q, np.zeros(body.nv)))
            J = np.concatenate([s.com_jacobian, s.contact_jacobian.reshape(-1, body.nv)])
            error = np.concatenate([com[i] - s.com, (points[i] - s.contact_position).ravel()])
            back = body.difference(q, first)
            H = (J.T * weight) @ J + np.diag(stay)
            q = body.integrate(q, np.linalg.solve(H, (J.T * weight) @ error + stay * back))
        out[i] = q
    return out
